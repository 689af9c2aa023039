"""Random runs among random faults: a few of them, and what is demanded of their counts, worked out by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from langgraph_interleave.testing import DRAWING, Tally

Load = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def faulty_run(load: Load) -> ModuleType:
    return load("faulty_run")


def tally(*known: Any, worked: int, images: int = 0, kinds: tuple[str, ...] = ()) -> Tally:
    """Askings that ended so; `None` for one whose caller cannot know."""
    made = Tally()
    for nth, one in enumerate(known):
        made.begin(DRAWING[kinds[nth]] if nth < len(kinds) else None)
        if one is not None:
            made.end(one)
    for _ in range(worked):
        made.work()
    made.images = images
    return made


@pytest.mark.parametrize(
    ("known", "worked", "counted", "ambiguous", "billed", "fine"),
    [
        (["answered"] * 2, 2, 2, 0, True, True),
        (["answered"] * 2, 2, 1, 0, True, False),  # one was done and is not counted
        (["answered"] * 2, 2, 3, 0, True, False),  # one was not done and is
        (["answered", "refused"], 1, 1, 0, True, True),
        (["answered", "refused"], 1, 2, 0, True, False),  # what was refused costs nothing
        (["answered", None], 2, 2, 1, True, True),
        (["answered", None], 1, 2, 1, True, True),  # it may have been done, and is marked so
        (["answered", None], 1, 2, 0, True, False),  # it is not marked
        (["answered", None], 2, 1, 0, True, False),  # it was done
        (["answered", None], 2, 1, 0, False, True),  # cancelled, and costs nothing
        ([], 0, 1, 1, True, True),  # given up before it arrived
        ([], 0, 1, 0, True, False),
        (["blocked"], 0, 1, 0, True, True),
        (["blocked"], 1, 0, 0, True, False),  # drawn, and blocked then
    ],
)
def test_what_is_counted_is_what_was_done_or_may_have_been(
    faulty_run: ModuleType, known: list[Any], worked: int, counted: int, ambiguous: int, billed: bool, fine: bool
) -> None:
    wrong = faulty_run.balance(tally(*known, worked=worked), counted, ambiguous, billed=billed)
    assert (wrong == []) is fine, wrong


def test_pictures_are_counted_as_drawn(faulty_run: ModuleType) -> None:
    two = tally("answered", "answered", worked=2, images=2)
    assert faulty_run.pictures(two, 2, 0, billed=True) == []
    assert faulty_run.pictures(two, 1, 0, billed=True) and faulty_run.pictures(two, 3, 0, billed=True)
    assert faulty_run.pictures(two, 3, 1, billed=True) == []


def measured(load: Load, runs: int, first: int) -> dict[str, Any]:
    return asyncio.run(load("faults").measure(runs, 7, first=first, at_once=5, wait_idle=False))


def check(figures: dict[str, Any]) -> None:
    assert figures["passed"], (figures["wrong"], figures["left"], figures["again"])
    assert sum(figures["ends"].values()) == figures["runs"] and figures["faults"]


def test_five_random_runs(load: Load) -> None:
    check(measured(load, 5, 30))


@pytest.mark.slow
def test_forty_random_runs(load: Load) -> None:
    check(measured(load, 40, 100))
