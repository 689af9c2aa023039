"""What a reviewer may answer: about a plan before anything is drawn, a step before it counts, a run at a limit."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from langgraph_interleave.types.base import Frozen
from langgraph_interleave.types.change import Change, Changes
from langgraph_interleave.types.plan import StyleGuide

Approve = Literal["plan", "steps"]


class PlanReview(Frozen):
    """A reviewer's answer about a plan.

    `accept`: it is drawn, as it is or with `steps` changed by hand. `revise`: the planner is asked again,
    and told the `remark`. `cancel`: nothing is drawn.
    """

    decision: Literal["accept", "revise", "cancel"] = Field(description="accept, revise (with a remark) or cancel")
    remark: str | None = Field(default=None, max_length=4000, description="revise: what should be otherwise, in words")
    steps: tuple[Change, ...] | None = Field(
        default=None,
        description="accept: the steps as you want them. Either as the question shows them, edited, in any order, some "
        "left out or added; or what changes: keep, redo (with new words), insert, delete, reorder or recaption of a "
        "step, where steps that are not named stay. Left out: all of them as they are",
    )
    title: str | None = Field(default=None, description="accept: another title")
    style_guide: StyleGuide | None = Field(default=None, description="accept: another style guide")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.decision == "revise" and not (self.remark or "").strip():
            raise ValueError("'revise' needs a remark: what should be otherwise")
        return self

    @property
    def changes(self) -> Changes | None:
        """What the reviewer changed by hand; `None` where nothing was."""
        if self.steps is None:
            return None
        return Changes(steps=self.steps, title=self.title, style_guide=self.style_guide)


class StepReview(Frozen):
    """A reviewer's answer about a step.

    `accept`: its picture counts, that of another `attempt` where one is named. `revise`: another attempt;
    with a `remark` the critic writes its prompt from that, with a `prompt` that one is used, with neither it
    is the same prompt and a new seed. `replace`: the reviewer's own picture counts. `skip`: no picture.
    """

    decision: Literal["accept", "revise", "replace", "skip"] = Field(
        description="accept, revise (another attempt), replace (own picture) or skip"
    )
    attempt: int | None = Field(default=None, ge=0, description="accept: which attempt; none for the one shown")
    remark: str | None = Field(default=None, max_length=4000, description="what is wrong, or why, in words")
    prompt: str | None = Field(default=None, max_length=8000, description="revise: the prompt to draw with")
    image: str | dict[str, Any] | None = Field(
        default=None, description="replace: the picture, as image_part made it, or its artifact:// address; no bytes"
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.image is not None) != (self.decision == "replace"):
            raise ValueError("'replace' needs an image, and nothing else takes one")
        return self


class RaisedLimits(Frozen):
    """The caps a run goes on under, in the units of `Limits`: the whole cap, what is used among it."""

    max_images: int | None = Field(default=None, ge=1, description="pictures drawn at most, in the whole run")
    max_calls: int | None = Field(default=None, ge=1, description="calls of any role at most, in the whole run")
    max_seconds: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="seconds from now on, until somebody is asked again"
    )
    max_cost_usd: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="US dollars at most, in the whole run"
    )

    @property
    def given(self) -> dict[str, int | float]:
        """Those that are raised, by name."""
        return self.model_dump(exclude_none=True)


class LimitReview(Frozen):
    """An answer about a run that has reached one of its limits.

    `raise`: it goes on where it stopped, under the `limits` that are given; the others stay. `finish`: it
    ends with what is there, and nothing more is drawn.
    """

    decision: Literal["raise", "finish"] = Field(description="raise (with the new limits) or finish")
    limits: RaisedLimits | None = Field(
        default=None,
        description="raise: the new caps, each above the old and above what is used. Where time is what ran out, "
        "none need be given: as much time is given again",
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.decision == "finish" and self.limits is not None:
            raise ValueError("'finish' takes no limits")
        return self


class LimitDecision(Frozen):
    """What was decided at a limit: which one, what was used of which cap, and the answer."""

    limit: str
    used: float | None = Field(default=None, description="null where nobody knows")
    cap: float
    review: LimitReview
