"""What a faulty thing really did, counted apart from whatever its caller counts."""

from __future__ import annotations

import threading
from collections import Counter

from langgraph_interleave.testing.faults.kind import Kind, Known


class Tally:
    """A provider's own count. Safe from several threads.

    An asking is `unsure` until its end says more, so one that is cancelled, or never ends, stays so:
    whoever asked cannot know whether the work was done.

    Attributes:
        asked: Askings so far.
        worked: Those for which the work was done: the ones a provider would bill.
        images: Pictures that were drawn.
        kinds: Askings by fault; `""` for none.

    Example:
        >>> tally = Tally()
        >>> tally.begin(None); tally.work(images=1); tally.end("answered")
        >>> tally.asked, tally.worked, tally.answered, tally.unsure
        (1, 1, 1, 0)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: Counter[Known] = Counter()
        self.asked = 0
        self.worked = 0
        self.images = 0
        self.kinds: Counter[str] = Counter()

    def __repr__(self) -> str:
        return (
            f"Tally(asked={self.asked}, worked={self.worked}, images={self.images}, answered={self.answered}, "
            f"refused={self.refused}, blocked={self.blocked}, unsure={self.unsure})"
        )

    def begin(self, kind: Kind | None) -> None:
        """Somebody asks, and meets this fault."""
        with self._lock:
            self.asked += 1
            self.kinds[kind.name if kind else ""] += 1

    def work(self, *, images: int = 0) -> None:
        """The work of an asking was done."""
        with self._lock:
            self.worked += 1
            self.images += images

    def end(self, known: Known) -> None:
        """An asking ended, and its caller knows this of it."""
        with self._lock:
            self._ends[known] += 1

    @property
    def answered(self) -> int:
        """Askings whose caller knows that the work was done."""
        return self._ends["answered"]

    @property
    def refused(self) -> int:
        """Askings whose caller knows that it was not."""
        return self._ends["refused"]

    @property
    def blocked(self) -> int:
        """Askings that were refused for what they ask."""
        return self._ends["blocked"]

    @property
    def unsure(self) -> int:
        """Askings whose caller cannot know; those under way included."""
        with self._lock:
            return self.asked - self._ends["answered"] - self._ends["refused"] - self._ends["blocked"]
