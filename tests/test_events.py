"""The wire contract: forms, order, ids, and whole streams held against golden files."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave import events
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.errors import CritiqueError, Unavailable
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.limits import Limits
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Spend


def test_every_kind_has_a_place_and_a_track() -> None:
    assert set(events.KINDS) == set(get_args(events.Kind))
    assert set(get_args(events.ReasoningKind)) | set(get_args(events.AnswerKind)) == set(events.KINDS)
    for kind in events.KINDS:
        track = "answer" if kind in get_args(events.AnswerKind) else "reasoning"
        assert events.segment("r", 0, kind).track == track


def test_order_within_a_step() -> None:
    assert events.seq("caption") < events.seq("preview") < events.seq("critique") < events.seq("image")
    assert events.seq("image", attempt=0) < events.seq("preview", attempt=1)
    assert events.seq("reasoning", index=1) == events.seq("reasoning") + 1


def test_ids_are_the_same_for_the_same_segment() -> None:
    assert events.segment_id("r", 2, 1, "image") == "r:2:1:image:0"
    assert events.segment_id("r", None, 0, "plan") == "r:plan:0:plan:0"


def test_the_wire_form_leaves_out_what_is_not_there_but_the_step() -> None:
    assert events.to_dict(events.segment("r", None, "plan", text="x")) == {
        "v": 1, "run_id": "r", "t": 0.0, "type": "interleave.segment", "segment_id": "r:plan:0:plan:0",
        "step": None, "attempt": 0, "seq": 0, "track": "answer", "kind": "plan", "phase": "finish", "text": "x",
    }  # fmt: skip


@pytest.mark.parametrize(
    "event",
    [
        events.segment("r", 1, "caption", text="Dig."),
        events.RunEvent(run_id="r", phase="finish", outcome="partial", reasons=("limit",), spend=Spend(images=2)),
        events.StepEvent(run_id="r", step=0, phase="start"),
        events.AttemptEvent(run_id="r", step=0, attempt=1, phase="finish", verdict="revise"),
        events.LimitEvent(run_id="r", limit="max_images", used=2, cap=2),
        events.WarningEvent(run_id="r", code="step_count", message="m"),
    ],
)
def test_what_is_written_can_be_read(event: events.Event) -> None:
    wire = json.loads(json.dumps(events.to_dict(event)))
    assert events.from_dict(wire) == event


def test_foreign_events_are_none_and_broken_ones_an_error() -> None:
    assert events.from_dict("progress 3") is None
    assert events.from_dict({"type": "ui", "id": 1}) is None
    with pytest.raises(ValueError, match=r"interleave\.segment"):
        events.from_dict({"type": "interleave.segment", "v": 1})


@pytest.mark.nightly
@given(st.recursive(st.none() | st.text() | st.integers() | st.floats(), lambda x: st.dictionaries(st.text(), x)))
def test_reading_never_fails_otherwise(value: Any) -> None:
    if isinstance(value, dict):
        value = {**value, "type": "interleave.run"}
        with pytest.raises(ValueError, match="not a valid"):
            events.from_dict(value)
    else:
        assert events.from_dict(value) is None


SCENARIOS: dict[str, dict[str, Any]] = {
    "accepted": {"plan": simple_plan(2)},
    "revised_then_exhausted": {
        "plan": simple_plan(2),
        "verdicts": lambda a: "revise" if "1" in a.instruction or a.attempt == 0 else "accept",
        "limits": Limits(max_attempts=2),
    },
    "failures": {
        "plan": simple_plan(4, sources=[[], [0], [], []], text=[3]),
        "drawings": lambda a: Unavailable("down") if a.prompt == "thing 0" else noise_card(a.prompt, seed=a.seed),
        "verdicts": lambda a: CritiqueError("unreadable") if "2" in a.instruction else "accept",
    },
    "verified": {"plan": simple_plan(1), "publish": "verified"},
    "limit": {"plan": simple_plan(2), "limits": Limits(max_images=1)},
}


@pytest.mark.parametrize("name", list(SCENARIOS))
async def test_golden_streams(name: str, golden: Callable[[str, str], None]) -> None:
    scenario = dict(SCENARIOS[name])
    plan, drawings, verdicts = scenario.pop("plan"), scenario.pop("drawings", None), scenario.pop("verdicts", None)
    graph: Any = create_interleave_graph(
        ScriptedPlanner(plan),
        ScriptedBackend(drawings),
        ScriptedCritic(verdicts),
        artifacts=ArtifactStore.memory(),
        lookahead=False,
        **scenario,
    )
    parts = graph.astream(
        {"request": "things"},
        context=InterleaveContext(run_id="golden"),
        stream_mode=["custom"],
        version="v2",
        subgraphs=True,
    )
    lines = [line(part["data"]) async for part in parts]
    golden(f"events/{name}.jsonl", "\n".join(sorted(lines, key=place)) + "\n")


def line(event: dict[str, Any]) -> str:
    event.pop("t")
    if "spend" in event:
        event["spend"].pop("seconds")
    return json.dumps(event, ensure_ascii=False, sort_keys=True)


def place(text: str) -> tuple[int, int, int, str]:
    event = json.loads(text)
    last = event["type"] == "interleave.run" and event["phase"] == "finish"
    step = event.get("step")
    return (int(last), -1 if step is None else step, event.get("seq", -1), text)
