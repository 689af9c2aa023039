"""Drawings: things about the house."""

from __future__ import annotations

import math
from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import bow, box, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import INK, Tone


def _darker(pen: Pen) -> Tone:
    return Tone(pen.own.shade, pen.own.stroke, pen.own.stroke)


def candle(pen: Pen, state: str) -> None:
    """A candle in its dish."""
    pen.draw(path("M -22 -14 L 22 -14 Q 20 -1 10 -1 L -10 -1 Q -20 -1 -22 -14 Z"), "metal")
    pen.draw(path("M -11 -76 Q -4 -70 0 -74 Q 6 -78 11 -76 L 11 -13 L -11 -13 Z"), shade=0.4)
    pen.stroke(line((0, -75), (1, -84)), INK)
    if state == "lit":
        pen.draw(path("M 0 -111 C 9 -98 10 -84 0 -82 C -10 -84 -8 -98 0 -111 Z"), "flame")
        pen.draw(path("M 0 -98 C 4 -92 4 -86 0 -84 C -4 -86 -4 -92 0 -98 Z"), "glow", line=False)
    else:
        pen.stroke(bow((1, -86), (-3, -94), (4, -102), (0, -110)), "#a5a8ad", weight=0.7)


_TIMES = {
    "ten past ten": (10, 10), "twelve o'clock": (12, 0), "three o'clock": (3, 0), "six o'clock": (6, 0),
    "nine o'clock": (9, 0), "half past seven": (7, 30),
}  # fmt: skip


def clock(pen: Pen, state: str) -> None:
    """A clock with two bells, telling a time."""
    for side in (-1, 1):
        with pen.at(0, -48, turn=side * 32):
            pen.draw(path("M -14 -45 C -14 -60 14 -60 14 -45 Z"))
            pen.bar(line((0, 42), (0, 47)), 5, "grey")
    pen.draw(oval(0, -48, 44))
    pen.draw(oval(0, -48, 35), "paper")
    for index in range(12):
        angle = math.radians(index * 30)
        reach = 27 if index % 3 == 0 else 30
        sin, cos = math.sin(angle), -math.cos(angle)
        pen.stroke(
            line((sin * reach, -48 + cos * reach), (sin * 33, -48 + cos * 33)),
            INK,
            weight=1.1 if index % 3 == 0 else 0.7,
        )
    hour, minute = _TIMES[state]
    for angle, reach, weight in ((hour * 30 + minute * 0.5, 17, 2.0), (minute * 6, 26, 1.3)):
        turn = math.radians(angle)
        pen.stroke(line((0, -48), (math.sin(turn) * reach, -48 - math.cos(turn) * reach)), INK, weight=weight)
    pen.dot(0, -48, 3)


def key(pen: Pen, state: str) -> None:
    """A key, its bow to the left."""
    pen.draw(
        poly(
            (-12, -29), (50, -29), (50, -6), (43, -6), (43, -14), (36, -14), (36, -8), (29, -8), (29, -20), (-12, -20)
        ),
        shade=0.0,
    )
    pen.draw(oval(-28, -24, 22, 21), shade=0.4)
    pen.draw(oval(-32, -24, 8, 8), "paper")


def gift(pen: Pen, state: str) -> None:
    """A present with a ribbon."""
    ribbon = "yellow" if pen.own.fill != "#f3d35c" else "red"
    if state == "open":
        pen.draw(box(-46, -62, 46, -1), shade=0.4)
        pen.draw(
            poly((-46, -62), (46, -62), (38, -72), (-38, -72)), Tone(pen.own.stroke, pen.own.stroke, pen.own.stroke)
        )
        pen.draw(box(-8, -62, 8, -1), ribbon)
        with pen.at(42, -70, turn=24):
            pen.draw(box(-36, -28, 30, -12))
            pen.draw(box(-9, -28, 5, -12), ribbon)
        for x, y in ((-24, -84), (-4, -96), (-36, -102), (-16, -112)):
            pen.draw(oval(x, y, 3.6), "yellow")
        return
    for side in (-1, 1):
        pen.draw(
            path(
                f"M 0 -80 C {side * 10} -104 {side * 40} -106 {side * 36} -90 C {side * 34} -80 {side * 16} -78 0 -80 Z"
            ),
            ribbon,
        )
    pen.draw(box(-44, -64, 44, -1), shade=0.4)
    pen.draw(box(-50, -80, 50, -62))
    pen.draw(box(-8, -80, 8, -1), ribbon)


def box_(pen: Pen, state: str) -> None:
    """A cardboard box."""
    if state == "open":
        pen.draw(
            poly((-56, -74), (56, -74), (44, -92), (-44, -92)), Tone(pen.own.stroke, pen.own.stroke, pen.own.stroke)
        )
        pen.draw(poly((-56, -74), (-44, -92), (-66, -110), (-79, -92)))
        pen.draw(poly((56, -74), (44, -92), (66, -110), (79, -92)))
        pen.draw(box(-56, -74, 56, -1), shade=0.4)
        pen.draw(poly((-56, -74), (56, -74), (62, -54), (-62, -54)), _darker(pen))
        return
    pen.draw(poly((-58, -80), (-42, -102), (42, -102), (58, -80)), _darker(pen))
    pen.draw(box(-58, -80, 58, -1), shade=0.4)
    pen.draw(poly((-11, -102), (11, -102), (13, -80), (13, -62), (-13, -62), (-13, -80)), "cream")


