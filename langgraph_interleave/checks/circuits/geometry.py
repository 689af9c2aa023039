"""Points and lines: how far apart, inside or outside, cut where one enters the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from langgraph_interleave.checks.circuits.paths import Line, Point

Box = tuple[float, float, float, float]


def box_of(lines: Iterable[Line]) -> Box:
    """Left, top, right and bottom of what has at least one point."""
    points = [point for line in lines for point in line.points]
    across, down = [x for x, _ in points], [y for _, y in points]
    return min(across), min(down), max(across), max(down)


def within(at: Point, box: Box, near: float) -> bool:
    """Whether a point is in a box, or that near to it."""
    return box[0] - near <= at[0] <= box[2] + near and box[1] - near <= at[1] <= box[3] + near


def pieces(line: Line) -> Iterator[tuple[Point, Point]]:
    """The straight pieces of a line."""
    yield from pairwise(line.points)
    if line.closed and len(line.points) > 1:
        yield line.points[-1], line.points[0]


def distance(at: Point, line: Line) -> float:
    """From a point to the nearest of a line.

    Example:
        >>> distance((5, 3), Line(((0, 0), (10, 0))))
        3.0
    """
    if len(line.points) == 1:
        return math.dist(at, line.points[0])
    return min(_to_piece(at, start, end) for start, end in pieces(line))


def _to_piece(at: Point, start: Point, end: Point) -> float:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy
    along = ((at[0] - start[0]) * dx + (at[1] - start[1]) * dy) / length if length else 0.0
    along = min(1.0, max(0.0, along))
    return math.dist(at, (start[0] + along * dx, start[1] + along * dy))


def inside(at: Point, line: Line) -> bool:
    """Whether a point is inside a closed line.

    Example:
        >>> inside((1, 1), Line(((0, 0), (4, 0), (4, 4), (0, 4)), closed=True))
        True
    """
    if not line.closed:
        return False
    x, y = at
    crossings = 0
    for (x1, y1), (x2, y2) in pieces(line):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            crossings += 1
    return crossings % 2 == 1


def without(line: Line, bodies: Sequence[Line], tolerance: float) -> list[Line]:
    """What is left of a line where it does not run through closed bodies: a body covers what is behind it.

    Example:
        >>> box = Line(((4, -1), (6, -1), (6, 1), (4, 1)), closed=True)
        >>> [piece.points for piece in without(Line(((0, 0), (10, 0))), [box], 0.1)]
        [((0, 0), (4.0, 0.0)), ((6.0, 0.0), (10, 0))]
    """
    left, top, right, bottom = box_of([line])
    crossed = [
        body
        for body in bodies
        if (box := box_of([body]))[0] <= right
        and box[2] >= left
        and box[1] <= bottom
        and box[3] >= top
        and any(_cuts(start, end, body) for start, end in pieces(line))
    ]
    if not crossed:
        return [line]
    shown: list[list[Point]] = [[line.points[0]]]
    cut = False
    for start, end in pieces(line):
        places = sorted({0.0, 1.0, *(place for body in crossed for place in _cuts(start, end, body))})
        for one, other in pairwise(places):
            middle = _along(start, end, (one + other) / 2)
            hidden = any(inside(middle, body) and distance(middle, body) > tolerance / 2 for body in crossed)
            if hidden:
                cut = True
                shown.append([])
                continue
            if not shown[-1]:
                shown[-1].append(start if one == 0.0 else _along(start, end, one))
            shown[-1].append(end if other == 1.0 else _along(start, end, other))
    if not cut:
        return [line]
    kept = [points for points in shown if len(points) > 1]
    # A loop that was cut is one line over the point where it was begun.
    if line.closed and len(kept) > 1 and kept[-1][-1] == kept[0][0] == line.points[0]:
        kept = [kept[-1] + kept[0][1:], *kept[1:-1]]
    return [Line(tuple(points)) for points in kept]


def _along(start: Point, end: Point, place: float) -> Point:
    return start[0] + (end[0] - start[0]) * place, start[1] + (end[1] - start[1]) * place


def _cuts(start: Point, end: Point, body: Line) -> list[float]:
    """Where on a straight piece a body's outline is crossed, from 0 to 1."""
    found: list[float] = []
    dx, dy = end[0] - start[0], end[1] - start[1]
    for (x1, y1), (x2, y2) in pieces(body):
        ex, ey = x2 - x1, y2 - y1
        across = dx * ey - dy * ex
        if not across:
            continue
        place = ((x1 - start[0]) * ey - (y1 - start[1]) * ex) / across
        other = ((x1 - start[0]) * dy - (y1 - start[1]) * dx) / across
        if 0 <= place <= 1 and 0 <= other <= 1:
            found.append(place)
    return found
