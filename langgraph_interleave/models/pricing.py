"""Which price table a chat role uses."""

from __future__ import annotations

from pathlib import Path

from langgraph_interleave.prices import Costs, Prices
from langgraph_interleave.types import Usage


class Free:
    """What costs nothing, whatever the model is called."""

    def cost(self, model: str, usage: Usage) -> float | None:
        """Nothing."""
        del model, usage
        return 0.0


def costs_of(prices: Costs | str | Path | None, *, billed: bool) -> Costs:
    """The table a role uses.

    Args:
        prices: A table of the caller's, a file that goes before the built-in one, or `None`.
        billed: Whether a call costs money.

    Raises:
        ConfigError: The file cannot be read.

    Example:
        >>> costs_of(None, billed=False).cost("gpt-5", Usage(input_tokens=1))
        0.0
    """
    if not billed:
        return Free()
    if isinstance(prices, str | Path):
        return Prices.builtin().merged(prices)
    return prices if prices is not None else Prices.default()
