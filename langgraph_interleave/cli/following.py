"""Running a graph while it is shown, until it ends, somebody is asked, or the user stops it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any, TextIO

from langgraph_interleave.cli.job import Job
from langgraph_interleave.cli.pipe import quietly
from langgraph_interleave.cli.screen import Screen
from langgraph_interleave.cli.wording import json_line
from langgraph_interleave.errors import InternalError
from langgraph_interleave.events import Event, to_dict
from langgraph_interleave.segments import read_event

#: A run that was asked to stop is given this long to compose its document, in seconds.
_STOP_S = 1.0
_TICK_S = 0.1


def follow(job: Job, screen: Screen, record: TextIO, given: Any) -> list[Any]:
    """Run the graph to its end, to the user's, or to where somebody is asked.

    Args:
        job: The run; what came of it is put there.
        screen: Where it is shown.
        record: The file of events.
        given: The graph's input, or the `Command` that answers it.

    Returns:
        The interrupts it waits at; none where it has ended.
    """
    return asyncio.run(_follow(job, screen, record, given))


async def _follow(job: Job, screen: Screen, record: TextIO, given: Any) -> list[Any]:
    running = asyncio.create_task(_stream(job, screen, record, given))
    ticking = asyncio.create_task(_tick(screen))
    try:
        with _stopping(job, screen, running):
            return await running
    except asyncio.CancelledError:
        job.stopped = True
        return []
    finally:
        ticking.cancel()


async def _stream(job: Job, screen: Screen, record: TextIO, given: Any) -> list[Any]:
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
                _tell(event, screen, record)
            elif part["type"] == "values" and not part["ns"]:
                job.document = part["data"].get("document") or job.document
    except InternalError as error:
        job.fault, job.document = error, dict(error.document) if error.document else None
        return []
    if job.stopped or job.graph.checkpointer is None:
        return []
    # The stream tells each of several by itself.
    return list((await job.graph.aget_state(job.config)).interrupts)


def _tell(event: Event, screen: Screen, record: TextIO) -> None:
    record.write(json_line(to_dict(event)) + "\n")
    record.flush()
    screen.event(event)


async def _tick(screen: Screen) -> None:
    while True:
        screen.tick()
        await asyncio.sleep(_TICK_S)


@contextlib.contextmanager
def _stopping(job: Job, screen: Screen, running: asyncio.Task[Any]) -> Generator[None]:
    """While inside, Ctrl-C (and SIGTERM) stop the run in good order; a second one ends it at once."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if job.stopped:
            running.cancel()
            return
        job.stopped = True
        quietly(lambda: screen.say("stopping; what exists is kept"))
        loop.call_later(_STOP_S, running.cancel)
        _stop_run(job, running)

    with _handled((signal.SIGINT, signal.SIGTERM), stop, loop):
        yield


def _stop_run(job: Job, running: asyncio.Task[Any]) -> None:
    from langgraph_interleave.runs import stop_run

    if not stop_run(job.run):
        running.cancel()


@contextlib.contextmanager
def _handled(
    signals: tuple[signal.Signals, ...], call: Callable[[], None], loop: asyncio.AbstractEventLoop
) -> Generator[None]:
    """Handle signals on the loop; where loops cannot (Windows), in the main thread."""
    before = {number: signal.getsignal(number) for number in signals}
    for number in signals:
        try:
            loop.add_signal_handler(number, call)
        except (NotImplementedError, RuntimeError):
            with contextlib.suppress(ValueError):  # not the main thread: signals are somebody else's
                signal.signal(number, lambda *_: loop.call_soon_threadsafe(call))
    try:
        yield
    finally:
        for number, handler in before.items():
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(number)
            with contextlib.suppress(ValueError, TypeError):
                signal.signal(number, handler)
