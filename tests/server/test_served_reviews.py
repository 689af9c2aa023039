"""People in the loop over the server: a plan approved, steps reviewed one by one and together, drafts."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from langgraph_interleave.imaging import measure_image

pytestmark = pytest.mark.server
SMALL: dict[str, Any] = {"seed": 7, "size": "64x64"}
BEAN = {"request": "How to plant a bean, in 2 steps"}


def waiting(sdk: Any, thread: str) -> dict[str, dict[str, Any]]:
    """What somebody is asked, by the id of the interrupt, as Studio reads it."""
    state: Any = sdk.threads.get_state(thread)
    assert sdk.threads.get(thread)["status"] == "interrupted"
    asked = {each["id"]: each["value"] for task in state["tasks"] for each in task["interrupts"]}
    assert asked == {each["id"]: each["value"] for each in state["interrupts"]}
    return asked


def is_shown(block: dict[str, Any]) -> bool:
    return measure_image(httpx.get(block["url"], trust_env=False).content) is not None


def test_nothing_is_drawn_before_a_plan_is_approved(sdk: Any, thread: str) -> None:
    context = SMALL | {"approve": ["plan"]}
    asked: Any = sdk.runs.wait(thread, "interleave", input=BEAN, context=context)
    assert asked["outcome"] == "waiting"
    assert asked["spend"]["images"] == 0
    [(_, question)] = waiting(sdk, thread).items()
    assert list(question)[:3] == ["ask", "title", "steps"], "words come first"
    assert question["ask"] == "plan"
    assert [step["number"] for step in question["steps"]] == [1, 2]
    assert all(step["caption"] and step["title"] for step in question["steps"])
    [schema] = [each["response_schema"] for each in asked["__interrupt__"]]
    assert schema["properties"]["decision"]["enum"] == ["accept", "revise", "cancel"]
    done: Any = sdk.runs.wait(thread, "interleave", command={"resume": {"decision": "accept"}}, context=context)
    assert done["outcome"] == "complete"
    assert done["spend"]["calls"]["planner"] == 1, "the plan is not asked for again"


def test_a_plan_is_given_up(sdk: Any, thread: str) -> None:
    context = SMALL | {"approve": ["plan"]}
    sdk.runs.wait(thread, "interleave", input=BEAN, context=context)
    done: Any = sdk.runs.wait(thread, "interleave", command={"resume": "cancel"}, context=context)
    assert done["outcome"] == "cancelled"
    assert done["spend"]["images"] == 0


def test_a_plan_is_changed_by_hand(sdk: Any, thread: str) -> None:
    context = SMALL | {"approve": ["plan"]}
    sdk.runs.wait(thread, "interleave", input=BEAN, context=context)
    steps = [{"change": "keep", "step": 0}, {"change": "recaption", "step": 1, "caption": "Wait for a week."}]
    answer = {"decision": "accept", "steps": steps}
    done: Any = sdk.runs.wait(thread, "interleave", command={"resume": answer}, context=context)
    while done["outcome"] == "waiting":
        [(name, question)] = waiting(sdk, thread).items()
        assert question["steps"][1]["caption"] == "Wait for a week."
        done = sdk.runs.wait(thread, "interleave", command={"resume": {name: "accept"}}, context=context)
    assert [step["caption"] for step in done["document"]["steps"]][1] == "Wait for a week."


def test_steps_in_a_row_are_asked_about_one_by_one(sdk: Any, thread: str) -> None:
    context = SMALL | {"approve": ["steps"]}
    done: Any = sdk.runs.wait(thread, "interleave", input=BEAN, context=context)
    rounds = 0
    while done["outcome"] == "waiting":
        [(name, question)] = waiting(sdk, thread).items()
        assert question["ask"] == "step" and question["step"] == rounds
        assert list(question)[:5] == ["ask", "step", "number", "title", "caption"]
        assert is_shown(question["image"])
        assert all(is_shown(attempt["image"]) for attempt in question["attempts"])
        rounds += 1
        done = sdk.runs.wait(thread, "interleave", command={"resume": {name: {"decision": "accept"}}}, context=context)
    assert rounds == 2
    assert done["outcome"] == "complete"


def test_parallel_steps_are_answered_together_by_a_map(sdk: Any, thread: str) -> None:
    context = {"approve": ["steps"]}
    first: Any = sdk.runs.wait(thread, "parallel", input={"request": "things"}, context=context)
    questions = waiting(sdk, thread)
    assert sorted(question["step"] for question in questions.values()) == [0, 1, 2]
    assert len({each["id"] for each in first["__interrupt__"]}) == 3
    of = {question["step"]: name for name, question in questions.items()}
    answers = {
        of[0]: {"decision": "accept"},
        of[1]: {"decision": "revise", "prompt": "thing 1, but blue"},
        of[2]: {"decision": "skip", "remark": "Not needed."},
    }
    sdk.runs.wait(thread, "parallel", command={"resume": answers}, context=context)
    [(name, question)] = waiting(sdk, thread).items()
    assert question["step"] == 1
    assert [attempt["prompt"] for attempt in question["attempts"]] == ["thing 1", "thing 1, but blue"]
    done: Any = sdk.runs.wait(thread, "parallel", command={"resume": {name: "accept"}}, context=context)
    assert [step["outcome"] for step in done["document"]["steps"]] == ["accepted", "accepted", "skipped"]
    assert done["spend"]["calls"]["backend"] == 4, "no call is made twice"


def test_one_of_several_may_be_answered_alone(sdk: Any, thread: str) -> None:
    context = {"approve": ["steps"]}
    sdk.runs.wait(thread, "parallel", input={"request": "things"}, context=context)
    names = list(waiting(sdk, thread))
    done: Any = {}
    for answered, name in enumerate(names, start=1):
        done = sdk.runs.wait(thread, "parallel", command={"resume": {name: "accept"}}, context=context)
        assert {each["id"] for each in done.get("__interrupt__", ())} == set(names[answered:])
        if answered < 3:
            assert set(waiting(sdk, thread)) == set(names[answered:])
    assert done["outcome"] == "complete"
    assert done["spend"]["calls"]["backend"] == 3


def test_an_answer_that_cannot_be_used_is_asked_for_again(sdk: Any, thread: str) -> None:
    context = SMALL | {"approve": ["plan"]}
    sdk.runs.wait(thread, "interleave", input=BEAN, context=context)
    again: Any = sdk.runs.wait(thread, "interleave", command={"resume": {"decision": "maybe"}}, context=context)
    assert "__error__" not in again
    [question] = waiting(sdk, thread).values()
    assert "decision" in str({key: value for key, value in question.items() if key not in ("steps", "answers")})
    done: Any = sdk.runs.wait(thread, "interleave", command={"resume": "accept"}, context=context)
    assert done["outcome"] == "complete"


def test_a_draft_shows_sketches_first(sdk: Any, thread: str) -> None:
    context = SMALL | {"draft": True}
    asked: Any = sdk.runs.wait(thread, "interleave", input=BEAN, context=context)
    assert asked["spend"]["images"] == 0
    [question] = waiting(sdk, thread).values()
    assert question["ask"] == "plan"
    assert [is_shown(step["sketch"]) for step in question["steps"]] == [True, True]
    done: Any = sdk.runs.wait(thread, "interleave", command={"resume": "accept"}, context=context)
    assert done["outcome"] == "complete"


def test_an_agent_waits_for_the_reviewer_of_its_document(sdk: Any, thread: str) -> None:
    context = SMALL | {"approve": ["plan"]}
    given = {"messages": [{"role": "user", "content": BEAN["request"]}]}
    asked: Any = sdk.runs.wait(thread, "agent", input=given, context=context)
    [question] = [each["value"] for each in asked["__interrupt__"]]
    assert question["ask"] == "plan"
    done: Any = sdk.runs.wait(thread, "agent", command={"resume": {"decision": "accept"}}, context=context)
    assert "__interrupt__" not in done
    artifact = next(message["artifact"] for message in done["messages"] if message["type"] == "tool")
    assert artifact["outcome"] == "complete"
    assert artifact["spend"]["calls"]["planner"] == 1
