"""Drawings: vehicles."""

from __future__ import annotations

import math
from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import bow, box, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import INK, Tone

_FLAME = "M -14 0 C -18 20 -8 26 -6 38 C 0 30 0 46 2 52 C 6 40 10 34 10 26 C 16 18 16 8 14 0 Z"


def draw_wheel(pen: Pen, x: float, y: float, r: float) -> None:
    """A tyre with a hub."""
    pen.draw(oval(x, y, r), "black")
    pen.draw(oval(x, y, r * 0.46), "metal")


def car(pen: Pen, state: str) -> None:
    """A car driving right."""
    pen.draw(path("M -52 -44 C -42 -74 -32 -84 -12 -84 L 18 -84 C 34 -84 46 -64 58 -46 Z"), shade=0.3)
    pen.draw(path("M -40 -48 C -34 -66 -28 -74 -14 -74 L -6 -74 L -6 -48 Z"), "glass")
    pen.draw(path("M 2 -48 L 2 -74 L 16 -74 C 26 -74 34 -62 42 -48 Z"), "glass")
    pen.draw(
        path(
            "M -84 -20 C -86 -44 -70 -50 -52 -50 L 56 -50 C 76 -46 86 -40 85 -18 Q 84 -12 76 -12 L -76 "
            "-12 Q -84 -12 -84 -20 Z"
        ),
        shade=0.36,
    )
    pen.draw(oval(78, -34, 6, 7), "yellow")
    pen.draw(box(-86, -40, -78, -30, corner=2), "red")
    pen.ink(line((-2, -46), (-2, -16)), weight=0.8)
    pen.ink(line((8, -38), (18, -38)), weight=1.1)
    for x in (-48, 48):
        draw_wheel(pen, x, -17, 17)


def bus(pen: Pen, state: str) -> None:
    """A bus driving right."""
    pen.draw(box(-98, -118, 98, -16, corner=12), shade=0.3)
    for x in (-82, -46, -10, 26):
        pen.draw(box(x, -100, x + 28, -66, corner=3), "glass")
    pen.draw(box(62, -100, 92, -22, corner=3), "glass")
    pen.ink(line((77, -100), (77, -22)), "glass")
    pen.ink(line((-96, -50), (58, -50)), weight=0.9)
    pen.draw(oval(92, -30, 5, 6), "cream")
    for x in (-56, 42):
        draw_wheel(pen, x, -17, 17)


def truck(pen: Pen, state: str) -> None:
    """A lorry driving right."""
    pen.draw(box(-98, -118, 34, -22), pen.unless_asked("cream"), shade=0.3)
    pen.draw(path("M 38 -22 L 38 -92 L 66 -92 C 80 -84 88 -66 98 -52 L 98 -22 Z"), shade=0.36)
    pen.draw(path("M 50 -56 L 50 -82 L 64 -82 C 72 -78 78 -66 84 -56 Z"), "glass")
    pen.draw(oval(92, -36, 5, 6), "yellow")
    pen.draw(box(-98, -28, 98, -18), "grey")
    for x in (-66, -26, 66):
        draw_wheel(pen, x, -17, 17)


def train(pen: Pen, state: str) -> None:
    """A steam engine driving right."""
    puff = Tone("#e2e2e0", "#97989a", "#cfcfcd")
    pen.draw(box(-106, -94, -44, -24), shade=0.34)
    pen.draw(box(-92, -84, -60, -56), "glass")
    pen.draw(box(-104, -104, -38, -92), Tone(pen.own.shade, pen.own.stroke, pen.own.shade))
    pen.draw(box(-44, -70, 70, -24, corner=6), shade=0.34)
    pen.draw(oval(70, -47, 9, 23), Tone(pen.own.shade, pen.own.stroke, pen.own.shade))
    pen.draw(poly((40, -68), (36, -88), (60, -88), (56, -68)), "black")
    pen.draw(path("M -12 -68 C -12 -84 12 -84 12 -68 Z"), "yellow")
    pen.union(oval(58, -97, 9, 6), oval(74, -98, 10, 6), oval(92, -95, 12, 7), color=puff)
    pen.draw(box(-106, -28, 76, -18), "red")
    pen.draw(poly((76, -26), (104, -4), (76, -4)), "grey")
    for x, r in ((-84, 18), (-38, 18), (2, 14), (36, 14), (64, 12)):
        pen.draw(oval(x, -r, r - 1), "black")
        pen.draw(oval(x, -r, r * 0.5), "red")
    pen.bar(line((-84, -14), (-38, -14)), 3, "metal")


