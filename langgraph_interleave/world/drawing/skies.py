"""Drawings: what is seen in the sky."""

from __future__ import annotations

import math
from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import arc, bow, box, line, oval, path, pie, poly, star
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import COLORS, Tone


def sun(pen: Pen, state: str) -> None:
    """A disc with rays; half of it behind the horizon when it rises or sets."""
    low = state in ("rising", "setting")
    x, y, r = 0.0, (-6.0 if low else -48.0), 27.0
    angles = range(180, 361, 30) if low else range(0, 360, 30)
    for index, angle in enumerate(angles):
        cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        far = r + (19 if index % 2 else 14)
        pen.ink(line((x + cos * (r + 6), y + sin * (r + 6)), (x + cos * far, y + sin * far)), weight=1.2)
    if low:
        color = pen.unless_asked("orange") if state == "setting" else None
        pen.draw(pie(x, y, r + 3, r + 3, 180, 360), color, shade=0.4)
        pen.ink(line((-46, y), (46, y + 1)), "grey")
        tip = -70 if state == "rising" else -46
        base = -46 if state == "rising" else -70
        pen.ink(line((0, base - 8), (0, tip - 8)), "grey", weight=0.9)
        lean = 7 if state == "rising" else -7
        pen.ink(line((-6, tip - 8 + lean), (0, tip - 8), (6, tip - 8 + lean)), "grey", weight=0.9)
    else:
        pen.draw(oval(x, y, r), shade=0.4)


_DARK = Tone("#77809f", "#4b5470", "#667090")


def moon(pen: Pen, state: str) -> None:
    """The moon in its phase, lit from the right while it waxes (as seen from the north)."""
    x, y, r = 0.0, -48.0, 42.0
    pen.draw(oval(x, y, r), _DARK)
    if state == "new":
        pen.ink(oval(x, y, r), "cream", weight=0.8)
        return
    if state == "full":
        pen.draw(oval(x, y, r))
    else:
        # The terminator is an ellipse: its half width runs from r (new) over 0 (quarter) to -r (full).
        bulge = {"crescent": 0.6, "quarter": 0.0, "gibbous": -0.6}[state.split()[-1]]
        side = 1 if state in ("waxing crescent", "first quarter", "waxing gibbous") else -1
        rim = [(x + side * r * math.sin(math.radians(a)), y - r * math.cos(math.radians(a))) for a in range(0, 181, 20)]
        inner = [
            (x + side * bulge * r * math.sin(math.radians(a)), y - r * math.cos(math.radians(a)))
            for a in range(180, -1, -20)
        ]
        data = "M " + " L ".join(f"{px:.1f} {py:.1f}" for px, py in (*rim, *inner[1:-1])) + " Z"
        pen.draw(path(data))
    if state == "full" or "gibbous" in state:
        lit = -1 if state.startswith("waning") else 1
        for cx, cy, cr in ((8, -60, 7), (20, -36, 9), (2, -30, 5)):
            pen.draw(oval(lit * cx, cy, cr, cr * 0.85), Tone("#ecdfbb", "#c9b88c", "#dccfa6"))


_PUFFS = (oval(-34, -26, 26, 21), oval(-4, -40, 32, 28), oval(32, -28, 28, 22), box(-50, -24, 50, -5, corner=9))


def cloud(pen: Pen, state: str) -> None:
    """A cloud, with what falls from it."""
    drop = 0.0 if state == "plain" else 72.0
    wet = state in ("raining", "stormy")
    color = Tone("#c3cad3", "#6b7683", "#a9b2be") if wet and pen.own == COLORS["white"] else None
    with pen.at(0, -drop + 3):
        pen.union(*_PUFFS, color=color)
        pen.hatch(path("M -52 -8 Q 0 -22 52 -8 Z"), (color or pen.own).shade)
        pen.ink(arc(-20, -36, 15, 13, 200, 300), color, weight=0.8)
        pen.ink(arc(22, -28, 14, 12, 220, 320), color, weight=0.8)
    if state == "raining":
        for row, y in enumerate((-58, -36, -14)):
            for x in range(-44, 50, 22):
                px = x + (8 if row % 2 else 0)
                pen.ink(line((px, y - 6), (px - 5, y + 8)), "water", weight=1.1)
    elif state == "snowing":
        for row, y in enumerate((-56, -33, -10)):
            for x in range(-40, 50, 26):
                px = x + (12 if row % 2 else 0)
                for turn in (0, 60, 120):
                    dx, dy = 6 * math.cos(math.radians(turn)), 6 * math.sin(math.radians(turn))
                    pen.ink(line((px - dx, y - dy), (px + dx, y + dy)), "water", weight=0.8)
    elif state == "stormy":
        pen.draw(poly((-4, -72), (18, -72), (6, -46), (20, -46), (-14, -4), (-4, -36), (-18, -36)), "yellow")
        for x in (-42, 34, 48):
            pen.ink(line((x, -56), (x - 6, -38)), "water", weight=1.1)


def star_(pen: Pen, state: str) -> None:
    """A five-pointed star."""
    pen.draw(star(0, -30, 33, 14.5), shade=0.4)


def rainbow(pen: Pen, state: str) -> None:
    """Six bands between two small clouds."""
    for index, color in enumerate(("red", "orange", "yellow", "green", "blue", "purple")):
        r = 112 - index * 10
        pen.stroke(arc(0, -6, r, r * 0.98, 180, 360), COLORS[color].fill, weight=4.4)
    for x in (-86, 86):
        with pen.at(x, 0, scale=0.5):
            pen.union(*_PUFFS, color="white")


def raindrop(pen: Pen, state: str) -> None:
    """A drop."""
    pen.draw(
        path("M 0 -58 C 6 -40 20 -32 20 -18 C 20 -7 11 -1 0 -1 C -11 -1 -20 -7 -20 -18 C -20 -32 -6 -40 0 -58 Z"),
        shade=0.45,
    )
    pen.stroke(bow((8, -24), (10, -16), (5, -10)), "#ffffff", weight=0.9)


def snowflake(pen: Pen, state: str) -> None:
    """A six-armed crystal."""
    for turn in range(0, 360, 60):
        with pen.at(0, -36, turn=turn):
            pen.bar(line((0, 0), (0, -32)), 5)
            pen.bar(line((-9, -29), (0, -19), (9, -29)), 4)


DRAWINGS: Mapping[str, Draw] = {
    "sun": sun, "moon": moon, "cloud": cloud, "star": star_, "rainbow": rainbow, "raindrop": raindrop,
    "snowflake": snowflake,
}  # fmt: skip
