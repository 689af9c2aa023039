"""How much of what is capped calls take, and which cap an amount would pass. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph_interleave.errors import LimitReached
from langgraph_interleave.limits import Limits

#: Sums of dollars are not exact; less than this is nothing.
_CENTS_EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class Amount:
    """What one call takes, or several together.

    Attributes:
        calls: Calls.
        images: Pictures.
        cost_usd: US dollars.

    Example:
        >>> Amount(1, images=2) + Amount(1, cost_usd=0.25)
        Amount(calls=2, images=2, cost_usd=0.25)
    """

    calls: int = 0
    images: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.calls + other.calls, self.images + other.images, self.cost_usd + other.cost_usd)

    def of(self, limit: str) -> float:
        """How much of it counts against a limit, `max_images` or `step_max_images` say."""
        return getattr(self, limit.removeprefix("step_").removeprefix("max_"))


def passed(limits: Limits, held: Amount, wanted: Amount, *, step: bool = False) -> LimitReached | None:
    """The cap that would be passed if this were taken besides what is held; `None` when there is none.

    Args:
        limits: The caps.
        held: What is used or reserved.
        wanted: What is to be taken besides.
        step: Both are those of one step, and so are the caps.

    Example:
        >>> passed(Limits(max_images=2), Amount(calls=5, images=2), Amount(1, images=1)).limit
        'max_images'
        >>> passed(Limits(max_images=2), Amount(calls=5, images=2), Amount(1)) is None
        True
    """
    for name in ("max_calls", "max_images", "max_cost_usd"):
        limit = f"step_{name}" if step else name
        cap: float | None = getattr(limits, limit)
        more = wanted.of(limit)
        # What takes nothing of it fits even where a call cost more than was reserved for it.
        if cap is not None and more and held.of(limit) + more > cap + _CENTS_EXACT:
            return LimitReached(limit, used=held.of(limit), cap=cap, wanted=more)
    return None
