"""When a call is sent again, and after what pause. Pure, but for the chance in a pause."""

from __future__ import annotations

import random
import threading

from langgraph_interleave.errors import CallError

#: Pauses grow from the first to the second, in seconds, where the provider names none.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
#: A provider that asks for more patience than this is not waited for, in seconds.
LONGEST_WAIT_S = 120.0


class Repeats:
    """How often one call may still be repeated, whatever for: sent again, or asked again.

    One budget for all reasons, so that layers of retries never multiply. Safe from any thread.

    Args:
        most: Repeats at most; 0 for none.

    Example:
        >>> repeats = Repeats(1)
        >>> repeats.take(), repeats.take()
        (True, False)
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Repeats({self._left})"

    @property
    def left(self) -> int:
        """How many are left."""
        return self._left

    def take(self) -> bool:
        """Take one; whether there was one."""
        with self._lock:
            if self._left <= 0:
                return False
            self._left -= 1
            return True


def pause_before_resend(error: BaseException, *, billed: bool, sent: int, ambiguous: int) -> float | None:
    """How long to wait before a failed call is sent again.

    Sent again is what was provably not produced: a refused connection, too many requests. What may
    have been produced and billed (a server error) is sent once more at most. A timeout is not: the
    work may well be done, and whoever waits has waited long enough.

    Args:
        error: What the call raised.
        billed: Whether the call costs money.
        sent: How often it was sent so far.
        ambiguous: How many of those may have been billed, the last included.

    Returns:
        Seconds, or `None` when it is not sent again.

    Example:
        >>> from langgraph_interleave.errors import ContentBlocked, RateLimited
        >>> pause_before_resend(RateLimited("slow down", retry_after=3), billed=True, sent=1, ambiguous=0)
        3.0
        >>> pause_before_resend(ContentBlocked("no"), billed=True, sent=1, ambiguous=0) is None
        True
    """
    if not isinstance(error, CallError) or not error.resendable:
        return None
    if billed and ambiguous > 1:
        return None
    if error.retry_after is not None:
        return None if error.retry_after > LONGEST_WAIT_S else max(0.0, float(error.retry_after))
    pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (sent - 1))
    # Calls that were refused together must not come back together.
    return pause * random.uniform(1.0, 1.25)
