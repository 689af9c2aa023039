"""Calls that may have been made twice: whoever listens to a run is told, once for each step."""

from __future__ import annotations

from collections.abc import Iterable

from langgraph_interleave.emitter import Emitter
from langgraph_interleave.ledger import CallRecord


def tell_ambiguous(emitter: Emitter, records: Iterable[CallRecord]) -> None:
    """Warn of calls that somebody began and whose end nobody knows.

    Args:
        emitter: Tells the run's events; the same words about the same step are said once.
        records: The calls, as they were when they were found.
    """
    for record in records:
        whose = f"A {record.role} call" if record.step is None else "A call of this step"
        emitter.warning(
            "ambiguous",
            f"{whose} was begun before by a process that is gone; it may have been made, and billed, twice.",
            record.step,
        )
