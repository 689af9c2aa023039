"""Outlines: the geometry of what is drawn, before any hand has touched it. Pure.

An outline is a chain of runs, each a row of points joined by straight lines or by a smooth curve.
Coordinates are the drawing's own: x to the right, y downwards.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]
#: The affine map (a, b, c, d, e, f): x' = ax + cy + e, y' = bx + dy + f.
Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)

# How strongly a curve is pulled towards its neighbours; equal to what the hand uses, so that fill and line agree.
_PULL = 0.9 / 6
_PATH = re.compile(r"[MLCQZ]|-?\d*\.?\d+")


@dataclass(frozen=True, slots=True)
class Run:
    """Points joined by straight lines, or by a curve through all of them."""

    points: tuple[Point, ...]
    curved: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """Runs, each starting where the one before ended."""

    runs: tuple[Run, ...]
    closed: bool = True

    def moved(self, matrix: Matrix) -> Outline:
        """The same outline, mapped."""
        return Outline(
            tuple(Run(tuple(apply(matrix, point) for point in run.points), run.curved) for run in self.runs),
            self.closed,
        )

    def flattened(self) -> list[Point]:
        """The outline as a polygon, curves cut into short lines."""
        points: list[Point] = []
        for run in self.runs:
            if not run.curved:
                points.extend(run.points)
                continue
            points.append(run.points[0])
            for start, one, two, end in bezier(run.points, closed=self.closed and len(self.runs) == 1):
                points.extend(_along(start, one, two, end, part / 4) for part in range(1, 5))
        return points

    def data(self) -> str:
        """The outline as SVG path data, untouched by any hand."""
        start = self.runs[0].points[0]
        parts = [f"M{start[0]:.1f} {start[1]:.1f}"]
        for run in self.runs:
            if run.curved:
                for _, one, two, end in bezier(run.points, closed=self.closed and len(self.runs) == 1):
                    parts.append(f"C{one[0]:.1f} {one[1]:.1f} {two[0]:.1f} {two[1]:.1f} {end[0]:.1f} {end[1]:.1f}")
            else:
                parts.extend(f"L{x:.1f} {y:.1f}" for x, y in run.points)
        if self.closed:
            parts.append("Z")
        return "".join(parts)


def apply(matrix: Matrix, point: Point) -> Point:
    """Map a point."""
    a, b, c, d, e, f = matrix
    x, y = point
    return a * x + c * y + e, b * x + d * y + f


def combine(outer: Matrix, inner: Matrix) -> Matrix:
    """The map that does `inner` first, then `outer`."""
    a, b, c, d, e, f = outer
    g, h, i, j, k, m = inner
    return a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * m + e, b * k + d * m + f


def placed(x: float = 0.0, y: float = 0.0, *, turn: float = 0.0, scale: float = 1.0, flip: bool = False) -> Matrix:
    """A map that scales, mirrors (`flip`), turns (degrees, clockwise on the picture) and then moves."""
    cos, sin = math.cos(math.radians(turn)) * scale, math.sin(math.radians(turn)) * scale
    mirror = -1.0 if flip else 1.0
    return cos * mirror, sin * mirror, -sin, cos, x, y


def poly(*points: Point) -> Outline:
    """A closed shape with straight sides."""
    return Outline((Run(points),))


def blob(*points: Point) -> Outline:
    """A closed shape, smooth through all points."""
    return Outline((Run((*points, points[0]), curved=True),))


def line(*points: Point) -> Outline:
    """An open row of straight lines."""
    return Outline((Run(points),), closed=False)


def bow(*points: Point) -> Outline:
    """An open curve through all points."""
    return Outline((Run(points, curved=True),), closed=False)


def box(x0: float, y0: float, x1: float, y1: float, *, corner: float = 0.0) -> Outline:
    """A rectangle between two corners, its corners rounded by `corner`."""
    if not corner:
        return poly((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    r, k = min(corner, abs(x1 - x0) / 2, abs(y1 - y0) / 2), 0.29
    # The two directions point from each corner along its sides; clockwise from the upper left.
    corners = (
        ((x0, y0), (0, 1), (1, 0)), ((x1, y0), (-1, 0), (0, 1)),
        ((x1, y1), (0, -1), (-1, 0)), ((x0, y1), (1, 0), (0, -1)),
    )  # fmt: skip
    bends = [
        tuple((x + dx * r, y + dy * r) for dx, dy in (into, ((into[0] + on[0]) * k, (into[1] + on[1]) * k), on))
        for (x, y), into, on in corners
    ]
    if max(abs(x1 - x0), abs(y1 - y0)) < 9 * r:
        sides = [((bend[0], *bend[1:]), ((bend[-1][0] + after[0][0]) / 2, (bend[-1][1] + after[0][1]) / 2))
                 for bend, after in zip(bends, [*bends[1:], bends[0]], strict=True)]  # fmt: skip
        return blob(*(point for bend, middle in sides for point in (*bend, middle)))
    # One curve would swing out beside a long straight side.
    runs: list[Run] = []
    for bend, after in zip(bends, [*bends[1:], bends[0]], strict=True):
        runs += [Run(bend, curved=True), Run((bend[-1], after[0]))]
    return Outline(tuple(runs))


def oval(x: float, y: float, rx: float, ry: float | None = None, *, turn: float = 0.0) -> Outline:
    """An ellipse about (x, y), turned by degrees; a circle without `ry`."""
    return blob(*_ring(x, y, rx, rx if ry is None else ry, 0.0, 360.0, 12, turn)[:-1])


def arc(x: float, y: float, rx: float, ry: float, start: float, stop: float) -> Outline:
    """An open part of an ellipse, from angle to angle in degrees; 0 is to the right, 90 is down."""
    return bow(*_ring(x, y, rx, ry, start, stop, max(3, round(abs(stop - start) / 30))))


def pie(x: float, y: float, rx: float, ry: float, start: float, stop: float) -> Outline:
    """A closed part of an ellipse, cut off straight from end to end (180 degrees: a half disc)."""
    return Outline((Run(tuple(_ring(x, y, rx, ry, start, stop, max(4, round(abs(stop - start) / 25)))), curved=True),
                    Run((_at(x, y, rx, ry, stop), _at(x, y, rx, ry, start)))))  # fmt: skip


def path(data: str) -> Outline:
    """An outline in SVG's words: absolute `M`, `L`, `C`, `Q`; closed when it ends in `Z`.

    Example:
        >>> path("M 0 0 L 10 0 Q 15 5 10 10 Z").closed
        True
    """
    tokens = _PATH.findall(data)
    runs: list[Run] = []
    here: Point = (0.0, 0.0)
    index, command = 0, "M"
    straight: list[Point] = []
    while index < len(tokens):
        if tokens[index].isalpha():
            command = tokens[index]
            index += 1
            continue
        count = {"M": 2, "L": 2, "Q": 4, "C": 6}[command]
        values = [float(token) for token in tokens[index : index + count]]
        index += count
        end = (values[-2], values[-1])
        if command in "ML":
            straight.append(end)
        else:
            if len(straight) > 1:
                runs.append(Run(tuple(straight)))
            one = (values[0], values[1])
            two = (values[2], values[3]) if command == "C" else one
            if command == "Q":
                one, two = _raised(here, one, end)
            points = tuple(_along(here, one, two, end, part / 5) for part in range(6))
            runs.append(Run(points, curved=True))
            straight = [end]
        here = end
    if len(straight) > 1 or not runs:
        runs.append(Run(tuple(straight)))
    return Outline(tuple(runs), closed=tokens[-1] == "Z")


def star(x: float, y: float, outer: float, inner: float, points: int = 5, *, turn: float = -90.0) -> Outline:
    """A star with that many points."""
    step = 180 / points
    return poly(*(
        _at(x, y, radius, radius, turn + index * step)
        for index, radius in enumerate([outer, inner] * points)
    ))  # fmt: skip


def bezier(points: Sequence[Point], *, closed: bool = False) -> list[tuple[Point, Point, Point, Point]]:
    """Cubic pieces of the smooth curve through points (the first repeated at the end where closed)."""
    last = len(points) - 1
    pieces: list[tuple[Point, Point, Point, Point]] = []
    for index in range(last):
        before = points[index - 1] if index else (points[last - 1] if closed else points[0])
        start, end = points[index], points[index + 1]
        after = points[index + 2] if index + 2 <= last else (points[1] if closed else points[last])
        one = (start[0] + (end[0] - before[0]) * _PULL, start[1] + (end[1] - before[1]) * _PULL)
        two = (end[0] + (start[0] - after[0]) * _PULL, end[1] + (start[1] - after[1]) * _PULL)
        pieces.append((start, one, two, end))
    return pieces


def part(polygon: Sequence[Point], share: float, light: Point) -> list[Point]:
    """The share of a polygon that lies away from the light.

    Args:
        polygon: Its corners.
        share: 0 to 1, measured across the polygon along the light.
        light: Direction towards the light.
    """
    if share >= 1:
        return list(polygon)
    values = [x * light[0] + y * light[1] for x, y in polygon]
    bound = min(values) + share * (max(values) - min(values))
    kept: list[Point] = []
    for index, (point, value) in enumerate(zip(polygon, values, strict=True)):
        previous, earlier = polygon[index - 1], values[index - 1]
        if (value <= bound) != (earlier <= bound):
            where = (bound - earlier) / (value - earlier)
            kept.append(
                (previous[0] + (point[0] - previous[0]) * where, previous[1] + (point[1] - previous[1]) * where)
            )
        if value <= bound:
            kept.append(point)
    return kept


def _at(x: float, y: float, rx: float, ry: float, degrees: float) -> Point:
    return x + rx * math.cos(math.radians(degrees)), y + ry * math.sin(math.radians(degrees))


def _ring(
    x: float, y: float, rx: float, ry: float, start: float, stop: float, steps: int, turn: float = 0.0
) -> list[Point]:
    points = [_at(0, 0, rx, ry, start + (stop - start) * index / steps) for index in range(steps + 1)]
    return [apply(placed(x, y, turn=turn), point) for point in points]


def _along(start: Point, one: Point, two: Point, end: Point, t: float) -> Point:
    a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
    return (
        a * start[0] + b * one[0] + c * two[0] + d * end[0],
        a * start[1] + b * one[1] + c * two[1] + d * end[1],
    )


def _raised(start: Point, control: Point, end: Point) -> tuple[Point, Point]:
    return (
        (start[0] + 2 / 3 * (control[0] - start[0]), start[1] + 2 / 3 * (control[1] - start[1])),
        (end[0] + 2 / 3 * (control[0] - end[0]), end[1] + 2 / 3 * (control[1] - end[1])),
    )
