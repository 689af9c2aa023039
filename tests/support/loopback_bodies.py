"""Request bodies, read and held against the openai SDK's own types and the rules its documentation states."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NotRequired, get_type_hints

from openai.types.chat import completion_create_params as chat_params
from openai.types.image_edit_params import ImageEditParamsNonStreaming, ImageEditParamsStreaming
from openai.types.image_generate_params import ImageGenerateParamsNonStreaming, ImageGenerateParamsStreaming
from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

_STRICT = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
_FILE_FIELDS = ("image", "mask", "markup")
#: Fields of a form that are numbers or truth values; all else is text, whatever it looks like.
_NOT_TEXT = ("frame_count", "frame_duration_ms", "n", "output_compression", "partial_images", "seed", "stream")
_MIMES = ("image/png", "image/jpeg", "image/webp")


@dataclass(frozen=True, slots=True)
class File:
    """One file of a multipart body."""

    field: str
    name: str
    mime: str
    data: bytes


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    if kind.startswith("edits"):
        # The files are looked at apart; their types are Python's, not the wire's.
        of_edits: Any = ImageEditParamsStreaming if kind == "edits streamed" else ImageEditParamsNonStreaming
        hints = get_type_hints(of_edits, include_extras=True)
        fields = {name: NotRequired[hint] for name, hint in hints.items() if name not in _FILE_FIELDS}
        edits: Any = TypedDict("edits", fields)  # type: ignore[operator]
        edits.__pydantic_config__ = _STRICT
        return TypeAdapter(edits)
    model: Any = {
        "generations": ImageGenerateParamsNonStreaming,
        "generations streamed": ImageGenerateParamsStreaming,
        "chat": chat_params.CompletionCreateParamsNonStreaming,
        "chat streamed": chat_params.CompletionCreateParamsStreaming,
    }[kind]
    model.__pydantic_config__ = _STRICT
    return TypeAdapter(model)


def violations(route: str, body: Mapping[str, Any], files: Iterable[File], *, allowed: frozenset[str]) -> list[str]:
    """What is wrong with a request.

    Args:
        route: `generations`, `edits` or `chat`.
        body: The fields.
        files: The files that came along.
        allowed: Fields taken though the SDK does not know them (`seed` of a compatible server).
    """
    known = {name: value for name, value in body.items() if name not in allowed}
    kind = f"{route} streamed" if body.get("stream") is True else route
    try:
        _drain(_adapter(kind).validate_python(known))
    except ValidationError as error:
        # A union of messages names each of its kinds: the first lines say enough.
        return [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False)][:4]
    return [] if route == "chat" else [*_image_rules(route, known), *_file_rules(route, tuple(files))]


def _drain(value: object) -> None:
    """Iterables are validated as they are read."""
    if isinstance(value, Mapping):
        for item in value.values():
            _drain(item)
    elif isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        for item in value:
            _drain(item)


def _image_rules(route: str, body: Mapping[str, Any]) -> list[str]:
    wrong: list[str] = []
    if not body.get("prompt"):
        wrong.append("prompt: missing")
    elif len(body["prompt"]) > 32_000:
        wrong.append("prompt: longer than 32000 characters")
    if "response_format" in body:
        wrong.append("Unknown parameter: 'response_format'.")
    if not 1 <= int(body.get("n") or 1) <= 10:
        wrong.append("n: not 1 to 10")
    if route == "edits" and "moderation" in body:
        wrong.append("Unknown parameter: 'moderation'.")
    size = str(body.get("size") or "auto")
    if size != "auto":
        width, height = size_of(size, default=(0, 0))
        if not (width and height) or width % 16 or height % 16 or max(width, height) > 3 * min(width, height):
            wrong.append(f"size: {size} is not a pair of multiples of 16, at most 3:1")
        elif max(width, height) > 3840 or min(width, height) > 2160:
            wrong.append(f"size: {size} is larger than 3840x2160")
    return wrong


def _file_rules(route: str, files: tuple[File, ...]) -> list[str]:
    if route == "generations":
        return []
    images = [file for file in files if file.field in ("image", "image[]")]
    wrong = [] if 1 <= len(images) <= 16 else [f"image: {len(images)} files, not 1 to 16"]
    wrong += [f"{file.field}: unsupported mimetype {file.mime}" for file in files if file.mime not in _MIMES]
    return wrong + [f"{file.field}: empty" for file in files if not file.data]


def size_of(text: str, *, default: tuple[int, int]) -> tuple[int, int]:
    """Width and height that `WxH` says."""
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    return (int(match[1]), int(match[2])) if match else default


def read_body(content_type: str, raw: bytes) -> tuple[dict[str, Any], tuple[File, ...]]:
    """Fields and files of a JSON or multipart body.

    Raises:
        ValueError: It is neither.
    """
    if content_type.startswith("application/json"):
        body: Any = json.loads(raw)
        if not isinstance(body, dict):
            raise ValueError("the body is no JSON object")
        return body, ()
    match = re.search(r'multipart/form-data;.*boundary="?([^";]+)', content_type)
    if match is None:
        raise ValueError(f"the content type {content_type!r} is not one of this API")
    fields: dict[str, Any] = {}
    files: list[File] = []
    for part in raw.split(b"--" + match[1].encode())[1:-1]:
        head, _, data = part[2:-2].partition(b"\r\n\r\n")
        headers = head.decode()
        name = re.search(r'[; ]name="([^"]*)"', headers)
        file_name = re.search(r'filename="([^"]*)"', headers)
        if name is None:
            raise ValueError("a part without a name")
        if file_name is None:
            text = data.decode()
            fields[name[1]] = json.loads(text) if name[1] in _NOT_TEXT else text
        else:
            mime = re.search(r"(?i)content-type: *(\S+)", headers)
            files.append(File(name[1], file_name[1], mime[1] if mime else "application/octet-stream", data))
    return fields, tuple(files)
