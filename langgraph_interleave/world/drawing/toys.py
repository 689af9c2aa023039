"""Drawings: toys, games and music."""

from __future__ import annotations

import math
from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.animals import draw_eye
from langgraph_interleave.world.drawing.outline import arc, bow, box, line, oval, path, poly, star
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import INK, Tone


def _darker(pen: Pen) -> Tone:
    return Tone(pen.own.shade, pen.own.stroke, pen.own.stroke)


def ball(pen: Pen, state: str) -> None:
    """A plain ball with a highlight."""
    pen.draw(oval(0, -44, 43), shade=0.42)
    pen.stroke(arc(0, -44, 29, 29, -70, -15), "#ffffff", weight=1.6)


def football(pen: Pen, state: str) -> None:
    """A football with its patches."""
    pen.draw(oval(0, -44, 43), shade=0.26)
    middle = [(15 * math.sin(math.radians(a)), -44 - 15 * math.cos(math.radians(a))) for a in range(0, 360, 72)]
    pen.draw(poly(*middle), "black")
    for index, angle in enumerate(range(0, 360, 72)):
        sin, cos = math.sin(math.radians(angle)), -math.cos(math.radians(angle))
        pen.stroke(line(middle[index], (sin * 29, -44 + cos * 29)), INK, weight=0.9)
        edge = [(math.sin(math.radians(angle + d)) * r, -44 - math.cos(math.radians(angle + d)) * r)
                for d, r in ((-20, 41), (-11, 31), (11, 31), (20, 41))]  # fmt: skip
        pen.draw(poly(*edge), "black")


def kite(pen: Pen, state: str) -> None:
    """A kite with a tail of bows."""
    pen.stroke(bow((0, -66), (14, -48), (-8, -28), (6, -4)), pen.mark, weight=0.9)
    for x, y, turn in ((10, -50, 20), (-4, -30, -30), (2, -12, 24)):
        with pen.at(x, y, turn=turn):
            pen.draw(poly((0, 0), (-11, -6), (-11, 6)), "yellow")
            pen.draw(poly((0, 0), (11, -6), (11, 6)), "yellow")
    pen.draw(poly((0, -165), (46, -122), (0, -66), (-46, -122)), shade=0.4)
    pen.draw(poly((0, -165), (46, -122), (0, -122)), "yellow")
    pen.draw(poly((0, -122), (0, -66), (-46, -122)), "yellow")
    pen.ink(line((0, -165), (0, -66)), weight=0.9)
    pen.ink(line((-46, -122), (46, -122)), weight=0.9)


def balloon(pen: Pen, state: str) -> None:
    """A balloon on a string."""
    pen.stroke(bow((0, -66), (8, -46), (-7, -24), (2, -2)), pen.mark, weight=0.9)
    pen.draw(poly((0, -76), (-8, -65), (8, -65)), _darker(pen))
    pen.draw(
        path(
            "M 0 -74 C -24 -84 -38 -104 -38 -122 C -38 -146 -22 -158 0 -158 C 22 -158 38 -146 38 -122 C "
            "38 -104 24 -84 0 -74 Z"
        ),
        shade=0.4,
    )
    pen.stroke(arc(0, -120, 25, 26, -75, -15), "#ffffff", weight=1.6)


def teddy_bear(pen: Pen, state: str) -> None:
    """A sitting teddy bear."""
    for side in (-1, 1):
        pen.draw(oval(side * 34, -14, 19, 14, turn=side * 14))
        pen.draw(oval(side * 38, -12, 9, 8), "straw", line=False)
        pen.draw(oval(side * 38, -56, 12, 21, turn=side * -34))
        pen.draw(oval(side * 27, -120, 14, 14))
        pen.draw(oval(side * 27, -120, 7.5, 7.5), "straw", line=False)
    pen.draw(oval(0, -40, 34, 38), shade=0.36)
    pen.draw(oval(0, -36, 20, 24), "straw", line=False)
    pen.draw(oval(0, -96, 36, 32), shade=0.3)
    pen.draw(oval(0, -86, 16, 13), "straw")
    for x in (-14, 14):
        draw_eye(pen, x, -102, 3.6)
    pen.fill(oval(0, -91, 6, 4.4), INK)
    pen.stroke(bow((-7, -82), (-3, -79), (0, -84), (3, -79), (7, -82)), pen.mark, weight=0.8)
    pen.draw(poly((0, -66), (-16, -74), (-16, -58)), "red")
    pen.draw(poly((0, -66), (16, -74), (16, -58)), "red")


