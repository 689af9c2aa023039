"""No check may fail a picture that is right: every edit of the built-in book of procedures, drawn twice."""

from __future__ import annotations

from itertools import pairwise

import pytest

from langgraph_interleave.checks import NotBlank, PaletteDrift, Unchanged
from langgraph_interleave.checks.unchanged import largest_difference
from langgraph_interleave.types import Step
from langgraph_interleave.world.procedures.book import book
from langgraph_interleave.world.render import render

EDIT = Step(index=1, op="edit", instruction="Go on.", prompt="go on", sources=("step:0",))


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_no_right_edit_fails_a_check(every: int) -> None:
    checks = (NotBlank(), Unchanged(), PaletteDrift())
    edits, least = 0, 255
    for side, seed in ((128, 3), (192, 400)):
        for entry in tuple(book())[::every]:
            drawn = [render(step.scene, width=side, height=side, seed=seed + n) for n, step in enumerate(entry.usual)]
            for before, after in pairwise(drawn):
                edits += 1
                least = min(least, largest_difference(before, after))
                failed = [
                    found for check in checks if (found := check.check(EDIT, before, after, (before,))).passed is False
                ]
                assert not failed, (entry, failed)
    assert edits >= 200 // every
    assert least >= 60, "well above what still is no change"
