"""The ledger: every paid call once, however many ask for it, in whatever thread, loop or process."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.budget import Budget
from langgraph_interleave.errors import Cancelled, LimitReached
from langgraph_interleave.ledger.ask import Ask, OnDone
from langgraph_interleave.ledger.flight import Flight
from langgraph_interleave.ledger.journal import Journal
from langgraph_interleave.ledger.records import Call, CallRecord, Finished, Produce
from langgraph_interleave.ledger.scope import OnResend, RunScope
from langgraph_interleave.reservation import Reservation


class Ledger:
    """Makes paid calls, and remembers them.

    Asked for a call, it waits with whoever asked before while the call is under way, answers from
    the store when the call was finished before, and makes it otherwise. Rules (each has a test):

    1. Every ask waits on a future of its own.
    2. The call is a task of the ledger's, on the one long-lived background loop.
    3. A cancelled ask only leaves. The call is cancelled when the last one leaves; one that is billed
       and sent is let finish within `grace_s` and recorded, else recorded as ambiguous.
    4. An exception is given to everybody who waits now, and never kept: the next ask starts anew.
    5. The call runs in an empty context.
    6. Tracing is the business of whoever consumes the result; the record has the true times.
    7. Calls started ahead belong to a run scope, whose end leaves nothing running.
    8. Room in the budget is reserved before the start, settled at the end, and released when nothing
       was produced, provably.
    9. A call recorded as started and not as finished is ambiguous, and reported as such. While its
       owner's lease lives, another process waits for it; then it takes over.
    10. The key names everything that makes a different call, and nothing that changes on replay.

    Not guaranteed: a single call where two machines whose clocks differ by more than `lease_s` ask
    for the same, or on a remote filesystem that cannot create a file exclusively.

    Args:
        artifacts: Where records and results are kept.
        grace_s: Seconds a billed call may go on when nobody waits for it any more.
        lease_s: Seconds for which another process waits without a sign of life. It is given one
            three times in that span.

    Example:
        >>> async def main() -> dict[str, object]:
        ...     async def produce() -> Produced:
        ...         return Produced({"answer": 42})
        ...     ledger = Ledger(ArtifactStore.memory())
        ...     call = Call("run", call_key(scope="run", role="critic", fingerprint="m"), "critic")
        ...     first = await ledger.run(call, produce)
        ...     again = await ledger.run(call, produce)
        ...     return {**again.result, "replayed": (first.replayed, again.replayed)}
        >>> from langgraph_interleave.ledger import Call, Produced, call_key
        >>> asyncio.run(main())
        {'answer': 42, 'replayed': (False, True)}
    """

    def __init__(self, artifacts: ArtifactStore, *, grace_s: float = 5.0, lease_s: float = 60.0) -> None:
        self.artifacts = artifacts
        self.grace_s = grace_s
        #: Held for moments only, never while anything is awaited.
        self.lock = threading.RLock()
        self.journal = Journal(artifacts, lease_s=lease_s)
        self._pid = os.getpid()
        self._flights: dict[tuple[str, str], Flight] = {}
        self._ending: dict[tuple[str, str], Flight] = {}
        self._left_behind: set[asyncio.Task[Any]] = set()

    async def run(
        self, call: Call, produce: Produce, *, budget: Budget | None = None, on_done: OnDone | None = None
    ) -> Finished:
        """Ask for a call and wait for its answer.

        Args:
            call: The call.
            produce: Makes it. Awaited on the background loop in an empty context, if at all; of
                several that are given for one call the first is used.
            budget: What it counts against.
            on_done: Called once, on the background loop, the moment the call ends, before anybody who
                waits is woken; with `asyncio.CancelledError` when this ask was withdrawn before
                (its waiter was cancelled, its scope closed). Must not block.

        Returns:
            The finished record and whether it was there before.

        Raises:
            LimitReached: The budget has no room for it.
            CallTimeout: No answer within the deadline.
            ConfigError: The store cannot be written.
            Exception: Whatever `produce` raises.
        """
        return await self.wait(self.ask(call, produce, budget=budget, on_done=on_done))

    def scope(self, run_id: str, budget: Budget, *, on_resend: OnResend | None = None) -> RunScope:
        """A run scope: calls that are started ahead for one run, and end with it."""
        return RunScope(self, run_id, budget, on_resend=on_resend)

    async def records(self, scope: str) -> list[CallRecord]:
        """All readable records of a scope, in order of their start."""
        return await self.journal.all(scope)

    def in_flight(self) -> list[Call]:
        """The calls that are under way, those being given up included."""
        with self.lock:
            flights = {id(flight): flight for flight in (*self._flights.values(), *self._ending.values())}
        return [flight.call for flight in flights.values()]

    # -- for run scopes --------------------------------------------------------------------------

    def ask(
        self,
        call: Call,
        produce: Produce,
        *,
        budget: Budget | None = None,
        on_done: OnDone | None = None,
        certain: bool = True,
        reserve: bool = False,
        scope: RunScope | None = None,
    ) -> Ask:
        """Ask for a call without waiting. `reserve` makes room at once rather than when it is sent.

        Raises:
            LimitReached: `reserve` was wanted and there is no room.
        """
        self._after_fork()
        ask = Ask(call, produce, budget, on_done, certain=certain, scope=scope)
        with self.lock:
            self._board(ask, reserve=reserve)
        return ask

    async def wait(self, ask: Ask) -> Finished:
        """Wait for the answer; cancelled, the ask leaves."""
        try:
            return await asyncio.wrap_future(ask.future)
        except asyncio.CancelledError:
            self.leave(ask)
            raise

    def leave(self, ask: Ask) -> None:
        """Want the answer no more. Whoever waits for it gets `Cancelled`."""
        with self.lock:
            flight = ask.flight
            if ask.settled or flight is None:
                return
            ask.settled = True
            flight.asks.remove(ask)
        flight.soon(lambda: ask.tell(asyncio.CancelledError("withdrawn")))
        ask.answer(Cancelled("The call was given up.", role=ask.call.role))
        flight.poke()

    def promote(self, ask: Ask) -> None:
        """The answer is certain to be needed."""
        with self.lock:
            ask.certain = True
            if ask.flight is not None and ask.flight.reservation is not None:
                ask.flight.reservation.promote()

    # -- for flights -----------------------------------------------------------------------------

    def reserve(self, flight: Flight, *, certain: bool) -> Reservation:
        """Make room for a flight in its budget."""
        call = flight.call
        assert flight.budget is not None
        return flight.budget.reserve(
            calls=call.calls,
            images=call.images,
            certain=certain,
            role=call.role,
            key=call.key,
            on_preempt=flight.preempt,
            step=call.step,
            price_usd=call.price_usd if call.billed else 0.0,
        )

    def doom(self, flight: Flight, reason: str) -> None:
        """Let nobody join a flight any more. With the lock held."""
        flight.doomed = flight.doomed or reason
        name = (flight.call.scope, flight.call.key)
        if self._flights.get(name) is flight:
            del self._flights[name]
            self._ending[name] = flight

    def land(self, flight: Flight, outcome: Finished | BaseException) -> None:
        """Tell everybody who asked what came of a flight. On the flight's loop."""
        name = (flight.call.scope, flight.call.key)
        with self.lock:
            for flights in (self._flights, self._ending):
                if flights.get(name) is flight:
                    del flights[name]
            asks = flight.asks
            flight.asks = []
            if isinstance(outcome, LimitReached):
                # The limit of one run is none of another's.
                for ask in [ask for ask in asks if ask.budget is not flight.budget]:
                    asks.remove(ask)
                    self._board(ask)
            for ask in asks:
                ask.settled = True
        if isinstance(outcome, Finished):
            self._count(flight, asks, outcome)
        told = asyncio.CancelledError("withdrawn") if flight.preempted else outcome
        for ask in asks:
            ask.tell(told)
        flight.landed.set_result(None)
        for ask in asks:
            ask.answer(outcome)

    def leave_behind(self, task: asyncio.Task[Any]) -> None:
        """Keep a task that ignores being cancelled from being lost, and fetch its exception in the end."""
        self._left_behind.add(task)

        def fetch(task: asyncio.Task[Any]) -> None:
            self._left_behind.discard(task)
            if not task.cancelled():
                task.exception()

        task.add_done_callback(fetch)

    def _board(self, ask: Ask, *, reserve: bool = False) -> None:
        name = (ask.call.scope, ask.call.key)
        flight = self._flights.get(name)
        if flight is None:
            flight = Flight(self, ask, self._ending.get(name))
            if reserve and ask.budget is not None:
                flight.reservation = self.reserve(flight, certain=ask.certain)
            self._flights[name] = flight
            flight.take_off()
        elif ask.certain and flight.reservation is not None:
            flight.reservation.promote()
        ask.flight = flight
        flight.asks.append(ask)
        if ask.scope is not None:
            ask.scope.boarded(flight)

    @staticmethod
    def _count(flight: Flight, asks: list[Ask], finished: Finished) -> None:
        record = finished.record
        for budget in {id(ask.budget): ask.budget for ask in asks}.values():
            if budget is None:
                continue
            if finished.replayed or budget is not flight.budget:
                budget.count_replay(record.key, record.role, record.usage, step=record.step, price_usd=record.price_usd)
            if any(ask.certain and ask.budget is budget for ask in asks):
                budget.use(record.key)

    def _after_fork(self) -> None:
        # In a forked child nothing is under way, whatever the parent's notes say.
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self.lock = threading.RLock()
            self.journal = Journal(self.artifacts, lease_s=self.journal.lease_s)
            self._flights, self._ending, self._left_behind = {}, {}, set()
