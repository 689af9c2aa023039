"""What is told of a run is whole, in order and once, whatever planner, limits and stops do."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave.backends.base import Companions
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.errors import CritiqueError, PlanError, Unavailable
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.limits import Limits
from langgraph_interleave.runs import stop_run
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import (
    Critique,
    CritiqueRequest,
    ImageRequest,
    PlanDelta,
    PlanFinished,
    ReasoningDelta,
    Step,
    StepDelta,
    StyleDelta,
    StyleGuide,
)

ASK: Any = {"request": "things"}
Make = Callable[..., Any]
Complaints = Callable[..., list[str]]
STEPS = simple_plan(3).steps


class Says(ScriptedPlanner):
    """Yields what it is given; a number is a pause in seconds."""

    def __init__(self, *said: PlanDelta | float | Exception) -> None:
        super().__init__(simple_plan(1))
        self.said = said

    async def aplan(self, request: Any) -> AsyncIterator[PlanDelta]:
        self.requests.append(request)
        for delta in self.said:
            if isinstance(delta, (int, float)):
                await asyncio.sleep(delta)
            elif isinstance(delta, Exception):
                raise delta
            else:
                yield delta


async def events_of(graph: Any, ask: Any = ASK, config: Any = None, **options: Any) -> list[dict[str, Any]]:
    parts = graph.astream(ask, config, stream_mode=["custom"], version="v2", subgraphs=True, **options)
    return [part["data"] async for part in parts]


def told(events: list[dict[str, Any]], kind: str) -> list[tuple[Any, Any]]:
    return [(event["step"], event.get("text")) for event in events if event.get("kind") == kind]


OLD = Step(index=0, op="generate", instruction="Show thing 9.", prompt="thing 9", caption="An old caption.")
PLANNERS: dict[str, Callable[[], Says]] = {
    "out of order": lambda: Says(
        *map(StepDelta, (STEPS[2], STEPS[0], STEPS[0], STEPS[1])), 0.05, PlanFinished(simple_plan(3))
    ),
    "contradicted": lambda: Says(StyleDelta(StyleGuide()), StepDelta(OLD), 0.05, PlanFinished(simple_plan(3))),
    "an input that is not there": lambda: Says(
        StepDelta(Step(index=0, op="edit", instruction="Show.", prompt="p", sources=("input:5",))),
        PlanFinished(simple_plan(3)),
    ),
    "finished twice": lambda: Says(PlanFinished(simple_plan(9)), PlanFinished(simple_plan(3))),
    "thought aloud": lambda: Says(ReasoningDelta("Hm. "), ReasoningDelta("Yes."), PlanFinished(simple_plan(3))),
    "another style in the end": lambda: Says(
        StyleDelta(StyleGuide(look="ink")), StepDelta(STEPS[0]), 0.05, PlanFinished(simple_plan(3))
    ),
}


@pytest.mark.parametrize("name", list(PLANNERS))
async def test_a_planner_may_say_anything_before_its_plan(name: str, complaints: Complaints) -> None:
    graph = create_interleave_graph(PLANNERS[name](), ScriptedBackend(), ScriptedCritic(), lookahead=True)
    events = await events_of(graph)
    assert complaints(events) == []
    assert events[-1]["outcome"] == "complete" and events[-1]["steps"] == 3
    assert sorted(told(events, "caption")) == [(i, f"Caption of step {i}.") for i in range(3)]


BROKEN_PLANNERS: dict[str, Callable[[], Says]] = {
    "ended without a plan": lambda: Says(ReasoningDelta("Hm."), StepDelta(STEPS[0]), 0.05),
    "failed": lambda: Says(ReasoningDelta("Hm."), StepDelta(STEPS[0]), 0.05, PlanError("no")),
    "never ended": lambda: Says(ReasoningDelta("Hm."), StepDelta(STEPS[0]), 30.0),
}


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("ended without a plan", Limits()),
        ("failed", Limits()),
        ("never ended", Limits(call_timeout_s=0.2)),
        ("never ended", Limits(max_seconds=0.2)),
    ],
)
async def test_without_a_plan_nothing_is_told_of_its_steps(name: str, limits: Limits, complaints: Complaints) -> None:
    graph = create_interleave_graph(BROKEN_PLANNERS[name](), ScriptedBackend(), ScriptedCritic(), limits=limits)
    events = await events_of(graph)
    assert complaints(events) == []
    assert events[-1]["outcome"] == "failed" and not [event for event in events if event.get("step") is not None]
    assert told(events, "reasoning")[-1] == (None, "Hm."), "what was thought aloud is told whole"
    reached = [event["limit"] for event in events if event["type"] == "interleave.limit"]
    assert reached == (["max_seconds"] if limits.max_seconds else [])


async def test_what_was_judged_by_another_style_guide_is_judged_anew() -> None:
    backend, critic = ScriptedBackend(), ScriptedCritic()
    planner = PLANNERS["another style in the end"]()
    await create_interleave_graph(planner, backend, critic, lookahead=True).ainvoke(ASK)
    looks = [asked.style_guide.look for asked in critic.requests if asked.instruction == "Show thing 0."]
    assert looks == ["ink", ""]
    assert [asked.prompt for asked in backend.requests].count("thing 0") == 1, "and not drawn anew"


async def test_nothing_is_judged_before_the_style_is_known() -> None:
    planner = Says(StepDelta(STEPS[0]), 0.05, PlanFinished(simple_plan(3).model_copy(update={"style_guide": INK})))
    critic = ScriptedCritic()
    await create_interleave_graph(planner, ScriptedBackend(), critic, lookahead=True).ainvoke(ASK)
    assert [asked.style_guide.look for asked in critic.requests] == ["ink"] * 3


INK = StyleGuide(look="ink")


async def test_a_drawing_of_a_step_that_came_out_differently_is_let_go_of() -> None:
    """Else it would take the only picture a limit leaves, and be waited for."""
    planner = Says(StyleDelta(StyleGuide()), StepDelta(OLD), 0.05, PlanFinished(simple_plan(1)))
    backend = ScriptedBackend(delay_s=lambda asked: 30.0 if asked.prompt == "thing 9" else 0.0)
    graph = create_interleave_graph(planner, backend, ScriptedCritic(), lookahead=True, limits=Limits(max_images=1))
    result = await asyncio.wait_for(graph.ainvoke(ASK), 5)
    assert result["outcome"] == "complete" and result["spend"]["images"] == 1


async def test_a_call_that_goes_on_after_it_was_given_up_is_not_heard(complaints: Complaints) -> None:
    class Stubborn(ScriptedCritic):
        async def acritique(self, request: CritiqueRequest, *, on_text: Any = None) -> Any:
            for _ in range(8):
                try:
                    await asyncio.sleep(0.1)
                except asyncio.CancelledError:
                    continue
                on_text("and ")

    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), ScriptedBackend(), Stubborn(), limits=Limits(call_timeout_s=0.15)
    )
    assert complaints(await events_of(graph)) == []


class Noted(ScriptedBackend):
    """A backend that has something to tell with every document."""

    companions = Companions(planner="scene", critic="pixel", note="Drawn by nobody.")


async def test_a_note_comes_after_the_start() -> None:
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(1)), Noted(), ScriptedCritic(), lookahead=False)
    events = await events_of(graph)
    assert events[0] == {**events[0], "type": "interleave.run", "phase": "start"}
    assert [event["code"] for event in events if event["type"] == "interleave.warning"][:1] == ["note"]


@pytest.mark.parametrize(("text", "limits"), [((), [("max_steps", 3, 2)]), ((2,), [])])
async def test_a_plan_that_is_too_long_is_a_limit(text: Any, limits: list[Any], make: Make) -> None:
    graph, *_ = make(simple_plan(3, text=text), limits=Limits(max_steps=2))
    events = await events_of(graph)
    assert [(e["limit"], e["used"], e["cap"]) for e in events if e["type"] == "interleave.limit"] == limits
    assert events[-1]["reasons"] == (["limit"] if limits else [])


async def test_a_resumed_invocation_tells_whole_attempts(make: Make, complaints: Complaints) -> None:
    graph, *_ = make(2, verdicts=lambda a: "revise" if a.attempt == 0 else "accept", checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke(ASK, config, interrupt_before=["critique"])
    events = await events_of(graph, None, config)
    assert complaints(events, resumed=True) == [] and events[-1]["outcome"] == "complete"


@pytest.mark.parametrize("tenth", range(10))
@pytest.mark.parametrize("stopped", [False, True])
async def test_random_runs_tell_what_the_document_says(tenth: int, stopped: bool, complaints: Complaints) -> None:
    for seed in range(tenth * 6, tenth * 6 + 6):
        await play(random.Random(seed), f"told-{seed}", stopped, complaints)


async def play(rng: random.Random, run_id: str, stopped: bool, complaints: Complaints) -> None:
    count = rng.randint(1, 7)
    sources = [sorted(rng.sample(range(i), rng.randint(0, min(i, 2)))) for i in range(count)]
    revise = [rng.choice([0, 0, 1, 2]) for _ in range(count)]
    caps: dict[str, Any] = rng.choice(
        [{}, {"max_images": rng.randint(1, 7)}, {"max_calls": rng.randint(1, 14)}, {"max_seconds": rng.random() / 10}]
    )

    def draw(asked: ImageRequest) -> Any:
        luck = random.Random(f"{run_id} {asked.prompt} {asked.seed}").random()
        return Unavailable("down") if luck < 0.08 else noise_card(asked.prompt, seed=asked.seed or 0)

    def judge(asked: CritiqueRequest) -> Any:
        luck = random.Random(f"{run_id} {asked.prompt}").random()
        if luck < 0.05:
            return CritiqueError("unreadable")
        step = int(asked.instruction.split()[-1].rstrip("."))
        return "revise" if asked.attempt < revise[step] else Critique(verdict="accept")

    graph: Any = create_interleave_graph(
        ScriptedPlanner(simple_plan(count, sources=sources), pace_s=rng.choice([0.0, 0.02])),
        ScriptedBackend(draw, delay_s=lambda asked: (asked.seed or 0) % 5 / 1000),
        ScriptedCritic(judge, delay_s=lambda asked: len(asked.prompt) % 5 / 1000),
        limits=Limits(max_attempts=rng.randint(1, 3), **caps),
        lookahead=rng.random() < 0.7,
        publish=rng.choice(["early", "verified"]),
    )
    if stopped:
        asyncio.get_running_loop().call_later(rng.random() / 20, stop_run, run_id)
    events: list[dict[str, Any]] = []
    result: Any = None
    options: Any = {"stream_mode": ["custom", "values"], "context": InterleaveContext(run_id=run_id)}
    async for part in graph.astream(ASK, version="v2", subgraphs=True, **options):
        if part["type"] == "custom":
            events.append(part["data"])
        else:
            result = part["data"]
    assert complaints(events) == [], run_id
    steps = result["document"]["steps"]
    ends = {e["step"]: e["outcome"] for e in events if e["type"] == "interleave.step" and e["phase"] == "finish"}
    assert ends == {step["index"]: step["outcome"] for step in steps}, run_id
    shown = {e["step"]: e["image"]["sha256"] for e in events if e.get("kind") == "image"}
    assert shown == {step["index"]: step["image"]["sha256"] for step in steps if "image" in step}, run_id
    for cap, used in (("max_images", result["spend"]["images"]), ("max_calls", sum(result["spend"]["calls"].values()))):
        assert used <= caps.get(cap, used), run_id
