"""What a chat model that draws has answered: the picture among the drafts, the words, or why there is none."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import AIMessage

from langgraph_interleave.errors import BadResponse, CallError, ContentBlocked, InterleaveError, NoImage
from langgraph_interleave.imaging.provenance import read as provenance_of
from langgraph_interleave.imaging.results import from_base64, read_result
from langgraph_interleave.models.faults import error_in_answer
from langgraph_interleave.models.refusal import brief
from langgraph_interleave.models.usage import was_blocked, was_truncated
from langgraph_interleave.types import ImageBytes, Usage

_DATA_URL = re.compile(r"\s*data:[\w/+.;=-]{0,200};base64,", re.IGNORECASE)
#: Google's reasons for an end without a picture that mean moderation; it has others that do not.
_BLOCKED = frozenset({"image_prohibited_content", "image_recitation", "image_safety"})
_NOTHING = frozenset({"image_other", "no_image"})
#: A refusal in plain words: that it cannot, and a rule it names.
_REFUSING = re.compile(
    r"(?i)\b(?:can(?:'|’)?t|cannot|can not|unable to|won(?:'|’)?t|not able to|must decline)\b.{0,160}?"
    r"\b(?:polic(?:y|ies)|guidelines?|safety|inappropriate|explicit|not allowed|prohibited|violat\w+|copyright\w*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture as a message holds it: encoded, or only where it is.

    Attributes:
        encoded: Base64, without a head.
        address: Where it is, when it is not there itself.
        draft: Made while thinking.
        revised: The prompt that was drawn in place of ours.
    """

    encoded: str | None = None
    address: str | None = None
    draft: bool = False
    revised: str | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """An answer with a picture: the last that is no draft, the words beside it, the prompt that was drawn.

    `signed` says that it carries its provider's Content Credentials.
    """

    image: ImageBytes
    text: str | None = None
    revised: str | None = None
    signed: bool = False


def read_drawn(message: AIMessage, *, what: str, usage: Usage) -> Drawn:
    """Read an answer.

    Args:
        message: The whole message.
        what: Who was asked, for messages.
        usage: What the answer used; errors carry it.

    Raises:
        ContentBlocked: It was refused, by moderation or in words.
        NoImage: There are only words; they are in the detail.
        BadResponse: The picture is broken, or only its address was given.
        CallError: The tool that draws failed.
    """
    pictures = list(pictures_in(message))
    text = words_of(message)
    finished = [picture for picture in pictures if not picture.draft]
    encoded = [picture for picture in finished or pictures if picture.encoded]
    if encoded:
        chosen = encoded[-1]
        try:
            image = read_result(from_base64(chosen.encoded or "", what=what), what=what)
        except BadResponse as error:
            error.usage = usage
            raise
        return Drawn(image, text or None, chosen.revised, provenance_of(image.data).signed)
    raise _without_picture(message, pictures, text, what, usage)


def pictures_in(message: AIMessage) -> Iterator[Shown]:
    """Every picture of a message, in order; each form that providers and LangChain give them."""
    found = [shown for block in _blocks(message) if (shown := _shown(block)) is not None]
    if not found:
        raw = cast("str | list[Any]", message.content)
        found = [shown for block in (raw if isinstance(raw, list) else []) if (shown := _shown(_mapping(block)))]
    if not found:
        beside = message.additional_kwargs
        others = [*_list(beside.get("images")), *_list(beside.get("tool_outputs"))]
        found = [shown for block in others if (shown := _shown(_mapping(block)))]
    yield from found


def words_of(message: AIMessage) -> str:
    """The words of an answer, without reasoning."""
    content = cast("str | list[Any]", message.content)
    if isinstance(content, str):
        return content.strip()
    texts = [
        block if isinstance(block, str) else str(_mapping(block).get("text") or "")
        for block in content
        if isinstance(block, str) or (_mapping(block).get("type") == "text" and not _is_draft(_mapping(block)))
    ]
    return "\n".join(text.strip() for text in texts if text.strip())


