"""Hints that help a provider find the cached beginning of a prompt, where LangChain passes them on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from langgraph_interleave.models.wrapping import chat_models

_BREAKPOINT = {"cache_control": {"type": "ephemeral"}}


def cache_options(model: object, about: str) -> dict[str, Any]:
    """Options for a call whose beginning is the same as that of others.

    OpenAI's own servers route calls with one `prompt_cache_key` to where the beginning is cached.
    Compatible servers cache by themselves, and refuse what they do not know.

    Args:
        model: The chat model.
        about: What the calls have in common.

    Returns:
        Options to bind; empty where there are none.

    Example:
        >>> cache_options(object(), "critic")
        {}
    """
    model = _only(model)
    client = getattr(model, "root_client", None)
    if _kind(model) != "openai-chat" or getattr(getattr(client, "base_url", None), "host", "") != "api.openai.com":
        return {}
    return {"prompt_cache_key": f"interleave-{hashlib.sha256(about.encode()).hexdigest()[:24]}"}


def with_breakpoints(messages: Sequence[BaseMessage], model: object, *, stable: int) -> list[BaseMessage]:
    """Mark how far a prompt will be the same again, for providers that cache only what is marked (Anthropic).

    Args:
        messages: A system message, a human one with parts, and perhaps more.
        model: The chat model.
        stable: How many parts of the human message the next call begins with as well.

    Returns:
        The messages; unchanged for other providers.

    Example:
        >>> with_breakpoints([HumanMessage("Hello")], object(), stable=1)
        [HumanMessage(content='Hello', additional_kwargs={}, response_metadata={})]
    """
    if _kind(_only(model)) != "anthropic-chat":
        return list(messages)
    marked: list[BaseMessage] = []
    for message in messages:
        content = message.content
        if isinstance(message, SystemMessage) and isinstance(content, str):
            message = SystemMessage(content=[{"type": "text", "text": content, **_BREAKPOINT}])
        elif isinstance(message, HumanMessage) and isinstance(content, list) and 0 < stable <= len(content):
            parts = cast("list[dict[str, Any]]", list(content))
            parts[stable - 1] = {**parts[stable - 1], **_BREAKPOINT}
            message = HumanMessage(content=cast("Any", parts))
        marked.append(message)
    return marked


def _only(model: object) -> object:
    """The chat model inside, if there is but one: what stands in for it may be of another provider."""
    found = chat_models(model)
    return found[0] if len(found) == 1 else None


def _kind(model: object) -> str:
    return str(getattr(model, "_llm_type", ""))
