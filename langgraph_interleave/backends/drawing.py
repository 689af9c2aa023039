"""Which callables draw, and which make a backend: a rule, told from what they take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

#: Arguments that only a function that draws has.
_TOLD = ("prompt", "request")


def draws(function: Callable[..., Any]) -> bool:
    """Whether a callable draws, rather than making what draws.

    What can be called with nothing makes a backend, and so does every class. What must be given
    something, or says that it takes a `prompt` or `request`, draws.

    Example:
        >>> draws(lambda words, pictures: None), draws(lambda prompt="": None), draws(lambda: None)
        (True, True, False)
    """
    if isinstance(function, type):
        return False
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some callables written in C have none
        return True
    return bool(needs(function)) or any(name in parameters for name in _TOLD)


def needs(function: Callable[..., Any]) -> list[str]:
    """The arguments a callable cannot do without.

    Example:
        >>> needs(lambda a, b=1, *c, d, **e: None)
        ['a', 'd']
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some callables written in C have none
        return []
    rest = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [one.name for one in parameters if one.default is one.empty and one.kind not in rest]
