"""Drawings: electricity and the laboratory."""

from __future__ import annotations

import math
from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import arc, blob, bow, box, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.drawing.writing import write
from langgraph_interleave.world.palette import INK, Tone

_CLEAR = Tone("#eef4f7", "#7f95a3", "#d5e2e9")
_WIRE = Tone("#3b3b40", "#17171a", "#17171a")


def _bulb(pen: Pen, *, lit: bool) -> None:
    """A bulb 120 units high, cap down."""
    if lit:
        for turn in (-90, -60, -30, 30, 60, 90):
            with pen.at(0, -76, turn=turn):
                pen.stroke(line((0, -37), (0, -43)), "#d8a92e", weight=1.4)
        pen.stroke(line((0, -114), (0, -119)), "#d8a92e", weight=1.4)
    pen.draw(path(
        "M -14 -34 C -14 -48 -34 -54 -34 -78 C -34 -100 -18 -112 0 -112 C 18 -112 34 -100 34 -78 C 34 -54 14 "
        "-48 14 -34 Z"
    ),
             "glow" if lit else _CLEAR, shade=0.0 if lit else 0.3)  # fmt: skip
    pen.stroke(
        bow((-7, -36), (-10, -66), (-5, -72), (0, -64), (5, -72), (10, -66), (7, -36)),
        "#c4561f" if lit else "#8d979e",
        weight=0.9,
    )
    pen.draw(box(-14, -34, 14, -10, corner=3), "metal")
    for y in (-26, -18):
        pen.ink(line((-14, y + 1), (14, y - 1)), "metal", weight=0.9)
    pen.draw(path("M -8 -10 L 8 -10 L 4 -2 L -4 -2 Z"), "black")


def light_bulb(pen: Pen, state: str) -> None:
    """A light bulb."""
    _bulb(pen, lit=state == "lit")


def _cell(pen: Pen, color: str | None) -> None:
    """A battery lying, plus to the right, 60 units high."""
    pen.draw(box(48, -40, 58, -20), "metal")
    pen.draw(box(-56, -56, 50, -3, corner=5), color, shade=0.3)
    pen.fill(box(-55, -54, -14, -5), "#3b3b40")
    pen.stroke(line((-44, -30), (-28, -30)), "#ffffff", weight=1.6)
    pen.stroke(line((24, -30), (40, -30)), "#ffffff", weight=1.6)
    pen.stroke(line((32, -38), (32, -22)), "#ffffff", weight=1.6)


def battery(pen: Pen, state: str) -> None:
    """A battery."""
    _cell(pen, None)


def _lever(pen: Pen, *, closed: bool) -> None:
    """Two posts and a lever between them, 56 units high."""
    if closed:
        pen.bar(line((-28, -22), (32, -22)), 5, "metal")
        pen.draw(oval(36, -24, 7, 6), "red")
    else:
        pen.bar(line((-28, -20), (20, -46)), 5, "metal")
        pen.draw(oval(24, -48, 7, 6), "red")
    for x in (-28, 28):
        pen.draw(box(x - 5, -24, x + 5, -11), "metal")


def switch(pen: Pen, state: str) -> None:
    """A lever switch on a board."""
    pen.draw(box(-54, -13, 54, -1, corner=3), shade=0.3)
    _lever(pen, closed=state == "closed")


def wire(pen: Pen, state: str) -> None:
    """A wire with two clips."""
    pen.bar(bow((-50, -20), (-30, -44), (-12, -40), (-4, -18), (14, -10), (26, -34), (50, -34)), 5)
    for x, y, turn in ((-52, -18, 130), (52, -34, 0)):
        with pen.at(x, y, turn=turn):
            pen.draw(poly((-4, -5), (6, -5), (14, -1), (6, 5), (-4, 5)), "metal")


def circuit(pen: Pen, state: str) -> None:
    """A loop of battery, switch and bulb; its earlier states are the steps of wiring it."""
    stage = ("battery only", "with wires", "with bulb", "open", "closed").index(state)
    left, right, top, low = -100.0, 100.0, -130.0, -30.0
    if stage >= 1:
        pen.bar(line((-46, low), (left, low), (left, top), (-20, top)), 4, _WIRE)
        pen.bar(line((54, low), (right, low), (right, -56)), 4, _WIRE)
        pen.bar(line((right, -104), (right, top), (20, top)), 4, _WIRE)
        if stage < 2:
            for x, y in ((-20, top), (20, top)):
                pen.draw(oval(x, y, 4), "metal")
        if stage < 3:
            for y in (-56, -104):
                pen.draw(oval(right, y, 4), "metal")
    if stage >= 3:
        with pen.at(right + 8, -80, turn=-90, scale=0.86):
            with pen.at(0, 18):
                for x in (-28, 28):
                    pen.draw(oval(x, -26, 5), "metal")
            with pen.at(0, 12):
                _lever(pen, closed=stage == 4)
    if stage >= 2:
        with pen.at(0, top + 20, scale=0.68):
            _bulb(pen, lit=stage == 4)
        pen.draw(box(-22, top + 14, 22, top + 24, corner=3), "wood")
    _cell(pen, "orange")


def magnet(pen: Pen, state: str) -> None:
    """A horseshoe magnet, poles up."""
    pen.draw(
        path(
            "M -46 -88 L -20 -88 L -20 -46 C -20 -20 20 -20 20 -46 L 20 -88 L 46 -88 L 46 -44 C 44 14 -44 14 -46 -44 Z"
        ),
        shade=0.36,
    )
    for side in (-1, 1):
        pen.draw(box(side * 33 - 13, -88, side * 33 + 13, -68), "metal")
    write(pen, "N", -33, -78, 18, 16, cap=11)
    write(pen, "S", 33, -78, 18, 16, cap=11)
    for x in (-33, 33):
        pen.stroke(line((x, -94), (x, -102)), INK, weight=0.9)


