"""What no caller's own limits may pass: at the start, per run, and when a limit is asked about."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.limits import Limits
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan

ASK: Any = {"request": "things"}


def graph_of(ceiling: Limits | None, **options: Any) -> Any:
    return create_interleave_graph(
        ScriptedPlanner(simple_plan(4)), ScriptedBackend(), ScriptedCritic(), ceiling=ceiling, **options
    )


def test_a_cap_nobody_asked_for_comes_down_to_it() -> None:
    result = graph_of(Limits(max_images=2)).invoke(ASK)
    assert result["outcome"] == "partial" and result["spend"]["images"] == 2


def test_a_run_may_ask_for_less_and_not_for_more() -> None:
    graph = graph_of(Limits(max_images=3), limits=Limits(max_images=2))
    assert graph.invoke(ASK)["spend"]["images"] == 2
    assert graph.invoke(ASK, context=InterleaveContext(limits=Limits(max_images=3)))["spend"]["images"] == 3
    assert graph.invoke(ASK, context=InterleaveContext(limits=Limits(max_images=1)))["spend"]["images"] == 1
    for context in (InterleaveContext(limits=Limits(max_images=4)), {"limits": {"max_images": 4}}):
        with pytest.raises(ConfigError, match="max_images=4 is above the ceiling of 3"):
            graph.invoke(ASK, context=context)
    with pytest.raises(ConfigError, match="max_images=9 is above"):
        graph.invoke(ASK, {"configurable": {"limits": {"max_images": 9}}})


def test_only_what_is_set_in_it_counts() -> None:
    graph = graph_of(Limits(max_images=30))
    result = graph.invoke(ASK, context=InterleaveContext(limits=Limits(max_attempts=9, max_steps=200)))
    assert result["outcome"] == "complete"


def test_limits_above_it_are_refused_when_the_graph_is_made() -> None:
    with pytest.raises(ConfigError, match="max_attempts=5 is above the ceiling of 4"):
        graph_of(Limits(max_attempts=4), limits=Limits(max_attempts=5))
    with pytest.raises(ConfigError, match="ceiling is a int, no Limits"):
        graph_of(7)  # type: ignore[arg-type]


def test_nobody_who_is_asked_raises_a_limit_above_it() -> None:
    graph = graph_of(Limits(max_images=3), limits=Limits(max_images=2), on_limit="ask", checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "t"}}
    waiting = graph.invoke(ASK, thread)
    assert waiting["outcome"] == "waiting"
    question = waiting["__interrupt__"][0].value
    assert question["suggested"] == question["ceiling"] == {"max_images": 3}, "no more than can be answered"
    refused = graph.invoke(Command(resume={"decision": "raise", "limits": {"max_images": 4}}), thread)
    assert "above the ceiling of 3" in str(refused["__interrupt__"][0].value)
    raised = graph.invoke(Command(resume={"decision": "raise", "limits": {"max_images": 3}}), thread)
    assert raised["outcome"] == "waiting" and raised["spend"]["images"] == 3
    assert "suggested" not in raised["__interrupt__"][0].value
    assert graph.invoke(Command(resume="finish"), thread)["outcome"] == "partial"
