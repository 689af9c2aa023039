"""No critic: pictures are kept as they come, and the document says so."""

from __future__ import annotations

from langgraph_interleave.critic import OnText
from langgraph_interleave.types import Critique, CritiqueRequest, CritiqueResult


class Unjudged:
    """Accepts whatever no check objects to, without looking at it and without a score.

    For a generator that comes without a critic, for drafts, and as the arm a loop is compared with.
    A picture that failed a check is drawn again from the same prompt with another seed.

    Example:
        >>> Unjudged().billed
        False
    """

    billed = False
    fingerprint = "unjudged/1"
    #: Whether anybody looks at the pictures: estimates and progress are told without judgements.
    judges = False
    #: Told to every reader of a document.
    note = "Nobody judged these pictures: there was no critic."

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Accept it, unless a check failed."""
        if request.checks:
            failed = "; ".join(check.reason or check.name for check in request.checks)
            return CritiqueResult(Critique(verdict="revise", reasoning=failed))
        return CritiqueResult(Critique(verdict="accept"))
