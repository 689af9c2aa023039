"""Planners, backends, critics and checks that do what their contracts forbid: the document is composed all the same."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.errors import Cancelled, InternalError
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.limits import Limits
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import (
    CheckResult,
    ImageBytes,
    ImageResult,
    Plan,
    PlanDelta,
    PlanFinished,
    Step,
    StepRecord,
)

ASK: Any = {"request": "two things"}
Make = Callable[..., Any]
#: Two steps that have nothing to do with each other.
APART = simple_plan(2, sources=[[], []])


def outcomes(result: dict[str, Any]) -> list[str]:
    return [step["outcome"] for step in result["document"]["steps"]]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


HUGE = (
    b"\x89PNG\r\n\x1a\n"
    + chunk(b"IHDR", struct.pack(">IIBBBBB", 60000, 60000, 8, 0, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
    + chunk(b"IEND", b"")
)


def picture(data: Any) -> ImageBytes:
    return ImageBytes(data, "image/png", 16, 16)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (lambda: None, "returned a NoneType"),
        (lambda: b"bytes", "returned a bytes"),
        (lambda: ImageResult(images=()), "returned no picture and no error"),
        (lambda: ImageResult(images=None), "returned no picture and no error"),  # type: ignore[arg-type]
        (lambda: ImageResult(images=(None,)), "data is a NoneType"),  # type: ignore[arg-type]
        (lambda: picture("text"), "data is a str"),
        (lambda: picture(b"junk"), "is text, not a picture"),
        (lambda: picture(b"<html></html>"), "is an HTML page"),
        (lambda: picture(HUGE), "60000 × 60000 pixels"),
        (lambda: KeyboardInterrupt(), "KeyboardInterrupt"),
        (lambda: SystemExit(3), "SystemExit"),
        (lambda: GeneratorExit(), "GeneratorExit"),
        (lambda: asyncio.CancelledError(), "cancelled the call itself"),
        (lambda: Cancelled("Somebody pressed a button."), "Somebody pressed a button."),
    ],
)
async def test_what_is_no_picture_is_a_failed_step(make: Make, reply: Callable[[], Any], says: str) -> None:
    graph, _, backend, _ = make(
        APART, drawings=lambda asked: reply() if asked.prompt == "thing 0" else noise_card(asked.prompt)
    )
    result = await asyncio.wait_for(graph.ainvoke(ASK), 5)
    assert outcomes(result) == ["backend_failed", "accepted"] and result["outcome"] == "partial"
    assert says in result["document"]["steps"][0]["mark"]
    assert len(backend.requests) == 2, "and it is not asked for again"


@pytest.mark.parametrize(
    "reply", [lambda: KeyboardInterrupt(), lambda: asyncio.CancelledError(), lambda: Cancelled("x")]
)
async def test_what_is_no_critique_leaves_the_picture_unjudged(make: Make, reply: Callable[[], Any]) -> None:
    graph, *_ = make(APART, verdicts=lambda asked: reply() if "0" in asked.instruction else "accept")
    result = await asyncio.wait_for(graph.ainvoke(ASK), 5)
    assert outcomes(result) == ["critic_failed", "accepted"] and result["document"]["steps"][0]["image"]


async def test_a_critic_that_returns_something_else_is_unreadable(make: Make) -> None:
    class Other(ScriptedCritic):
        async def acritique(self, request: Any, *, on_text: Any = None) -> Any:
            return {"verdict": "accept"}

    graph, *_ = make(1, verdicts=Other())
    result = await graph.ainvoke(ASK)
    assert outcomes(result) == ["critic_failed"]
    assert "returned a dict" in result["document"]["steps"][0]["mark"]


async def test_a_critic_that_raises_anything_is_raised_with_the_document(make: Make) -> None:
    graph, *_ = make(APART, verdicts=lambda asked: MemoryError() if "0" in asked.instruction else "accept")
    with pytest.raises(InternalError) as caught:
        await graph.ainvoke(ASK)
    assert isinstance(caught.value.__cause__, MemoryError) and caught.value.document is not None
    assert [step["outcome"] for step in caught.value.document["steps"]] == ["critic_failed", "accepted"]


class Broken:
    name = "broken"

    def check(self, *_: Any) -> CheckResult:
        raise ZeroDivisionError


class Silent:
    name = "silent"

    def check(self, *_: Any) -> Any:
        return None


@pytest.mark.parametrize("check", [Broken(), Silent()])
async def test_a_broken_check_has_no_say_and_costs_no_picture(make: Make, check: Any) -> None:
    artifacts = ArtifactStore.memory()
    graph, _, backend, critic = make(1, checks=[check, "not_blank"], artifacts=artifacts)
    parts = graph.astream(ASK, stream_mode=["custom", "values"], version="v2", subgraphs=True)
    told, result = [], None
    async for part in parts:
        if part["type"] == "custom":
            told.append(part["data"])
        else:
            result = part["data"]
    assert result is not None and result["outcome"] == "complete" and len(backend.requests) == 1
    assert [c.name for c in critic.requests[0].checks] == []
    record = StepRecord.model_validate(artifacts.get_json(result["document"]["steps"][0]["record"]))
    assert [(c.name, c.passed) for c in record.attempts[0].checks] == [(check.name, None), ("not_blank", True)]
    warnings = [event["message"] for event in told if event["type"] == "interleave.warning"]
    assert len(warnings) == 1 and f"Check {check.name} could not be run" in warnings[0]


async def test_a_plan_that_builds_on_an_image_that_is_not_there_is_no_plan() -> None:
    wrong = Step(index=0, op="edit", instruction="Show.", prompt="p", sources=("input:5",))
    backend = ScriptedBackend()
    graph = create_interleave_graph(ScriptedPlanner(Plan(steps=(wrong,))), backend, ScriptedCritic(), lookahead=True)
    result = await graph.ainvoke(ASK)
    assert result["outcome"] == "failed" and result["document"]["problem"]["error"] == "PlanError"
    assert backend.requests == []


async def test_a_planner_that_yields_junk_is_raised_with_the_document() -> None:
    class Junk(ScriptedPlanner):
        async def aplan(self, request: Any) -> AsyncIterator[PlanDelta]:
            yield None  # type: ignore[misc]
            yield PlanFinished(None)  # type: ignore[arg-type]

    graph = create_interleave_graph(Junk(simple_plan(1)), ScriptedBackend(), ScriptedCritic())
    with pytest.raises(InternalError) as caught:
        await graph.ainvoke(ASK)
    assert caught.value.document is not None and caught.value.document["outcome"] == "failed"


async def test_calls_that_never_end_are_given_up(make: Make) -> None:
    plan = simple_plan(3, sources=[[], [0], []])
    graph, *_ = make(
        plan,
        drawings=ScriptedBackend(delay_s=lambda asked: 30.0 if asked.prompt == "thing 0" else 0.0),
        verdicts=ScriptedCritic(delay_s=lambda asked: 30.0 if "2" in asked.instruction else 0.0),
        limits=Limits(call_timeout_s=0.3),
    )
    result = await asyncio.wait_for(graph.ainvoke(ASK), 5)
    assert outcomes(result) == ["backend_failed", "skipped", "critic_failed"]


async def test_a_step_that_only_a_check_judged_can_be_resumed(make: Make) -> None:
    """The critic is not asked on the last attempt; a resumed graph must not wait for it."""

    class No:
        name = "no"

        def check(self, *_: Any) -> CheckResult:
            return CheckResult(name="no", passed=False, reason="It is wrong.")

    graph, _, _, critic = make(1, checks=[No()], limits=Limits(max_attempts=1), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke(ASK, config, interrupt_after=["generate"])
    result = await graph.ainvoke(None, config)
    assert outcomes(result) == ["exhausted"] and critic.requests == []


async def test_a_check_that_does_not_apply_is_read_back(make: Make) -> None:
    class NotHere:
        name = "not_here"

        def check(self, *_: Any) -> CheckResult:
            return CheckResult(name="not_here", passed=None)

    graph, *_ = make(2, checks=[NotHere()], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke(ASK, config, interrupt_after=["critique"])
    assert outcomes(await graph.ainvoke(None, config)) == ["accepted", "accepted"]


async def test_very_wide_plans_do_not_run_out_of_stack(make: Make) -> None:
    plan = simple_plan(400, sources=[[]] * 400)
    graph, _, backend, _ = make(plan, limits=Limits(max_steps=400, max_images=2), lookahead=False)
    result = await graph.ainvoke(ASK)
    assert outcomes(result).count("skipped") == 398 and len(backend.requests) == 2
