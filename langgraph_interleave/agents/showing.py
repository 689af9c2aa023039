"""A conversation as one call of a model is shown it: pictures as bytes where it takes them, else in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage

from langgraph_interleave.agents.gallery import Gallery
from langgraph_interleave.agents.history import legible
from langgraph_interleave.agents.telling import shown_block
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.content import read_request
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.types import SCHEME, ImagePart

#: Longest side of a picture, in pixels: about what providers scale pictures down to themselves.
_SIDE = 2048


def shown_messages(
    messages: Sequence[AnyMessage], gallery: Gallery, artifacts: ArtifactStore, *, humans: bool, tools: bool
) -> list[AnyMessage]:
    """The messages for one call. Nothing of it is stored.

    References to stored pictures become bytes, each with its id before it, or `[picture img_1: name]`. What
    an illustrator said becomes words, because providers refuse pictures in an assistant's message. The last
    message ends with the line that says what there is: the messages before it are the same in every call,
    so that a provider's cache of them holds.

    Args:
        messages: The conversation, which is not changed.
        gallery: Its pictures and documents.
        artifacts: The store. Read from: in async code, call this in a thread.
        humans: Pictures in people's messages are shown.
        tools: Pictures in tool messages are shown.
    """
    shown: list[AnyMessage] = [
        cast("AnyMessage", _shown(message, gallery, artifacts, humans=humans, tools=tools)) for message in messages
    ]
    line = gallery.line()
    if line and shown and isinstance(shown[-1], (HumanMessage, ToolMessage)):
        shown[-1] = _ending_with(shown[-1], f"({line})")
    return shown


def _shown(
    message: BaseMessage, gallery: Gallery, artifacts: ArtifactStore, *, humans: bool, tools: bool
) -> BaseMessage:
    if isinstance(message, AIMessage):
        return legible([message])[0] if _of_an_illustrator(message) else message
    if not isinstance(message.content, list) or not any(_digest(block) for block in message.content):
        return message
    wanted = humans if isinstance(message, HumanMessage) else tools
    content: list[Any] = []
    for block in message.content:
        digest = _digest(block)
        if digest is None:
            content.append(block)
            continue
        name = gallery.name_of(digest)
        picture = _bytes(cast("Mapping[str, Any]", block), artifacts) if wanted else None
        if picture is None:
            content.append({"type": "text", "text": _in_words(cast("Mapping[str, Any]", block), name, gone=wanted)})
        else:
            content += [{"type": "text", "text": f"[{name}]"}, picture] if name else [picture]
    return message.model_copy(update={"content": content})


def _bytes(block: Mapping[str, Any], artifacts: ArtifactStore) -> dict[str, Any] | None:
    try:
        [part] = read_request([block], artifacts).parts
    except (ArtifactMissing, ConfigError):
        return None
    return shown_block(part.image, artifacts, side=_SIDE) if isinstance(part, ImagePart) else None


def _in_words(block: Mapping[str, Any], name: str | None, *, gone: bool) -> str:
    extras: Any = block.get("extras")
    called = (extras.get("name") or extras.get("alt")) if isinstance(extras, Mapping) else None
    words = f"{f'picture {name}' if name else 'picture'}{f': {called}' if called else ''}"
    return f"[{words}{', which is not there any more' if gone else ''}]"


def _of_an_illustrator(message: AIMessage) -> bool:
    """Whether it holds a document of ours: what another model said, reasoning with it, must stay as it is."""
    document: Any = message.response_metadata.get("document")
    if isinstance(document, str) and document.startswith(SCHEME):
        return True
    return isinstance(message.content, list) and any(_digest(block) for block in message.content)


def _digest(block: object) -> str | None:
    """The digest in a reference to a stored picture; `None` for every other block."""
    if not isinstance(block, Mapping):
        return None
    fields = cast("Mapping[str, Any]", block)
    if fields.get("type") not in ("image", "image_url"):
        return None
    url: Any = fields.get("url", fields.get("image_url"))
    url = url.get("url") if isinstance(url, Mapping) else url
    return url.removeprefix(SCHEME) if isinstance(url, str) and url.startswith(SCHEME) else None


def _ending_with(message: HumanMessage | ToolMessage, line: str) -> HumanMessage | ToolMessage:
    if isinstance(message.content, str):
        return message.model_copy(update={"content": f"{message.content}\n\n{line}".lstrip()})
    return message.model_copy(update={"content": [*message.content, {"type": "text", "text": line}]})
