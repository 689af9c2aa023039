"""A conversation with documents in it, for models that read only words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, MessageLikeRepresentation, convert_to_messages

from langgraph_interleave.types import SCHEME


def legible(messages: Sequence[MessageLikeRepresentation]) -> list[BaseMessage]:
    r"""What to show a language model of a conversation in which an illustrator answered.

    Providers refuse pictures in an assistant's message, `artifact://` addresses, and reasoning that
    is not their own. So in AI messages pictures become `[picture: what it shows]` and reasoning is
    left out; in human messages references into a store become `[picture: name]`. Everything else,
    tool calls among it, is as it was. Use it where the other models of a team are called:

    ```
    create_supervisor([agent], model=…, pre_model_hook=lambda state: {"llm_input_messages": legible(state["messages"])})
    ```

    Args:
        messages: The conversation, in any form LangChain takes. It is not changed.

    Returns:
        The same messages, where nothing was to do; else copies.

    Example:
        >>> picture = {"type": "image", "url": "artifact://0", "extras": {"alt": "A hole."}}
        >>> legible([AIMessage([{"type": "text", "text": "Dig."}, picture])])[0].content
        'Dig.\n\n[picture: A hole.]'
    """
    return [_legible(message) for message in convert_to_messages(messages)]


def _legible(message: BaseMessage) -> BaseMessage:
    if not isinstance(message.content, list):
        return message
    parts: list[Any] = message.content
    if isinstance(message, AIMessage):
        if not any(_type(part) in ("image", "reasoning") for part in parts):
            return message
        return message.model_copy(update={"content": _words(parts)})
    shown = [{"type": "text", "text": _mention(part, "name")} if _is_stored(part) else part for part in parts]
    return message if shown == parts else message.model_copy(update={"content": shown})


def _words(parts: Sequence[Any]) -> str:
    said = [
        part
        if isinstance(part, str)
        else str(part.get("text", ""))
        if _type(part) == "text"
        else _mention(part, "alt")
        if _type(part) == "image"
        else ""
        for part in parts
    ]
    return "\n\n".join(filter(None, (words.strip() for words in said)))


def _mention(part: Mapping[str, Any], key: str) -> str:
    extras: Any = part.get("extras")
    known = extras.get(key) if isinstance(extras, Mapping) else None
    return f"[picture: {known}]" if known else "[picture]"


def _is_stored(part: object) -> bool:
    if _type(part) not in ("image", "image_url"):
        return False
    block = cast("Mapping[str, Any]", part)
    url = block.get("url", block.get("image_url"))
    url = url.get("url") if isinstance(url, Mapping) else url
    return isinstance(url, str) and url.startswith(SCHEME)


def _type(part: object) -> str:
    return str(cast("Mapping[str, Any]", part).get("type")) if isinstance(part, Mapping) else ""
