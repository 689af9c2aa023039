"""The plan: ordered steps, what each builds on, and the style that holds them together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from langgraph_interleave.types.base import Frozen
from langgraph_interleave.types.usage import Usage

Op = Literal["generate", "edit", "text"]
_SOURCE = re.compile(r"^(input|step):(\d+)$")


def parse_source(source: str) -> tuple[Literal["input", "step"], int]:
    """Split a source into its kind and index.

    Args:
        source: `input:i` (i-th image of the request) or `step:j` (picture of step j), 0-based.

    Returns:
        `("input", i)` or `("step", j)`.

    Raises:
        ValueError: The text is neither.

    Example:
        >>> parse_source("step:3")
        ('step', 3)
    """
    match = _SOURCE.match(source)
    if match is None:
        raise ValueError(f"source {source!r} is neither 'input:<i>' nor 'step:<j>'")
    return ("input" if match[1] == "input" else "step"), int(match[2])


class StyleGuide(Frozen):
    """What every picture of the sequence shares. Empty fields mean: nothing was fixed."""

    look: str = ""
    palette: str = ""
    characters: str = ""
    keep: str = Field(default="", description="what must stay the same from step to step")


class Step(Frozen):
    """One step. `index` is ours (0-based, its place in the plan), whatever number the model wrote.

    `sources` is what the step builds on, in order: the first is the critic's *before* picture.
    A `text` step has neither instruction nor prompt and reaches neither backend nor critic.
    """

    index: int = Field(ge=0)
    op: Op
    title: str | None = None
    instruction: str | None = Field(default=None, description="what the step must achieve; what the critic judges")
    prompt: str | None = Field(default=None, description="text for the backend at attempt 0")
    caption: str | None = Field(default=None, description="text shown with, or instead of, the picture")
    sources: tuple[str, ...] = ()
    backend: str | None = Field(default=None, description="which of several backends draws it; none for the first")

    @field_validator("sources")
    @classmethod
    def _sources_are_well_formed(cls, sources: tuple[str, ...]) -> tuple[str, ...]:
        for source in sources:
            parse_source(source)
        return sources

    @model_validator(mode="after")
    def _complete_for_its_op(self) -> Self:
        if self.op == "text":
            if not self.caption:
                raise ValueError(f"step {self.index}: a text step needs a caption")
            if self.sources or self.prompt is not None or self.instruction is not None:
                raise ValueError(f"step {self.index}: a text step has no instruction, prompt or sources")
            return self
        if not self.instruction or not self.prompt:
            raise ValueError(f"step {self.index}: op {self.op!r} needs an instruction and a prompt")
        if self.op == "edit" and not self.sources:
            raise ValueError(f"step {self.index}: an edit needs at least one source")
        for kind, number in map(parse_source, self.sources):
            if kind == "step" and number >= self.index:
                raise ValueError(f"step {self.index}: source step:{number} does not come before it")
        return self

    @property
    def step_sources(self) -> tuple[int, ...]:
        """Indices of the steps this one waits for, in order, each once."""
        found = [number for kind, number in map(parse_source, self.sources) if kind == "step"]
        return tuple(dict.fromkeys(found))


class Plan(Frozen):
    """The whole sequence, laid out before anything is drawn.

    Guaranteed: indices are 0, 1, 2, … in order and every `step:j` points backwards, so the steps
    form a DAG. Not guaranteed: that `input:i` exists (`check_inputs`), that a `step:j` has a
    picture (a text step has none; the parser skips over it).
    """

    steps: tuple[Step, ...] = Field(min_length=1)
    style_guide: StyleGuide = StyleGuide()
    title: str | None = None
    first_number: int = Field(default=1, ge=1, description="what the first step is called; more than 1 when continued")

    @model_validator(mode="after")
    def _numbered_by_us(self) -> Self:
        if [step.index for step in self.steps] != list(range(len(self.steps))):
            raise ValueError("step indices must be 0, 1, 2, … in order")
        return self

    def outline(self) -> str:
        """The plan as numbered lines, for people."""
        titles = [self.title] if self.title else []
        steps = [
            f"{step.index + self.first_number}. {step.title or step.instruction or step.caption}" for step in self.steps
        ]
        return "\n".join(titles + steps)


@dataclass(frozen=True, slots=True)
class PlanWarning:
    """Something about a plan the user should know; the plan runs all the same.

    `code` is one of `step_count`, `unused_input`, `renumbered`, `repaired`, `unknown_words`, `other`.
    """

    code: str
    message: str
    step: int | None = None


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the planner's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class StyleDelta:
    """The style guide, as soon as it is complete."""

    style_guide: StyleGuide


@dataclass(frozen=True, slots=True)
class StepDelta:
    """One step, the moment it is complete. Steps come in order of `index`."""

    step: Step


@dataclass(frozen=True, slots=True)
class PlanFinished:
    """The last delta of a planner: the validated plan, with what the call used.

    The plan is what counts: a step that came as a `StepDelta` and differs here was provisional.

    Where an existing plan was changed, `origins` names for each step the step of the existing plan whose
    picture it keeps, or `None` where it is to be drawn; without `origins` that is found by comparing the two.
    """

    plan: Plan
    reasoning: str = ""
    warnings: Sequence[PlanWarning] = ()
    raw: str | None = None
    usage: Usage = Usage()
    origins: tuple[int | None, ...] | None = None


PlanDelta = ReasoningDelta | StyleDelta | StepDelta | PlanFinished
