"""Shapes as lines: what the points of an element's outline are, in its own units."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import NamedTuple

from langgraph_interleave.checks.circuits.tree import Illegible

Point = tuple[float, float]
#: Pieces a curve is taken in.
_PIECES = 8
_LARGEST = 1e7
_COMMAND = re.compile(r"[\s,]*([MLHVCSQTAZ])", re.IGNORECASE)
_NUMBER = re.compile(r"[\s,]*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
_FLAG = re.compile(r"[\s,]*([01])")
#: How many numbers a command takes; of an arc the fourth and fifth are single digits.
_TAKES = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


class Line(NamedTuple):
    """A line of straight pieces; closed where its last point leads back to its first."""

    points: tuple[Point, ...]
    closed: bool = False


def lines_of(name: str, given: Mapping[str, str]) -> list[Line]:
    """The outline of a shape.

    Args:
        name: Of the element; what is no shape has no lines.
        given: Its attributes.

    Raises:
        Illegible: A number cannot be read.

    Example:
        >>> lines_of("path", {"d": "M0 0h10v5z"})
        [Line(points=((0.0, 0.0), (10.0, 0.0), (10.0, 5.0)), closed=True)]
    """
    make = _SHAPES.get(name)
    return make(given) if make else []


def number(given: Mapping[str, str], name: str, default: float = 0.0) -> float:
    """An attribute as a number, `px` or none behind it.

    Raises:
        Illegible: It is something else.
    """
    text = given.get(name, "").strip().removesuffix("px")
    if not text:
        return default
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise Illegible(f"{name}={text[:30]!r} is no plain number")
    return _plain(match[1])


def points_in(text: str) -> tuple[Point, ...]:
    """The points of a `points` attribute."""
    values = [_plain(value) for value in _NUMBER.findall(text)]
    return tuple(zip(values[0::2], values[1::2], strict=False))


def _plain(text: str) -> float:
    value = float(text)
    if abs(value) > _LARGEST:
        raise Illegible(f"the number {text[:30]} is too large")
    return value


def _line(given: Mapping[str, str]) -> list[Line]:
    x1, y1, x2, y2 = (number(given, name) for name in ("x1", "y1", "x2", "y2"))
    return [Line(((x1, y1), (x2, y2)))]


def _polyline(given: Mapping[str, str]) -> list[Line]:
    points = points_in(given.get("points", ""))
    return [Line(points)] if len(points) > 1 else []


def _polygon(given: Mapping[str, str]) -> list[Line]:
    return [Line(points, True) for points, _ in _polyline(given)]


def _rect(given: Mapping[str, str]) -> list[Line]:
    x, y, width, height = (number(given, name) for name in ("x", "y", "width", "height"))
    return [Line(((x, y), (x + width, y), (x + width, y + height), (x, y + height)), True)]


def _ellipse(given: Mapping[str, str]) -> list[Line]:
    around, across, down = (number(given, "cx"), number(given, "cy")), number(given, "rx"), number(given, "ry")
    across, down = number(given, "r", across), number(given, "r", down)
    turns = (2 * math.pi * step / (3 * _PIECES) for step in range(3 * _PIECES))
    return [Line(tuple((around[0] + across * math.cos(t), around[1] + down * math.sin(t)) for t in turns), True)]


def _path(given: Mapping[str, str]) -> list[Line]:
    pen = _Pen()
    text, at, command = given.get("d", ""), 0, ""
    while at < len(text):
        match = _COMMAND.match(text, at)
        if match is not None:
            command, at = match[1], match.end()
        elif not text[at:].strip(" ,\t\r\n"):
            break
        elif not command or command in "Zz":
            raise Illegible("a path is broken")
        values: list[float] = []
        for place in range(_TAKES[command.upper()]):
            flag = command in "Aa" and place in (3, 4)
            found = (_FLAG if flag else _NUMBER).match(text, at)
            if found is None:
                raise Illegible("a path is broken")
            values.append(_plain(found[1]))
            at = found.end()
        pen.draw(command, values)
        # Further pairs after a move are lines.
        command = {"M": "L", "m": "l"}.get(command, command)
    return pen.done()


class _Pen:
    """Follows a path."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._points: list[Point] = [(0.0, 0.0)]
        self._control: tuple[str, Point] | None = None

    def done(self) -> list[Line]:
        self._lift()
        return self._lines

    def _lift(self, *, closed: bool = False) -> None:
        if len(self._points) > 1:
            points = self._points[:-1] if closed and self._points[-1] == self._points[0] else self._points
            self._lines.append(Line(tuple(points), closed))

    def draw(self, command: str, values: list[float]) -> None:
        here = self._points[-1]
        kind = command.upper()
        ox, oy = here if command.islower() else (0.0, 0.0)
        if kind == "Z":
            start = self._points[0]
            self._lift(closed=True)
            self._points = [start]
        elif kind == "H":
            self._points.append((values[0] + ox, here[1]))
        elif kind == "V":
            self._points.append((here[0], values[0] + oy))
        elif kind == "A":
            end = (values[5] + ox, values[6] + oy)
            self._points += _arc(here, end, values[0], values[1], values[2], bool(values[3]), bool(values[4]))
        else:
            given = [(x + ox, y + oy) for x, y in zip(values[0::2], values[1::2], strict=True)]
            if kind == "M":
                self._lift()
                self._points = given
            else:
                self._curve(kind, here, given)
                return
        self._control = None

    def _curve(self, kind: str, here: Point, given: list[Point]) -> None:
        """A line (no control points), or a curve with one or two; S and T mirror the one before."""
        if kind in "ST":
            before = self._control
            like = "C" if kind == "S" else "Q"
            mirrored = here
            if before is not None and before[0] == like:
                mirrored = (2 * here[0] - before[1][0], 2 * here[1] - before[1][1])
            given, kind = [mirrored, *given], like
        whole = [here, *given]
        pieces = 1 if kind == "L" else _PIECES
        self._points += [_bezier(whole, step / pieces) for step in range(1, pieces)] + [given[-1]]
        self._control = (kind, given[-2]) if kind != "L" else None


