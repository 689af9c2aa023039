"""What is around a chat model: options bound to it, others that stand in for it, choices left open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding, RunnableSequence, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.runnables.retry import RunnableRetry

from langgraph_interleave.errors import ConfigError


def settled(model: Any, config: Any = None) -> Any:
    """A model with nothing left open: what could be configured is, and retries of its own are taken off.

    Args:
        model: A chat model, or one with options bound, retries, fallbacks or configurable parts.
        config: What configures it.

    Raises:
        ConfigError: It is a chain: what is said to the model, and how it is read, is not its business here.
    """
    match model:
        case DynamicRunnable():
            chosen, rest = cast("Any", model).prepare(config)
            return settled(chosen, rest)
        case RunnableRetry():
            return settled(cast("Any", model).bound, config)
        case RunnableBindingBase():
            held = cast("Any", model)
            return held.model_copy(update={"bound": settled(held.bound, held.config)})
        case RunnableWithFallbacks():
            held = cast("Any", model)
            others = [settled(other) for other in held.fallbacks]
            return held.model_copy(update={"runnable": settled(held.runnable), "fallbacks": others})
        case RunnableSequence():
            raise ConfigError(
                "A chain was given where a chat model is wanted.",
                remedy="Give the model alone, without prompt, parser or with_structured_output.",
            )
        case _:
            return model


def chat_models(model: object) -> list[Any]:
    """The chat models inside: the one that is asked first, then those that stand in for it.

    Example:
        >>> chat_models(object())
        []
    """
    match model:
        case BaseChatModel():
            return [model]
        case RunnableBindingBase():
            return chat_models(cast("Any", model).bound)
        case DynamicRunnable():
            return chat_models(cast("Any", model).default)
        case RunnableWithFallbacks():
            held = cast("Any", model)
            return [inner for part in (held.runnable, *held.fallbacks) for inner in chat_models(part)]
        case _:
            return []


def mapped(model: Any, change: Callable[[Any], Any]) -> Any:
    """Put something in the place of every chat model inside; what is around them stays.

    An option that the new one has bound itself is taken off what is around it, where it would win.
    """
    match model:
        case RunnableBindingBase():
            held = cast("Any", model)
            bound: Runnable[Any, Any] = mapped(held.bound, change)
            ours = bound.kwargs if isinstance(bound, RunnableBinding) else {}
            kwargs = {name: value for name, value in held.kwargs.items() if name not in ours}
            return held.model_copy(update={"bound": bound, "kwargs": kwargs})
        case RunnableWithFallbacks():
            held = cast("Any", model)
            others = [mapped(other, change) for other in held.fallbacks]
            return held.model_copy(update={"runnable": mapped(held.runnable, change), "fallbacks": others})
        case _:
            return change(model)
