"""What a run may take before anything is spent: calls, pictures, money and time; best, expected and worst.

Best: every first attempt is accepted. Expected: each attempt is accepted with the same probability,
whatever came before, and no call is repeated. Worst: every attempt is used up, and every call is
repeated as often as `Limits.max_repeats` allows. Nothing here makes a call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic import Field

from langgraph_interleave.errors import ConfigError, Role
from langgraph_interleave.estimate.chances import depth, expected_depth
from langgraph_interleave.estimate.narrowing import narrowed
from langgraph_interleave.estimate.requests import Cycle, Requests, expected_requests
from langgraph_interleave.limits import Limits
from langgraph_interleave.prices import Prices
from langgraph_interleave.profiles import ROLES, TYPICAL_STEPS, CallProfile, profile_of
from langgraph_interleave.references import Policy, basis, sheet_step, shows_a_character
from langgraph_interleave.types import Plan, Step
from langgraph_interleave.types.base import Frozen

#: How often a repeated call may be billed again: a plan each time, a drawing or critique once. The
#: other repeats are of what was provably not produced.
_BILLED_REPEATS = 1


class Range(Frozen):
    """A figure at its best, expected, and at its worst; never falling."""

    best: float = 0.0
    expected: float = 0.0
    worst: float = 0.0

    @classmethod
    def rising(cls, best: float, expected: float, worst: float) -> Self:
        """A range of three figures, kept from falling by rounding."""
        worst = max(best, worst)
        return cls(best=best, expected=min(max(best, expected), worst), worst=worst)

    def __add__(self, other: Range) -> Range:
        return Range(
            best=self.best + other.best, expected=self.expected + other.expected, worst=self.worst + other.worst
        )


class Estimate(Frozen):
    """What a run may take.

    Attributes:
        steps: Steps that are drawn.
        p_accept: Probability with which an attempt is taken to be accepted.
        repeats: How often a call may be repeated, in the worst case.
        calls: Requests by role; in the worst case with repeats.
        all_calls: Requests of all roles together; under a cap less than the sum of the worst by role.
        images: Pictures drawn.
        costs: US dollars by role; `None` where a price is not known, 0 where nothing is billed. The
            worst is that of the number of calls: each is taken to use what is expected of it.
        seconds: Wall-clock time. Calls started ahead of time, which save some, are not reckoned with.
        unpriced: Models whose price is not known.
        limited: Limits that may end the run before every attempt is used up.
        judged: Whether there is a critic. Where there is none every picture is accepted, unless a check fails; what
            stands for its critique counts as a call of the run, and is no request.
    """

    steps: int = Field(ge=0)
    p_accept: float = Field(ge=0, le=1)
    repeats: int = 0
    calls: dict[Role, Range]
    all_calls: Range
    images: Range
    costs: dict[Role, Range | None]
    seconds: Range
    unpriced: tuple[str, ...] = ()
    limited: tuple[str, ...] = ()
    judged: bool = True

    @property
    def cost_usd(self) -> Range | None:
        """US dollars in all; `None` when the price of any role is not known."""
        return None if any(cost is None for cost in self.costs.values()) else self.known_cost

    @property
    def known_cost(self) -> Range:
        """US dollars of the roles whose price is known."""
        return sum((cost for cost in self.costs.values() if cost is not None), Range())


def estimate_run(
    steps: int = TYPICAL_STEPS,
    *,
    limits: Limits = Limits(),
    p_accept: float = 0.7,
    planner: object | None = None,
    backend: object | None = None,
    critic: object | None = None,
    prices: Prices | None = None,
    seconds: Mapping[Role, float] | None = None,
    independent: bool = False,
    candidates: int = 1,
) -> Estimate:
    """Estimate a run of which only the number of steps is known.

    Args:
        steps: Steps that are drawn; each builds on the one before.
        limits: The run's caps.
        p_accept: Probability that an attempt is accepted, 0 to 1; without a critic (`critic="none"`) it is 1.
        planner: The planner, or a `CallProfile`; without it its price is not known.
        backend: The backend, likewise.
        critic: The critic, likewise.
        prices: By default the built-in ones, under those of `LANGGRAPH_INTERLEAVE_PRICES`.
        seconds: Seconds per call by role, such as `calls_seconds` measures; over the assumptions.
        independent: No step builds on another: they are drawn side by side.
        candidates: Pictures of each attempt; then it is accepted when one of them is.

    Raises:
        ConfigError: A number is out of range.

    Example:
        >>> estimate_run(5, limits=Limits(max_attempts=5, max_repeats=0)).all_calls.worst
        51.0
    """
    if steps < 1:
        raise ConfigError(f"A run of {steps} steps cannot be estimated.", remedy="Give 1 or more.")
    count = min(steps, limits.max_steps)
    waits = [() if independent or not index else (index - 1,) for index in range(count)]
    parts: dict[Role, object | None] = {"planner": planner, "backend": backend, "critic": critic}
    return _estimate(waits, limits, p_accept, parts, prices, seconds or {}, cut=steps > count, candidates=candidates)


def estimate_plan(
    plan: Plan,
    *,
    limits: Limits = Limits(),
    p_accept: float = 0.7,
    planner: object | None = None,
    backend: object | None = None,
    critic: object | None = None,
    prices: Prices | None = None,
    seconds: Mapping[Role, float] | None = None,
    policy: Policy = Policy(),
    candidates: int = 1,
) -> Estimate:
    """Estimate a run by its plan: text steps take nothing, independent ones are drawn side by side.

    The arguments are those of `estimate_run`; the call that makes the plan is reckoned with as there.
    `policy` says what steps are drawn from; a sheet of characters is a drawing more.

    Raises:
        ConfigError: A number is out of range.
    """
    kept = plan.steps[: limits.max_steps]
    drawn = [step for step in kept if step.op != "text"]
    sheet = sheet_step(len(plan.steps), plan.style_guide) if policy.references == "sheet" and drawn else None
    order = drawn if sheet is None else [sheet, *drawn]
    place = {step.index: number for number, step in enumerate(order)}

    def sources(step: Step) -> tuple[int, ...]:
        shows = sheet is not None and shows_a_character(step, plan.style_guide, plan.steps)
        return basis(step, plan.steps, policy, sheet=sheet.index if sheet is not None and shows else None).steps

    waits = [tuple(place[source] for source in sources(step) if source in place) for step in order]
    parts: dict[Role, object | None] = {"planner": planner, "backend": backend, "critic": critic}
    return _estimate(
        waits, limits, p_accept, parts, prices, seconds or {}, candidates=candidates, cut=len(kept) < len(plan.steps)
    )


def _estimate(
    waits: Sequence[Sequence[int]],
    limits: Limits,
    p_accept: float,
    parts: Mapping[Role, object | None],
    prices: Prices | None,
    seconds: Mapping[Role, float],
    *,
    cut: bool,
    candidates: int,
) -> Estimate:
    if not 0 <= p_accept <= 1:
        raise ConfigError(f"p_accept={p_accept!r} is no probability.", remedy="Give a number from 0 to 1.")
    steps = len(waits)
    judged = bool(getattr(parts["critic"], "judges", True))
    p_accept = p_accept if judged else 1.0
    profiles: dict[Role, CallProfile] = {}
    for role in ROLES:
        profiles[role] = profile_of(role, parts[role], steps=steps, seconds=seconds.get(role))
    at_once = min(candidates, _at_once(parts["backend"]))
    profiles["backend"] = profiles["backend"].of_pictures(at_once)
    calls_each: dict[Role, int] = {"planner": 1, "backend": -(-candidates // at_once), "critic": candidates}
    once = _cycle(profiles, {}, calls_each, candidates)
    table, given = prices or Prices.default(), limits
    limits, bound = narrowed(given, once, _cost(profiles, calls_each, ("planner",), table),
                             _cost(profiles, calls_each, ("backend", "critic"), table), steps)  # fmt: skip
    most, p_attempt = steps * limits.max_attempts, 1.0 - (1.0 - p_accept) ** candidates
    again = _cycle(profiles, dict.fromkeys(ROLES, limits.max_repeats), calls_each, candidates)
    billed = min(limits.max_repeats, _BILLED_REPEATS)
    repeats: dict[Role, int] = {"planner": limits.max_repeats, "backend": billed, "critic": billed}
    paid = _cycle(profiles, repeats, calls_each, candidates)
    best, expected = once.within(steps, limits), expected_requests(once, steps, p_attempt, limits)
    plain, worst, dearest = (cycle.within(most, limits) for cycle in (once, again, paid))
    time = _Time(profiles, waits, calls_each)
    ways = depth(waits)
    last = ways * limits.max_attempts
    spans = Range.rising(
        time.seconds(best, once, ways),
        time.seconds(expected, once, expected_depth(waits, p_attempt, limits.max_attempts)),
        max(time.seconds(plain, once, last), time.seconds(worst, again, last)),
    )
    costs, unpriced = _costs(profiles, calls_each, once, (best, expected, plain, dearest), table)
    costs = _capped(costs, given.max_cost_usd)
    calls: dict[Role, Range] = {}
    for role in ROLES:
        low, middle, high, highest = (float(getattr(made, role)) for made in (best, expected, plain, worst))
        calls[role] = Range.rising(low, middle, max(high, highest))
    unbound = again.within(most, Limits())
    bound |= {
        "max_steps": cut,
        "max_images": given.max_images is not None and most * candidates > given.max_images,
        "max_calls": limits.max_calls is not None and unbound.sum > limits.max_calls,
        "max_seconds": limits.max_seconds is not None and spans.worst > limits.max_seconds,
    }
    cap = float("inf") if limits.max_seconds is None else limits.max_seconds
    return Estimate(
        steps=steps,
        p_accept=p_accept,
        repeats=limits.max_repeats if again != once else 0,
        calls=calls,
        all_calls=Range.rising(best.sum, expected.sum, max(plain.sum, worst.sum)),
        images=Range.rising(best.images, expected.images, max(plain.images, worst.images)),
        costs=costs,
        seconds=Range(best=min(spans.best, cap), expected=min(spans.expected, cap), worst=min(spans.worst, cap)),
        unpriced=unpriced,
        limited=tuple(name for name, binds in bound.items() if binds),
        judged=judged,
    )


def _cost(
    profiles: Mapping[Role, CallProfile], calls_each: Mapping[Role, int], roles: Sequence[Role], prices: Prices
) -> float | None:
    """US dollars of what some roles do for one attempt; `None` where a price is not known."""
    costs = [(calls_each[role], profiles[role].cost(prices)[0]) for role in roles]
    known = [calls * cost for calls, cost in costs if cost is not None]
    return math.fsum(known) if len(known) == len(costs) else None


def _capped(costs: dict[Role, Range | None], cap: float | None) -> dict[Role, Range | None]:
    """The costs, none of them so high that all together pass a cap."""
    if cap is None or any(cost is None for cost in costs.values()):
        return costs
    whole = sum((cost for cost in costs.values() if cost is not None), Range())
    best, expected, worst = (
        min(1.0, cap / total) if total else 1.0 for total in (whole.best, whole.expected, whole.worst)
    )
    return {
        role: None if cost is None else Range.rising(cost.best * best, cost.expected * expected, cost.worst * worst)
        for role, cost in costs.items()
    }


def _at_once(backend: object) -> int:
    """How many pictures a backend draws with one call."""
    can: Any = getattr(backend, "capabilities", None)
    return max(1, int(getattr(can, "max_images", 1)))


def _cycle(
    profiles: Mapping[Role, CallProfile], repeats: Mapping[Role, int], calls_each: Mapping[Role, int], images: int
) -> Cycle:
    planner, backend, critic = (
        len(profiles[role].requests)
        * calls_each[role]
        * (1 + (repeats.get(role, 0) if profiles[role].repeatable else 0))
        for role in ROLES
    )
    return Cycle(planner, backend, critic, images)


def _costs(
    profiles: Mapping[Role, CallProfile],
    calls_each: Mapping[Role, int],
    once: Cycle,
    found: tuple[Requests, Requests, Requests, Requests],
    prices: Prices,
) -> tuple[dict[Role, Range | None], tuple[str, ...]]:
    """US dollars by role, and the models without a price."""
    costs: dict[Role, Range | None] = {}
    unpriced: list[str] = []
    for role in ROLES:
        each, missing = profiles[role].cost(prices)
        unpriced += missing
        if each is None:
            costs[role] = None
            continue
        each *= calls_each[role]
        best, expected, plain, dearest = (getattr(one, role) / getattr(once, role) * each for one in found)
        costs[role] = Range.rising(best, expected, max(plain, dearest))
    return costs, tuple(dict.fromkeys(unpriced))


@dataclass(frozen=True, slots=True)
class _Time:
    """How long requests take, given which steps wait for which."""

    profiles: Mapping[Role, CallProfile]
    waits: Sequence[Sequence[int]]
    calls_each: Mapping[Role, int]

    def seconds(self, made: Requests, cycle: Cycle, rounds: float) -> float:
        """Seconds of requests when the longest way has so many attempts; at most one after the other."""
        of = {role: self.profiles[role].seconds / len(self.profiles[role].requests) for role in ROLES}
        drawing = made.backend * of["backend"]
        in_turn = made.planner * of["planner"] + drawing + made.critic * of["critic"]
        plan = cycle.planner * of["planner"]
        # The calls of one attempt's pictures are made side by side.
        drawn, judged = (getattr(cycle, role) / self.calls_each[role] * of[role] for role in ("backend", "critic"))
        way = rounds * (drawn + judged)
        # However independent the steps are, only so many drawings run at once.
        crowded = drawing / self.profiles["backend"].concurrency
        return min(in_turn, plan + max(way, crowded))
