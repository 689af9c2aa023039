"""The drawings: one function per kind of the vocabulary, and the backdrops.

A drawing's coordinates: 400 units to the picture's shorter side at medium size, x to the right and y
downwards from the middle of the foot of the thing's box, so that all of the thing has y ≤ 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module

from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.kind import Kind
from langgraph_interleave.world.palette import tone
from langgraph_interleave.world.vocabulary import KINDS

#: Draws a thing in a state (one of its kind's, never `None` for a kind that has states).
Draw = Callable[[Pen, str], None]

_MODULES = (
    "plants", "skies", "animals", "creatures", "people", "places", "signs", "vehicles", "kitchen", "food", "fruit",
    "stationery", "furniture", "household", "washing", "tools", "science", "toys", "shapes", "clothes",
)  # fmt: skip


@lru_cache(maxsize=1)
def drawings() -> Mapping[str, Draw]:
    """Every drawing, by the name of its kind."""
    found: dict[str, Draw] = {}
    for name in _MODULES:
        found.update(import_module(f"langgraph_interleave.world.drawing.{name}").DRAWINGS)
    return {name: _heeding(KINDS[name], draw) for name, draw in found.items()}


def _heeding(kind: Kind, draw: Draw) -> Draw:
    """The same drawing, which knows whether another colour than its kind's own is asked for."""

    def heeding(pen: Pen, state: str) -> None:
        pen.asked = pen.own != tone(kind.color)
        draw(pen, state)

    return heeding
