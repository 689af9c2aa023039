"""Pictures that are none, and what must never be seen outside of an exception."""

from __future__ import annotations

import functools
import io
from dataclasses import replace

from langgraph_interleave.testing.fakes import noise_card
from langgraph_interleave.types import ImageBytes

#: What the fault `secret` carries: to be searched for wherever it must not be.
SECRET = "sk-canary-5f0c1b7a9d3e4c2180aa"  # noqa: S105 - nobody's


def picture_bytes() -> bytes:
    """The bytes of the picture that the fault `secret` carries."""
    return noise_card("canary").data


def spoilt(name: str, picture: ImageBytes) -> ImageBytes:
    """A picture as a fault leaves it.

    Args:
        name: `black`, `nan`, `broken`, `no_picture` or `wrong_size`.
        picture: The picture as it should be.

    Example:
        >>> spoilt("wrong_size", noise_card("a pot")).width
        24
    """
    match name:
        case "black":
            return replace(picture, data=_black(picture.width, picture.height), mime="image/png")
        case "nan":
            return replace(picture, data=_nan(picture.width, picture.height), mime="image/tiff")
        case "broken":
            return replace(picture, data=picture.data[: len(picture.data) // 2])
        case "no_picture":
            return replace(picture, data=b"<!doctype html><html><body>Welcome</body></html>")
        case "wrong_size":
            return _resized(picture)
        case _:
            raise ValueError(f"{name!r} is no fault of a picture's")


@functools.cache
def _black(width: int, height: int) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (width, height)).save(buffer, "PNG")
    return buffer.getvalue()


@functools.cache
def _nan(width: int, height: int) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("F", (width, height), float("nan")).save(buffer, "TIFF")
    return buffer.getvalue()


def _resized(picture: ImageBytes) -> ImageBytes:
    from PIL import Image

    width, height = picture.width * 3 // 2, picture.height // 2 + 1
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(picture.data)) as file:
        file.resize((width, height)).save(buffer, "PNG")
    return replace(picture, data=buffer.getvalue(), mime="image/png", width=width, height=height)
