"""How many attempts steps take, and how long the longest way through them is. Pure arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise


def attempts_pmf(p_accept: float, max_attempts: int) -> list[float]:
    """Probability of needing 1, 2, … attempts: geometric, cut off at the last, which is taken as it is.

    Example:
        >>> attempts_pmf(0.5, 3)
        [0.5, 0.25, 0.25]
    """
    miss = 1.0 - p_accept
    return [*(p_accept * miss**k for k in range(max_attempts - 1)), miss ** (max_attempts - 1)]


def mean_attempts(p_accept: float, max_attempts: int) -> float:
    """Expected attempts per step.

    Example:
        >>> mean_attempts(0.5, 3), mean_attempts(0, 3)
        (1.75, 3.0)
    """
    return math.fsum((1.0 - p_accept) ** k for k in range(max_attempts))


def convolved(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """Distribution of the sum of two independent counts.

    Example:
        >>> convolved([0.5, 0.5], [0.5, 0.5])
        [0.25, 0.5, 0.25]
    """
    result = [0.0] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        if a:
            for j, b in enumerate(other):
                result[i + j] += a * b
    return result


def depth(waits: Sequence[Sequence[int]]) -> int:
    """Steps on the longest way through."""
    depths: list[int] = []
    for sources in waits:
        depths.append(1 + max((depths[source] for source in sources), default=0))
    return max(depths, default=0)


def expected_depth(waits: Sequence[Sequence[int]], p_accept: float, max_attempts: int) -> float:
    """Expected attempts on the longest way through.

    Exact for a chain and for independent steps. Ways that share a step are taken for independent,
    which makes it a little too long.
    """
    if depth(waits) == len(waits):
        return len(waits) * mean_attempts(p_accept, max_attempts)
    pmf = [0.0, *attempts_pmf(p_accept, max_attempts)]
    ends: list[list[float]] = []
    for sources in waits:
        ends.append(convolved(_latest([ends[source] for source in sources]), pmf))
    waited_for = {source for sources in waits for source in sources}
    last = _latest([end for index, end in enumerate(ends) if index not in waited_for])
    return math.fsum(rounds * chance for rounds, chance in enumerate(last))


def _latest(ends: Sequence[Sequence[float]]) -> list[float]:
    """Distribution of the latest of several independent times."""
    size = max((len(end) for end in ends), default=1)
    by_then = [1.0] * size
    for end in ends:
        so_far = 0.0
        for index in range(size):
            so_far += end[index] if index < len(end) else 0.0
            by_then[index] *= min(1.0, so_far)
    return [by_then[0], *(later - before for before, later in pairwise(by_then))]
