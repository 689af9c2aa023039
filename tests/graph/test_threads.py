"""Savers, turns, resuming, nesting, strict serialisation."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel
from typing_extensions import TypedDict

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan

Make = Callable[..., Any]
ASK: Any = {"request": "things"}
THREAD: Any = {"configurable": {"thread_id": "t"}}


def test_turns_on_a_thread_with_sqlite(make: Make, tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "c.sqlite")) as saver:
        graph, planner, backend, _ = make(3, checkpointer=saver)
        one = graph.invoke({"request": "first"}, THREAD)
        two = graph.invoke({"request": "second"}, THREAD)
        assert one["outcome"] == two["outcome"] == "complete"
        assert one["document"]["run_id"] != two["document"]["run_id"]
        assert len(backend.requests) == 6 and len(planner.requests) == 2
        state = graph.get_state(THREAD).values
        assert state["progress"]["run_id"] == two["document"]["run_id"] and state["progress"]["steps"] == {}
        assert list(state["progress"]["history"]) == [one["document"]["run_id"]], "an earlier turn leaves one digest"
        assert state["document"] == two["document"]


async def test_turns_on_a_thread_with_async_sqlite(make: Make, tmp_path: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "c.sqlite")) as saver:
        graph, *_ = make(3, checkpointer=saver)
        assert (await graph.ainvoke(ASK, THREAD))["outcome"] == "complete"
        assert (await graph.ainvoke(ASK, THREAD))["outcome"] == "complete"


async def test_the_same_run_id_never_pays_twice(make: Make) -> None:
    graph, planner, backend, critic = make(
        3, verdicts=lambda a: "revise" if a.attempt == 0 else "accept", lookahead=False
    )
    context = InterleaveContext(run_id="mine")
    one = await graph.ainvoke(ASK, context=context)
    counts = [len(role.requests) for role in (planner, backend, critic)]
    two = await graph.ainvoke(ASK, context=context)
    assert [len(role.requests) for role in (planner, backend, critic)] == counts
    assert two["spend"]["replayed"] == sum(two["spend"]["calls"].values()) == sum(counts)
    assert one["document"]["steps"] == two["document"]["steps"]


@pytest.mark.parametrize("saver", ["memory", "sqlite"])
async def test_a_cancelled_run_is_resumed_without_paying_twice(make: Make, tmp_path: Path, saver: str) -> None:
    artifacts = ArtifactStore.folder(tmp_path / "store")
    stuck = threading.Event()

    async def draw(asked: Any) -> Any:
        if asked.prompt == "thing 2" and not stuck.is_set():
            stuck.set()
            await asyncio.sleep(30)
        return await ScriptedBackend()._script.reply(asked)

    def scripted(**options: Any) -> Any:
        return make(4, drawings=draw, artifacts=artifacts, lookahead=False, **options)

    async def scenario(checkpointer: Any) -> None:
        graph, _, backend, critic = scripted(checkpointer=checkpointer)
        task = asyncio.create_task(graph.ainvoke(ASK, THREAD))
        await asyncio.to_thread(stuck.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(backend.requests) == 3 and len(critic.requests) == 2
        # Another graph on the same stores, as after a restart of the process.
        again, planner2, backend2, critic2 = scripted(checkpointer=checkpointer)
        result = await again.ainvoke(None, THREAD)
        assert result["outcome"] == "complete"
        assert [len(r.requests) for r in (planner2, backend2, critic2)] == [0, 2, 2], "only what was in flight"
        assert [step["outcome"] for step in result["document"]["steps"]] == ["accepted"] * 4

    if saver == "memory":
        await scenario(InMemorySaver())
    else:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "c.sqlite")) as sqlite:
            await scenario(sqlite)


async def test_a_call_that_a_dead_process_had_begun_is_reported(make: Make) -> None:
    artifacts = ArtifactStore.memory()
    graph, _, backend, _ = make(1, artifacts=artifacts, lookahead=False)
    context = InterleaveContext(run_id="mine")
    await graph.ainvoke(ASK, context=context)
    record = next(call for call in artifacts.list_calls("mine") if call["role"] == "backend")
    begun = {"status": "started", "result": None, "t_end": None, "lease_until": 0.0}
    artifacts.write_call("mine", record["key"], record | begun | {"owner": "elsewhere/1/0"})
    parts = graph.astream(ASK, context=context, stream_mode=["custom"], version="v2", subgraphs=True)
    events = [part["data"] async for part in parts]
    assert len(backend.requests) == 2, "it is made anew"
    warnings = [(e["code"], e["step"]) for e in events if e["type"] == "interleave.warning"]
    assert warnings == [("ambiguous", 0)]
    assert events[-1]["spend"]["ambiguous"] == 1


async def test_a_cancelled_run_leaves_no_call_behind(make: Make) -> None:
    plan = simple_plan(3, sources=[[], [], []])
    drawing = threading.Semaphore(0)

    def delay(_: Any) -> float:
        drawing.release()
        return 5.0

    graph, *_ = make(plan, drawings=ScriptedBackend(delay_s=delay))
    task = asyncio.create_task(graph.ainvoke(ASK))
    for _ in range(3):
        await asyncio.to_thread(drawing.acquire)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.1)
    from langgraph_interleave.background import background_loop

    left = [t for t in asyncio.all_tasks(background_loop()) if "flight" in t.get_name()]
    assert left == []


class Parent(TypedDict):
    request: str
    document: dict[str, Any]
    outcome: str
    note: str


class Theirs(BaseModel):
    """A parent's context, with a field of the same name that means something else."""

    seed: str = "a flower's"


