"""Tableaux: a request that describes what is to be seen, in one picture or built up over several."""

from __future__ import annotations

import re
from collections.abc import Mapping

from langgraph_interleave.world.grammar import read, revise
from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.grammar.numbers import in_words
from langgraph_interleave.world.grammar.phrases import BACKDROPS
from langgraph_interleave.world.grammar.prose import phrase, with_ids
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.planning.items import without_lead
from langgraph_interleave.world.planning.outline import Outline, Part
from langgraph_interleave.world.planning.story import arc
from langgraph_interleave.world.scene import Beside, Scene, Thing
from langgraph_interleave.world.vocabulary import KINDS

_LABEL = 24


def tableau_outline(subject: str, language: Language, count: int | None, *, photo: bool) -> Outline:
    """The outline of a description: one picture, or as many as were asked for, if there is enough to show.

    Args:
        subject: The request without its wishes about form.
        language: Of captions, which are the user's own words.
        count: Steps asked for.
        photo: A photo is given: the words change it, or stand beside it.
    """
    text = without_lead(subject)
    if photo:
        reading = revise(text, Scene(photo=True), language=language)
        if not reading.scene.things:
            reading = read(text, language=language, backdrop="paper")
    else:
        reading = read(text, language=language)
    scene, unknown = reading.scene, reading.unknown
    scene = scene.model_copy(update={"photo": photo or scene.photo})
    if not scene.things and not photo and scene.backdrop == "paper":
        label = text if len(text) <= _LABEL else text[:_LABEL].rsplit(" ", 1)[0] + " …"
        scene = Scene(things=with_ids([Thing(id="?", kind="card", label=label or "?", at="middle")]))
        unknown = (*unknown, label)
    whole = Part(caption=sentence(text) or "The given photo.", scene=scene)
    title = sentence(text).rstrip(".。") if 0 < len(text) <= 60 else None
    outline = Outline(title, (whole,), "chain", language, ("The request describes one picture.",), unknown=unknown,
                      keeps_photo=photo)  # fmt: skip
    if count is None or count < 2:
        return outline
    stages = re.search(r"\b(?:stages?|phases?|stufen|phasen)\b", text, re.IGNORECASE)
    told = (
        arc(scene.things, count, home=_home(scene))
        if not photo and not stages and _is_alive(scene) and count > len(scene.things)
        else ()
    )
    if told:
        thoughts = (f"{in_words(count).capitalize()} pictures of one thing: I tell a small story about it.",)
        return Outline(title, told, "chain", "en", thoughts, unknown=unknown)
    if sum(thing.count for thing in scene.things) < 2:
        return outline
    built = _built_up(scene, singly=count > len(scene.things))
    thoughts = ("The request describes one picture: I build it up, one thing after the other.",)
    return Outline(
        title, built, "chain", language if len(built) == 1 else "en", thoughts, unknown=unknown, keeps_photo=photo
    )


def _home(scene: Scene) -> str | None:
    return None if scene.backdrop == "paper" else scene.backdrop


def _is_alive(scene: Scene) -> bool:
    kinds = [KINDS.get(thing.kind) for thing in scene.things]
    return 0 < len(kinds) <= 3 and all(
        kind is not None
        and (kind.category in ("animal", "person", "vehicle") or kind.name in ("robot", "snowman", "teddy bear"))
        for kind in kinds
    )


def _built_up(scene: Scene, *, singly: bool) -> tuple[Part, ...]:
    """One part a thing, or with `singly` one part each of several; the last part is the whole picture."""
    order = sorted(scene.things, key=lambda thing: isinstance(thing.at, Beside))
    parts: list[Part] = []
    there: dict[str, int] = {}
    for thing in order:
        for number in range(1 if singly else thing.count, thing.count + 1):
            there[thing.id] = number
            shown = tuple(
                _placed(other, there).model_copy(update={"count": there[other.id]})
                for other in scene.things
                if other.id in there
            )
            one = thing.model_copy(update={"count": number})
            caption = _caption(one, scene, first=not parts)
            parts.append(Part(caption, scene.model_copy(update={"things": shown, "caption": None})))
    parts[-1] = Part(parts[-1].caption, scene)
    return tuple(parts)


def _placed(thing: Thing, there: Mapping[str, int]) -> Thing:
    if isinstance(thing.at, Beside) and thing.at.of not in there and thing.at.of != "photo":
        return thing.model_copy(update={"at": None})
    return thing


def _caption(thing: Thing, scene: Scene, *, first: bool) -> str:
    words = phrase(thing, scene)
    if first:
        where = BACKDROPS.get(scene.backdrop, "") if scene.backdrop != "paper" else ""
        return sentence(f"First, {words} {where}".strip())
    return sentence(f"Then {words}")
