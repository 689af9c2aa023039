"""The run in one line: time, calls, cost, outcome."""

from __future__ import annotations

from langgraph_interleave.cli.progress import RunProgress
from langgraph_interleave.cli.wording import count, one_line
from langgraph_interleave.types import Spend

SIMULATED = "sketches drawn by code; faults simulated so that a correction can be seen."

_CALLS = {"planner": "plan", "backend": "drawing", "critic": "critique"}


def clock(seconds: float) -> str:
    """A span of time for people.

    Example:
        >>> clock(3.21), clock(75)
        ('3.2 s', '1 min 15 s')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s"


def calls_line(progress: RunProgress) -> str:
    """How many calls of which role; exact once the run has finished."""
    calls = progress.spend.calls if progress.spend else progress.calls
    known = [count(calls[role], noun) for role, noun in _CALLS.items() if calls.get(role)]
    known += [count(number, role) for role, number in sorted(calls.items()) if number and role not in _CALLS]
    line = count(sum(calls.values()), "call")
    if known:
        line += f" ({', '.join(known)})"
    if progress.spend and progress.spend.replayed:
        line += f", {progress.spend.replayed} of them answered from the ledger"
    if progress.spend and progress.spend.wasted:
        line += f", {progress.spend.wasted} ahead of time and unused"
    if progress.spend and progress.spend.ambiguous:
        line += f", {progress.spend.ambiguous} cut off (ambiguous: nobody knows whether the work was done"
        maybe = progress.spend.ambiguous_cost_usd
        line += "; what that cost is unknown)" if maybe is None else f"; up to ${maybe:.4f} more)" if maybe else ")"
    return line


def cost(spend: Spend | None, *, free: bool) -> str:
    """What the run cost; unknown is said, never shown as nothing.

    Args:
        spend: Of the finished run, or `None` while it goes on.
        free: Whether no role in use is billed.
    """
    if spend is not None and spend.cost_usd:
        return f"${spend.cost_usd:.4f}"
    if free or (spend is not None and (spend.cost_usd == 0 or not spend.calls)):
        return "no cost"
    return "cost unknown"


def status_line(progress: RunProgress, *, seconds: float, free: bool) -> str:
    """Time, calls and cost."""
    spend = progress.spend
    shown = spend.seconds if spend and spend.seconds else seconds
    said = cost(spend, free=free) if spend is not None or free else cost_so_far(progress)
    return f"{clock(shown)} · {calls_line(progress)} · {said}"


def cost_so_far(progress: RunProgress) -> str:
    """What the calls that were told of may have cost: what each cost is known when the run has ended.

    Example:
        >>> progress = RunProgress(call_usd={"planner": 0.0, "backend": 0.04})
        >>> progress.calls |= {"planner": 1, "backend": 3}
        >>> cost_so_far(progress)
        'about $0.12'
    """
    costs = [(number, progress.call_usd.get(role)) for role, number in progress.calls.items() if number]
    known = [number * each for number, each in costs if each is not None]
    if len(known) < len(costs) or not progress.call_usd:
        return "cost unknown"
    total = sum(known)
    return f"about ${total:.2f}" if total >= 0.1 else f"about ${total:.4f}" if total else "no cost so far"


def outcome_line(progress: RunProgress) -> str:
    """The outcome with its reasons, and how the steps fared."""
    if progress.unchanged:
        return "nothing was changed"
    words: str = progress.outcome or "unfinished"
    if progress.reasons:
        words += f" ({', '.join(reason.replace('_', ' ') for reason in progress.reasons)})"
    steps = progress.in_order()
    if not steps:
        return words
    own = sum(1 for step in steps if step.is_own)
    corrected = sum(1 for step in steps if step.outcome == "accepted" and step.kept and not step.is_own)
    accepted = sum(1 for step in steps if step.outcome in ("accepted", "text_only"))
    words += f" · {accepted} of {count(len(steps), 'step')} as planned"
    if corrected:
        words += f", {corrected} of them after a correction"
    if own:
        words += f", {own} of them a reviewer's own"
    return f"{words}. {progress.miscounted}" if progress.miscounted else words


def trouble(progress: RunProgress) -> list[str]:
    """What the user should know besides: warnings and limits, each on one line."""
    limits = [
        f"limit {limit.limit} reached: {_amount(limit.limit, limit.used)} of {_amount(limit.limit, limit.cap)}"
        for limit in progress.limits
    ]
    return [one_line(line) for line in (*limits, *progress.warnings)]


def _amount(limit: str, used: float) -> str:
    return f"${used:.2f}" if limit.endswith("cost_usd") else f"{round(used, 1):g}"
