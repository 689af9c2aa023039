"""What `--backend` means: one backend, or several by name."""

from __future__ import annotations

import re

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.backends.several import SeveralBackends
from langgraph_interleave.errors import ConfigError

#: `photo=…` and `photo (photographs of products)=…`; `openai?quality=low` is neither.
_NAMED = re.compile(r"\s*(?P<name>[\w-]+)\s*(?:\((?P<purpose>[^()]*)\)\s*)?=(?P<backend>.+)", re.DOTALL)
_SYNTAX = "--backend photo=openai --backend 'diagram (circuits, charts)=svg:openai:gpt-6-sol'"


def choose_backend(given: str | tuple[str, ...] | None) -> ImageBackend:
    """Make what draws.

    Args:
        given: A backend as `langgraph-interleave backends` lists it; or several, each with the name the plan
            calls it by and perhaps what it is for, `NAME=BACKEND` or `NAME (PURPOSE)=BACKEND`. Without any,
            the simulator.

    Raises:
        ConfigError: One is not known, several have no names, or two have the same.

    Example:
        >>> choose_backend("sketch").name
        'sketch'
        >>> choose_backend(("hand (drawings by hand)=sketch", "test=simulator:hard")).capabilities.choices[0]
        ('hand', 'drawings by hand; draws from text, edits as told, up to 8 references')
    """
    texts = (given,) if isinstance(given, str) else given or ("simulator",)
    found = [_NAMED.fullmatch(text) for text in texts]
    if len(texts) == 1 and found[0] is None:
        return init_image_backend(texts[0])
    members: dict[str, tuple[ImageBackend | str, str]] = {}
    for text, match in zip(texts, found, strict=True):
        if match is None:
            raise ConfigError(
                f"--backend {text!r} has no name, and there are several.", remedy=f"Name each of them: {_SYNTAX}."
            )
        if match["name"] in members:
            raise ConfigError(
                f"Two backends are called {match['name']!r}.", remedy=f"Give each a name of its own: {_SYNTAX}."
            )
        members[match["name"]] = (match["backend"].strip(), (match["purpose"] or "").strip())
    return SeveralBackends(members)
