"""The finished sequence as data: captions, artifact references and marks, no bytes."""

from __future__ import annotations

from pydantic import Field

from langgraph_interleave.types.artifact import ArtifactRef
from langgraph_interleave.types.base import Frozen
from langgraph_interleave.types.outcome import RunOutcome, RunReason, StepOutcome
from langgraph_interleave.types.plan import Op, StyleGuide
from langgraph_interleave.types.record import Problem
from langgraph_interleave.types.request import Request
from langgraph_interleave.types.usage import Spend


class Drift(Frozen):
    """How far a picture has come from others of its chain of edits: 0 the same, 1 nothing alike.

    `first` is against the picture the chain began with, `previous` against the one before.
    """

    first: float | None = Field(default=None, ge=0, le=1)
    previous: float | None = Field(default=None, ge=0, le=1)


class DocumentStep(Frozen):
    """One step of a document.

    `mark` is a sentence for the reader when the picture is not simply accepted, or missing.
    `record` is the digest of the step's `StepRecord`, where rejected attempts and critiques are.
    """

    index: int = Field(ge=0)
    op: Op
    outcome: StepOutcome
    title: str | None = None
    caption: str | None = None
    image: ArtifactRef | None = None
    alt: str = Field(default="", description="what the picture shows, where there is no caption to say it")
    mark: str | None = None
    attempts: int = 0
    kept: int | None = None
    sources: tuple[str, ...] = ()
    record: str | None = None
    depth: int | None = Field(default=None, ge=0, description="edits since a picture that was drawn new, or given")
    drift: Drift | None = None
    signed: bool | None = Field(
        default=None,
        description="whether the picture carries its maker's Content Credentials (C2PA), which nobody verified; "
        "null where it does not, or nobody looked",
    )


class DocumentData(Frozen):
    """A document as it is returned, stored and loaded. `plan` is the digest of the plan's record.

    A document that was changed keeps its earlier versions: `parent` is the digest of the one it came from.
    """

    v: int = 1
    run_id: str
    request: Request
    outcome: RunOutcome
    reasons: tuple[RunReason, ...] = ()
    title: str | None = None
    first_number: int = Field(default=1, ge=1, description="what the first step is called")
    style_guide: StyleGuide = StyleGuide()
    steps: tuple[DocumentStep, ...] = ()
    sheet: DocumentStep | None = Field(default=None, description="the sheet of characters, if one was drawn")
    plan: str | None = None
    problem: Problem | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="what the reader must know about how it was made")
    version: int = Field(default=1, ge=1, description="1 for a new document; one more with each change")
    parent: str | None = Field(default=None, description="digest of the version it was changed from")
    spend: Spend = Spend()
