"""Gatherings: several things together in one picture, then each by itself."""

from __future__ import annotations

import re

from langgraph_interleave.world.grammar import read
from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.grammar.phrases import listed
from langgraph_interleave.world.grammar.prose import phrase, with_ids
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.planning.items import without_lead
from langgraph_interleave.world.planning.outline import Outline, Part
from langgraph_interleave.world.planning.series import series_outline, shared_backdrop
from langgraph_interleave.world.planning.wishes import tidy
from langgraph_interleave.world.scene import Cell, Scene, Thing

_ALONE = (
    r"(?:alone|by (?:itself|themselves)|on (?:its|their) own|separately|individually|single|one by one|einzeln|allein)"
)
_THEN_EACH = re.compile(
    r"[,;.]?\s*(?:and\s+|und\s+)?(?:then|afterwards|after that|dann|danach)\s+(?:show\s+)?"
    r"(?:each|every|jedes|jeden|jede)\b"
    rf"(?:\s+(?:one|of them|\w+))?\s+{_ALONE}\b|[，,；;。]?\s*(?:然后|再)(?:分别|单独|逐个)\S*",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"[,\s]*\b(?:side by side|together|in a row|next to each other|nebeneinander|zusammen)\b|并排|一起", re.IGNORECASE
)
_CELLS: dict[int, tuple[Cell, ...]] = {
    2: ("left", "right"), 3: ("left", "middle", "right"), 4: ("left", "middle", "right", "lower middle"),
}  # fmt: skip


def gathering_outline(subject: str, language: Language) -> Outline | None:
    """The outline of "show three animals side by side, then each alone", or `None` when it is none.

    Args:
        subject: The request without its wishes about form.
        language: Of the request.

    Example:
        >>> outline = gathering_outline("a cat, a dog and a bird together, then each alone", "en")
        >>> [len(part.scene.things) for part in outline.parts]
        [3, 1, 1, 1]
    """
    then = _THEN_EACH.search(subject)
    if then is None:
        return None
    group = tidy(_TOGETHER.sub(" ", without_lead(subject[: then.start()])))
    things = _members(group, language)
    if not 2 <= len(things) <= max(_CELLS):
        return None
    common = shared_backdrop([thing.kind for thing in things])
    together = Scene(
        backdrop=common,
        things=tuple(
            thing.model_copy(update={"at": cell}) for thing, cell in zip(things, _CELLS[len(things)], strict=True)
        ),
    )
    names = [phrase(thing, placed=False) for thing in things]
    singly = tuple(
        Part(sentence(name), Scene(backdrop=common, things=(thing.model_copy(update={"at": "middle"}),)), alone=True)
        for name, thing in zip(names, things, strict=True)
    )
    thoughts = (f"First all of them in one picture, then {listed(names)}, each alone.",)
    return Outline(
        title=sentence(tidy(without_lead(subject))).rstrip(".。"),
        parts=(Part(sentence(f"{listed(names)} side by side"), together), *singly),
        order="independent",
        thoughts=thoughts,
    )


def _members(group: str, language: Language) -> tuple[Thing, ...]:
    """The things of a group: those named, or well-known ones of a sort ("three animals")."""
    series = series_outline(group, language, None)
    if series is not None:
        chosen = [part.scene.things[0] for part in series.drawn if part.scene is not None and part.scene.things]
    else:
        chosen = [
            one
            for thing in read(group, language=language).scene.things
            for one in [thing.model_copy(update={"count": 1})] * (thing.count if thing.kind != "card" else 1)
        ]
    return with_ids(thing.model_copy(update={"size": "medium", "at": None}) for thing in chosen)
