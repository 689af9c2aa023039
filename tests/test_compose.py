"""The sentence a reader is told of a step that is not as it should be."""

from __future__ import annotations

import pytest

from langgraph_interleave.compose import mark
from langgraph_interleave.types import ArtifactRef, Attempt, CheckResult, Critique, Problem, StepRecord

REF = ArtifactRef(sha256="0" * 64, mime="image/png", size=1, width=8, height=8)
REVISE = Critique(verdict="revise")
STOPPED = Problem(error="Cancelled", message="The run was stopped before this step was finished.")


def tries(*critiques: Critique | None) -> tuple[Attempt, ...]:
    return tuple(Attempt(number=i, prompt="p", image=REF, critique=c) for i, c in enumerate(critiques))


def rejected(number: int, *names: str) -> Attempt:
    """An attempt that checks turned down; the critic was asked for better words all the same."""
    checks = tuple(CheckResult(name=name, passed=False, reason="it is one colour") for name in names or ("not_blank",))
    return Attempt(number=number, prompt="p", image=REF, checks=checks, critique=REVISE)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (StepRecord(index=0, attempts=tries(REVISE), outcome="accepted", kept=0), None),
        (StepRecord(index=0, outcome="text_only"), None),
        (
            StepRecord(index=0, attempts=tries(REVISE), outcome="exhausted", kept=0),
            "The critic did not accept this picture.",
        ),
        (
            StepRecord(index=0, attempts=tries(REVISE, REVISE, REVISE), outcome="exhausted", kept=1),
            "The critic accepted none of 3 attempts; attempt 2 is shown.",
        ),
        (
            StepRecord(
                index=0,
                attempts=tries(REVISE, Critique(verdict="revise", reasoning="Two\nbeans")),
                outcome="exhausted",
                kept=0,
            ),
            "The critic accepted none of 2 attempts; attempt 1 is shown. What was said of the last: Two beans.",
        ),
        (
            StepRecord(index=0, attempts=(rejected(0),), outcome="exhausted", kept=0),
            "The check not_blank did not accept this picture: it is one colour.",
        ),
        (
            StepRecord(index=0, attempts=(rejected(0), rejected(1), rejected(2)), outcome="exhausted", kept=2),
            (
                "The check not_blank accepted none of 3 attempts; attempt 3 is shown. "
                "What was said of the last: it is one colour."
            ),
        ),
        (
            StepRecord(index=0, attempts=(*tries(REVISE), rejected(1, "text", "palette")), outcome="exhausted", kept=0),
            (
                "The critic and the checks text and palette accepted none of 2 attempts; attempt 1 is shown. "
                "What was said of the last: it is one colour; it is one colour."
            ),
        ),
        (
            # Stopped between the drawing and the judgement: the critic has said nothing.
            StepRecord(index=0, attempts=tries(None), outcome="exhausted", kept=0, problem=STOPPED),
            "This picture was not judged. The run was stopped before this step was finished.",
        ),
        (
            StepRecord(index=0, outcome="skipped", problem=Problem(error="LimitReached", message="Limit reached.")),
            "This step was skipped. Limit reached.",
        ),
        (StepRecord(index=0, outcome="cancelled"), "The run was stopped before this picture was drawn."),
    ],
)
def test_marks(record: StepRecord, said: str | None) -> None:
    assert mark(record) == said
