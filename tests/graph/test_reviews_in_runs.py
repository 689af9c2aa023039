"""People in the loop: plans and steps put before a reviewer, exhausted steps asked about or planned anew."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_interleave import ArtifactStore, Document, InterleaveContext, Limits, image_part
from langgraph_interleave.errors import (
    ConfigError,
    InterleaveError,
    InternalError,
    InvalidRequest,
    PlanError,
    Unavailable,
)
from langgraph_interleave.segments import astream_segments, in_order
from langgraph_interleave.testing import noise_card, simple_plan
from langgraph_interleave.types import Change, Changes, Critique, PlanRecord, StepRecord

THREAD: Any = {"configurable": {"thread_id": "t"}}
ASK: Any = {"request": "Two chains"}
#: 0 → 1, 2 → 3, and words at the end.
CHAINS = simple_plan(5, sources=[[], [0], [], [2], []], text=[4])
ACCEPT = {"decision": "accept"}


def asked(result: Any) -> list[Any]:
    return [question.value for question in result.get("__interrupt__", ())]


def steps_asked(result: Any) -> list[int]:
    return sorted(value["step"] for value in asked(result))


async def answer(
    graph: Any, result: Any, say: Any = ACCEPT, *, only: dict[int, Any] | None = None, **kwargs: Any
) -> Any:
    """Answer everything that is asked; `only` has other answers for some steps."""
    by_id = {q.id: (only or {}).get(q.value.get("step"), say) for q in result["__interrupt__"]}
    return await graph.ainvoke(Command(resume=by_id), THREAD, **kwargs)


def outcomes(result: Any) -> list[str]:
    return [step["outcome"] for step in result["document"]["steps"]]


def records(result: Any, store: ArtifactStore) -> list[StepRecord]:
    return [StepRecord.model_validate(store.get_json(step["record"])) for step in result["document"]["steps"]]


@pytest.fixture
def build(make: Any) -> Any:
    def made(plan: Any = CHAINS, *args: Any, **options: Any) -> Any:
        return make(plan, *args, checkpointer=InMemorySaver(), **options)

    return made


# --- the plan -----------------------------------------------------------------------------------


async def test_nothing_is_drawn_before_the_plan_is_approved(build: Any) -> None:
    graph, _, backend, _ = build(approve={"plan"}, lookahead=True, early_start=True)
    result = await graph.ainvoke(ASK, THREAD)
    assert not backend.requests
    assert result["outcome"] == result["document"]["outcome"] == "waiting"
    (question,) = asked(result)
    assert list(question)[:3] == ["ask", "title", "steps"]
    assert [step["number"] for step in question["steps"]] == [1, 2, 3, 4, 5]
    assert question["steps"][1]["caption"] == "Caption of step 1."
    assert question["estimate"].startswith("5.6 drawings (at most 12) and 5.6 critiques (at most 12), ")
    assert result["__interrupt__"][0].response_schema["properties"]["decision"]["enum"] == [
        "accept",
        "revise",
        "cancel",
    ]
    result = await answer(graph, result)
    assert result["outcome"] == "complete" and len(backend.requests) == 4
    assert "__interrupt__" not in result


async def test_a_reviewer_of_a_plan_edits_moves_and_deletes(build: Any) -> None:
    graph, planner, backend, _ = build(approve={"plan"})
    result = await graph.ainvoke(ASK, THREAD)
    steps = [
        {"change": "keep", "step": 2},
        {"change": "redo", "step": 0, "prompt": "my thing", "caption": "My words."},
        {"change": "keep", "step": 1},
        {"change": "insert", "op": "text", "caption": "The end."},
        {"change": "delete", "step": 3},
        {"change": "delete", "step": 4},
    ]
    result = await answer(graph, result, {"decision": "accept", "steps": steps, "title": "Mine"})
    assert result["outcome"] == "complete"
    assert sorted(request.prompt for request in backend.requests) == ["my thing", "thing 1", "thing 2"]
    document = result["document"]
    assert document["title"] == "Mine"
    assert [step["caption"] for step in document["steps"]] == [
        "Caption of step 2.",
        "My words.",
        "Caption of step 1.",
        "The end.",
    ]
    assert document["steps"][2]["sources"] == ["step:1"]
    assert len(planner.requests) == 1, "nobody was asked again"


async def test_a_remark_has_the_plan_made_anew_and_it_is_put_before_the_reviewer_again(build: Any) -> None:
    fewer = Changes(steps=(Change(change="keep", step=0), Change(change="keep", step=1)))
    graph, planner, backend, _ = build([CHAINS, fewer], approve={"plan"})
    result = await graph.ainvoke(ASK, THREAD)
    run_id = result["document"]["run_id"]
    result = await answer(graph, result, {"decision": "revise", "remark": "Only the first two"})
    assert not backend.requests
    assert [step["title"] for step in asked(result)[0]["steps"]] == ["Step 0", "Step 1"]
    assert planner.requests[1].existing.change.text == "Only the first two"
    assert not planner.requests[1].existing.pictures
    result = await answer(graph, result)
    assert (result["outcome"], result["document"]["run_id"]) == ("complete", run_id)
    assert len(result["document"]["steps"]) == 2 and result["document"]["version"] == 1
    assert result["spend"]["calls"]["planner"] == 2


async def test_a_plan_may_be_given_up(build: Any) -> None:
    graph, _, backend, _ = build(approve={"plan"})
    result = await answer(graph, await graph.ainvoke(ASK, THREAD), "cancel")
    assert result["outcome"] == "cancelled" and not backend.requests
    assert set(outcomes(result)) == {"cancelled"}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("perhaps", "decision"),
        ({"decision": "revise"}, "needs a remark"),
        ({"decision": "accept", "steps": [{"change": "keep", "step": 9}]}, "9"),
        ({"decision": "accept", "steps": [{"change": "redo", "step": 0, "sources": ["input:3"]}]}, "input:3"),
        ({"decision": "accept", "colour": "red"}, "colour"),
        (None, "PlanReview"),
        (["accept"], "PlanReview"),
    ],
)  # fmt: skip
async def test_an_answer_that_cannot_be_used_is_asked_for_again(build: Any, wrong: Any, says: str) -> None:
    graph, _, backend, _ = build(approve={"plan"})
    result = await graph.ainvoke(ASK, THREAD)
    if wrong is None:
        wrong = 17
    result = await answer(graph, result, wrong)
    (question,) = asked(result)
    assert next(iter(question)) == "error" and (says in question["error"] or "valid" in question["error"])
    assert not backend.requests
    assert (await answer(graph, result))["outcome"] == "complete"


async def test_what_a_reviewer_decided_about_a_plan_is_recorded(make: Any) -> None:
    store = ArtifactStore.memory()
    fewer = Changes(steps=(Change(change="keep", step=0),))
    graph, *_ = make([CHAINS, fewer], approve={"plan"}, artifacts=store, checkpointer=InMemorySaver())
    result = await answer(graph, await graph.ainvoke(ASK, THREAD), {"decision": "revise", "remark": "Shorter"})
    result = await answer(graph, result)
    plan = PlanRecord.model_validate(store.get_json(result["document"]["plan"]))
    assert plan.review == Critique(verdict="accept", judge="human") and plan.replaces is not None
    first = PlanRecord.model_validate(store.get_json(plan.replaces))
    assert first.review == Critique(verdict="revise", reasoning="Shorter", judge="human") and first.plan == CHAINS


# --- the steps ----------------------------------------------------------------------------------


async def test_reviewers_are_asked_together_when_nothing_is_in_flight(build: Any) -> None:
    graph, _, backend, _ = build(approve={"steps"}, lookahead=True)
    result = await graph.ainvoke(ASK, THREAD)
    assert steps_asked(result) == [0, 2]
    assert sorted(request.prompt for request in backend.requests) == ["thing 0", "thing 2"], (
        "nothing past a step nobody saw"
    )
    assert result["outcome"] == "waiting"
    shown = [step.get("image") is not None for step in result["document"]["steps"]]
    assert shown == [True, False, True, False, False]
    result = await answer(graph, result)
    assert steps_asked(result) == [1, 3]
    result = await answer(graph, result)
    assert result["outcome"] == "complete" and len(backend.requests) == 4
    assert result["spend"]["calls"] == {"planner": 1, "backend": 4, "critic": 4}


async def test_one_answer_of_several_moves_nothing_and_loses_nothing(build: Any) -> None:
    graph, _, backend, _ = build(approve={"steps"})
    result = await graph.ainvoke(ASK, THREAD)
    first = result["__interrupt__"][0]
    result = await graph.ainvoke(Command(resume={first.id: ACCEPT}), THREAD)
    assert steps_asked(result) == [2] or steps_asked(result) == [0, 2]
    assert len(backend.requests) == 2
    result = await answer(graph, result)
    assert steps_asked(result) == [1, 3]


async def test_a_reviewers_decisions(make: Any) -> None:
    store = ArtifactStore.memory()
    own = image_part(noise_card("my own").data, store)
    graph, _, backend, critic = make(
        simple_plan(5, sources=[[], [], [], [], [4 - 1]]),
        approve={"steps"},
        artifacts=store,
        checkpointer=InMemorySaver(),
    )
    result = await graph.ainvoke(ASK, THREAD)
    drawn, judged = len(backend.requests), len(critic.requests)
    result = await answer(
        graph,
        result,
        only={
            0: {"decision": "revise"},
            1: {"decision": "revise", "remark": "It is too dark."},
            2: {"decision": "revise", "prompt": "my prompt"},
            3: {"decision": "replace", "image": own, "remark": "Better"},
        },
    )
    # The step that builds on the reviewer's own picture starts from it.
    assert {0, 1, 2} <= set(steps_asked(result))
    prompts = sorted(request.prompt for request in backend.requests[drawn:])
    assert prompts[:3] == ["my prompt", "thing 0", "thing 1\nIt is too dark."] or "my prompt" in prompts
    remarked = [r for r in critic.requests[judged:] if any(check.name == "reviewer" for check in r.checks)]
    assert [check.reason for request in remarked for check in request.checks] == ["It is too dark."]
    assert remarked[0].after.data and remarked[0].attempt == 0
    while "__interrupt__" in result:
        result = await answer(graph, result, only={1: {"decision": "skip", "remark": "Not needed"}})
    assert outcomes(result) == ["accepted", "skipped", "accepted", "accepted", "accepted"]
    assert result["outcome"] == "partial" and result["document"]["reasons"] == ["failed_step"]
    kept = records(result, store)
    assert [attempt.review.verdict for attempt in kept[0].attempts if attempt.review] == ["revise", "accept"]
    assert kept[0].attempts[0].seed != kept[0].attempts[1].seed
    assert kept[3].attempts[-1].own and kept[3].picture is not None and kept[3].picture.uri == own["url"]
    assert kept[3].attempts[-1].review == Critique(verdict="accept", reasoning="Better", judge="human")
    assert len(kept[1].attempts[0].overruled) == 1 and kept[1].attempts[0].overruled[0].verdict == "accept"
    assert "Not needed" in result["document"]["steps"][1]["mark"]
    assert Document.load(result["document"], store).to_html()


async def test_the_refined_prompt_of_the_critic_carries_a_remark(make: Any) -> None:
    def judge(request: Any) -> Any:
        if any(check.name == "reviewer" for check in request.checks):
            return Critique(verdict="revise", reasoning="As the reviewer says.", refined_prompt="a brighter thing")
        return "accept"

    graph, _, backend, _ = make(simple_plan(1), verdicts=judge, approve={"steps"}, checkpointer=InMemorySaver())
    result = await graph.ainvoke(ASK, THREAD)
    result = await answer(graph, result, {"decision": "revise", "remark": "Brighter"})
    assert [request.prompt for request in backend.requests] == ["thing 0", "a brighter thing"]
    assert (await answer(graph, result))["document"]["steps"][0]["kept"] == 1


async def test_a_critic_that_accepts_all_the_same_does_not_overrule_a_reviewer(build: Any) -> None:
    graph, _, backend, _ = build(simple_plan(1), approve={"steps"})
    result = await graph.ainvoke(ASK, THREAD)
    result = await answer(graph, result, {"decision": "revise", "remark": "Brighter"})
    assert [request.prompt for request in backend.requests] == [
        "thing 0",
        "thing 0\nTo be mended, as a reviewer said: Brighter",
    ]
    assert steps_asked(result) == [0]


@pytest.mark.parametrize("answered", [{"decision": "revise"}, {"decision": "revise", "remark": "Darker"}])
async def test_a_step_sent_back_at_a_limit_is_asked_about_until_it_is_settled(build: Any, answered: Any) -> None:
    graph, _, backend, _ = build(simple_plan(1), approve={"steps"}, limits=Limits(max_images=1))
    result = await graph.ainvoke(ASK, THREAD)
    for _ in range(3):
        result = await answer(graph, result, answered)
        (question,) = asked(result)
        assert question["why"] == "Limit max_images reached: 1 of 1 used."
        assert question["attempt"] == 0
    result = await answer(graph, result)
    assert (result["outcome"], len(backend.requests)) == ("complete", 1)


async def test_another_attempt_may_go_past_the_limit_of_attempts(build: Any) -> None:
    graph, _, backend, _ = build(
        simple_plan(1),
        None,
        lambda _: Critique(verdict="revise", reasoning="no"),
        approve={"steps"},
        limits=Limits(max_attempts=2),
    )
    result = await graph.ainvoke(ASK, THREAD)
    assert asked(result)[0]["proposed"] == "exhausted" and len(backend.requests) == 2
    result = await answer(graph, result, {"decision": "revise"})
    assert len(backend.requests) == 3 and len(asked(result)[0]["attempts"]) == 3
    result = await answer(graph, result, {"decision": "accept", "attempt": 0})
    assert (result["outcome"], outcomes(result)) == ("complete", ["accepted"])
    assert result["document"]["steps"][0]["kept"] == 0 and not result["document"]["steps"][0].get("mark")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"decision": "accept", "attempt": 7}, "Attempt 7 has no picture"),
        ({"decision": "replace"}, "needs an image"),
        ({"decision": "replace", "image": "/etc/passwd"}, "cannot be used"),
        ({"decision": "replace", "image": "https://example.org/x.png"}, "cannot be used"),
        ({"decision": "replace", "image": {"type": "image", "base64": "AAAA", "mime_type": "image/png"}}, "bytes"),
        ({"decision": "replace", "image": "artifact://" + "0" * 64}, "not in the artifact store"),
        ({"decision": "replace", "image": {"type": "text", "text": "x"}}, "no picture"),
        ({"decision": "accept", "image": "artifact://" + "0" * 64}, "nothing else takes one"),
        ("yes", "decision"),
    ],
)  # fmt: skip
async def test_a_wrong_answer_about_a_step_is_asked_for_again(build: Any, wrong: Any, says: str) -> None:
    graph, _, backend, _ = build(simple_plan(1), approve={"steps"})
    result = await answer(graph, await graph.ainvoke(ASK, THREAD), wrong)
    assert says in asked(result)[0]["error"]
    assert len(backend.requests) == 1
    assert (await answer(graph, result))["outcome"] == "complete"


async def test_a_step_that_could_not_be_drawn_is_put_before_the_reviewer(build: Any) -> None:
    def draw(request: Any) -> Any:
        if request.prompt == "thing 0":
            raise InvalidRequest("no such thing", role="backend")
        return noise_card(request.prompt, seed=request.seed or 0)

    graph, *_ = build(simple_plan(2), draw, approve={"steps"})
    result = await graph.ainvoke(ASK, THREAD)
    (question,) = asked(result)
    assert question["proposed"] == "backend_failed" and "no such thing" in question["why"] and "image" not in question
    result = await answer(graph, result, {"decision": "accept"})
    assert "There is no picture to accept" in asked(result)[0]["error"]
    result = await answer(graph, result, {"decision": "revise", "prompt": "thing one"})
    result = await answer(graph, result)
    result = await answer(graph, result)
    assert (result["outcome"], outcomes(result)) == ("complete", ["accepted", "accepted"])


async def test_everything_is_asked_for_in_sync_calls_too(build: Any) -> None:
    graph, _, backend, _ = build(approve=["plan", "steps"])
    result = graph.invoke(ASK, THREAD)
    rounds = 0
    while "__interrupt__" in result:
        rounds += 1
        result = graph.invoke(Command(resume={q.id: ACCEPT for q in result["__interrupt__"]}), THREAD)
    assert (result["outcome"], rounds, len(backend.requests)) == ("complete", 3, 4)


async def test_a_reviewed_run_tells_what_it_does(build: Any) -> None:
    graph, *_ = build(simple_plan(1), approve={"steps"})
    events = [event async for event in graph.astream(ASK, THREAD, stream_mode="custom")]
    assert [e["phase"] for e in events if e["type"] == "interleave.run"] == ["start", "waiting"]
    assert events[-1]["outcome"] == "waiting" and events[-1]["spend"]["images"] == 1
    assert not [e for e in events if e.get("kind") == "image"], "nobody has accepted it"
    later = [event async for event in graph.astream(Command(resume=ACCEPT), THREAD, stream_mode="custom")]
    assert [e["critique"]["judge"] for e in later if e.get("kind") == "critique"] == ["human"]
    assert [e["kind"] for e in later if e.get("kind") == "image"] == ["image"]
    assert later[-1]["phase"] == "finish" and later[-1]["outcome"] == "complete"


async def test_nothing_is_left_running_while_somebody_is_asked(make: Any, landed: Any) -> None:
    from langgraph_interleave import Ledger

    ledger = Ledger(ArtifactStore.memory())
    graph, *_ = make(
        CHAINS, approve={"steps"}, ledger=ledger, artifacts=None, checkpointer=InMemorySaver(), lookahead=True
    )
    result = await graph.ainvoke(ASK, THREAD)
    await landed(ledger, 2.0)
    assert steps_asked(result) == [0, 2]


@pytest.mark.parametrize(
    "options", [{"approve": {"plan"}}, {"approve": {"steps"}}, {"on_exhausted": "ask"}, {"draft": True}]
)
async def test_without_a_thread_nobody_can_be_asked(make: Any, options: Any) -> None:
    graph, planner, *_ = make(2, **options)
    with pytest.raises(ConfigError, match="checkpointer"):
        await graph.ainvoke(ASK)
    assert not planner.requests


async def test_a_run_may_ask_for_it_by_its_context(build: Any) -> None:
    graph, *_ = build(simple_plan(1))
    result = await graph.ainvoke(ASK, THREAD, context=InterleaveContext(approve=("plan",)))
    assert [value["ask"] for value in asked(result)] == ["plan"]


async def test_a_new_turn_leaves_what_was_waiting(build: Any) -> None:
    graph, planner, *_ = build(simple_plan(1), approve={"steps"})
    await graph.ainvoke(ASK, THREAD)
    result = await graph.ainvoke({"request": "Something else"}, THREAD)
    assert planner.requests[-1].request.text == "Something else"
    result = await answer(graph, result)
    assert result["outcome"] == "complete"


# --- exhausted ----------------------------------------------------------------------------------


def never(request: Any) -> Any:
    return Critique(verdict="revise", reasoning="It is upside down.") if "thing 1" in request.prompt else "accept"


async def test_ask_asks_only_about_what_was_exhausted(build: Any) -> None:
    graph, *_ = build(CHAINS, None, never, on_exhausted="ask", limits=Limits(max_attempts=2))
    result = await graph.ainvoke(ASK, THREAD)
    assert steps_asked(result) == [1]
    assert asked(result)[0]["attempts"][1]["reasoning"] == "It is upside down."
    result = await answer(graph, result)
    assert (result["outcome"], result["document"]["reasons"]) == ("complete", [])


async def test_replan_plans_the_step_otherwise_and_keeps_what_was_accepted(build: Any) -> None:
    script = [
        CHAINS,
        Changes(
            steps=(
                *(Change(change="keep", step=i) for i in (0,)),
                Change(change="redo", step=1, prompt="a simpler one"),
                *(Change(change="keep", step=i) for i in (2, 3, 4)),
            )
        ),
    ]
    graph, planner, backend, _ = build(script, None, never, on_exhausted="replan", limits=Limits(max_attempts=2))
    result = await graph.ainvoke(ASK, THREAD)
    assert result["outcome"] == "complete" and "__interrupt__" not in result
    said = planner.requests[1].existing.change.text
    assert (
        "Step 2 could not be drawn as instructed in 2 attempts. What was said of the last: It is upside down." in said
    )
    assert planner.requests[1].existing.outcomes == {
        0: "accepted",
        1: "exhausted",
        2: "accepted",
        3: "accepted",
        4: "text_only",
    }
    assert sorted(request.prompt for request in backend.requests) == [
        "a simpler one",
        "thing 0",
        "thing 1",
        "thing 1",
        "thing 2",
        "thing 3",
    ]
    assert result["document"]["version"] == 1


async def test_replanning_is_bounded_and_ends_with_the_best(build: Any) -> None:
    def again(request: Any) -> Any:
        if request.existing is None:
            return simple_plan(2)
        return Changes(
            steps=(
                Change(change="keep", step=0),
                Change(change="redo", step=1, prompt=f"thing 1, {len(planner.requests)}"),
            )
        )

    graph, planner, backend, _ = build(
        again, None, never, on_exhausted="replan", limits=Limits(max_attempts=1, max_replans=2)
    )
    result = await graph.ainvoke(ASK, THREAD)
    assert len(planner.requests) == 3 and len(backend.requests) == 4
    assert (result["outcome"], outcomes(result)) == ("partial", ["accepted", "exhausted"])


@pytest.mark.parametrize("error", [PlanError("no plan.", remedy="none"), Unavailable("down.", remedy="wait")])
@pytest.mark.parametrize("approve", [(), ("plan",)])
async def test_what_was_drawn_is_delivered_where_no_other_plan_can_be_made(
    build: Any, error: InterleaveError, approve: Any
) -> None:
    script = lambda request: error if request.existing else simple_plan(3)  # noqa: E731
    graph, _, backend, _ = build(
        script, None, never, on_exhausted="replan", limits=Limits(max_attempts=1), approve=approve, lookahead=False
    )
    result = await graph.ainvoke(ASK, THREAD)
    if approve:
        result = await answer(graph, result)
    assert (result["outcome"], outcomes(result)) == ("partial", ["accepted", "exhausted", "accepted"])
    assert len(backend.requests) == 3 and all(step["image"] for step in result["document"]["steps"])
    assert f"Another plan could not be made. {error.message}" in result["document"]["warnings"]
    assert "problem" not in result["document"]


async def test_a_fault_of_the_planner_takes_no_picture_with_it(build: Any) -> None:
    script = lambda request: ValueError("a bug") if request.existing else simple_plan(3)  # noqa: E731
    graph, *_ = build(script, None, never, on_exhausted="replan", limits=Limits(max_attempts=1))
    with pytest.raises(InternalError) as caught:
        await graph.ainvoke(ASK, THREAD)
    document: Any = caught.value.document
    assert [step["outcome"] for step in document["steps"]] == ["accepted", "exhausted", "accepted"]


async def test_a_reviewer_is_asked_again_where_no_other_plan_can_be_made(build: Any) -> None:
    graph, _, backend, _ = build([simple_plan(2), PlanError("no plan", remedy="try")], approve={"plan"})
    result = await answer(graph, await graph.ainvoke(ASK, THREAD), {"decision": "revise", "remark": "Other"})
    (question,) = asked(result)
    assert (question["error"], len(question["steps"])) == ("no plan try", 2)
    result = await answer(graph, result)
    assert (result["outcome"], len(backend.requests)) == ("complete", 2)
    assert "problem" not in result["document"]


async def test_a_stream_tells_the_steps_of_another_plan_as_others(build: Any) -> None:
    first = simple_plan(3, sources=[[], [], []])
    second = Changes(
        steps=(
            Change(change="insert", op="generate", instruction="new", prompt="new", caption="New."),
            Change(change="keep", step=0),
            Change(change="redo", step=1, prompt="easier"),
            Change(change="keep", step=2),
        )
    )
    store = ArtifactStore.memory()
    graph, *_ = build(
        [first, second], None, never, on_exhausted="replan", limits=Limits(max_attempts=1), artifacts=store
    )
    told = [segment async for segment in astream_segments(graph, ASK, THREAD)]
    state = await graph.aget_state(THREAD)
    document = store.get_json(state.values["progress"]["document"])
    shown = [s for s in in_order(told) if s.kind in ("caption", "image")]
    assert [s.text for s in shown if s.text] == ["New.", *(f"Caption of step {i}." for i in range(3))]
    assert [s.image.sha256 for s in shown if s.image] == [step["image"]["sha256"] for step in document["steps"]]
    reasons = [s.text for s in told if s.step is None and s.kind == "reasoning"]
    assert len(reasons) == len(set(reasons)) == 2


async def test_what_the_critic_says_of_a_remark_is_told_beside_what_it_said_before(build: Any) -> None:
    says = iter(["Fine.", "Darker, then.", "Fine now."])
    graph, *_ = build(
        simple_plan(1), None, lambda _: Critique(verdict="accept", reasoning=next(says)), approve={"steps"}
    )
    told: list[Any] = []
    given: Any = ASK
    for decision in ({"decision": "revise", "remark": "Darker"}, {"decision": "accept"}, None):
        told += [segment async for segment in astream_segments(graph, given, THREAD)]
        given = Command(resume=decision)
    by_id = {s.segment_id: s for s in told}
    said = [s.text for s in in_order(by_id.values()) if s.kind == "reasoning" and s.step == 0]
    assert said == ["Fine.", "Darker, then.", "Fine now."]
    decided = [s.critique for s in in_order(by_id.values()) if s.kind == "critique"]
    assert [(one.judge, one.verdict) for one in decided if one] == [
        ("critic", "accept"), ("human", "revise"), ("critic", "revise"), ("critic", "accept"), ("human", "accept"),
    ]  # fmt: skip


async def test_replan_needs_nobody(make: Any) -> None:
    graph, planner, *_ = make(
        [simple_plan(2), simple_plan(1)], None, never, on_exhausted="replan", limits=Limits(max_attempts=1)
    )
    result = await graph.ainvoke(ASK)
    assert (result["outcome"], len(planner.requests)) == ("complete", 2)


# --- drafts -------------------------------------------------------------------------------------


async def test_a_draft_shows_a_sketch_of_every_step_for_nothing(make: Any) -> None:
    store = ArtifactStore.memory()
    graph, _, backend, _ = make(CHAINS, draft=True, artifacts=store, checkpointer=InMemorySaver(), size="64x64")
    events = [event async for event in graph.astream(ASK, THREAD, stream_mode="custom")]
    assert [event["step"] for event in events if event.get("kind") == "preview"] == [0, 1, 2, 3]
    question = (await graph.aget_state(THREAD)).tasks[0].interrupts[0].value
    sketches = [step.get("sketch") for step in question["steps"]]
    assert [sketch is not None for sketch in sketches] == [True, True, True, True, False]
    assert all(store.get(sketch["url"])[:4] == b"\x89PNG" for sketch in sketches if sketch)
    assert not backend.requests
    result = await graph.ainvoke(Command(resume=ACCEPT), THREAD)
    assert result["outcome"] == "complete" and len(backend.requests) == 4
    assert result["spend"]["calls"] == {"planner": 1, "backend": 4, "critic": 4} and result["spend"]["images"] == 4
    assert "sketches" not in result["document"]


async def test_a_draft_that_is_sent_back_is_sketched_again(make: Any) -> None:
    changed = Changes(steps=(Change(change="redo", step=0, prompt="a cat"), Change(change="keep", step=1)))
    graph, *_ = make([simple_plan(2), changed], draft=True, checkpointer=InMemorySaver(), size="64x64")
    result = await graph.ainvoke(ASK, THREAD)
    before = [step["sketch"]["url"] for step in asked(result)[0]["steps"]]
    result = await answer(graph, result, {"decision": "revise", "remark": "A cat"})
    after = [step["sketch"]["url"] for step in asked(result)[0]["steps"]]
    assert before[0] != after[0]


async def test_the_page_tells_what_a_reviewer_said(make: Any) -> None:
    store = ArtifactStore.memory()
    own = image_part(noise_card("my own").data, store)
    graph, *_ = make(simple_plan(1), approve={"steps"}, artifacts=store, checkpointer=InMemorySaver())
    result = await graph.ainvoke(ASK, THREAD)
    result = await answer(graph, result, {"decision": "revise", "remark": "It is <b>too dark</b>."})
    result = await answer(graph, result, {"decision": "replace", "image": own})
    page = Document.load(result["document"], store).to_html()
    assert "The reviewer said: It is &lt;b&gt;too dark&lt;/b&gt;." in page
    assert "The reviewer&#39;s own picture." in page
    assert page.count("Accepted by a reviewer") == 1


async def test_only_the_newest_decision_is_told(build: Any) -> None:
    graph, *_ = build(simple_plan(1), approve={"steps"})
    await graph.ainvoke(ASK, THREAD)
    await graph.ainvoke(Command(resume={"decision": "revise", "remark": "Larger"}), THREAD)
    accept = Command(resume={"decision": "accept", "attempt": 0})
    events = [event async for event in graph.astream(accept, THREAD, stream_mode="custom")]
    said = [(event["attempt"], event["critique"]["verdict"]) for event in events if event.get("kind") == "critique"]
    assert said == [(0, "accept")]


async def test_a_step_left_out_tells_no_decision_of_earlier(build: Any) -> None:
    graph, *_ = build(simple_plan(1), approve={"steps"})
    await graph.ainvoke(ASK, THREAD)
    await graph.ainvoke(Command(resume={"decision": "revise"}), THREAD)
    skip = Command(resume={"decision": "skip"})
    events = [event async for event in graph.astream(skip, THREAD, stream_mode="custom")]
    assert [event["kind"] for event in events if event["type"] == "interleave.segment"] == ["caption", "placeholder"]


async def test_the_steps_of_a_question_may_be_sent_back_edited(build: Any) -> None:
    graph, _, backend, _ = build(approve={"plan"}, draft=True, size="64x64")
    result = await graph.ainvoke(ASK, THREAD)
    steps = asked(result)[0]["steps"]
    del steps[3]  # what is left out is gone
    steps[0]["caption"] = "My words."
    steps[1]["prompt"] = "my thing"
    steps[3]["title"] = None
    steps.append({"op": "text", "caption": "The end."})
    result = await answer(graph, result, {"decision": "accept", "steps": [steps[2], *steps[:2], *steps[3:]]})
    assert result["outcome"] == "complete", asked(result)
    assert sorted(request.prompt for request in backend.requests) == ["my thing", "thing 0", "thing 2"]
    captions = [step.get("caption") for step in result["document"]["steps"]]
    assert captions == ["Caption of step 2.", "My words.", "Caption of step 1.", "Words of step 4.", "The end."]


async def test_of_changes_what_is_not_named_stays_where_it_is(build: Any) -> None:
    graph, *_ = build(approve={"plan"})
    result = await graph.ainvoke(ASK, THREAD)
    steps = [{"change": "recaption", "step": 1, "caption": "Mine."}, {"change": "delete", "step": 3}]
    result = await answer(graph, result, {"decision": "accept", "steps": steps})
    captions = [step["caption"] for step in result["document"]["steps"]]
    assert captions == ["Caption of step 0.", "Mine.", "Caption of step 2.", "Words of step 4."]


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ([{"step": 9, "caption": "x"}], "9"),
        ([{"op": "generate"}], "The new step"),
        ([{"step": 0, "colour": "red"}], "colour"),
        (["keep"], "valid"),
        ([], "steps"),
    ],
)  # fmt: skip
async def test_steps_that_cannot_be_are_refused_in_words(build: Any, steps: Any, says: str) -> None:
    graph, *_ = build(approve={"plan"})
    result = await answer(graph, await graph.ainvoke(ASK, THREAD), {"decision": "accept", "steps": steps})
    assert says in asked(result)[0]["error"]


async def test_another_title_is_enough_of_a_change(build: Any) -> None:
    graph, *_ = build(approve={"plan"})
    result = await answer(graph, await graph.ainvoke(ASK, THREAD), {"decision": "accept", "title": "Mine"})
    assert (result["outcome"], result["document"]["title"], len(result["document"]["steps"])) == ("complete", "Mine", 5)


async def test_what_the_planner_is_told_of_its_own_accord_is_nobodys_wish(build: Any) -> None:
    other = Changes(steps=(Change(change="keep", step=0), Change(change="redo", step=1, prompt="a simpler one")))
    script = [simple_plan(2), other]
    graph, *_ = build(script, None, never, on_exhausted="replan", limits=Limits(max_attempts=1))
    result = await graph.ainvoke(ASK, THREAD)
    assert [part["text"] for part in result["document"]["request"]["parts"]] == ["Two chains"]
    graph, *_ = build(simple_plan(2), approve={"plan"})
    result = await answer(graph, await graph.ainvoke(ASK, THREAD), {"decision": "accept", "title": "Mine"})
    assert [part["text"] for part in result["document"]["request"]["parts"]] == ["Two chains"]


async def test_a_draft_that_waits_shows_its_sketches(make: Any) -> None:
    store = ArtifactStore.memory()
    graph, *_ = make(CHAINS, draft=True, artifacts=store, checkpointer=InMemorySaver(), size="64x64")
    result = await graph.ainvoke(ASK, THREAD)
    steps = result["document"]["steps"]
    assert ["image" in step for step in steps] == [True, True, True, True, False]
    assert steps[0]["mark"].startswith("A sketch by code") and steps[0]["outcome"] == "waiting"
    assert "data:image/" in Document.load(result["document"], store).to_html()
    result = await graph.ainvoke(Command(resume=ACCEPT), THREAD)
    assert not [step for step in result["document"]["steps"] if step.get("mark")]


async def test_time_goes_on_where_it_was(build: Any) -> None:
    graph, *_ = build(simple_plan(1), lambda asked: _after(0.2, asked), approve={"steps"})
    result = await graph.ainvoke(ASK, THREAD)
    assert result["spend"]["seconds"] >= 0.2
    result = await answer(graph, result)
    assert 0.2 <= result["spend"]["seconds"] < 5.0


async def _after(seconds: float, request: Any) -> Any:
    await asyncio.sleep(seconds)
    return noise_card(request.prompt)


async def test_every_decision_about_an_attempt_is_kept_in_order(make: Any) -> None:
    store = ArtifactStore.memory()
    limits = Limits(max_images=1)
    graph, *_ = make(simple_plan(1), approve={"steps"}, artifacts=store, checkpointer=InMemorySaver(), limits=limits)
    result = await graph.ainvoke(ASK, THREAD)
    told: list[Any] = []
    for said in ({"decision": "revise", "remark": "One"}, {"decision": "revise", "remark": "Two"}, ACCEPT):
        events = [event async for event in graph.astream(Command(resume=said), THREAD, stream_mode="custom")]
        told += [(e["segment_id"], e["critique"]["judge"]) for e in events if e.get("kind") == "critique"]
    assert len({name for name, _ in told}) == len(told), told
    result = (await graph.aget_state(THREAD)).values
    (attempt,) = records(result, store)[0].attempts
    assert [one.reasoning for one in attempt.overruled if one.judge == "human"] == ["One", "Two"]
    assert attempt.review == Critique(verdict="accept", judge="human")
