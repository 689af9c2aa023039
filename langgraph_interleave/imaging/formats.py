"""What a file is, by its bytes, and its first frame decoded. The size is checked before anything is decoded."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

MAX_PIXELS = 64_000_000
_ALLOWED = "PNG, JPEG, WebP, GIF, BMP, TIFF or AVIF"
_EXPORT = f"Export it as {_ALLOWED}."


class Unreadable(Exception):
    """Why some bytes are not a picture we take: a clause for after "is", and what to do."""

    def __init__(self, reason: str, remedy: str = _EXPORT) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


def sniff(data: bytes) -> str | None:
    """Name the format of a picture by its first bytes (`PNG`, `JPEG`, `WEBP`, …), `None` for anything else."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WEBP"
    if data[4:8] == b"ftyp" and (data[8:12] in (b"avif", b"avis") or b"avif" in data[16:48]):
        return "AVIF"
    return next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)


_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"BM", "BMP"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"II+\0", "TIFF"),
    (b"MM\0+", "TIFF"),
)


def open_header(data: bytes, max_pixels: int) -> tuple[ImageFile, bool]:
    """Read the header alone; say also whether the format loses detail. `size` is checked, nothing is decoded.

    Raises:
        Unreadable: It is no picture of a format that is read, or too large.
    """
    kind = sniff(data)
    if kind is None:
        raise _not_a_picture(data)
    lossy = kind in ("JPEG", "AVIF") or (kind == "WEBP" and b"VP8L" not in data[12:64])
    if kind == "WEBP" and (declared := _webp_size(data)) is not None:
        # Making the decoder already allocates the canvas.
        _check_area(declared, max_pixels)
    try:
        # The plugin is called directly: Image.open would try others, and warns where we refuse.
        file = _opener(kind)(io.BytesIO(data))
    except Exception as error:
        raise Unreadable(f"a {kind} file with a broken header ({_brief(error)})", "Export it again.") from error
    _check_area(file.size, max_pixels)
    return file, lossy


def decode(data: bytes, max_pixels: int, *, draft: tuple[int, int] | None = None) -> tuple[ImageFile, bool]:
    """Decode the first frame completely; say also whether its format loses detail.

    Args:
        data: The file.
        max_pixels: Largest area decoded, in pixels.
        draft: A size that is enough, in pixels: JPEG is then decoded at a lower resolution.

    Raises:
        Unreadable: It is not a whole picture of a format that is read, or too large.
    """
    file, lossy = open_header(data, max_pixels)
    try:
        if draft is not None:
            file.draft(None, draft)
        file.load()
    except MemoryError as error:
        raise Unreadable("too large for the memory of this machine", "Make the picture smaller first.") from error
    except Exception as error:
        raise Unreadable(f"a broken {file.format} file: {_brief(error)}", "Get an undamaged copy of it.") from error
    return file, lossy


def _check_area(size: tuple[int, int], max_pixels: int) -> None:
    width, height = size
    if width < 1 or height < 1:
        raise Unreadable(f"{width} × {height} pixels large")
    if width * height > max_pixels:
        raise Unreadable(
            f"{width} × {height} pixels large, more than {max_pixels / 1e6:g} megapixels",
            "Make the picture smaller first.",
        )


def _webp_size(data: bytes) -> tuple[int, int] | None:
    chunk, little = data[12:16], int.from_bytes
    if chunk == b"VP8X":
        return little(data[24:27], "little") + 1, little(data[27:30], "little") + 1
    if chunk == b"VP8L":
        bits = little(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8 ":
        return little(data[26:28], "little") & 0x3FFF, little(data[28:30], "little") & 0x3FFF
    return None


def _opener(kind: str) -> Callable[[io.BytesIO], ImageFile]:
    from PIL import (
        AvifImagePlugin,
        BmpImagePlugin,
        GifImagePlugin,
        JpegImagePlugin,
        PngImagePlugin,
        TiffImagePlugin,
        WebPImagePlugin,
    )

    openers: dict[str, Callable[[io.BytesIO], ImageFile]] = {
        "AVIF": AvifImagePlugin.AvifImageFile,
        "BMP": BmpImagePlugin.BmpImageFile,
        "GIF": GifImagePlugin.GifImageFile,
        "JPEG": JpegImagePlugin.JpegImageFile,
        "PNG": PngImagePlugin.PngImageFile,
        "TIFF": TiffImagePlugin.TiffImageFile,
        "WEBP": WebPImagePlugin.WebPImageFile,
    }
    return openers[kind]


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__


def head_of(data: bytes) -> str:
    """The beginning of an answer that is words, for the reader of an error; empty for anything binary."""
    head = data[:160].decode("utf-8", "ignore")
    return " ".join(head.split()) if data and all(c.isprintable() or c.isspace() for c in head) else ""


def _not_a_picture(data: bytes) -> Unreadable:
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not data:
        return Unreadable("empty", "Get a complete copy of it.")
    if b"<svg" in start:
        return Unreadable("an SVG drawing, not pixels", "Export it as PNG.")
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return Unreadable("an HTML page, not a picture", "Download the picture itself, not the page that shows it.")
    if start.startswith(b"%pdf"):
        return Unreadable("a PDF document, not a picture", "Export the page as PNG.")
    if data[4:8] == b"ftyp" and data[8:12] in (b"heic", b"heix", b"mif1", b"msf1", b"hevc"):
        return Unreadable("a HEIC photo, which cannot be read here", "Export it as JPEG.")
    if head_of(data):
        return Unreadable("text, not a picture", _EXPORT)
    return Unreadable(f"not a picture of a known format ({_ALLOWED})", _EXPORT)
