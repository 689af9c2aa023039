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


class Problem(Frozen):
    """An error as data: its class in the tree of `errors.py`, its message and its remedy."""

    error: str
    message: str
    remedy: str = ""


class Attempt(Frozen):
    """One generate and one critique of a step. `image` is `None` when the drawing failed."""

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
    problem: Problem | None = None
    warnings: tuple[str, ...] = ()
    signed: bool | None = Field(
        default=None,
        description="whether the picture carries its maker's Content Credentials (C2PA), which nobody verified; "
        "null where it does not, or nobody looked",
    )
    calls: tuple[str, ...] = Field(default=(), description="keys of the ledger records it used")

    @property
    def failed_checks(self) -> tuple[CheckResult, ...]:
        """The checks that said no."""
        return tuple(check for check in self.checks if check.passed is False)


class StepRecord(Frozen):
    """All attempts of a step and what came of it. `kept` is the attempt whose picture is delivered."""

    v: int = 1
    index: int = Field(ge=0)
    attempts: tuple[Attempt, ...] = ()
    outcome: StepOutcome | None = None
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
    `None` when planning failed; `problem` then says why.
    """

    v: int = 1
    run_id: str
    request: Request
    settings: dict[str, Any]
    plan: Plan | None = None
    warnings: tuple[str, ...] = ()
    problem: Problem | None = None
    calls: tuple[str, ...] = ()
