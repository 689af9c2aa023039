"""From a conversation to a request: whose words count, and where the bytes of its pictures go.

The request is the last human message, together with human messages directly before it (a picture
and its words often come as two); its parts keep their order. System messages are the look and the
house rules all pictures share. Whatever was said before, and what other agents said after, is not
part of the request: each turn makes a document of its own.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast
from urllib.parse import unquote_to_bytes

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, SystemMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging import image_part

_IMAGE_TYPES = frozenset({"image", "image_url", "input_image"})


class Asked(NamedTuple):
    """What a conversation asks for: content blocks in the user's order, and the look from system messages."""

    request: list[dict[str, Any]]
    style: str | None


def as_messages(given: object) -> list[BaseMessage]:
    """Whatever a chat model may be called with, as messages.

    Raises:
        ConfigError: It is none of that.
    """
    if isinstance(given, PromptValue):
        return given.to_messages()
    if isinstance(given, str):
        return [HumanMessage(given)]
    if isinstance(given, Sequence):
        return convert_to_messages(cast("Sequence[Any]", given))
    raise ConfigError(
        f"A chat model is called with messages, not with a {type(given).__name__}.",
        remedy='Pass a string, a list of messages, or [{"role": "user", "content": …}].',
    )


def read_conversation(messages: Sequence[BaseMessage]) -> Asked:
    """Find out what is asked for.

    Raises:
        ConfigError: Nobody asks for anything.

    Example:
        >>> read_conversation([SystemMessage("Thick outlines."), HumanMessage("How to plant a bean")])
        Asked(request=[{'type': 'text', 'text': 'How to plant a bean'}], style='Thick outlines.')
    """
    asking = [messages[index] for index in sorted(_asking(messages))]
    if not asking:
        raise ConfigError(
            "There is no human message in this conversation.", remedy="Say what the sequence should show."
        )
    rules = "\n".join(message.text.strip() for message in messages if isinstance(message, SystemMessage)).strip()
    return Asked([part for message in asking for part in _parts(message)], rules or None)


def _asking(messages: Sequence[BaseMessage]) -> set[int]:
    """Where the messages are that make up the request."""
    found: set[int] = set()
    for index in reversed(range(len(messages))):
        if isinstance(messages[index], HumanMessage):
            found.add(index)
        elif found:
            break
    return found


def _parts(message: BaseMessage) -> list[dict[str, Any]]:
    content: list[Any] = message.content if isinstance(message.content, list) else [message.content]
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]


# --- pictures ---------------------------------------------------------------------------------------


def holds_bytes(messages: Sequence[BaseMessage]) -> bool:
    """Whether any message carries a picture's bytes."""
    return any(_payload(part) is not None for message in messages for part in _parts(message))


def keep_pictures(messages: Sequence[BaseMessage], artifacts: ArtifactStore) -> list[BaseMessage]:
    """Put the pictures of the request into the store; of the rest of the conversation only say that there was one.

    Args:
        messages: The conversation. Messages without bytes come back as the same objects.
        artifacts: Where to. Written to: in async code, call this in a thread.

    Returns:
        The conversation without any bytes of pictures.

    Raises:
        ConfigError: A picture cannot be read.
    """
    asking = _asking(messages)
    return [
        with_references(message, artifacts) if index in asking else _without_bytes(message)
        for index, message in enumerate(messages)
    ]


def with_references(message: BaseMessage, artifacts: ArtifactStore) -> BaseMessage:
    """A message whose pictures are in the store; the same object when it holds no bytes.

    Base64 blocks and data: URLs, in the forms of LangChain, OpenAI and Anthropic, become references.

    Raises:
        ConfigError: A picture cannot be read.
    """
    return _replaced(message, lambda part, payload: image_part(_decoded(payload), artifacts, name=_name(part)))


def _without_bytes(message: BaseMessage) -> BaseMessage:
    return _replaced(message, lambda _part, _payload: {"type": "text", "text": "[picture]"})


def _replaced(message: BaseMessage, replace: Any) -> BaseMessage:
    if not isinstance(message.content, list) or not holds_bytes([message]):
        return message
    content: list[Any] = []
    for part in message.content:
        payload = _payload(part)
        content.append(part if payload is None else replace(part, payload))
    return message.model_copy(update={"content": content})


def _payload(part: object) -> str | bytes | None:
    """The bytes, the base64 text, or the data: URL in a block; `None` when it holds none."""
    if not isinstance(part, Mapping):
        return None
    block = cast("Mapping[str, Any]", part)
    if block.get("type") not in _IMAGE_TYPES:
        return None
    source = block.get("source")
    inner = cast("Mapping[str, Any]", source) if isinstance(source, Mapping) else block
    for key in ("base64", "data"):
        if isinstance(inner.get(key), (str, bytes)):
            return inner[key]
    url = inner.get("url", inner.get("image_url"))
    if isinstance(url, Mapping):
        url = cast("Mapping[str, Any]", url).get("url")
    return url if isinstance(url, str) and url[:5].lower() == "data:" else None


def _name(part: Mapping[str, Any]) -> str | None:
    extras = part.get("extras")
    for holder in (part, extras if isinstance(extras, Mapping) else {}):
        for key in ("name", "filename"):
            if isinstance(holder.get(key), str):
                return holder[key]
    return None


def _decoded(payload: str | bytes) -> bytes:
    if isinstance(payload, bytes):
        return payload
    head, comma, body = payload.partition(",") if payload[:5].lower() == "data:" else ("", "", payload)
    if comma and not head.lower().endswith(";base64"):
        return unquote_to_bytes(body)
    try:
        return base64.b64decode("".join(body.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ConfigError(
            f"A picture in the message is not valid base64: {error}.",
            remedy="Encode the whole file, or store it first: image_part(path_or_bytes, artifacts).",
        ) from error


def stored_messages(messages: Sequence[AnyMessage], artifacts: ArtifactStore) -> list[BaseMessage]:
    """The human messages that held bytes, as they are with references instead; the others are left out."""
    humans = [message for message in messages if isinstance(message, HumanMessage)]
    return [with_references(message, artifacts) for message in humans if holds_bytes([message])]
