"""A process of a reviewed run: it goes on with what it is told, says what is asked, and waits to be killed.

Called with a folder and, from the second time on, an answer for everything that was asked.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from langgraph_interleave import ArtifactStore, create_interleave_graph
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Capabilities

#: Three chains of two, side by side.
PLAN = simple_plan(6, sources=[[], [0], [], [2], [], [4]])
THREAD: Any = {"configurable": {"thread_id": "reviewed"}}


def noting(folder: Path, role: str, said: Any) -> Any:
    """What a role says, with each call noted in a file."""

    def reply(request: Any) -> Any:
        with (folder / "calls.txt").open("a", encoding="utf-8") as file:
            about = getattr(request, "prompt", None) or getattr(request, "instruction", None) or "plan"
            file.write(json.dumps([role, about]) + "\n")
        return said(request)

    return reply


async def go_on(folder: Path, answer: Any) -> None:
    """One invocation of the run."""
    billed = Capabilities(edit="instruct", max_references=4, billed=True)
    async with AsyncSqliteSaver.from_conn_string(str(folder / "state.sqlite")) as saver:
        graph = create_interleave_graph(
            ScriptedPlanner(noting(folder, "planner", lambda _: PLAN)),
            ScriptedBackend(
                noting(folder, "backend", lambda asked: noise_card(asked.prompt, seed=asked.seed or 0)),
                capabilities=billed,
            ),
            ScriptedCritic(noting(folder, "critic", lambda _: "accept")),
            artifacts=ArtifactStore.folder(folder / "store"),
            approve={"plan", "steps"},
            checkpointer=saver,
        )
        given: Any = {"request": "Three chains"}
        if answer is not None:
            state = await graph.aget_state(THREAD)
            given = Command(resume={asked.id: answer for asked in state.interrupts})
        result = await graph.ainvoke(given, THREAD)
        asked = [[one.value["ask"], one.value.get("step")] for one in result.get("__interrupt__", ())]
        print(json.dumps({"outcome": result["outcome"], "asked": asked, "calls": result["spend"]["calls"]}), flush=True)
        time.sleep(600)  # noqa: ASYNC251 - until it is killed, with everything open


if __name__ == "__main__":
    asyncio.run(go_on(Path(sys.argv[1]), json.loads(sys.argv[2]) if len(sys.argv) > 2 else None))
