"""A picture out of a backend's answer, in whatever form it came: decoded, verified, measured."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Mapping
from typing import cast
from urllib.parse import unquote

from langgraph_interleave import urls
from langgraph_interleave.errors import BadResponse, CallTimeout
from langgraph_interleave.imaging.color import has_transparency
from langgraph_interleave.imaging.formats import MAX_PIXELS, decode
from langgraph_interleave.imaging.picture import MAX_BYTES, verify_image
from langgraph_interleave.imaging.provenance import without_private
from langgraph_interleave.types import ImageBytes

#: A result that is fetched comes from a store of files: a minute is long for that.
FETCH_S = 60.0

_DATA_URL = re.compile(r"^data:[^,]{0,200},", re.IGNORECASE)
_PLAIN = str.maketrans("-_", "+/")
#: Base64 of a JPEG begins with a slash, too.
_ADDRESS = re.compile(r"(?:https?:)?//|\.{0,2}/(?!9j/)", re.IGNORECASE)


async def decode_result(
    told: str | bytes,
    *,
    what: str,
    base_url: str | None = None,
    headers: Mapping[str, str] | None = None,
    is_address: bool = False,
    seed: int | None = None,
    max_bytes: int = MAX_BYTES,
    timeout_s: float = FETCH_S,
    resolve: urls.Resolver | None = None,
) -> ImageBytes:
    """Read one picture out of an answer. An address is fetched at once: such addresses expire.

    Args:
        told: The file, its base64, a data URL, or its address, absolute or relative to `base_url`.
        what: Who answered, for messages ("openai:flux").
        base_url: The configured address of the backend. Addresses of its origin may be fetched, and
            public ones; without it only public ones.
        headers: Credentials for the backend's own origin. No other host is sent them.
        is_address: It stands where an address belongs, so that `images/7` is one.
        seed: The seed that made it.
        max_bytes: Largest file taken, in bytes.
        timeout_s: To fetch an address, in seconds.
        resolve: As for `urls.fetch`.

    Returns:
        The bytes as they came, but for text their maker's software wrote into them (prompts,
        settings, EXIF); signed ones (C2PA) exactly as they came.

    Raises:
        BadResponse: It is no picture, or black all over, which is what a model draws whose numbers
            are no longer finite, or its address may not be or could not be fetched.
        CallTimeout: An address was not answered in time.
    """
    if isinstance(told, bytes):
        data = told
    elif told[:64].lstrip()[:5].lower() == "data:":
        data = await asyncio.to_thread(from_base64, told, what=what, max_bytes=max_bytes)
    elif is_address or _ADDRESS.match(told):
        data = await _fetched(told, what, base_url, headers, max_bytes, timeout_s, resolve)
    else:
        data = await asyncio.to_thread(from_base64, told, what=what, max_bytes=max_bytes)
    if len(data) > max_bytes:
        raise _too_large(what, max_bytes)
    return await asyncio.to_thread(read_result, data, what=what, seed=seed)


def read_result(data: bytes, *, what: str, seed: int | None = None) -> ImageBytes:
    """Read one picture from the bytes of its file; as `decode_result`, without waiting for anything.

    Raises:
        BadResponse: It is no picture, or black all over.
    """
    image = verify_image(without_private(data), what=f"The answer of {what}", seed=seed)
    if is_black(image):
        raise BadResponse(
            f"{what} drew nothing that can be seen: the picture is black or transparent all over.",
            remedy="Its numbers were probably no longer finite: use another precision (bfloat16 or float32).",
            code="black",
            detail={"width": image.width, "height": image.height},
        )
    return image


def is_black(image: ImageBytes) -> bool:
    """Whether every pixel is exactly black, or nothing at all can be seen of any.

    Other pictures of one colour are none of this function's business, nor are drawings in black on a
    transparent ground.
    """
    if _is_rich(image):
        return False
    file, _ = decode(image.data, max(MAX_PIXELS, image.width * image.height))
    if not has_transparency(file) and file.mode != "P":
        # One pair of extremes for one band, else a pair for each.
        return all(value in (0, (0, 0)) for value in file.getextrema()) and file.mode != "CMYK"
    try:
        red, green, blue, alpha = (cast("tuple[int, int]", band) for band in file.convert("RGBA").getextrema())
    except ValueError:
        # A mode that is not converted holds values of 16 bits: never what a model's failure looks like.
        return False
    return alpha == (0, 0) or (red == green == blue == (0, 0) and alpha[0] == alpha[1])


def _is_rich(image: ImageBytes) -> bool:
    """Whether a file is too long to hold one colour, so that it need not be decoded again.

    One colour takes next to nothing once compressed; uncompressed, nearly all its bytes are the same.
    A signature's manifest may take some tens of kilobytes besides.
    """
    data = image.data
    if len(data) <= 200_000 + image.width * image.height // 10:
        return False
    return data.count(data[len(data) // 2]) < 0.9 * len(data)


async def _fetched(
    address: str,
    what: str,
    base_url: str | None,
    headers: Mapping[str, str] | None,
    max_bytes: int,
    timeout_s: float,
    resolve: urls.Resolver | None,
) -> bytes:
    try:
        return await urls.fetch(
            address, policy="backend_result", base_url=base_url, headers=headers, max_bytes=max_bytes,
            timeout_s=timeout_s, resolve=resolve,
        )  # fmt: skip
    except urls.NotFetched as error:
        message = f"{what} answered with an address in place of a picture, and it {error.reason}"
        if error.late:
            raise CallTimeout(message, remedy=error.remedy, code="timeout") from error
        detail = {} if error.status is None else {"status": error.status}
        raise BadResponse(message, remedy=error.remedy, code="url", detail=detail) from error


def from_base64(text: str, *, what: str, max_bytes: int = MAX_BYTES) -> bytes:
    r"""The bytes of a picture in base64, as any server writes it.

    Args:
        text: Of either alphabet, with line breaks, without padding, or as a data URL.
        what: Who answered, for messages.
        max_bytes: Largest file taken, in bytes.

    Raises:
        BadResponse: It is no base64, or too long.

    Example:
        >>> from_base64("data:image/png;base64,-_8", what="mine")
        b'\xfb\xff'
    """
    if len(text) > max_bytes * 3 // 2:
        raise _too_large(what, max_bytes)
    text = _DATA_URL.sub("", text.lstrip(), count=1)
    # The alphabet for addresses is another one in two characters; in a data URL they may be escaped.
    text = (unquote(text) if "%" in text else text).translate(_PLAIN)
    text = "".join(text.split()).rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadResponse(
            f"The picture in the answer of {what} is not base64.", remedy="Draw the step again.", code="base64"
        ) from error


def _too_large(what: str, max_bytes: int) -> BadResponse:
    return BadResponse(
        f"{what} answered with a picture of more than {max_bytes / 1e6:g} MB.",
        remedy="Ask for a smaller picture.", code="too_large",
    )  # fmt: skip
