"""Drawings: buildings and landmarks."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import arc, blob, bow, box, line, oval, path, pie, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import INK, Tone, tone


def house(pen: Pen, state: str) -> None:
    """A house; its earlier states are the steps of drawing one."""
    finished = state == "finished"
    if finished:
        pen.draw(box(34, -148, 52, -104), "stone")
        pen.stroke(bow((43, -152), (50, -158), (42, -163), (48, -167)), "#a5a8ad", weight=0.8)
    pen.draw(box(-62, -92, 62, 0), shade=0.34 if finished else 0)
    if state == "walls":
        return
    roof = "red" if pen.own.fill != tone("red").fill else "brown"
    pen.draw(poly((-82, -88), (0, -156), (82, -88)), roof, shade=0.4)
    if state == "with roof":
        return
    pen.draw(box(-46, -56, -14, 0), "brown")
    pen.dot(-20, -28, 2.6, "#f3d35c")
    if finished:
        pen.draw(box(8, -66, 44, -32), "glass")
        pen.ink(line((26, -66), (26, -32)), "glass")
        pen.ink(line((8, -49), (44, -49)), "glass")
        pen.draw(oval(0, -112, 10), "glass")


def castle(pen: Pen, state: str) -> None:
    """A castle with two towers."""
    pen.draw(path(
        "M -58 0 L -58 -78 L -42 -78 L -42 -90 L -26 -90 L -26 -78 L -8 -78 L -8 -90 L 8 -90 L 8 -78 L 26 "
        "-78 L 26 -90 L 42 -90 L 42 -78 L 58 -78 L 58 0 Z"
    ),
             shade=0.36)  # fmt: skip
    for side in (-1, 1):
        x = side * 74
        pen.draw(box(x - 22, -112, x + 22, 0), shade=0.36)
        pen.draw(poly((x - 26, -110), (x, -154), (x + 26, -110)), "blue", shade=0.4)
        pen.stroke(line((x, -154), (x, -174)), INK)
        pen.draw(poly((x, -174), (x + 20, -168), (x, -161)), "red")
        pen.draw(path(f"M {x - 7} -66 L {x - 7} -82 Q {x} -92 {x + 7} -82 L {x + 7} -66 Z"), "night")
    pen.draw(path("M -18 0 L -18 -34 Q 0 -56 18 -34 L 18 0 Z"), "brown")
    pen.ink(line((0, -45), (0, 0)), "brown", weight=0.9)


def tent(pen: Pen, state: str) -> None:
    """A tent, on its way to being pitched."""
    if state == "flat":
        pen.draw(blob((-84, -6), (-70, -20), (-20, -24), (40, -22), (80, -10), (60, -2), (-60, -2)), shade=0.4)
        pen.ink(bow((-50, -12), (0, -16), (50, -10)), weight=0.8)
        return
    if state == "with poles":
        pen.bar(line((-58, 0), (4, -122)), 4, "brown")
        pen.bar(line((58, 0), (-4, -122)), 4, "brown")
        pen.draw(blob((-80, -4), (-60, -16), (0, -20), (60, -15), (80, -4), (0, -1)), shade=0.4)
        return
    pen.stroke(line((0, -118), (-86, -2)), "#85633c", weight=0.8)
    pen.draw(poly((-2, -124), (70, -112), (84, 0), (34, 0)), Tone(pen.own.shade, pen.own.stroke, pen.own.stroke))
    pen.draw(poly((-2, -124), (-66, 0), (46, 0)), shade=0.4)
    pen.draw(path("M -2 -96 Q -16 -50 -26 0 L 18 0 Q 8 -50 -2 -96 Z"), Tone("#6b5a48", "#3d3024", "#3d3024"))
    pen.draw(path("M -2 -96 Q 6 -44 40 -14 L 24 0 L 18 0 Q 8 -50 -2 -96 Z"))


def igloo(pen: Pen, state: str) -> None:
    """A house of snow."""
    pen.draw(pie(-6, -2, 76, 98, 180, 360), shade=0.3)
    for y, half in ((-28, 72), (-56, 61), (-80, 42)):
        pen.ink(bow((-6 - half, y), (-6, y - 5), (-6 + half, y)), weight=0.8)
    for x, y in (
        (-52, -28),
        (-20, -30),
        (-40, -56),
        (-8, -60),
        (24, -58),
        (-24, -80),
        (8, -82),
        (-66, -14),
        (-38, -16),
        (-10, -16),
    ):
        pen.ink(line((x, y), (x - 1, min(y + 22, 0))), weight=0.8)
    pen.draw(path("M 16 -2 L 16 -30 Q 48 -66 80 -30 L 80 -2 Z"), shade=0.2)
    pen.draw(path("M 30 -2 L 30 -24 Q 50 -46 70 -24 L 70 -2 Z"), "night")


def bridge(pen: Pen, state: str) -> None:
    """A stone bridge of two arches."""
    pen.draw(
        path(
            "M -118 -64 Q 0 -96 118 -64 L 118 0 L 96 0 C 92 -50 18 -50 14 0 L -14 0 C -18 -50 -92 -50 -96 0 L -118 0 Z"
        ),
        shade=0.3,
    )
    pen.draw(path("M -118 -80 Q 0 -112 118 -80 L 118 -66 Q 0 -98 -118 -66 Z").moved((1, 0, 0, 1, 0, 6)))
    for x in range(-96, 97, 32):
        y = -84 + 21 * (abs(x) / 118) ** 2
        pen.ink(line((x, y - 1), (x, y + 12)), weight=0.8)


def fence(pen: Pen, state: str) -> None:
    """Five pales and two rails."""
    for y in (-50, -22):
        pen.draw(box(-90, y - 5, 90, y + 4))
    for x in (-72, -36, 0, 36, 72):
        pen.draw(poly((x - 11, 0), (x - 11, -58), (x, -70), (x + 11, -58), (x + 11, 0)), shade=0.3)


def mountain(pen: Pen, state: str) -> None:
    """Two peaks."""
    pen.draw(poly((10, 0), (66, -104), (118, 0)), Tone(pen.own.shade, pen.own.stroke, pen.own.stroke))
    pen.draw(poly((-118, 0), (-22, -164), (72, 0)), shade=0.45)
    if state == "snowy":
        pen.draw(poly((-50, -117), (-22, -164), (5, -117), (-6, -106), (-14, -120), (-26, -102), (-36, -120)), "snow")
        pen.draw(poly((50, -75), (66, -104), (80, -76), (72, -66), (65, -78), (57, -68)), "snow")
    pen.ink(bow((-40, -70), (-30, -52), (-44, -34)), weight=0.8)
    pen.ink(bow((8, -60), (18, -42), (10, -24)), weight=0.8)


def volcano(pen: Pen, state: str) -> None:
    """A volcano."""
    if state != "quiet":
        top = -224 if state == "erupting" else -208
        smoke = Tone("#bdb9b5", "#7d7975", "#a8a4a0")
        pen.union(
            oval(-12, top + 58, 20, 15),
            oval(14, top + 44, 24, 19),
            oval(-14, top + 30, 26, 20),
            oval(16, top + 20, 20, 17),
            color=smoke,
        )
    if state == "erupting":
        pen.draw(
            path(
                "M -22 -148 C -40 -170 -34 -186 -28 -190 C -26 -176 -16 -176 -8 -200 C 2 -178 10 -178 18 "
                "-194 C 32 -180 34 -168 22 -148 Z"
            ),
            "flame",
        )
    pen.draw(path("M -110 0 C -60 -40 -46 -100 -28 -150 Q 0 -140 28 -150 C 46 -100 60 -40 110 0 Z"), shade=0.4)
    pen.draw(oval(0, -149, 28, 6), Tone("#3d2a1e", "#2a1c12", "#2a1c12"))
    if state == "erupting":
        pen.draw(
            path(
                "M -22 -148 C -22 -120 -34 -100 -30 -80 C -24 -72 -20 -90 -12 -96 C -4 -80 -8 -50 2 -40 "
                "C 12 -50 8 -80 12 -100 C 20 -84 26 -70 30 -84 C 28 -110 20 -130 22 -148 Z"
            ),
            "orange",
        )
        for x, y in ((-44, -176), (42, -180), (52, -160), (-54, -156)):
            pen.draw(oval(x, y, 4), "red")


def campfire(pen: Pen, state: str) -> None:
    """Logs, and perhaps a fire on them."""
    if state == "stacked":
        for x in (-1, 1):
            pen.bar(line((x * 38, -6), (x * -8, -70)), 12, "brown")
        pen.bar(line((0, -4), (0, -66)), 12, "brown")
    if state == "burning":
        pen.draw(
            path(
                "M -34 -16 C -48 -50 -22 -56 -24 -84 C -10 -76 -6 -66 -4 -58 C 2 -72 0 -90 -4 -102 C 22 "
                "-90 24 -66 20 -56 C 28 -58 30 -66 28 -74 C 44 -54 46 -32 34 -16 Z"
            ),
            shade=0.3,
        )
        pen.draw(
            path(
                "M -18 -16 C -26 -38 -8 -42 -6 -62 C 8 -52 6 -42 10 -38 C 14 -42 16 -46 16 -50 C 26 -38 24 -24 18 -16 Z"
            ),
            "glow",
        )
    for x in (-1, 1):
        pen.bar(line((x * 48, -6), (x * -40, -22)), 14, "brown")
        pen.draw(oval(x * 48, -7, 7, 7.5), "wood")
    for x in (-36, -12, 12, 36):
        pen.draw(oval(x, -5, 11, 6), "stone")


def snowman(pen: Pen, state: str) -> None:
    """A snowman in the making, or on its way out."""
    if state == "melting":
        pen.draw(blob((-66, -6), (-48, -16), (0, -18), (52, -15), (66, -5), (0, -1)), "water")
        pen.draw(blob((-40, -12), (-36, -48), (-8, -62), (24, -54), (38, -12)), shade=0.3)
        pen.draw(oval(2, -68, 25, 22), shade=0.3)
        _snowman_face(pen, 2, -68)
        pen.draw(box(-26, -90, 28, -85), "black")
        pen.draw(box(-14, -102, 18, -89), "black")
        return
    balls = {"one ball": 1, "two balls": 2}.get(state, 3)
    spheres = ((-43, 44, 42), (-96, 33, 31), (-143, 25, 24))
    for y, rx, ry in spheres[:balls]:
        pen.draw(oval(0, y, rx, ry), shade=0.3)
    if state in ("with face", "finished"):
        _snowman_face(pen, 0, -143)
    if state == "finished":
        for y in (-108, -92, -60):
            pen.dot(0, y, 3.4)
        for side in (-1, 1):
            pen.bar(bow((side * 30, -98), (side * 44, -108), (side * 55, -122)), 3, "brown")
            pen.bar(line((side * 46, -111), (side * 56, -110)), 2.4, "brown")
        pen.draw(path("M -25 -124 Q 0 -112 25 -124 L 23 -114 Q 0 -104 -23 -114 Z"), "red")
        pen.draw(poly((8, -112), (20, -116), (24, -88), (12, -86)), "red")
        pen.draw(box(-30, -168, 30, -162, corner=3), "black")
        pen.draw(box(-19, -184, 19, -166), "black")
        pen.fill(box(-18, -171, 18, -167), "#d5524a")


def _snowman_face(pen: Pen, x: float, y: float) -> None:
    for side in (-1, 1):
        pen.dot(x + side * 8, y - 5, 3)
    pen.draw(poly((x - 1, y - 2), (x + 22, y + 3), (x - 1, y + 5)), "orange")
    for dx, dy in ((-11, 8), (-6, 12), (0, 13), (6, 12)):
        pen.dot(x + dx, y + dy, 1.6)


def sandcastle(pen: Pen, state: str) -> None:
    """A castle of sand, or the heap it is made from."""
    if state == "heap":
        pen.draw(path("M -66 0 C -40 -16 -20 -54 0 -54 C 20 -54 40 -16 66 0 Z"), shade=0.4)
        for x, y in ((-10, -26), (12, -18), (-24, -10), (26, -8), (2, -40)):
            pen.dot(x, y, 1.4, pen.own.stroke)
        return
    pen.draw(poly((-66, 0), (-56, -40), (56, -40), (66, 0)), shade=0.36)
    for x, top in ((-40, -66), (40, -66), (0, -84)):
        pen.draw(poly((x - 20, -36), (x - 17, top), (x + 17, top), (x + 20, -36)), shade=0.36)
        for dx in (-12, 0, 12):
            pen.draw(box(x + dx - 4.5, top - 8, x + dx + 4.5, top + 1))
    pen.draw(path("M -10 0 L -10 -16 Q 0 -28 10 -16 L 10 0 Z"), "brown")
    pen.stroke(line((0, -92), (0, -111)), INK)
    pen.draw(poly((0, -111), (18, -105), (0, -98)), "red")
    pen.ink(arc(-32, -16, 8, 6, 180, 360), weight=0.8)


DRAWINGS: Mapping[str, Draw] = {
    "house": house, "castle": castle, "tent": tent, "igloo": igloo, "bridge": bridge, "fence": fence,
    "mountain": mountain, "volcano": volcano, "campfire": campfire, "snowman": snowman, "sandcastle": sandcastle,
}  # fmt: skip
