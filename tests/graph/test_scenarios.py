"""One run of the graph per situation: what is called, what comes out, what is told."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from PIL import Image

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.errors import (
    ConfigError,
    ContentBlocked,
    CritiqueError,
    InternalError,
    PlanError,
    Unavailable,
)
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.limits import Limits
from langgraph_interleave.runs import stop_run
from langgraph_interleave.testing import (
    RephrasingPlanner,
    ScriptedBackend,
    ScriptedCritic,
    ScriptedPlanner,
    noise_card,
    simple_plan,
)
from langgraph_interleave.types import (
    Critique,
    CritiqueRequest,
    ImageBytes,
    ImageRequest,
    PlanDelta,
    Scores,
    StepRecord,
)

ASK: Any = {"request": "two things"}
Make = Callable[..., Any]


def outcomes(result: dict[str, Any]) -> list[str]:
    return [step["outcome"] for step in result["document"]["steps"]]


async def events_of(graph: Any, ask: Any = ASK, **options: Any) -> list[dict[str, Any]]:
    parts = graph.astream(ask, stream_mode=["custom"], version="v2", subgraphs=True, **options)
    return [part["data"] async for part in parts]


async def test_accepted_first_time(make: Make) -> None:
    graph, planner, backend, critic = make(2)
    result = await graph.ainvoke(ASK)
    assert set(result) == {"document", "outcome", "spend"}
    assert result["outcome"] == "complete" and outcomes(result) == ["accepted", "accepted"]
    assert [len(role.requests) for role in (planner, backend, critic)] == [1, 2, 2]
    assert result["spend"]["calls"] == {"planner": 1, "backend": 2, "critic": 2}
    assert result["spend"]["images"] == 2


async def test_a_revised_step_is_drawn_again_from_its_references(make: Make) -> None:
    graph, _, backend, critic = make(2, verdicts=["accept", "revise", "accept"])
    result = await graph.ainvoke(ASK)
    assert outcomes(result) == ["accepted", "accepted"]
    first, rejected, again = backend.requests
    assert [r.sha256 for r in again.references] == [r.sha256 for r in rejected.references] != []
    assert again.references[0].sha256 != critic.requests[1].after.sha256, "never from the rejected picture"
    assert again.prompt == "thing 1 (again 1)" and again.seed != rejected.seed
    assert result["document"]["steps"][1]["attempts"] == 2 and result["document"]["steps"][1]["kept"] == 1
    assert critic.requests[2].earlier[0].critique.verdict == "revise"
    assert first.references == ()


def scored(*scores: float) -> Callable[[CritiqueRequest], Critique]:
    return lambda asked: Critique(verdict="revise", scores=Scores(quality=scores[asked.attempt]))


@pytest.mark.parametrize(("policy", "kept"), [("best", 1), ("last", 2)])
async def test_an_exhausted_step_is_delivered_and_marked(make: Make, policy: str, kept: int) -> None:
    graph, _, backend, critic = make(1, verdicts=scored(2, 9, 5), on_exhausted=policy)
    result = await graph.ainvoke(ASK)
    step = result["document"]["steps"][0]
    assert result["outcome"] == "partial" and result["document"]["reasons"] == ["exhausted"]
    assert step["outcome"] == "exhausted" and step["kept"] == kept and step["image"] and step["mark"]
    assert len(critic.requests) == len(backend.requests) == 3, "the last attempt is judged too"


async def test_an_exhausted_step_can_fail_the_run_with_its_document(make: Make) -> None:
    graph, *_ = make(2, verdicts=lambda _: "revise", on_exhausted="fail", limits=Limits(max_attempts=1))
    result = await graph.ainvoke(ASK)
    assert result["outcome"] == "failed" and result["document"]["steps"][1]["image"]


async def test_text_steps_reach_neither_backend_nor_critic(make: Make) -> None:
    graph, _, backend, critic = make(simple_plan(3, text=[0, 2]))
    result = await graph.ainvoke(ASK)
    assert outcomes(result) == ["text_only", "accepted", "text_only"] and result["outcome"] == "complete"
    assert len(backend.requests) == len(critic.requests) == 1


async def test_a_failed_drawing_leaves_a_placeholder_and_skips_what_builds_on_it(make: Make) -> None:
    plan = simple_plan(3, sources=[[], [0], []])

    def draw(asked: ImageRequest) -> Any:
        return Unavailable("down") if asked.prompt == "thing 0" else ScriptedBackend()._script.reply(asked)

    graph, *_ = make(plan, drawings=draw)
    events = await events_of(graph)
    finished = next(e for e in events if e["type"] == "interleave.run" and e["phase"] == "finish")
    assert finished["outcome"] == "partial" and finished["reasons"] == ["failed_step"]
    assert {e["step"] for e in events if e.get("kind") == "placeholder"} == {0, 1}
    ends = {e["step"]: e["outcome"] for e in events if e["type"] == "interleave.step" and e["phase"] == "finish"}
    assert ends == {0: "backend_failed", 1: "skipped", 2: "accepted"}


async def test_a_blocked_prompt_is_an_outcome_of_its_own(make: Make) -> None:
    graph, *_ = make(1, drawings=lambda _: ContentBlocked("no"))
    result = await graph.ainvoke(ASK)
    assert outcomes(result) == ["blocked"] and result["outcome"] == "failed"


async def test_a_blocked_prompt_is_rephrased_once() -> None:
    planner = RephrasingPlanner(simple_plan(1))
    drawn: list[str] = []

    def draw(asked: ImageRequest) -> Any:
        drawn.append(asked.prompt)
        return ContentBlocked("too wild") if len(drawn) == 1 else noise_card(asked.prompt)

    graph = create_interleave_graph(planner, ScriptedBackend(draw), ScriptedCritic())
    result = await graph.ainvoke(ASK)
    assert result["outcome"] == "complete" and drawn == ["thing 0", "a gentle thing 0"]
    assert planner.rephrased == ["thing 0"] and result["document"]["steps"][0]["attempts"] == 1
    assert result["spend"]["calls"]["planner"] == 2


async def test_an_unreadable_critic_keeps_and_marks_the_picture(make: Make) -> None:
    graph, *_ = make(1, verdicts=[CritiqueError("garbage")])
    result = await graph.ainvoke(ASK)
    step = result["document"]["steps"][0]
    assert step["outcome"] == "critic_failed" and step["image"] and "garbage" in step["mark"]
    assert result["outcome"] == "partial" and result["document"]["reasons"] == ["failed_step"]


async def test_without_a_plan_the_run_failed_and_says_why(make: Make) -> None:
    graph, _, backend, _ = make([PlanError("nothing to read", remedy="Ask again.")])
    result = await graph.ainvoke(ASK)
    assert result["outcome"] == "failed" and result["document"]["steps"] == []
    assert result["document"]["problem"] == {
        "error": "PlanError",
        "message": "nothing to read",
        "remedy": "Ask again.",
    }
    assert backend.requests == []


async def test_an_unexpected_error_finishes_the_document_and_is_raised_chained(make: Make) -> None:
    plan = simple_plan(2, sources=[[], []])

    def draw(asked: ImageRequest) -> Any:
        return KeyError("sk-secret") if asked.prompt == "thing 0" else ScriptedBackend()._script.reply(asked)

    graph, *_ = make(plan, drawings=draw)
    with pytest.raises(InternalError) as caught:
        await graph.ainvoke(ASK)
    assert isinstance(caught.value.__cause__, KeyError)
    document = caught.value.document
    assert document is not None
    assert [step["outcome"] for step in document["steps"]] == ["backend_failed", "accepted"]
    assert "sk-secret" not in str(document), "the words of a foreign error may carry a key"


async def test_a_blank_picture_is_revised_by_a_check(make: Make) -> None:
    out = io.BytesIO()
    Image.new("RGB", (16, 16), "black").save(out, "PNG")
    black = ImageBytes(out.getvalue(), "image/png", 16, 16)
    graph, _, backend, critic = make(1, drawings=lambda _: black, limits=Limits(max_attempts=2))
    result = await graph.ainvoke(ASK)
    assert outcomes(result) == ["exhausted"] and len(backend.requests) == 2
    assert len(critic.requests) == 1, "on the last attempt nobody needs a refined prompt"
    assert [check.name for check in critic.requests[0].checks] == ["not_blank"]


@pytest.mark.parametrize(
    ("limits", "expected", "reason"),
    [
        (Limits(max_images=1), ["accepted", "skipped"], "limit"),
        (Limits(max_calls=4), ["accepted", "exhausted"], "limit"),
        (Limits(max_steps=1), ["accepted", "skipped"], "limit"),
    ],
)
async def test_at_a_limit_the_run_finishes_with_what_is_there(
    make: Make, limits: Limits, expected: list[str], reason: str
) -> None:
    graph, _, backend, critic = make(2, limits=limits, lookahead=False)
    events = await events_of(graph)
    ends = [e["outcome"] for e in events if e["type"] == "interleave.step" and e["phase"] == "finish"]
    assert ends == expected
    assert events[-1]["type"] == "interleave.run" and events[-1]["reasons"] == [reason]
    if limits.max_calls:
        assert 1 + len(backend.requests) + len(critic.requests) <= limits.max_calls
        assert [e["limit"] for e in events if e["type"] == "interleave.limit"] == ["max_calls"]


async def test_a_request_that_is_not_valid_is_refused_before_anything_is_spent(make: Make) -> None:
    graph, planner, *_ = make(1)
    block = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}
    with pytest.raises(ConfigError, match="image_part"):
        await graph.ainvoke({"request": [block]})
    with pytest.raises(ConfigError):
        await graph.ainvoke({"request": "  "})
    assert planner.requests == []


async def test_seeds_differ_by_attempt_and_repeat_by_run(make: Make) -> None:
    graph, _, backend, _ = make(1, verdicts=lambda _: "revise", seed=4)
    await graph.ainvoke(ASK)
    await graph.ainvoke(ASK)
    seeds = [request.seed for request in backend.requests]
    assert len(set(seeds)) == 3 and seeds[:3] == seeds[3:]


async def test_the_record_of_a_step_holds_everything_that_happened(make: Make) -> None:
    artifacts = ArtifactStore.memory()
    graph, *_ = make(1, verdicts=["revise", "accept"], artifacts=artifacts)
    result = await graph.ainvoke(ASK)
    record = StepRecord.model_validate(artifacts.get_json(result["document"]["steps"][0]["record"]))
    assert [a.critique.verdict for a in record.attempts if a.critique] == ["revise", "accept"]
    assert record.attempts[1].prompt == "thing 0 (again 1)" and all(len(a.calls) == 2 for a in record.attempts)
    assert record.picture is not None and artifacts.get_image(record.picture).width == 16


@pytest.mark.parametrize("sync", [False, True])
async def test_a_run_can_be_stopped_in_good_order(make: Make, sync: bool) -> None:
    drawing = threading.Semaphore(0)

    def delay(asked: ImageRequest) -> float:
        drawing.release()
        return 30.0 if asked.prompt == "thing 1" else 0.0

    graph, *_ = make(4, drawings=ScriptedBackend(delay_s=delay), lookahead=False)
    context = InterleaveContext(run_id="to-stop")
    if sync:
        task = asyncio.ensure_future(asyncio.to_thread(lambda: graph.invoke(ASK, context=context)))
    else:
        task = asyncio.ensure_future(graph.ainvoke(ASK, context=context))
    for _ in range(2):
        await asyncio.to_thread(drawing.acquire)
    assert stop_run("to-stop")
    result = await asyncio.wait_for(task, 3)
    assert result["outcome"] == "cancelled"
    assert outcomes(result) == ["accepted", "cancelled", "cancelled", "cancelled"]
    assert result["document"]["steps"][0]["image"]
    assert not stop_run("to-stop"), "it is over"


async def test_a_run_can_be_stopped_while_it_is_planned(make: Make) -> None:
    planning = threading.Event()

    class Slow(ScriptedPlanner):
        async def aplan(self, request: Any) -> AsyncIterator[PlanDelta]:
            planning.set()
            await asyncio.sleep(30)
            async for delta in super().aplan(request):
                yield delta

    graph = create_interleave_graph(Slow(simple_plan(1)), ScriptedBackend(), ScriptedCritic())
    task = asyncio.ensure_future(graph.ainvoke(ASK, context=InterleaveContext(run_id="early")))
    await asyncio.to_thread(planning.wait)
    assert stop_run("early")
    result = await asyncio.wait_for(task, 3)
    assert result["outcome"] == "cancelled" and result["document"]["steps"] == []


@pytest.mark.parametrize("cap", [3, 4])
async def test_a_critic_of_several_calls_that_no_longer_fits_ends_the_run_at_its_limit(cap: int) -> None:
    critic: Any = ScriptedCritic()
    critic.calls_at_most = 3
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), ScriptedBackend(), critic, limits=Limits(max_calls=cap)
    )
    result = await asyncio.wait_for(graph.ainvoke(ASK), 5)
    assert result["outcome"] == "partial" and "limit" in result["document"]["reasons"]
    assert result["spend"]["calls"] == {"backend": 1, "planner": 1}
    assert result["document"]["steps"][0]["image"], "what was drawn is kept"
