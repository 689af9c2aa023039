"""A role's own options in a model's name, read as what they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from langgraph_interleave.errors import ConfigError


def read_options(name: str, written: Mapping[str, str], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Read the values of options.

    Args:
        name: What the user typed, for messages.
        written: Options as they were written.
        kinds: The type of each.

    Raises:
        ConfigError: A value is of another type.

    Example:
        >>> read_options("openai:x", {"max_side": "768", "billed": "false"}, {"max_side": int, "billed": bool})
        {'max_side': 768, 'billed': False}
    """
    read: dict[str, Any] = {}
    for option, value in written.items():
        try:
            read[option] = TypeAdapter(kinds[option]).validate_python(value)
        except ValidationError as error:
            raise ConfigError(
                f"Model {name!r}: the option {option}={value} cannot be used: {error.errors()[0]['msg']}.",
                remedy="Change it, or leave it out.",
            ) from None
    return read
