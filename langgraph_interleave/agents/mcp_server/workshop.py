"""The workshop: makes jobs, a few at a time; they belong to it, not to the call that asked for them.

A job ends when its document is made, or when it is told to stop. It outlives every client, and also its
server: what was paid for is in the ledger, so whoever takes the job up pays only for what is missing.
Of several servers on one folder each job has one owner, for as long as that gives signs of life.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Self

from langgraph_interleave import background
from langgraph_interleave.agents.mcp_server.making import LAID_DOWN, STOPPED, Making, make
from langgraph_interleave.agents.mcp_server.names import Name
from langgraph_interleave.agents.mcp_server.outfit import Outfit
from langgraph_interleave.agents.mcp_server.record import Job
from langgraph_interleave.agents.mcp_server.shelf import Shelf
from langgraph_interleave.errors import ConfigError, InterleaveError, InternalError
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.ledger.owner import is_gone, new_owner
from langgraph_interleave.runs import stop_run

log = logging.getLogger(__name__)

Told = Callable[[Job], Awaitable[None]]

#: How often a job that another server makes is looked at, in seconds.
_LOOK_S = 0.25
#: A run that is asked to stop has this long to compose its document, in seconds.
_STOP_S = 20.0
#: What is under way has this long to be laid down at the end, in seconds.
_CLOSE_S = 1.5
#: How often a job is taken up unasked.
_MOST_TAKEN_UP = 5
#: Reading and writing the folder, at most, in seconds.
_FILES_S = 60.0


class Workshop:
    """Makes the jobs of a shelf.

    Belongs to one event loop. As an async context manager it takes up what earlier servers left, and lays
    down what is under way at the end, for the next one.

    Args:
        shelf: Where the jobs are.
        outfit: What they are made with.
        most: Jobs made at the same time.
        most_waiting: Unfinished jobs this server takes, in all.
        lease_s: Seconds without a sign of life after which another server takes a job over.

    Example:
        >>> workshop = Workshop(Shelf.memory(), Outfit(), most=2)
        >>> workshop.busy
        0
    """

    def __init__(
        self, shelf: Shelf, outfit: Outfit, *, most: int = 4, most_waiting: int = 32, lease_s: float = 15.0
    ) -> None:
        if most < 1 or most_waiting < 1 or lease_s <= 0:
            raise ConfigError("A workshop needs at least one place for a job.", remedy="Give numbers above 0.")
        self.shelf = shelf
        self.outfit = outfit
        # What is cut off at the end is cut off at once: clients do not wait long for a server to end.
        self.ledger = Ledger(shelf.artifacts, grace_s=0)
        self._owner = new_owner()
        self._most_waiting = most_waiting
        self._lease_s = lease_s
        self._places = asyncio.Semaphore(most)
        self._submitting = asyncio.Lock()
        self._making: dict[Name, Making] = {}
        self._beating: asyncio.Task[None] | None = None
        self._closing = False

    @property
    def busy(self) -> int:
        """Jobs that are being made here, or wait for a place."""
        return len(self._making)

    async def __aenter__(self) -> Self:
        self._begin()
        await self._take_up_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        if self._beating is not None:
            self._beating.cancel()
        tasks = [self._lay_down(making) for making in self._making.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSE_S)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def submit(self, job: Job) -> Job:
        """Put a job on the shelf and begin it; the same order that is still being made is joined.

        Raises:
            ConfigError: There is no place for another, or the server ends.
        """
        self._begin()
        # One after the other, so that of two calls that are the same the second finds the first.
        async with self._submitting:
            for known in await self.files(self.shelf.unfinished):
                if known.asked == job.asked:
                    return await self._look_after(known)
            if self._closing or len(self._making) >= self._most_waiting:
                raise ConfigError(
                    f"{len(self._making)} documents are being made already.",
                    remedy="Wait for one with get_document, or stop one with cancel_document.",
                )
            owned = job.model_copy(update=self._signs())
            added = await self.files(self.shelf.add, owned)
            self._start(added)
            return added

    async def wait(self, name: Name, seconds: float, told: Told | None = None) -> Job:
        """Wait until a job has ended, for so long at most.

        A job that nobody makes any more is taken up. Whoever waits may go away at any time.

        Args:
            name: Which; the newest version where none is said.
            seconds: How long.
            told: Called with the job whenever there is news.

        Raises:
            ConfigError: There is no such job.
            InternalError: What makes it broke off, and would again: at once, and each time for money.
        """
        self._begin()
        until = time.monotonic() + seconds
        before: Job | None = None
        making: Making | None = None
        job = await self.files(self.shelf.find, name)
        while True:
            if told is not None and (before is None or (job.done, job.now) != (before.done, before.now)):
                await told(job)
            before = job
            if not job.ended and making is not None and making.broken:
                raise InternalError(
                    f"{job.name} could not be gone on with.",
                    remedy="The server's log says why. When that is put right, get_document goes on with it.",
                )
            if not job.ended:
                job = await self._look_after(job)
            left = until - time.monotonic()
            if job.ended or left <= 0:
                return job
            making = self._making.get(job.name)
            if making is None:
                await asyncio.sleep(min(left, _LOOK_S))
            else:
                await making.news(left)
            job = await self.files(self.shelf.find, job.name)

    async def stop(self, name: Name) -> Job:
        """Stop a job in good order: what was drawn becomes its document.

        Raises:
            ConfigError: There is no such job.
        """
        job = await self.files(self.shelf.find, name)
        name = job.name
        if job.ended:
            return job
        here = name in self._making

        def stopped(known: Job) -> Job:
            if here or self._is_others(known):
                return known.model_copy(update={"stop": True})
            return known.model_copy(update=STOPPED)

        changed = await self.files(self.shelf.update, name, stopped)
        if here:
            self._stop_here(name)
        return changed or await self.files(self.shelf.find, name)

    async def files(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Do something with the shelf in a thread, within a deadline."""
        async with asyncio.timeout(_FILES_S):
            return await background.in_thread(call, *arguments)

    # --- taking up and laying down --------------------------------------------------------------

    def _begin(self) -> None:
        if self._beating is None or self._beating.done():
            self._beating = _apart(self._beat())

    def _signs(self) -> dict[str, Any]:
        return {"owner": self._owner, "lease_until": time.time() + self._lease_s}

    def _is_others(self, job: Job) -> bool:
        """Whether another server makes this job and is alive, as far as can be known."""
        return (
            job.owner is not None
            and job.owner != self._owner
            and job.lease_until > time.time()
            and not is_gone(job.owner)
        )

    async def _look_after(self, job: Job) -> Job:
        """Take a job up if nobody makes it; the job as it is then."""
        if job.ended or job.name in self._making or self._closing or self._is_others(job):
            return job

        def mine(known: Job) -> Job | None:
            if self._is_others(known):
                return None
            if known.stop:  # told to stop, and then its server ended
                return known.model_copy(update=STOPPED)
            return known.model_copy(update={**self._signs(), "taken_up": known.taken_up + 1})

        taken = await self.files(self.shelf.update, job.name, mine)
        if taken is None:
            return await self.files(self.shelf.find, job.name)
        if not taken.ended:
            self._start(taken)
        return taken

    async def _take_up_all(self) -> None:
        for job in await self.files(self.shelf.unfinished):
            # Another outfit would draw otherwise, and pay again; and what was begun so often may be what
            # ends the servers. Only who asks for such a job gets it.
            wanted = job.outfit == self.outfit.name and job.taken_up < _MOST_TAKEN_UP
            if wanted and len(self._making) < self._most_waiting:
                await self._look_after(job)

    def _start(self, job: Job) -> None:
        if job.name not in self._making:
            making = self._making[job.name] = Making(job)
            making.task = _apart(self._make(making))

    async def _make(self, making: Making) -> None:
        name = making.job.name
        try:
            async with self._places:
                await make(making, self.shelf, self.outfit, self.ledger)
        except asyncio.CancelledError:
            if making.stopped:
                await self._end(name, STOPPED)
            else:
                await self._end(name, LAID_DOWN)
            if self._closing:
                raise
        except Exception:
            # The record says what is known; the job can be asked for again.
            log.exception("%s could not be made", name)
            making.broken = True
            await self._end(name, LAID_DOWN)
        finally:
            self._making.pop(name, None)
            making.tell()

    async def _end(self, name: Name, update: dict[str, Any]) -> None:
        def ended(job: Job) -> Job | None:
            return job.model_copy(update=update) if job.owner == self._owner else None

        try:
            await asyncio.shield(self.files(self.shelf.update, name, ended))
        except OSError as error:  # also of the time it took
            log.warning("the end of %s cannot be written down: %s", name, error)

    def _lay_down(self, making: Making) -> asyncio.Task[None]:
        """Stop without an end: what is under way is given up in good order, and the job stays unfinished."""
        assert making.task is not None, "a job is entered together with its task"
        making.left = True
        if not stop_run(making.job.run_id):
            making.task.cancel()
        return making.task

    def _stop_here(self, name: Name) -> None:
        making = self._making.get(name)
        if making is None or making.task is None or making.stopped:
            return
        making.stopped = True
        if stop_run(making.job.run_id):
            asyncio.get_running_loop().call_later(_STOP_S, making.task.cancel)
        else:
            making.task.cancel()

    async def _beat(self) -> None:
        """Signs of life for every job made here; and a look at what others left, and at who is to stop."""
        while True:
            await asyncio.sleep(self._lease_s / 3)
            try:
                for name, making in list(self._making.items()):
                    await self._renew(name, making)
                await self._take_up_all()
            except (InterleaveError, OSError, TimeoutError) as error:
                log.warning("the folder of the server cannot be used: %s", error)

    async def _renew(self, name: Name, making: Making) -> None:
        def renewed(known: Job) -> Job | None:
            return known.model_copy(update=self._signs()) if known.owner == self._owner else None

        job = await self.files(self.shelf.update, name, renewed)
        if job is None and name in self._making:
            # Another took it over while this process slept; two would only wait for each other.
            self._lay_down(making)
        elif job is not None and job.stop:
            self._stop_here(name)


def _apart(work: Any) -> asyncio.Task[None]:
    """A task of the workshop's own: nothing of the request that led to it reaches it."""
    return asyncio.get_running_loop().create_task(work, context=contextvars.Context())
