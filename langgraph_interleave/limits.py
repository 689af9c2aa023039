"""Caps on one run, and the budget that is reserved against them before every call."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, ModelWrapValidatorHandler, ValidationError, model_validator

from langgraph_interleave.errors import refused_option
from langgraph_interleave.types.base import Frozen

PositiveInt = Annotated[int, Field(ge=1)]


class Chosen(BaseModel):
    """Values a user chooses: what cannot be is refused as everything of the user's is, by `ConfigError`."""

    @model_validator(mode="wrap")
    @classmethod
    def _said_in_words(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(given)
        except ValidationError as error:
            raise refused_option(error, cls.__name__) from error


class Limits(Chosen, Frozen):
    """Caps on one run. At a cap the run finishes with what is there; it never goes over.

    `max_images` counts pictures drawn, `max_calls` every call of any role, `max_seconds` wall-clock
    time of one invocation. `call_timeout_s` is the deadline of a single call. `max_repeats` is one
    budget per call for everything that makes it be repeated: refused for now, no answer, an answer
    that cannot be read, a prompt that must be said in other words.

    Raises:
        ConfigError: There is no such cap, or it cannot be that.
    """

    max_steps: PositiveInt = Field(default=30, description="Steps drawn at most; later ones are skipped and marked.")
    max_attempts: PositiveInt = Field(default=3, description="Attempts per step, the first included.")
    max_images: PositiveInt | None = Field(default=None, description="Pictures drawn at most, in the whole run.")
    max_calls: PositiveInt | None = Field(default=None, description="Calls of any role at most, in the whole run.")
    max_seconds: float | None = Field(default=None, gt=0, description="Wall-clock seconds of one invocation.")
    max_repeats: Annotated[int, Field(ge=0)] = Field(
        default=3, description="Repeats of one call at most, for all reasons together."
    )
    max_replans: Annotated[int, Field(ge=0)] = Field(
        default=2, description='With on_exhausted="replan": plans made anew at most, in the whole run.'
    )
    call_timeout_s: float = Field(default=600.0, gt=0, description="Deadline of one call, in seconds.")
