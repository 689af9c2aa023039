"""An estimate as a few lines for people."""

from __future__ import annotations

from collections.abc import Callable

from langgraph_interleave.errors import Role
from langgraph_interleave.estimate.estimate import Estimate, Range

_NAMES: dict[Role, str] = {"planner": "plan", "backend": "drawing", "critic": "critique"}


def describe(estimate: Estimate) -> str:
    """The estimate as a table of best, expected and worst, and what it rests on.

    Example:
        >>> from langgraph_interleave.estimate import CallProfile, estimate_run
        >>> from langgraph_interleave.limits import Limits
        >>> from langgraph_interleave.types import Usage
        >>> free = CallProfile((("", Usage()),), billed=False, seconds=1, repeatable=False)
        >>> print(describe(estimate_run(2, limits=Limits(max_attempts=2), planner=free, backend=free, critic=free)))
        2 steps, 70 % of attempts accepted. An estimate: nothing was spent.
                      best  expected     worst
        plan             1         1         1
        drawing          2       2.6         4
        critique         2       2.6         4
        all calls        5       6.2         9
        time           5 s       6 s       9 s
        No cost.
        Worst: every attempt is used up.
    """
    steps = f"{estimate.steps} step" if estimate.steps == 1 else f"{estimate.steps} steps"
    accepted = f"{estimate.p_accept * 100:.0f} % of attempts accepted" if estimate.judged else "kept as they are drawn"
    lines = [
        f"{steps}, {accepted}. An estimate: nothing was spent.",
        _row("", ("best", "expected", "worst")),
        *(_line(_NAMES[role], calls, _number) for role, calls in estimate.calls.items()),
        _line("all calls", estimate.all_calls, _number),
        _line("time", estimate.seconds, _clock),
        *_money(estimate),
    ]
    worst = "Worst: every attempt is used up"
    if estimate.repeats:
        times = "once" if estimate.repeats == 1 else f"{estimate.repeats} times"
        worst += f", and every call of a model is repeated {times} (one that drew nothing costs nothing)"
    lines.append(f"{worst}.")
    if not estimate.judged:
        lines.append("Nobody judges: what counts as critiques is no request, and costs nothing.")
    if estimate.limited:
        lines.append(f"May be ended sooner by {', '.join(estimate.limited)}.")
    return "\n".join(lines)


def in_a_line(estimate: Estimate) -> str:
    """What may be used, expected and at its worst, on one line; the plan's own call, which was made, among it.

    Example:
        >>> from langgraph_interleave.estimate import CallProfile, estimate_run
        >>> from langgraph_interleave.types import Usage
        >>> free = CallProfile((("", Usage()),), billed=False, seconds=1, repeatable=False)
        >>> in_a_line(estimate_run(2, planner=free, backend=free, critic=free))
        '2.8 drawings (at most 6) and 2.8 critiques (at most 6), 7 s (at most 13 s), no cost'
    """

    def figures(figure: Range, form: Callable[[float], str], unit: str = "") -> str:
        expected, worst = form(figure.expected), form(figure.worst)
        return f"{expected}{unit}" if expected == worst else f"{expected}{unit} (at most {worst})"

    drawn = figures(estimate.images, _number, " drawing" if estimate.images.expected == 1 else " drawings")
    judging = estimate.calls.get("critic", Range())
    judged = figures(judging, _number, " critique" if judging.expected == 1 else " critiques")
    if estimate.cost_usd is None:
        known = estimate.known_cost
        cost = f"cost unknown (no price for {', '.join(estimate.unpriced)})"
        cost = f"{figures(known, _dollars)} known, {cost}" if known.worst else cost
    else:
        cost = figures(estimate.cost_usd, _dollars) if estimate.cost_usd.worst else "no cost"
    return f"{f'{drawn} and {judged}' if estimate.judged else drawn}, {figures(estimate.seconds, _clock)}, {cost}"


def _money(estimate: Estimate) -> list[str]:
    if estimate.cost_usd is not None:
        return [_line("cost", estimate.cost_usd, _dollars)] if estimate.cost_usd.worst else ["No cost."]
    missing = f"Cost unknown: no price for {', '.join(estimate.unpriced)}."
    if not estimate.known_cost.worst:
        return [missing]
    return [_line("cost known", estimate.known_cost, _dollars), missing]


def _line(name: str, figures: Range, form: Callable[[float], str]) -> str:
    return _row(name, (form(figures.best), form(figures.expected), form(figures.worst)))


def _row(name: str, cells: tuple[str, str, str]) -> str:
    return f"{name:<10}" + "".join(f"{cell:>10}" for cell in cells)[2:]


def _number(figure: float) -> str:
    return f"{figure:.0f}" if abs(figure - round(figure)) < 0.05 else f"{figure:.1f}"


def _dollars(figure: float) -> str:
    # Money is not rounded down to nothing.
    return f"${figure:.2f}" if figure >= 0.1 or not figure else f"${figure:.4f}"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s"
    return f"{minutes // 60}h {minutes % 60:02d}m"
