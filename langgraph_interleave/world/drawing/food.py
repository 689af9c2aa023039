"""Drawings: things to eat that somebody made."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.animals import draw_eye
from langgraph_interleave.world.drawing.outline import blob, bow, box, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.drawing.writing import write
from langgraph_interleave.world.palette import Tone

_CRUST = Tone("#c98f4e", "#7d5224", "#ad7437")
_CRUMB = Tone("#f3dfb4", "#a9854a", "#e2c88f")
_CHOCOLATE = Tone("#7a5238", "#46290f", "#5f3d25")


def egg(pen: Pen, state: str) -> None:
    """An egg: whole, broken, fried or hatching."""
    if state == "fried":
        white = blob((-50, -14), (-34, -28), (-8, -36), (18, -30), (44, -26), (50, -12), (26, -3), (-22, -2))
        pen.draw(white, pen.unless_asked("white"))
        pen.draw(oval(-2, -20, 17, 11), "yellow", shade=0.3)
        return
    if state == "cracked":
        pen.draw(blob((-42, -6), (-20, -14), (14, -15), (42, -7), (30, -1), (-30, -1)), "glass")
        pen.draw(oval(2, -15, 15, 11), "yellow")
        with pen.at(-19, -36, turn=-28):
            pen.draw(
                path("M -20 0 C -20 -24 -10 -40 0 -40 C 10 -40 20 -24 20 0 L 12 -6 L 6 2 L -2 -6 L -10 2 Z"), shade=0.4
            )
        with pen.at(26, -34, turn=30):
            pen.draw(
                path("M -19 0 L -12 6 L -4 -2 L 4 6 L 12 -2 L 19 2 C 18 20 10 26 0 26 C -10 26 -19 18 -19 0 Z"),
                shade=0.4,
            )
        return
    if state == "hatching":
        pen.draw(oval(0, -54, 19, 18), "yellow")
        for x in (-7, 7):
            draw_eye(pen, x, -58, 2.6)
        pen.draw(poly((-5, -52), (5, -52), (0, -45)), "orange")
        pen.draw(
            path("M -20 -68 C -18 -86 -8 -94 2 -94 C 14 -92 20 -82 21 -66 L 13 -72 L 6 -64 L -2 -72 L -10 -64 Z"),
            shade=0.3,
        )
        pen.draw(
            path(
                "M -30 -40 L -20 -32 L -10 -42 L 0 -32 L 10 -42 L 20 -32 L 30 -40 C 34 -14 18 -1 0 -1 C "
                "-18 -1 -34 -14 -30 -40 Z"
            ),
            shade=0.4,
        )
        return
    pen.draw(
        path("M 0 -63 C 14 -63 25 -40 25 -24 C 25 -8 14 -1 0 -1 C -14 -1 -25 -8 -25 -24 C -25 -40 -14 -63 0 -63 Z"),
        shade=0.42,
    )


def bread(pen: Pen, state: str) -> None:
    """A loaf: dough, baked, or partly sliced."""
    if state == "dough":
        pen.draw(path("M -58 -2 C -68 -40 -34 -64 0 -64 C 34 -64 68 -40 58 -2 Z"), _CRUMB, shade=0.36)
        pen.ink(bow((-20, -48), (0, -44), (16, -50)), _CRUMB, weight=0.8)
        return
    pen.draw(
        path("M -60 -36 C -72 -70 -44 -78 -36 -78 L 44 -78 C 62 -78 68 -54 58 -40 L 58 -2 L -58 -2 Z"),
        _CRUST,
        shade=0.4,
    )
    if state == "whole":
        for x in (-30, -6, 18):
            pen.ink(bow((x, -70), (x + 8, -60), (x + 12, -50)), _CRUST, weight=1.1)
    else:
        for x in (-44, -20):
            pen.draw(
                path(
                    f"M {x - 14} -2 L {x - 14} -40 C {x - 26} -62 {x - 8} -72 {x + 2} -70 C {x + 16} -70 "
                    f"{x + 24} -54 {x + 14} -40 L {x + 14} -2 Z"
                ),
                _CRUST,
            )
            pen.fill(
                path(
                    f"M {x - 9} -7 L {x - 9} -40 C {x - 18} -58 {x - 6} -65 {x + 2} -64 C {x + 12} -64 "
                    f"{x + 18} -52 {x + 9} -40 L {x + 9} -7 Z"
                ),
                _CRUMB.fill,
            )


def toast(pen: Pen, state: str) -> None:
    """A slice of toast and what is on it."""
    pen.draw(path("M -30 -2 L -30 -44 C -46 -56 -38 -78 0 -78 C 38 -78 46 -56 30 -44 L 30 -2 Z"), _CRUST)
    pen.draw(
        path("M -23 -8 L -23 -46 C -36 -56 -30 -71 0 -71 C 30 -71 36 -56 23 -46 L 23 -8 Z"),
        _CRUMB,
        shade=0.3,
        line=False,
    )
    if state == "buttered":
        pen.draw(
            blob((-18, -20), (-22, -44), (-14, -62), (10, -64), (22, -52), (16, -34), (18, -18), (0, -12)),
            Tone("#f6dd7c", "#d3b23c", "#e8c95c"),
        )
        pen.draw(poly((-8, -48), (8, -50), (10, -36), (-6, -34)), "yellow")
    elif state == "with jam":
        pen.draw(
            blob((-18, -20), (-22, -44), (-14, -62), (10, -64), (22, -52), (16, -34), (18, -18), (0, -12)),
            "red",
            shade=0.3,
        )


def sandwich(pen: Pen, state: str) -> None:
    """A sandwich in layers."""
    pen.draw(path("M -56 -22 L 56 -22 L 52 -4 Q 50 -1 46 -1 L -46 -1 Q -50 -1 -52 -4 Z"), _CRUST, shade=0.3)
    pen.draw(box(-56, -30, 56, -21, corner=3), "red")
    pen.draw(poly((-58, -36), (58, -36), (40, -28), (30, -18), (16, -29), (-58, -29)), "yellow")
    pen.draw(
        blob(
            (-58, -38),
            (-40, -32),
            (-24, -40),
            (-8, -32),
            (10, -40),
            (26, -32),
            (42, -40),
            (58, -38),
            (50, -46),
            (-50, -46),
        ),
        "green",
    )
    pen.draw(path("M -56 -44 C -60 -84 60 -84 56 -44 Z"), _CRUST, shade=0.36)
    for x, y in ((-22, -62), (0, -68), (24, -62), (-6, -56)):
        pen.draw(oval(x, y, 3, 1.8, turn=20), "cream", line=False)


def cheese(pen: Pen, state: str) -> None:
    """A wedge of cheese with holes."""
    pen.draw(
        poly((-50, -34), (34, -70), (50, -40)),
        Tone("#f8e391", pen.own.stroke, pen.own.fill) if pen.own.fill == "#f3d35c" else None,
    )
    pen.draw(poly((-50, -34), (50, -40), (50, -2), (-50, -2)), shade=0.36)
    for x, y, r in ((-26, -18, 7), (6, -24, 6), (30, -14, 8), (-2, -8, 4)):
        pen.draw(oval(x, y, r, r * 0.85), Tone(pen.own.shade, pen.own.stroke, pen.own.shade))


def butter(pen: Pen, state: str) -> None:
    """A block of butter on a dish."""
    pen.draw(path("M -46 -10 L 46 -10 Q 42 -1 32 -1 L -32 -1 Q -42 -1 -46 -10 Z"), "white")
    pen.draw(
        poly((-34, -38), (-22, -50), (38, -50), (26, -38)),
        Tone("#f8e391", pen.own.stroke, pen.own.fill) if pen.own.fill == "#f3d35c" else None,
    )
    pen.draw(poly((26, -38), (38, -50), (38, -22), (26, -10)), Tone(pen.own.shade, pen.own.stroke, pen.own.shade))
    pen.draw(box(-34, -38, 26, -10), shade=0.3)


def flour(pen: Pen, state: str) -> None:
    """A paper bag of flour."""
    pen.draw(path("M -36 -90 L 36 -90 L 41 -6 Q 41 -1 36 -1 L -36 -1 Q -41 -1 -41 -6 Z"), shade=0.36)
    pen.draw(path("M -36 -108 L 36 -108 L 38 -86 L -38 -86 Z"), Tone(pen.own.shade, pen.own.stroke, pen.own.shade))
    pen.draw(oval(0, -44, 30, 24), "white")
    write(pen, "FLOUR", 0, -44, 48, 22, cap=13)


def sugar(pen: Pen, state: str) -> None:
    """Three sugar cubes."""
    for x, y in ((-18, 0), (16, 0), (-2, -26)):
        with pen.at(x, y):
            pen.draw(poly((-16, -20), (-9, -28), (18, -28), (12, -20)))
            pen.draw(poly((12, -20), (18, -28), (18, -8), (12, -1)), Tone(pen.own.shade, pen.own.stroke, pen.own.shade))
            pen.draw(box(-16, -20, 12, -1))


def milk(pen: Pen, state: str) -> None:
    """A carton of milk."""
    pen.draw(poly((-32, -88), (-16, -112), (24, -112), (32, -88)), Tone(pen.own.shade, pen.own.stroke, pen.own.shade))
    pen.draw(box(-18, -119, 24, -110), "blue")
    pen.draw(box(-32, -88, 32, -1), shade=0.3)
    pen.fill(box(-31, -34, 31, -6), "#5b8cc9")
    write(pen, "MILK", 0, -60, 54, 24, cap=16)


def cake(pen: Pen, state: str) -> None:
    """A round cake."""
    pen.draw(path("M -66 -10 L 66 -10 Q 60 -1 48 -1 L -48 -1 Q -60 -1 -66 -10 Z"), "white")
    sides = path("M -56 -70 L -56 -16 Q -56 -9 -46 -9 L 46 -9 Q 56 -9 56 -16 L 56 -70 Z")
    pen.draw(sides, shade=0.36)
    pen.stroke(bow((-55, -38), (0, -32), (55, -38)), "#ffffff", weight=2.0)
    pen.draw(path(
        "M -58 -74 C -58 -92 58 -92 58 -74 C 56 -54 46 -52 42 -62 C 36 -48 24 -48 20 -60 C 14 -46 -2 -46 -6 "
        "-60 C -12 -50 -24 -48 -28 -62 C -34 -50 -54 -52 -58 -74 Z"
    ),
             "white")  # fmt: skip
    for x in (-34, 0, 34):
        pen.draw(oval(x, -82, 6, 6), "red")
    if state == "cut":
        pen.draw(poly((4, -80), (58, -76), (56, -12), (4, -10)), _CRUMB)
        pen.ink(line((6, -44), (56, -42)), "red", weight=1.6)
        pen.draw(path("M 4 -84 C 24 -86 48 -84 58 -76 L 4 -78 Z"), "white")
    elif state == "with candles":
        for x, color in ((-34, "blue"), (-12, "yellow"), (12, "green"), (34, "purple")):
            pen.draw(box(x - 3, -112, x + 3, -84), color)
            pen.draw(
                path(f"M {x} -134 C {x + 6} -124 {x + 5} -114 {x} -114 C {x - 5} -114 {x - 6} -124 {x} -134 Z"), "flame"
            )


def cupcake(pen: Pen, state: str) -> None:
    """A cupcake with icing and a cherry."""
    pen.draw(path("M -32 -40 L 32 -40 L 24 -1 L -24 -1 Z"), "straw", shade=0.3)
    for x in (-16, 0, 16):
        pen.ink(line((x, -38), (x * 0.8, -3)), "straw", weight=0.9)
    pen.draw(
        path(
            "M -38 -38 C -44 -54 -28 -56 -28 -58 C -30 -70 -14 -72 -12 -72 C -8 -82 8 -82 12 -72 C 26 "
            "-72 30 -62 28 -58 C 42 -54 44 -42 38 -38 Z"
        ),
        shade=0.36,
    )
    pen.draw(oval(0, -79, 7, 7), "red")


def pancake(pen: Pen, state: str) -> None:
    """One pancake, or a stack with butter."""
    golden = Tone("#e9b765", "#9a6a24", "#d39c46")
    if state == "single":
        pen.draw(oval(0, -11, 62, 10), golden, shade=0.3)
        return
    for y in (-11, -21, -31, -41):
        pen.draw(
            path(f"M -58 {y - 4} C -66 {y} -64 {y + 9} -50 {y + 10} L 50 {y + 10} C 64 {y + 9} 66 {y} 58 {y - 4} Z"),
            golden,
        )
    pen.draw(oval(0, -47, 58, 9), golden, shade=0.3)
    pen.draw(
        path(
            "M -30 -48 C -10 -56 20 -56 34 -48 C 40 -42 38 -30 34 -26 C 30 -28 32 -38 24 -40 C 10 -38 "
            "-14 -38 -20 -40 C -22 -34 -26 -34 -26 -40 Z"
        ),
        "brown",
    )
    pen.draw(poly((-10, -56), (8, -62), (18, -56), (0, -50)), "yellow")


def cookie(pen: Pen, state: str) -> None:
    """A cookie with chocolate chips."""
    pen.draw(
        blob((-33, -36), (-26, -60), (-4, -70), (22, -62), (34, -38), (26, -12), (2, -2), (-24, -10)),
        Tone("#dba866", "#8a5c26", "#c48f4c"),
        shade=0.4,
    )
    for x, y in ((-14, -50), (8, -54), (18, -34), (-2, -34), (-18, -26), (8, -16)):
        pen.draw(oval(x, y, 4.4, 3.8), _CHOCOLATE)


def ice_cream(pen: Pen, state: str) -> None:
    """A cone with two scoops."""
    pen.draw(poly((-26, -66), (26, -66), (0, -2)), Tone("#e3b56d", "#8f6527", "#cb9a4f"))
    for a, b in (((-18, -62), (8, -20)), ((0, -64), (14, -36)), ((18, -62), (-8, -20)), ((0, -64), (-14, -36))):
        pen.ink(line(a, b), Tone("#e3b56d", "#a87838", "#cb9a4f"), weight=0.7)
    pen.draw(oval(0, -98, 23, 22), "cream", shade=0.3)
    pen.draw(
        blob(
            (-30, -66),
            (-30, -82),
            (-14, -92),
            (0, -94),
            (16, -92),
            (30, -82),
            (30, -66),
            (18, -60),
            (8, -66),
            (-6, -58),
            (-18, -66),
        ),
        shade=0.36,
    )
    pen.draw(oval(0, -120, 6, 6), "red")


def pizza(pen: Pen, state: str) -> None:
    """A pizza from above, perhaps one slice drawn out."""
    pen.draw(oval(0, -67, 65), _CRUST, shade=0.3)
    pen.draw(oval(0, -67, 54), Tone("#f2cf66", "#c1962e", "#e3b948"))
    toppings = ((-26, -92), (12, -100), (34, -66), (-8, -66), (-34, -56), (14, -36), (-14, -32))
    for x, y in toppings:
        pen.draw(oval(x, y, 9, 9), "red")
    for x, y in ((-8, -86), (20, -80), (-22, -74), (4, -50), (30, -46), (-30, -38)):
        pen.draw(oval(x, y, 5, 2.6, turn=x * 3), "green")
    if state == "sliced":
        for a, b in (((-65, -67), (65, -67)), ((-33, -123), (33, -11)), ((33, -123), (-33, -11))):
            pen.stroke(line(a, b), "#fdfbf6", weight=3.0)
            pen.stroke(line(a, b), "#7d5224", weight=0.7)


DRAWINGS: Mapping[str, Draw] = {
    "egg": egg, "bread": bread, "toast": toast, "sandwich": sandwich, "cheese": cheese, "butter": butter,
    "flour": flour, "sugar": sugar, "milk": milk, "cake": cake, "cupcake": cupcake, "pancake": pancake,
    "cookie": cookie, "ice cream": ice_cream, "pizza": pizza,
}  # fmt: skip
