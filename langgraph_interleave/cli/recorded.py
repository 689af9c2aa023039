"""What was recorded of a run before this process made it: what is told of that is no news."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any


class Recorded:
    """The finished calls of a run, as they were at one moment.

    Args:
        calls: The records of its calls, as they are stored.

    Example:
        >>> drawn = {"role": "backend", "step": 1, "attempt": 0, "status": "finished"}
        >>> recorded = Recorded([drawn])
        >>> recorded.drew(1, 0), recorded.judged(1, 0), recorded.drew(1, 0, earlier=1)
        (True, False, False)
    """

    def __init__(self, calls: Iterable[Mapping[str, Any]] = ()) -> None:
        self._made = Counter(
            (call.get("role"), call.get("step"), call.get("attempt", 0))
            for call in calls
            if call.get("status") == "finished" and not call.get("candidate")
        )

    def drew(self, step: int, attempt: int, *, earlier: int = 0) -> bool:
        """Whether an attempt had its picture.

        Args:
            step: Index of the step.
            attempt: 0-based attempt.
            earlier: How many other plans of the run had that attempt, too: theirs come first.
        """
        return self._made["backend", step, attempt] > earlier

    def judged(self, step: int, attempt: int, *, earlier: int = 0) -> bool:
        """Whether an attempt had its critique, or was followed by another; as `drew`."""
        return self._made["critic", step, attempt] > earlier or self.drew(step, attempt + 1, earlier=earlier)
