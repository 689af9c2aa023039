"""The agent around a call of a tool: its conversation, its other calls, its stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langgraph.config import get_config
from langgraph.prebuilt import ToolRuntime

from langgraph_interleave.agents.gallery import Gallery
from langgraph_interleave.agents.gathering import gather
from langgraph_interleave.artifacts import ArtifactStore

#: The agent's state key that holds the gallery, where the middleware keeps it.
STATE_KEY = "interleave_gallery"

Runtime = ToolRuntime[Any, Any] | None


def forwarder(runtime: Runtime) -> Callable[[Any], None]:
    """Passes a run's events on to the agent's stream: what is streamed inside a tool would be lost there."""
    writer: Any = getattr(runtime, "stream_writer", None)
    call = getattr(runtime, "tool_call_id", None)

    def forward(event: Any) -> None:
        if writer is None:
            return
        ours = isinstance(event, dict) and str(event.get("type", "")).startswith("interleave.")
        writer({**event, "tool_call_id": call} if ours and call else event)

    return forward


def messages_of(runtime: Runtime) -> list[BaseMessage] | None:
    """The conversation; `None` where there is none."""
    messages = _of_state(runtime, "messages")
    return convert_to_messages(messages) if isinstance(messages, list) else None


def thread_of(runtime: Runtime) -> str | None:
    """Id of the thread: of the agent's, else of the graph whose node calls the tool; `None` where there is none.

    Reads the context of the call: ask before going into another thread of the process.
    """
    config: Any = getattr(runtime, "config", None)
    if config is None:
        try:
            config = get_config()
        except RuntimeError:  # called outside any graph
            return None
    thread = config.get("configurable", {}).get("thread_id")
    return None if thread is None else str(thread)


def gallery_of(runtime: Runtime, artifacts: ArtifactStore) -> Gallery:
    """The pictures and documents of the conversation. Writes to the store: in async code, call this in a thread."""
    return gather(messages_of(runtime) or [], Gallery.from_json(_of_state(runtime, STATE_KEY)), artifacts)


def calls_before(runtime: Runtime) -> list[Any]:
    """The calls that the model made in the same breath, before this one: they run at the same time."""
    call = getattr(runtime, "tool_call_id", None)
    for message in reversed(messages_of(runtime) or []):
        if isinstance(message, AIMessage):
            ids = [one["id"] for one in message.tool_calls]
            return list(message.tool_calls[: ids.index(call)]) if call in ids else []
    return []


def _of_state(runtime: Runtime, key: str) -> Any:
    state: Any = getattr(runtime, "state", None)
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
