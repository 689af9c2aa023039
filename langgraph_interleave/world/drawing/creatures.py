"""Drawings: farm animals and wild ones."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.animals import draw_eye
from langgraph_interleave.world.drawing.outline import arc, blob, bow, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import INK, Tone


def _darker(pen: Pen) -> Tone:
    return Tone(pen.own.shade, pen.own.stroke, pen.own.shade)


def _leg(pen: Pen, x: float, top: float, half: float, color: Tone | str | None = None, hoof: str | None = None) -> None:
    pen.draw(path(f"M {x - half} {top} L {x - half + 1} -1 L {x + half} -1 L {x + half} {top} Z"), color)
    if hoof:
        pen.fill(poly((x - half + 1, -7), (x + half, -7), (x + half, -1), (x - half + 1, -1)), hoof)


def rabbit(pen: Pen, state: str) -> None:
    """A sitting rabbit, face on."""
    for side in (-1, 1):
        with pen.at(side * 13, -90, turn=side * 9):
            pen.draw(path("M -9 6 C -14 -22 -8 -46 0 -46 C 8 -46 14 -22 9 6 Z"))
            pen.draw(path("M -4 0 C -7 -18 -4 -34 0 -36 C 4 -34 7 -18 4 0 Z"), "pink", line=False)
    pen.draw(oval(38, -14, 10, 10), "white")
    pen.draw(path("M -20 -56 C -40 -40 -42 -12 -36 -2 L 36 -2 C 42 -12 40 -40 20 -56 Z"), shade=0.4)
    pen.draw(oval(0, -22, 17, 18), "cream", line=False)
    for x in (-15, 15):
        pen.draw(oval(x, -7, 14, 7))
    pen.draw(oval(0, -72, 32, 28), shade=0.3)
    for x in (-12, 12):
        draw_eye(pen, x, -76, 3.8)
    pen.fill(poly((-5, -67), (5, -67), (0, -62)), "#c96f85")
    pen.stroke(bow((-8, -58), (-4, -55), (0, -60), (4, -55), (8, -58)), pen.mark, weight=0.8)
    pen.draw(poly((-4, -56), (4, -56), (3, -49), (-3, -49)), "white")


def mouse(pen: Pen, state: str) -> None:
    """A mouse running left."""
    pen.stroke(bow((34, -12), (44, -24), (42, -40), (47, -46)), pen.own.stroke, weight=1.2)
    for x in (-16, 14):
        pen.draw(oval(x, -4, 8, 4), "pink")
    pen.draw(path("M -46 -16 C -30 -44 30 -54 38 -18 C 40 -4 24 -3 0 -3 C -26 -3 -40 -6 -46 -16 Z"), shade=0.36)
    pen.draw(oval(-12, -46, 12, 13))
    pen.draw(oval(-11, -45, 7, 8), "pink", line=False)
    draw_eye(pen, -26, -26, 3.2)
    pen.dot(-45, -17, 3.4)
    for lift in (-3, 3):
        pen.stroke(line((-34, -14), (-20, -12 + lift)), INK, weight=0.6)


def horse(pen: Pen, state: str) -> None:
    """A horse looking left."""
    mane = Tone("#57381d", "#38230f", "#38230f")
    pen.draw(path("M 58 -90 C 82 -84 78 -48 72 -34 C 64 -44 62 -64 52 -74 Z"), mane)
    for x in (-20, 40):
        _leg(pen, x, -60, 7, _darker(pen), "#3b3b40")
    pen.draw(path("M -34 -104 C -10 -92 30 -104 54 -94 C 70 -84 66 -58 54 -50 C 20 -42 -14 -44 -32 -56 Z"), shade=0.36)
    for x in (-6, 52):
        _leg(pen, x, -60, 8, None, "#3b3b40")
    pen.draw(
        path("M -30 -60 C -40 -84 -46 -112 -38 -146 L -14 -140 C -10 -120 -2 -104 4 -98 C -6 -80 -16 -66 -30 -60 Z"),
        line=True,
    )
    pen.draw(path(
        "M -40 -150 C -30 -160 -18 -156 -16 -144 C -18 -130 -36 -122 -52 -108 C -64 -100 -76 -106 -74 -116 C "
        "-70 -126 -54 -138 -40 -150 Z"
    ),
             shade=0.25)  # fmt: skip
    pen.draw(poly((-30, -152), (-27, -159), (-18, -148)))
    pen.draw(path("M -22 -152 C 2 -146 6 -118 10 -98 C -2 -104 -12 -124 -22 -134 Z"), mane)
    draw_eye(pen, -42, -134, 3.2)
    pen.dot(-67, -113, 2)
    pen.stroke(bow((-70, -106), (-62, -106), (-56, -111)), pen.mark, weight=0.8)


def cow(pen: Pen, state: str) -> None:
    """A cow with patches, looking left."""
    pen.bar(bow((64, -96), (76, -80), (74, -52)), 4)
    pen.dot(74, -48, 5, "#57381d")
    for x in (-12, 44):
        _leg(pen, x, -50, 7, _darker(pen), "#3b3b40")
    pen.draw(
        blob((-36, -96), (10, -104), (58, -102), (70, -80), (64, -50), (20, -42), (-24, -44), (-40, -66)), shade=0.3
    )
    pen.fill(blob((2, -100), (26, -102), (30, -84), (14, -72), (-2, -82)), "#3b3b40")
    pen.fill(blob((44, -78), (60, -82), (64, -60), (48, -54), (38, -64)), "#3b3b40")
    pen.draw(oval(36, -42, 12, 8), "pink")
    for x in (2, 58):
        _leg(pen, x, -52, 8, None, "#3b3b40")
    for side in (-1, 1):
        pen.draw(path(
            f"M {-46 + side * 15} -118 C {-46 + side * 20} -124 {-46 + side * 24} -130 {-46 + side * 20} -135 "
            f"C {-46 + side * 14} -132 {-46 + side * 10} -126 {-46 + side * 8} -120 Z"
        ),
                 "cream")  # fmt: skip
        pen.draw(oval(-46 + side * 26, -108, 11, 6, turn=side * 16))
    pen.draw(
        path("M -66 -112 C -66 -126 -26 -126 -26 -112 C -26 -96 -30 -84 -34 -76 L -58 -76 C -62 -84 -66 -96 -66 -112 Z")
    )
    pen.fill(blob((-66, -112), (-62, -122), (-50, -122), (-50, -104), (-60, -96)), "#3b3b40")
    pen.draw(oval(-46, -76, 20, 13), "pink")
    for x in (-53, -39):
        pen.dot(x, -78, 2.6)
    draw_eye(pen, -56, -104, 3)
    pen.dot(-56, -104, 1.4, "#ffffff")
    draw_eye(pen, -37, -104, 3)


def pig(pen: Pen, state: str) -> None:
    """A pig looking left."""
    pen.ink(bow((56, -62), (64, -70), (58, -76), (54, -68), (66, -64)), weight=1.2)
    for x in (-16, 34):
        _leg(pen, x, -30, 7, _darker(pen))
    pen.draw(blob((-34, -80), (10, -94), (48, -82), (60, -54), (48, -24), (8, -16), (-30, -24), (-44, -50)), shade=0.36)
    for x in (-2, 46):
        _leg(pen, x, -32, 8)
    pen.draw(poly((-46, -82), (-54, -103), (-32, -90)), _darker(pen))
    pen.draw(poly((-18, -88), (-8, -103), (-4, -80)), _darker(pen))
    pen.draw(oval(-30, -62, 28, 27), shade=0.25)
    pen.draw(oval(-42, -54, 13, 11), _darker(pen))
    for x in (-46, -38):
        pen.dot(x, -54, 2.4)
    draw_eye(pen, -42, -71, 3)
    draw_eye(pen, -22, -71, 3)
    pen.stroke(arc(-34, -46, 9, 6, 20, 140), pen.mark, weight=0.8)


def sheep(pen: Pen, state: str) -> None:
    """A woolly sheep looking left."""
    for x in (-18, 0, 28, 44):
        _leg(pen, x, -30, 5, "black")
    puffs = [
        oval(x, y, 22, 20) for x, y in ((-20, -76), (8, -86), (36, -78), (48, -54), (30, -38), (0, -36), (-22, -48))
    ]
    pen.union(*puffs, oval(12, -58, 36, 26))
    for x, y in ((-6, -66), (18, -72), (34, -56), (10, -48)):
        pen.ink(arc(x, y, 8, 7, 150, 330), weight=0.8)
    for side in (-1, 1):
        pen.draw(oval(-44 + side * 20, -80, 10, 5, turn=side * 22), "black")
    pen.draw(path("M -62 -86 C -62 -98 -28 -98 -28 -86 C -28 -68 -36 -52 -45 -52 C -54 -52 -62 -68 -62 -86 Z"), "black")
    pen.union(oval(-54, -94, 9, 8), oval(-42, -98, 10, 9), oval(-32, -93, 8, 8))
    for x in (-52, -38):
        pen.dot(x, -78, 4, "#ffffff")
        pen.dot(x, -77, 2)


def hen(pen: Pen, state: str) -> None:
    """A hen looking left."""
    for x in (-4, 12):
        pen.ink(line((x, -22), (x, -2)), "orange", weight=1.2)
        pen.ink(line((x - 8, -1), (x + 6, -1)), "orange", weight=1.2)
    pen.draw(path("M 26 -58 C 34 -74 46 -84 51 -80 C 53 -62 46 -42 34 -32 Z"), _darker(pen))
    pen.draw(
        path(
            "M -34 -84 C -34 -104 -8 -104 -6 -84 C -4 -66 16 -60 36 -66 C 44 -40 30 -18 6 -18 C -24 -18 "
            "-34 -44 -34 -84 Z"
        ),
        shade=0.36,
    )
    pen.draw(path("M 0 -52 C 14 -54 28 -50 32 -40 C 24 -28 6 -28 0 -52 Z"), _darker(pen))
    pen.draw(
        path("M -34 -94 C -34 -106 -26 -110 -24 -102 C -22 -112 -12 -112 -12 -102 C -6 -106 -4 -98 -8 -92 Z"), "red"
    )
    pen.draw(poly((-33, -88), (-49, -82), (-33, -77)), "orange")
    pen.draw(path("M -34 -76 C -40 -70 -36 -62 -30 -64 C -28 -70 -30 -74 -34 -76 Z"), "red")
    draw_eye(pen, -23, -86, 3)


def chick(pen: Pen, state: str) -> None:
    """A chick looking left."""
    for x in (-6, 8):
        pen.ink(line((x, -14), (x, -2)), "orange", weight=1.1)
        pen.ink(line((x - 6, -1), (x + 5, -1)), "orange", weight=1.1)
    pen.draw(oval(2, -28, 28, 22), shade=0.38)
    pen.draw(oval(-8, -56, 20, 19), shade=0.25)
    pen.ink(bow((-8, -74), (-6, -79), (-2, -77)), weight=0.9)
    pen.draw(poly((-27, -58), (-36, -53), (-26, -49)), "orange")
    pen.draw(path("M 2 -34 C 14 -38 24 -32 26 -24 C 16 -16 4 -20 2 -34 Z"), _darker(pen))
    draw_eye(pen, -14, -59, 3)


def duck(pen: Pen, state: str) -> None:
    """A duck afloat or standing, looking left."""
    for x in (-4, 12):
        pen.draw(poly((x, -8), (x - 11, -1), (x + 5, -1)), "orange")
    pen.draw(
        path("M -22 -40 C -6 -50 14 -46 30 -50 Q 46 -58 55 -62 C 56 -36 40 -6 4 -6 C -24 -6 -36 -20 -34 -34 Z"),
        shade=0.36,
    )
    pen.draw(oval(-24, -66, 23, 22), shade=0.25)
    pen.draw(path("M -44 -66 C -52 -68 -56 -64 -56 -60 C -54 -54 -46 -54 -40 -56 Z"), "orange")
    pen.draw(path("M 0 -34 C 14 -38 32 -36 38 -28 C 26 -14 4 -14 0 -34 Z"), _darker(pen))
    draw_eye(pen, -30, -71, 3.2)


def frog(pen: Pen, state: str) -> None:
    """A frog, or what becomes one."""
    if state == "eggs":
        for x, y in (
            (-32, -14),
            (-10, -12),
            (12, -14),
            (34, -12),
            (-22, -32),
            (0, -31),
            (23, -32),
            (-10, -50),
            (13, -50),
        ):
            pen.draw(oval(x, y, 12.5, 12), pen.unless_asked("glass"))
            pen.dot(x, y, 4.2, "#3b3b40")
        return
    if state in ("tadpole", "froglet"):
        with pen.at(0, -34):
            if state == "froglet":
                for side in (-1, 1):
                    pen.bar(bow((8, side * 10), (16, side * 26), (30, side * 28)), 5)
                    pen.bar(bow((-20, side * 16), (-24, side * 28), (-34, side * 30)), 4)
            pen.draw(path("M 6 -14 C 26 -10 32 -18 51 -12 C 42 0 34 10 6 14 Z"), _darker(pen))
            pen.draw(oval(-18, 0, 32, 22), shade=0.38)
            draw_eye(pen, -34, -8, 3.6)
            pen.stroke(arc(-40, 4, 8, 6, 20, 110), pen.mark, weight=0.8)
        return
    for side in (-1, 1):
        pen.draw(
            path(
                f"M {side * 20} -10 C {side * 28} -46 {side * 52} -34 {side * 46} -12 L {side * 50} -2 L "
                f"{side * 18} -2 Z"
            ),
            shade=0.4,
        )
    pen.draw(path("M -34 -48 C -36 -10 -24 -2 0 -2 C 24 -2 36 -10 34 -48 Z"), shade=0.34)
    for side in (-1, 1):
        pen.bar(bow((side * 14, -24), (side * 16, -12), (side * 12, -4)), 7)
        pen.draw(oval(side * 20, -68, 11, 11))
    pen.draw(oval(0, -50, 40, 21))
    for side in (-1, 1):
        pen.draw(oval(side * 20, -69, 7, 7), "white")
        pen.dot(side * 20, -69, 3.4)
    pen.stroke(bow((-26, -48), (-12, -40), (0, -38), (12, -40), (26, -48)), pen.mark, weight=0.9)


def turtle(pen: Pen, state: str) -> None:
    """A turtle walking left."""
    skin = Tone("#b9c77f", "#5f6f2c", "#9cab60")
    for x in (-24, 30):
        pen.draw(path(f"M {x - 11} -18 L {x - 9} -1 L {x + 9} -1 L {x + 11} -18 Z"), skin)
    pen.draw(poly((46, -20), (62, -10), (44, -10)), skin)
    pen.draw(path("M -38 -20 C -46 -24 -44 -34 -50 -38 C -66 -40 -66 -58 -50 -58 C -36 -58 -32 -36 -28 -26 Z"), skin)
    pen.draw(path("M -44 -16 C -42 -60 -14 -78 8 -78 C 32 -76 52 -50 54 -16 Z"), shade=0.38)
    pen.ink(poly((-8, -40), (6, -58), (24, -48), (22, -28), (2, -24)), weight=0.9)
    for a, b in (
        ((-8, -40), (-30, -46)),
        ((6, -58), (4, -76)),
        ((24, -48), (40, -54)),
        ((22, -28), (36, -18)),
        ((2, -24), (-6, -16)),
    ):
        pen.ink(line(a, b), weight=0.9)
    draw_eye(pen, -53, -50, 2.8)
    pen.stroke(bow((-61, -44), (-55, -43), (-50, -45)), pen.mark, weight=0.8)


def elephant(pen: Pen, state: str) -> None:
    """An elephant looking left."""
    pen.stroke(bow((80, -84), (86, -66), (82, -52)), pen.own.stroke, weight=1.2)
    for x in (0, 54):
        _leg(pen, x, -44, 11, _darker(pen))
    pen.draw(
        blob((-16, -118), (30, -130), (70, -116), (82, -82), (72, -44), (30, -36), (-10, -40), (-24, -74)), shade=0.34
    )
    for x in (18, 68):
        _leg(pen, x, -46, 12)
        pen.ink(arc(x, -4, 8, 4, 190, 350), weight=0.7)
    pen.draw(
        path(
            "M -64 -92 C -72 -66 -74 -40 -70 -22 C -68 -10 -84 -12 -84 -22 L -77 -30 C -76 -14 -62 -2 "
            "-56 -16 C -52 -34 -50 -54 -40 -62 Z"
        )
    )
    pen.draw(oval(-42, -92, 33, 32), shade=0.22)
    pen.draw(
        path("M -28 -122 C 4 -134 22 -104 14 -76 C 8 -58 -16 -54 -24 -70 C -34 -86 -36 -106 -28 -122 Z"), shade=0.3
    )
    pen.draw(path("M -58 -66 C -64 -58 -62 -46 -56 -44 C -52 -50 -50 -58 -48 -64 Z"), "white")
    draw_eye(pen, -54, -96, 3.4)


def whale(pen: Pen, state: str) -> None:
    """A whale, blowing."""
    for side in (-1, 1):
        pen.ink(
            bow((-30, -78), (-30 + side * 4, -94), (-30 + side * 16, -100), (-30 + side * 22, -92)), "water", weight=1.3
        )
    pen.draw(
        path("M 44 -40 C 58 -54 58 -66 52 -80 C 66 -80 72 -70 72 -66 C 76 -74 84 -78 87 -76 C 88 -56 76 -36 60 -24 Z")
    )
    pen.draw(
        path(
            "M -84 -34 C -86 -80 -20 -84 10 -66 C 30 -56 48 -52 62 -36 C 54 -6 0 -2 -34 -3 C -66 -4 -82 -12 -84 -34 Z"
        ),
        shade=0.3,
    )
    pen.draw(path("M -82 -26 C -50 -20 -20 -26 0 -16 C -10 -4 -36 -3 -44 -3 C -66 -4 -80 -12 -82 -26 Z"), "white")
    for x in (-60, -44, -28):
        pen.ink(line((x, -19), (x + 4, -6)), "grey", weight=0.7)
    pen.draw(path("M -6 -24 C 6 -20 14 -8 12 -2 C -2 -4 -10 -12 -6 -24 Z"))
    draw_eye(pen, -58, -38, 3.4)


def nest(pen: Pen, state: str) -> None:
    """A nest of twigs."""
    if state == "with eggs":
        for x in (-22, 0, 22):
            pen.draw(oval(x, -44, 13, 17), Tone("#cfe3ea", "#6f95a5", "#b3cfd9"))
    elif state == "with chicks":
        for x in (-26, 0, 26):
            pen.draw(oval(x, -56, 15, 17), "yellow")
            pen.draw(poly((x - 7, -62), (x, -86), (x + 7, -62)), "orange")
            pen.draw(poly((x - 4, -62), (x, -76), (x + 4, -62)), "red", line=False)
            for dx in (-7, 7):
                pen.dot(x + dx, -58, 1.9)
    pen.draw(path("M -58 -40 C -50 -2 -30 -1 0 -1 C 30 -1 50 -2 58 -40 Q 0 -26 -58 -40 Z"), shade=0.4)
    for points in (
        ((-52, -30), (-10, -16), (30, -26)), ((-40, -12), (0, -22), (46, -22)), ((-30, -28), (14, -8), (36, -8)),
        ((-50, -38), (-20, -28), (16, -30)), ((10, -16), (36, -30), (56, -38)),
    ):  # fmt: skip
        pen.ink(bow(*points), weight=0.8)


DRAWINGS: Mapping[str, Draw] = {
    "rabbit": rabbit, "mouse": mouse, "horse": horse, "cow": cow, "pig": pig, "sheep": sheep, "hen": hen,
    "chick": chick, "duck": duck, "frog": frog, "turtle": turtle, "elephant": elephant, "whale": whale, "nest": nest,
}  # fmt: skip
