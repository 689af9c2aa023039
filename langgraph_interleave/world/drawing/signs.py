"""Drawings: signs and signals."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import Outline, Run, box, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.drawing.writing import write
from langgraph_interleave.world.palette import COLORS, Tone

_CASE = Tone("#4a4d54", "#222428", "#35383d")
_OFF = {"red": Tone("#6d4643", "#3b2624", "#3b2624"), "amber": Tone("#70613f", "#3d351f", "#3d351f"),
        "green": Tone("#44604a", "#243528", "#243528")}  # fmt: skip
_ON = {
    "red": COLORS["red"],
    "amber": Tone("#f3b63c", "#8f6212", "#d99a22"),
    "green": Tone("#5fbf5a", "#2a6f2a", "#45a341"),
}


def traffic_light(pen: Pen, state: str) -> None:
    """Three lamps on a pole."""
    pen.draw(box(-6, -70, 6, 0), "grey")
    pen.draw(box(-22, -6, 22, 0), "grey")
    pen.draw(box(-32, -182, 32, -64, corner=10), _CASE)
    lit = {"red": ("red",), "red and amber": ("red", "amber"), "amber": ("amber",), "green": ("green",)}.get(state, ())
    for color, y in (("red", -158), ("amber", -123), ("green", -88)):
        on = color in lit
        if on:
            pen.fill(oval(0, y, 20), {"red": "#a8524c", "amber": "#a08445", "green": "#5d8f5c"}[color])
        pen.draw(oval(0, y, 14.5), (_ON if on else _OFF)[color])


def sign(pen: Pen, state: str) -> None:
    """A wooden signpost."""
    pen.draw(box(-5, -100, 5, 0), "brown")
    pen.draw(poly((-42, -132), (26, -132), (43, -110), (26, -88), (-42, -88)), shade=0.3)
    for y in (-118, -102):
        pen.ink(path(f"M -30 {y} L 14 {y - 1}"), weight=0.9)


def stop_sign(pen: Pen, state: str) -> None:
    """A red octagon on a pole."""
    pen.draw(box(-4, -80, 4, 0), "grey")
    r, c = 41.0, 17.0
    eight = ((-c, -r), (c, -r), (r, -c), (r, c), (c, r), (-c, r), (-r, c), (-r, -c))
    with pen.at(0, -116):
        pen.draw(poly(*eight))
        pen.stroke(poly(*((x * 0.86, y * 0.86) for x, y in eight)), "#ffffff", weight=0.9)
        write(pen, "STOP", 0, 0, 60, 30, cap=17, color="#ffffff")


def flag(pen: Pen, state: str) -> None:
    """A waving flag on a pole."""
    pen.bar(Outline((Run(((-42, -2), (-42, -160))),), closed=False), 5, "wood")
    pen.draw(oval(-42, -163, 5), "yellow")
    pen.draw(
        path("M -40 -156 C -16 -168 10 -142 50 -154 C 46 -132 48 -112 51 -98 C 12 -86 -14 -112 -40 -98 Z"), shade=0.36
    )


def arrow(pen: Pen, state: str) -> None:
    """A block arrow."""
    turn = {"right": 0, "left": 180, "up": -90, "down": 90}[state]
    middle = -52.0 if state in ("up", "down") else -32.0
    with pen.at(0, middle, turn=turn):
        pen.draw(poly((-50, -13), (8, -13), (8, -30), (50, 0), (8, 30), (8, 13), (-50, 13)), shade=0.36)


DRAWINGS: Mapping[str, Draw] = {
    "traffic light": traffic_light, "sign": sign, "stop sign": stop_sign, "flag": flag, "arrow": arrow,
}  # fmt: skip
