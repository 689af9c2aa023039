"""One job being made: the graph is streamed, and what happens is written down for whoever asks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterable
from typing import Any

from langgraph_interleave import background
from langgraph_interleave.agents.changed import came_to, said_by
from langgraph_interleave.agents.mcp_server.outfit import Outfit
from langgraph_interleave.agents.mcp_server.record import Job
from langgraph_interleave.agents.mcp_server.shelf import Shelf
from langgraph_interleave.document.text import shorten
from langgraph_interleave.errors import InterleaveError, InternalError
from langgraph_interleave.events import AttemptEvent, Event, SegmentEvent, StepEvent
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.segments import read_event
from langgraph_interleave.stored import aread_document
from langgraph_interleave.types import DocumentData, Plan, Problem

log = logging.getLogger(__name__)

#: Of a job that nobody makes.
LAID_DOWN: dict[str, Any] = {"owner": None, "lease_until": 0.0}
#: Of a job that was stopped without a document.
STOPPED: dict[str, Any] = {"stop": True, "state": "ended", "outcome": "cancelled", "now": "stopped"}
_WORDS = 60


class Making:
    """A job of this server that is unfinished.

    Attributes:
        job: As it was when it was begun.
        task: What makes it.
        stopped: It was told to stop.
        left: It is laid down for another server, or for this one's next life: a stop is not its end.
        broken: It could not be made, nor be ended: its folder cannot be written to.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.task: asyncio.Task[None] | None = None
        self.stopped = False
        self.left = False
        self.broken = False
        self._news = asyncio.Event()

    def tell(self) -> None:
        """Wake everybody who waits for news."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def news(self, seconds: float) -> None:
        """Wait for news, or until the time is over."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), seconds)


class Steps:
    """How far a run is, from its events: the plan, then each step, is one part of it."""

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self._done: set[int] = set()
        self.now = "planning"

    def take(self, event: Event) -> bool:
        """Take an event; whether there is anything to tell."""
        before = self.now, len(self._done)
        if isinstance(event, SegmentEvent) and event.plan is not None:
            self._plan = event.plan
        elif isinstance(event, StepEvent) and event.phase == "finish":
            self._done.add(event.step)
            self.now = f"{self._called(event.step)}: {(event.outcome or 'done').replace('_', ' ')}"
        elif isinstance(event, AttemptEvent) and event.phase == "start":
            again = f", attempt {event.attempt + 1}" if event.attempt else ""
            self.now = f"{self._called(event.step)}{again}: being drawn"
        return (self.now, len(self._done)) != before

    @property
    def done(self) -> int:
        """Parts that are done."""
        return len(self._done) + (self._plan is not None)

    @property
    def total(self) -> int | None:
        """Parts there are; unknown before the plan."""
        return None if self._plan is None else max(len(self._plan.steps), len(self._done)) + 1

    def _called(self, index: int) -> str:
        if self._plan is None or index >= len(self._plan.steps):
            return f"step {index + 1}"
        step = self._plan.steps[index]
        words = shorten(step.title or step.caption or step.instruction or "", _WORDS)
        return f"step {index + self._plan.first_number}" + (f" ({words})" if words else "")


async def make(making: Making, shelf: Shelf, outfit: Outfit, ledger: Ledger) -> None:
    """Make a job to its end and write the end down.

    Args:
        making: The job.
        shelf: Where its record is.
        outfit: What it is made with.
        ledger: Record of the calls; with the job's own run id nothing is paid twice.
    """
    job = making.job
    data: dict[str, Any] | None = None
    problem: Problem | None = None
    graph_input: dict[str, Any] = {"request": list(job.order.request)}
    if job.order.base is not None:
        graph_input["base"] = job.order.base
    steps = Steps()
    warnings: dict[str, None] = {}
    await _write(making, shelf, _progress(steps))
    try:
        graph: Any = outfit.graph(job, ledger)
        parts: AsyncIterator[Any] = graph.astream(
            graph_input,
            context=outfit.context(job),
            stream_mode=["custom", "values"],
            version="v2",
            subgraphs=True,
        )
        async for part in parts:
            event = read_event(part)
            if event is not None:
                if (said := said_by(event.model_dump())) is not None:
                    warnings[said] = None
                if steps.take(event):
                    await _write(making, shelf, _progress(steps))
            elif part["type"] == "values" and not part["ns"]:
                data = part["data"].get("document") or data
    except InternalError as error:
        log.exception("%s ended with a fault", job.name)
        data, problem = dict(error.document) if error.document else data, _problem(error)
    except InterleaveError as error:
        problem = _problem(error)
    except Exception:
        log.exception("%s ended with a fault", job.name)
        problem = Problem(
            error="InternalError", message="The document could not be made.", remedy="The server's log says why."
        )
    if making.left and (data is None or data["outcome"] == "cancelled"):
        await _write(making, shelf, LAID_DOWN)
    else:
        await _write(making, shelf, await _ending(job, data, problem, shelf, stopped=making.stopped, warnings=warnings))


def _progress(steps: Steps) -> dict[str, Any]:
    return {"done": steps.done, "total": steps.total, "now": steps.now}


async def _ending(
    job: Job,
    data: dict[str, Any] | None,
    problem: Problem | None,
    shelf: Shelf,
    *,
    stopped: bool,
    warnings: Iterable[str],
) -> dict[str, Any]:
    if data is None and problem is None and not stopped:
        problem = Problem(error="InternalError", message="The run ended without a document.", remedy="Ask again.")
    ending: dict[str, Any] = {"state": "ended", "now": "done", "problem": problem}
    ending["outcome"] = data["outcome"] if data else "cancelled" if stopped and problem is None else "failed"
    if data is None:
        return ending
    if job.order.base is not None:
        before = await aread_document(shelf.artifacts, job.order.base)
        if came_to(DocumentData.model_validate(data), before) == "nothing":
            ending["same"] = job.order.changes
            data = {**data, "warnings": list(dict.fromkeys((*data.get("warnings", ()), *warnings)))}
    ending["data"] = await shelf.artifacts.aput_json(data)
    ending["problem"] = problem or (Problem.model_validate(data["problem"]) if data.get("problem") else None)
    return ending


def _problem(error: InterleaveError) -> Problem:
    return Problem(error=type(error).__name__, message=error.message, remedy=error.remedy)


async def _write(making: Making, shelf: Shelf, update: dict[str, Any]) -> None:
    """Write down what is new. Only the owner does: one that lost the job leaves it as it is."""
    owner = making.job.owner
    await background.in_thread(
        shelf.update,
        making.job.name,
        lambda job: job.model_copy(update=update) if job.owner == owner else None,
    )
    making.tell()
