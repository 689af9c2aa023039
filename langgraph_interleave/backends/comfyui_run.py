"""One run of a workflow: put into the queue, followed to its end, taken back when nobody waits for it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from langgraph_interleave.backends.comfyui_answer import failed, failure_in, interrupted, refused
from langgraph_interleave.backends.comfyui_server import ComfyUIServer, Event, event_of
from langgraph_interleave.backends.comfyui_workflow import Node, Workflow
from langgraph_interleave.errors import BadResponse, ConfigError, InvalidRequest, Unavailable
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.types import OnProgress, Progress

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

#: After so long without a word the history is asked; without a websocket, from the first on.
SILENCE_S = 5.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 2.0


async def run(
    server: ComfyUIServer,
    flow: Workflow,
    nodes: Mapping[str, Node],
    *,
    told_on: ClientConnection | None,
    client_id: str,
    tell: OnProgress,
    extra: Mapping[str, Any],
    warnings: list[str],
) -> Mapping[str, Any]:
    """Have a workflow run.

    Args:
        server: Where.
        flow: The workflow with its placeholders.
        nodes: The same, filled in.
        told_on: The websocket of `client_id`; without one the history is asked.
        client_id: Names who is told.
        tell: Told of progress.
        extra: Sent beside the workflow.
        warnings: What should be known is put here.

    Returns:
        Its entry in the server's history.

    Raises:
        ConfigError: The server lacks a node or a model.
        CallError: One of its subclasses, by cause.
    """
    what, prompt_id = server.what, str(uuid.uuid4())
    try:
        status, told = await server.submit(nodes, client_id=client_id, prompt_id=prompt_id, extra=extra)
        if status != 200:
            raise refused(told, _open_inputs(flow), what=what)
        # Older servers give a name of their own.
        prompt_id = str(told["prompt_id"])
        if told.get("node_errors"):
            warnings.append(f"A part of the workflow was left out: {refused(told, (), what=what).message}")
        entry = await _Following(server, prompt_id, tell).to_the_end(told_on)
    except BaseException as error:
        # Cancelled, out of time, or broken off: nobody waits for it any more.
        if not isinstance(error, ConfigError | InvalidRequest):
            await asyncio.shield(asyncio.ensure_future(server.stop(prompt_id)))
        raise
    if (wrong := failure_in(entry, what=what)) is not None:
        raise wrong
    return entry


class _Following:
    """Follows one run: told by events, and asking where nothing is told."""

    def __init__(self, server: ComfyUIServer, prompt_id: str, tell: OnProgress) -> None:
        self._server, self._prompt_id, self._tell = server, prompt_id, tell
        self._step, self._total = 0, None
        self._asked = time.monotonic()

    async def to_the_end(self, socket: ClientConnection | None) -> Mapping[str, Any]:
        pause = _FIRST_PAUSE_S
        while True:
            if socket is None:
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE_S)
            else:
                message = await _next(socket)
                if message is None and socket.close_code is not None:
                    socket = None
                elif message is not None and not self._take(event_of(message)) and self._asked_lately():
                    continue
            if (entry := await self._over()) is not None:
                return entry

    def _take(self, event: Event | None) -> bool:
        """Pass an event on; whether it says that the run is over."""
        if event is None or event.data.get("prompt_id") not in (None, self._prompt_id):
            return False
        match event.kind:
            case "progress":
                self._step, self._total = _count(event.data.get("value")) or 0, _count(event.data.get("max"))
                self._tell(Progress(self._step, self._total))
            case "preview":
                with suppress(BadResponse):
                    preview = verify_image(event.preview, what="A preview")
                    self._tell(Progress(self._step, self._total, preview))
            case "execution_error":
                raise failed(event.data, what=self._server.what)
            case "execution_interrupted":
                raise interrupted(self._server.what)
            case "execution_success":
                return True
            case "executing":
                # No node is: it is over. Newer servers say so by name as well.
                return "prompt_id" in event.data and event.data.get("node", "") is None
            case _:
                pass
        return False

    def _asked_lately(self) -> bool:
        return time.monotonic() - self._asked < SILENCE_S

    async def _over(self) -> Mapping[str, Any] | None:
        """The entry of a run that is over."""
        self._asked = time.monotonic()
        entry = await self._server.entry(self._prompt_id)
        if entry is None and not await self._server.is_known(self._prompt_id):
            # It may have ended between the two questions.
            entry = await self._server.entry(self._prompt_id)
            if entry is None:
                raise Unavailable(
                    f"{self._server.what} knows nothing of the run any more.",
                    remedy="It was restarted, or its queue was cleared; run it again.",
                    code="lost",
                )
        return entry


async def _next(socket: ClientConnection) -> str | bytes | None:
    """The next message; `None` when there was none for a while, or there will be none."""
    from websockets.exceptions import ConnectionClosed

    try:
        async with asyncio.timeout(SILENCE_S):
            return await socket.recv()
    except (ConnectionClosed, TimeoutError):
        return None


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def _open_inputs(flow: Workflow) -> set[tuple[str, str]]:
    """Node and input of every placeholder."""
    return {
        (name, key)
        for name, node in flow.nodes.items()
        for key, value in node["inputs"].items()
        if isinstance(value, str) and "{{" in value
    }
