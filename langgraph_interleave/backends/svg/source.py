"""The drawing travels with its picture: in a text chunk of the PNG, where an edit finds it again."""

from __future__ import annotations

import re
import zlib

from langgraph_interleave.backends.svg.sanitizer import MAX_WHOLE
from langgraph_interleave.imaging.chunks import PNG, joined, parts_of, png_part

#: Keyword of the chunk.
KEY = b"langgraph-interleave.svg"
_PICTURE = re.compile(r"data:image/[a-z]+;base64,[A-Za-z0-9+/=]+")


def with_source(png: bytes, svg: str, xmp: str | None = None) -> bytes:
    """A PNG that also holds the drawing it was made from; pixels and all else are untouched.

    Args:
        png: The picture.
        svg: The drawing.
        xmp: A packet about how it was made.
    """
    added = [png_part("iTXt", KEY + b"\0\1\0\0\0" + zlib.compress(svg.encode(), 6))]
    if xmp is not None:
        added.insert(0, png_part("iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp.encode()))
    parts = parts_of(png)
    end = next((index for index, part in enumerate(parts) if part.name == "IEND"), None)
    return png if end is None else joined([*parts[:end], *added, *parts[end:]])


def source_of(data: bytes) -> str | None:
    """The drawing a picture was made from; `None` when it holds none. Anybody may have put it there.

    Example:
        >>> source_of(b"GIF89a") is None
        True
    """
    if not data.startswith(PNG):
        return None
    for part in parts_of(data):
        if part.name == "iTXt" and part.data.startswith(KEY + b"\0"):
            sound = png_part("iTXt", part.data).raw == part.raw
            return _text(part.data[len(KEY) + 1 :]) if sound else None
    return None


def shown(svg: str) -> tuple[str, dict[str, str]]:
    """A drawing with names in the place of its pictures, and what each name stands for: nobody reads base64.

    Example:
        >>> shown('<image href="data:image/png;base64,AAAA"/>')
        ('<image href="kept:1"/>', {'kept:1': 'data:image/png;base64,AAAA'})
    """
    names: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        return names.setdefault(match[0], f"kept:{len(names) + 1}")

    return _PICTURE.sub(named, svg), {name: url for url, name in names.items()}


def _text(body: bytes) -> str | None:
    if len(body) < 4:
        return None
    packed, rest = body[0] == 1, body[2:]
    _, _, rest = rest.partition(b"\0")
    _, _, rest = rest.partition(b"\0")
    try:
        if packed:
            inflating = zlib.decompressobj()
            rest = inflating.decompress(rest, MAX_WHOLE + 1)
            if len(rest) > MAX_WHOLE or not inflating.eof:
                return None
        return rest.decode("utf-8")
    except (zlib.error, UnicodeDecodeError):
        return None
