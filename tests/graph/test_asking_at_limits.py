"""Somebody asked when a run has reached a limit: it goes on where it stopped, or ends with what is there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_interleave import ArtifactStore, Document, InterleaveContext, Limits
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.prices import Prices
from langgraph_interleave.testing import ScriptedBackend, noise_card, simple_plan
from langgraph_interleave.types import (
    Capabilities,
    Change,
    Changes,
    Critique,
    ImageResult,
    LimitReview,
    PlanRecord,
    Usage,
)

THREAD: Any = {"configurable": {"thread_id": "t"}}
ASK: Any = {"request": "Steps"}
#: 0 → 1 → 2, and 3 by itself.
CHAIN = simple_plan(4, sources=[[], [0], [1], []])
FINISH = {"decision": "finish"}


def raise_to(**limits: Any) -> Any:
    return {"decision": "raise", "limits": limits}


def question(result: Any) -> Any:
    (asked,) = result["__interrupt__"]
    assert asked.value["ask"] == "limit"
    return asked.value


async def answer(graph: Any, say: Any, **kwargs: Any) -> Any:
    return await graph.ainvoke(Command(resume=say), THREAD, **kwargs)


def outcomes(result: Any) -> list[str]:
    return [step["outcome"] for step in result["document"]["steps"]]


@pytest.fixture
def build(make: Any) -> Any:
    def made(plan: Any = CHAIN, *args: Any, **options: Any) -> Any:
        options.setdefault("on_limit", "ask")
        options.setdefault("lookahead", False)
        return make(plan, *args, checkpointer=InMemorySaver(), **options)

    return made


def never(request: Any) -> Any:
    return Critique(verdict="revise", reasoning="It is upside down.")


# --- what is asked ------------------------------------------------------------------------------


async def test_a_run_at_a_limit_asks_when_nothing_is_in_flight(build: Any) -> None:
    graph, _, backend, critic = build(limits=Limits(max_images=2))
    result = await graph.ainvoke(ASK, THREAD)
    asked = question(result)
    assert list(asked)[:3] == ["ask", "says", "limit"]
    assert (asked["limit"], asked["used"], asked["cap"]) == ("max_images", 2, 2)
    assert asked["says"] == "2 of 2 pictures used; 2 steps are not done."
    assert asked["undone"] == [
        {"step": 1, "number": 2, "title": "Step 1", "state": "not drawn"},
        {"step": 2, "number": 3, "title": "Step 2", "state": "not drawn"},
    ]
    assert asked["spend"]["calls"] == {"backend": 2, "critic": 2, "planner": 1}
    assert asked["suggested"] == {"max_images": 8}, "both steps with every attempt"
    assert asked["estimate"].startswith("2.8 drawings (at most 6) and 2.8 critiques (at most 6), ")
    schema = result["__interrupt__"][0].response_schema
    assert schema["properties"]["decision"]["enum"] == ["raise", "finish"]
    assert len(backend.requests) == len(critic.requests) == 2
    assert result["outcome"] == result["document"]["outcome"] == "waiting"
    assert outcomes(result) == ["accepted", "waiting", "waiting", "accepted"]


async def test_a_raised_limit_lets_the_run_go_on_where_it_stopped(build: Any) -> None:
    graph, planner, backend, critic = build(limits=Limits(max_images=2))
    result = await graph.ainvoke(ASK, THREAD)
    result = await answer(graph, raise_to(max_images=3))
    assert question(result)["cap"] == 3, "it holds, and is reached in its turn"
    result = await answer(graph, raise_to(max_images=9))
    assert (result["outcome"], result["document"]["reasons"]) == ("complete", [])
    assert outcomes(result) == ["accepted"] * 4
    assert (len(planner.requests), len(backend.requests), len(critic.requests)) == (1, 4, 4)
    assert result["spend"]["calls"] == {"planner": 1, "backend": 4, "critic": 4}
    assert not [step for step in result["document"]["steps"] if step.get("mark")]


async def test_finish_is_what_happens_without_asking(build: Any) -> None:
    graph, _, backend, _ = build(limits=Limits(max_images=2), on_limit="finish")
    plain = await graph.ainvoke(ASK, THREAD)
    graph, _, backend, _ = build(limits=Limits(max_images=2))
    await graph.ainvoke(ASK, THREAD)
    asked = await answer(graph, "finish")
    assert (asked["outcome"], asked["document"]["reasons"]) == ("partial", ["limit"])
    assert outcomes(asked) == outcomes(plain) == ["accepted", "skipped", "skipped", "accepted"]
    assert asked["document"]["steps"][1]["mark"] == plain["document"]["steps"][1]["mark"]
    assert len(backend.requests) == 2


async def test_a_step_with_attempts_goes_on_with_the_next(build: Any) -> None:
    graph, _, backend, critic = build(simple_plan(1), None, never, limits=Limits(max_images=2, max_attempts=3))
    result = await graph.ainvoke(ASK, THREAD)
    asked = question(result)
    assert asked["undone"] == [{"step": 0, "number": 1, "title": "Step 0", "state": "not accepted", "attempts": 2}]
    result = await answer(graph, raise_to(max_images=3))
    assert (len(backend.requests), len(critic.requests)) == (3, 3)
    assert len({request.seed for request in backend.requests}) == 3
    assert (result["outcome"], result["document"]["reasons"]) == ("partial", ["exhausted"])
    assert result["document"]["steps"][0]["attempts"] == 3


async def test_a_drawn_picture_is_judged_and_not_drawn_again(build: Any) -> None:
    graph, _, backend, critic = build(simple_plan(1), limits=Limits(max_calls=2))
    result = await graph.ainvoke(ASK, THREAD)
    assert question(result)["undone"][0]["state"] == "not judged"
    assert question(result)["says"] == "2 of 2 calls used; 1 step is not done."
    assert len(critic.requests) == 0
    result = await answer(graph, raise_to(max_calls=3))
    assert (result["outcome"], len(backend.requests), len(critic.requests)) == ("complete", 1, 1)


async def test_finish_keeps_the_best_of_what_is_drawn(build: Any) -> None:
    graph, *_ = build(simple_plan(2), None, never, limits=Limits(max_images=2, max_attempts=3))
    result = await graph.ainvoke(ASK, THREAD)
    result = await answer(graph, FINISH)
    assert (result["outcome"], outcomes(result)) == ("partial", ["exhausted", "skipped"])
    first, second = result["document"]["steps"]
    assert first["image"] and second["mark"] == (
        "This step was skipped. Limit max_images was reached, and it was said to finish with what is there."
    )
    assert result["document"]["reasons"] == ["limit"]


async def test_time_begins_anew_and_need_not_be_raised(build: Any) -> None:
    async def slow(request: Any) -> Any:
        await asyncio.sleep(0.25)
        return noise_card(request.prompt)

    graph, *_ = build(simple_plan(3), slow, limits=Limits(max_seconds=0.4))
    result = await graph.ainvoke(ASK, THREAD)
    rounds = 0
    while "__interrupt__" in result:
        asked = question(result)
        assert (asked["limit"], asked["cap"]) == ("max_seconds", 0.4 if rounds < 2 else 30)
        rounds += 1
        result = await answer(graph, "raise" if rounds == 1 else raise_to(max_seconds=30))
    assert rounds >= 1 and result["outcome"] == "complete"


async def test_finish_at_the_end_of_time_draws_nothing_more(build: Any) -> None:
    async def slow(request: Any) -> Any:
        await asyncio.sleep(0.25)
        return noise_card(request.prompt)

    # Only one attempt fits; it is kept, and what builds on it could be drawn, now that the clock begins anew.
    graph, _, backend, _ = build(simple_plan(3), slow, never, limits=Limits(max_seconds=0.4))
    await graph.ainvoke(ASK, THREAD)
    drawn = len(backend.requests)
    result = await answer(graph, FINISH)
    assert (outcomes(result), len(backend.requests)) == (["exhausted", "skipped", "skipped"], drawn)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (raise_to(max_images=2), "max_images=2 is not above what is used, 2."),
        (raise_to(max_images=1), "not above what is used"),
        (raise_to(max_calls=40), "max_calls is no limit of this run. Raise max_images or max_seconds."),
        (raise_to(max_seconds=90), "The run has reached max_images of 2, and that is not raised."),
        (raise_to(max_pictures=9), "max_pictures"),
        (raise_to(max_images="many"), "limits.max_images"),
        (raise_to(), "is not raised"),
        ("raise", "is not raised"),
        ("go on", "decision"),
        ({"decision": "finish", "limits": {"max_images": 9}}, "'finish' takes no limits"),
        (17, "LimitReview"),
    ],
)  # fmt: skip
async def test_an_answer_that_cannot_be_used_is_asked_for_again(build: Any, wrong: Any, says: str) -> None:
    graph, _, backend, _ = build(limits=Limits(max_images=2, max_seconds=60))
    before = question(await graph.ainvoke(ASK, THREAD))
    asked = question(await answer(graph, wrong))
    assert next(iter(asked)) == "error" and says in asked["error"]
    assert {**asked, "error": None, "spend": None} == {**before, "error": None, "spend": None}
    assert len(backend.requests) == 2
    assert (await answer(graph, raise_to(max_images=4)))["outcome"] == "complete"


async def test_two_limits_at_once_are_one_question(build: Any) -> None:
    # The plan, three drawings side by side, one critique: then no call is left, and no picture.
    graph, _, backend, _ = build(simple_plan(4, sources=[[]] * 4), limits=Limits(max_images=3, max_calls=5))
    result = await graph.ainvoke(ASK, THREAD)
    asked = question(result)
    assert {asked["limit"], *(other["limit"] for other in asked["also"])} == {"max_images", "max_calls"}
    result = await answer(graph, raise_to(max_calls=90))
    assert question(result)["limit"] == "max_images" and "also" not in question(result)
    result = await answer(graph, raise_to(max_images=90))
    assert (result["outcome"], len(backend.requests)) == ("complete", 4)


# --- with other questions -----------------------------------------------------------------------


async def test_with_reviews_of_plan_and_steps(build: Any) -> None:
    graph, _, backend, _ = build(approve={"plan", "steps"}, limits=Limits(max_images=1))
    result = await graph.ainvoke(ASK, THREAD)
    assert [one.value["ask"] for one in result["__interrupt__"]] == ["plan"]
    result = await answer(graph, "accept")
    assert question(result)["undone"], "the limit goes before the step that is drawn"
    result = await answer(graph, raise_to(max_images=2))
    assert sorted(one.value["step"] for one in result["__interrupt__"]) == [0, 3]
    result = await answer(graph, {one.id: {"decision": "accept"} for one in result["__interrupt__"]})
    assert question(result)["cap"] == 2 and len(backend.requests) == 2
    result = await answer(graph, FINISH)
    assert (result["outcome"], outcomes(result)) == ("partial", ["accepted", "skipped", "skipped", "accepted"])


async def test_what_a_limit_ended_is_put_before_a_reviewer_after_finish(build: Any) -> None:
    graph, _, backend, _ = build(
        simple_plan(2), None, never, approve={"steps"}, limits=Limits(max_images=2, max_attempts=3)
    )
    result = await graph.ainvoke(ASK, THREAD)
    assert question(result)
    result = await answer(graph, FINISH)
    (asked,) = result["__interrupt__"]
    assert (asked.value["ask"], asked.value["why"]) == ("step", "Limit max_images reached: 2 of 2 used.")
    result = await answer(graph, {"decision": "accept", "attempt": 0})
    assert (outcomes(result), len(backend.requests)) == (["accepted", "skipped"], 2)


async def test_a_step_sent_back_at_a_limit_asks_for_the_limit(build: Any) -> None:
    graph, _, backend, _ = build(simple_plan(1), approve={"steps"}, limits=Limits(max_images=1))
    result = await graph.ainvoke(ASK, THREAD)
    result = await answer(graph, {"decision": "revise", "prompt": "mine"})
    assert question(result)["undone"][0]["state"] == "not accepted"
    result = await answer(graph, raise_to(max_images=2))
    assert [request.prompt for request in backend.requests] == ["thing 0", "mine"]
    assert result["__interrupt__"][0].value["ask"] == "step"
    assert (await answer(graph, "accept"))["outcome"] == "complete"


async def test_a_remark_is_put_to_the_critic_once_there_are_calls_for_it(build: Any) -> None:
    graph, _, backend, critic = build(simple_plan(1), approve={"steps"}, limits=Limits(max_calls=3))
    await graph.ainvoke(ASK, THREAD)
    result = await answer(graph, {"decision": "revise", "remark": "Darker"})
    assert question(result)["undone"][0]["state"] == "not accepted"
    judged = len(critic.requests)
    result = await answer(graph, raise_to(max_calls=9))
    assert [check.reason for check in critic.requests[judged].checks if check.name == "reviewer"] == ["Darker"]
    assert len(backend.requests) == 2 and result["__interrupt__"][0].value["ask"] == "step"


@pytest.mark.parametrize("say", [FINISH, raise_to(max_images=9)])
async def test_with_questions_about_what_was_exhausted(build: Any, say: Any) -> None:
    graph, _, backend, _ = build(
        simple_plan(3, sources=[[], [], []]), None, never, on_exhausted="ask",
        limits=Limits(max_images=4, max_attempts=2),
    )  # fmt: skip
    result = await graph.ainvoke(ASK, THREAD)
    assert question(result)
    result = await answer(graph, say)
    steps = [one.value["step"] for one in result["__interrupt__"]]
    assert {one.value["ask"] for one in result["__interrupt__"]} == {"step"}
    assert len(steps) == (3 if say != FINISH else len(steps)) and steps
    result = await answer(graph, {one.id: {"decision": "accept"} for one in result["__interrupt__"]})
    assert result["outcome"] == ("complete" if say != FINISH else "partial")
    assert len(backend.requests) == (6 if say != FINISH else 4)


async def test_a_plan_made_anew_keeps_the_raised_limit_and_what_was_decided(make: Any) -> None:
    def planned(request: Any) -> Any:
        if request.existing is None:
            return simple_plan(2)
        return Changes(steps=(Change(change="keep", step=0), Change(change="redo", step=1, prompt="easier")))

    def judged(request: Any) -> Any:
        return "accept" if request.prompt in ("thing 0", "easier") else never(request)

    store = ArtifactStore.memory()
    graph, planner, backend, _ = make(
        planned, None, judged, on_exhausted="replan", on_limit="ask", limits=Limits(max_images=2, max_attempts=2),
        artifacts=store, checkpointer=InMemorySaver(), lookahead=False,
    )  # fmt: skip
    result = await graph.ainvoke(ASK, THREAD)
    result = await answer(graph, raise_to(max_images=4))
    assert (result["outcome"], len(planner.requests), len(backend.requests)) == ("complete", 2, 4)
    plan = PlanRecord.model_validate(store.get_json(result["document"]["plan"]))
    assert plan.settings["limits"]["max_images"] == 4
    (decided,) = plan.limit_decisions
    assert (decided.limit, decided.used, decided.cap) == ("max_images", 2, 2)
    assert decided.review == LimitReview.model_validate(raise_to(max_images=4))


async def test_nothing_is_planned_anew_after_finish(build: Any) -> None:
    graph, planner, *_ = build(
        simple_plan(2, sources=[[], []]), None, never, on_exhausted="replan",
        limits=Limits(max_images=3, max_attempts=2),
    )  # fmt: skip
    await graph.ainvoke(ASK, THREAD)
    result = await answer(graph, FINISH)
    assert (result["outcome"], len(planner.requests)) == ("partial", 1)
    assert set(outcomes(result)) == {"exhausted"}


# --- the rest of it -----------------------------------------------------------------------------


async def test_another_turn_has_the_limits_it_was_given(build: Any) -> None:
    graph, *_ = build(limits=Limits(max_images=2))
    await graph.ainvoke(ASK, THREAD)
    assert (await answer(graph, raise_to(max_images=9)))["outcome"] == "complete"
    again = await graph.ainvoke({"request": "Others"}, THREAD)
    assert question(again)["cap"] == 2
    assert (await answer(graph, FINISH))["outcome"] == "partial"
    third = await graph.ainvoke({"request": "Third"}, THREAD)
    assert question(third), "finish was said of one run"


async def test_a_run_is_asked_about_by_its_own_context(build: Any) -> None:
    graph, *_ = build(limits=Limits(max_images=2), on_limit="finish")
    result = await graph.ainvoke(ASK, THREAD, context=InterleaveContext(on_limit="ask"))
    assert question(result)
    with pytest.raises(ConfigError, match="without a thread"):
        graph2, *_ = build(limits=Limits(max_images=2))
        graph2.checkpointer = None
        await graph2.ainvoke(ASK)


async def test_a_limit_met_before_there_is_a_plan_is_not_asked_about(build: Any) -> None:
    async def slow(request: Any) -> Any:
        await asyncio.sleep(5)

    graph, *_ = build(slow, limits=Limits(max_seconds=0.05))
    result = await graph.ainvoke(ASK, THREAD)
    assert result["outcome"] == "failed" and "__interrupt__" not in result
    assert result["document"]["problem"]["error"] == "LimitReached"


@pytest.mark.parametrize("limits", [Limits(max_steps=2), Limits(max_attempts=1)])
async def test_caps_on_steps_and_attempts_are_no_limits_of_the_run(build: Any, limits: Limits) -> None:
    graph, *_ = build(CHAIN, None, never, limits=limits)
    assert "__interrupt__" not in await graph.ainvoke(ASK, THREAD)


def test_without_async(build: Any) -> None:
    graph, _, backend, _ = build(limits=Limits(max_images=1))
    result = graph.invoke(ASK, THREAD)
    assert question(result)["used"] == 1
    result = graph.invoke(Command(resume=raise_to(max_images=8)), THREAD)
    assert (result["outcome"], len(backend.requests)) == ("complete", 4)


@pytest.mark.parametrize("durability", ["exit", "async"])
async def test_another_process_goes_on_from_what_is_stored(make: Any, durability: Any) -> None:
    saver, store = InMemorySaver(), ArtifactStore.memory()
    options: Any = {"artifacts": store, "checkpointer": saver, "on_limit": "ask", "lookahead": False}
    drawn: list[str] = []
    for say in (None, raise_to(max_images=2), raise_to(max_images=3), raise_to(max_images=4)):
        graph, _, backend, _ = make(CHAIN, limits=Limits(max_images=1), **options)
        given: Any = ASK if say is None else Command(resume=say)
        result = await graph.ainvoke(given, THREAD, durability=durability)
        drawn += [request.prompt for request in backend.requests]
    assert sorted(drawn) == ["thing 0", "thing 1", "thing 2", "thing 3"]
    assert result["outcome"] == "complete" and result["spend"]["calls"] == {"planner": 1, "backend": 4, "critic": 4}


async def test_the_events_say_that_the_run_waits(build: Any) -> None:
    graph, *_ = build(limits=Limits(max_images=2))
    events = [event async for event in graph.astream(ASK, THREAD, stream_mode="custom")]
    assert events[-1]["type"] == "interleave.run" and events[-1]["phase"] == "waiting"
    assert [event["limit"] for event in events if event["type"] == "interleave.limit"] == ["max_images"]
    assert not [e for e in events if e.get("kind") == "placeholder"]
    events = [event async for event in graph.astream(Command(resume=FINISH), THREAD, stream_mode="custom")]
    assert [event["step"] for event in events if event.get("kind") == "placeholder"] == [1, 2]
    assert events[-1]["phase"] == "finish" and events[-1]["outcome"] == "partial"


async def test_with_a_sheet_of_characters(make: Any) -> None:
    plan = simple_plan(2)
    plan = plan.model_copy(
        update={"style_guide": plan.style_guide.model_copy(update={"characters": "Fred: a red fox"})}
    )
    graph, _, backend, _ = make(
        plan, limits=Limits(max_images=1), references="sheet", on_limit="ask", checkpointer=InMemorySaver(),
        lookahead=False,
    )  # fmt: skip
    result = await graph.ainvoke(ASK, THREAD)
    assert question(result)["cap"] == 1
    result = await answer(graph, raise_to(max_images=9))
    assert (result["outcome"], len(backend.requests)) == ("complete", 3)


async def test_what_waits_at_a_limit_can_be_read(make: Any) -> None:
    store = ArtifactStore.memory()
    graph, *_ = make(
        simple_plan(2), None, never, limits=Limits(max_images=2), on_limit="ask", artifacts=store,
        checkpointer=InMemorySaver(), lookahead=False,
    )  # fmt: skip
    result = await graph.ainvoke(ASK, THREAD)
    assert Document.load(result["document"], store).to_html()
    assert result["document"]["steps"][0]["image"]


class Tenth(ScriptedBackend):
    """A picture costs ten cents."""

    def __init__(self) -> None:
        paid = Usage(images=1, cost_usd=0.1)
        super().__init__(
            lambda asked: ImageResult((noise_card(asked.prompt, seed=asked.seed or 0),), usage=paid),
            capabilities=Capabilities(edit="instruct", max_references=4, billed=True),
        )
        self.model_name = "tenth"
        self.prices = Prices().merged({"tenth": {"picture": 0.1}})


async def test_money_is_asked_about_before_it_is_spent(build: Any) -> None:
    graph, _, backend, _ = build(CHAIN, Tenth(), limits=Limits(max_cost_usd=0.25))
    result = await graph.ainvoke(ASK, THREAD)
    asked = question(result)
    assert (asked["limit"], asked["used"], asked["cap"]) == ("max_cost_usd", pytest.approx(0.2), 0.25)
    assert asked["says"] == "0.20 of 0.25 US dollars used; 2 steps are not done."
    assert asked["suggested"] == {"max_cost_usd": pytest.approx(0.85)}, "six drawings more"
    result = await answer(graph, raise_to(max_cost_usd=0.22))
    assert "not above the cap there is, 0.25" in question(result)["error"]
    result = await answer(graph, raise_to(max_cost_usd=0.4))
    assert (result["outcome"], len(backend.requests)) == ("complete", 4)
    assert result["spend"]["cost_usd"] == pytest.approx(0.4)


async def test_with_several_pictures_for_each_attempt(build: Any) -> None:
    graph, _, backend, critic = build(simple_plan(2), limits=Limits(max_images=2), candidates=2)
    result = await graph.ainvoke(ASK, THREAD)
    asked = question(result)
    assert asked["suggested"]["max_images"] == 2 + 6 * len(asked["undone"])
    result = await answer(graph, raise_to(max_images=4))
    assert (result["outcome"], len(backend.requests), len(critic.requests)) == ("complete", 4, 4)


async def test_a_call_that_may_have_been_made_twice_is_told_once(build: Any) -> None:
    slow = iter([60.0])
    can = Capabilities(edit="instruct", max_references=4, billed=True)
    backend = ScriptedBackend(delay_s=lambda _: next(slow, 0.0), capabilities=can)
    graph, *_ = build(simple_plan(1), backend, limits=Limits(max_seconds=0.3))
    question(await graph.ainvoke(ASK, THREAD))
    events = [event async for event in graph.astream(Command(resume="raise"), THREAD, stream_mode="custom")]
    assert [event["code"] for event in events if event["type"] == "interleave.warning"].count("ambiguous") == 1
    assert events[-1]["outcome"] == "complete" and events[-1]["spend"]["ambiguous"] == 1
