"""What a call may cost, before it is made: as much is reserved for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import cast

from langgraph_interleave.errors import Role
from langgraph_interleave.limits import Limits, no_price
from langgraph_interleave.prices import Costs, Prices
from langgraph_interleave.profiles import TYPICAL_STEPS, profile_of
from langgraph_interleave.types import Usage

#: How many times the tokens expected of a call are reserved for it: some think longer, or show more. A price per
#: picture is exact.
MARGIN = 2


@dataclass(frozen=True, slots=True)
class CallPrices:
    """What one call of each role may cost, in US dollars, and what has no price.

    Attributes:
        planner: Of a plan; `None` where nobody knows, 0 where it is free.
        backend: Of one picture.
        critic: Of a critique.
        unpriced: The models without a price, by role.
    """

    planner: float | None = None
    backend: float | None = None
    critic: float | None = None
    unpriced: Mapping[Role, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, planner: object, backend: object, critic: object, *, steps: int | None = None) -> CallPrices:
        """What calls of these parts may cost: what they say themselves, else the table of prices.

        Args:
            planner: The planner.
            backend: The backend.
            critic: The critic.
            steps: Steps of the plan; 5 where that is not known.

        Raises:
            ConfigError: A file of prices cannot be read.

        Example:
            >>> from langgraph_interleave.registry import init_critic, init_planner
            >>> from langgraph_interleave.backends.simulator import SimulatorBackend
            >>> CallPrices.of(init_planner("scene"), SimulatorBackend(), init_critic("pixel")).backend
            0.0
        """
        found: dict[Role, float | None] = {}
        unpriced: dict[Role, tuple[str, ...]] = {}
        parts: dict[Role, object] = {"planner": planner, "backend": backend, "critic": critic}
        for role, part in parts.items():
            found[role], missing = _ceiling(role, part, steps or TYPICAL_STEPS)
            if missing:
                unpriced[role] = missing
        return cls(found["planner"], found["backend"], found["critic"], MappingProxyType(unpriced))

    @classmethod
    def of_backend(cls, backend: object) -> CallPrices:
        """The same where nobody plans and nobody judges."""
        price, missing = _ceiling("backend", backend, TYPICAL_STEPS)
        return cls(0.0, price, 0.0, MappingProxyType({"backend": missing} if missing else {}))

    def check(self, limits: Limits) -> None:
        """Refuse a cap on money that could not be kept.

        Raises:
            ConfigError: There is one, and a price is not known; it says whose.
        """
        cap = limits.on_money
        if cap is None or not self.unpriced:
            return
        raise no_price(cap, " and ".join(_named(role, models) for role, models in self.unpriced.items()))


def _named(role: Role, models: tuple[str, ...]) -> str:
    names = [name for name in models if name and name != f"the {role}"]
    return f"a call of the {role}" + (f" ({', '.join(names)})" if names else "")


def _ceiling(role: Role, part: object, steps: int) -> tuple[float | None, tuple[str, ...]]:
    """What a call costs at most, as far as can be said, and the models without a price."""
    members: object = getattr(part, "members", None)
    if isinstance(members, Mapping):
        # One of them draws, and it is not known which.
        each = [_ceiling(role, member, steps) for member in cast("Mapping[str, object]", members).values()]
        lacking = tuple(dict.fromkeys(name for _, missing in each for name in missing))
        return (None if lacking else max((price or 0.0 for price, _ in each), default=0.0)), lacking
    profile = profile_of(role, part, steps=steps)
    if not profile.billed:
        return 0.0, ()
    shared: Costs = Prices.default()
    costs = [
        (model, profile.prices.get(model, shared).cost(model, _dearer(usage))) for model, usage in profile.requests
    ]
    lacking = tuple(dict.fromkeys(model for model, cost in costs if cost is None))
    most: object = getattr(part, "calls_at_most", 1)
    times = max(1.0, most / len(costs)) if isinstance(most, int) and costs else 1.0
    return (None if lacking else times * math.fsum(cost or 0.0 for _, cost in costs)), lacking


def _dearer(usage: Usage) -> Usage:
    if usage.cost_usd is not None:
        return usage
    tokens = ("input_tokens", "output_tokens", "image_input_tokens", "image_output_tokens")
    return usage.model_copy(update={name: MARGIN * getattr(usage, name) for name in tokens})
