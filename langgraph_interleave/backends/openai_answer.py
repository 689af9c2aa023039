"""What the Images API answered: pictures decoded and measured, tokens counted, differences told."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any

from langgraph_interleave.errors import BadResponse, NoImage
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.models.faults import error_in_answer
from langgraph_interleave.types import ImageBytes, ImageRequest, Usage


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: at least one picture, what it used, and the prompts that were drawn in place of ours."""

    images: tuple[ImageBytes, ...]
    usage: Usage
    revised: tuple[str, ...] = ()


def read_answer(response: object, *, what: str) -> Answer:
    """Read what the SDK returned. That is not always an answer: HTML comes as a `str`, an error as an object.

    Args:
        response: From `images.generate` or `images.edit`.
        what: Who was called, for messages.

    Raises:
        CallError: One of its subclasses, by cause, with what was used where that is told.
    """
    if not hasattr(response, "data") and not hasattr(response, "error"):
        kind = "a web page" if isinstance(response, str) and "<" in response[:200] else "something else"
        raise BadResponse(
            f"{what} answered with {kind}, not as an image API.",
            remedy="Check base_url: most end in /v1.",
            code="unreadable",
        )
    failure: Any = getattr(response, "error", None)
    if failure:
        raise error_in_answer(failure, role="backend", what=what)
    told: Any = getattr(response, "data", None)
    data: list[Any] = [item for item in told if item is not None] if isinstance(told, list) else []
    usage = usage_of(getattr(response, "usage", None), images=len(data))
    if not data:
        raise NoImage(
            f"{what} answered without a picture.", remedy="Put the prompt in other words.", code="empty",
            detail={"text": ""}, usage=usage,
        )  # fmt: skip
    try:
        images = tuple(_picture(item, what) for item in data)
    except BadResponse as error:
        error.usage = usage
        raise
    revised = dict.fromkeys(str(text) for item in data if (text := getattr(item, "revised_prompt", None)))
    return Answer(images, usage, tuple(revised))


def usage_of(told: object, *, images: int) -> Usage:
    """Tokens as the API tells them; 0 for what it does not tell. The cost is not known here."""
    given, drawn = getattr(told, "input_tokens_details", None), getattr(told, "output_tokens_details", None)
    return Usage(
        input_tokens=_count(told, "input_tokens"),
        output_tokens=_count(told, "output_tokens"),
        cached_tokens=_count(given, "cached_tokens"),
        image_input_tokens=_count(given, "image_tokens"),
        image_output_tokens=_count(drawn, "image_tokens"),
        images=images,
    )


def differences(answer: Answer, request: ImageRequest, size: tuple[int, int], *, model: str) -> tuple[str, ...]:
    """What was not done as asked, in words: another size, fewer pictures, another prompt.

    Args:
        answer: What came.
        request: What was asked.
        size: What was sent, in pixels.
        model: Whom to name.
    """
    said: list[str] = []
    drawn = (answer.images[0].width, answer.images[0].height)
    if (request.width or drawn[0], request.height or drawn[1]) != drawn:
        asked = f"{request.width or 'any'}x{request.height or 'any'}"
        sent = "" if drawn == size else f" (sent as {size[0]}x{size[1]})"
        said.append(f"{asked} was asked for{sent}; {model} drew {drawn[0]}x{drawn[1]}.")
    if len(answer.images) < request.n:
        said.append(f"{request.n} pictures were asked for; {model} drew {len(answer.images)}.")
    said += [f"{model} drew another prompt: {text}" for text in answer.revised if text != request.prompt]
    return tuple(said)


def _picture(item: object, what: str) -> ImageBytes:
    text: str = getattr(item, "b64_json", None) or getattr(item, "url", None) or ""
    if text.startswith(("http://", "https://", "/v1/")):
        raise BadResponse(
            f"{what} answered with the address of a picture, not with the picture.",
            remedy='Set response_format="b64_json", if the server takes it.', code="url",
        )  # fmt: skip
    try:
        data = base64.b64decode(re.sub(r"^data:[^,]{0,100},", "", text), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadResponse(
            f"The picture in the answer of {what} is not base64.", remedy="Draw the step again.", code="base64"
        ) from error
    return verify_image(data, what=f"The answer of {what}")


def _count(told: object, name: str) -> int:
    value = getattr(told, name, None)
    return value if isinstance(value, int) and value > 0 else 0
