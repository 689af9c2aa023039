"""Caps on one run, and the budget that is reserved against them before every call."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, ModelWrapValidatorHandler, ValidationError, model_validator

from langgraph_interleave.errors import ConfigError, refused_option
from langgraph_interleave.types.base import Frozen

PositiveInt = Annotated[int, Field(ge=1)]
#: US dollars; 0 allows only what is free.
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
#: The caps on a run as a whole, which it may reach on its way: somebody may be asked to raise them then.
RUN_LIMITS = ("max_images", "max_calls", "max_seconds", "max_cost_usd")


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
    """Caps on one run, and on each of its steps. At a run's cap it finishes with what is there; at a
    step's only that step does, and the others go on.

    `max_images` counts pictures drawn, `max_calls` every call of any role, `max_seconds` wall-clock
    time of one invocation, `max_cost_usd` money. Those that begin with `step_` count the same for one
    step, its drawings and judgements; the plan belongs to none. `call_timeout_s` is the deadline of a
    single call. `max_repeats` is one budget per call for everything that makes it be repeated: refused
    for now, no answer, an answer that cannot be read, a prompt that must be said in other words.

    What a call takes is reserved before it starts, so calls that run side by side pass no cap together.
    Money is reserved as estimated: by the prices known, or by the dearest call of the role so far where
    that was more. A call that costs more than its estimate is counted as it is, and only then can the
    money used pass its cap, by that difference. Under a cap on money a run of models without a price is
    refused before it starts.

    Two processes that make the same run at the same moment each keep the caps by what they know: a call that both
    make is made once, but one that only the other makes (a bet, another order of steps side by side) is heard of at
    the end, where both tell it. Together they may pass a cap by such calls.

    Raises:
        ConfigError: There is no such cap, or it cannot be that.
    """

    max_steps: PositiveInt = Field(default=30, description="Steps drawn at most; later ones are skipped and marked.")
    max_attempts: PositiveInt = Field(default=3, description="Attempts per step, the first included.")
    max_images: PositiveInt | None = Field(default=None, description="Pictures drawn at most, in the whole run.")
    max_calls: PositiveInt | None = Field(default=None, description="Calls of any role at most, in the whole run.")
    max_seconds: float | None = Field(default=None, gt=0, description="Wall-clock seconds of one invocation.")
    max_cost_usd: Dollars | None = Field(default=None, description="US dollars at most, in the whole run.")
    step_max_images: PositiveInt | None = Field(default=None, description="Pictures drawn at most for one step.")
    step_max_calls: PositiveInt | None = Field(default=None, description="Calls of any role at most for one step.")
    step_max_seconds: float | None = Field(
        default=None, gt=0, description="Wall-clock seconds of one step, from its first call of an invocation."
    )
    step_max_cost_usd: Dollars | None = Field(default=None, description="US dollars at most for one step.")
    max_repeats: Annotated[int, Field(ge=0)] = Field(
        default=3, description="Repeats of one call at most, for all reasons together."
    )
    max_replans: Annotated[int, Field(ge=0)] = Field(
        default=2, description='With on_exhausted="replan": plans made anew at most, in the whole run.'
    )
    call_timeout_s: float = Field(default=600.0, gt=0, description="Deadline of one call, in seconds.")

    def within(self, ceiling: Limits | None, asked: Collection[str]) -> Limits:
        """These caps, none of them above a ceiling.

        Args:
            ceiling: What may not be passed; only the caps that were set in it count.
            asked: The caps somebody asked for in so many words; the others come down to the ceiling by themselves.

        Raises:
            ConfigError: One that was asked for is above it.

        Example:
            >>> Limits(max_attempts=5).within(Limits(max_attempts=4, max_images=9), ()).max_attempts
            4
        """
        lower: dict[str, Any] = {}
        for name in ceiling.model_fields_set if ceiling is not None else ():
            cap, own = getattr(ceiling, name), getattr(self, name)
            if cap is None or (own is not None and own <= cap):
                continue
            if own is not None and name in asked:
                raise ConfigError(
                    f"{name}={own:g} is above the ceiling of {cap:g}.",
                    remedy="Ask for less; the ceiling was set where the graph was made.",
                )
            lower[name] = cap
        return self.model_copy(update=lower) if lower else self

    @property
    def on_money(self) -> str | None:
        """The name of a cap on money, where there is one."""
        return next((name for name in ("max_cost_usd", "step_max_cost_usd") if getattr(self, name) is not None), None)


def no_price(limit: str, what: str) -> ConfigError:
    """The refusal of a cap on money that cannot be kept, because somebody's price is not known.

    Example:
        >>> str(no_price("max_cost_usd", "the backend my-model"))[:75]
        'The cap max_cost_usd cannot be kept: nobody knows what the backend my-model'
    """
    return ConfigError(
        f"The cap {limit} cannot be kept: nobody knows what {what} costs.",
        remedy=f"Give its price (a file of prices in LANGGRAPH_INTERLEAVE_PRICES or --prices, or prices= where it is "
        f"made), say billed=False where it is free, or leave out {limit}.",
    )