_LANDS = (
    ((-22, -30), (-8, -36), (4, -26), (-2, -12), (-12, -8), (-10, 4), (-20, 0), (-30, -14)),
    ((-12, 8), (0, 6), (8, 16), (2, 30), (-6, 36), (-12, 22)),
    ((14, -32), (28, -28), (36, -10), (30, 6), (22, 18), (14, 8), (16, -6), (8, -14)),
)  # fmt: skip


def _planet(pen: Pen, y: float, r: float) -> None:
    pen.draw(oval(0, y, r))
    with pen.at(0, y, scale=r / 42):
        for land in _LANDS:
            pen.draw(blob(*land), "green")
    pen.hatch(path(
        f"M {-r * 0.94} {y + r * 0.34} Q {-r * 0.5} {y + r * 0.9} {r * 0.34} {y + r * 0.94} Q {-r * 0.3} "
        f"{y + r * 0.5} {-r * 0.94} {y + r * 0.34} Z"
    ),
              pen.own.shade)  # fmt: skip


def globe(pen: Pen, state: str) -> None:
    """A globe on its stand."""
    pen.draw(path("M -34 -1 Q -30 -14 0 -14 Q 30 -14 34 -1 Z"), "wood")
    pen.bar(line((0, -14), (0, -30)), 7, "wood")
    pen.ink(arc(0, -84, 54, 55, -50, 120), "wood", weight=1.8)
    _planet(pen, -84, 46)


def earth(pen: Pen, state: str) -> None:
    """The earth seen from space."""
    _planet(pen, -68, 65)


def magnifying_glass(pen: Pen, state: str) -> None:
    """A magnifying glass."""
    pen.bar(line((16, -50), (42, -8)), 11, "brown")
    pen.draw(oval(-8, -80, 37), "glass")
    pen.stroke(oval(-8, -80, 37), pen.own.fill, weight=2.2)
    pen.stroke(arc(-8, -80, 24, 24, 190, 250), "#ffffff", weight=1.6)


def thermometer(pen: Pen, state: str) -> None:
    """A thermometer and how high it stands."""
    pen.draw(
        path(
            "M -11 -28 L -11 -138 Q -11 -150 0 -150 Q 11 -150 11 -138 L 11 -28 C 26 -18 20 -2 0 -2 C -20 "
            "-2 -26 -18 -11 -28 Z"
        ),
        "paper",
    )
    top = {"cold": -48, "warm": -88, "hot": -132}[state]
    color = "blue" if state == "cold" else "red"
    pen.draw(oval(0, -17, 11), color)
    pen.fill(box(-4, top, 4, -17), {"blue": "#5b8cc9", "red": "#d5524a"}[color])
    for y in range(-136, -36, 14):
        pen.stroke(line((11, y), (4, y)), INK, weight=0.8)


def scale(pen: Pen, state: str) -> None:
    """A balance, level or tipped to the left."""
    tilt = -12.0 if state == "tipped" else 0.0
    pen.draw(path("M -34 -1 Q -30 -14 0 -14 Q 30 -14 34 -1 Z"))
    pen.bar(line((0, -14), (0, -116)), 7)
    ends = [
        (side * 50 * math.cos(math.radians(tilt)), -116 + side * 50 * math.sin(math.radians(tilt))) for side in (-1, 1)
    ]
    pen.bar(line(*ends), 6)
    pen.draw(oval(0, -118, 7), "yellow")
    for index, (x, y) in enumerate(ends):
        drop = y + 52
        for half in (-19, 19):
            pen.ink(line((x, y), (x + half, drop)), weight=0.7)
        if state == "tipped" and index == 0:
            pen.draw(box(x - 11, drop - 20, x + 11, drop), "red")
        pen.draw(path(f"M {x - 21} {drop} Q {x} {drop + 22} {x + 21} {drop} Z"), shade=0.3)


def test_tube(pen: Pen, state: str) -> None:
    """A test tube."""
    pen.draw(path("M -15 -110 L -15 -18 C -15 4 15 4 15 -18 L 15 -110 Z"), _CLEAR)
    if state != "empty":
        color = "purple" if state == "bubbling" else "turquoise"
        pen.draw(path("M -13 -56 L -13 -18 C -13 0 13 0 13 -18 L 13 -56 Z"), color, line=False)
        pen.ink(oval(0, -56, 13, 3), color)
    if state == "bubbling":
        for x, y, r in (
            (-5, -30, 3),
            (4, -42, 3.4),
            (-3, -62, 4),
            (5, -76, 4),
            (-3, -92, 3.6),
            (3, -124, 5),
            (-6, -138, 4),
            (5, -146, 3.4),
        ):
            pen.draw(oval(x, y, r), Tone("#e6d9f0", "#573a7c", "#c9b3da"))
    pen.draw(box(-19, -116, 19, -106, corner=4), "glass")


DRAWINGS: Mapping[str, Draw] = {
    "light bulb": light_bulb, "battery": battery, "switch": switch, "wire": wire, "circuit": circuit, "magnet": magnet,
    "globe": globe, "earth": earth, "magnifying glass": magnifying_glass, "thermometer": thermometer, "scale": scale,
    "test tube": test_tube,
}  # fmt: skip
