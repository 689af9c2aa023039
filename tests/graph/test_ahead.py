"""Work ahead of the graph: continuation, early start, lookahead; and what becomes of a lost bet."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from langgraph_interleave.errors import PlanError
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.limits import Limits
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan
from langgraph_interleave.types import (
    Capabilities,
    ImageRequest,
    PlanDelta,
    PlanFinished,
    Step,
    StepDelta,
    StyleDelta,
    StyleGuide,
)

ASK: Any = {"request": "things"}
Make = Callable[..., Any]


async def test_a_slow_step_does_not_hold_up_a_chain_beside_it() -> None:
    plan = simple_plan(5, sources=[[], [], [1], [2], [3]])
    backend = ScriptedBackend(delay_s=lambda asked: 0.6 if asked.prompt == "thing 0" else 0.02)
    graph = create_interleave_graph(ScriptedPlanner(plan), backend, ScriptedCritic(), lookahead=False)
    order = [step async for step in finishing(graph)]
    assert order == [1, 2, 3, 4, 0], "the whole chain is done, and told, before the slow step"


async def finishing(graph: Any) -> AsyncIterator[int]:
    async for part in graph.astream(ASK, stream_mode=["custom"], version="v2", subgraphs=True):
        data = part["data"]
        if data["type"] == "interleave.step" and data["phase"] == "finish":
            yield data["step"]


def recorder(log: list[str], name: Callable[[Any], str], delay_s: float = 0.02) -> Callable[[Any], float]:
    def delay(asked: Any) -> float:
        log.append(name(asked))
        return delay_s

    return delay


async def test_step_0_is_drawn_while_the_plan_is_written() -> None:
    log: list[str] = []
    backend = ScriptedBackend(delay_s=recorder(log, lambda asked: asked.prompt))
    graph = create_interleave_graph(Marking(log, simple_plan(3), pace_s=0.3), backend, ScriptedCritic())
    result = await graph.ainvoke(ASK)
    assert log == ["thing 0", "thing 1", "planned", "thing 2"], "and none of them twice"
    assert result["spend"]["wasted"] == 0, "what was drawn early for the plan as it came out is no waste"


class Marking(ScriptedPlanner):
    """Notes in a log when its plan is complete."""

    def __init__(self, log: list[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.log = log

    async def aplan(self, request: Any) -> AsyncIterator[PlanDelta]:
        async for delta in super().aplan(request):
            if isinstance(delta, PlanFinished):
                self.log.append("planned")
            yield delta


@pytest.mark.parametrize(("asked", "first"), [(None, "planned"), (True, "thing 0")])
async def test_nothing_is_drawn_early_for_a_billed_backend_unless_asked_for(asked: bool | None, first: str) -> None:
    log: list[str] = []
    backend = ScriptedBackend(
        delay_s=recorder(log, lambda request: request.prompt),
        capabilities=Capabilities(edit="instruct", max_references=4, billed=True),
    )
    planner = Marking(log, simple_plan(2), pace_s=0.2)
    graph = create_interleave_graph(planner, backend, ScriptedCritic(), lookahead=asked)
    result = await graph.ainvoke(ASK)
    assert result["outcome"] == "complete" and log[0] == first and sorted(log) == ["planned", "thing 0", "thing 1"]


async def test_lookahead_draws_the_next_step_while_this_one_is_judged() -> None:
    backend, critic = ScriptedBackend(delay_s=0.05), ScriptedCritic(delay_s=0.05)
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(4)), backend, critic, lookahead=True)
    began = time.perf_counter()
    result = await graph.ainvoke(ASK)
    ahead = time.perf_counter() - began
    assert result["outcome"] == "complete"
    assert len(backend.requests) == 4, "each bet was won, and nothing drawn twice"
    assert result["spend"]["wasted"] == 0
    again = create_interleave_graph(ScriptedPlanner(simple_plan(4)), backend, critic, lookahead=False)
    began = time.perf_counter()
    await again.ainvoke(ASK)
    assert ahead < time.perf_counter() - began


async def test_a_lost_bet_is_cancelled_and_nothing_of_it_is_kept() -> None:
    cancelled: list[str] = []

    async def draw(asked: ImageRequest) -> Any:
        if asked.prompt == "thing 1" and not cancelled:
            try:
                await asyncio.sleep(5)
            except asyncio.CancelledError:
                cancelled.append(asked.prompt)
                raise
        return await ScriptedBackend()._script.reply(asked)

    critic = ScriptedCritic(lambda asked: "revise" if asked.attempt == 0 else "accept", delay_s=0.05)
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(2)), ScriptedBackend(draw), critic)
    result = await asyncio.wait_for(graph.ainvoke(ASK), 4)
    assert cancelled == ["thing 1"] and result["outcome"] == "complete"
    first, second = result["document"]["steps"]
    assert first["kept"] == 1 and second["image"]


async def test_half_a_plan_is_never_a_document() -> None:
    class CutOff(ScriptedPlanner):
        async def aplan(self, request: Any) -> AsyncIterator[PlanDelta]:
            yield StyleDelta(StyleGuide())
            yield StepDelta(simple_plan(1).steps[0])
            await asyncio.sleep(0.1)
            raise PlanError("The plan was cut off.", truncated=True)

    backend = ScriptedBackend()
    graph = create_interleave_graph(CutOff(simple_plan(1)), backend, ScriptedCritic())
    result = await graph.ainvoke(ASK)
    assert len(backend.requests) == 1, "it was drawn early"
    assert result["outcome"] == "failed" and result["document"]["steps"] == []


async def test_a_step_that_comes_out_differently_is_drawn_anew() -> None:
    class Fickle(ScriptedPlanner):
        async def aplan(self, request: Any) -> AsyncIterator[PlanDelta]:
            plan = simple_plan(2)
            yield StyleDelta(plan.style_guide)
            yield StepDelta(Step(index=0, op="generate", instruction="Show thing 9.", prompt="thing 9"))
            yield StepDelta(plan.steps[1])
            await asyncio.sleep(0.1)
            yield PlanFinished(plan)

    backend = ScriptedBackend()
    graph = create_interleave_graph(Fickle(simple_plan(1)), backend, ScriptedCritic())
    result = await graph.ainvoke(ASK)
    assert result["outcome"] == "complete"
    assert {request.prompt for request in backend.requests} == {"thing 9", "thing 0", "thing 1"}
    assert [step["caption"] for step in result["document"]["steps"]] == ["Caption of step 0.", "Caption of step 1."]


@pytest.mark.parametrize("cap", [3, 4])
async def test_bets_use_only_what_certain_work_leaves(cap: int) -> None:
    critic = ScriptedCritic(lambda asked: "revise" if asked.attempt == 0 else "accept", delay_s=0.03)
    backend = ScriptedBackend(delay_s=0.03)
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(2)), backend, critic, limits=Limits(max_images=cap), lookahead=True
    )
    result = await graph.ainvoke(ASK)
    assert result["spend"]["images"] <= cap
    assert result["document"]["steps"][0]["outcome"] == "accepted"
