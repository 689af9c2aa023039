"""What in a drawing is a part of a circuit, what is a wire: by ids, by labels, by shape."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from langgraph_interleave.checks.circuits.geometry import box_of, distance, inside
from langgraph_interleave.checks.circuits.outlines import Drawn, Sheet
from langgraph_interleave.checks.circuits.paths import Line, Point

#: R1, C12, IC3, Q2a; and the names of supplies, which are one node wherever they stand.
_DESIGNATOR = re.compile(r"([A-Za-z]{1,3})\d{1,3}[a-z]?")
#: Letters of designators in ids: others with a number count pins, groups, wires (`pin1`, `g1`, `w1`).
_LETTERS = frozenset(
    {"a", "am", "b", "bat", "bt", "c", "d", "dz", "e", "f", "fu", "h", "i", "ic", "is", "j", "k", "l", "la", "ldr",
     "led", "lp", "ls", "m", "ntc", "op", "p", "pot", "ptc", "q", "r", "rl", "rv", "s", "sw", "t", "th", "tr", "u", "v",
     "vm", "vr", "vs", "x", "y", "z", "zd"}
)  # fmt: skip
_SUPPLY = re.compile(r"(?:[ADP]?GND|GROUND|V(?:CC|DD|SS|EE)|[+\-−]\d+(?:[.,]\d+)?\s?V)", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]+")
_WIRES = frozenset(
    {"bus", "conductor", "conductors", "connection", "connections", "dot", "dots", "junction", "junctions", "net",
     "nets", "node", "nodes", "trace", "traces", "wire", "wires", "wiring"}
)  # fmt: skip
_REMARKS = frozenset(
    {"annotation", "annotations", "arrow", "arrows", "background", "bg", "border", "caption", "current", "frame",
     "grid", "label", "labels", "legend", "note", "notes", "text", "texts", "title", "value", "values"}
)  # fmt: skip

#: In shares of the drawing's longer side: the largest dot; how far a label may stand from its shape; the largest
#: part known by its label alone; the smallest closed line that may be a loop of wire.
_DOT, _NEAR, _LARGEST, _LOOP = 0.03, 0.08, 0.5, 0.25


@dataclass(slots=True)
class Circuit:
    """A circuit as it is drawn.

    Attributes:
        parts: The outlines of each part, by its name.
        wires: Lines between parts.
        dots: Where lines that cross are joined.
        unread: Labels of which nothing tells what they belong to.
        side: The length of the drawing's longer side.
    """

    side: float
    parts: dict[str, list[Line]] = field(default_factory=dict[str, list[Line]])
    wires: list[Line] = field(default_factory=list[Line])
    dots: list[Point] = field(default_factory=list[Point])
    unread: tuple[str, ...] = ()


def circuit_of(sheet: Sheet, names: Iterable[str] = ()) -> Circuit:
    """Tell parts from wires.

    A part is a group (or a shape) whose id has its name, as `resistor-r1`; else the smallest group with
    one name written in it; else, among what is in no such group, the closed shape nearest to a
    name. Everything else with a stroke that is open, or a large loop, is a wire.

    Args:
        sheet: What is drawn.
        names: Names of parts beside designators such as `R1` and supplies such as `GND`.
    """
    return _Sorting(sheet, names).done()


def is_supply(name: str) -> bool:
    """Whether a name is that of a supply or of ground.

    Example:
        >>> is_supply("GND"), is_supply("+5V"), is_supply("V1")
        (True, True, False)
    """
    return _SUPPLY.fullmatch(name) is not None


class _Sorting:
    def __init__(self, sheet: Sheet, names: Iterable[str]) -> None:
        self._sheet = sheet
        self._names = {" ".join(_TOKEN.findall(name.casefold())): name for name in names}
        self._circuit = Circuit(sheet.side)
        self._loose: list[Drawn] = []
        self._words: list[Drawn] = []

    def done(self) -> Circuit:
        for one in self._sheet.root.inside:
            self._place(one)
        self._label_loose()
        for one in self._loose:
            self._wire(one)
        return self._circuit

    # --- names ----------------------------------------------------------------------------------

    def _by_id(self, one: Drawn) -> str | None:
        tokens = [token.casefold() for token in _TOKEN.findall(one.id)]
        if _WIRES & set(tokens) or _REMARKS & set(tokens):
            return None
        if (given := self._names.get(" ".join(tokens))) is not None:
            return given
        found = {name for token in tokens if (name := self._known(token, in_id=True)) is not None}
        return found.pop() if len(found) == 1 else None

    def _known(self, word: str, *, in_id: bool = False) -> str | None:
        if (given := self._names.get(word.casefold())) is not None:
            return given
        if (supply := _supply(word)) is not None:
            return supply
        found = _DESIGNATOR.fullmatch(word)
        if found is None or (in_id and found[1].casefold() not in _LETTERS):
            return None
        return word[:-1].upper() + word[-1]

    def _by_words(self, one: Drawn) -> str | None:
        words = one.words.strip()
        if (given := self._names.get(" ".join(_TOKEN.findall(words.casefold())))) is not None:
            return given
        if (supply := _supply(words)) is not None:
            return supply
        first = re.split(r"[\s,:=(]", words, maxsplit=1)[0]
        # Labels are written as such; `r1` in small letters is a sentence's.
        return self._known(first) if first[:1].isupper() or first.casefold() in self._names else None

    # --- groups ---------------------------------------------------------------------------------

    def _place(self, one: Drawn) -> None:
        tokens = {token.casefold() for token in _TOKEN.findall(one.id)}
        if one.kind == "words":
            self._words.append(one)
        elif tokens & _WIRES:
            self._loose += one.shapes
        elif tokens & _REMARKS:
            self._words += [each for each in one.every() if each.kind == "words"]
        elif (name := self._name(one)) is not None:
            lines = self._circuit.parts.setdefault(name, [])
            lines += [line for shape in one.shapes if shape.stroked or shape.filled for line in shape.lines]
        elif one.kind == "shape":
            self._loose.append(one)
        else:
            for each in one.inside:
                self._place(each)

    def _name(self, one: Drawn) -> str | None:
        """The name of the one part this is; `None` for what is none, or holds several."""
        if not one.shapes:
            return None
        own = self._by_id(one)
        below = [each for each in one.every() if each is not one]
        by_id = {name for each in below if each.kind != "words" and (name := self._by_id(each)) is not None}
        written = {name for each in below if each.kind == "words" and (name := self._by_words(each)) is not None}
        if own is not None:
            return own if by_id <= {own} or written == {own} else None
        if by_id:
            return None
        if len(written) != 1 or any(each.kind == "group" and self._name(each) for each in one.inside):
            return None
        left, top, right, bottom = box_of(line for shape in one.shapes for line in shape.lines)
        return written.pop() if max(right - left, bottom - top) <= _LARGEST * self._sheet.side else None

    # --- what is in no group of its own -----------------------------------------------------------

    def _label_loose(self) -> None:
        named = [(name, one) for one in self._words if (name := self._by_words(one)) is not None]
        named = [(name, one) for name, one in named if name not in self._circuit.parts]
        bodies = [one for one in self._loose if self._is_body(one)]
        pairs = sorted(
            ((_apart(words.at, body), number, place) for number, (_, words) in enumerate(named)
             for place, body in enumerate(bodies)),
        )  # fmt: skip
        labels: set[int] = set()
        taken: set[int] = set()
        for apart, number, place in pairs:
            if apart <= _NEAR * self._sheet.side and number not in labels and place not in taken:
                labels.add(number)
                taken.add(place)
                self._circuit.parts.setdefault(named[number][0], []).extend(bodies[place].lines)
        claimed = {id(bodies[place]) for place in taken}
        self._loose = [one for one in self._loose if id(one) not in claimed]
        unread = (name for number, (name, _) in enumerate(named) if number not in labels and not is_supply(name))
        self._circuit.unread = tuple(dict.fromkeys(unread))

    def _is_body(self, one: Drawn) -> bool:
        size = _size(one.lines)
        closed = any(line.closed for line in one.lines)
        return closed and one.stroked and _DOT * self._sheet.side < size <= _LARGEST * self._sheet.side

    def _wire(self, one: Drawn) -> None:
        side = self._sheet.side
        for line in one.lines:
            if line.closed and _size([line]) <= _DOT * side:
                left, top, right, bottom = box_of([line])
                self._circuit.dots.append(((left + right) / 2, (top + bottom) / 2))
            elif one.stroked and (not line.closed or _size([line]) > _LOOP * side):
                self._circuit.wires.append(line)


def _supply(words: str) -> str | None:
    """A supply by its name; the second symbol of one is called `gnd2` by its id, and is the same node."""
    name = words.rstrip("0123456789") or words
    return name.upper().replace(" ", "") if _SUPPLY.fullmatch(name) else None


def _size(lines: Sequence[Line]) -> float:
    left, top, right, bottom = box_of(lines)
    return max(right - left, bottom - top)


def _apart(at: Point, body: Drawn) -> float:
    return min(0.0 if inside(at, line) else distance(at, line) for line in body.lines if line.closed)
