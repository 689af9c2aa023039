"""Drawings: plain shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import box, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import Tone, lighter


def cube(pen: Pen, state: str) -> None:
    """A cube from its corner, lit from the right above."""
    pen.draw(
        poly((-50, -76), (-24, -102), (51, -102), (28, -76)), Tone(lighter(pen.own.fill), pen.own.stroke, pen.own.fill)
    )
    pen.draw(poly((28, -76), (51, -102), (51, -26), (28, -1)), Tone(pen.own.shade, pen.own.stroke, pen.own.stroke))
    pen.draw(box(-50, -76, 28, -1), shade=0.4)


def triangle(pen: Pen, state: str) -> None:
    """A triangle standing on its base."""
    pen.draw(poly((0, -94), (51, -2), (-51, -2)), shade=0.4)


def circle(pen: Pen, state: str) -> None:
    """A disc."""
    pen.draw(oval(0, -52, 50), shade=0.34)


def square(pen: Pen, state: str) -> None:
    """A square."""
    pen.draw(box(-46, -94, 46, -2), shade=0.4)


def rectangle(pen: Pen, state: str) -> None:
    """A rectangle lying."""
    pen.draw(box(-66, -78, 66, -2), shade=0.4)


def hexagon(pen: Pen, state: str) -> None:
    """A six-sided shape."""
    pen.draw(
        poly(*((51 * math.cos(math.radians(a)), -48 + 51 * math.sin(math.radians(a))) for a in range(0, 360, 60))),
        shade=0.4,
    )


def cylinder(pen: Pen, state: str) -> None:
    """A cylinder standing."""
    pen.draw(path("M -38 -98 L -38 -14 C -38 3 38 3 38 -14 L 38 -98 Z"), shade=0.4)
    pen.draw(oval(0, -98, 38, 12), Tone(lighter(pen.own.fill), pen.own.stroke, pen.own.fill))


def cone(pen: Pen, state: str) -> None:
    """A cone standing."""
    pen.draw(path("M 0 -110 L 46 -14 C 44 3 -44 3 -46 -14 L 0 -110 Z"), shade=0.4)


def heart(pen: Pen, state: str) -> None:
    """A heart."""
    pen.draw(
        path("M 0 -2 C -20 -22 -48 -40 -46 -66 C -44 -90 -10 -94 0 -66 C 10 -94 44 -90 46 -66 C 48 -40 20 -22 0 -2 Z"),
        shade=0.36,
    )


DRAWINGS: Mapping[str, Draw] = {
    "cube": cube, "triangle": triangle, "circle": circle, "square": square, "rectangle": rectangle, "hexagon": hexagon,
    "cylinder": cylinder, "cone": cone, "heart": heart,
}  # fmt: skip
