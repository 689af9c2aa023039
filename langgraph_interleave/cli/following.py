"""Running a graph while it is shown, until it ends, somebody is asked, or the user stops it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, TextIO

from langgraph_interleave.cli.job import Job
from langgraph_interleave.cli.pipe import is_gone, mute, quietly
from langgraph_interleave.cli.screen import Screen
from langgraph_interleave.cli.stopping import Stopping
from langgraph_interleave.cli.wording import json_line
from langgraph_interleave.errors import InternalError
from langgraph_interleave.events import to_dict
from langgraph_interleave.segments import read_event

#: A run that was asked to stop is given this long to compose its document, in seconds.
_STOP_S = 1.0
_TICK_S = 0.1


def follow(job: Job, screen: Screen, record: TextIO, given: Any, stopping: Stopping) -> list[Any]:
    """Run the graph to its end, to the user's, or to where somebody is asked.

    Args:
        job: The run; what came of it is put there.
        screen: Where it is shown.
        record: The file of events.
        given: The graph's input, or the `Command` that answers it.
        stopping: The signals that stop it.

    Returns:
        The interrupts it waits at; none where it has ended.
    """
    return asyncio.run(_follow(job, screen, record, given, stopping))


async def _follow(job: Job, screen: Screen, record: TextIO, given: Any, stopping: Stopping) -> list[Any]:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        """The first time in good order, the second time at once."""
        if job.stopped:
            running.cancel()
            return
        job.stopped = True
        quietly(lambda: screen.say("stopping; what exists is kept"))
        loop.call_later(_STOP_S, running.cancel)
        _stop_run(job, running)

    def show(tell: Callable[[], None]) -> None:
        try:
            tell()
        except OSError as error:
            if not is_gone(error):
                raise
            # Whoever read our output has gone: that is a way to say stop.
            mute()
            if not job.stopped:
                stop()

    running = asyncio.create_task(_stream(job, screen, record, given, show))
    ticking = asyncio.create_task(_tick(screen, show))
    try:
        with stopping.by(lambda: _soon(loop, stop)):
            return await running
    except asyncio.CancelledError:
        job.stopped = True
        return []
    finally:
        if job.stopped:
            stopping.finishing()
        ticking.cancel()


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    loop.call_soon_threadsafe(call)


async def _stream(
    job: Job, screen: Screen, record: TextIO, given: Any, show: Callable[[Callable[[], None]], None]
) -> list[Any]:
    parts: AsyncIterator[Any] = job.graph.astream(
        given,
        job.config,
        context=job.context,
        stream_mode=["custom", "values"],
        version="v2",
        subgraphs=True,
    )
    try:
        async for part in parts:
            event = read_event(part)
            if event is not None:
                record.write(json_line(to_dict(event)) + "\n")
                record.flush()
                show(lambda event=event: screen.event(event))
            elif part["type"] == "values" and not part["ns"]:
                job.document = part["data"].get("document") or job.document
    except InternalError as error:
        job.fault, job.document = error, dict(error.document) if error.document else None
        return []
    if job.stopped or job.graph.checkpointer is None:
        return []
    # The stream tells each of several by itself.
    return list((await job.graph.aget_state(job.config)).interrupts)


async def _tick(screen: Screen, show: Callable[[Callable[[], None]], None]) -> None:
    while True:
        show(screen.tick)
        await asyncio.sleep(_TICK_S)


def _stop_run(job: Job, running: asyncio.Task[Any]) -> None:
    from langgraph_interleave.runs import stop_run

    if not stop_run(job.run):
        running.cancel()
