"""Drawings: pets, birds, insects."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import arc, bow, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import INK, Tone

_OUTLINE = Tone("#fffefb", INK, "#dedbd2")


def draw_eye(pen: Pen, x: float, y: float, size: float = 3.4) -> None:
    """A dark eye with a glint; on a dark thing, in its white."""
    if pen.mark != INK:
        pen.dot(x, y, size * 1.45, "#f6efd2")
    pen.dot(x, y, size)
    pen.dot(x + size * 0.35, y - size * 0.35, size * 0.32, "#ffffff")


def cat(pen: Pen, state: str) -> None:
    """A sitting cat; its earlier states are the steps of drawing one."""
    if state == "sleeping":
        _sleeping_cat(pen)
        return
    stage = ("head circle", "ears", "face", "body", "finished").index(state)
    color = None if stage == 4 else pen.unless_asked(_OUTLINE)
    if stage >= 3:
        if stage == 4:
            pen.bar(bow((34, -14), (56, -18), (58, -44), (48, -62)), 10)
        pen.draw(
            path("M -20 -72 C -40 -52 -44 -18 -38 -2 L 38 -2 C 44 -18 40 -52 20 -72 Z"),
            color,
            shade=0.4 if stage == 4 else 0,
        )
        for x in (-13, 13):
            pen.draw(oval(x, -7, 13, 7), color)
        pen.ink(line((-1, -36), (-1, -12)), color, weight=0.8)
    if stage >= 1:
        for side in (-1, 1):
            pen.draw(poly((side * 36, -100), (side * 37, -134), (side * 10, -122)), color)
            if stage == 4:
                pen.fill(poly((side * 31, -108), (side * 33, -126), (side * 18, -119)), "#f0a5bb")
    pen.draw(oval(0, -92, 40, 34), color, shade=0.34 if stage == 4 else 0)
    if stage == 4:
        for x, y in ((-11, -118), (0, -114), (11, -118)):
            pen.ink(line((x, y - 6), (x * 0.8, y + 4)), weight=1.1)
    if stage >= 2:
        for x in (-15, 15):
            draw_eye(pen, x, -96, 4.4)
        pen.fill(poly((-5, -86), (5, -86), (0, -80)), "#c96f85" if stage == 4 else INK)
        pen.stroke(bow((0, -80), (-4, -74), (-11, -75)), pen.mark, weight=0.8)
        pen.stroke(bow((0, -80), (4, -74), (11, -75)), pen.mark, weight=0.8)
        for side in (-1, 1):
            for lift in (-4, 4):
                pen.stroke(line((side * 24, -82 + lift * 0.4), (side * 52, -84 + lift * 1.4)), pen.mark, weight=0.6)


def _sleeping_cat(pen: Pen) -> None:
    pen.draw(path("M -64 -4 C -74 -50 -28 -74 14 -66 C 54 -60 70 -30 62 -4 Z"), shade=0.4)
    pen.bar(bow((60, -10), (30, -6), (-10, -9)), 9)
    pen.draw(poly((-58, -40), (-62, -66), (-42, -52)))
    pen.draw(poly((-30, -50), (-16, -68), (-14, -42)))
    pen.draw(oval(-36, -30, 28, 23))
    for x in (-46, -26):
        pen.stroke(arc(x, -33, 6, 4, 10, 170), pen.mark, weight=0.8)
    pen.fill(poly((-40, -25), (-33, -25), (-36.5, -21)), "#c96f85")


def dog(pen: Pen, state: str) -> None:
    """A dog from the side, or sitting and looking at us."""
    if state == "sitting":
        pen.bar(bow((36, -12), (52, -20), (56, -38)), 8)
        pen.draw(path("M -22 -76 C -42 -50 -46 -18 -40 -2 L 40 -2 C 46 -18 42 -50 22 -76 Z"), shade=0.4)
        for x in (-14, 14):
            pen.draw(oval(x, -7, 14, 7))
        pen.draw(
            path("M -34 -112 C -34 -132 34 -132 34 -112 C 36 -84 24 -66 0 -64 C -24 -66 -36 -84 -34 -112 Z"), shade=0.3
        )
        for side in (-1, 1):
            pen.draw(path(
                f"M {side * 26} -124 C {side * 52} -126 {side * 52} -92 {side * 44} -82 C {side * 34} -86 "
                f"{side * 32} -104 {side * 26} -124 Z"
            ),
                     Tone(pen.own.shade, pen.own.stroke, pen.own.stroke))  # fmt: skip
            draw_eye(pen, side * 13, -104, 3.8)
        pen.draw(oval(0, -80, 17, 13), "cream")
        pen.fill(oval(0, -86, 7, 5), INK)
        pen.stroke(bow((-9, -78), (-4, -74), (0, -79), (4, -74), (9, -78)), pen.mark, weight=0.8)
        return
    pen.bar(bow((52, -78), (66, -94), (64, -112)), 8)
    for x in (-24, 34):
        pen.draw(
            path(f"M {x - 8} -50 L {x - 7} -2 L {x + 8} -2 L {x + 8} -50 Z"),
            Tone(pen.own.shade, pen.own.stroke, pen.own.shade),
        )
    pen.draw(path("M -30 -92 C -6 -98 30 -96 50 -86 C 62 -76 58 -48 48 -42 C 20 -34 -10 -36 -26 -44 Z"), shade=0.36)
    for x in (-12, 46):
        pen.draw(path(f"M {x - 8} -50 L {x - 7} -2 L {x + 9} -2 L {x + 8} -50 Z"))
    pen.draw(
        path(
            "M -68 -88 C -70 -98 -60 -102 -50 -102 C -48 -124 -20 -130 -14 -112 C -6 -92 -20 -72 -40 -74 "
            "C -56 -74 -66 -78 -68 -88 Z"
        ),
        shade=0.3,
    )
    pen.draw(
        path("M -22 -122 C -4 -124 0 -100 -6 -84 C -18 -88 -26 -104 -22 -122 Z"),
        Tone(pen.own.shade, pen.own.stroke, pen.own.stroke),
    )
    draw_eye(pen, -40, -106)
    pen.fill(oval(-66, -92, 6, 5), INK)
    pen.stroke(bow((-62, -82), (-52, -80), (-46, -84)), pen.mark, weight=0.8)
    pen.stroke(line((-26, -78), (-14, -88)), "#d5524a", weight=2.4)


def bird(pen: Pen, state: str) -> None:
    """A small bird, perched or on the wing, looking left."""
    dark = Tone(pen.own.shade, pen.own.stroke, pen.own.shade)
    if state == "flying":
        with pen.at(0, -24):
            pen.draw(poly((36, -8), (64, -16), (58, -2), (62, 8), (36, 4)), dark)
            pen.draw(path("M 4 -8 C -6 -36 10 -54 26 -56 C 30 -40 30 -22 24 -6 Z"), dark)
            pen.draw(
                path(
                    "M -46 -12 C -44 -28 -22 -28 -12 -18 C 10 -22 34 -12 40 -4 C 26 16 -10 20 -30 8 C "
                    "-40 4 -48 -2 -46 -12 Z"
                ),
                shade=0.36,
            )
            pen.draw(poly((-45, -14), (-63, -9), (-45, -6)), "orange")
            draw_eye(pen, -33, -14)
            pen.draw(path("M -10 -6 C -12 -30 4 -50 16 -52 C 22 -34 22 -14 16 -2 Z"))
        return
    for x in (-4, 8):
        pen.ink(line((x, -14), (x - 1, -1)), "orange")
        pen.ink(line((x - 7, -1), (x + 5, -1)), "orange")
    pen.draw(poly((26, -36), (48, -28), (46, -18), (20, -22)), dark)
    pen.draw(
        path(
            "M -34 -52 C -34 -80 2 -84 8 -58 C 24 -54 34 -40 30 -28 C 20 -8 -10 -6 -22 -22 C -32 -32 -36 -42 -34 -52 Z"
        ),
        shade=0.36,
    )
    pen.draw(path("M -28 -34 C -20 -44 -6 -40 -6 -28 C -8 -16 -18 -16 -24 -24 Z"), "cream", line=False)
    pen.draw(poly((-33, -60), (-48, -52), (-33, -47)), "orange")
    draw_eye(pen, -18, -60)
    pen.draw(path("M -2 -44 C 12 -48 26 -40 32 -26 C 18 -22 2 -26 -2 -44 Z"), dark)


def fish(pen: Pen, state: str) -> None:
    """A fish swimming left."""
    with pen.at(0, -36):
        pen.draw(path("M 24 0 C 36 -12 46 -24 55 -28 Q 46 -4 55 26 C 46 20 36 10 24 0 Z"), shade=0.4)
        pen.draw(path("M -10 -22 C 0 -38 18 -34 22 -20 Z"))
        pen.draw(path("M -54 -2 C -40 -32 10 -32 32 -2 C 10 30 -40 30 -54 -2 Z"), shade=0.36)
        pen.ink(arc(-30, -1, 12, 20, -60, 60), weight=0.8)
        pen.draw(path("M -8 4 C 2 2 12 10 14 18 C 2 20 -8 16 -8 4 Z"))
        for x, y in ((-2, -10), (12, -4), (6, -16)):
            pen.ink(arc(x, y, 5, 5, -70, 70), weight=0.7)
        draw_eye(pen, -38, -6, 4)
        pen.stroke(bow((-53, 2), (-47, 6), (-42, 6)), pen.mark, weight=0.8)


def butterfly(pen: Pen, state: str) -> None:
    """A butterfly seen from above, wings spread."""
    for side in (-1, 1):
        pen.draw(path(
            f"M {side * 3} -50 C {side * 14} -92 {side * 50} -96 {side * 51} -70 C {side * 52} -54 "
            f"{side * 26} -44 {side * 3} -46 Z"
        ),
                 shade=0.4)  # fmt: skip
        pen.draw(path(
            f"M {side * 3} -44 C {side * 26} -42 {side * 44} -36 {side * 42} -16 C {side * 38} 0 {side * 12} "
            f"-6 {side * 3} -38 Z"
        ),
                 shade=0.4)  # fmt: skip
        pen.draw(oval(side * 33, -70, 8, 7), "yellow")
        pen.draw(oval(side * 27, -24, 6, 6), "yellow")
        pen.stroke(bow((side * 2, -62), (side * 6, -74), (side * 14, -84)), pen.mark, weight=0.8)
        pen.dot(side * 14, -84, 2)
    pen.draw(oval(0, -42, 4.5, 23), "black")


def caterpillar(pen: Pen, state: str) -> None:
    """A caterpillar of round segments, looking left."""
    for x in (-26, -6, 14, 34, 50):
        pen.stroke(line((x, -10), (x - 2, -1)), pen.mark, weight=0.9)
    for x, y in ((48, -16), (31, -23), (13, -29), (-6, -27), (-23, -20)):
        pen.draw(oval(x, y, 12.5, 12.5), shade=0.4)
    for lean in (-6, 5):
        pen.stroke(bow((-42, -36), (-44 + lean, -46), (-46 + lean * 1.6, -52)), pen.mark, weight=0.8)
    pen.draw(oval(-42, -24, 16.5, 16))
    draw_eye(pen, -48, -27, 3)
    draw_eye(pen, -37, -27, 3)
    pen.stroke(arc(-43, -20, 6, 4, 10, 170), pen.mark, weight=0.8)


def chrysalis(pen: Pen, state: str) -> None:
    """A chrysalis hanging from a twig."""
    pen.bar(line((-26, -114), (26, -116)), 6, "brown")
    pen.stroke(line((0, -112), (0, -98)), INK)
    pen.draw(
        path("M -4 -98 C -22 -90 -22 -56 -14 -34 C -8 -16 -4 -4 0 -2 C 4 -4 8 -16 14 -34 C 22 -56 22 -90 4 -98 Z"),
        shade=0.42,
    )
    for y, half in ((-80, 15), (-62, 17), (-44, 14), (-28, 9)):
        pen.ink(bow((-half, y), (0, y + 5), (half, y)), weight=0.8)


def bee(pen: Pen, state: str) -> None:
    """A bee flying left."""
    for x, turn in ((4, -24), (16, 10)):
        pen.draw(oval(x, -48, 11, 18, turn=turn), "glass")
    pen.draw(oval(2, -24, 33, 19), shade=0.36)
    for x in (-6, 8, 21):
        half = 18 * (1 - ((x - 2) / 35) ** 2) ** 0.5
        pen.stroke(bow((x, -24 - half), (x + 3, -24), (x, -24 + half)), "#3b3b40", weight=2.4)
    pen.stroke(line((34, -23), (41, -21)), INK)
    draw_eye(pen, -20, -27, 3)
    pen.stroke(arc(-22, -20, 5, 4, 30, 150), pen.mark, weight=0.8)
    for lean in (0, 6):
        pen.stroke(bow((-26 + lean, -38), (-30 + lean, -48), (-36 + lean, -52)), pen.mark, weight=0.8)


def ladybird(pen: Pen, state: str) -> None:
    """A ladybird from the side, looking left."""
    for x in (-14, 4, 22):
        pen.stroke(line((x, -8), (x - 4, -1)), INK)
    pen.draw(oval(-27, -20, 12, 13), "black")
    for lean in (0, 5):
        pen.stroke(bow((-32 + lean, -30), (-36 + lean, -40), (-38 + lean * 1.5, -46)), pen.mark, weight=0.8)
    pen.draw(path("M -28 -7 C -28 -66 38 -66 39 -7 Z"), shade=0.36)
    for x, y, r in ((-10, -20, 5), (8, -36, 5), (6, -16, 4.4), (24, -22, 5)):
        pen.dot(x, y, r, "#3b3b40")
    pen.dot(-30, -22, 2.4, "#ffffff")


def snail(pen: Pen, state: str) -> None:
    """A snail creeping left."""
    for x, tip in ((-44, -72), (-34, -74)):
        pen.bar(bow((-36, -40), (x + 2, -56), (x, tip + 4)), 3, "straw")
        pen.dot(x, tip + 3, 3.2)
    pen.draw(
        path(
            "M -50 -44 C -48 -54 -34 -54 -30 -44 C -26 -24 -10 -18 10 -18 L 40 -14 Q 56 -8 55 -1 L -30 "
            "-1 C -46 -2 -52 -20 -50 -44 Z"
        ),
        "straw",
    )
    pen.draw(oval(12, -38, 31, 31), shade=0.4)
    pen.ink(
        bow(
            (34, -20), (16, -14), (-6, -30), (0, -54), (22, -56), (30, -40), (22, -28), (10, -32), (12, -42), (18, -40)
        ),
        weight=1.0,
    )


DRAWINGS: Mapping[str, Draw] = {
    "cat": cat, "dog": dog, "bird": bird, "fish": fish, "butterfly": butterfly, "caterpillar": caterpillar,
    "chrysalis": chrysalis, "bee": bee, "ladybird": ladybird, "snail": snail,
}  # fmt: skip
