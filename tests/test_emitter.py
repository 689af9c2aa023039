"""The emitter by itself; whole streams are tested with the graph."""

from __future__ import annotations

import gc
import logging
import weakref
from typing import Any

import pytest
from langgraph.config import get_config

from langgraph_interleave.emitter import Emitter
from langgraph_interleave.testing import simple_plan
from langgraph_interleave.types import Spend, StepRecord

PLAN = simple_plan(2)


def brief(event: dict[str, Any]) -> str:
    return " ".join(str(event[name]) for name in ("type", "kind", "step", "phase", "text") if name in event)


def test_what_is_told_of_steps_is_held_back_until_the_plan_is_validated() -> None:
    told: list[Any] = []
    emitter = Emitter("r", writer=told.append)
    emitter.run_started()
    emitter.step_started(PLAN.steps[0])
    emitter.warning("backend", "Snapped.", 0)
    emitter.step_started(PLAN.steps[1])
    emitter.reasoning(None, "Hm.")
    assert [event["type"] for event in told] == ["interleave.run", "interleave.segment", "interleave.segment"]
    emitter.planned(PLAN, changed={0})
    assert [event.get("step") for event in told[4:]] == [1, 1], "nothing of the step that came out differently"
    emitter.step_started(PLAN.steps[0])
    emitter.warning("backend", "Snapped.", 0)
    assert [event["step"] for event in told[6:]] == [0, 0, 0], "it is told anew"


def test_what_was_begun_is_finished_before_the_run() -> None:
    told: list[Any] = []
    emitter = Emitter("r", writer=told.append)
    emitter.step_started(PLAN.steps[0])
    emitter.attempt_started(0, 0, 7, "p")
    emitter.reasoning(0, "I see a ")
    emitter.reasoning(0, "cat.")
    emitter.run_finished("cancelled", (), 2, Spend())
    assert [brief(event) for event in told[-4:]] == [
        "interleave.segment reasoning 0 finish I see a cat.",
        "interleave.attempt 0 finish",
        "interleave.step 0 finish",
        "interleave.run finish",
    ]
    emitter.reasoning(0, "more")
    emitter.concluded(PLAN.steps[0], StepRecord(index=0, outcome="cancelled"))
    assert told[-1]["type"] == "interleave.run", "nothing comes after it"


def test_steps_and_attempts_start_once() -> None:
    told: list[Any] = []
    emitter = Emitter("r", writer=told.append)
    for _ in range(2):
        emitter.step_started(PLAN.steps[0])
        emitter.attempt_started(0, 1, 7, "in other words")
    assert [brief(event) for event in told] == [
        "interleave.step 0 start",
        "interleave.segment caption 0 finish Caption of step 0.",
        "interleave.attempt 0 start",
        "interleave.segment refined_prompt 0 finish in other words",
    ]


def test_a_broken_consumer_costs_no_call(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[Any] = []

    def write(event: Any) -> None:
        calls.append(event)
        raise RuntimeError("Event loop is closed")

    emitter = Emitter("r", writer=write)
    with caplog.at_level(logging.ERROR):
        emitter.run_started()
        emitter.planned(PLAN)
    assert len(calls) == 1 and "the stream of run r" in caplog.text


async def test_a_writer_is_not_kept_alive_and_finds_its_namespace() -> None:
    """A run lives no longer than the writer of its invocation."""
    from langchain_core.runnables import RunnableLambda

    from langgraph_interleave.runs import _weakly

    seen: list[Any] = []

    def make(_: Any) -> Any:
        def writer(event: Any) -> None:
            seen.append((event, get_config().get("configurable", {})["checkpoint_ns"]))

        return _weakly(writer), weakref.ref(writer), writer

    config: Any = {"configurable": {"checkpoint_ns": "draw:1|planner:2", "held": "by the config"}}
    write, alive, writer = await RunnableLambda(make).ainvoke(None, config)
    write("one")
    assert seen == [("one", "draw:1|planner:2")]
    del writer
    gc.collect()
    assert alive() is None
    write("two")
    assert len(seen) == 1


@pytest.mark.parametrize("whole", ["I see a cat.", "I see a dog.", "I see a "])
def test_the_deltas_since_the_last_start_are_the_whole(whole: str) -> None:
    told: list[Any] = []
    emitter = Emitter("r", writer=told.append)
    emitter.reasoning(None, "I see ")
    emitter.reasoning(None, "a ")
    emitter.reasoning_finished(None, whole)
    starts = [number for number, event in enumerate(told) if event["phase"] == "start"]
    text = ""
    for event in told[starts[-1] + 1 : -1]:
        assert event["phase"] == "delta" and event["offset"] == len(text)
        text += event["text"]
    assert text == whole == told[-1]["text"]
