"""A task that an invocation finished before it was cancelled is committed by the next one, which took no part in it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.types import Command

from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.limits import Limits
from langgraph_interleave.runs import Runs
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan

THREAD: Any = {"configurable": {"thread_id": "t"}}


async def test_the_document_is_composed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    saver = InMemorySaver()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), ScriptedBackend(), ScriptedCritic(), checkpointer=saver, on_limit="ask",
        limits=Limits(max_calls=2),
    )  # fmt: skip
    assert (await graph.ainvoke({"request": "x"}, THREAD))["outcome"] == "waiting"

    find, held = Runs.find, asyncio.Event()

    async def find_late(self: Runs, run_id: str, plan: str, progress: Any = None, **options: Any) -> Any:
        at = get_config().get("metadata", {}).get("langgraph_node")
        if at == "dispatch" and not held.is_set():
            held.set()
            await asyncio.Event().wait()  # dispatch is cut off here, beside the critique
        return await find(self, run_id, plan, progress, **options)

    monkeypatch.setattr(Runs, "find", find_late)
    raised = Command(resume={"decision": "raise", "limits": {"max_calls": 9}})
    running = asyncio.create_task(graph.ainvoke(raised, THREAD, durability="sync"))

    async def until_judged() -> None:
        while not any(  # noqa: ASYNC110 - nobody says when a checkpointer has written
            write[1] == "progress" and b"accepted" in write[2][1]
            for kept in list(saver.writes.values())
            for write in kept.values()
        ):
            await asyncio.sleep(0.005)

    await asyncio.wait_for(asyncio.gather(held.wait(), until_judged()), 5)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    result = await graph.ainvoke(None, THREAD)
    assert result["outcome"] == "complete" and result["document"]["steps"][0]["outcome"] == "accepted"
    assert (await graph.aget_state(THREAD)).next == ()
