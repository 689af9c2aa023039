"""Addresses and prices that a folder names: taken only where this user began the run; it may be somebody else's."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import unquote

from langgraph_interleave.cli.begun import Begun
from langgraph_interleave.cli.index import Index
from langgraph_interleave.cli.typed import ROLES
from langgraph_interleave.cli.wording import one_line
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.prices import Price

_ADDRESS = re.compile(r"(?i)://|[?&][\w-]*(?:url|base|endpoint|host|proxy|server)[\w-]*=")


def refuse_addresses(kept: Mapping[str, Any], given: Collection[str], *, run: str) -> None:
    """Whoever sends a folder says what it was made with, but not where this user's keys and pictures go.

    Args:
        kept: What the folder says it was made with.
        given: Names of the roles that were typed now.
        run: The run.

    Raises:
        ConfigError: A role that is not given has an address, and this user did not begin the run.
    """
    for name in ROLES:
        value = kept.get(name)
        if name in given or value is None or not has_address(value) or Index().knows(run):
            continue
        words = [value] if isinstance(value, str) else value
        said = " ".join(f"--{name} '{one_line(str(word), 200)}'" for word in words)
        raise ConfigError(
            f"The folder names an address, and run {run[:8]} was not begun by you here: requests, and keys of "
            "yours, would go to it.",
            remedy=f"If that is as it should be, say so: {said}",
        )


def trusted_prices(begun: Begun | None) -> dict[str, Price] | None:
    """The prices that were kept with a run; by those of somebody else a cap on money might let anything pass."""
    return begun.prices if begun is not None and Index().knows(begun.run) else None


def has_address(name: object) -> bool:
    """Whether the name of a role says where a server is.

    Example:
        >>> has_address("openai:flux?base_url=http://127.0.0.1:8000/v1"), has_address(["a=sketch", "b=openai:flux"])
        (True, False)
    """
    words = [name] if isinstance(name, str) else list(name) if isinstance(name, list | tuple) else []
    return any(_ADDRESS.search(unquote(str(word))) for word in words)
