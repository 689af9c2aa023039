"""Room for one call within a budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from langgraph_interleave.amounts import Amount
from langgraph_interleave.errors import Role
from langgraph_interleave.types.usage import Usage

if TYPE_CHECKING:
    from langgraph_interleave.budget import Budget

#: What became of a reservation.
End = Literal["settled", "failed", "released", "ambiguous"]


class Reservation:
    """Room for one call within a budget. Ended exactly once; further endings do nothing.

    Attributes:
        role: Whose call it is for.
        calls: How many calls it reserves.
        images: How many pictures it reserves.
        certain: Whether the call is certain to be needed.
        key: Key of the call, for counting what was used in the end; may be empty.
        counted: The call was made before and counts as used already: it takes no room.
        step: Which step it is for, if for one.
        price_usd: US dollars it may cost; `None` where nobody knows.
    """

    def __init__(
        self,
        budget: Budget,
        *,
        role: Role,
        calls: int,
        images: int,
        certain: bool,
        key: str,
        on_preempt: Callable[[], bool] | None,
        step: int | None = None,
        price_usd: float | None = None,
    ) -> None:
        self._budget = budget
        self.role: Role = role
        self.calls = calls
        self.images = images
        self.certain = certain
        self.key = key
        self.on_preempt = on_preempt
        self.preempting = False
        self.counted = False
        self.step = step
        self.price_usd = price_usd

    @property
    def amount(self) -> Amount:
        """What it holds."""
        return Amount() if self.counted else Amount(self.calls, self.images, self.price_usd or 0.0)

    def settle(self, usage: Usage, role: Role | None = None) -> None:
        """The call finished.

        Args:
            usage: What it used. Where it reports no pictures, the reserved ones count.
            role: Whose call it was, where that differs from the reservation.
        """
        self._budget._end(self, "settled", usage, role or self.role)  # pyright: ignore[reportPrivateUsage]

    def failed(self, usage: Usage = Usage()) -> None:
        """The call was answered, and without anything to use: it counts as a call, with what it used."""
        self._budget._end(self, "failed", usage, self.role)  # pyright: ignore[reportPrivateUsage]

    def release(self) -> None:
        """Nothing was produced, provably: the room is free again."""
        self._budget._end(self, "released", Usage(), self.role)  # pyright: ignore[reportPrivateUsage]

    def ambiguous(self, making: str = "") -> None:
        """Nobody knows whether the work was done: all of it counts as used.

        Args:
            making: Which making of which call it was, as for `Budget.count_ambiguous`.
        """
        self._budget._end(self, "ambiguous", Usage(images=self.images), self.role, making)  # pyright: ignore[reportPrivateUsage]

    def promote(self) -> None:
        """The call is certain from now on: it is neither stopped for another's sake nor waste."""
        self._budget._promote(self)  # pyright: ignore[reportPrivateUsage]
