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
    title: str | None = None
    caption: str | None = None
    outcome: StepOutcome
    mark: str | None = None
    alt: str = Field(default="", description="what the picture shows, where there is no caption to say it")
    op: Op
    attempts: int = 0
    kept: int | None = None
    sources: tuple[str, ...] = ()
    image: ArtifactRef | None = None
    depth: int | None = Field(default=None, ge=0, description="edits since a picture that was drawn new, or given")
    drift: Drift | None = None
    signed: bool | None = Field(
        default=None,
        description="whether the picture carries its maker's Content Credentials (C2PA), which nobody verified; "
        "null where it does not, or nobody looked",
    )
    record: str | None = None


class DocumentData(Frozen):
    """A document as it is returned, stored and loaded, what people read first. `plan` is its plan record's digest.

    A document that was changed keeps its earlier versions: `parent` is the digest of the one it came from.
    """

    title: str | None = None
    outcome: RunOutcome
    reasons: tuple[RunReason, ...] = ()
    steps: tuple[DocumentStep, ...] = ()
    sheet: DocumentStep | None = Field(default=None, description="the sheet of characters, if one was drawn")
    first_number: int = Field(default=1, ge=1, description="what the first step is called")
    style_guide: StyleGuide = StyleGuide()
    request: Request
    notes: tuple[str, ...] = Field(default=(), description="what the reader must know about how it was made")
    warnings: tuple[str, ...] = ()
    problem: Problem | None = None
    spend: Spend = Spend()
    version: int = Field(default=1, ge=1, le=1_000_000, description="1 for a new document; one more with each change")
    parent: str | None = Field(default=None, description="digest of the version it was changed from")
    run_id: str
    plan: str | None = None
    v: int = 1
