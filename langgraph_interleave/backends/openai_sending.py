"""One request to the Images API, laid out for the server it goes to. Nothing here talks to anybody."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from langgraph_interleave.backends.openai_options import Settings
from langgraph_interleave.backends.openai_sizes import is_standard, snapped, wanted_size
from langgraph_interleave.backends.prompts import Fitted, fit_prompt, neutralised
from langgraph_interleave.errors import InvalidRequest
from langgraph_interleave.imaging.color import has_transparency
from langgraph_interleave.imaging.formats import MAX_PIXELS, Unreadable, decode
from langgraph_interleave.types import ImageBytes, ImageRequest

MAX_PROMPT = 32_000
_MAX_FILE, _MAX_MASK = 50 * 1024 * 1024, 4 * 1024 * 1024
_EXTENSION = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}
_QUALITY = {"draft": "low", "standard": "medium", "high": "high"}
#: Fields some servers demand and others refuse: sent again without, once, where one is refused.
OPTIONAL = ("response_format", "stream", "partial_images", "seed", "negative_prompt")


@dataclass(frozen=True, slots=True)
class Sending:
    """One request.

    Attributes:
        edits: It goes to `/images/edits`, else to `/images/generations`.
        options: Arguments of the SDK's method.
        size: Pixels asked for.
        seed: The seed the server is told, `None` where it is told none.
        said: What is not done as asked.
    """

    edits: bool
    options: dict[str, Any]
    size: tuple[int, int]
    seed: int | None
    said: tuple[str, ...]

    @property
    def stream(self) -> bool:
        """Whether an answer in pieces is asked for."""
        return bool(self.options.get("stream"))

    @property
    def fields(self) -> frozenset[str]:
        """Names of the optional fields in it."""
        extra = self.options.get("extra_body", {})
        return frozenset(name for name in OPTIONAL if name in self.options or name in extra)


def lay_out(
    request: ImageRequest, settings: Settings, *, dropped: Collection[str] = (), demanded: bool = False, stream: bool
) -> Sending:
    """Lay a request out for a server.

    Args:
        request: What is wanted; checked before.
        settings: What goes with every request, and what the server takes.
        dropped: Optional fields this server has refused.
        demanded: This server has asked for `response_format`.
        stream: Whether anybody looks at previews.

    Raises:
        InvalidRequest: The prompt cannot be shortened to what is read.
    """
    profile, said = settings.profile, list[str]()
    options: dict[str, Any] = {"model": settings.model, "n": request.n, **settings.both}
    extra: dict[str, Any] = {}
    size = snapped(
        *wanted_size(request), standard=is_standard(settings.model), multiple=profile.size_multiple,
        most=settings.max_pixels,
    )  # fmt: skip
    options["size"] = f"{size[0]}x{size[1]}"
    if profile.response_format or demanded:
        options.setdefault("response_format", "b64_json")
    prompt = _taken(_prompt(request, settings), said)
    if request.negative_prompt:
        prompt = _negative(request.negative_prompt, prompt, settings, dropped, extra, said)
    _quality(request, settings, options, said)
    _ground(request, settings, options, said)
    seed = request.seed if profile.seed != "none" and "seed" not in dropped else None
    if seed is not None:
        extra["seed"] = seed
    extra.update(settings.extra)
    extra.update(request.extra)
    seed = extra["seed"] if seed is not None and isinstance(extra.get("seed"), int) else None
    if profile.seed == "prompt" and extra:
        # This server reads its settings there and nowhere else.
        prompt, extra = f"{prompt} <sd_cpp_extra_args>{json.dumps(extra)}</sd_cpp_extra_args>", {}
    edits = bool(request.references) and profile.edits == "files"
    if edits:
        files = [_file(f"ref{index}", image) for index, image in enumerate(request.references)]
        # One file goes as `image`, which servers that take one only understand.
        options["image"] = files if len(files) > 1 else files[0]
        if request.mask is not None:
            options["mask"] = _file("mask", request.mask)
        options.update(settings.editing)
    else:
        options.update(settings.generating)
        if request.references:
            extra["ref_images"] = [base64.b64encode(image.data).decode() for image in request.references]
    if stream and settings.partial_images and profile.stream and request.n == 1 and "stream" not in dropped:
        options.update(stream=True, partial_images=settings.partial_images)
    if dropped:
        options = {name: value for name, value in options.items() if name not in dropped}
        extra = {name: value for name, value in extra.items() if name not in dropped}
    options["prompt"] = prompt
    if extra:
        options["extra_body"] = extra
    return Sending(edits, options, size, seed, tuple(said))


def check_request(request: ImageRequest, settings: Settings, *, what: str) -> None:
    """Refuse what cannot be drawn before anything is sent. The references' pixels are looked at elsewhere.

    Raises:
        InvalidRequest: What is wrong, naming it.
    """
    profile = settings.profile
    if not 1 <= request.n <= profile.max_images:
        raise InvalidRequest(
            f"{request.n} pictures cannot be drawn in one call.", remedy=f"Ask for 1 to {profile.max_images}."
        )
    if not request.prompt.strip():
        raise InvalidRequest("An empty prompt cannot be drawn.", remedy=f"Give 1 to {MAX_PROMPT} characters.")
    if request.seed is not None and not 0 <= request.seed < 2**32:
        raise InvalidRequest(f"The seed {request.seed} is out of range.", remedy="Give 0 to 2**32 - 1.")
    for side in (request.width, request.height):
        if side is not None and side < 1:
            raise InvalidRequest(f"A side of {side} pixels cannot be drawn.", remedy="Give 1 or more.")
    for index, image in enumerate(request.references, 1):
        if image.mime not in _EXTENSION or len(image.data) > _MAX_FILE:
            raise InvalidRequest(
                f"Reference {index} ({image!r}) is not taken by {what}.",
                remedy="Give PNG, JPEG or WebP of at most 50 MB.",
            )
    if request.mask is not None:
        _check_mask(request.mask, request, settings, what)


def refused_field(error: Exception, sent: Collection[str]) -> str | None:
    """The optional field a server refused, or `response_format` where it asked for that.

    Args:
        error: What the SDK raised.
        sent: Optional fields that were sent.

    Returns:
        `None` where the error is about something else.
    """
    if getattr(error, "status_code", None) not in (400, 422):
        return None
    named = getattr(error, "param", None)
    words = f"{getattr(error, 'message', '')} {json.dumps(getattr(error, 'body', None), default=str)}"
    for name in OPTIONAL:
        quoted = re.search(rf"['\"`\[(]{name}['\"`\])]", words) is not None
        # `seed` and `stream` are words; these two are nothing else.
        plain = "_" in name and name in words
        if named == name or quoted or plain:
            if name in sent:
                return "stream" if name == "partial_images" else name
            if name == "response_format":
                return name
    return None


def _prompt(request: ImageRequest, settings: Settings) -> Fitted:
    plain = neutralised(request.prompt, settings.profile.syntax)
    if not plain.text.strip():
        raise InvalidRequest(
            "Nothing is left of the prompt without what the server would obey.", remedy="Say what is drawn in words."
        )
    fitted = fit_prompt(
        plain.text, max_tokens=settings.max_prompt_tokens, max_characters=MAX_PROMPT, what=settings.model
    )
    return Fitted(fitted.text, (*plain.warnings, *fitted.warnings))


def _taken(fitted: Fitted, said: list[str]) -> str:
    said += fitted.warnings
    return fitted.text


def _negative(
    words: str, prompt: str, settings: Settings, dropped: Collection[str], extra: dict[str, Any], said: list[str]
) -> str:
    plain = neutralised(words, settings.profile.syntax).text
    if settings.profile.negative == "pipe":
        return f"{prompt} | {plain}"
    if settings.profile.negative == "field" and "negative_prompt" not in dropped:
        extra["negative_prompt"] = plain
    else:
        said.append(f"{settings.model} takes no words for what must not be there; they were left out.")
    return prompt


def _quality(request: ImageRequest, settings: Settings, options: dict[str, Any], said: list[str]) -> None:
    if request.quality is None:
        return
    if settings.profile.quality:
        options["quality"] = _QUALITY[request.quality]
    else:
        said.append(f"{settings.model} has one quality only; {request.quality} was asked for.")


def _ground(request: ImageRequest, settings: Settings, options: dict[str, Any], said: list[str]) -> None:
    if not request.transparent:
        return
    if not settings.profile.transparent:
        said.append(f"{settings.model} draws on no transparent ground.")
        return
    options["background"] = "transparent"
    if options.get("output_format") == "jpeg":
        options["output_format"] = "png"
        options.pop("output_compression", None)
        said.append("JPEG pictures cannot be transparent; PNG was asked for.")


def _file(name: str, image: ImageBytes) -> tuple[str, bytes, str]:
    # Bytes alone would go out as application/octet-stream, which is refused.
    return f"{name}.{_EXTENSION[image.mime]}", image.data, image.mime


def _check_mask(mask: ImageBytes, request: ImageRequest, settings: Settings, what: str) -> None:
    if not settings.profile.mask or settings.max_references == 0:
        raise InvalidRequest(
            f"{what} takes no mask.", remedy="Say in the prompt what may change, or use another model."
        )
    if not request.references:
        raise InvalidRequest("A mask without a reference marks nothing.", remedy="Give the picture it belongs to.")
    first = request.references[0]
    if (mask.width, mask.height) != (first.width, first.height):
        raise InvalidRequest(
            f"The mask is {mask.width}x{mask.height}, the first reference {first.width}x{first.height}.",
            remedy="Give a mask of the same size.",
        )
    if mask.mime != "image/png" or len(mask.data) > _MAX_MASK:
        raise InvalidRequest(f"The mask ({mask!r}) is not taken by {what}.", remedy="Give a PNG of at most 4 MB.")
    try:
        file, _ = decode(mask.data, MAX_PIXELS)
    except Unreadable as error:
        raise InvalidRequest(f"The mask is {error.reason}.", remedy=error.remedy) from error
    if not has_transparency(file) or file.convert("RGBA").getchannel("A").getextrema()[0] == 255:
        raise InvalidRequest("Nothing in the mask is transparent.", remedy="Make transparent what may change.")