def basket(pen: Pen, state: str) -> None:
    """A wicker basket."""
    pen.bar(bow((-46, -52), (-38, -98), (0, -108), (38, -98), (46, -52)), 7)
    pen.draw(path("M -56 -56 L 56 -56 L 46 -4 Q 44 -1 40 -1 L -40 -1 Q -44 -1 -46 -4 Z"), shade=0.36)
    for y, half in ((-40, 52), (-24, 49), (-10, 46)):
        pen.ink(bow((-half, y), (0, y + 3), (half, y)), weight=0.8)
    for row, (y, y1) in enumerate(((-54, -41), (-39, -25), (-23, -11))):
        for x in range(-44, 50, 14):
            pen.ink(line((x + row % 2 * 7 - 3, y), (x + row % 2 * 7 - 3, y1)), weight=0.8)
    pen.draw(box(-58, -62, 58, -52, corner=4))


def bucket(pen: Pen, state: str) -> None:
    """A bucket with its handle up."""
    pen.ink(bow((-44, -66), (-30, -98), (0, -103), (30, -98), (44, -66)), "grey", weight=1.2)
    if state == "with sand":
        pen.draw(path("M -40 -66 C -26 -86 -8 -92 2 -92 C 16 -92 30 -80 40 -66 Z"), "straw", shade=0.3)
    pen.draw(path("M -46 -66 L -36 -4 Q -36 -1 -32 -1 L 32 -1 Q 36 -1 36 -4 L 46 -66 Z"), shade=0.42)
    if state != "with sand":
        pen.draw(
            oval(0, -66, 46, 9),
            "water" if state == "with water" else Tone(pen.own.stroke, pen.own.stroke, pen.own.stroke),
        )
        pen.ink(oval(0, -66, 46, 9))
    else:
        pen.ink(bow((-46, -66), (0, -58), (46, -66)))


def umbrella(pen: Pen, state: str) -> None:
    """An umbrella, open or furled."""
    if state == "closed":
        pen.bar(bow((0, -30), (0, -12), (6, -3), (14, -6), (15, -14)), 4, "brown")
        pen.draw(
            path("M 0 -158 L -4 -146 C -12 -110 -22 -60 -14 -34 Q 0 -26 14 -34 C 22 -60 12 -110 4 -146 Z"), shade=0.42
        )
        pen.ink(bow((-2, -144), (-6, -90), (-4, -32)), weight=0.8)
        pen.ink(line((-16, -60), (17, -56)), weight=1.2)
        return
    pen.bar(bow((0, -70), (0, -20), (0, -10), (10, -4), (20, -8), (20, -18)), 5, "brown")
    pen.draw(
        path(
            "M -70 -66 C -66 -120 -34 -144 0 -144 C 34 -144 66 -120 70 -66 Q 52 -78 36 -66 Q 18 -78 0 "
            "-66 Q -18 -78 -36 -66 Q -52 -78 -70 -66 Z"
        ),
        shade=0.4,
    )
    for x in (-36, 36):
        pen.ink(bow((0, -144), (x * 0.8, -110), (x, -67)), weight=0.9)
    pen.ink(line((0, -144), (0, -67)), weight=0.9)
    pen.bar(line((0, -150), (0, -144)), 4, "brown")


def backpack(pen: Pen, state: str) -> None:
    """A school backpack."""
    pen.ink(bow((-12, -122), (-8, -134), (8, -134), (12, -122)), weight=1.6)
    for side in (-1, 1):
        pen.draw(
            box(side * 52 - 6, -64, side * 52 + 2 + (2 if side < 0 else 0), -14, corner=4)
            if side > 0
            else box(-54, -64, -42, -14, corner=4),
            _darker(pen),
        )
    pen.draw(
        path("M -44 -20 L -42 -88 C -40 -128 40 -128 42 -88 L 44 -20 Q 44 -2 34 -2 L -34 -2 Q -44 -2 -44 -20 Z"),
        shade=0.4,
    )
    pen.draw(path("M -42 -90 C -40 -126 40 -126 42 -90 Q 0 -72 -42 -90 Z"), _darker(pen))
    pen.draw(box(-30, -54, 30, -10, corner=6))
    pen.ink(line((-28, -40), (28, -40)), weight=1.1)
    pen.draw(box(-5, -84, 5, -68), "yellow")


def suitcase(pen: Pen, state: str) -> None:
    """A suitcase, shut or open."""
    if state == "open":
        pen.draw(box(-74, -154, 74, -84, corner=6), shade=0.2)
        pen.draw(box(-64, -146, 64, -90, corner=4), "cream")
        pen.draw(box(-74, -84, 74, -22, corner=4), _darker(pen))
        pen.draw(poly((-66, -80), (66, -80), (66, -50), (-66, -50)), "cream")
        pen.draw(box(-58, -84, -10, -52, corner=4), "blue")
        pen.draw(box(4, -80, 56, -52, corner=4), "red")
        pen.draw(box(-78, -54, 78, -1, corner=5), shade=0.36)
        return
    pen.ink(bow((-20, -86), (-18, -106), (18, -106), (20, -86)), weight=2.2)
    pen.draw(box(-70, -88, 70, -2, corner=9), shade=0.4)
    for x in (-42, 42):
        pen.draw(box(x - 5, -88, x + 5, -2), "straw")
        pen.draw(box(x - 7, -56, x + 7, -44), "yellow")


DRAWINGS: Mapping[str, Draw] = {
    "candle": candle, "clock": clock, "key": key, "gift": gift, "box": box_, "basket": basket, "bucket": bucket,
    "umbrella": umbrella, "backpack": backpack, "suitcase": suitcase,
}  # fmt: skip
