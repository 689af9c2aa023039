"""How often one peer may ask: a bucket of tokens each, in a table that cannot grow without end."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable


class Rate:
    """Lets a peer ask `burst` times at once, and `per_s` times a second after that.

    Guaranteed: it remembers at most `most` peers. Not guaranteed: anything about a peer that was forgotten because
    so many others came after it; it begins anew with a full bucket.

    Args:
        per_s: Requests a second, for long.
        burst: Requests at once.
        most: Peers that are remembered.
        clock: Seconds, going forward only.

    Example:
        >>> rate = Rate(per_s=1, burst=2, clock=lambda: 0.0)
        >>> [rate.wait_s("a"), rate.wait_s("a"), rate.wait_s("a"), rate.wait_s("b")]
        [0.0, 0.0, 1.0, 0.0]
    """

    def __init__(
        self,
        *,
        per_s: float = 20.0,
        burst: int = 200,
        most: int = 4096,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_s = per_s
        self._burst = float(burst)
        self._most = most
        self._clock = clock
        #: Tokens and when they were counted, the peer that asked last at the end.
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, peer: str) -> float:
        """Take a token for a request; return 0, or how many seconds to wait where there is none."""
        left = self._count(peer)
        wait = 0.0 if left >= 1 else (1 - left) / self._per_s
        self._keep(peer, left if wait else left - 1)
        return wait

    def punish(self, peer: str, tokens: float) -> None:
        """Take tokens, as many as there are."""
        self._keep(peer, max(0.0, self._count(peer) - tokens))

    def _count(self, peer: str) -> float:
        left, counted = self._left.get(peer, (self._burst, 0.0))
        return min(self._burst, left + (self._clock() - counted) * self._per_s)

    def _keep(self, peer: str, left: float) -> None:
        self._left[peer] = left, self._clock()
        self._left.move_to_end(peer)
        while len(self._left) > self._most:
            self._left.popitem(last=False)


def retry_after(seconds: float) -> str:
    """The value of `Retry-After`: whole seconds, at least one."""
    return str(max(1, math.ceil(seconds)))
