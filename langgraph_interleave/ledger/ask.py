"""One asking for a call."""

from __future__ import annotations

import concurrent.futures
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from langgraph_interleave.budget import Budget
from langgraph_interleave.ledger.records import Call, Finished, Produce

if TYPE_CHECKING:
    from langgraph_interleave.ledger.flight import Flight
    from langgraph_interleave.ledger.scope import RunScope

log = logging.getLogger(__name__)

OnDone = Callable[[Call, "Finished | BaseException"], None]


class Ask:
    """One asking for a call. Its future is its own: nothing that happens to another ask touches it.

    Attributes:
        flight: The flight that will answer it.
        future: The answer; never cancelled.
        certain: Whether the answer is certain to be needed.
    """

    __slots__ = ("budget", "call", "certain", "flight", "future", "on_done", "produce", "scope", "settled")

    def __init__(
        self,
        call: Call,
        produce: Produce,
        budget: Budget | None,
        on_done: OnDone | None,
        *,
        certain: bool,
        scope: RunScope | None = None,
    ) -> None:
        self.call = call
        self.produce = produce
        self.budget = budget
        self.on_done = on_done
        self.scope = scope
        self.certain = certain
        self.settled = False
        self.flight: Flight | None = None
        self.future: concurrent.futures.Future[Finished] = concurrent.futures.Future()
        self.future.set_running_or_notify_cancel()

    def tell(self, outcome: Finished | BaseException) -> None:
        """Call `on_done`; what that raises is its own affair and is logged."""
        if self.on_done is None:
            return
        try:
            self.on_done(self.call, outcome)
        except Exception:
            log.exception("on_done of a %s call failed", self.call.role)

    def answer(self, outcome: Finished | BaseException) -> None:
        """Give the outcome to whoever waits."""
        if isinstance(outcome, BaseException):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)
