"""Judging: what a reading has of what is wanted, part by part, and how likely each part is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from langgraph_interleave_miniature.parsing import Mention, Said
from langgraph_interleave_miniature.reading import Reading
from langgraph_interleave_miniature.scenes import CELLS, Thing

What = Literal["missing", "place", "color", "extra", "background"]
#: What each costs, of ten points, when it is certain.
COSTS: dict[What, float] = {"missing": 4.5, "place": 3.0, "color": 3.5, "extra": 3.0, "background": 3.5}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of what is wanted, and what is seen of it.

    Args:
        what: What is wrong with it, if it is.
        right: How likely it is as wanted.
        wrong: Something else is likelier than what is wanted.
        thing: The thing it is about: as wanted, or an extra one as seen.
        seen: What is seen instead: a color, a cell's number, a background.
        kept: It was right in the picture before, and had to stay.
    """

    what: What
    right: float
    wrong: bool
    thing: Mention | Thing | None = None
    seen: str | int | None = None
    kept: bool = False

    @property
    def cost(self) -> float:
        """What it is expected to cost, of ten points."""
        return COSTS[self.what] * (1 - self.right)


def judge(reading: Reading, wanted: Said, before: Reading | None = None) -> tuple[Part, ...]:
    """Hold a reading against what is wanted; what is not said is not judged, but nothing more may be there.

    Args:
        reading: Of the picture.
        wanted: As the instruction says.
        before: Of the picture before; what was right there had to stay.

    Example:
        >>> from langgraph_interleave_miniature.parsing import said
        >>> from langgraph_interleave_miniature.reading import certain
        >>> from langgraph_interleave_miniature.scenes import Scene
        >>> seen = certain(Scene("night", (Thing("ball", "blue", 0),)))
        >>> [(part.what, part.seen) for part in judge(seen, said("a red ball at night")) if part.wrong]
        [('color', 'blue')]
    """
    parts = _parts(reading, wanted)
    if before is None:
        return tuple(parts)
    earlier = {_name(part): not part.wrong for part in _parts(before, wanted)}
    return tuple(_marked(part, kept=_kept(part, before, earlier)) for part in parts)


def chance(parts: Sequence[Part]) -> float:
    """How likely everything is right.

    Example:
        >>> chance([Part("extra", 0.5, True), Part("extra", 0.5, True)])
        0.25
    """
    product = 1.0
    for part in parts:
        product *= part.right
    return product


def _parts(reading: Reading, wanted: Said) -> list[Part]:
    seen = reading.scene
    places = _places(reading, wanted.things)
    parts: list[Part] = []
    for mention, cell in zip(wanted.things, places, strict=True):
        there = reading.kind(cell, mention.kind)
        stands = next((thing for thing in seen.things if thing.cell == cell), None)
        here = stands is not None and stands.kind == mention.kind
        elsewhere = None if here else next((one for one in seen.things if one.kind == mention.kind), None)
        if elsewhere is not None:
            parts.append(Part("place", there, True, mention, elsewhere.cell))
        else:
            parts.append(Part("missing", there, not here, mention))
        looked_at = elsewhere or stands
        if mention.color is not None and looked_at is not None and looked_at.kind == mention.kind:
            right = reading.color(looked_at.cell, mention.color)
            parts.append(Part("color", right, looked_at.color != mention.color, mention, looked_at.color))
    # A thing that stands elsewhere is told of once, and is not an extra one besides.
    strayed = {part.seen for part in parts if part.what == "place"}
    for cell in range(CELLS):
        if cell not in places and cell not in strayed:
            stands = next((thing for thing in seen.things if thing.cell == cell), None)
            parts.append(Part("extra", reading.empty(cell), stands is not None, stands))
    if wanted.background is not None:
        right = reading.background(wanted.background)
        parts.append(Part("background", right, seen.background != wanted.background, None, seen.background))
    return parts


def _places(reading: Reading, mentions: Sequence[Mention]) -> list[int]:
    """The cell where each thing is looked for: where it should be, and there where it seems to be."""
    free = set(range(CELLS))
    places: dict[int, int] = {}
    for index in sorted(range(len(mentions)), key=lambda one: mentions[one].cell is None):
        mention = mentions[index]
        fitting = [cell for cell in free if mention.fits(cell)] or list(free) or list(range(CELLS))
        places[index] = max(fitting, key=lambda cell: (reading.kind(cell, mention.kind), -cell))
        free.discard(places[index])
    return [places[index] for index in range(len(mentions))]


def _name(part: Part) -> tuple[str, str]:
    kind = part.thing.kind if isinstance(part.thing, Mention) else ""
    return ("missing" if part.what == "place" else part.what), kind


def _kept(part: Part, before: Reading, earlier: dict[tuple[str, str], bool]) -> bool:
    if part.what == "extra":
        # What nobody asked for and was not there before came in.
        return isinstance(part.thing, Thing) and before.empty(part.thing.cell) > 0.5
    return earlier.get(_name(part), False)


def _marked(part: Part, *, kept: bool) -> Part:
    return Part(part.what, part.right, part.wrong, part.thing, part.seen, kept)
