"""A process of a reviewed run: it goes on with what it is told, says what is asked, and waits to be killed.

Called with a folder and, from the second time on, an answer for everything that was asked. A file
`options.json` in the folder holds options of the graph, and how many drawings the process survives.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from langgraph_interleave import ArtifactStore, Limits, create_interleave_graph
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


def drawing(folder: Path, survives: int | None) -> Any:
    """Draws; the process is killed when it comes to one drawing more than it survives."""
    left = iter(range(survives)) if survives is not None else itertools.count()

    def draw(request: Any) -> Any:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return noise_card(request.prompt, seed=request.seed or 0)

    return draw


async def go_on(folder: Path, answer: Any) -> None:
    """One invocation of the run; without an answer, and with a checkpoint, where it was cut off."""
    path = folder / "options.json"
    options: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"approve": ["plan", "steps"]}
    survives = options.pop("survives", None)
    options["limits"] = Limits(**options.get("limits", {}))
    billed = Capabilities(edit="instruct", max_references=4, billed=True)
    async with AsyncSqliteSaver.from_conn_string(str(folder / "state.sqlite")) as saver:
        graph = create_interleave_graph(
            ScriptedPlanner(noting(folder, "planner", lambda _: PLAN)),
            ScriptedBackend(
                noting(folder, "backend", drawing(folder, survives)),
                capabilities=billed,
            ),
            ScriptedCritic(noting(folder, "critic", lambda _: "accept")),
            artifacts=ArtifactStore.folder(folder / "store"),
            checkpointer=saver,
            **options,
        )
        begun = bool((await graph.aget_state(THREAD)).values)
        given: Any = None if begun else {"request": "Three chains"}
        if answer is not None:
            state = await graph.aget_state(THREAD)
            given = Command(resume={asked.id: answer for asked in state.interrupts})
        result = await graph.ainvoke(given, THREAD)
        asked = [[one.value["ask"], one.value.get("step")] for one in result.get("__interrupt__", ())]
        print(json.dumps({"outcome": result["outcome"], "asked": asked, "calls": result["spend"]["calls"]}), flush=True)
        time.sleep(600)  # noqa: ASYNC251 - until it is killed, with everything open


if __name__ == "__main__":
    asyncio.run(go_on(Path(sys.argv[1]), json.loads(sys.argv[2]) if len(sys.argv) > 2 else None))
