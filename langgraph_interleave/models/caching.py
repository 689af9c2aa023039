"""Hints that help a provider find the cached beginning of a prompt, where LangChain passes them on."""

from __future__ import annotations

import hashlib
from typing import Any

from langgraph_interleave.models.identity import innermost


def cache_hints(model: object, about: str) -> dict[str, Any]:
    """Options for a call whose beginning is the same as that of others.

    OpenAI's own servers route calls with one `prompt_cache_key` to the same machine; Anthropic caches
    only when asked to. Others cache by themselves, and compatible servers refuse what they do not know.

    Args:
        model: The chat model.
        about: What the calls have in common.

    Returns:
        Options to bind; empty where there are none.

    Example:
        >>> cache_hints(object(), "critic")
        {}
    """
    model = innermost(model)
    kind = str(getattr(model, "_llm_type", ""))
    if kind == "openai-chat" and _is_openais_own(model):
        return {"prompt_cache_key": f"interleave-{hashlib.sha256(about.encode()).hexdigest()[:24]}"}
    if kind == "anthropic-chat":
        return {"cache_control": {"type": "ephemeral"}}
    return {}


def _is_openais_own(model: object) -> bool:
    client = getattr(model, "root_client", None)
    return getattr(getattr(client, "base_url", None), "host", "") == "api.openai.com"
