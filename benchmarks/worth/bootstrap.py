"""Paired bootstrap over tasks: resample whole tasks, take every arm's results on the same ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

#: Resamples behind every interval.
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Sums:
    """What one arm did with one task, summed over seeds.

    Attributes:
        steps, right, contained: Asked steps; those that came out right; the same by the lenient rule.
        sequences, whole: Sequences; those all steps of which came out right.
        drawings, critiques, exhausted: Generator calls, critic calls, steps without an accepted attempt.
        of_right, false_accepts, false_rejects: Critic calls on right pictures; wrong ones passed, right ones sent back.
    """

    steps: int = 0
    right: int = 0
    contained: int = 0
    sequences: int = 0
    whole: int = 0
    drawings: int = 0
    critiques: int = 0
    exhausted: int = 0
    of_right: int = 0
    false_accepts: int = 0
    false_rejects: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(getattr(self, name) + getattr(other, name) for name in Sums.__slots__))


Statistic = Callable[[Sequence[Sums]], float | None]
"""A number made of one total per arm, in the order the arms were given; `None` where it has no value."""


def total(rows: Sequence[Sums]) -> Sums:
    """All of them added up."""
    return Sums(*(sum(getattr(row, name) for row in rows) for name in Sums.__slots__))


def interval(
    arms: Sequence[Sequence[Sums]], statistic: Statistic, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, float | None]:
    """A statistic of one or more arms with its 95 % interval (percentiles of the bootstrap).

    Args:
        arms: For each arm its sums per task, the tasks in the same order.
        statistic: Of the arms' totals.
        resamples: How many.
        seed: Of the resampling; the same tasks are drawn for every statistic.

    Returns:
        `value`, `low`, `high`. An end is `None` where more than 2.5 % of the resamples have no value.

    Example:
        >>> interval([[Sums(steps=2, right=1)] * 8], lambda totals: totals[0].right / totals[0].steps)
        {'value': 0.5, 'low': 0.5, 'high': 0.5}
    """
    count = len(arms[0])
    assert all(len(arm) == count for arm in arms), "paired arms have the same tasks"
    # Columns of plain numbers: adding up records would take most of the time.
    columns = [[[getattr(row, name) for row in arm] for name in Sums.__slots__] for arm in arms]
    drawn = [
        statistic([Sums(*(sum(column[place] for place in places) for column in arm)) for arm in columns])
        for places in _places(count, resamples, seed)
    ]
    known = sorted(value for value in drawn if value is not None)
    lost = len(drawn) - len(known)
    cut = round(0.025 * resamples)
    ends = (None, None) if lost > cut or not known else (known[cut], known[-1 - cut])
    value = statistic([total(arm) for arm in arms])
    return {"value": _short(value), "low": _short(ends[0]), "high": _short(ends[1])}


@lru_cache(maxsize=8)
def _places(count: int, resamples: int, seed: int) -> tuple[tuple[int, ...], ...]:
    rng = Random(f"bootstrap/{seed}/{count}")
    return tuple(tuple(rng.choices(range(count), k=count)) for _ in range(resamples))


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
