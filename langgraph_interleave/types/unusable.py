"""An answer of a model that was paid for and cannot be used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unusable:
    """What a model answered, and why it is asked again.

    Attributes:
        reason: Why it cannot be used, as a sentence the model can act on.
        raw: Its text, as it came.
        truncated: A token limit cut it off.
    """

    reason: str
    raw: str = ""
    truncated: bool = False
