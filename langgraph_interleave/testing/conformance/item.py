"""One item of the conformance suite."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from langgraph_interleave.testing.conformance.subject import Subject
from langgraph_interleave.types import Capabilities


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is asked of a backend.

    Attributes:
        name: What it is called in reports.
        asks: What it asks, in a sentence.
        run: Tries it; returns what was seen, or raises `Failed`, `NotApplicable` or `NotProvable`.
        calls: Calls it takes at most, by what the backend says it can do.
        remedy: What the author of a backend that fails it can do, with the line to write.
    """

    name: str
    asks: str
    run: Callable[[Subject], Awaitable[str]]
    calls: Callable[[Capabilities], int]
    remedy: str


def exactly(number: int) -> Callable[[Capabilities], int]:
    """Always so many calls."""
    return lambda capabilities: number


def with_references(number: int, *, least: int = 1) -> Callable[[Capabilities], int]:
    """So many calls, where it takes at least `least` references."""
    return lambda capabilities: number if capabilities.max_references >= least else 0
