"""One call under way: who waits for it, and the task that makes it.

A flight is supervised by a task of its own on the background loop. The supervisor is never
cancelled; it cancels the call when nobody wants it any more or its deadline passes, and does not
wait for a call that ignores being cancelled. So a flight always lands, whatever the call does.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from langgraph_interleave import background
from langgraph_interleave.budget import Budget
from langgraph_interleave.errors import BadResponse, CallError, CallTimeout, Cancelled, InternalError
from langgraph_interleave.ledger.ask import Ask
from langgraph_interleave.ledger.journal import Claim, Found
from langgraph_interleave.ledger.records import CallRecord, Finished, Produce, Produced, ending_of, used_by
from langgraph_interleave.ledger.resend import pause_before_resend
from langgraph_interleave.reservation import Reservation

if TYPE_CHECKING:
    from langgraph_interleave.ledger.core import Ledger

log = logging.getLogger(__name__)

#: How long a cancelled call is given to end, in seconds; then it is left behind.
_STOP_S = 0.5
#: Shortest and longest pause between two looks at a call another process makes, in seconds.
_POLL_S = (0.02, 1.0)


class Flight:
    """One call under way.

    What several threads touch (`asks`, `sent`, `sealed`, `doomed`) is changed only with the
    ledger's lock held.

    Attributes:
        asks: Those who want the answer.
        sent: The call has been sent: from here on it may cost money.
        sealed: It is decided whether its result counts.
        doomed: Why it is given up, once that is decided; then nobody joins it any more.
        landed: Resolved when nothing of the flight is left.
    """

    def __init__(self, ledger: Ledger, ask: Ask, after: Flight | None) -> None:
        self.call = ask.call
        self.budget = ask.budget
        self.asks: list[Ask] = []
        self.reservation: Reservation | None = None
        self.sent = False
        self.sealed = False
        self.preempted = False
        self.doomed: str | None = None
        self.landed: concurrent.futures.Future[None] = concurrent.futures.Future()
        self.landed.set_running_or_notify_cancel()
        self._ledger = ledger
        self._produce = ask.produce
        self._after = after
        self._run_ends_it = False
        self._level = max(background.current_level(), 0)
        self._loop = background.loop_at(self._level)
        self._signal: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None

    # -- from any thread -------------------------------------------------------------------------

    def take_off(self) -> None:
        """Start the supervisor."""
        self._loop.call_soon_threadsafe(self._start)

    def poke(self) -> None:
        """Have the supervisor look again who is waiting."""
        self._loop.call_soon_threadsafe(self._wake)

    def soon(self, call: Callable[[], None]) -> None:
        """Run something on the flight's loop."""
        self._loop.call_soon_threadsafe(call)

    def preempt(self) -> bool:
        """Give the call up for the sake of a certain one, if that is possible without a loss."""
        with self._ledger.lock:
            if self.sealed or self.doomed or any(ask.certain for ask in self.asks):
                return False
            if self.sent and self.call.billed:
                return False
            self.preempted = True
            self._ledger.doom(self, "The room in the budget was needed for a call that is certain.")
        self.poke()
        return True

    # -- on the loop -----------------------------------------------------------------------------

    def _start(self) -> None:
        # In an empty context: no node's callbacks, config, writer or runtime reach the call.
        self._task = self._loop.create_task(self._fly(), context=background.context_at(self._level))

    def _wake(self) -> None:
        if self._signal is not None and not self._signal.done():
            self._signal.set_result(None)

    async def _fly(self) -> None:
        outcome: Finished | BaseException
        try:
            if self._after is not None:
                # The same call is just being given up; its record must be complete first.
                await asyncio.wrap_future(self._after.landed)
                self._after = None
            outcome = await self._persist()
        except BaseException as error:  # noqa: BLE001 - it belongs to those who wait, and the flight must land
            outcome = error if isinstance(error, Exception) else Cancelled("Stopped.", role=self.call.role)
        if self.reservation is not None:
            self.reservation.release()  # nothing happens where it was ended before
        self._ledger.land(self, outcome)

    async def _persist(self) -> Finished:
        """Make the call; again, after a pause, where that may help and is allowed."""
        sent = ambiguous = 0
        while True:
            try:
                return await self._make()
            except CallError as error:
                sent += 1
                ambiguous += error.ambiguous
                pause = pause_before_resend(error, billed=self.call.billed, sent=sent, ambiguous=ambiguous)
                if pause is None or not self._may_repeat(pause):
                    raise
                self._tell_resend(error, pause)
                await self._rest(pause)

    def _may_repeat(self, pause: float) -> bool:
        left = None if self.budget is None else self.budget.remaining_seconds(self.call.step)
        if left is not None and pause >= left:
            return False
        with self._ledger.lock:
            if self._unwanted() is not None or self.call.repeats is None or not self.call.repeats.take():
                return False
            # As before the first sending: nothing of it is under way.
            self.sent = self.sealed = False
            self.reservation = None
            return True

    def _tell_resend(self, error: CallError, pause: float) -> None:
        with self._ledger.lock:
            scopes = {id(ask.scope): ask.scope for ask in self.asks if ask.scope is not None}
        for scope in scopes.values():
            scope.resending(self.call, error, pause)

    async def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._must_be_wanted()
            await self._pause(left)

    async def _make(self) -> Finished:
        journal = self._ledger.journal
        patience = self._patience()
        waiting: tuple[CallRecord, float] | None = None
        pause = _POLL_S[0]
        while True:
            self._must_be_wanted()
            found = await journal.read(self.call)
            record = found.record
            if record is not None and record.status == "finished":
                if found.lost is None:
                    return Finished(record, replayed=True)
                if record.billed and not self.call.remake:
                    raise found.lost
                log.warning("%s It is made again.", found.lost.message)
            if record is not None and journal.is_others(record):
                now = time.monotonic()
                if waiting is None or waiting[0] != record:
                    waiting = (record, now)
                # Clocks of two machines differ; a lease that is not renewed in its own time is over.
                if now - waiting[1] < journal.lease_s:
                    if now > patience:
                        raise self._timeout(sent=False)
                    await self._pause(pause)
                    pause = min(2 * pause, _POLL_S[1])
                    continue
            claim = await self._claim(found)
            if claim is not None:
                return await self._send(claim, patience)

    async def _claim(self, found: Found) -> Claim | None:
        with self._ledger.lock:
            self._must_be_wanted()
            if self.budget is not None:
                if self._count_earlier(self.budget, found.record) and self.reservation is not None:
                    # What was reserved for this making may have been spent on the one before.
                    self.reservation.release()
                    self.reservation = None
                if self.reservation is None:
                    self.reservation = self._ledger.reserve(self, certain=any(ask.certain for ask in self.asks))
            # What may have been spent in the end is what was reserved, which may be more than was expected.
            reserved = self.reservation.price_usd if self.reservation is not None else self.call.price_usd
        return await self._ledger.journal.claim(replace(self.call, price_usd=reserved), found)

    @staticmethod
    def _count_earlier(budget: Budget, earlier: CallRecord | None) -> bool:
        """Count the earlier making of the call where it is ambiguous; whether it was not counted yet."""
        if earlier is None or earlier.status not in ("started", "ambiguous"):
            return False
        making = f"{earlier.key}/{earlier.ambiguous_before}"
        return budget.count_ambiguous(
            earlier.role, billed=earlier.billed, images=earlier.images, making=making, step=earlier.step,
            price_usd=earlier.price_usd,
        )  # fmt: skip

    async def _send(self, claim: Claim, patience: float) -> Finished:
        journal = self._ledger.journal
        with self._ledger.lock:
            unwanted = self._unwanted()
            if unwanted is None:
                self.sent = True
            else:
                self._ledger.doom(self, unwanted.message)
        if unwanted is not None:
            await journal.end(claim, "failed", unwanted)
            raise unwanted
        task = self._loop.create_task(_call(self._produce), context=background.context_at(self._level))
        given_up = await self._watch(task, claim, patience)
        if given_up is not None:
            task.cancel()
            await asyncio.wait({task}, timeout=_STOP_S)
            if not task.done():
                self._ledger.leave_behind(task)
        error: BaseException | None = None
        if not task.done() or task.cancelled():
            error = given_up or BadResponse(
                f"The {self.call.role} cancelled the call itself.",
                remedy="Look for a time limit or a shutdown in its own code.",
                role=self.call.role,
                ambiguous=self.call.billed,
            )
        elif task.exception() is not None:
            error = given_up or task.exception()
        with self._ledger.lock:
            # The room of a preempted call belongs to another by now: its result must not count.
            if self.preempted and error is None:
                error = self._unwanted()
            self.sealed = True
        if error is None:
            # Also one that was given up and made it all the same: it is paid for.
            return await self._finish(claim, task.result())
        raise await self._fail(claim, error, cut_off=given_up is not None)

    async def _watch(self, task: asyncio.Task[Produced], claim: Claim, patience: float) -> Exception | None:
        """Wait for the call; `None` when it ended by itself, else why it is to be cancelled."""
        beat = self._ledger.journal.lease_s / 3
        next_beat = time.monotonic() + beat
        leave_at: float | None = None
        while not task.done():
            now = time.monotonic()
            if now >= patience:
                with self._ledger.lock:
                    self._ledger.doom(self, "It took too long.")
                return self._timeout(sent=True)
            with self._ledger.lock:
                unwanted = self._unwanted()
                if unwanted is None:
                    leave_at = None
                elif leave_at is None:
                    # One that may cost money anyway is let finish, for a while.
                    grace = self._ledger.grace_s if self.call.billed and self.doomed is None else 0.0
                    leave_at = now + grace
                if leave_at is not None and now >= leave_at:
                    self._ledger.doom(self, "Nobody waits for it any more.")
                    return unwanted
                self._signal = self._loop.create_future()
            if now >= next_beat:
                next_beat = now + beat
                await self._ledger.journal.renew(claim)
                continue
            until = min(patience, next_beat, leave_at if leave_at is not None else patience)
            await asyncio.wait({task, self._signal}, timeout=until - now, return_when=asyncio.FIRST_COMPLETED)
        return None

    async def _finish(self, claim: Claim, produced: Produced) -> Finished:
        try:
            record = await self._ledger.journal.finish(claim, produced)
        except InternalError as error:
            raise await self._fail(claim, error, cut_off=False) from error
        if self.reservation is not None:
            self.reservation.settle(record.usage, self.call.role)
        return Finished(record, replayed=False, took_over=claim.took_over)

    async def _fail(self, claim: Claim, error: BaseException, *, cut_off: bool) -> Exception:
        """Record and count a call without a result; returns what those who wait are told."""
        if isinstance(error, Exception):
            told = error
        else:
            # SystemExit and its like would end whoever waits, in whatever thread.
            told = InternalError(f"A {self.call.role} call ended with {type(error).__name__}.")
            told.__cause__ = error
        ending = ending_of(told, billed=self.call.billed)
        if cut_off and self.call.billed:
            ending = "ambiguous"
        if self.reservation is not None:
            if ending == "released":
                self.reservation.release()
            elif ending == "failed":
                self.reservation.failed(used_by(told, billed=self.call.billed))
            else:
                self.reservation.ambiguous(f"{claim.record.key}/{claim.record.ambiguous_before}")
        await self._ledger.journal.end(
            claim,
            "ambiguous" if ending == "ambiguous" else "failed",
            told,
            answered=used_by(told, billed=self.call.billed) if ending == "failed" else None,
        )
        return told

    async def _pause(self, seconds: float) -> None:
        self._signal = self._loop.create_future()
        await asyncio.wait({self._signal}, timeout=seconds)

    def _unwanted(self) -> Cancelled | None:
        if self.doomed is not None:
            return Cancelled(self.doomed, role=self.call.role)
        if not self.asks:
            return Cancelled("Nobody waits for it any more.", role=self.call.role)
        return None

    def _must_be_wanted(self) -> None:
        with self._ledger.lock:
            unwanted = self._unwanted()
            if unwanted is not None:
                self._ledger.doom(self, unwanted.message)
                raise unwanted

    def _patience(self) -> float:
        """When to give up, on the monotonic clock."""
        span = self._deadline_s()
        left = None if self.budget is None else self.budget.remaining_seconds(self.call.step)
        if left is not None and left < span:
            self._run_ends_it = True
            span = left
        return time.monotonic() + span

    def _deadline_s(self) -> float:
        if self.call.deadline_s is not None:
            return self.call.deadline_s
        return float("inf") if self.budget is None else self.budget.limits.call_timeout_s

    def _timeout(self, *, sent: bool) -> Exception:
        """The run's own limit where that is what ended it, else a timeout of this call."""
        if self._run_ends_it and self.budget is not None:
            limit = self.budget.out_of_time(self.call.step)
            if limit is not None:
                return limit
        return CallTimeout(
            f"The {self.call.role} gave no answer within {self._deadline_s():g} s.",
            remedy="Raise limits.call_timeout_s, or try again later.",
            role=self.call.role,
            ambiguous=sent and self.call.billed,
        )


async def _call(produce: Produce) -> Produced:
    return await produce()
