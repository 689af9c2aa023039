"""Whether a drawn circuit connects what it should, read from the SVG that travels with its picture."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from langgraph_interleave.checks.circuits.nets import TOLERANCE, Net, Pair, nets_of, pairs_of
from langgraph_interleave.checks.circuits.outlines import sheet_of
from langgraph_interleave.checks.circuits.parts import circuit_of
from langgraph_interleave.checks.circuits.tree import Illegible
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging.drawings import source_of
from langgraph_interleave.types import CheckResult, ImageBytes, Step

Nets = Sequence[Collection[str]]

_NAME = r"(?:[A-Z]{1,3}\d{1,3}[a-z]?|[ADP]?GND|V(?:CC|DD|SS|EE))"
_NAMES = rf"{_NAME}(?:(?:\s*,\s*{_NAME})*\s*,?\s+and\s+{_NAME})?"
#: Behind the last name no other connection begins, as in `connect R1 to C1 and R2 to C2`.
_END = r"(?!\w)(?!\s+(?:to|is|are|must|should|connects?|in\s+(?:series|parallel))\b)"
_TO = r"(?:directly\s+)?(?:to|with|across)(?:\s+the)?"
_HOW = r"(?P<how>(?:(?:is|are|be|must|should|may|can|do|does|not|never|isn't|aren't|directly)\s+)*)"
_DONE = r"(?:connects?|connected|wired|joined|tied|attached|in\s+series|in\s+parallel)"
_DO = r"(?P<how>(?:\bnot|\bnever|n't)\s+)?\b(?:[Cc]onnect|[Ww]ire|[Jj]oin|[Tt]ie|[Aa]ttach)"
#: `R1 is connected to C1`, `connect R1 to C1`, `R1 and C1 are connected`, `R1 in series with C1`.
_ASKED = (
    re.compile(rf"\b(?P<one>{_NAMES})\s+{_HOW}{_DONE}\s+{_TO}\s+(?P<other>{_NAMES}){_END}"),
    re.compile(rf"{_DO}\s+(?P<one>{_NAMES})\s+{_TO}\s+(?P<other>{_NAMES}){_END}"),
    re.compile(rf"\b(?P<one>{_NAME})\s+and\s+(?P<other>{_NAME})\s+{_HOW}{_DONE}\b(?!\s+(?:to|with|across)\b)"),
    re.compile(rf"{_DO}\s+(?P<one>{_NAME})\s+and\s+(?P<other>{_NAME})(?!\w)(?!\s+(?:to|with|across)\b)"),
)
_NEVER = re.compile(r"\bnot\b|\bnever\b|n't\b")
_EACH = re.compile(_NAME)


@dataclass(frozen=True, slots=True)
class Asked:
    """Connections an instruction speaks of: those that must be there, and those that must not."""

    wanted: tuple[Pair, ...] = ()
    unwanted: tuple[Pair, ...] = ()


class Netlist:
    """A check: fails on a circuit whose parts are not connected as they should be.

    What is looked at is no picture but the drawing it was rendered from, which the backend `svg` leaves
    in it: named parts, and the lines whose ends meet them or one another (`circuits`). Asked for is
    what the instruction says of parts by their designators (`R1 is connected to C1`, `R2 in series with
    R3`, `GND and C1 must not be connected`); or, exactly, a netlist: then what is missing and what is too
    much both count. Not applicable to pictures without a drawing, to steps that ask for no
    connection, and where the drawing cannot be followed (a name that belongs to no shape). It does not
    know polarity, pins, or kinds of parts; a part without a name is taken for wire where it is drawn
    with open lines. Deterministic.

    Args:
        expected: Nets, each the names of parts that meet in one node; `[("V1", "R1"), ("R1", "C1"),
            ("C1", "V1")]` is a loop. Two parts side by side meet in two nets. For a sequence, by the index
            of the step, from 0; other steps are held against their instruction.
        tolerance: How far ends of lines may miss, as a share of the drawing's longer side.

    Raises:
        ConfigError: A net has no two parts, or the tolerance is out of range.

    Example:
        >>> from langgraph_interleave.testing import noise_card
        >>> step = Step(index=0, op="generate", instruction="R1 is connected to C1.", prompt="a circuit")
        >>> Netlist().check(step, None, noise_card("a circuit"), ()).passed is None
        True
    """

    name = "netlist"

    def __init__(self, expected: Nets | Mapping[int, Nets] | None = None, *, tolerance: float = TOLERANCE) -> None:
        if not 0 < tolerance <= 0.1:
            raise ConfigError(f"tolerance={tolerance!r} of the check netlist is out of range.", remedy="Give 0 to 0.1.")
        self.tolerance = tolerance
        every = isinstance(expected, Mapping)
        self._by_step: dict[int, Nets] = {index: _sound(nets) for index, nets in expected.items()} if every else {}
        self._always = None if expected is None or every else _sound(expected)

    def check(
        self, step: Step, before: ImageBytes | None, after: ImageBytes, references: Sequence[ImageBytes]
    ) -> CheckResult:
        """Read the drawing in `after` and hold its netlist against what is asked."""
        expected = self._by_step.get(step.index, self._always)
        asked = asked_for(step.instruction or "") if expected is None else Asked()
        if expected is None and asked == Asked():
            return CheckResult(name=self.name, passed=None)
        svg = source_of(after.data)
        if svg is None:
            return CheckResult(name=self.name, passed=None, reason="The picture holds no drawing.")
        try:
            nets = netlist_of(svg, _names(expected or ()), tolerance=self.tolerance)
        except Illegible as error:
            return CheckResult(name=self.name, passed=None, reason=f"The circuit could not be read: {error.reason}.")
        found = pairs_of(nets)
        if expected is not None:
            wanted = pairs_of(expected)
            missing, extra = list((wanted - found).elements()), list((found - wanted).elements())
        else:
            missing = [pair for pair in asked.wanted if not found[pair]]
            extra = [pair for pair in asked.unwanted if found[pair]]
        if not missing and not extra:
            return CheckResult(name=self.name, passed=True)
        wrong = [f"{_told(missing)} should be connected and are not"] if missing else []
        wrong += [f"{_told(extra)} should not be connected and are"] if extra else []
        there = "; ".join(", ".join(sorted(net)) for net in nets) or "no parts at all"
        reason = f"the circuit is wired wrongly: {'; '.join(wrong)}. What the drawing joins: {there}"
        return CheckResult(name=self.name, passed=False, reason=reason)


def netlist_of(svg: str, names: Iterable[str] = (), *, tolerance: float = TOLERANCE) -> tuple[Net, ...]:
    """The netlist of a drawn circuit: sets of parts that meet in one node.

    Args:
        svg: The drawing; it may come from anybody.
        names: Names of parts beside designators such as `R1` and supplies such as `GND`.
        tolerance: How far ends of lines may miss, as a share of the drawing's longer side.

    Raises:
        Illegible: It cannot be followed, or names something that belongs to no shape.

    Example:
        >>> drawing = '''<svg viewBox="0 0 100 40" stroke="black" fill="none">
        ...   <rect id="r1" x="10" y="15" width="30" height="10"/>
        ...   <rect id="r2" x="60" y="15" width="30" height="10"/>
        ...   <path id="wire" d="M40 20H60"/></svg>'''
        >>> [sorted(net) for net in netlist_of(drawing)]
        [['R1', 'R2']]
    """
    circuit = circuit_of(sheet_of(svg), names)
    if circuit.unread:
        raise Illegible(f"nothing tells which shape is {', '.join(circuit.unread)}")
    return nets_of(circuit, tolerance)


def asked_for(instruction: str) -> Asked:
    """The connections an instruction speaks of.

    Example:
        >>> asked_for("R1 is connected to C1 and C2; L1 must not be wired to GND.")
        Asked(wanted=(('C1', 'R1'), ('C2', 'R1')), unwanted=(('GND', 'L1'),))
    """
    wanted: dict[Pair, None] = {}
    unwanted: dict[Pair, None] = {}
    for pattern in _ASKED:
        for match in pattern.finditer(instruction):
            into = unwanted if _NEVER.search(match["how"] or "") else wanted
            into.update(dict.fromkeys(_pairs(match["one"], match["other"])))
    return Asked(tuple(wanted), tuple(unwanted))


def _pairs(ones: str, others: str) -> Iterator[Pair]:
    for one in _EACH.findall(ones):
        for other in _EACH.findall(others):
            if one != other:
                yield (one, other) if one < other else (other, one)


def _sound(nets: Nets) -> Nets:
    kept = [tuple(net) for net in nets]
    for net in kept:
        if len(set(net)) < 2 or not all(name.strip() for name in net):
            raise ConfigError(f"The net {net!r} joins no two parts.", remedy="Give the names of the parts that meet.")
    return kept


def _names(nets: Nets) -> set[str]:
    return {name for net in nets for name in net}


def _told(pairs: Sequence[Pair]) -> str:
    return ", ".join(f"{one} and {other}" for one, other in dict.fromkeys(pairs))