def robot(pen: Pen, state: str) -> None:
    """A toy robot."""
    pen.bar(line((0, -146), (0, -158)), 3)
    pen.draw(oval(0, -162, 5), "red")
    for side in (-1, 1):
        pen.bar(bow((side * 34, -88), (side * 48, -74), (side * 46, -52)), 10)
        pen.draw(oval(side * 46, -46, 8), "grey")
        pen.draw(box(side * 16 - 8, -38, side * 16 + 8, -8))
        pen.draw(box(side * 18 - 13, -12, side * 18 + 13, -1, corner=4), "grey")
    pen.draw(box(-34, -100, 34, -36, corner=6), shade=0.36)
    pen.draw(box(-10, -106, 10, -98), "grey")
    pen.draw(box(-30, -148, 30, -104, corner=7), shade=0.26)
    for x in (-13, 13):
        pen.draw(oval(x, -130, 8), "yellow")
        pen.dot(x, -130, 3)
    pen.draw(box(-14, -117, 14, -110), "paper")
    pen.draw(box(-20, -88, 20, -64, corner=3), "turquoise")
    for x, color in ((-12, "red"), (0, "yellow"), (12, "green")):
        pen.draw(oval(x, -52, 4.4), color)


def drum(pen: Pen, state: str) -> None:
    """A drum with its sticks."""
    pen.draw(path("M -52 -60 L -52 -14 C -52 2 52 2 52 -14 L 52 -60 Z"), shade=0.36)
    for x in range(-46, 47, 23):
        y = 6 * (1 - (x / 52) ** 2)
        pen.ink(line((x, -54 + y), (x + 11, -12 + y), (x + 22 if x < 40 else x + 6, -52 + y)), "cream", weight=0.9)
    pen.draw(oval(0, -60, 53, 12), "cream")
    pen.bar(line((-34, -92), (-6, -62)), 4, "wood")
    pen.bar(line((36, -92), (8, -60)), 4, "wood")
    pen.draw(oval(-6, -63, 5), "wood")
    pen.draw(oval(8, -61, 5), "wood")


def guitar(pen: Pen, state: str) -> None:
    """A guitar upright."""
    pen.draw(
        path(
            "M 0 -94 C 22 -96 28 -80 24 -66 C 22 -58 38 -52 38 -30 C 38 -10 20 -2 0 -2 C -20 -2 -38 -10 "
            "-38 -30 C -38 -52 -22 -58 -24 -66 C -28 -80 -22 -96 0 -94 Z"
        ),
        shade=0.4,
    )
    pen.draw(oval(0, -56, 11), "black")
    pen.draw(box(-5, -160, 5, -60), "brown")
    pen.draw(poly((-7, -160), (7, -160), (9, -182), (-9, -182)), "brown")
    for y in (-176, -167):
        pen.dot(-11, y, 2.4, "#566270")
        pen.dot(11, y, 2.4, "#566270")
    pen.draw(box(-12, -27, 12, -21), "brown")
    for x in (-2, 2):
        pen.stroke(line((x, -160), (x, -24)), "#f3efe6", weight=0.5)


def trophy(pen: Pen, state: str) -> None:
    """A cup to be won."""
    for side in (-1, 1):
        pen.ink(bow((side * 32, -114), (side * 51, -112), (side * 48, -84), (side * 24, -72)), weight=2.0)
    pen.draw(path("M -36 -124 L 36 -124 C 36 -84 24 -66 0 -62 C -24 -66 -36 -84 -36 -124 Z"), shade=0.4)
    pen.draw(poly((-6, -62), (6, -62), (9, -34), (-9, -34)))
    pen.draw(box(-26, -36, 26, -24))
    pen.draw(box(-34, -24, 34, -1), "brown")
    pen.draw(star(0, -98, 14, 6), "cream")


DRAWINGS: Mapping[str, Draw] = {
    "ball": ball, "football": football, "kite": kite, "balloon": balloon, "teddy bear": teddy_bear, "robot": robot,
    "drum": drum, "guitar": guitar, "trophy": trophy,
}  # fmt: skip
