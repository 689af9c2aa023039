"""Drawings: fruit and vegetables."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import arc, blob, bow, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import COLORS, Tone

_FLESH = Tone("#fbf3d9", "#b9a167", "#eadcae")
_APPLE = (
    "M 0 -66 C 12 -78 40 -74 39 -44 C 38 -20 22 -1 10 -2 C 4 -3 -4 -3 -10 -2 "
    "C -22 -1 -38 -20 -39 -44 C -40 -74 -12 -78 0 -66 Z"
)
_BITTEN = (
    "M 0 -66 C 8 -74 20 -75 30 -68 C 27 -64 27 -58 31 -53 C 25 -50 23 -42 29 -37 C 26 -34 25 -28 30 -22 "
    "C 24 -8 16 -2 10 -2 C 4 -3 -4 -3 -10 -2 C -22 -1 -38 -20 -39 -44 C -40 -74 -12 -78 0 -66 Z"
)


def apple(pen: Pen, state: str) -> None:
    """An apple: whole, bitten, or cut in half."""
    if state == "cut":
        pen.draw(path(_APPLE))
        with pen.at(0, -5, scale=0.86):
            pen.draw(path(_APPLE), _FLESH, line=False)
        pen.ink(bow((-4, -54), (-12, -36), (-3, -18)), _FLESH, weight=0.9)
        pen.ink(bow((4, -54), (12, -36), (3, -18)), _FLESH, weight=0.9)
        for x in (-4, 4):
            pen.draw(oval(x, -36, 2.4, 4.4), "brown")
    else:
        pen.draw(path(_BITTEN if state == "bitten" else _APPLE), shade=0.4)
        if state == "bitten":
            pen.draw(
                path(
                    "M 30 -68 C 22 -64 19 -58 22 -53 C 12 -50 12 -40 18 -37 C 13 -28 20 -20 30 -22 C 25 "
                    "-28 26 -34 29 -37 C 23 -42 25 -50 31 -53 C 27 -58 27 -64 30 -68 Z"
                ),
                _FLESH,
            )
        else:
            pen.stroke(bow((18, -60), (26, -54), (28, -42)), "#ffffff", weight=1.2)
    pen.bar(bow((0, -64), (2, -74), (7, -84)), 4, "brown")
    with pen.at(4, -72, turn=-8, scale=0.5):
        pen.draw(path("M 0 0 C 12 -22 40 -26 50 -14 C 40 2 16 8 0 0 Z"), "leaf")


def pear(pen: Pen, state: str) -> None:
    """A pear."""
    pen.draw(
        path(
            "M 0 -86 C 16 -86 16 -68 20 -54 C 26 -44 35 -40 35 -24 C 35 -8 20 -1 0 -1 C -20 -1 -35 -8 "
            "-35 -24 C -35 -40 -26 -44 -20 -54 C -16 -68 -16 -86 0 -86 Z"
        ),
        shade=0.4,
    )
    pen.bar(bow((0, -84), (2, -92), (6, -97)), 4, "brown")
    pen.stroke(bow((16, -38), (24, -28), (22, -18)), "#ffffff", weight=1.2)


def banana(pen: Pen, state: str) -> None:
    """A banana, or one half peeled."""
    if state == "peeled":
        pen.draw(path("M -15 -56 C -17 -96 -10 -126 0 -126 C 10 -126 17 -96 15 -56 Z"), "cream", shade=0.3)
        pen.draw(path("M -16 -60 L 16 -60 C 18 -30 12 -10 8 -2 L -8 -2 C -12 -10 -18 -30 -16 -60 Z"), shade=0.36)
        pen.draw(path("M -16 -58 C -34 -62 -46 -46 -46 -24 C -36 -30 -28 -36 -12 -34 Z"))
        pen.draw(path("M 16 -58 C 34 -62 46 -46 46 -24 C 36 -30 28 -36 12 -34 Z"))
        pen.draw(path("M -12 -58 C -8 -40 8 -40 12 -58 C 8 -30 4 -20 0 -12 C -4 -20 -8 -30 -12 -58 Z"))
        return
    pen.draw(path("M -48 -70 C -40 -28 0 -14 44 -28 C 52 -30 56 -24 52 -20 C 20 10 -54 6 -56 -66 Z"), shade=0.4)
    pen.ink(bow((-50, -50), (-34, -18), (6, -8), (44, -20)), weight=0.8)
    pen.draw(poly((-56, -66), (-58, -77), (-50, -78), (-48, -69)), "brown")
    pen.dot(51, -24, 3.4, "#57381d")


def lemon(pen: Pen, state: str) -> None:
    """A lemon, or half of one."""
    if state == "cut":
        pen.draw(oval(0, -32, 36, 30))
        pen.draw(oval(0, -32, 29, 24), "cream")
        for turn in range(0, 360, 45):
            with pen.at(0, -32, turn=turn):
                pen.draw(path("M 0 -4 L -7 -19 Q 0 -24 7 -19 Z"), Tone("#f8e27c", "#cfae3b", "#ecd05a"))
        return
    pen.draw(
        path(
            "M -38 -30 C -30 -34 -28 -56 0 -58 C 26 -58 30 -38 39 -34 Q 42 -30 38 -26 C 30 -22 26 -4 0 "
            "-3 C -28 -4 -30 -24 -38 -28 Z"
        ),
        shade=0.4,
    )
    for x, y in ((6, -44), (-8, -34), (14, -28), (-2, -18)):
        pen.dot(x, y, 1.3, pen.own.stroke)


def strawberry(pen: Pen, state: str) -> None:
    """A strawberry."""
    pen.draw(
        path("M 0 -60 C 20 -66 34 -54 32 -40 C 28 -20 12 -4 0 -2 C -12 -4 -28 -20 -32 -40 C -34 -54 -20 -66 0 -60 Z"),
        shade=0.36,
    )
    for x, y in ((-16, -42), (0, -46), (16, -42), (-10, -28), (8, -28), (0, -14)):
        pen.draw(oval(x, y, 1.6, 2.6), "yellow", line=False)
    pen.draw(
        poly(
            (-24, -58), (-10, -62), (-6, -74), (2, -64), (14, -73), (12, -62), (25, -58), (8, -50), (0, -56), (-8, -50)
        ),
        "leaf",
    )


def carrot(pen: Pen, state: str) -> None:
    """A carrot with its greens."""
    for points in (
        ((0, -88), (-10, -106), (-20, -118)),
        ((0, -88), (0, -110), (2, -125)),
        ((0, -88), (12, -106), (22, -116)),
    ):
        pen.bar(bow(*points), 7, "leaf")
    pen.draw(path("M -22 -84 C -14 -94 14 -94 22 -84 C 22 -50 8 -16 0 -1 C -8 -16 -22 -50 -22 -84 Z"), shade=0.4)
    for y, x in ((-70, -14), (-56, 6), (-40, -10), (-26, 2)):
        pen.ink(line((x, y), (x + 10, y + 1)), weight=0.8)


def tomato(pen: Pen, state: str) -> None:
    """A tomato, or half of one."""
    pen.draw(
        path("M 0 -54 C 20 -62 37 -50 37 -30 C 37 -10 20 -2 0 -2 C -20 -2 -37 -10 -37 -30 C -37 -50 -20 -62 0 -54 Z"),
        shade=0.4,
    )
    if state == "cut":
        pen.draw(oval(0, -29, 29, 22), Tone("#ea8d80", "#b2463c", "#dd7468"), line=False)
        for turn in range(0, 360, 72):
            with pen.at(0, -29, turn=turn):
                pen.draw(oval(0, -13, 6.5, 7), Tone("#f4cf9a", "#b2463c", "#e6b678"))
        return
    pen.draw(poly((-20, -56), (-6, -56), (-2, -67), (4, -56), (20, -58), (8, -50), (0, -46), (-8, -50)), "leaf")
    pen.stroke(bow((18, -46), (26, -38), (27, -28)), "#ffffff", weight=1.2)


def salad(pen: Pen, state: str) -> None:
    """A head of lettuce."""
    pale = Tone("#b9d98f", "#5f8a3a", "#9cc070") if pen.own == COLORS["green"] else None
    pen.draw(
        blob(
            (-54, -30), (-46, -56), (-22, -74), (4, -78), (30, -72), (50, -50), (54, -26), (34, -6), (0, -1), (-34, -6)
        ),
        shade=0.4,
    )
    pen.draw(blob((-34, -26), (-28, -54), (-4, -66), (22, -60), (34, -36), (22, -12), (-8, -8), (-28, -14)), pale)
    pen.ink(bow((-2, -8), (0, -34), (8, -58)), weight=0.9)
    for x, y in ((-20, -44), (24, -46)):
        pen.ink(bow((0, -26), (x * 0.6, y + 10), (x, y)), weight=0.8)
    pen.ink(arc(-38, -28, 10, 18, 120, 240), weight=0.8)
    pen.ink(arc(40, -28, 10, 16, -60, 60), weight=0.8)


DRAWINGS: Mapping[str, Draw] = {
    "apple": apple, "pear": pear, "banana": banana, "lemon": lemon, "strawberry": strawberry, "carrot": carrot,
    "tomato": tomato, "salad": salad,
}  # fmt: skip
