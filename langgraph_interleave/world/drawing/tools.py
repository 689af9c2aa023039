"""Drawings: tools."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import arc, bow, box, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import Tone


def shovel(pen: Pen, state: str) -> None:
    """A spade, blade down."""
    pen.bar(line((0, -60), (0, -150)), 7, "wood")
    pen.draw(path("M -18 -166 L 18 -166 L 12 -148 L -12 -148 Z"))
    pen.draw(
        path(
            "M -23 -66 L -8 -66 L -6 -72 L 6 -72 L 8 -66 L 23 -66 L 22 -30 C 18 -12 8 -4 0 -1 C -8 -4 -18 -12 -22 -30 Z"
        ),
        shade=0.4,
    )
    pen.ink(line((0, -64), (0, -26)), weight=0.8)


def broom(pen: Pen, state: str) -> None:
    """A broom, bristles down."""
    pen.bar(line((0, -70), (0, -174)), 7, "brown")
    pen.draw(path("M -10 -76 L 10 -76 C 14 -56 24 -30 28 -2 Q 0 4 -28 -2 C -24 -30 -14 -56 -10 -76 Z"), shade=0.36)
    for x in (-14, -5, 5, 14):
        pen.ink(bow((x * 0.4, -62), (x, -34), (x * 1.3, -4)), weight=0.8)
    pen.ink(line((-14, -56), (14, -56)), "red", weight=1.6)


def ladder(pen: Pen, state: str) -> None:
    """A straight ladder."""
    for y in range(-182, -8, 28):
        pen.draw(box(-28, y, 28, y + 8))
    for x in (-32, 32):
        pen.draw(box(x - 6, -198, x + 6, -1), shade=0.3)


def hammer(pen: Pen, state: str) -> None:
    """A claw hammer, head up."""
    pen.draw(box(-6, -108, 7, -1, corner=4), shade=0.4)
    pen.draw(path(
        "M -40 -128 C -32 -134 -20 -132 -8 -132 L 22 -132 L 22 -136 L 42 -136 L 42 -104 L 22 -104 L 22 -108 "
        "L -8 -108 C -14 -108 -16 -120 -22 -120 C -30 -118 -36 -114 -42 -106 C -43 -114 -42 -122 -40 -128 Z"
    ),
             "metal", shade=0.3)  # fmt: skip


def nail(pen: Pen, state: str) -> None:
    """A nail, point down."""
    pen.draw(poly((-3.6, -66), (3.6, -66), (2.6, -10), (0, -1), (-2.6, -10)))
    pen.draw(box(-11, -71, 11, -64, corner=2))


def screwdriver(pen: Pen, state: str) -> None:
    """A screwdriver, tip down."""
    pen.draw(poly((-4, -78), (4, -78), (4, -14), (6, -1), (-6, -1), (-4, -14)), "metal")
    pen.draw(
        path(
            "M -8 -78 L 8 -78 C 18 -84 16 -96 18 -104 L 18 -130 Q 18 -143 0 -143 Q -18 -143 -18 -130 L "
            "-18 -104 C -16 -96 -18 -84 -8 -78 Z"
        ),
        shade=0.4,
    )
    for x in (-7, 6):
        pen.ink(line((x, -134), (x, -100)), weight=0.9)


def screw(pen: Pen, state: str) -> None:
    """A screw, point down."""
    pen.draw(poly((-6, -58), (6, -58), (4, -16), (0, -1), (-4, -16)))
    for y in (-50, -41, -32, -23, -14):
        half = 4 + (-y) * 0.09
        pen.ink(line((-half, y + 3), (half, y - 2)), weight=0.9)
    pen.draw(path("M -14 -58 C -14 -72 14 -72 14 -58 Z"))
    pen.ink(line((-5, -66), (5, -64)), weight=1.0)


def wrench(pen: Pen, state: str) -> None:
    """An open-ended spanner."""
    pen.draw(
        path(
            "M -8 -104 L -8 -24 C -22 -18 -20 -2 0 -2 C 20 -2 22 -18 8 -24 L 8 -104 C 24 -110 28 -126 20 "
            "-142 L 9 -136 L 9 -122 L -9 -122 L -9 -136 L -20 -142 C -28 -126 -24 -110 -8 -104 Z"
        ),
        shade=0.36,
    )
    pen.draw(oval(0, -14, 6, 6), "paper")


def saw(pen: Pen, state: str) -> None:
    """A hand saw, its grip to the left."""
    teeth = []
    for index in range(12):
        x = -26 + index * 8.6
        teeth += [(x, -8 - index * 1.6), (x + 4.3, -2 - index * 1.6)]
    pen.draw(poly((-34, -58), (78, -46), (78, -28), *reversed(teeth), (-34, -8)), "metal", shade=0.2)
    pen.draw(path("M -28 -66 C -50 -72 -78 -60 -78 -34 C -78 -10 -62 -2 -44 -2 L -28 -10 Z"), shade=0.36)
    pen.draw(path("M -42 -50 C -56 -52 -64 -44 -64 -34 C -64 -22 -56 -16 -46 -18 C -38 -28 -38 -40 -42 -50 Z"), "paper")


def pump(pen: Pen, state: str) -> None:
    """A standing bicycle pump."""
    pen.stroke(bow((8, -14), (36, -10), (40, -40), (30, -60), (40, -74)), "#3b3b40", weight=1.8)
    pen.draw(box(-34, -160, 22, -148, corner=5), "black")
    pen.bar(line((-6, -148), (-6, -104)), 5, "metal")
    pen.draw(box(-17, -108, 5, -10, corner=4), shade=0.4)
    pen.draw(box(-22, -114, 10, -102), Tone(pen.own.shade, pen.own.stroke, pen.own.shade))
    pen.draw(box(-40, -12, 28, -1, corner=4), "grey")


def paint_can(pen: Pen, state: str) -> None:
    """An open tin of paint with a drip."""
    pen.ink(arc(0, -58, 47, 38, 182, 358), "grey", weight=1.1)
    pen.draw(box(-42, -76, 42, -2), "metal", shade=0.4)
    pen.draw(oval(0, -76, 42, 10), "metal")
    pen.draw(oval(0, -75, 35, 7))
    pen.draw(
        path(
            "M -38 -72 Q 0 -58 38 -72 L 38 -48 C 34 -40 30 -50 26 -52 C 20 -48 22 -28 16 -26 C 10 -28 12 "
            "-46 4 -48 C -6 -46 -2 -38 -10 -38 C -18 -40 -14 -54 -24 -54 C -32 -52 -36 -44 -38 -50 Z"
        )
    )


DRAWINGS: Mapping[str, Draw] = {
    "shovel": shovel, "broom": broom, "ladder": ladder, "hammer": hammer, "nail": nail, "screwdriver": screwdriver,
    "screw": screw, "wrench": wrench, "saw": saw, "pump": pump, "paint can": paint_can,
}  # fmt: skip
