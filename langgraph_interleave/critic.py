"""The critic role: compares the picture with the step's instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from langgraph_interleave.types import CritiqueRequest, CritiqueResult

OnText = Callable[[str], None]


@runtime_checkable
class Critic(Protocol):
    """Anything that judges a picture by its pixels.

    `fingerprint` names model, version and parameters (part of the ledger's key); `billed` says
    whether a call costs money. One that asks several models for one critique has `calls_at_most`, and
    says in `usage.calls` how many it was.
    """

    fingerprint: str
    billed: bool

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Judge `request.after`.

        Args:
            request: Instruction, prompt and pixels.
            on_text: Called with each further piece of reasoning, where the critic streams.

        Raises:
            CritiqueError: No critique could be read. With its `usage` given, the critic is asked once
                more, and told why in `request.unusable`.
            CallError: The model failed.
        """
        ...
