"""What makes two chat models the same for the ledger: class, name and parameters, without secrets."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, cast

from langchain_core.load import dumpd
from langchain_core.runnables import RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase

from langgraph_interleave.models.wrapping import chat_models

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
#: How a model is called and observed, not what it answers.
_NOT_PART = frozenset({"callbacks", "cache", "max_retries", "metadata", "rate_limiter", "tags", "timeout", "verbose"})


def fingerprint_of(model: object, **others: Any) -> str:
    """A fingerprint of a model as it is asked.

    Args:
        model: A chat model; options bound to it count.
        others: What else the answer depends on; JSON types.

    Returns:
        The model's name and 16 hexadecimal digits. The same for equal models, in every process; for a
        model that cannot describe itself, of its class and name only.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> a, b = FakeListChatModel(responses=["x"]), FakeListChatModel(responses=["x"])
        >>> fingerprint_of(a, role="critic") == fingerprint_of(b, role="critic") != fingerprint_of(a, role="planner")
        True
    """
    said = json.dumps([_identity(model), others], sort_keys=True, default=_plainly)
    name = re.sub(r"[^\w.:/-]+", "_", name_of(model))
    return f"{name}/{hashlib.sha256(said.encode()).hexdigest()[:16]}"


def _identity(model: object) -> Any:
    if isinstance(model, RunnableBindingBase):
        binding = cast("Any", model)
        return [_identity(binding.bound), dict(binding.kwargs)]
    if isinstance(model, RunnableWithFallbacks):
        several = cast("Any", model)
        return [_identity(one) for one in (several.runnable, *several.fallbacks)]
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    told: Mapping[str, Any] = dumpd(model) if hasattr(model, "lc_attributes") else {}
    if told.get("type") != "constructor":
        return [kind, name_of(model)]
    kept = {key: value for key, value in told["kwargs"].items() if key not in _NOT_PART and not _is_secret(value)}
    return [kind, kept]


def _is_secret(value: object) -> bool:
    return isinstance(value, Mapping) and cast("Mapping[str, Any]", value).get("type") == "secret"


def _plainly(value: object) -> str:
    return _ADDRESS.sub("", repr(value))


def innermost(model: object) -> Any:
    """The chat model that is asked first, without what is around it; what is no model, as it is."""
    return next(iter(chat_models(model)), model)


def name_of(model: object) -> str:
    """What people call a chat model.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> name_of(FakeListChatModel(responses=[]))
        'FakeListChatModel'
    """
    model = innermost(model)
    for attribute in ("model_name", "model", "model_id"):
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(model).__name__
