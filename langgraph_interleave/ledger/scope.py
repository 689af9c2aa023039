"""A run scope: the calls of one run, and the end of all of them."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from langgraph_interleave import background
from langgraph_interleave.budget import Budget
from langgraph_interleave.errors import CallError, Cancelled, LimitReached
from langgraph_interleave.ledger.ask import Ask, OnDone
from langgraph_interleave.ledger.flight import Flight
from langgraph_interleave.ledger.records import Call, CallRecord, Finished, Produce

if TYPE_CHECKING:
    from langgraph_interleave.ledger.core import Ledger

OnResend = Callable[[Call, CallError, float], None]


class RunScope:
    """The calls of one run. Made with `Ledger.scope`; to be closed at the run's end, whatever ended it.

    Guaranteed: after `aclose` nothing that was asked for through it is under way, except what
    others asked for as well. A call that ignores being cancelled is left behind, not waited for.

    Args:
        ledger: The ledger.
        run_id: Name of the run.
        budget: What its calls count against.
        on_resend: Told before a call is sent again: the call, the error, the pause in seconds.
    """

    def __init__(self, ledger: Ledger, run_id: str, budget: Budget, *, on_resend: OnResend | None = None) -> None:
        self._on_resend = on_resend
        self.run_id = run_id
        self.budget = budget
        #: Calls of earlier invocations whose end nobody knows, as `resume` found them.
        self.lost: list[CallRecord] = []
        self._ledger = ledger
        self._closed = False
        self._asks: set[Ask] = set()
        self._ahead: dict[str, list[Ask]] = {}
        self._flights: set[Flight] = set()
        self._recorded: frozenset[str] = frozenset()

    async def run(self, call: Call, produce: Produce, *, on_done: OnDone | None = None) -> Finished:
        """Ask for a call and wait for its answer; what was started ahead becomes certain by this.

        Raises:
            Cancelled: The scope is closed, or was closed meanwhile.
            Exception: As `Ledger.run`.
        """
        ask = self._ask(call, produce, on_done, certain=True, ahead=False)
        if ask is None:
            raise Cancelled("The run is over.", role=call.role)
        return await self._ledger.wait(ask)

    def start(self, call: Call, produce: Produce, *, certain: bool, on_done: OnDone | None = None) -> bool:
        """Start a call ahead, from any thread, without waiting for it.

        Args:
            call: The call.
            produce: Makes it; as for `Ledger.run`.
            certain: Whether its result is certain to be needed. If not, it may be stopped again.
            on_done: As for `Ledger.run`.

        Returns:
            Whether it is under way. `False` when a limit leaves no room or the scope is closed; then
            `on_done` is not called. Started again, it joins what is under way.
        """
        with self._ledger.lock:
            before = self._ahead.get(call.key, ())
            if certain:
                for ask in before:
                    self._ledger.promote(ask)
            if before and on_done is None:
                return True
            try:
                return self._ask(call, produce, on_done, certain=certain, ahead=True) is not None
            except LimitReached:
                return False

    def keep(self, keys: AbstractSet[str]) -> None:
        """Give up what was started ahead on a bet and is not among these keys."""
        with self._ledger.lock:
            lost = [ask for key, asks in self._ahead.items() if key not in keys for ask in asks if not ask.certain]
        for ask in lost:
            self._ledger.leave(ask)

    def promote(self, key: str) -> None:
        """What was started ahead under this key is certain from now on."""
        with self._ledger.lock:
            for ask in self._ahead.get(key, ()):
                self._ledger.promote(ask)
        # It may have finished already: then nobody asks for it again, and it is no waste all the same.
        self.budget.use(key)

    def in_flight(self) -> set[str]:
        """Keys of this run's calls that are under way, those being given up included."""
        with self._ledger.lock:
            return {flight.call.key for flight in self._flights if self._is_ours(flight)}

    async def resume(self) -> list[CallRecord]:
        """Count what earlier invocations of this run used, so that its caps hold for all of them.

        Returns:
            All records of the run, in order of their start.
        """
        records, unknown = await self._look()
        if unknown:
            # A call of this process that landed between the two looks of one is not lost.
            records, still = await self._look()
            unknown &= still
        self._recorded = frozenset(record.key for record in records if record.status == "finished")
        for record in records:
            for nth in range(record.ambiguous_before):
                self._count_ambiguous(record, nth)
            for nth, used in enumerate(record.failed):
                self.budget.count_prior(
                    f"{record.key}/failed/{nth}", record.role, used, step=record.step, price_usd=record.price_usd
                )
            if record.status == "finished":
                self.budget.count_prior(
                    record.key, record.role, record.usage, step=record.step, price_usd=record.price_usd
                )
            elif record.status == "started" and record.key not in unknown:
                if record.billed:
                    self.budget.expect(
                        record.key, record.role, images=record.images, step=record.step, price_usd=record.price_usd
                    )
            elif record.status != "failed":
                self.lost.append(record)
                self._count_ambiguous(record, record.ambiguous_before)
        return records

    async def _look(self) -> tuple[list[CallRecord], set[str]]:
        """The records of the run, and the keys of those that were started and that nobody is known to be making."""
        records = await self._ledger.records(self.run_id)
        here = {call.key for call in self._ledger.in_flight() if call.scope == self.run_id}
        started = [record for record in records if record.status == "started" and record.key not in here]
        return records, {record.key for record in started if not self._ledger.journal.is_others(record)}

    async def recount(self) -> None:
        """Count what others have made of this run meanwhile: another process that was sent the same request.

        Each bets for itself, and a bet of theirs is money of this run as well.
        """
        for record in await self._ledger.journal.all(self.run_id, self.budget.counted):
            if record.status == "finished":
                self.budget.count_prior(
                    record.key, record.role, record.usage, step=record.step, price_usd=record.price_usd
                )
            elif record.status == "ambiguous":
                self._count_ambiguous(record, record.ambiguous_before)

    def recorded(self, key: str) -> bool:
        """Whether an earlier invocation of the run finished this call: its answer is there at once."""
        return key in self._recorded

    def _count_ambiguous(self, record: CallRecord, nth: int) -> None:
        self.budget.count_ambiguous(
            record.role, billed=record.billed, images=record.images, making=f"{record.key}/{nth}", step=record.step,
            price_usd=record.price_usd,
        )  # fmt: skip

    async def aclose(self, *, cancelled: bool = False) -> None:
        """End the scope: what was started on a bet is given up, what is certain is waited for.

        Safe to call again, and from any event loop. Cancelled while it waits, it has still given up
        what is to be given up.

        Args:
            cancelled: The run was stopped: certain work is given up as well (what is billed and sent
                may still finish within the ledger's `grace_s`).
        """
        self._begin(cancelled=cancelled)
        while True:
            with self._ledger.lock:
                waiting = [flight.landed for flight in self._flights if self._is_ours(flight)]
            if not waiting:
                return
            copies = [asyncio.wrap_future(landed) for landed in waiting]
            try:
                await asyncio.wait(copies)
            finally:
                # Else a flight that lands after this loop was closed would complain of it.
                for copy in copies:
                    copy.cancel()

    def close(self, *, cancelled: bool = True) -> concurrent.futures.Future[None]:
        """Begin to end the scope, from any thread, without waiting.

        Args:
            cancelled: As for `aclose`; here the default is to give up certain work too, since whoever
                does not wait for the end has no use for results either.

        Returns:
            A future that is done when nothing is left.
        """
        self._begin(cancelled=cancelled)
        return background.submit(self.aclose)

    def _begin(self, *, cancelled: bool) -> None:
        with self._ledger.lock:
            self._closed = True
            lost = [ask for ask in self._asks if cancelled or not ask.certain]
        for ask in lost:
            self._ledger.leave(ask)

    def _ask(self, call: Call, produce: Produce, on_done: OnDone | None, *, certain: bool, ahead: bool) -> Ask | None:
        with self._ledger.lock:
            if self._closed:
                return None
            ask = self._ledger.ask(
                call, produce, budget=self.budget, on_done=on_done, certain=certain, reserve=ahead, scope=self
            )
            self._asks.add(ask)
            if ahead:
                self._ahead.setdefault(call.key, []).append(ask)
        ask.future.add_done_callback(lambda _: self._forget(ask))
        return ask

    def resending(self, call: Call, error: CallError, pause: float) -> None:
        """A call this scope waits for is sent again after a pause."""
        if self._on_resend is not None:
            self._on_resend(call, error, pause)

    def boarded(self, flight: Flight) -> None:
        """An ask of this scope waits for a flight. With the ledger's lock held."""
        if flight not in self._flights:
            self._flights.add(flight)
            flight.landed.add_done_callback(lambda _: self._landed(flight))

    def _is_ours(self, flight: Flight) -> bool:
        # One that only others wait for now is theirs; one that nobody waits for is being wound up.
        return not flight.asks or any(ask.scope is self for ask in flight.asks)

    def _forget(self, ask: Ask) -> None:
        with self._ledger.lock:
            self._asks.discard(ask)
            ahead = self._ahead.get(ask.call.key, [])
            if ask in ahead:
                ahead.remove(ask)
            if not ahead:
                self._ahead.pop(ask.call.key, None)

    def _landed(self, flight: Flight) -> None:
        with self._ledger.lock:
            self._flights.discard(flight)
