"""Growth: how something grows, beside a given photo or by itself."""

from __future__ import annotations

import re

from langgraph_interleave.world.grammar import read
from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.grammar.numbers import in_words
from langgraph_interleave.world.planning.outline import Outline, Part
from langgraph_interleave.world.procedures import Words
from langgraph_interleave.world.scene import Scene, Size, Thing

_GROWS = re.compile(
    r"\b(?:grows?|growing|growth|grow up|wächst|wachsen|wachstum|crece|crecer|crecimiento|pousse|pousser|grandit)\b|"
    r"长大|生长|成长",
    re.IGNORECASE,
)
_PLANTS = frozenset(("plant", "tree", "flower", "sprout", "seed", "flower pot", "bush", "cactus", "leaf", "pine tree"))

#: The stages of a plant: kind, state, size, words; the stages told first when few are wanted come with a low number.
_STAGES: tuple[tuple[int, str, str | None, Size, Words], ...] = (
    (4, "seed", None, "large", Words("It begins with a seed.", "Am Anfang steht ein Samen.", "从一粒种子开始。")),
    (1, "sprout", None, "medium", Words(
        "After some days a sprout comes out of the ground.", "Nach einigen Tagen kommt ein Keim aus der Erde.",
        "几天后，嫩芽破土而出。")),
    (5, "plant", None, "small", Words(
        "The first real leaves unfold.", "Die ersten richtigen Blätter entfalten sich.", "真正的叶子展开了。")),
    (2, "plant", None, "medium", Words(
        "Week by week it grows taller and gets more leaves.",
        "Woche für Woche wird sie größer und bekommt mehr Blätter.",
        "一周周过去，它越长越高，叶子越来越多。")),
    (6, "plant", None, "large", Words(
        "Now it stands tall and strong.", "Jetzt steht sie groß und kräftig da.", "现在它又高又壮。")),
    (3, "plant", "flowering", "large", Words("At last it flowers.", "Zuletzt blüht sie.", "最后，它开花了。")),
)  # fmt: skip
_ALIVE: tuple[tuple[int, Size, Words], ...] = (
    (1, "small", Words("At first it is small.", "Erst ist es klein.", "一开始，它还很小。")),
    (2, "medium", Words("It eats, plays and grows.", "Es frisst, spielt und wächst.", "它吃东西、玩耍，慢慢长大。")),
    (3, "large", Words("Now it is fully grown.", "Jetzt ist es ausgewachsen.", "现在它完全长大了。")),
)  # fmt: skip
_TITLE = Words("How it grows", "Wie es wächst", "它是怎样长大的")


def growth_outline(subject: str, language: Language, count: int | None, *, photo: bool) -> Outline | None:
    """The outline of how something grows, or `None` when a request does not ask for that.

    Args:
        subject: The request without its wishes about form.
        language: Of captions; English where the words are in no other.
        count: Steps asked for.
        photo: A photo is given: what grows stands in front of it.
    """
    if not _GROWS.search(subject):
        return None
    spoken: Language = language if language in ("en", "de", "zh") else "en"
    named = next((thing.kind for thing in read(subject, language=language).scene.things if thing.kind != "card"), None)
    if named is not None and named not in _PLANTS:
        stages = [(rank, _scene(Thing(id="?", kind=named, size=size), photo), words) for rank, size, words in _ALIVE]
    else:
        kinds = {"plant": named} if named in ("tree", "flower", "bush", "cactus", "pine tree") else {}
        stages = [
            (rank, _scene(_plant(kinds.get(kind, kind) or kind, state, size), photo), words)
            for rank, kind, state, size, words in _STAGES
            if not (kind == "seed" and photo and (count or 3) < 4)
        ]
    wanted = count or 3
    parts = tuple(Part(words.in_language(spoken), scene) for rank, scene, words in stages if rank <= max(wanted, 1))
    thoughts = [f"I show how it grows, in {in_words(len(parts))} stages."]
    if photo:
        thoughts.append(
            "I do not see what is in the photo: it stays pinned up, and the growing is drawn in front of it."
        )
    return Outline(
        _TITLE.in_language(spoken), parts, "chain", spoken, tuple(thoughts), keeps_photo=photo, linked=True
    )  # fmt: skip


def _plant(kind: str, state: str | None, size: Size) -> Thing:
    state = {"tree": "blossoming", "flower": "open"}.get(kind, state if kind == "plant" else None) if state else (
        "bud" if kind == "flower" else None
    )  # fmt: skip
    return Thing(id="?", kind=kind, state=state, size=size)


def _scene(thing: Thing, photo: bool) -> Scene:
    name = thing.kind.replace(" ", "_")
    at = "lower middle" if photo else "middle"
    return Scene(backdrop="meadow", things=(thing.model_copy(update={"id": name, "at": at}),), photo=photo)