def bicycle(pen: Pen, state: str) -> None:
    """A bicycle facing right."""
    for x in (-50, 50):
        pen.stroke(oval(x, -33, 31), "#3b3b40", weight=2.2)
        for turn in range(0, 180, 45):
            cos, sin = math.cos(math.radians(turn + 20)) * 29, math.sin(math.radians(turn + 20)) * 29
            pen.stroke(line((x - cos, -33 - sin), (x + cos, -33 + sin)), "#a5a8ad", weight=0.5)
        pen.dot(x, -33, 4)
    for a, b in (
        ((-50, -33), (-22, -78)),
        ((-50, -33), (-4, -32)),
        ((-4, -32), (-24, -82)),
        ((-4, -32), (34, -82)),
        ((-22, -74), (34, -80)),
        ((50, -33), (32, -92)),
    ):
        pen.bar(line(a, b), 5)
    pen.draw(path("M -42 -90 C -36 -96 -16 -94 -8 -90 C -14 -84 -34 -82 -42 -90 Z"), "black")
    pen.bar(bow((32, -92), (30, -104), (42, -108), (50, -102)), 4, "black")
    pen.draw(oval(-4, -32, 9), "metal")
    pen.bar(line((-4, -32), (6, -14)), 3, "metal")
    pen.draw(box(0, -15, 14, -10), "black")


def boat(pen: Pen, state: str) -> None:
    """A sailing boat heading right."""
    pen.bar(line((-6, -36), (-6, -164)), 5, "wood")
    pen.draw(path("M 2 -156 C 34 -124 52 -84 58 -48 L 2 -48 Z"), "cream", shade=0.3)
    pen.draw(path("M -14 -146 C -36 -116 -50 -84 -54 -50 L -14 -48 Z"), "cream", shade=0.4)
    pen.draw(poly((-6, -166), (-28, -160), (-6, -153)), "red")
    pen.draw(path("M -82 -38 L 82 -38 C 76 -14 62 -2 44 -2 L -48 -2 C -66 -4 -76 -18 -82 -38 Z"), shade=0.4)
    pen.ink(bow((-76, -26), (0, -24), (78, -27)), weight=0.9)


def airplane(pen: Pen, state: str) -> None:
    """An aeroplane flying right."""
    dark = Tone(pen.own.shade, pen.own.stroke, pen.own.shade)
    pen.draw(poly((-70, -46), (-90, -84), (-70, -84), (-40, -50)), "red")
    pen.draw(poly((4, -50), (-20, -78), (-4, -78), (36, -50)), dark)
    pen.draw(
        path(
            "M -86 -40 C -80 -52 -40 -58 20 -58 C 64 -58 88 -48 90 -38 C 88 -28 60 -22 20 -22 C -40 -22 "
            "-80 -28 -86 -40 Z"
        ),
        shade=0.34,
    )
    pen.draw(path("M 58 -54 C 72 -52 80 -46 83 -41 L 60 -40 Z"), "glass")
    for x in range(-46, 50, 19):
        pen.draw(oval(x, -44, 5), "glass")
    pen.draw(poly((30, -34), (-24, -2), (-42, -4), (-10, -36)), dark)
    pen.draw(poly((-66, -38), (-88, -24), (-78, -22), (-48, -34)), dark)


