"""Starts calls ahead of the graph: hands the ledger a key and a `produce`, and keeps bets in check.

Which calls these are is decided by `routing.next_calls` alone; there is no second scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from langgraph_interleave.ledger import Call, Finished, RunScope

OnDone = Callable[[Call, Finished | BaseException], None]


class Ahead:
    """The calls of one run that were started before a node asked for them."""

    def __init__(self, scope: RunScope) -> None:
        self._scope = scope
        #: Started on steps of a plan that is not validated: key of the call, and its step.
        self._provisional: dict[str, int | None] = {}
        self._bets: set[str] = set()
        #: Steps whose judgement an earlier invocation of the run has recorded.
        self.decided: set[int] = set()

    def start(self, call: Call, produce: Any, *, certain: bool, on_done: OnDone) -> bool:
        """Start a call whose input exists.

        Args:
            call: What it is.
            produce: Makes it.
            certain: The plan it rests on is validated; else it counts as speculation.
            on_done: Told once, with the result or the error, on the ledger's loop.

        Returns:
            Whether it was started; speculation is not when a limit leaves nothing for it.
        """
        self._bets.discard(call.key)
        if call.role == "critic" and call.step is not None and self._scope.recorded(call.key):
            self.decided.add(call.step)
        if not certain:
            self._provisional[call.key] = call.step
        return self._scope.start(call, produce, certain=certain, on_done=on_done)

    def bet(self, bets: Mapping[str, tuple[Call, Any]]) -> None:
        """Start the likely calls, and cancel bets that are no longer likely."""
        new = [bets[key] for key in bets if key not in self._bets]
        self._bets = set(bets)
        self._scope.keep(self._bets | self._provisional.keys())
        for call, produce in new:
            self._scope.start(call, produce, certain=False)

    def promote(self, changed: Collection[int]) -> None:
        """The plan is validated: what was started on its steps is certain now.

        Args:
            changed: Steps that came out differently; what was started on those is cancelled.
        """
        for key, step in self._provisional.items():
            if step not in changed:
                self._scope.promote(key)
        self._provisional.clear()
        self._scope.keep(self._bets)

    def give_up(self) -> None:
        """There is no plan after all: everything started on its steps is cancelled."""
        self._provisional.clear()
        self._bets.clear()
        self._scope.keep(set())
