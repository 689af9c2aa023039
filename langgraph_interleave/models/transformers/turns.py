"""LangChain's messages as the turns a chat template takes, with the pictures in them opened."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, SystemMessage

from langgraph_interleave.errors import InvalidRequest
from langgraph_interleave.imaging.color import to_rgb
from langgraph_interleave.imaging.formats import MAX_PIXELS, Unreadable, decode

_DATA_URL = re.compile(r"data:[^,]{0,100};base64,", re.IGNORECASE)
#: Blocks of an answer that are its own affair and no part of the conversation.
_LEFT_OUT = frozenset({"reasoning", "thinking", "redacted_thinking", "reasoning_content"})


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in a message: its digest and its pixels (an RGB picture of PIL)."""

    digest: str
    pixels: Any


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker says: words and pictures in order."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str | Picture, ...]


def turns_of(messages: Sequence[BaseMessage]) -> list[Turn]:
    """Read the messages; what one speaker says in several comes together.

    Raises:
        InvalidRequest: There is something in them that a local model does not take.

    Example:
        >>> turns_of([SystemMessage("Be brief."), HumanMessage("Hi"), HumanMessage("there")])[1]
        Turn(role='user', parts=('Hi', 'there'))
    """
    turns: list[Turn] = []
    for message in messages:
        role, parts = _role(message), tuple(_parts(message))
        if turns and turns[-1].role == role:
            turns[-1] = Turn(role, turns[-1].parts + parts)
        elif parts:
            turns.append(Turn(role, parts))
    if not turns or turns[-1].role == "system":
        raise InvalidRequest("There is nothing to answer.", remedy="End with a human message.")
    return turns


def pictures_of(turns: Sequence[Turn]) -> list[Picture]:
    """The pictures in all turns, in order."""
    return [part for turn in turns for part in turn.parts if isinstance(part, Picture)]


def _role(message: BaseMessage) -> Literal["system", "user", "assistant"]:
    match message:
        case SystemMessage():
            return "system"
        case HumanMessage():
            return "user"
        case AIMessage():
            return "assistant"
        case ChatMessage() if message.role in ("system", "user", "assistant"):
            return cast("Any", message.role)
        case _:
            raise InvalidRequest(
                f"A local model takes no {type(message).__name__}.", remedy="Give system, human and AI messages."
            )


def _parts(message: BaseMessage) -> list[str | Picture]:
    content = cast("str | list[Any]", message.content)
    if isinstance(content, str):
        return [content] if content else []
    parts: list[str | Picture] = []
    for block in content:
        if isinstance(block, str):
            parts.append(block)
            continue
        held = cast("Mapping[str, Any]", block if isinstance(block, Mapping) else {})
        kind = held.get("type")
        if kind in ("text", "output_text"):
            parts.append(str(held.get("text") or ""))
        elif kind in ("image", "image_url"):
            parts.append(_picture(held))
        elif kind not in _LEFT_OUT:
            raise InvalidRequest(
                f"A local model takes no content of the type {str(kind)[:40]!r}.", remedy="Give text and images."
            )
    return [part for part in parts if part != ""]


def _picture(block: Mapping[str, Any]) -> Picture:
    source = block.get("source")
    held = cast("Mapping[str, Any]", source) if isinstance(source, Mapping) else block
    encoded = held.get("base64") or held.get("data")
    if not isinstance(encoded, str):
        inner = held.get("image_url", held.get("url"))
        address = cast("Mapping[str, Any]", inner).get("url") if isinstance(inner, Mapping) else inner
        match = _DATA_URL.match(address) if isinstance(address, str) else None
        if match is None:
            raise InvalidRequest(
                "A local model takes pictures as base64, not by address.", remedy="Put the bytes into the message."
            )
        encoded = cast("str", address)[match.end() :]
    try:
        data = base64.b64decode(encoded, validate=True)
        return Picture(hashlib.sha256(data).hexdigest(), _opened(data))
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest("A picture in a message is not base64.", remedy="Encode it again.") from error
    except Unreadable as error:
        raise InvalidRequest(f"A picture in a message is {error.reason}.", remedy=error.remedy) from error


def _opened(data: bytes) -> Any:
    from PIL import ImageOps

    file, _ = decode(data, MAX_PIXELS)
    upright: Any
    try:
        upright = ImageOps.exif_transpose(file)
    except Exception:  # noqa: BLE001 - EXIF is free-form; a broken one says nothing about the pixels
        upright = file
    return to_rgb(upright)
