"""What an answer used, whether it was cut off or refused, and who gave it: read from a LangChain message.

Providers say the same things under many names; LangChain passes most of them through unchanged. What is not
said is not guessed: no tokens are 0, no price is `None`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

from langchain_core.messages import AIMessage

from langgraph_interleave.prices import Costs
from langgraph_interleave.types.usage import Usage

_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason")
_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"})
_BLOCKED = frozenset(
    {"blocklist", "content_filter", "content_filtered", "error_toxic", "guardrail_intervened", "image_safety",
     "language", "other_safety", "prohibited_content", "recitation", "refusal", "safety", "sensitive", "spii"}
)  # fmt: skip
_IN = ("input_tokens", "prompt_tokens", "prompt_token_count", "prompt_eval_count", "inputTokens")
_OUT = ("output_tokens", "completion_tokens", "candidates_token_count", "eval_count", "outputTokens")


def usage_of(message: AIMessage, prices: Costs | None = None, *, model: str | None = None) -> Usage:
    """What one answer used.

    Args:
        message: The answer, whole or merged from its chunks.
        prices: Who knows what it cost.
        model: The model that was asked, for answers that do not name theirs.

    Returns:
        Tokens as the provider counts them (reasoning is output; cached input is part of the input), 0
        where it counts none; the cost in US dollars as the provider or
        `prices` says, `None` when nobody knows.

    Example:
        >>> counts = {"input_tokens": 900, "output_tokens": 20, "total_tokens": 920}
        >>> usage_of(AIMessage("Yes.", usage_metadata=counts)).input_tokens
        900
    """
    told = message.usage_metadata
    metadata = _mapping(message.response_metadata)
    counts = next((found for name in ("token_usage", "usage") if (found := _mapping(metadata.get(name)))), metadata)
    if told is not None:
        came, gave = told["input_tokens"], told["output_tokens"]
        details = _mapping(told.get("input_token_details"))
        given = _mapping(told.get("output_token_details"))
        # Tiers of OpenAI put their name in front: `flex_cache_read`.
        cached = sum(_count(value) for key, value in details.items() if key.endswith("cache_read"))
    else:
        came, gave = _first_count(counts, _IN), _first_count(counts, _OUT)
        details, given = _mapping(counts.get("prompt_tokens_details")), {}
        cached = _count(details.get("cached_tokens"))
    usage = Usage(
        input_tokens=_count(came),
        output_tokens=_count(gave),
        cached_tokens=min(cached, _count(came)),
        image_input_tokens=min(_count(details.get("image")), _count(came)),
        image_output_tokens=min(_count(given.get("image")), _count(gave)),
        cost_usd=_cost(counts.get("cost")),
    )
    name = model_name(message) or model
    if prices is None or name is None or not (usage.input_tokens or usage.output_tokens):
        return usage
    return usage.model_copy(update={"cost_usd": prices.cost(name, usage)})


def was_truncated(message: AIMessage) -> bool:
    """Whether the provider says that a token limit cut the answer off.

    Example:
        >>> was_truncated(AIMessage("{", response_metadata={"finish_reason": "length"}))
        True
    """
    metadata = _mapping(message.response_metadata)
    if any(reason in _CUT for reason in _reasons(metadata)):
        return True
    return metadata.get("status") == "incomplete" and not any(reason in _BLOCKED for reason in _reasons(metadata))


def was_blocked(message: AIMessage) -> str | None:
    """Why the provider or the model refused, in its own words; `None` when the answer is one.

    Example:
        >>> was_blocked(AIMessage("", response_metadata={"finish_reason": "SAFETY"}))
        'SAFETY'
        >>> was_blocked(AIMessage([{"type": "refusal", "refusal": "I cannot help with that."}]))
        'I cannot help with that.'
    """
    metadata = _mapping(message.response_metadata)
    for words in _refusals(message):
        return words
    for reason in _reasons(metadata, fold=False):
        if reason.lower() in _BLOCKED:
            return reason
    feedback = _mapping(metadata.get("prompt_feedback"))
    reason = feedback.get("block_reason")
    return None if reason in (None, 0, "", "BLOCK_REASON_UNSPECIFIED") else str(getattr(reason, "name", reason))


def model_name(message: AIMessage) -> str | None:
    """The model that answered, as its provider calls it; `None` when it does not say.

    Example:
        >>> model_name(AIMessage("Yes.", response_metadata={"model_name": "gpt-5-mini"}))
        'gpt-5-mini'
    """
    metadata = _mapping(message.response_metadata)
    for key in ("model_name", "model", "model_id", "model_version"):
        name = metadata.get(key)
        if isinstance(name, str) and name:
            return _once(name)
    return None


def _reasons(metadata: Mapping[str, Any], *, fold: bool = True) -> list[str]:
    """Every reason given for the end, the parts of nested ones too."""
    details = _mapping(metadata.get("incomplete_details"))
    told = [*(metadata.get(name) for name in _REASONS), details.get("reason")]
    words = [_once(str(getattr(reason, "name", reason))) for reason in told if reason]
    return [word.lower() for word in words] if fold else words


def _refusals(message: AIMessage) -> Iterator[str]:
    content = cast("str | list[Any]", message.content)
    for block in content if isinstance(content, list) else []:
        held = _mapping(block)
        if held.get("type") == "non_standard":
            held = _mapping(held.get("value"))
        if held.get("type") == "refusal":
            yield str(held.get("refusal") or "refusal")
    if refusal := message.additional_kwargs.get("refusal"):
        yield str(refusal)


def _once(word: str) -> str:
    """What merging chunks has repeated, once: `stopstop` is `stop`."""
    repeated = (word + word).find(word, 1)
    return word[:repeated] if repeated > 2 else word


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _count(value: object) -> int:
    return max(0, int(value)) if isinstance(value, int | float) and math.isfinite(value) else 0


def _cost(value: object) -> float | None:
    """A bill that came with the answer, in US dollars: OpenRouter sends a number, Perplexity an object."""
    cost = _mapping(value).get("total_cost") if isinstance(value, Mapping) else value
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    return float(cost) if math.isfinite(cost) and cost >= 0 else None


def _first_count(counts: Mapping[str, Any], names: tuple[str, ...]) -> int:
    return next((_count(counts[name]) for name in names if name in counts), 0)
