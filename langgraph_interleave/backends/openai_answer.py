"""What the Images API answered: pictures decoded and measured, tokens counted, differences told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph_interleave.errors import BadResponse, NoImage
from langgraph_interleave.imaging.color import has_transparency
from langgraph_interleave.imaging.formats import MAX_PIXELS, decode
from langgraph_interleave.imaging.results import decode_result
from langgraph_interleave.models.faults import error_in_answer
from langgraph_interleave.types import ImageBytes, ImageRequest, Usage


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: at least one picture as it was told, what it used, and the prompts drawn in place of ours.

    Each picture is base64 or a data URL (`False`), or an address (`True`).
    """

    told: tuple[tuple[str, bool], ...]
    usage: Usage
    revised: tuple[str, ...] = ()


def read_answer(response: object, *, what: str) -> Answer:
    """Read what the SDK returned. That is not always an answer: HTML comes as a `str`, an error as an object.

    Args:
        response: From `images.generate` or `images.edit`, or the body as JSON.
        what: Who was called, for messages.

    Raises:
        CallError: One of its subclasses, by cause, with what was used where that is told.
    """
    data, failure = _field(response, "data"), _field(response, "error")
    if data is None and not failure and not _has(response, "data"):
        kind = "a web page" if isinstance(response, str) and "<" in response[:200] else "something else"
        if not isinstance(response, Mapping) or response:
            raise BadResponse(
                f"{what} answered with {kind}, not as an image API.",
                remedy="Check base_url: most end in /v1.",
                code="unreadable",
            )
    if failure:
        raise error_in_answer(failure, role="backend", what=what)
    items: list[Any] = [item for item in data if item is not None] if isinstance(data, list) else []
    usage = usage_of(_field(response, "usage"), images=len(items))
    if not items:
        raise NoImage(
            f"{what} answered without a picture.", remedy="Put the prompt in other words.", code="empty",
            detail={"text": ""}, usage=usage,
        )  # fmt: skip
    revised = dict.fromkeys(str(text) for item in items if (text := _field(item, "revised_prompt")))
    return Answer(tuple(_told(item) for item in items), usage, tuple(revised))


async def pictures_of(
    answer: Answer,
    *,
    what: str,
    base_url: str,
    headers: Mapping[str, str],
    seeds: tuple[int | None, ...],
    most: int,
    timeout_s: float,
) -> tuple[tuple[ImageBytes, ...], tuple[str, ...]]:
    """Decode, verify and measure the pictures; those behind addresses are fetched at once.

    Args:
        answer: What came.
        what: Who answered, for messages.
        base_url: The configured address.
        headers: Credentials for it, and for nothing else.
        seeds: The seed of each picture.
        most: Pictures asked for: no more are looked at.
        timeout_s: To fetch one, in seconds.

    Returns:
        The pictures that can be used, at least one, and a warning about each that cannot.

    Raises:
        CallError: None can be used: why the first cannot.
    """
    images: list[ImageBytes] = []
    errors: list[BadResponse] = []
    for index, (text, is_address) in enumerate(answer.told):
        if len(images) == most:
            break
        try:
            images.append(
                await decode_result(
                    text, what=what, base_url=base_url, headers=headers, is_address=is_address,
                    seed=seeds[index] if index < len(seeds) else None, timeout_s=timeout_s,
                )
            )  # fmt: skip
        except BadResponse as error:
            errors.append(error)
    if not images:
        raise errors[0]
    return tuple(images), tuple(f"A picture could not be used. {error.message}" for error in errors)


def usage_of(told: object, *, images: int) -> Usage:
    """Tokens as the API tells them; 0 for what it does not tell. The cost is not known here."""
    given, drawn = _field(told, "input_tokens_details"), _field(told, "output_tokens_details")
    return Usage(
        input_tokens=_count(told, "input_tokens"),
        output_tokens=_count(told, "output_tokens"),
        cached_tokens=_count(given, "cached_tokens"),
        image_input_tokens=_count(given, "image_tokens"),
        image_output_tokens=_count(drawn, "image_tokens"),
        images=images,
    )


def differences(
    images: tuple[ImageBytes, ...],
    answer: Answer,
    request: ImageRequest,
    *,
    size: tuple[int, int],
    prompt: str,
    model: str,
) -> tuple[str, ...]:
    """What was not done as asked, in words: another size, fewer pictures, another prompt, no transparency.

    Args:
        images: What was drawn.
        answer: What came.
        request: What was asked, with the prompt as it was before anything was taken out or added.
        size: What was sent, in pixels.
        prompt: What was sent.
        model: Whom to name.
    """
    said: list[str] = []
    drawn = (images[0].width, images[0].height)
    if (request.width or drawn[0], request.height or drawn[1]) != drawn:
        asked = f"{request.width or 'any'}x{request.height or 'any'}"
        sent = "" if drawn == size else f" (sent as {size[0]}x{size[1]})"
        said.append(f"{asked} was asked for{sent}; {model} drew {drawn[0]}x{drawn[1]}.")
    if len(answer.told) < request.n:
        said.append(f"{request.n} pictures were asked for; {model} drew {len(answer.told)}.")
    if len(answer.told) > request.n:
        kept = "the first was" if request.n == 1 else f"the first {request.n} were"
        said.append(f"{model} drew {len(answer.told)} pictures; {kept} kept.")
    if request.transparent and not all(_is_transparent(image) for image in images):
        said.append(f"A transparent ground was asked for; {model} drew on an opaque one.")
    said += [f"{model} drew another prompt: {text}" for text in answer.revised if text not in (request.prompt, prompt)]
    return tuple(said)


def _told(item: object) -> tuple[str, bool]:
    text = _field(item, "b64_json")
    if isinstance(text, str) and text:
        return text, False
    address = _field(item, "url")
    return (address, True) if isinstance(address, str) and address else ("!", False)


def _is_transparent(image: ImageBytes) -> bool:
    file, _ = decode(image.data, max(MAX_PIXELS, image.width * image.height))
    return has_transparency(file) and file.convert("RGBA").getchannel("A").getextrema()[0] != 255


def _has(thing: object, name: str) -> bool:
    return name in thing if isinstance(thing, Mapping) else hasattr(thing, name)


def _field(thing: object, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _count(told: object, name: str) -> int:
    value = _field(told, name)
    return value if isinstance(value, int) and value > 0 else 0
