"""The parts of an encoded picture: PNG chunks, JPEG segments, WebP chunks. Pixels are never touched.

Each picture is read as a list of parts whose bytes, put one after another, are the file again. What
cannot be followed (a broken length, data after the end) is one part without a name, kept as it is.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8"
_STANDALONE = frozenset(range(0xD0, 0xD8)) | {0x01}
_START_OF_SCAN, _END = 0xDA, 0xD9


@dataclass(frozen=True, slots=True)
class Part:
    """One part.

    Attributes:
        name: Type of a chunk (`IHDR`, `EXIF`) or a segment (`APP1`, `COM`, `SOS`); empty for what is none.
        raw: All its bytes, with length and checksum.
        data: What it holds.
    """

    name: str
    raw: bytes
    data: bytes = b""


def parts_of(data: bytes) -> list[Part]:
    """The parts of a PNG, JPEG or WebP file; anything else is one part without a name.

    Example:
        >>> [part.name for part in parts_of(b"RIFF" + struct.pack("<I", 4) + b"WEBP")]
        ['']
    """
    if data.startswith(PNG):
        return _of_png(data)
    if data.startswith(JPEG):
        return _of_jpeg(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _of_webp(data)
    return [Part("", data)]


def joined(parts: Iterable[Part]) -> bytes:
    """The file again; the length in the head of a WebP file is set anew."""
    whole = b"".join(part.raw for part in parts)
    if whole.startswith(b"RIFF") and whole[8:12] == b"WEBP":
        return whole[:4] + struct.pack("<I", len(whole) - 8) + whole[8:]
    return whole


def png_part(name: str, data: bytes) -> Part:
    """A PNG chunk."""
    body = name.encode() + data
    return Part(name, struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body)), data)


def jpeg_part(marker: int, data: bytes) -> Part:
    """A JPEG segment; `data` of at most 65,533 bytes."""
    return Part(_jpeg_name(marker), b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data, data)


def webp_part(name: str, data: bytes) -> Part:
    """A WebP chunk."""
    raw = name.encode() + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
    return Part(name, raw, data)


def find(parts: Sequence[Part], *names: str) -> Part | None:
    """The first part of one of these names."""
    return next((part for part in parts if part.name in names), None)


def _of_png(data: bytes) -> list[Part]:
    parts, at = [Part("", PNG)], len(PNG)
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        end = at + 12 + length
        name = data[at + 4 : at + 8]
        if end > len(data) or not name.isalpha():
            break
        parts.append(Part(name.decode("ascii", "replace"), data[at:end], data[at + 8 : end - 4]))
        at = end
        if name == b"IEND":
            break
    return [*parts, Part("", data[at:])] if at < len(data) else parts


def _of_jpeg(data: bytes) -> list[Part]:
    parts, at = [Part("", JPEG)], 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            parts.append(Part("", data[at : at + 1]))
            at += 1
            continue
        if marker in _STANDALONE:
            parts.append(Part("", data[at : at + 2]))
            at += 2
            continue
        (length,) = struct.unpack_from(">H", data, at + 2)
        end = at + 2 + length
        if marker in (_START_OF_SCAN, _END) or length < 2 or end > len(data):
            break
        parts.append(Part(_jpeg_name(marker), data[at:end], data[at + 4 : end]))
        at = end
    # From the first scan on, everything is pixels.
    return [*parts, Part("", data[at:])] if at < len(data) else parts


def _jpeg_name(marker: int) -> str:
    if 0xE0 <= marker <= 0xEF:
        return f"APP{marker - 0xE0}"
    return "COM" if marker == 0xFE else f"{marker:02X}"


def _of_webp(data: bytes) -> list[Part]:
    parts, at = [Part("", data[:12])], 12
    while at + 8 <= len(data):
        (length,) = struct.unpack_from("<I", data, at + 4)
        end = at + 8 + length + length % 2
        if at + 8 + length > len(data):
            break
        name = data[at : at + 4].decode("latin-1")
        parts.append(Part(name, data[at:end], data[at + 8 : at + 8 + length]))
        at = end
    return [*parts, Part("", data[at:])] if at < len(data) else parts
