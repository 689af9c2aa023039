"""A drawing travels with its picture: the SVG it was rendered from, in a text chunk of the PNG."""

from __future__ import annotations

import zlib

from langgraph_interleave.imaging.chunks import PNG, joined, parts_of, png_part

#: Keyword of the chunk.
KEY = b"langgraph-interleave.svg"
#: Longest drawing, in bytes, with the pictures that are placed in it.
MAX_WHOLE = 24_000_000


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
