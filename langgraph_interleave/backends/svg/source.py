"""The drawing travels with its picture: in a text chunk of the PNG, where an edit finds it again."""

from __future__ import annotations

import re
import struct
import zlib

from langgraph_interleave.backends.svg.sanitizer import MAX_WHOLE

#: Keyword of the chunk.
KEY = "langgraph-interleave.svg"
_MAGIC = b"\x89PNG\r\n\x1a\n"
_PICTURE = re.compile(r"data:image/[a-z]+;base64,[A-Za-z0-9+/=]+")


def with_source(png: bytes, svg: str, xmp: str | None = None) -> bytes:
    """A PNG that also holds the drawing it was made from; pixels and all else are untouched.

    Args:
        png: The picture.
        svg: The drawing.
        xmp: A packet about how it was made.
    """
    added = _chunk(b"iTXt", KEY.encode() + b"\0\1\0\0\0" + zlib.compress(svg.encode(), 6))
    if xmp is not None:
        added = _chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp.encode()) + added
    end = png.rfind(b"\0\0\0\0IEND")
    return png[:end] + added + png[end:] if end > 0 else png


def source_of(data: bytes) -> str | None:
    """The drawing a picture was made from; `None` when it holds none. Anybody may have put it there.

    Example:
        >>> source_of(b"GIF89a") is None
        True
    """
    if not data.startswith(_MAGIC):
        return None
    at, head = len(_MAGIC), KEY.encode() + b"\0"
    while at + 12 <= len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, start = data[at + 4 : at + 8], at + 8
        if kind == b"iTXt" and data[start : start + len(head)] == head:
            (checksum,) = struct.unpack(">I", data[start + length : start + length + 4].rjust(4, b"\0"))
            if zlib.crc32(data[at + 4 : start + length]) != checksum:
                return None
            return _text(data[start + len(head) : start + length])
        at = start + length + 4
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


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
