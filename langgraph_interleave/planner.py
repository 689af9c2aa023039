"""The planner role: lays the whole sequence out before anything is drawn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from langgraph_interleave.limits import Limits
from langgraph_interleave.types import (
    Capabilities,
    ImageBytes,
    Plan,
    PlanDelta,
    Request,
    StepOutcome,
    Unusable,
    Usage,
)


@dataclass(frozen=True, slots=True)
class Existing:
    """A plan that is there already and is to be changed, whether anything of it was drawn or not.

    Its steps are named by their index in `plan`. Everything that was asked for before, what is asked for
    now, and the pictures that were drawn are parts of the planner's `request`, in this order, so that a
    step may build on any of them as `input:i`.

    Attributes:
        plan: The plan as it is.
        change: What is wanted otherwise: the new words and pictures alone.
        pictures: Which picture of the request is the one drawn for a step: input by step.
        outcomes: What came of the steps that were begun, by step.
        given: Pictures of the request that came with the change: of what the user really did, say.
    """

    plan: Plan
    change: Request
    pictures: Mapping[int, int] = field(default_factory=dict[int, int])
    outcomes: Mapping[int, StepOutcome] = field(default_factory=dict[int, StepOutcome])
    given: Sequence[int] = ()

    @property
    def named(self) -> dict[str, Any]:
        """What of it goes into the key of a call."""
        return {
            "plan": self.plan.model_dump(mode="json"),
            "change": self.change.model_dump(mode="json"),
            "pictures": sorted(self.pictures.items()),
            "outcomes": sorted(self.outcomes.items()),
        }


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What a planner is given.

    Attributes:
        request: The user's ordered parts.
        images: Pixels of the request's pictures, in order (`input:0`, `input:1`, …).
        capabilities: What the chosen backend can do.
        limits: Caps; a plan must not have more than `limits.max_steps` steps.
        steps: Number of steps the caller insists on, or `None`.
        language: Language of captions (BCP 47 or a name), or `None` for the request's own.
        style: The look the caller asks for, or `None`.
        seed: Seed for planners that sample.
        unusable: The planner's own answers to this request that could not be used, oldest first.
        existing: A plan that is to be changed, instead of one made from nothing.
    """

    request: Request
    images: Sequence[ImageBytes] = ()
    capabilities: Capabilities = Capabilities()
    limits: Limits = Limits()
    steps: int | None = None
    language: str | None = None
    style: str | None = None
    seed: int = 0
    unusable: Sequence[Unusable] = ()
    existing: Existing | None = None


@runtime_checkable
class Planner(Protocol):
    """Anything that turns a request into a plan.

    `fingerprint` names model, version and parameters; it is part of the ledger's key, so that a
    changed planner is never answered with another's plan. `billed` says whether a call costs money.

    A planner may have `whole_prompts = True`: each of its prompts describes the whole picture, also that
    of an edit, so that nothing of earlier steps is said again where a step starts from an earlier picture.

    Where `request.existing` is given, the answer is the whole changed plan, with `origins` in its
    `PlanFinished` (`changes.apply_changes` makes both from a list of changes). Not needed: a planner
    that gives a whole plan has its unchanged steps found by comparing.
    """

    fingerprint: str
    billed: bool

    def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        """Stream the plan: reasoning, style guide, each step as soon as complete, `PlanFinished` last.

        Raises:
            PlanError: No plan could be read. With its `usage` given, the planner is asked again, and
                told why in `request.unusable`.
            CallError: The model failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Rephrased:
    """A prompt in other words, with what the call used."""

    prompt: str
    usage: Usage = Usage()


@runtime_checkable
class Rephraser(Protocol):
    """A planner that can also say a refused prompt in other words. Optional.

    When a provider blocks a prompt, such a planner is asked once, and the drawing is sent once more.
    """

    async def arephrase(self, prompt: str, *, reason: str) -> Rephrased:
        """Say the same in words the provider may accept.

        Args:
            prompt: What was refused.
            reason: The provider's words.

        Raises:
            CallError: The model failed.
        """
        ...
