"""Fault presets: how often the simulator draws something other than what was asked.

The figures live in `presets.toml`, with their basis; they were fixed before the pixel critic was written.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic import Field

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.types import Frozen

Rate = Annotated[float, Field(ge=0.0, le=1.0)]
Category = Literal[
    "single_object",
    "two_objects",
    "counting",
    "colors",
    "color_attribution",
    "position",
    "state",
    "extra_object",
    "collateral",
    "identity_drift",
]
#: Every category, in the order of the presets file. The first six are GenEval's task types.
CATEGORIES: tuple[Category, ...] = get_args(Category)


class Rates(Frozen):
    """Probability of a fault per opportunity and attempt; what an opportunity is, `presets.toml` says."""

    single_object: Rate
    two_objects: Rate
    counting: Rate
    colors: Rate
    color_attribution: Rate
    position: Rate
    state: Rate
    extra_object: Rate
    collateral: Rate
    identity_drift: Rate

    def of(self, category: Category) -> float:
        """The rate of `category`."""
        return float(getattr(self, category))


class Preset(Frozen):
    """A named set of rates, and how much words change them.

    Attributes:
        name: What people type.
        about: One sentence.
        rates: Per category.
        plain_prompt_helps: 0-1; share of a rate that plain words in the prompt take away.
        refined_helps: 0-1; share of a rate that an emphasised correction in the prompt takes away.
        drift_cap: 0-1; identity drift grows with the depth of edits up to this.
        false_accept: 0-1; share of faulty pictures a noisy critic passes.
        false_reject: 0-1; share of right pictures a noisy critic sends back.
    """

    name: str
    about: str
    rates: Rates
    plain_prompt_helps: Rate
    refined_helps: Rate
    drift_cap: Rate
    false_accept: Rate = 0.0
    false_reject: Rate = 0.0

    def scaled(self, factor: float) -> Preset:
        """The same preset with every rate (and the drift cap) multiplied, at most 1.

        Args:
            factor: 0 for no faults, 1 for unchanged, more for a weaker model.

        Example:
            >>> preset("default").scaled(2).rates.position
            0.4
        """
        if factor < 0:
            raise ConfigError(f"A preset cannot be scaled by {factor!r}.", remedy="Give a factor of 0 or more.")
        rates = {category: min(1.0, self.rates.of(category) * factor) for category in CATEGORIES}
        return self.model_copy(update={"rates": Rates(**rates), "drift_cap": min(1.0, self.drift_cap * factor)})


@cache
def presets() -> Mapping[str, Preset]:
    """All presets by name, in the order of the file."""
    text = files("langgraph_interleave.world").joinpath("presets.toml").read_text(encoding="utf-8")
    return MappingProxyType({name: Preset(name=name, **table) for name, table in tomllib.loads(text).items()})


def preset(name: str) -> Preset:
    """The preset called `name`.

    Raises:
        ConfigError: There is none of that name.

    Example:
        >>> preset("perfect").rates.counting
        0.0
    """
    found = presets().get(name)
    if found is None:
        raise ConfigError(f"There is no fault preset {name!r}.", remedy=f"Choose one of: {', '.join(presets())}.")
    return found
