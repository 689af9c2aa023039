"""What is drawn, where: groups, shapes and words of a drawing in the units of its view box."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from langgraph_interleave.checks.circuits.paths import Line, Point, lines_of, number, points_in
from langgraph_interleave.checks.circuits.tree import Element, Illegible, Styles, tree_of

Matrix = tuple[float, float, float, float, float, float]
_PLAIN: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_FUNCTION = re.compile(r"\s*,?\s*(\w+)\s*\(([^()]*)\)")
_NOT_DRAWN = frozenset({"clipPath", "defs", "filter", "linearGradient", "marker", "mask", "pattern", "radialGradient",
                        "style", "symbol", "title", "desc"})  # fmt: skip
_INHERITED = ("fill", "stroke", "visibility", "fill-opacity", "stroke-opacity")
_MOST = 8_000
_DEEPEST = 60


@dataclass(frozen=True, slots=True)
class Drawn:
    """Something that is drawn.

    Attributes:
        kind: A group holds others; a shape has lines; words have a place.
        id: Its id, empty without one, and in copies of something else.
        inside: What a group holds, in order.
        lines: Outlines of a shape.
        filled: Whether a shape's inside is painted.
        stroked: Whether its lines are.
        words: What is written.
        at: Where the words stand.
    """

    kind: Literal["group", "shape", "words"]
    id: str = ""
    inside: tuple[Drawn, ...] = ()
    lines: tuple[Line, ...] = ()
    filled: bool = False
    stroked: bool = False
    words: str = ""
    at: Point = (0.0, 0.0)

    def every(self) -> Iterable[Drawn]:
        """This and all it holds."""
        yield self
        for one in self.inside:
            yield from one.every()

    @property
    def shapes(self) -> list[Drawn]:
        """The shapes in it."""
        return [one for one in self.every() if one.kind == "shape"]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole drawing, and the length of its longer side."""

    root: Drawn
    side: float


def sheet_of(svg: str) -> Sheet:
    """Read what a drawing draws.

    Raises:
        Illegible: It cannot be followed.

    Example:
        >>> line = '<path d="M0 0h5" stroke="red"/>'
        >>> sheet = sheet_of(f'<svg viewBox="0 0 9 4"><g transform="translate(1 2)">{line}</g></svg>')
        >>> sheet.side, sheet.root.shapes[0].lines
        (9.0, (Line(points=((1.0, 2.0), (6.0, 2.0)), closed=False),))
    """
    root = tree_of(svg)
    box = points_in(root.attributes.get("viewBox", ""))
    width, height = box[1] if len(box) == 2 else (number(root.attributes, "width"), number(root.attributes, "height"))
    if not max(width, height) > 0:
        raise Illegible("the drawing has no view box")
    return Sheet(_Hand(root).whole(root), max(width, height))


class _Hand:
    """Goes through a drawing as a renderer would, and keeps the outlines."""

    def __init__(self, root: Element) -> None:
        self._styles = Styles(root)
        self._named = {element.attributes["id"]: element for element in root.every() if "id" in element.attributes}
        self._count = 0

    def whole(self, root: Element) -> Drawn:
        given = self._styles.of(root)
        return self.group(
            root, _PLAIN, {name: given[name] for name in _INHERITED if name in given}, named=True, depth=0
        )

    def group(self, element: Element, matrix: Matrix, look: Mapping[str, str], *, named: bool, depth: int) -> Drawn:
        held = (self.drawn(child, matrix, look, named=named, depth=depth + 1) for child in element.children)
        return Drawn("group", _id(element, named), tuple(one for one in held if one is not None))

    def drawn(
        self, element: Element, matrix: Matrix, look: Mapping[str, str], *, named: bool, depth: int
    ) -> Drawn | None:
        self._count += 1
        if self._count > _MOST or depth > _DEEPEST:
            raise Illegible("the drawing has too many elements")
        if element.name in _NOT_DRAWN:
            return None
        given = self._styles.of(element)
        look = {**look, **{name: given[name] for name in _INHERITED if name in given}}
        if given.get("display") == "none" or look.get("visibility") in ("hidden", "collapse"):
            return None
        if given.get("opacity") == "0":
            return None
        matrix = _times(matrix, _matrix(given.get("transform", "")))
        if element.name in ("g", "svg"):
            if element.name == "svg":
                raise Illegible("drawings are nested in it")
            return self.group(element, matrix, look, named=named, depth=depth)
        if element.name == "use":
            return self._copy(element, given, matrix, look, named=named, depth=depth)
        if element.name == "text":
            at = _moved(matrix, (_first(element, "x"), _first(element, "y")))
            return Drawn("words", _id(element, named), words=element.words, at=at)
        lines = tuple(
            Line(tuple(_moved(matrix, point) for point in line.points), line.closed)
            for line in lines_of(element.name, given)
        )
        filled = look.get("fill") not in ("none", "transparent") and look.get("fill-opacity") != "0"
        stroked = look.get("stroke", "none") not in ("none", "transparent") and look.get("stroke-opacity") != "0"
        return Drawn("shape", _id(element, named), lines=lines, filled=filled, stroked=stroked) if lines else None

    def _copy(
        self, element: Element, given: Mapping[str, str], matrix: Matrix, look: Mapping[str, str], *, named: bool,
        depth: int,
    ) -> Drawn | None:  # fmt: skip
        """A copy of another element: that one's ids name no copy."""
        target = given.get("href", given.get("xlink:href", ""))
        original = self._named.get(target.removeprefix("#"))
        if original is None:
            return None
        moved = _times(matrix, (1.0, 0.0, 0.0, 1.0, number(given, "x"), number(given, "y")))
        if original.name == "symbol":
            if "viewBox" in original.attributes:
                raise Illegible("a symbol in it is scaled by a view box")
            held = self.group(original, moved, look, named=False, depth=depth)
        else:
            one = self.drawn(original, moved, look, named=False, depth=depth + 1)
            held = Drawn("group", inside=(one,) if one is not None else ())
        return Drawn("group", _id(element, named), held.inside)


