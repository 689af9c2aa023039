"""What one call used, and what a run has spent."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from langgraph_interleave.types.base import Frozen


class Usage(Frozen):
    """What a provider reports for one call. `cost_usd` is `None` when nobody knows, never 0 for that.

    `calls` is the number of requests behind it where they were more than one; 0 means one.
    `cached_tokens` and `image_input_tokens` are parts of `input_tokens`, `image_output_tokens` is a
    part of `output_tokens`; each is 0 where the provider does not say.
    """

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    images: int = Field(default=0, ge=0)
    calls: int = Field(default=0, ge=0)
    image_input_tokens: int = Field(default=0, ge=0)
    image_output_tokens: int = Field(default=0, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)

    @staticmethod
    def total(usages: Iterable[Usage]) -> Usage:
        """Usage of several requests as that of one call; `calls` says how many they were.

        Example:
            >>> Usage.total([Usage(input_tokens=5), Usage(input_tokens=7, calls=2)]).calls
            3
        """
        whole: Usage | None = None
        for usage in usages:
            one = usage if usage.calls else usage.model_copy(update={"calls": 1})
            whole = one if whole is None else whole + one
        return whole or Usage()

    def __add__(self, other: Usage) -> Usage:
        """Add field by field; the cost is known only when both are."""
        both_known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            images=self.images + other.images,
            calls=self.calls + other.calls,
            image_input_tokens=self.image_input_tokens + other.image_input_tokens,
            image_output_tokens=self.image_output_tokens + other.image_output_tokens,
            cost_usd=(self.cost_usd or 0) + (other.cost_usd or 0) if both_known else None,
        )


class Spend(Frozen):
    """What a run has used so far.

    `calls` counts per role; `replayed` are calls answered from the ledger without a new one (they
    were paid before and are counted in `calls` as well); `wasted` are speculative calls whose
    result nothing used. `ambiguous` are calls that were cut off: nobody knows whether the work was done
    and billed; `cost_usd` is without them, and `ambiguous_cost_usd` is what they may have cost on top, as
    estimated before (`None` where nobody knows, or there are none). `seconds` is wall-clock time of this
    invocation and differs between two otherwise equal runs.
    """

    calls: dict[str, int] = Field(default_factory=dict)
    images: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None
    replayed: int = 0
    wasted: int = 0
    ambiguous: int = 0
    ambiguous_cost_usd: float | None = None
    seconds: float = 0.0
