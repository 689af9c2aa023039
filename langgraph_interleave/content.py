"""The user's request as content blocks: text and references to stored pictures, never bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Protocol, cast

from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.types import SCHEME, ArtifactRef, ImagePart, Part, Request, TextPart

_READ_FIRST = "Put its bytes into the store first: image_part(path_or_bytes, artifacts) returns the block to use."
_NO_URLS = (
    "Pictures are not fetched from elsewhere; download it and use image_part(path_or_bytes, artifacts), "
    "or in your own code image_part(url, artifacts, fetch=True)."
)


class Pictures(Protocol):
    """What is needed of an artifact store to look up the pictures of a request."""

    def get(self, ref: ArtifactRef | str) -> bytes:
        """Read stored bytes by reference or digest; raises `ArtifactMissing`."""
        ...


def image_block(ref: ArtifactRef, *, name: str | None = None, alt: str | None = None) -> dict[str, Any]:
    """Describe a stored picture as a LangChain image block: a reference, no bytes.

    Args:
        ref: The stored picture.
        name: What the user called the file.
        alt: A text alternative.

    Returns:
        A block with `url`, `mime_type` and, in `extras`, `width` and `height` in pixels, `size` in
        bytes, `name` and `alt` where they are known.

    Example:
        >>> ref = ArtifactRef(sha256="a" * 64, mime="image/png", size=70, width=8, height=6)
        >>> image_block(ref, name="leaf.png")["extras"]
        {'width': 8, 'height': 6, 'size': 70, 'name': 'leaf.png'}
    """
    extras = {"width": ref.width, "height": ref.height, "size": ref.size, "name": name, "alt": alt}
    return {
        "type": "image",
        "url": ref.uri,
        "mime_type": ref.mime,
        "extras": {key: value for key, value in extras.items() if value is not None},
    }


def read_request(value: str | Sequence[str | Mapping[str, Any]], artifacts: Pictures) -> Request:
    """Read what the user asks for, in the user's order.

    Pictures are references into `artifacts` (`image_part` makes them); they are looked up here, and
    size and type are taken from the store, not from the block. Text is kept as it is, except that
    blank parts and what cannot be written as UTF-8 are dropped.

    Args:
        value: Text, or a list of texts and LangChain text and image blocks.
        artifacts: The store that the pictures are in. Read from disk: in async code, call this in a thread.

    Returns:
        The request; `input:i` is its i-th picture.

    Raises:
        ConfigError: The request is empty, or holds bytes, a URL, a path, or an unknown block.
        ArtifactMissing: A picture is not in `artifacts`.

    Example:
        >>> from langgraph_interleave.artifacts import ArtifactStore
        >>> read_request("How to plant a bean, in 3 steps", ArtifactStore.memory()).text
        'How to plant a bean, in 3 steps'
    """
    parts = [part for index, item in enumerate(_items(value)) if (part := _read_part(item, index, artifacts))]
    if not parts:
        raise ConfigError("The request is empty.", remedy="Say what the sequence should show, in words.")
    return Request(parts=tuple(parts))


def _items(value: object) -> Sequence[object]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return cast("Sequence[object]", value)
    raise ConfigError(
        f"A request is text or a list of content blocks, not {_named(value)}.",
        remedy=_READ_FIRST if _is_file(value) else "Pass a string, or a list of text and image blocks.",
    )


def _read_part(item: object, index: int, artifacts: Pictures) -> Part | None:
    where = f"Part {index} of the request"
    if isinstance(item, str):
        return _text_part(item)
    if not isinstance(item, Mapping):
        remedy = _READ_FIRST if _is_file(item) else 'Use a string, {"type": "text", "text": …}, or image_part(…).'
        raise ConfigError(f"{where} is {_named(item)}, not text or a content block.", remedy=remedy)
    block = cast("Mapping[str, Any]", item)
    kind = block.get("type")
    if kind == "text":
        if not isinstance(block.get("text"), str):
            raise ConfigError(f"{where} is a text block without text.", remedy='Give it {"text": "…"}.')
        return _text_part(block["text"])
    if kind in ("image", "image_url"):
        return _image_part(block, where, artifacts)
    raise ConfigError(
        f"{where} is a block of the unknown type {_short(kind)}.",
        remedy="A request holds text and pictures: text blocks, and image blocks from image_part(…).",
    )


def _text_part(text: str) -> TextPart | None:
    # Surrogate pairs become the characters they stand for; a lone one has no meaning and no UTF-8.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")
    return TextPart(text=text) if text.strip() else None


def _image_part(block: Mapping[str, Any], where: str, artifacts: Pictures) -> ImagePart:
    url = _address(block)
    if url is None:
        if any(key in block for key in ("base64", "data", "source")):
            raise ConfigError(
                f"{where} holds a picture's bytes, which would be copied into every checkpoint.", remedy=_READ_FIRST
            )
        if "file_id" in block:
            raise ConfigError(f"{where} is a picture in a provider's file storage.", remedy=_NO_URLS)
        raise ConfigError(f"{where} is an image block without a picture.", remedy=_READ_FIRST)
    scheme = url.partition(":")[0].lower() if ":" in url else ""
    if url.startswith(SCHEME):
        return _stored(url.removeprefix(SCHEME), block, where, artifacts)
    if scheme == "data":
        raise ConfigError(f"{where} is a data: URL, which would be copied into every checkpoint.", remedy=_READ_FIRST)
    if scheme in ("http", "https"):
        raise ConfigError(f"{where} is the picture at {_short(url)}.", remedy=_NO_URLS)
    if scheme in ("", "file") or len(scheme) == 1:
        raise ConfigError(f"{where} is the local path {_short(url)}.", remedy=_READ_FIRST)
    raise ConfigError(f"{where} is a picture at {_short(url)}, an address of an unknown kind.", remedy=_READ_FIRST)


def _address(block: Mapping[str, Any]) -> str | None:
    """The URL of an image block, in LangChain's form or in the older `image_url` one."""
    url = block.get("url", block.get("image_url"))
    if isinstance(url, Mapping):
        url = cast("Mapping[str, Any]", url).get("url")
    return url if isinstance(url, str) else None


def _stored(digest: str, block: Mapping[str, Any], where: str, artifacts: Pictures) -> ImagePart:
    if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise ConfigError(f"{where} has an artifact:// address with no SHA-256 digest.", remedy=_READ_FIRST)
    extras = block.get("extras")
    name = cast("Mapping[str, Any]", extras).get("name") if isinstance(extras, Mapping) else None
    # Loaded here: Pillow is wanted only where there is a picture.
    from langgraph_interleave.imaging.picture import measure_image

    try:
        data = artifacts.get(digest)
    except ArtifactMissing as missing:
        raise ArtifactMissing(
            f"{where}, the picture {name or digest[:12]}, is not in the artifact store of this graph.",
            remedy="Call image_part(…) with the same store as create_interleave_graph(artifacts=…).",
        ) from missing
    measured = measure_image(data)
    if measured is None:
        raise ConfigError(f"{where} refers to stored bytes that are not a picture.", remedy=_READ_FIRST)
    mime, width, height = measured
    ref = ArtifactRef(sha256=digest, mime=mime, size=len(data), width=width, height=height)
    return ImagePart(image=ref, name=name if isinstance(name, str) else None)


def _is_file(value: object) -> bool:
    return isinstance(value, bytes | bytearray | memoryview | PurePath) or hasattr(value, "read")


def _named(value: object) -> str:
    return "bytes" if isinstance(value, bytes | bytearray | memoryview) else f"a {type(value).__name__}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
