"""What else a thing could be: other colours, states and places. Pure.

The simulator draws one of these where it errs; the pixel critic asks which of them it sees.
"""

from __future__ import annotations

from langgraph_interleave.world.palette import COLORS, MIN_DISTANCE, distance, tone
from langgraph_interleave.world.scene import Beside, Cell, Relation, Size, Thing
from langgraph_interleave.world.vocabulary import CARD, KINDS

ROWS: tuple[tuple[Cell, ...], ...] = (
    ("upper left", "upper middle", "upper right"),
    ("left", "middle", "right"),
    ("lower left", "lower middle", "lower right"),
)
CELLS: tuple[Cell, ...] = tuple(cell for row in ROWS for cell in row)
SIZES: tuple[Size, ...] = ("small", "medium", "large")
_OPPOSITE: dict[Relation, Relation] = {
    "left of": "right of",
    "right of": "left of",
    "above": "below",
    "below": "above",
    "in front of": "behind",
    "behind": "in front of",
}
_SIDES: tuple[Relation, ...] = ("left of", "right of")


def shown_color(thing: Thing) -> str:
    """The tone a thing shows: its named colour, or its kind's own."""
    kind = KINDS.get(thing.kind, CARD)
    return thing.color if thing.color is not None and kind.recolourable else kind.color


def shown_state(thing: Thing) -> str | None:
    """The state a thing is in: the one said, or its kind's first; `None` for a kind without states."""
    states = KINDS.get(thing.kind, CARD).states
    return thing.state or (states[0] if states else None)


def other_colors(thing: Thing) -> list[str]:
    """Colour words that look clearly different from what the thing shows; none where colour cannot change."""
    if not KINDS.get(thing.kind, CARD).recolourable:
        return []
    return [color for color in COLORS if not alike(color, shown_color(thing))]


def other_states(thing: Thing) -> list[str]:
    """States of its kind in which the thing is not."""
    return [state for state in KINDS.get(thing.kind, CARD).states if state != shown_state(thing)]


def other_places(at: Cell | Beside | None) -> list[Cell | Beside]:
    """Places that are others by name: a relation's opposite and the sides, or another cell."""
    if isinstance(at, Beside):
        opposite = _OPPOSITE.get(at.relation)
        relations: list[Relation] = [*([opposite] if opposite else []), *_SIDES]
        return [
            Beside(relation=relation, of=at.of)
            for index, relation in enumerate(relations)
            if relation != at.relation and relation not in relations[:index]
        ]
    return [cell for cell in CELLS if cell != at]


def alike(one: str | None, other: str | None) -> bool:
    """Whether two tones are too close to be told apart by their fills.

    Example:
        >>> alike("red", "blue"), alike("green", "leaf")
        (False, True)
    """
    return one is None or other is None or distance(tone(one).fill, tone(other).fill) < MIN_DISTANCE
