"""Backends in a run: several to choose from, and pictures of drawings that are not done."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from langgraph_interleave import InterleaveContext, Limits, create_interleave_graph
from langgraph_interleave.errors import ConfigError, PlanError
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import (
    ImageRequest,
    ImageResult,
    OnProgress,
    Plan,
    PlanDelta,
    PlanFinished,
    Progress,
    Usage,
)


def named_plan(*names: str | None) -> Plan:
    plan = simple_plan(len(names), sources=[[] for _ in names])
    steps = [step.model_copy(update={"backend": name}) for step, name in zip(plan.steps, names, strict=True)]
    return plan.model_copy(update={"steps": tuple(steps)})


async def test_the_plan_names_who_draws() -> None:
    drawn: dict[str, list[str]] = {"card": [], "photo": []}

    def card(prompt: str) -> bytes:
        drawn["card"].append(prompt)
        return noise_card(prompt).data

    def photograph(request: ImageRequest) -> Any:
        drawn["photo"].append(request.prompt)
        return noise_card(f"photo of {request.prompt}")

    photo = ScriptedBackend(photograph)
    graph = create_interleave_graph(
        ScriptedPlanner(named_plan("photo", None, "card")),
        {"card": card, "photo": (photo, "photographs")},
        ScriptedCritic(),
        checks=(),
    )
    result = await graph.ainvoke({"request": "x"})
    assert result["outcome"] == "complete"
    assert (len(drawn["card"]), len(drawn["photo"])) == (2, 1)
    with pytest.raises(ConfigError):
        create_interleave_graph(ScriptedPlanner(simple_plan(1)), {}, ScriptedCritic())


class Model(ScriptedPlanner):
    """Its answers are a model's: they may be asked for again."""

    async def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        async for delta in super().aplan(request):
            if isinstance(delta, PlanFinished):
                yield PlanFinished(delta.plan, raw="{…}", usage=Usage(output_tokens=1))
            else:
                yield delta


async def test_an_unknown_name_is_a_plan_that_cannot_be_used() -> None:
    planner = Model([named_plan("oil"), named_plan("card")])
    several = {"card": lambda prompt: noise_card(prompt)}
    graph = create_interleave_graph(planner, several, ScriptedCritic(), checks=())
    assert (await graph.ainvoke({"request": "x"}))["outcome"] == "complete"
    assert "wants the backend 'oil'; there are card" in planner.requests[1].unusable[0].reason
    assert planner.requests[0].capabilities.choices[0][0] == "card"
    once = create_interleave_graph(ScriptedPlanner(named_plan("oil")), several, ScriptedCritic(), checks=())
    assert (await once.ainvoke({"request": "x"}))["document"]["problem"]["error"] == PlanError.__name__


class Slow(ScriptedBackend):
    """Shows two previews on the way, one of them from a thread."""

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        assert on_progress is not None
        on_progress(Progress(1, 3))
        on_progress(Progress(1, 3, noise_card(f"first {request.prompt}")))
        thread = threading.Thread(target=on_progress, args=(Progress(2, 3, noise_card(f"second {request.prompt}")),))
        thread.start()
        await asyncio.to_thread(thread.join)
        await asyncio.sleep(0.02)
        return await super().agenerate(request, on_progress=on_progress)


@pytest.mark.parametrize("lookahead", [True, False])
async def test_pictures_of_a_drawing_that_is_not_done_are_told_in_order_and_as_such(lookahead: bool) -> None:
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(2)),
        Slow(),
        ScriptedCritic(["revise", "accept", "accept"]),
        checks=(),
        lookahead=lookahead,
    )
    told: list[dict[str, Any]] = []
    async for part in graph.astream({"request": "x"}, stream_mode="custom", version="v2"):
        data: Any = part["data"]
        if data.get("kind") == "preview":
            told.append(data)
    assert all(event["image"]["unchecked"] for event in told)
    assert len({event["segment_id"] for event in told}) == len(told)
    first = [event for event in told if (event["step"], event["attempt"]) == (0, 0)]
    assert [event["segment_id"].rsplit(":", 1)[1] for event in first] == ["1", "2", "0"]
    again = [event for event in told if (event["step"], event["attempt"]) == (0, 1)]
    assert len(again) == 3
    if not lookahead:
        assert len([event for event in told if event["step"] == 1]) == 3, "what was a bet may have been shown too early"


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        ("picture.png", "step 1: backend_failed: BadResponse: callable returned a str. Return a PIL picture"),
        (None, "step 1: backend_failed: NoImage: callable returned nothing. Let the function return a picture."),
    ],
)
async def test_a_step_that_fails_is_logged_with_its_reason(
    returned: Any, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(2)), lambda prompt, refs: returned, ScriptedCritic())
    result = await graph.ainvoke({"request": "x"}, context=InterleaveContext(limits=Limits(max_repeats=0)))
    assert result["outcome"] == "failed"
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [line.partition(". ")[0] for line in told] == [says.partition(". ")[0], told[1].partition(". ")[0]]
    assert told[0].startswith(says) and told[1].startswith("step 2: skipped: ")
    assert {record.name for record in caplog.records} == {"langgraph_interleave.standing"}


async def test_a_plan_that_fails_is_logged_and_an_accepted_one_is_not(caplog: pytest.LogCaptureFixture) -> None:
    class Silent(ScriptedPlanner):
        async def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
            raise PlanError("Nothing to plan.", remedy="Ask for something.")
            yield PlanFinished(simple_plan(1))

    await create_interleave_graph(Silent(simple_plan(1)), ScriptedBackend(), ScriptedCritic()).ainvoke({"request": "x"})
    assert [record.getMessage() for record in caplog.records] == [
        "no plan: PlanError: Nothing to plan. Ask for something."
    ]
    caplog.clear()
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(1)), ScriptedBackend(), ScriptedCritic())
    await graph.ainvoke({"request": "x"})
    assert not caplog.records
