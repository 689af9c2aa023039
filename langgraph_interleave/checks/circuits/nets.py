"""Which parts of a drawn circuit are connected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import combinations, pairwise

from langgraph_interleave.checks.circuits.geometry import Box, box_of, distance, inside, within, without
from langgraph_interleave.checks.circuits.parts import Circuit, is_supply
from langgraph_interleave.checks.circuits.paths import Line, Point
from langgraph_interleave.checks.circuits.tree import Illegible

#: Names of the parts that meet in one node.
Net = frozenset[str]
Pair = tuple[str, str]
_MOST_LINES, _MOST_PIECES = 1_200, 10_000
#: Ends this close meet, in shares of the drawing's longer side.
TOLERANCE = 0.006


def nets_of(circuit: Circuit, tolerance: float = TOLERANCE) -> tuple[Net, ...]:
    """The nets of a circuit, sorted; a part that meets another in two nodes is in two of them.

    Lines are joined where the end of one lies on the other, and where they cross in a dot; that they
    merely cross joins nothing. A wire is part of a node with whatever part it ends on.

    Args:
        circuit: Parts and wires.
        tolerance: How far ends may miss, as a share of the longer side.

    Raises:
        Illegible: It has too many lines.
    """
    near = tolerance * circuit.side
    every = [*circuit.wires, *(line for lines in circuit.parts.values() for line in lines)]
    if len(every) > _MOST_LINES or sum(len(line.points) for line in every) > _MOST_PIECES:
        raise Illegible("the drawing has too many lines")
    bodies = [line for lines in circuit.parts.values() for line in lines if line.closed]
    wires = [piece for wire in circuit.wires for piece in without(wire, bodies, near)]
    # A part's own loose ends are its terminals: what lies on them is joined, with a wire or without.
    ends = [end for lines in circuit.parts.values() for line in lines for end in _ends(line)]
    wires += [Line((end,)) for end in dict.fromkeys(ends)]
    boxes = [box_of([wire]) for wire in wires]
    joined = _Joined(len(wires))
    for one, wire in enumerate(wires):
        for end in _ends(wire):
            for other, onto in enumerate(wires):
                if one != other and within(end, boxes[other], near) and distance(end, onto) <= near:
                    joined.join(one, other)
    for dot in circuit.dots:
        met = [number for number, wire in enumerate(wires) if distance(dot, wire) <= near]
        for one, other in pairwise(met):
            joined.join(one, other)
    outlines = {name: [(line, box_of([line])) for line in lines] for name, lines in circuit.parts.items()}
    touched = [
        {name for name, lines in outlines.items() if any(_on(end, lines, near) for end in _ends(wire))}
        for wire in wires
    ]
    for supply in filter(is_supply, circuit.parts):
        met = [number for number, names in enumerate(touched) if supply in names]
        for one, other in pairwise(met):
            joined.join(one, other)
    nets: dict[int, set[str]] = {}
    for number, names in enumerate(touched):
        nets.setdefault(joined.root(number), set()).update(names)
    return tuple(sorted((frozenset(net) for net in nets.values() if len(net) > 1), key=sorted))


def pairs_of(nets: Iterable[Collection[str]]) -> Counter[Pair]:
    """How often two parts are connected: in how many nodes they meet.

    Example:
        >>> sorted(pairs_of([{"V1", "R1"}, {"R1", "V1"}, {"R1", "C1"}]).items())
        [(('C1', 'R1'), 1), (('R1', 'V1'), 2)]
    """
    return Counter(pair for net in nets for pair in combinations(sorted(set(net)), 2))


def _ends(line: Line) -> tuple[Point, ...]:
    return () if line.closed else tuple(dict.fromkeys((line.points[0], line.points[-1])))


def _on(end: Point, lines: Iterable[tuple[Line, Box]], near: float) -> bool:
    return any(within(end, box, near) and (distance(end, line) <= near or inside(end, line)) for line, box in lines)


class _Joined:
    """Numbers in groups that grow together."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def root(self, number: int) -> int:
        while self._above[number] != number:
            self._above[number] = self._above[self._above[number]]
            number = self._above[number]
        return number

    def join(self, one: int, other: int) -> None:
        self._above[self.root(one)] = self.root(other)
