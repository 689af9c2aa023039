"""A refused key and an empty account end a role's work: nothing more is sent, nothing is drawn that nobody judges."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from langgraph_interleave import create_interleave_graph
from langgraph_interleave.errors import ConfigError, QuotaExhausted, Unavailable
from langgraph_interleave.planners.chat import ChatPlanner
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan


def outcomes(result: dict[str, Any]) -> list[str]:
    return [step["outcome"] for step in result["document"]["steps"]]


@pytest.mark.parametrize("lookahead", [True, False])
@pytest.mark.parametrize("error", [QuotaExhausted("No credit left."), ConfigError("The key was refused.")])
async def test_a_backend_that_can_draw_no_more_is_not_asked_again(error: Exception, lookahead: bool) -> None:
    backend = ScriptedBackend(lambda request: error if "thing 1" in request.prompt else noise_card(request.prompt))
    critic = ScriptedCritic()
    plan = simple_plan(5, sources=[[], [], [0], [0], [0]])
    graph = create_interleave_graph(ScriptedPlanner(plan), backend, critic, lookahead=lookahead, checks=())
    result = await graph.ainvoke({"request": "x"})
    assert outcomes(result)[:2] == ["accepted", "backend_failed"], "what was drawn is judged all the same"
    assert result["document"]["steps"][4]["mark"].endswith(str(error).split(".")[0] + ".")
    drawn = [request.prompt for request in backend.requests]
    assert len(drawn) == len(set(drawn)) <= (5 if lookahead else 2)


@pytest.mark.parametrize("error", [QuotaExhausted("No credit left."), ConfigError("There is no such model.")])
async def test_nothing_is_drawn_that_nobody_can_judge(error: Exception) -> None:
    backend, critic = ScriptedBackend(), ScriptedCritic(lambda _: error)
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(4)), backend, critic, lookahead=False, checks=())
    told: list[dict[str, Any]] = []
    async for part in graph.astream({"request": "x"}, stream_mode="custom", version="v2"):
        data: Any = part["data"]
        told.append(data)
    assert len(backend.requests) == len(critic.requests) == 1
    steps = [event for event in told if event["type"] == "interleave.step" and event["phase"] == "finish"]
    assert [step["outcome"] for step in steps] == ["critic_failed", "backend_failed", "skipped", "skipped"]
    assert [event["message"] for event in told if event.get("code") == "critic_failed"] == [str(error)]


@pytest.mark.parametrize("candidates", [1, 2])
async def test_an_attempt_that_was_never_sent_is_told_from_its_beginning(complaints: Any, candidates: int) -> None:
    critic = ScriptedCritic(lambda _: QuotaExhausted("No credit left."))
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(2)), ScriptedBackend(), critic, lookahead=False, candidates=candidates, checks=()
    )
    told = [event async for event in graph.astream({"request": "x"}, stream_mode="custom")]
    assert complaints(told) == []
    begun = [(event["step"], event["phase"]) for event in told if event["type"] == "interleave.attempt"]
    assert begun == [(step, phase) for step in range(2) for phase in ("start", "finish")]


async def test_other_errors_end_one_step_only() -> None:
    backend = ScriptedBackend(lambda r: Unavailable("down") if "thing 0" in r.prompt else noise_card(r.prompt))
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(3, sources=[[], [], []])), backend, ScriptedCritic(), checks=()
    )
    assert outcomes(await graph.ainvoke({"request": "x"})) == ["backend_failed", "accepted", "accepted"]


def test_a_chat_model_is_taken_as_it_is() -> None:
    graph = create_interleave_graph(FakeListChatModel(responses=["Sure!"]), ScriptedBackend(), ScriptedCritic())
    result = graph.invoke({"request": "x"})
    assert result["document"]["problem"]["error"] == "PlanError"
    assert isinstance(ChatPlanner(FakeListChatModel(responses=[])), ChatPlanner)
