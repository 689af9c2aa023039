"""The contract of a check: a deterministic, cheap test of a picture, run before the critic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from langgraph_interleave.types import CheckResult, ImageBytes, Step


@runtime_checkable
class Check(Protocol):
    """A deterministic test of one drawn picture. A failed check is the verdict `revise`."""

    name: str

    def check(
        self, step: Step, before: ImageBytes | None, after: ImageBytes, references: Sequence[ImageBytes]
    ) -> CheckResult:
        """Test `after`; runs in a worker thread, so it may compute but must not wait for anything.

        Args:
            step: What was to be drawn.
            before: What the step builds on; nearly always the first of `references`.
            after: The picture.
            references: What the backend was given, in order.

        Returns:
            `passed=True`, `passed=False` with a reason, or `passed=None` when it does not apply.
        """
        ...