async def test_as_a_node_of_a_parent_with_other_state_and_context(make: Make) -> None:
    graph, *_ = make(2)
    parent = StateGraph(Parent, context_schema=Theirs)
    parent.add_node("ask", lambda state: {"request": "two things", "note": "kept"})
    parent.add_node("draw", graph)
    parent.add_edge(START, "ask")
    parent.add_edge("ask", "draw")
    parent.add_edge("draw", END)
    compiled: Any = parent.compile(checkpointer=InMemorySaver())
    parts = [
        part
        async for part in compiled.astream(
            {}, THREAD, context=Theirs(), stream_mode=["custom", "values"], version="v2", subgraphs=True
        )
    ]
    segments = [p for p in parts if p["type"] == "custom" and p["data"]["type"] == "interleave.segment"]
    assert segments and all(len(p["ns"]) == 1 for p in segments)
    final: Any = [p["data"] for p in parts if p["type"] == "values" and not p["ns"]][-1]
    assert final["outcome"] == "complete" and final["note"] == "kept" and final["document"]["steps"]


async def test_many_runs_in_one_process_do_not_mix(make: Make) -> None:
    graph, *_ = make(3, verdicts=lambda a: "revise" if a.attempt == 0 else "accept")
    results = await asyncio.gather(*[graph.ainvoke({"request": f"run {n}"}) for n in range(8)])
    ids = {result["document"]["run_id"] for result in results}
    assert len(ids) == 8
    assert all(result["outcome"] == "complete" and result["spend"]["calls"]["backend"] >= 6 for result in results)


def test_context_is_laid_over_the_defaults(make: Make) -> None:
    graph, planner, backend, _ = make(1, steps=4, size="32x48")
    graph.invoke(ASK, {"configurable": {"seed": 3, "steps": 2}})
    assert planner.requests[-1].steps == 2 and planner.requests[-1].seed == 3
    graph.invoke(ASK, {"configurable": {"steps": 2}}, context=InterleaveContext(seed=9))
    assert planner.requests[-1].steps == 4, "a context of ours leaves the config aside"
    assert planner.requests[-1].seed == 9 and (backend.requests[-1].width, backend.requests[-1].height) == (32, 48)


def test_checkpoints_stay_small(tmp_path: Path) -> None:
    """State holds one digest a step: 1.5 kB of plan text a step does not show in the checkpoints."""
    sizes = {count: growth(tmp_path, count) for count in (10, 40)}
    assert sizes[10][0] <= 8_000 and sizes[40][0] <= 15_000
    for first, second, third in sizes.values():
        # LangGraph notes a version per channel in every checkpoint, and compose's channels have one only from
        # the end of the first turn on; the next turn's first checkpoint carries the document once more.
        assert second <= first * 1.3 and third <= second * 1.05, "turns do not add up"


def growth(tmp_path: Path, count: int) -> list[float]:
    """Bytes of checkpoints and writes per step, of three turns."""
    plan = simple_plan(count)
    steps = [
        step.model_copy(update={"instruction": "i" * 700, "prompt": f"thing {step.index} " + "p" * 700})
        for step in plan.steps
    ]
    graph_options: Any = {"lookahead": False}
    with SqliteSaver.from_conn_string(str(tmp_path / f"{count}.sqlite")) as saver:
        graph = create_interleave_graph(
            ScriptedPlanner(plan.model_copy(update={"steps": tuple(steps)})),
            ScriptedBackend(),
            ScriptedCritic(),
            checkpointer=saver,
            **graph_options,
        )
        totals = [0]
        for _ in range(3):
            graph.invoke(ASK, THREAD)
            rows = saver.conn.execute(
                "select (select sum(length(checkpoint) + length(metadata)) from checkpoints)"
                " + (select coalesce(sum(length(value)), 0) from writes)"
            ).fetchone()
            totals.append(rows[0])
    return [(after - before) / count for before, after in itertools.pairwise(totals)]


def test_under_strict_serialisation() -> None:
    code = """
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.testing import *
import warnings; warnings.simplefilter("error")
roles = ScriptedPlanner(simple_plan(2)), ScriptedBackend(), ScriptedCritic()
graph = create_interleave_graph(*roles, checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "t"}}
for _ in range(2):
    assert graph.invoke({"request": "x"}, config)["outcome"] == "complete"
assert graph.get_state(config).values["document"]["steps"][0]["image"]["sha256"]
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"LANGGRAPH_STRICT_MSGPACK": "true", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Blocked" not in done.stderr and "unregistered" not in done.stderr
