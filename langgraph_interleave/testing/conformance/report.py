"""What the conformance suite found out about a backend, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from dataclasses import fields as dataclass_fields
from typing import Any, Literal

from langgraph_interleave.errors import InterleaveError

Status = Literal["passed", "failed", "not applicable", "not provable"]
STATUSES: tuple[Status, ...] = ("passed", "failed", "not applicable", "not provable")


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one item.

    Attributes:
        item: Name of the item.
        asks: What it asks of a backend.
        status: `not applicable` where the backend says it does not do such a thing, `not provable`
            where nobody can tell from outside; neither counts against it.
        says: What was seen, in a sentence.
        calls: Calls it took; what another item had drawn already is not drawn again.
        seconds: How long it took.
        remedy: What the backend's author can do about a failure; empty for what did not fail.
    """

    item: str
    asks: str
    status: Status
    says: str
    calls: int = 0
    seconds: float = 0.0
    remedy: str = ""

    @property
    def text(self) -> str:
        """What was seen and what to do, on one line."""
        more = "" if self.remedy in self.says else self.remedy
        return " ".join(f"{self.says} {more}".split())


@dataclass(frozen=True, slots=True)
class Report:
    """All findings about one backend. `str(report)` is the report people read.

    Attributes:
        cost_usd: What the calls cost; `None` when nobody knows.
        capabilities: What the backend says it can do.
        problem: Why nothing could be drawn at all, where that is no finding about the backend: a key, a model
            or a server is missing. The findings end there.

    Example:
        >>> report = Report("mine", "mine/1", (Finding("draws", "Draws.", "passed", "It drew."),), {})
        >>> report.ok, report.count("passed")
        (True, 1)
        >>> print(report)
        mine (mine/1)
          passed          draws    It drew.
        1 passed, 0 failed, 0 not applicable, 0 not provable · 0 calls, 0 pictures · 0.0 s · cost unknown
    """

    backend: str
    fingerprint: str
    findings: tuple[Finding, ...]
    capabilities: Mapping[str, Any]
    calls: int = 0
    images: int = 0
    seconds: float = 0.0
    cost_usd: float | None = None
    problem: InterleaveError | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that count against the backend."""
        return tuple(finding for finding in self.findings if finding.status == "failed")

    def count(self, status: Status) -> int:
        """How many items ended in this way."""
        return Counter(finding.status for finding in self.findings)[status]

    def __getitem__(self, item: str) -> Finding:
        """The finding of an item, by its name."""
        return next(finding for finding in self.findings if finding.item == item)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON types, with `ok` beside the fields."""
        fields = {one.name: getattr(self, one.name) for one in dataclass_fields(self) if one.name != "problem"}
        told = {"v": 1, "ok": self.ok, **fields, "findings": [asdict(finding) for finding in self.findings]}
        if self.problem is not None:
            error = self.problem
            told["problem"] = {"error": type(error).__name__, "message": error.message, "remedy": error.remedy}
        return told

    def __str__(self) -> str:
        width = max((len(finding.item) for finding in self.findings), default=0) + 4
        lines = [f"{self.backend} ({self.fingerprint})"]
        lines += [line(finding, width) for finding in self.findings]
        return "\n".join([*lines, self.summary()])

    def summary(self) -> str:
        """The last line: how many items ended how, and what that took."""
        counts = ", ".join(f"{self.count(status)} {status}" for status in STATUSES)
        cost = "cost unknown" if self.cost_usd is None else f"${self.cost_usd:.2f}" if self.cost_usd else "no cost"
        return f"{counts} · {self.calls} calls, {self.images} pictures · {self.seconds:.1f} s · {cost}"


def line(finding: Finding, width: int) -> str:
    """One finding on one line.

    Args:
        finding: The finding.
        width: Characters given to the item's name.
    """
    return f"  {finding.status:<15} {finding.item:<{width}} {finding.text}"
