"""Drawings: clothes."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import arc, bow, box, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import Tone, lighter


def _darker(pen: Pen) -> Tone:
    return Tone(pen.own.shade, pen.own.stroke, pen.own.stroke)


def _lighter(pen: Pen) -> Tone:
    return Tone(lighter(pen.own.fill), pen.own.stroke, pen.own.fill)


def shirt(pen: Pen, state: str) -> None:
    """A T-shirt, flat or in the steps of folding it."""
    if state == "folded":
        pen.draw(box(-50, -70, 50, -2, corner=5), shade=0.4)
        pen.draw(path("M -20 -70 Q 0 -48 20 -70 Z"), _darker(pen))
        pen.ink(bow((-24, -70), (0, -42), (24, -70)), weight=0.9)
        pen.ink(line((-50, -14), (50, -14)), weight=0.9)
        return
    folded = {"flat": (), "one sleeve folded": (-1,), "both sleeves folded": (-1, 1)}[state]
    for side in (-1, 1):
        if side not in folded:
            pen.draw(poly((side * 36, -124), (side * 70, -92), (side * 54, -74), (side * 36, -88)), shade=0.3)
    pen.draw(path("M -38 -124 L -18 -127 Q 0 -104 18 -127 L 38 -124 L 40 -2 L -40 -2 Z"), shade=0.36)
    pen.ink(bow((-23, -126), (0, -98), (23, -126)), weight=0.9)
    for side in folded:
        pen.draw(poly((side * 39, -122), (side * 39, -4), (side * 12, -4), (side * 14, -104)), _lighter(pen), shade=0.2)
        pen.draw(poly((side * 39, -122), (side * 39, -90), (side * 10, -72), (side * 4, -88)), _darker(pen))


def trousers(pen: Pen, state: str) -> None:
    """A pair of trousers."""
    pen.draw(path("M -36 -142 L 36 -142 L 44 -2 L 8 -2 L 0 -92 L -8 -2 L -44 -2 Z"), shade=0.4)
    pen.ink(line((-37, -128), (37, -128)))
    pen.ink(line((0, -128), (0, -96)), weight=0.9)
    for side in (-1, 1):
        pen.ink(bow((side * 18, -128), (side * 22, -116), (side * 38, -112)), weight=0.9)
        pen.ink(line((side * 43, -12), (side * 10, -12)), weight=0.8)
    pen.dot(4, -135, 2.2, pen.own.stroke)


def dress(pen: Pen, state: str) -> None:
    """A summer dress."""
    for side in (-1, 1):
        pen.bar(line((side * 14, -148), (side * 18, -128)), 6)
    pen.draw(path("M -24 -130 Q 0 -116 24 -130 L 20 -92 Q 46 -50 54 -6 Q 0 6 -54 -6 Q -46 -50 -20 -92 Z"), shade=0.4)
    pen.draw(poly((-21, -96), (21, -96), (23, -84), (-23, -84)), _darker(pen))
    for x, y in ((-22, -54), (6, -62), (-6, -34), (24, -36), (-36, -24), (14, -14)):
        pen.dot(x, y, 3.4, "#ffffff")


def hat(pen: Pen, state: str) -> None:
    """A top hat."""
    pen.draw(path("M -58 -12 Q 0 10 58 -12 Q 60 -20 44 -18 Q 0 -6 -44 -18 Q -60 -20 -58 -12 Z"), shade=0.3)
    pen.draw(path("M -38 -16 L -40 -74 Q 0 -84 40 -74 L 38 -16 Q 0 -4 -38 -16 Z"), shade=0.4)
    pen.draw(
        path("M -38 -30 Q 0 -18 38 -30 L 38 -16 Q 0 -4 -38 -16 Z"), "red" if pen.own.fill != "#d5524a" else "black"
    )


def cap(pen: Pen, state: str) -> None:
    """A peaked cap, the peak to the right."""
    pen.draw(path("M -46 -12 C -46 -48 -26 -62 -4 -62 C 20 -62 34 -46 36 -14 Z"), shade=0.4)
    pen.draw(path("M 4 -14 C 24 -20 46 -16 55 -6 Q 30 -2 4 -6 C -12 -8 -12 -12 4 -14 Z"), _darker(pen))
    pen.ink(bow((-4, -60), (-14, -40), (-14, -14)), weight=0.9)
    pen.draw(oval(-4, -61, 4.4, 3), _darker(pen))


def scarf(pen: Pen, state: str) -> None:
    """A striped scarf."""
    pen.draw(path("M -22 -104 L -26 -30 L -6 -28 L -2 -100 Z"), shade=0.3)
    pen.draw(path("M -2 -104 L 8 -14 L 30 -18 L 22 -104 Z"), shade=0.3)
    pen.draw(
        path("M -32 -118 C -28 -130 28 -130 32 -118 C 32 -100 20 -96 0 -96 C -20 -96 -32 -100 -32 -118 Z"), shade=0.3
    )
    for x0, y0, x1, y1 in ((-24, -62, -5, -60), (-25, -46, -6, -44), (5, -46, 27, -50), (6, -32, 29, -35)):
        pen.stroke(line((x0, y0), (x1, y1)), "#ffffff", weight=1.6)
    for x in (-24, -18, -12):
        pen.ink(line((x, -30), (x - 1, -20)), weight=0.9)
    for x in (10, 17, 24):
        pen.ink(line((x, -15), (x + 1, -4)), weight=0.9)


def glove(pen: Pen, state: str) -> None:
    """A mitten."""
    pen.draw(path("M 16 -54 C 24 -66 36 -72 41 -62 C 44 -52 34 -40 20 -28 Z"), shade=0.3)
    pen.draw(path("M -32 -26 C -40 -60 -34 -102 -8 -102 C 18 -102 24 -66 20 -26 Z"), shade=0.4)
    pen.draw(box(-36, -28, 24, -2, corner=6), "white")
    for x in (-24, -12, 0, 12):
        pen.ink(line((x, -26), (x, -4)), "white", weight=0.8)


def sock(pen: Pen, state: str) -> None:
    """A sock."""
    pen.draw(
        path(
            "M -34 -100 L 0 -100 L 4 -46 C 12 -36 38 -32 38 -16 C 38 -4 26 -2 14 -2 L -14 -4 C -34 -6 -34 -22 -32 -40 Z"
        ),
        shade=0.4,
    )
    pen.draw(box(-36, -102, 2, -86, corner=4), "white")
    pen.draw(path("M 20 -34 C 32 -30 38 -24 38 -16 C 38 -4 26 -2 14 -2 C 10 -14 12 -24 20 -34 Z"), "white")
    pen.ink(bow((-32, -34), (-22, -28), (-18, -12), (-22, -5)), weight=0.9)


def shoe(pen: Pen, state: str) -> None:
    """A shoe and its laces, toe to the right."""
    pen.draw(path("M -56 -12 L 58 -12 Q 60 -2 52 -2 L -50 -2 Q -56 -2 -56 -12 Z"), "cream")
    pen.draw(
        path(
            "M -54 -12 C -58 -36 -54 -54 -50 -60 C -42 -52 -26 -52 -16 -62 C -4 -44 12 -36 34 -34 C 52 "
            "-32 60 -24 58 -12 Z"
        ),
        shade=0.4,
    )
    for x, y in ((-10, -52), (2, -44), (15, -38)):
        pen.stroke(line((x - 6, y + 12), (x + 4, y - 2)), "#ffffff", weight=1.4)
    if state == "tied":
        for side in (-1, 1):
            pen.stroke(
                bow((-14, -58), (-14 + side * 16, -70), (-14 + side * 20, -58), (-14, -56)), "#3b3b40", weight=1.2
            )
        pen.stroke(bow((-14, -56), (-22, -46), (-24, -38)), "#3b3b40", weight=1.1)
        pen.stroke(bow((-14, -56), (-6, -48), (-6, -36)), "#3b3b40", weight=1.1)
        pen.dot(-14, -57, 3)
    elif state == "crossed":
        pen.stroke(bow((-20, -54), (-10, -62), (6, -70)), "#3b3b40", weight=1.2)
        pen.stroke(bow((-8, -52), (-18, -62), (-34, -70)), "#3b3b40", weight=1.2)
    else:
        pen.stroke(bow((-18, -58), (-30, -48), (-34, -24), (-42, -8)), "#3b3b40", weight=1.2)
        pen.stroke(bow((-10, -54), (-2, -34), (-14, -18), (-8, -4)), "#3b3b40", weight=1.2)


def boot(pen: Pen, state: str) -> None:
    """A rubber boot, toe to the right."""
    pen.draw(
        path("M -36 -114 L 8 -114 L 10 -52 C 20 -40 48 -40 50 -20 L 50 -10 L -38 -10 C -42 -40 -36 -76 -36 -114 Z"),
        shade=0.4,
    )
    pen.draw(path("M -40 -12 L 51 -12 L 51 -2 L -14 -2 L -16 -6 L -20 -2 L -40 -2 Z"), "black")
    pen.ink(line((-36, -102), (8, -102)), weight=1.1)
    pen.stroke(bow((0, -94), (2, -74), (1, -60)), "#ffffff", weight=1.0)


def spectacles(pen: Pen, state: str) -> None:
    """A pair of spectacles."""
    for side in (-1, 1):
        pen.draw(oval(side * 28, -23, 21, 19), "glass")
        pen.stroke(oval(side * 28, -23, 21, 19), pen.own.fill, weight=1.6)
        pen.stroke(line((side * 49, -28), (side * 58, -40)), pen.own.fill, weight=1.6)
        pen.stroke(line((side * 28 - 8, -14), (side * 28 + 4, -32)), "#ffffff", weight=1.0)
    pen.stroke(arc(0, -24, 9, 8, 190, 350), pen.own.fill, weight=1.6)


def crown(pen: Pen, state: str) -> None:
    """A crown with stones."""
    pen.draw(poly((-50, -16), (-54, -66), (-28, -40), (0, -76), (28, -40), (54, -66), (50, -16)), shade=0.4)
    pen.draw(box(-52, -18, 52, -2, corner=3), shade=0.2)
    for x, y, color in ((-53, -68, "red"), (0, -76, "blue"), (53, -68, "red")):
        pen.draw(oval(x * 0.97, y + 2, 5), color)
    for x, color in ((-30, "green"), (0, "red"), (30, "green")):
        pen.draw(oval(x, -10, 5, 4), color)


DRAWINGS: Mapping[str, Draw] = {
    "shirt": shirt, "trousers": trousers, "dress": dress, "hat": hat, "cap": cap, "scarf": scarf, "glove": glove,
    "sock": sock, "shoe": shoe, "boot": boot, "spectacles": spectacles, "crown": crown,
}  # fmt: skip
