"""How many requests a run makes within its limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from langgraph_interleave.estimate.chances import attempts_pmf, convolved, mean_attempts
from langgraph_interleave.limits import Limits

#: Beyond this many multiplications the mean is capped, instead of the mean taken of what is capped.
_MOST_WORK = 2_000_000


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests by role, and pictures drawn."""

    planner: float
    backend: float
    critic: float
    images: float

    @property
    def sum(self) -> float:
        """Requests of all roles."""
        return self.planner + self.backend + self.critic


@dataclass(frozen=True, slots=True)
class Cycle:
    """Requests that one plan, and drawing and judging one attempt take, and the pictures of an attempt."""

    planner: int
    backend: int
    critic: int
    images: int = 1

    def within(self, draws: float, limits: Limits) -> Requests:
        """Requests of so many attempts, each drawn and judged, one after the other until a cap is reached.

        Where calls run side by side, a cap on calls may fall on other roles than here; their sum is the same.

        Example:
            >>> Cycle(1, 1, 1).within(15, Limits(max_calls=10))
            Requests(planner=1, backend=5, critic=4, images=5)
        """
        if limits.max_images is not None:
            draws = min(draws, limits.max_images / self.images)
        if limits.max_calls is None:
            return Requests(self.planner, draws * self.backend, draws * self.critic, draws * self.images)
        planner = min(self.planner, limits.max_calls)
        left = limits.max_calls - planner
        whole = min(draws, left // (self.backend + self.critic))
        part = min(1.0, draws - whole)
        left -= whole * (self.backend + self.critic)
        begun = min(left, part * self.backend)
        judged = min(left - begun, part * self.critic)
        return Requests(
            planner=planner,
            backend=_whole(whole * self.backend + begun),
            critic=_whole(whole * self.critic + judged),
            images=_whole((whole + min(part, begun / max(1, self.backend))) * self.images),
        )


def expected_requests(cycle: Cycle, steps: int, p_accept: float, limits: Limits) -> Requests:
    """Expected requests: the mean over the drawings it may take, each within the limits."""
    most = steps * limits.max_attempts
    free = limits.model_copy(update={"max_images": None, "max_calls": None})
    if cycle.within(most, limits) == cycle.within(most, free) or most**2 > _MOST_WORK:
        return cycle.within(steps * mean_attempts(p_accept, limits.max_attempts), limits)
    chances = [1.0]
    for _ in range(steps):
        chances = convolved(chances, [0.0, *attempts_pmf(p_accept, limits.max_attempts)])
    found = [(chance, cycle.within(draws, limits)) for draws, chance in enumerate(chances)]
    return Requests(
        *(math.fsum(chance * getattr(each, field.name) for chance, each in found) for field in fields(Requests))
    )


def _whole(number: float) -> float:
    return int(number) if float(number).is_integer() else number
