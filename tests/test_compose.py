"""The sentence a reader is told of a step that is not as it should be."""

from __future__ import annotations

import pytest

from langgraph_interleave.compose import mark
from langgraph_interleave.types import ArtifactRef, Attempt, Critique, Problem, StepRecord

REF = ArtifactRef(sha256="0" * 64, mime="image/png", size=1, width=8, height=8)
REVISE = Critique(verdict="revise")
STOPPED = Problem(error="Cancelled", message="The run was stopped before this step was finished.")


def tries(*critiques: Critique | None) -> tuple[Attempt, ...]:
    return tuple(Attempt(number=i, prompt="p", image=REF, critique=c) for i, c in enumerate(critiques))


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
