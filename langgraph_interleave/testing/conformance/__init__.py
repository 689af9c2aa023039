"""The conformance suite of image backends: what third parties, and we, hold a backend against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_interleave.testing.conformance.item import Item
from langgraph_interleave.testing.conformance.report import STATUSES, Finding, Report, Status
from langgraph_interleave.testing.conformance.subject import Options, Subject
from langgraph_interleave.testing.conformance.suite import ITEMS, acheck_backend, check_backend, most_calls

if TYPE_CHECKING:
    from langgraph_interleave.testing.conformance.standard import BackendConformance

__all__ = [
    "BackendConformance",
    "Finding",
    "ITEMS",
    "Item",
    "Options",
    "Report",
    "STATUSES",
    "Status",
    "Subject",
    "acheck_backend",
    "check_backend",
    "most_calls",
]


def __getattr__(name: str) -> Any:
    if name == "BackendConformance":
        # It needs pytest, which a program that only checks a backend has not.
        from langgraph_interleave.testing.conformance.standard import BackendConformance

        return BackendConformance
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
