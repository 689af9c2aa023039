"""What is known of a run at one moment, and the calls that can follow from it. Data only; `routing` decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from langgraph_interleave.prompts.drawing import Wording
from langgraph_interleave.references import Policy
from langgraph_interleave.types import ArtifactRef, Lookahead, OnExhausted, Request, Step, StepRecord, StyleGuide


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings a decision depends on.

    `whole_prompts`: the planner's prompts describe the whole picture, also where it is an edit.
    `review`: a reviewer is asked about every step; `ask`: about those that are exhausted, or they are planned anew.
    `ask_at_limit`: somebody is asked before a limit of the run ends a step; `ended_at`: the limit at which it was said
    to finish.
    `candidates` pictures are drawn for each attempt, `images_per_call` at most with one call. `max_references` and
    `max_prompt_tokens` are the backend's; `None` where nothing is known of them.
    """

    max_steps: int = 30
    max_attempts: int = 3
    on_exhausted: OnExhausted = "best"
    lookahead: Lookahead = "never"
    candidates: int = 1
    images_per_call: int = 1
    early_start: bool = False
    policy: Policy = field(default_factory=Policy)
    style_in_prompts: bool = False
    whole_prompts: bool = False
    review: bool = False
    ask: bool = False
    ask_at_limit: bool = False
    ended_at: str | None = None
    max_references: int | None = None
    max_prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RunView:
    """What is known of a run at one moment.

    Attributes:
        request: The user's request (`input:i` are its images).
        steps: Steps known so far, in order; the sheet, where one is drawn, after those of the plan.
        complete: The plan is validated; before that its steps are provisional.
        records: The record of every step that was begun; with an `outcome` once concluded.
        rules: What decisions depend on.
        style: What the sequence shares; `None` until the planner has said it.
        sheet: Index of the step that draws the sheet of characters.
        first_number: What the first step is called.
    """

    request: Request
    steps: tuple[Step, ...] = ()
    complete: bool = False
    records: Mapping[int, StepRecord] = field(default_factory=dict[int, StepRecord])
    rules: Rules = Rules()
    style: StyleGuide | None = None
    sheet: int | None = None
    first_number: int = 1

    @property
    def planned(self) -> tuple[Step, ...]:
        """The steps of the plan, without the sheet."""
        return self.steps if self.sheet is None else self.steps[: self.sheet]


@dataclass(frozen=True, slots=True)
class Draw:
    """The call that draws an attempt of a step.

    Attributes:
        step: Index of the step.
        attempt: Number of the attempt.
        prompt: The prompt as planner or critic wrote it.
        references: Pictures for the backend, in order.
        before: What the critic compares with, where that is not the first reference.
        wording: What is said around the prompt.
        warnings: What was not done as the policy says.
        candidate: Number of the first picture it draws.
        n: How many pictures it draws.
    """

    step: int
    attempt: int
    prompt: str
    references: tuple[ArtifactRef, ...] = ()
    before: ArtifactRef | None = None
    wording: Wording = field(default_factory=Wording)
    warnings: tuple[str, ...] = ()
    candidate: int = 0
    n: int = 1

    @property
    def numbers(self) -> range:
        """The candidates it draws."""
        return range(self.candidate, self.candidate + self.n)


@dataclass(frozen=True, slots=True)
class Judge:
    """The call that judges a drawn attempt of a step: one of its pictures, where there are several."""

    step: int
    attempt: int
    candidate: int = 0


NextCall = Draw | Judge


@dataclass(frozen=True, slots=True)
class NextCalls:
    """What can start now: `certain` follows from what is known, `likely` bets on an accept."""

    certain: tuple[NextCall, ...] = ()
    likely: tuple[NextCall, ...] = ()
