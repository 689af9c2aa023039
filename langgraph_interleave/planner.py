"""The planner role: lays the whole sequence out before anything is drawn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from langgraph_interleave.limits import Limits
from langgraph_interleave.types import Capabilities, ImageBytes, PlanDelta, Request, Unusable, Usage


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


@runtime_checkable
class Planner(Protocol):
    """Anything that turns a request into a plan.

    `fingerprint` names model, version and parameters; it is part of the ledger's key, so that a
    changed planner is never answered with another's plan. `billed` says whether a call costs money.

    A planner may have `whole_prompts = True`: each of its prompts describes the whole picture, also that
    of an edit, so that nothing of earlier steps is said again where a step starts from an earlier picture.
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
