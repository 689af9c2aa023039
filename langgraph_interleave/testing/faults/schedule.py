"""Which fault comes when: an exact list, or chance with a seed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.testing.faults.kind import Kind, kinds


class Schedule:
    """Says for each asking which fault it meets, if any. Safe from several threads.

    By rates, chance is drawn from the seed, the words that were asked and how often they were asked
    before: which request fails does not depend on which of several at once comes first.

    Args:
        faults: A list, used up in the order of asking (`None` and everything after its end: no fault);
            or how often each fault comes, 0 to 1, together at most 1.
        known: The faults there are.
        seed: Seed of the chance.

    Raises:
        ConfigError: There is no such fault, or the rates make no sense.

    Example:
        >>> from langgraph_interleave.testing.faults import DRAWING
        >>> schedule = Schedule([None, "black"], DRAWING)
        >>> [kind and kind.name for kind in (schedule.next("a"), schedule.next("a"), schedule.next("a"))]
        [None, 'black', None]
    """

    def __init__(
        self, faults: Sequence[str | None] | Mapping[str, float], known: Mapping[str, Kind], *, seed: int = 0
    ) -> None:
        self._lock = threading.Lock()
        self._seed = seed
        self._asked: Counter[str] = Counter()
        self._rates: list[tuple[Kind, float]] | None = None
        self._left: list[Kind | None] = []
        if isinstance(faults, str):
            raise ConfigError(f"faults={faults!r} is one word.", remedy="Give a list of faults, or rates by name.")
        if not isinstance(faults, Mapping):
            self._left = kinds(faults, known)
            return
        rates = dict(faults)
        if any(rate < 0 for rate in rates.values()) or sum(rates.values()) > 1 + 1e-9:
            raise ConfigError(f"The rates {rates} make no sense.", remedy="Give 0 to 1 each, together at most 1.")
        named = [kind for kind in kinds(rates, known) if kind is not None]
        self._rates = [(kind, rates[kind.name]) for kind in named]

    def next(self, words: str) -> Kind | None:
        """The fault this asking meets.

        Args:
            words: What is asked.
        """
        with self._lock:
            if self._rates is None:
                return self._left.pop(0) if self._left else None
            nth = self._asked[words]
            self._asked[words] += 1
        chance = Random(f"{self._seed}/{nth}/{words}").random()
        for kind, rate in self._rates:
            if chance < rate:
                return kind
            chance -= rate
        return None
