"""A drawing that moderation refuses and that is sent again in other words is two requests: both count."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_interleave.errors import ContentBlocked, Unavailable
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.limits import Limits
from langgraph_interleave.testing import RephrasingPlanner, ScriptedBackend, ScriptedCritic, noise_card, simple_plan

ASK: Any = {"request": "one thing"}


async def made(second: Any, **limits: Any) -> tuple[dict[str, Any], ScriptedBackend, RephrasingPlanner]:
    backend = ScriptedBackend(lambda asked: second if "gentle" in asked.prompt else ContentBlocked("No."))
    planner = RephrasingPlanner(simple_plan(1))
    graph = create_interleave_graph(planner, backend, ScriptedCritic(), limits=Limits(**limits), lookahead=False)
    return await graph.ainvoke(ASK), backend, planner


async def test_both_requests_count_when_the_second_draws() -> None:
    result, backend, _ = await made(noise_card("a pot"))
    assert result["outcome"] == "complete" and len(backend.requests) == 2
    assert result["spend"]["calls"] == {"planner": 2, "backend": 2, "critic": 1} and result["spend"]["images"] == 1


async def test_both_count_when_the_second_is_refused_too() -> None:
    result, backend, planner = await made(ContentBlocked("Still no."))
    assert [step["outcome"] for step in result["document"]["steps"]] == ["blocked"]
    assert len(backend.requests) == 2 and planner.rephrased == ["thing 0"], "it is said in other words once"
    assert result["spend"]["calls"] == {"planner": 2, "backend": 2}


async def test_the_first_counts_when_the_second_never_arrives() -> None:
    result, backend, _ = await made(Unavailable("Nobody is there."), max_repeats=2)
    assert len(backend.requests) == 3
    assert result["spend"]["calls"] == {"planner": 2, "backend": 1}


@pytest.mark.parametrize("max_calls", [2, 3])
async def test_no_limit_is_passed_for_other_words(max_calls: int) -> None:
    result, backend, planner = await made(noise_card("a pot"), max_calls=max_calls)
    assert sum(result["spend"]["calls"].values()) == max_calls
    assert (len(backend.requests), len(planner.rephrased)) == (1, max_calls - 2)
    assert result["document"]["steps"][0]["outcome"] == ("blocked" if max_calls == 2 else "skipped")
