"""Caps of other kinds as caps on attempts and pictures, which is what an estimate reckons with."""

from __future__ import annotations

from langgraph_interleave.estimate.requests import Cycle
from langgraph_interleave.limits import Limits


def narrowed(
    limits: Limits, cycle: Cycle, plan: float | None, attempt: float | None, steps: int
) -> tuple[Limits, dict[str, bool]]:
    """Caps on steps turned into attempts of a step, and a cap on money into pictures of the run.

    Args:
        limits: The caps.
        cycle: Requests of one plan, and of drawing and judging one attempt.
        plan: What a plan costs, in US dollars; `None` where nobody knows.
        attempt: What drawing and judging an attempt costs.
        steps: Steps that are drawn.

    Returns:
        The limits with those applied, and which of them leave less than without.

    Example:
        >>> limits, bound = narrowed(Limits(step_max_images=2, max_cost_usd=1.0), Cycle(1, 1, 1), 0.1, 0.3, 4)
        >>> limits.max_attempts, limits.max_images, [name for name, binds in bound.items() if binds]
        (2, 3, ['step_max_images', 'max_cost_usd'])
    """
    allowed: dict[str, int] = {}
    if limits.step_max_images is not None:
        allowed["step_max_images"] = -(-limits.step_max_images // cycle.images)
    if limits.step_max_calls is not None:
        # The last drawing may be left without its critique.
        allowed["step_max_calls"] = (limits.step_max_calls + cycle.critic) // (cycle.backend + cycle.critic)
    if limits.step_max_cost_usd is not None and attempt:
        allowed["step_max_cost_usd"] = _whole(limits.step_max_cost_usd / attempt)
    bound = {name: attempts < limits.max_attempts for name, attempts in allowed.items()}
    attempts = min([limits.max_attempts, *allowed.values()])
    images = limits.max_images if attempts else 0
    if limits.max_cost_usd is not None and plan is not None and attempt:
        affordable = cycle.images * _whole(max(0.0, limits.max_cost_usd - plan) / attempt)
        most = steps * attempts * cycle.images
        bound["max_cost_usd"] = affordable < (most if images is None else min(images, most))
        images = affordable if images is None else min(affordable, images)
    return limits.model_copy(update={"max_attempts": max(1, attempts), "max_images": images}), bound


def _whole(times: float) -> int:
    # A third of a dollar three times is a dollar.
    return int(times + 1e-9)
