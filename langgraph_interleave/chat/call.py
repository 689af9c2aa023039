"""One call of the chat model: what the graph is given, and the graph it may be called in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManager,
    AsyncCallbackManagerForLLMRun,
    BaseCallbackManager,
    BaseRunManager,
    CallbackManager,
)
from langchain_core.messages import BaseMessage
from langgraph.config import get_config
from langgraph.runtime import get_runtime

from langgraph_interleave.chat.conversation import read_conversation
from langgraph_interleave.context import InterleaveContext, context_of
from langgraph_interleave.errors import ConfigError

#: What a call may be given besides messages; `stream` is LangChain's own switch.
_PER_CALL = frozenset({"context", "stream"})


def graph_call(
    messages: Sequence[BaseMessage],
    extra: Mapping[str, Any],
    *,
    stop: Sequence[str] | None,
    context: InterleaveContext | None,
    run: BaseRunManager | None,
) -> dict[str, Any]:
    """The arguments of the graph's stream.

    Args:
        messages: The conversation.
        extra: What else the model was called with.
        stop: Stop words, which are refused.
        context: The model's own per-run values. One call's own go before them, those of the
            surrounding graph after them.
        run: The call in a trace, where it is known.

    Raises:
        ConfigError: Nobody asks for anything, or the call wants what has no meaning here.
    """
    unknown = [*(["stop"] if stop else []), *sorted(set(extra) - _PER_CALL)]
    if unknown:
        raise ConfigError(
            f"ChatInterleave cannot be called with {', '.join(map(repr, unknown))}.",
            remedy="A call takes messages and context=InterleaveContext(…).",
        )
    asked = read_conversation(messages)
    values = extra.get("context") or context or _surrounding()
    if values is not None and not isinstance(values, InterleaveContext):
        values = InterleaveContext.model_validate(values)
    if asked.style and values is None:
        # What the graph would read from the surrounding config itself, were it not for the look.
        values = context_of(_configurable())
    if asked.style and values is not None and values.style is None:
        values = values.model_copy(update={"style": asked.style})
    options: dict[str, Any] = {
        "input": {"request": asked.request},
        "stream_mode": ["custom", "updates", "values"],
        "version": "v2",
        "subgraphs": True,
    }
    if values is not None:
        options["context"] = values
    if run is not None:
        options["config"] = {"callbacks": _children_of(run)}
    return options


def forwarder() -> Callable[[Any], None]:
    """Passes a run's events on to the graph this is called in: what is streamed here would be lost there."""
    writer: Any = getattr(_runtime(), "stream_writer", None)

    def forward(part: Any) -> None:
        if writer is not None and part["type"] == "custom":
            writer(part["data"])

    return forward


def _runtime() -> Any:
    """The runtime of the graph this is called in; `None` outside."""
    try:
        return get_runtime()
    except RuntimeError:
        return None


def _configurable() -> Mapping[str, Any]:
    try:
        return get_config().get("configurable") or {}
    except RuntimeError:
        return {}


def _surrounding() -> InterleaveContext | None:
    """The context of the graph this is called in, where it is one of ours."""
    context: Any = getattr(_runtime(), "context", None)
    return context if isinstance(context, InterleaveContext) else None


def _children_of(run: BaseRunManager) -> BaseCallbackManager:
    """Shows the run's own nodes and calls below the call of the chat model in a trace."""
    kind = AsyncCallbackManager if isinstance(run, AsyncCallbackManagerForLLMRun) else CallbackManager
    return kind(
        handlers=run.inheritable_handlers,
        inheritable_handlers=run.inheritable_handlers,
        parent_run_id=run.run_id,
        tags=run.inheritable_tags,
        inheritable_tags=run.inheritable_tags,
        metadata=run.inheritable_metadata,
        inheritable_metadata=run.inheritable_metadata,
    )
