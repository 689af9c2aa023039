"""A plan the user wrote, and runs that nobody judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from langgraph_interleave import create_interleave_graph
from langgraph_interleave.critics.unjudged import Unjudged
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.planners.given import GivenPlan
from langgraph_interleave.registry import init_critic, init_planner
from langgraph_interleave.testing import ScriptedBackend, simple_plan

ASK: Any = {"request": "a bean, in two pictures"}


async def test_a_generator_alone_draws_a_list_of_prompts() -> None:
    backend = ScriptedBackend()
    graph = create_interleave_graph(["a seed", "a sprout"], backend, "none")
    result = await graph.ainvoke(ASK)
    assert result["outcome"] == "complete"
    assert [asked.prompt for asked in backend.requests] == ["a seed", "a sprout"]
    assert result["document"]["notes"] == [Unjudged.note]
    assert all(step.get("quality") is None for step in result["document"]["steps"])


async def test_a_whole_plan_keeps_its_sources() -> None:
    plan = simple_plan(3)
    backend = ScriptedBackend()
    result = await create_interleave_graph(plan, backend, "none").ainvoke(ASK)
    assert result["outcome"] == "complete"
    assert [len(asked.references) for asked in backend.requests] == [len(step.sources) for step in plan.steps]


async def test_unjudged_is_not_unchecked() -> None:
    drawn: list[str] = []

    def white(prompt: str) -> Image.Image:
        drawn.append(prompt)
        return Image.new("RGB", (64, 64), "white")

    result = await create_interleave_graph(["a seed"], white, "none", checks=["not_blank"]).ainvoke(ASK)
    assert (result["outcome"], drawn) == ("partial", ["a seed"] * 3)


def test_a_plan_from_a_file(tmp_path: Path) -> None:
    plan = simple_plan(2)
    (tmp_path / "plan.json").write_text(plan.model_dump_json())
    (tmp_path / "prompts.json").write_text(json.dumps(["a seed", "a sprout"]))
    whole = init_planner(f"given:{tmp_path / 'plan.json'}")
    assert isinstance(whole, GivenPlan) and whole.plan == plan
    listed = init_planner(f"given:{tmp_path / 'prompts.json'}")
    assert isinstance(listed, GivenPlan) and listed.fingerprint == GivenPlan(["a seed", "a sprout"]).fingerprint
    assert listed.fingerprint != whole.fingerprint
    assert isinstance(init_critic("none"), Unjudged)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (None, "cannot be read: No such file"),
        ("{", "is not JSON"),
        ('{"steps": []}', "is none: steps: "),
        ("[1]", "is none"),
        ("[]", "list of texts"),
        ('["a", " "]', "list of texts"),
    ],
)
def test_what_is_no_plan_is_said(tmp_path: Path, written: str | None, says: str) -> None:
    path = tmp_path / "plan.json"
    if written is not None:
        path.write_text(written)
    with pytest.raises(ConfigError, match=says):
        GivenPlan.from_string(str(path))


def test_one_text_is_no_list_of_prompts() -> None:
    with pytest.raises(ConfigError, match="list of texts"):
        GivenPlan("a seed")