def _id(element: Element, named: bool) -> str:
    return element.attributes.get("id", "") if named else ""


def _first(element: Element, name: str) -> float:
    """Where words begin: their own place, or that of the first line they are broken into."""
    for one in element.every():
        found = points_in(f"{one.attributes.get(name, '').partition(',')[0]} 0")
        if found and one.attributes.get(name):
            return found[0][0]
    return 0.0


def _moved(matrix: Matrix, point: Point) -> Point:
    a, b, c, d, e, f = matrix
    return a * point[0] + c * point[1] + e, b * point[0] + d * point[1] + f


def _times(one: Matrix, other: Matrix) -> Matrix:
    a, b, c, d, e, f = other
    x, y = _moved(one, (e, f))
    return (
        one[0] * a + one[2] * b, one[1] * a + one[3] * b,
        one[0] * c + one[2] * d, one[1] * c + one[3] * d, x, y,
    )  # fmt: skip


def _matrix(text: str) -> Matrix:
    """What a `transform` attribute does.

    Raises:
        Illegible: It says something else than numbers.
    """
    whole, at = _PLAIN, 0
    while at < len(text) and text[at:].strip():
        match = _FUNCTION.match(text, at)
        if match is None:
            raise Illegible(f"transform={text[:40]!r} cannot be followed")
        whole = _times(whole, _step(match[1], [number({"": one}, "") for one in re.split(r"[\s,]+", match[2].strip())]))
        at = match.end()
    return whole


def _step(name: str, values: list[float]) -> Matrix:
    count = len(values)
    if name == "matrix" and count == 6:
        return (values[0], values[1], values[2], values[3], values[4], values[5])
    if name == "translate" and count in (1, 2):
        return (1.0, 0.0, 0.0, 1.0, values[0], values[1] if count == 2 else 0.0)
    if name == "scale" and count in (1, 2):
        return (values[0], 0.0, 0.0, values[-1], 0.0, 0.0)
    if name == "rotate" and count in (1, 3):
        cos, sin = math.cos(math.radians(values[0])), math.sin(math.radians(values[0]))
        turn: Matrix = (cos, sin, -sin, cos, 0.0, 0.0)
        if count == 1:
            return turn
        there: Matrix = (1.0, 0.0, 0.0, 1.0, values[1], values[2])
        back: Matrix = (1.0, 0.0, 0.0, 1.0, -values[1], -values[2])
        return _times(_times(there, turn), back)
    if name in ("skewX", "skewY") and count == 1:
        lean = math.tan(math.radians(values[0]))
        return (1.0, 0.0, lean, 1.0, 0.0, 0.0) if name == "skewX" else (1.0, lean, 0.0, 1.0, 0.0, 0.0)
    raise Illegible(f"transform {name}({', '.join(map(str, values))[:40]}) cannot be followed")
