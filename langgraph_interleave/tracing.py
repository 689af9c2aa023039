"""Shows each paid call in a trace, as a tool run of the node that waits for it.

The ledger makes the call itself, outside every run's context, perhaps before the node began; so the
run is opened here, with references only. Image bytes never reach a callback.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.runnables.config import get_async_callback_manager_for_config
from langgraph.config import get_config

from langgraph_interleave.errors import InterleaveError
from langgraph_interleave.types import Problem


class ToolRun:
    """What a tool run will report at its end."""

    def __init__(self) -> None:
        self.output: dict[str, Any] = {}
        self.problem: Problem | None = None


@asynccontextmanager
async def tool_run(name: str, inputs: dict[str, Any]) -> AsyncGenerator[ToolRun]:
    """Open a tool run around waiting for a call.

    Args:
        name: `plan`, `generate_image` or `critique_image`.
        inputs: References and numbers, no bytes.

    Yields:
        Where to put the output, or the problem the call ended with.
    """
    manager = get_async_callback_manager_for_config(get_config())
    opened = await manager.on_tool_start({"name": name}, json.dumps(inputs), inputs=inputs)
    run = ToolRun()
    try:
        yield run
    except (Exception, asyncio.CancelledError) as error:
        # Not when the loop is closed under it: then nothing can be awaited any more.
        await opened.on_tool_error(error)
        raise
    if run.problem is not None:
        await opened.on_tool_error(InterleaveError(f"{run.problem.error}: {run.problem.message}"))
    else:
        await opened.on_tool_end(run.output)