def rocket(pen: Pen, state: str) -> None:
    """A rocket, on the ground or with fire under it."""
    lift = 56.0 if state == "launching" else 0.0
    with pen.at(0, -lift):
        if state == "launching":
            with pen.at(0, -12):
                pen.draw(path(_FLAME), "orange")
                with pen.at(scale=0.55):
                    pen.draw(path(_FLAME), "yellow")
        for side in (-1, 1):
            pen.draw(
                path(f"M {side * 22} -56 C {side * 40} -44 {side * 43} -20 {side * 40} -4 L {side * 20} -18 Z"),
                "red",
                shade=0.4,
            )
        pen.draw(box(-14, -16, 14, -6), "grey")
        pen.draw(path("M 0 -166 C 28 -140 32 -96 24 -14 L -24 -14 C -32 -96 -28 -140 0 -166 Z"), shade=0.4)
        pen.draw(path("M 0 -166 C 12 -154 19 -142 22 -128 L -22 -128 C -19 -142 -12 -154 0 -166 Z"), "red")
        pen.draw(oval(0, -98, 14), "grey")
        pen.draw(oval(0, -98, 9.5), "glass")
        pen.draw(path("M -4 -54 L 4 -54 L 5 -4 L -5 -4 Z"), "red")


def hot_air_balloon(pen: Pen, state: str) -> None:
    """A balloon with a basket."""
    for side in (-1, 1):
        pen.stroke(line((side * 24, -62), (side * 12, -28)), INK, weight=0.8)
        pen.stroke(line((side * 8, -58), (side * 5, -28)), INK, weight=0.8)
    pen.draw(
        path(
            "M -26 -60 C -48 -80 -63 -98 -62 -122 C -60 -158 -30 -174 0 -174 C 30 -174 60 -158 62 -122 C "
            "63 -98 48 -80 26 -60 Z"
        ),
        shade=0.3,
    )
    pen.draw(path("M -10 -60 C -26 -90 -30 -140 0 -174 C 30 -140 26 -90 10 -60 Z"), "yellow")
    pen.ink(bow((-26, -60), (0, -54), (26, -60)))
    pen.draw(path("M -17 -30 L 17 -30 L 14 -2 L -14 -2 Z"), "wood", shade=0.4)
    pen.ink(line((-16, -20), (16, -20)), "wood", weight=0.8)


def wheel(pen: Pen, state: str) -> None:
    """A spoked wheel with its tyre round, flat, or off."""
    y = -50.0
    if state != "bare":
        pen.draw(oval(0, y, 49), shade=0.3)
        if state == "flat":
            pen.draw(path("M -40 -24 C -56 -10 -54 -2 -40 -2 L 40 -2 C 54 -2 56 -10 40 -24 Z"))
    pen.draw(
        oval(0, y, 37),
        pen.unless_asked(Tone("#fdfbf6", "#5a5e64", "#e4e2dc"))
        if state == "bare"
        else Tone("#fdfbf6", "#5a5e64", "#e4e2dc"),
    )
    pen.stroke(oval(0, y, 33), "#a5a8ad", weight=0.9)
    for turn in range(0, 180, 30):
        cos, sin = math.cos(math.radians(turn)) * 33, math.sin(math.radians(turn)) * 33
        pen.stroke(line((-cos, y - sin), (cos, y + sin)), "#a5a8ad", weight=0.8)
    pen.draw(oval(0, y, 8), "metal")
    if state == "flat":
        for x in (-50, 50):
            pen.stroke(line((x, -34), (x * 1.02, -24)), INK, weight=0.8)


DRAWINGS: Mapping[str, Draw] = {
    "car": car, "bus": bus, "truck": truck, "train": train, "bicycle": bicycle, "boat": boat, "airplane": airplane,
    "rocket": rocket, "hot air balloon": hot_air_balloon, "wheel": wheel,
}  # fmt: skip