def _bezier(points: list[Point], t: float) -> Point:
    while len(points) > 1:
        points = [
            (x1 + (x2 - x1) * t, y1 + (y2 - y1) * t)
            for (x1, y1), (x2, y2) in pairwise(points)
        ]  # fmt: skip
    return points[0]


def _arc(start: Point, end: Point, rx: float, ry: float, turned: float, large: bool, sweep: bool) -> list[Point]:
    """Points of an elliptic arc after its start, by its centre (as the SVG specification has it in F.6)."""
    rx, ry = abs(rx), abs(ry)
    if start == end:
        return []
    if not rx or not ry:
        return [end]
    cos, sin = math.cos(math.radians(turned)), math.sin(math.radians(turned))
    dx, dy = (start[0] - end[0]) / 2, (start[1] - end[1]) / 2
    x, y = cos * dx + sin * dy, cos * dy - sin * dx
    grow = math.sqrt(max(1.0, (x / rx) ** 2 + (y / ry) ** 2))
    rx, ry = rx * grow, ry * grow
    below = (rx * y) ** 2 + (ry * x) ** 2
    if not below:
        return [end]
    far = math.sqrt(max(0.0, (rx * ry) ** 2 - below) / below) * (1 if large != sweep else -1)
    cx, cy = far * rx * y / ry, -far * ry * x / rx
    first = math.atan2((y - cy) / ry, (x - cx) / rx)
    sweeps = math.atan2((-y - cy) / ry, (-x - cx) / rx) - first
    if sweep and sweeps < 0:
        sweeps += 2 * math.pi
    elif not sweep and sweeps > 0:
        sweeps -= 2 * math.pi
    middle = ((start[0] + end[0]) / 2 + cos * cx - sin * cy, (start[1] + end[1]) / 2 + sin * cx + cos * cy)
    points: list[Point] = []
    for step in range(1, _PIECES):
        u, v = rx * math.cos(first + sweeps * step / _PIECES), ry * math.sin(first + sweeps * step / _PIECES)
        points.append((middle[0] + cos * u - sin * v, middle[1] + sin * u + cos * v))
    return [*points, end]


_SHAPES: Mapping[str, Callable[[Mapping[str, str]], list[Line]]] = {
    "circle": _ellipse,
    "ellipse": _ellipse,
    "line": _line,
    "path": _path,
    "polygon": _polygon,
    "polyline": _polyline,
    "rect": _rect,
}
