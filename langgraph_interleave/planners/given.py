"""A plan the user wrote: whole, or as the prompts of its steps."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.types import Plan, PlanDelta, PlanFinished, Step, StepDelta, StyleDelta


class GivenPlan:
    """Answers every request with the same plan.

    Args:
        plan: A `Plan`; or the prompts of its steps, each drawn from nothing, its prompt being what
            the critic judges it by.

    Raises:
        ConfigError: There are no steps, or a prompt is empty.

    Example:
        >>> planner = GivenPlan(["a seed in a pot", "a sprout in a pot"])
        >>> [step.instruction for step in planner.plan.steps]
        ['a seed in a pot', 'a sprout in a pot']
    """

    billed = False
    written = "given:FILE.json"

    def __init__(self, plan: Plan | Sequence[str]) -> None:
        self.plan = plan if isinstance(plan, Plan) else _of_prompts(plan)
        self.fingerprint = f"given:{self.plan.model_dump_json()}"

    @classmethod
    def from_string(cls, argument: str) -> Self:
        """Read a file: a plan as JSON, or a JSON list of prompts.

        Raises:
            ConfigError: There is no such file, or it holds neither.
        """
        path = Path(argument)
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return cls(found if _is_prompts(found) else Plan.model_validate(found))
        except OSError as error:
            raise ConfigError(
                f"The plan {argument!r} cannot be read: {error.strerror or error}.", remedy="Give the path of a file."
            ) from error
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the whole"
            raise ConfigError(f"The plan {argument!r} is none: {where}: {first['msg']}", remedy=_REMEDY) from error
        except ValueError as error:
            raise ConfigError(f"The plan {argument!r} is not JSON: {error}.", remedy=_REMEDY) from error

    async def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        """Give the plan, whatever was asked for."""
        yield StyleDelta(self.plan.style_guide)
        for step in self.plan.steps:
            yield StepDelta(step)
        yield PlanFinished(self.plan)


_REMEDY = "Write a JSON list of prompts, or a plan as `plan.model_dump_json()` gives it."


def _is_prompts(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(one, str) for one in found)  # pyright: ignore[reportUnknownVariableType]


def _of_prompts(prompts: Sequence[str]) -> Plan:
    if isinstance(prompts, str) or not prompts or not _is_prompts([*prompts]) or not all(map(str.strip, prompts)):
        raise ConfigError(
            "A plan by prompts is a list of texts, one for each step.", remedy='Write ["a seed in a pot", "a sprout"].'
        )
    return Plan(
        steps=tuple(
            Step(index=index, op="generate", instruction=prompt, prompt=prompt) for index, prompt in enumerate(prompts)
        )
    )
