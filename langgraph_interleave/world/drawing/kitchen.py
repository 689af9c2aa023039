"""Drawings: crockery, pots and what pours."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import arc, blob, bow, box, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import COLORS, Tone, lighter

_TEA = Tone("#b9743c", "#7a4519", "#9c5c2a")
_INSIDE = Tone("#f3efe6", "#8d887c", "#ddd6c8")


def draw_steam(pen: Pen, x: float, y: float, height: float, *, count: int = 3, gap: float = 18.0) -> None:
    """Wisps of steam rising from y."""
    for index in range(count):
        px = x + (index - (count - 1) / 2) * gap
        tall = height * (1.0 if index % 2 else 0.82)
        pen.stroke(
            bow((px, y), (px - 5, y - tall * 0.3), (px + 5, y - tall * 0.65), (px, y - tall)), "#a9b4bd", weight=1.0
        )


def _glazed(pen: Pen) -> Tone:
    """Clear glass, or glass of the colour asked for."""
    clear = Tone("#eef6fa", "#6f9dbf", "#d3e6f1")
    return Tone(lighter(pen.own.fill, 0.4), pen.own.stroke, pen.own.fill) if pen.asked else clear


def draw_stream(pen: Pen, x0: float, y0: float, x1: float, y1: float, color: str = "water") -> None:
    """What is poured: an arc of liquid from a spout, falling straight at the end."""
    pen.bar(bow((x0, y0), ((x0 + 2 * x1) / 3, y0 + (y1 - y0) * 0.22), (x1, y0 + (y1 - y0) * 0.6), (x1, y1)), 6, color)


def cup(pen: Pen, state: str) -> None:
    """A cup with a handle on the right."""
    with pen.at(-8, 0):
        pen.bar(arc(32, -38, 20, 17, -80, 84), 6)
        pen.draw(path("M -38 -62 C -38 -24 -30 -2 -18 -2 L 18 -2 C 30 -2 38 -24 38 -62 Z"), shade=0.42)
        pen.draw(oval(0, -62, 38, 8), _INSIDE)
        if state in ("full", "steaming"):
            pen.draw(oval(0, -61, 33, 5.6), _TEA)
        elif state == "with tea bag":
            pen.draw(oval(0, -61, 33, 5.6), Tone("#dcb37e", "#9b6a35", "#c79a63"))
            pen.stroke(bow((10, -62), (16, -58), (18, -40)), "#55565c", weight=0.7)
            pen.draw(box(11, -40, 26, -24), "cream")
        if state == "steaming":
            draw_steam(pen, 0, -74, 40)


def tea_bag(pen: Pen, state: str) -> None:
    """A tea bag with its string and label."""
    pen.stroke(bow((-2, -46), (4, -58), (14, -64), (16, -66)), "#55565c", weight=0.8)
    pen.draw(box(6, -79, 26, -62), "green")
    pen.draw(poly((-22, -34), (-10, -46), (8, -46), (20, -34), (20, -1), (-22, -1)), "cream", shade=0.2)
    pen.fill(path("M -18 -5 L -18 -20 Q -1 -26 16 -20 L 16 -5 Z"), "#9c6a3a")
    for x, y in ((-10, -12), (0, -17), (8, -11)):
        pen.dot(x, y, 1.5, "#57381d")


def _teapot(pen: Pen) -> None:
    pen.bar(arc(-42, -42, 22, 24, 90, 270), 6)
    pen.draw(path("M 28 -26 C 44 -28 46 -60 62 -66 L 66 -58 C 56 -48 56 -14 28 -10 Z"), shade=0.3)
    pen.draw(path("M -44 -40 C -44 -74 44 -74 44 -40 C 44 -16 30 -2 0 -2 C -30 -2 -44 -16 -44 -40 Z"), shade=0.4)
    pen.draw(path("M -24 -66 Q 0 -84 24 -66 Q 0 -60 -24 -66 Z"))
    pen.draw(oval(0, -81, 6, 6))


def teapot(pen: Pen, state: str) -> None:
    """A teapot, standing or pouring to the right."""
    if state == "pouring":
        with pen.at(-26, -52, turn=34, scale=0.96):
            _teapot(pen)
        draw_stream(pen, 59, -65, 71, -3, "brown")
        return
    _teapot(pen)
    if state == "steaming":
        draw_steam(pen, 62, -74, 56, count=2, gap=10)


def _kettle(pen: Pen) -> None:
    pen.draw(path("M 32 -40 C 46 -44 46 -66 58 -76 L 60 -66 C 54 -54 52 -30 38 -22 Z"), shade=0.3)
    pen.bar(bow((-34, -72), (-30, -106), (0, -112), (28, -104), (34, -72)), 6, "black")
    pen.draw(path("M -50 -2 C -54 -50 -36 -78 0 -78 C 36 -78 52 -50 48 -2 Z"), shade=0.4)
    pen.draw(path("M -26 -72 Q 0 -90 26 -72 Q 0 -66 -26 -72 Z"))
    pen.draw(oval(0, -86, 6, 5), "black")


def kettle(pen: Pen, state: str) -> None:
    """A kettle: cold, boiling, or pouring to the right."""
    if state == "pouring":
        with pen.at(-30, -48, turn=30, scale=0.92):
            _kettle(pen)
        draw_stream(pen, 51, -78, 74, -3)
        return
    with pen.at(-8 if state == "boiling" else 0, 0):
        _kettle(pen)
        if state == "boiling":
            draw_steam(pen, 66, -84, 54, count=2, gap=13)
            for x in (-24, 0, 20):
                pen.stroke(bow((x, -112), (x - 4, -120), (x + 4, -128), (x, -136)), "#a9b4bd", weight=1.0)


def glass(pen: Pen, state: str) -> None:
    """A drinking glass and how full it is."""
    pen.draw(path("M -32 -92 L -25 -2 L 25 -2 L 32 -92 Z"), _glazed(pen))
    level = {"empty": None, "half full": -46.0, "full": -78.0}[state]
    if level is not None:
        half = 25 + 7 * (-level - 2) / 90
        liquid = "water" if pen.own.fill == "#dceef8" else None
        pen.draw(path(f"M {-half + 2} {level} L -24 -4 L 24 -4 L {half - 2} {level} Z"), liquid, line=False)
        pen.draw(oval(0, level, half - 2, 4.5), Tone("#b4d9ef", "#3f7fb0", "#8fc1e3") if liquid else None)
    pen.ink(oval(0, -91, 32, 5), "glass")
    pen.stroke(bow((-22, -78), (-19, -50), (-18, -24)), "#ffffff", weight=1.2)


def bottle(pen: Pen, state: str) -> None:
    """A bottle: corked, full or empty."""
    body = path(
        "M -8 -136 L -8 -106 C -10 -92 -26 -88 -26 -70 L -26 -6 Q -26 -2 -22 -2 L 22 -2 Q 26 -2 26 -6 L "
        "26 -70 C 26 -88 10 -92 8 -106 L 8 -136 Z"
    )
    pale = Tone(lighter(pen.own.fill, 0.55), pen.own.stroke, pen.own.fill) if state == "empty" else None
    pen.draw(body, pale, shade=0.4)
    if state == "closed":
        pen.draw(box(-9, -143, 9, -128), "wood")
    else:
        pen.draw(box(-11, -140, 11, -132, corner=3), pale)
    pen.draw(box(-24, -62, 24, -26), "cream")
    pen.ink(line((-14, -50), (14, -50)), "cream", weight=0.9)
    pen.ink(line((-14, -40), (8, -40)), "cream", weight=0.9)


def jar(pen: Pen, state: str) -> None:
    """A preserving jar."""
    pen.draw(path(
        "M -30 -88 L -30 -82 C -40 -76 -38 -70 -38 -60 L -38 -8 Q -38 -2 -30 -2 L 30 -2 Q 38 -2 38 -8 L 38 "
        "-60 C 38 -70 40 -76 30 -82 L 30 -88 Z"
    ),
             _glazed(pen))  # fmt: skip
    if state != "empty":
        jam = "red" if pen.own.fill == "#dceef8" else None
        pen.draw(box(-35, -66, 35, -5, corner=6), jam, line=False)
        pen.draw(oval(0, -66, 35, 5), jam)
        pen.draw(box(-22, -48, 22, -20), "cream")
    if state == "closed":
        pen.draw(box(-34, -102, 34, -86, corner=4), "metal")
    else:
        pen.ink(oval(0, -89, 30, 5), "glass")
    pen.stroke(bow((-30, -62), (-31, -40), (-30, -18)), "#ffffff", weight=1.1)


def _jug(pen: Pen) -> None:
    pen.bar(bow((-30, -92), (-50, -86), (-50, -48), (-34, -34)), 7)
    pen.draw(
        path(
            "M -30 -106 L 24 -106 L 48 -116 C 38 -100 28 -90 30 -74 C 44 -50 40 -14 32 -2 L -32 -2 C -44 "
            "-20 -44 -48 -30 -72 C -26 -84 -28 -96 -30 -106 Z"
        ),
        shade=0.4,
    )
    pen.ink(bow((-32, -58), (0, -52), (33, -60)), weight=0.8)


def jug(pen: Pen, state: str) -> None:
    """A jug, standing or pouring to the right."""
    if state == "pouring":
        with pen.at(-42, -42, turn=46, scale=0.84):
            _jug(pen)
        draw_stream(pen, 55, -80, 64, -3)
        return
    _jug(pen)


def plate(pen: Pen, state: str) -> None:
    """A plate seen a little from above."""
    pen.draw(
        path("M -70 -24 C -60 -4 -40 -1 -24 -1 L 24 -1 C 40 -1 60 -4 70 -24 Z"),
        Tone(pen.own.shade, pen.own.stroke, pen.own.stroke),
    )
    pen.draw(oval(0, -25, 70, 14))
    pen.ink(oval(0, -24, 46, 8), weight=0.8)


def bowl(pen: Pen, state: str) -> None:
    """A bowl and what is in it."""
    if state == "with salad":
        pen.union(oval(-34, -62, 20, 14), oval(-4, -70, 24, 17), oval(30, -62, 22, 15), color="green")
        for x, y in ((-20, -66), (18, -72)):
            pen.draw(oval(x, y, 8), "red")
    elif state == "with flour":
        pen.draw(path("M -44 -54 Q -16 -80 0 -78 Q 18 -80 44 -54 Z"), "white", shade=0.3)
    pen.draw(path("M -62 -56 C -58 -20 -34 -2 -22 -2 L 22 -2 C 34 -2 58 -20 62 -56 Z"), shade=0.4)
    if state in ("empty", "with batter", "with soup"):
        pen.draw(oval(0, -56, 62, 10), _INSIDE)
    if state == "with batter":
        pen.draw(oval(0, -55, 54, 7), "cream")
        pen.stroke(bow((-24, -56), (-6, -52), (12, -57), (26, -54)), "#c9a85c", weight=0.8)
    elif state == "with soup":
        pen.draw(oval(0, -55, 54, 7), "orange")
        for x in (-22, 4, 26):
            pen.dot(x, -55 + (x % 3 - 1), 2.6, "#356f2e")
    if state in ("with salad", "with flour"):
        pen.ink(bow((-62, -56), (0, -48), (62, -56)))


def spoon(pen: Pen, state: str) -> None:
    """A spoon, bowl up."""
    pen.bar(line((0, -2), (0, -78)), 5)
    pen.draw(oval(0, -96, 14, 22), shade=0.4)


def fork(pen: Pen, state: str) -> None:
    """A fork, tines up."""
    for x in (-11, 0, 11):
        pen.bar(line((x, -116), (x, -84)), 4)
    pen.bar(line((0, -3), (0, -72)), 5)
    pen.draw(path("M -14 -88 C -14 -70 -8 -66 0 -64 C 8 -66 14 -70 14 -88 Z"))


def knife(pen: Pen, state: str) -> None:
    """A table knife, blade up."""
    pen.draw(path("M -6 -44 L -6 -116 C 6 -114 12 -96 12 -72 L 10 -44 Z"), shade=0.3)
    pen.draw(box(-7, -46, 8, -1, corner=5), "black")


def whisk(pen: Pen, state: str) -> None:
    """A wire whisk."""
    pen.bar(line((0, -2), (0, -52)), 8, pen.unless_asked("wood"))
    for half in (22, 12):
        pen.ink(blob((0, -52), (-half, -96), (-half * 0.5, -122), (half * 0.5, -122), (half, -96)), weight=1.0)
    pen.ink(line((0, -52), (0, -125)))


def pan(pen: Pen, state: str) -> None:
    """A frying pan, handle to the right, and what is frying in it."""
    pen.bar(line((34, -26), (82, -36)), 9, "brown")
    pen.draw(path("M -86 -30 L -78 -6 Q -76 -2 -70 -2 L 26 -2 Q 32 -2 34 -6 L 42 -30 Z"), shade=0.4)
    pen.draw(oval(-22, -31, 64, 13), Tone("#5c5c62", pen.own.stroke, "#47474c"))
    if state == "with butter":
        pen.draw(poly((-34, -32), (-16, -38), (-4, -34), (-22, -27)), "yellow")
    elif state == "with egg":
        pen.draw(blob((-62, -31), (-46, -39), (-20, -40), (4, -37), (14, -30), (-6, -23), (-34, -23)), "white")
        pen.draw(oval(-24, -33, 13, 6.5), "yellow")
    elif state == "with pancake":
        pen.draw(oval(-22, -32, 50, 9), Tone("#e9b765", "#9a6a24", "#d39c46"))


def cooking_pot(pen: Pen, state: str) -> None:
    """A pot with two handles."""
    for side in (-1, 1):
        pen.bar(bow((side * 52, -58), (side * 68, -56), (side * 66, -42), (side * 52, -42)), 5, "black")
    pen.draw(path("M -54 -70 L -52 -8 Q -52 -2 -44 -2 L 44 -2 Q 52 -2 52 -8 L 54 -70 Z"), shade=0.4)
    if state == "covered":
        pen.draw(path("M -58 -70 Q -40 -86 0 -86 Q 40 -86 58 -70 Z"), shade=0.3)
        pen.draw(oval(0, -90, 8, 5), "black")
        return
    pen.draw(oval(0, -70, 54, 9), _INSIDE)
    if state == "boiling":
        pen.draw(oval(0, -69, 47, 6.5), "water")
        for x, y, r in ((-24, -71, 5), (0, -68, 4), (20, -71, 5)):
            pen.stroke(oval(x, y, r, r * 0.8), COLORS["white"].fill, weight=0.8)
        draw_steam(pen, 0, -84, 56, gap=24)


def toaster(pen: Pen, state: str) -> None:
    """A toaster."""
    if state != "empty":
        rise = 62.0 if state == "popping" else 16.0
        for x in (-24, 18):
            with pen.at(x, -80 - rise + 58):
                pen.draw(path(
                    "M -24 2 L -24 -42 C -32 -48 -28 -62 0 -62 C 28 -62 32 -48 24 -42 L 24 2 Z"
                ) if state == "popping"
                         else path("M -22 2 L -22 -56 Q 0 -66 22 -56 L 22 2 Z"), "wood", shade=0.3)  # fmt: skip
        if state == "popping":
            for x in (-54, 50):
                pen.stroke(line((x, -104), (x * 1.1, -118)), "#a5a8ad", weight=0.9)
    pen.draw(box(-58, -80, 54, -6, corner=16), shade=0.4)
    pen.draw(box(-50, -8, -34, -1), "black")
    pen.draw(box(30, -8, 46, -1), "black")
    pen.bar(line((59, -52), (59, -38)), 6, "black")
    pen.ink(line((-44, -66), (40, -66)), weight=0.9)
    pen.draw(oval(34, -28, 6), "black")


def oven(pen: Pen, state: str) -> None:
    """A cooker."""
    pen.draw(box(-68, -148, 68, -4, corner=4), shade=0.2)
    for x in (-44, -16, 12):
        pen.draw(oval(x, -130, 7), "black")
    pen.draw(box(36, -138, 58, -122), Tone("#d5524a", "#8e2b28", "#b23c37") if state == "on" else "black")
    pen.ink(line((-68, -114), (68, -114)))
    if state == "open":
        pen.draw(box(-56, -104, 56, -32), "night")
        for y in (-80, -56):
            pen.ink(line((-54, y), (54, y)), "metal", weight=0.9)
        pen.draw(poly((-56, -32), (56, -32), (64, -6), (-64, -6)), shade=0.3)
    else:
        pen.draw(box(-56, -104, 56, -14, corner=3))
        pen.draw(
            box(-42, -84, 42, -30),
            Tone("#f2a65a", "#5a5e64", "#e08a3c") if state == "on" else Tone("#5e6b86", "#3b4459", "#4d5a75"),
            shade=0.5,
        )
        pen.bar(line((-42, -94), (42, -94)), 5, "metal")
    for x in (-54, 54):
        pen.draw(box(x - 6, -4, x + 6, 0), "black")


def _watering_can(pen: Pen) -> None:
    pen.bar(bow((-38, -68), (-70, -64), (-66, -22), (-40, -18)), 6)
    pen.bar(line((30, -24), (60, -78)), 8)
    pen.draw(poly((50, -84), (70, -72), (72, -86), (60, -94)), shade=0.3)
    pen.bar(bow((-28, -70), (-10, -104), (26, -92), (30, -68)), 6)
    pen.draw(path("M -40 -72 L 34 -72 L 38 -2 L -44 -2 Z"), shade=0.45)
    pen.draw(oval(-3, -72, 37, 7), Tone(pen.own.shade, pen.own.stroke, pen.own.stroke))
    pen.ink(bow((-42, -20), (-3, -16), (37, -20)), weight=0.8)


def watering_can(pen: Pen, state: str) -> None:
    """A watering can, standing or watering to the right."""
    if state != "pouring":
        _watering_can(pen)
        return
    with pen.at(-36, -56, turn=34):
        _watering_can(pen)
    for x, y in ((48, -72), (58, -74), (68, -74), (78, -70)):
        for step in range(3):
            top = y + step * 26 + (x % 4) * 2
            lean = (x - 46) * 0.05
            pen.ink(line((x + step * lean, top), (x + (step + 0.7) * lean, min(top + 15, -2))), "water", weight=1.3)


DRAWINGS: Mapping[str, Draw] = {
    "cup": cup, "tea bag": tea_bag, "teapot": teapot, "kettle": kettle, "glass": glass, "bottle": bottle, "jar": jar,
    "jug": jug, "plate": plate, "bowl": bowl, "spoon": spoon, "fork": fork, "knife": knife, "whisk": whisk, "pan": pan,
    "cooking pot": cooking_pot, "toaster": toaster, "oven": oven, "watering can": watering_can,
}  # fmt: skip
