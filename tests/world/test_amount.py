"""Long texts: as much is read as rules can read quickly, and it is said that the rest was not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langgraph_interleave.planner import Existing, PlanRequest
from langgraph_interleave.types import PlanFinished, Request, TextPart
from langgraph_interleave.world.planner import ScenePlanner
from langgraph_interleave.world.planning.amount import MOST_CHARACTERS, read_text

#: Long enough to have taken minutes once.
LONG = 200_000


def asked(text: str) -> Request:
    return Request(parts=(TextPart(text=text),))


def planned(request: PlanRequest) -> PlanFinished:
    async def plan() -> Any:
        return [delta async for delta in ScenePlanner().aplan(request)][-1]

    return asyncio.run(plan())


@pytest.mark.parametrize("said", ["x", "the first xx ", "a cat, a dog. "])
def test_a_text_without_an_end_is_read_in_part_and_that_is_said(said: str) -> None:
    finished = planned(PlanRequest(request=asked(said * (LONG // len(said)))))
    assert [w.message for w in finished.warnings if w.message.startswith("Only the first ")]


def test_so_is_a_change() -> None:
    plan = planned(PlanRequest(request=asked("How to plant a bean, in 3 steps"))).plan
    change = asked("make step 2 night-time. " + "and so on " * (LONG // 10))
    finished = planned(PlanRequest(request=change, existing=Existing(plan, change)))
    assert [w.message for w in finished.warnings if w.message.startswith("Only the first ")]
    assert finished.plan.steps[1] != plan.steps[1]


def test_what_can_be_read_is_read_whole() -> None:
    text = "a bean " * (MOST_CHARACTERS // 7)
    assert read_text(text) == (text, None)
    assert len(read_text(text * 2)[0]) <= MOST_CHARACTERS