def _without_picture(message: AIMessage, pictures: list[Shown], text: str, what: str, usage: Usage) -> InterleaveError:
    reason = _finish(message)
    if (failed := _failed_call(message)) is not None:
        error = error_in_answer(failed, role="backend", what=what)
        if isinstance(error, CallError):
            error.usage = usage
        return error
    blocked = was_blocked(message) or (reason if reason.lower() in _BLOCKED else None)
    if blocked is not None:
        asked = _block_reason(message)
        blocked = asked or blocked
        stage = "input" if asked else "output"
        return _blocked(f"{what} refused to draw: {brief(blocked).rstrip('.')}.", [blocked], text, usage, stage=stage)
    if any(picture.address for picture in pictures):
        return BadResponse(
            f"{what} answered with the address of a picture, not with the picture.",
            remedy="Have the model or its server answer with base64: addresses expire, and are not fetched.",
            code="url", usage=usage,
        )  # fmt: skip
    if text and _REFUSING.search(text):
        return _blocked(f"{what} refused to draw: {brief(text)}", [], text, usage)
    why = (
        f" ({reason})" if reason.lower() in _NOTHING else " before its tokens ran out" if was_truncated(message) else ""
    )
    said = f": {brief(text)}" if text else "."
    return NoImage(
        f"{what} answered without a picture{why}{said}",
        remedy="Say plainly that a picture is wanted; if it never draws, the model or its output settings cannot.",
        code=reason.lower() or "words", detail={"text": text}, usage=usage,
    )  # fmt: skip


def _blocked(message: str, categories: list[str], text: str, usage: Usage, *, stage: str = "output") -> ContentBlocked:
    detail = {"stage": stage, "categories": categories, "said": text}
    return ContentBlocked(message, remedy="Put the prompt in other words.", code="refusal", detail=detail, usage=usage)


def _blocks(message: AIMessage) -> list[Mapping[str, Any]]:
    try:
        return [_mapping(block) for block in message.content_blocks]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return []  # a translator that does not know the form; the raw content is read then


def _shown(block: Mapping[str, Any]) -> Shown | None:
    """One block as a picture, if it is one."""
    kind = block.get("type")
    extras = _mapping(block.get("extras"))
    revised = extras.get("revised_prompt") or block.get("revised_prompt")
    about: dict[str, Any] = {"draft": _is_draft(block), "revised": revised if isinstance(revised, str) else None}
    if kind == "non_standard":
        return _shown(_mapping(block.get("value")))
    if kind == "image_generation_call":
        result = block.get("result")
        return Shown(encoded=result, **about) if isinstance(result, str) and result else None
    if kind in ("image", "image_url", "input_image", "output_image", "media", "file"):
        mime = str(block.get("mime_type") or block.get("media_type") or "image/")
        if kind in ("media", "file") and not mime.startswith("image/"):
            return None
        source = _mapping(block.get("source")) or block
        for value in (block.get("image_url"), source.get("base64"), source.get("data"), source.get("url")):
            inner = _mapping(value).get("url") if isinstance(value, Mapping) else value
            if isinstance(inner, bytes) and inner:
                return Shown(encoded=base64.b64encode(inner).decode(), **about)
            if isinstance(inner, str) and inner:
                return _placed(inner, about, addressed=value is source.get("url") or kind == "image_url")
        if isinstance(number := source.get("file_id"), str) and number:
            return Shown(address=number, **about)
    if kind is None and (inline := _mapping(block.get("inline_data") or block.get("inlineData"))):
        data = inline.get("data")
        return Shown(encoded=data, **about) if isinstance(data, str) and data else None
    return None


def _placed(text: str, about: dict[str, Any], *, addressed: bool) -> Shown:
    head = _DATA_URL.match(text)
    if head is not None:
        return Shown(encoded=text[head.end() :], **about)
    if addressed or "://" in text[:16]:
        return Shown(address=text, **about)
    return Shown(encoded=text, **about)


def _is_draft(block: Mapping[str, Any]) -> bool:
    return block.get("thought") is True or _mapping(block.get("extras")).get("thought") is True


def _failed_call(message: AIMessage) -> Mapping[str, Any] | None:
    """The error of a tool call that was to draw."""
    beside = _list(message.additional_kwargs.get("tool_outputs"))
    raw = cast("str | list[Any]", message.content)
    for given in (*_blocks(message), *(raw if isinstance(raw, list) else []), *beside):
        block = _mapping(given)
        block = _mapping(block.get("value")) if block.get("type") == "non_standard" else block
        if block.get("type") == "image_generation_call" and not block.get("result"):
            error = block.get("error")
            if isinstance(error, Mapping) and error:
                return cast("Mapping[str, Any]", error)
            if block.get("status") in ("failed", "incomplete"):
                return {"message": f"The tool that draws ended as {block.get('status')}.", "code": "server_error"}
    return None


def _block_reason(message: AIMessage) -> str | None:
    for given in (*_blocks(message), *_list(message.content)):
        block = _mapping(given)
        block = _mapping(block.get("value")) if block.get("type") == "non_standard" else block
        reason = _mapping(block.get("extras")).get("block_reason")
        if block.get("type") == "refusal" and reason:
            return str(getattr(reason, "name", reason))
    return None


def _finish(message: AIMessage) -> str:
    reason = message.response_metadata.get("finish_reason")
    return str(getattr(reason, "name", reason)) if reason else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
