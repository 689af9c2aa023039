"""Pictures from outside: read safely, made plain, measured. Nothing here trusts a file's name."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph_interleave.errors import BadResponse, ConfigError
from langgraph_interleave.imaging.color import has_transparency, to_rgb
from langgraph_interleave.imaging.formats import MAX_PIXELS, Unreadable, decode, head_of, open_header
from langgraph_interleave.types import ImageBytes

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

MAX_BYTES = 50 * 1024 * 1024
#: The formats that are stored, streamed and embedded, and nothing else.
MIMES: Mapping[str, str] = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
_ORIENTATION = 0x0112


def load_image(
    source: bytes | str | Path, *, name: str | None = None, max_pixels: int = MAX_PIXELS, max_bytes: int = MAX_BYTES
) -> ImageBytes:
    """Read an input picture and make it plain: upright, opaque, 8-bit sRGB, without metadata.

    The size in the header is checked before anything is decoded. Rotation from EXIF is applied,
    transparency laid on white, an embedded colour profile converted to sRGB; of an animation the
    first frame is taken. EXIF, GPS, XMP and comments are gone. The result is written anew: JPEG
    (quality 95) where the source was compressed with loss and is opaque, else PNG.

    Args:
        source: A path, or the bytes of the file (PNG, JPEG, WebP, GIF, BMP, TIFF, AVIF).
        name: What to call the picture in messages; default: the file's name.
        max_pixels: Largest area taken, in pixels.
        max_bytes: Largest file taken, in bytes.

    Returns:
        The picture; the same file gives the same bytes with the same version of Pillow.

    Raises:
        ConfigError: The file is missing, too large, broken, or not a picture.
    """
    label = _label(source, name)
    try:
        data = source if isinstance(source, bytes) else _read_file(source, max_bytes)
        if len(data) > max_bytes:
            raise _too_long(len(data), max_bytes)
        file, lossy = decode(data, max_pixels)
        plain = _plain(file)
        as_jpeg = lossy and not has_transparency(file)
        return _encode(plain, "JPEG" if as_jpeg else "PNG", quality=95)
    except Unreadable as error:
        raise ConfigError(f"{label} is {error.reason}.", remedy=error.remedy) from error


def verify_image(data: bytes, *, what: str, seed: int | None = None, max_pixels: int = MAX_PIXELS) -> ImageBytes:
    """Decode a picture that a backend returned, completely, and measure it. The bytes are kept as they are.

    A provider's signed metadata (C2PA) therefore stays. Not tested: whether the picture shows anything.

    Args:
        data: The encoded picture (PNG, JPEG or WebP).
        what: What to call it in messages ("the answer of openai:gpt-image-1").
        seed: The seed that made it, where there was one.
        max_pixels: Largest area taken, in pixels.

    Raises:
        BadResponse: It is not a whole picture in one of the three formats.
    """
    try:
        file, _ = decode(data, max_pixels)
        mime = MIMES.get(file.format or "")
        if mime is None:
            raise Unreadable(f"a {file.format} file, not PNG, JPEG or WebP")
    except Unreadable as error:
        raise BadResponse(
            f"{what} is {error.reason}.",
            remedy="Draw the step again; if it stays so, check the backend's address, model and output format.",
            detail={"bytes": len(data), "head": head_of(data)},
        ) from error
    width, height = file.size
    return ImageBytes(data=data, mime=mime, width=width, height=height, seed=seed)


def measure_image(data: bytes) -> tuple[str, int, int] | None:
    """Media type, width and height in pixels of stored bytes, by their header alone.

    Returns:
        `None` for what is not PNG, JPEG or WebP. Not tested: whether the rest can be decoded.
    """
    try:
        file, _ = open_header(data, MAX_PIXELS)
    except Unreadable:
        return None
    mime = MIMES.get(file.format or "")
    return None if mime is None else (mime, *file.size)


def downscale(image: ImageBytes, max_side: int, *, mime: str | None = None) -> ImageBytes:
    """Make a picture smaller so that neither side is longer than `max_side` pixels.

    Args:
        image: A picture that was read or verified here.
        max_side: Longest side of the result in pixels, ≥ 1.
        mime: Type of the result (`image/png`, `image/jpeg` or `image/webp`); default: JPEG from JPEG, else PNG.

    Returns:
        The same object when it is small enough and of the type wanted, else a new picture without
        metadata. Transparency stays, except in JPEG, where white lies behind it.
    """
    small_enough = max(image.width, image.height) <= max_side
    if small_enough and mime in (None, image.mime):
        return image
    from PIL.Image import Resampling

    wanted = mime or ("image/jpeg" if image.mime == "image/jpeg" else "image/png")
    kind = next(kind for kind, known in MIMES.items() if known == wanted)
    cap = max(MAX_PIXELS, image.width * image.height)
    file, _ = decode(image.data, cap, draft=(max_side, max_side))
    if kind == "JPEG":
        small = to_rgb(file)
    else:
        small = file.convert("RGBA" if has_transparency(file) else "RGB")
    if not small_enough:
        scale = max_side / max(image.width, image.height)
        size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        small = small.resize(size, Resampling.LANCZOS, reducing_gap=2.0)
    return _encode(small, kind, quality=88, seed=image.seed)


def _label(source: bytes | str | Path, name: str | None) -> str:
    label = name or ("The picture" if isinstance(source, bytes) else Path(source).name or str(source))
    return label if len(label) <= 80 else f"{label[:40]}…{label[-20:]}"


def _read_file(source: str | Path, max_bytes: int) -> bytes:
    if isinstance(source, str) and source.lower().startswith(("http://", "https://", "data:")):
        raise Unreadable(
            "a URL, not a file", "Download it and pass the path or the bytes, or say image_part(…, fetch=True)."
        )
    try:
        path = Path(source).expanduser()
        if path.is_dir():
            raise Unreadable("a folder", "Name a file in it.")
        if not path.exists():
            raise Unreadable(f"not there ({path})", "Check the path; relative ones start at the working folder.")
        if not path.is_file():
            raise Unreadable("not a regular file", "Copy it into a file first.")
        if (size := path.stat().st_size) > max_bytes:
            raise _too_long(size, max_bytes)
        return path.read_bytes()
    except (OSError, ValueError, RuntimeError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise Unreadable(f"not readable: {reason}", "Check the path and its permissions.") from error


def _too_long(size: int, cap: int) -> Unreadable:
    return Unreadable(f"{size / 1e6:.0f} MB large, more than {cap / 1e6:.0f} MB", "Make the picture smaller first.")


def _plain(file: ImageFile) -> Image:
    """Upright, opaque, 8-bit sRGB."""
    try:
        orientation = file.getexif().get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001 - EXIF is free-form; a broken one says nothing about the pixels
        orientation = 1
    try:
        return _turn(to_rgb(file), orientation)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Unreadable(f"in the mode {file.mode}, which cannot be converted to RGB ({error})") from error


def _turn(image: Image, orientation: object) -> Image:
    from PIL.Image import Transpose

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    turn = turns.get(orientation) if isinstance(orientation, int) else None
    return image if turn is None else image.transpose(turn)


def _encode(image: Image, kind: str, *, quality: int, seed: int | None = None) -> ImageBytes:
    buffer = io.BytesIO()
    image.info.clear()
    if kind == "JPEG":
        image.save(buffer, "JPEG", quality=quality, subsampling=0, optimize=True)
    elif kind == "WEBP":
        image.save(buffer, "WEBP", quality=quality, method=3)
    else:
        # Large pictures are photographs more often than not: deflating harder costs seconds there.
        image.save(buffer, "PNG", compress_level=6 if image.width * image.height <= 2_000_000 else 3)
    return ImageBytes(data=buffer.getvalue(), mime=MIMES[kind], width=image.width, height=image.height, seed=seed)
