"""Drawings: furniture."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import bow, box, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import COLORS, Tone


def _darker(pen: Pen) -> Tone:
    return Tone(pen.own.shade, pen.own.stroke, pen.own.stroke)


def _seat(pen: Pen) -> None:
    pen.draw(poly((-38, -14), (34, -14), (48, 0), (-50, 0)))


def chair(pen: Pen, state: str) -> None:
    """A wooden chair, whole or in the making."""
    if state == "parts":
        pen.draw(poly((-76, -24), (-26, -24), (-16, -8), (-78, -8)), shade=0.3)
        for x in (0, 16, 32, 48):
            pen.draw(box(x, -66, x + 9, -4))
        pen.draw(box(-76, -80, -28, -70))
        pen.draw(box(-76, -62, -28, -52))
        pen.draw(box(-76, -84, -69, -44))
        pen.draw(box(-34, -84, -27, -44))
        for x, y in ((68, -10), (74, -22), (66, -34)):
            pen.dot(x, y, 3, "#566270")
        return
    if state == "seat":
        with pen.at(0, -10):
            _seat(pen)
        pen.draw(box(-50, -10, 48, -2))
        return
    for x in (-34, 30):
        pen.draw(box(x - 4, -76, x + 4, -12), _darker(pen))
    if state == "assembled":
        for x in (-36, 32):
            pen.draw(box(x - 5, -158, x + 5, -84))
        for y in (-148, -128, -108):
            pen.draw(box(-32, y, 28, y + 11), shade=0.3)
    with pen.at(0, -74):
        _seat(pen)
    pen.draw(box(-50, -74, 48, -65), shade=0.2)
    for x in (-44, 42):
        pen.draw(box(x - 5, -66, x + 5, -1))


def table(pen: Pen, state: str) -> None:
    """A table with four legs."""
    for x in (-66, 66):
        pen.draw(box(x - 5, -100, x + 5, -18), _darker(pen))
    for x in (-88, 88):
        pen.draw(box(x - 7, -100, x + 7, -1), shade=0.3)
    pen.draw(box(-94, -100, 94, -86), _darker(pen))
    pen.draw(box(-103, -118, 103, -98, corner=4), shade=0.2)


def bed(pen: Pen, state: str) -> None:
    """A bed with its head on the left."""
    pen.draw(box(-102, -100, -88, -1, corner=3), "wood")
    pen.draw(box(88, -64, 102, -1, corner=3), "wood")
    pen.draw(box(-88, -34, 88, -16), "wood")
    pen.draw(box(-88, -54, 88, -32, corner=5), "white")
    pen.draw(path("M -84 -56 C -88 -76 -40 -78 -40 -56 Z"), "white", shade=0.3)
    if state == "made":
        pen.draw(path("M -38 -64 Q 20 -72 88 -62 L 90 -26 L -38 -26 Z"), shade=0.36)
        pen.draw(path("M -40 -64 L -22 -66 L -22 -26 L -40 -26 Z"), "white")
    else:
        pen.draw(
            path(
                "M 6 -62 C 20 -78 40 -62 52 -74 C 66 -80 84 -72 90 -60 L 92 -20 C 70 -12 60 -26 44 -18 C "
                "30 -10 22 -26 8 -24 Z"
            ),
            shade=0.36,
        )
        pen.ink(bow((26, -60), (36, -46), (30, -30)), weight=0.8)


def shelf(pen: Pen, state: str) -> None:
    """A bookcase of three shelves."""
    pen.draw(box(-82, -166, 82, -1), shade=0.2)
    rows = (-156, -106, -56)
    for y in rows:
        pen.draw(box(-72, y, 72, y + 44), Tone(pen.own.stroke, pen.own.stroke, pen.own.stroke))
    if state == "empty":
        return
    shades = ("red", "blue", "yellow", "green", "purple", "orange", "turquoise", "cream")
    for row, y in enumerate(rows):
        x = -70.0
        for index in range(8):
            width, height = (13 + (index * 5 + row * 3) % 5), (30 + (index * 7 + row * 5) % 11)
            if row == 1 and index > 5:
                break
            pen.draw(box(x, y + 44 - height, x + width, y + 43), shades[(index + row * 3) % 8])
            x += width + 1.5
    pen.draw(path("M 38 -64 L 62 -64 L 58 -84 L 42 -84 Z"), "terracotta")
    pen.draw(oval(50, -92, 11, 9), "leaf")


def door(pen: Pen, state: str) -> None:
    """A door, shut or ajar."""
    pen.draw(box(-51, -190, 51, -1), "cream")
    if state == "open":
        pen.draw(box(-42, -182, 42, -1), Tone("#5f5a55", "#3d3935", "#4d4844"))
        pen.draw(poly((-42, -182), (-2, -170), (-2, -10), (-42, -1)), shade=0.3)
        for top, low in ((-160, -100), (-84, -28)):
            pen.ink(poly((-34, top), (-11, top + 5), (-11, low - 3), (-34, low + 2)), weight=0.9)
        pen.draw(oval(-8, -92, 3.6), "yellow")
        return
    pen.draw(box(-42, -182, 42, -1), shade=0.3)
    for top, low in ((-168, -104), (-86, -22)):
        for left, right in ((-32, -4), (4, 32)):
            pen.ink(box(left, top, right, low), weight=0.9)
    pen.draw(oval(32, -94, 4.6), "yellow")


def window(pen: Pen, state: str) -> None:
    """A window, shut or with its wings open."""
    frame: str | Tone = Tone("#f4f1e8", "#85633c", "#e2dac6")
    if state == "open":
        frame = pen.unless_asked(frame)
        pen.draw(box(-38, -122, 38, -12), Tone("#cfe6f3", "#85633c", "#b5d3e8"))
        pen.draw(oval(18, -96, 10), "yellow")
        pen.draw(path("M -36 -14 L -36 -40 Q -10 -56 36 -34 L 36 -14 Z"), "green")
        for side in (-1, 1):
            pen.draw(poly((side * 38, -122), (side * 59, -126), (side * 59, -6), (side * 38, -12)), frame)
            pen.draw(poly((side * 42, -116), (side * 55, -119), (side * 55, -70), (side * 42, -70)), "glass")
            pen.draw(poly((side * 42, -62), (side * 55, -62), (side * 55, -14), (side * 42, -18)), "glass")
        pen.draw(box(-46, -13, 46, -2), frame)
        return
    pen.draw(box(-56, -126, 56, -8), frame)
    glass = "glass" if pen.own.fill == "#dceef8" else None
    for left, right in ((-48, -4), (4, 48)):
        for top, low in ((-118, -70), (-62, -16)):
            pen.draw(box(left, top, right, low), glass)
            pen.stroke(line((left + 10, low - 12), (left + 26, top + 12)), "#ffffff", weight=1.0)
    pen.draw(box(-60, -10, 60, -1), frame)


def lamp(pen: Pen, state: str) -> None:
    """A table lamp."""
    if state == "lit":
        pen.fill(poly((-34, -84), (34, -84), (48, -34), (-48, -34)), "#fdf3c4")
    pen.bar(line((0, -84), (0, -12)), 6, "brown")
    pen.draw(path("M -28 -1 Q -26 -14 0 -14 Q 26 -14 28 -1 Z"), "brown")
    color = None
    if state == "off" and pen.own == COLORS["yellow"]:
        color = Tone("#d9cfae", "#8a7c4c", "#c2b689")
    pen.draw(path("M -20 -138 L 20 -138 L 44 -84 Q 0 -76 -44 -84 Z"), color, shade=0.0 if state == "lit" else 0.4)
    if state == "lit":
        for x0, y0, x1, y1 in (
            (-40, -118, -47, -122),
            (40, -118, 47, -122),
            (-30, -68, -38, -56),
            (30, -68, 38, -56),
            (0, -66, 0, -54),
        ):
            pen.stroke(line((x0, y0), (x1, y1)), "#d8a92e", weight=1.2)


DRAWINGS: Mapping[str, Draw] = {
    "chair": chair, "table": table, "bed": bed, "shelf": shelf, "door": door, "window": window, "lamp": lamp,
}  # fmt: skip
