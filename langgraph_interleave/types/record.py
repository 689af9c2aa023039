"""The record of one step: everything that happened to it. State holds only its digest."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from langgraph_interleave.types.artifact import ArtifactRef
from langgraph_interleave.types.base import Frozen
from langgraph_interleave.types.critique import CheckResult, Critique
from langgraph_interleave.types.outcome import StepOutcome
from langgraph_interleave.types.plan import Plan
from langgraph_interleave.types.request import Request
from langgraph_interleave.types.review import LimitDecision


class Problem(Frozen):
    """An error as data: its class in the tree of `errors.py`, its message and its remedy."""

    error: str
    message: str
    remedy: str = ""


class Candidate(Frozen):
    """One of several pictures of one attempt. `image` is `None` when its drawing failed.

    Its judgement is that of the critic, or of a check; `problem` says why there is no picture, or no judgement.
    """

    number: int = Field(ge=0)
    prompt: str
    sent: str | None = Field(default=None, description="as that of an attempt")
    seed: int | None = None
    image: ArtifactRef | None = None
    checks: tuple[CheckResult, ...] = ()
    critique: Critique | None = None
    problem: Problem | None = None
    limit: str | None = Field(default=None, description="the limit that left no room for it, if one did")
    signed: bool | None = Field(default=None, description="as that of an attempt")
    calls: tuple[str, ...] = Field(default=(), description="keys of the ledger records it used")


class Attempt(Frozen):
    """One generate and one critique of a step. `image` is `None` when the drawing failed.

    Where several `candidates` were drawn, picture, seed, checks and judgement of the attempt are those of the
    one that was `chosen`; until all are judged, of the first that was drawn.
    """

    number: int = Field(ge=0)
    prompt: str
    seed: int | None = None
    image: ArtifactRef | None = None
    references: tuple[ArtifactRef, ...] = ()
    before: ArtifactRef | None = Field(
        default=None, description="what the critic compares with, where that is not the first reference"
    )
    sent: str | None = Field(
        default=None, description="what the backend was told, where that is more than the prompt: the style, say"
    )
    checks: tuple[CheckResult, ...] = ()
    critique: Critique | None = None
    review: Critique | None = Field(default=None, description="what a reviewer decided; it goes before the critique")
    overruled: tuple[Critique, ...] = Field(
        default=(), description="what was said of this picture before the newest review and critique, oldest first"
    )
    own: bool | None = Field(default=None, description="true where it is a picture of the reviewer's own, not drawn")
    problem: Problem | None = None
    warnings: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = Field(
        default=(), description="all pictures of the attempt in order, where there are several"
    )
    chosen: int | None = Field(default=None, description="number of the candidate whose picture it is")
    signed: bool | None = Field(
        default=None,
        description="whether the picture carries its maker's Content Credentials (C2PA), which nobody verified; "
        "null where it does not, or nobody looked",
    )
    calls: tuple[str, ...] = Field(default=(), description="keys of the ledger records it used")

    @property
    def decided(self) -> Critique | None:
        """The judgement that counts: a reviewer's, else the critic's."""
        return self.review or self.critique

    @property
    def failed_checks(self) -> tuple[CheckResult, ...]:
        """The checks that said no."""
        return tuple(check for check in self.checks if check.passed is False)


class StepRecord(Frozen):
    """All attempts of a step and what came of it. `kept` is the attempt whose picture is delivered.

    A step that somebody is to be asked about, or the run's limit that ended it, has no outcome yet, but one that
    is `proposed`.
    """

    v: int = 1
    index: int = Field(ge=0)
    attempts: tuple[Attempt, ...] = ()
    outcome: StepOutcome | None = None
    proposed: StepOutcome | None = Field(default=None, description="what it comes to unless a reviewer says otherwise")
    origin: str | None = Field(
        default=None, description="digest of the record it was taken over from, as it was; nothing was called for it"
    )
    kept: int | None = None
    problem: Problem | None = None
    limit: str | None = Field(default=None, description="the limit that ended the step, if one did")

    @property
    def picture(self) -> ArtifactRef | None:
        """The picture delivered for this step, `None` when there is none."""
        return None if self.kept is None else self.attempts[self.kept].image

    @property
    def signed(self) -> bool | None:
        """Whether that picture carries its maker's Content Credentials; `None` where none is known."""
        return None if self.kept is None else self.attempts[self.kept].signed


class PlanRecord(Frozen):
    """What a run was asked and what the planner made of it. State holds only its digest.

    `settings` are the run's resolved values, so that a resume goes on with the same. `plan` is
    `None` when planning failed; `problem` then says why; beside a plan it says why a reviewer's remark came
    to no other. A plan that changes a document has that
    document's digest as `parent`; one that takes the place of another in the same run names its record
    in `replaces`.
    """

    v: int = 1
    run_id: str
    request: Request
    settings: dict[str, Any]
    plan: Plan | None = None
    warnings: tuple[str, ...] = ()
    problem: Problem | None = None
    calls: tuple[str, ...] = ()
    version: int = Field(default=1, ge=1, description="of the document it is for")
    parent: str | None = Field(default=None, description="digest of the document it changes")
    replaces: str | None = Field(default=None, description="digest of the record of the plan before it in this run")
    before: int = Field(default=0, ge=0, description="how many plans of this run it takes the place of")
    replans: int = Field(default=0, ge=0, description="how many of those could not be drawn")
    review: Critique | None = Field(default=None, description="what a reviewer decided about this plan")
    limit_decisions: tuple[LimitDecision, ...] = Field(
        default=(), description="what was decided at limits of the run, in order; `settings` are those after it"
    )
    sketches: tuple[ArtifactRef | None, ...] = Field(
        default=(), description="draft: one sketch per step; none for a step in words"
    )
