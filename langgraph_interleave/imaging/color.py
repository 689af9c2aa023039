"""Any mode Pillow reads, converted to 8-bit sRGB on white. `Image.convert` alone clips or guesses."""

from __future__ import annotations

import io
import math
import sys
from array import array
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

_ALPHA = frozenset({"RGBA", "LA", "PA", "La", "RGBa"})
#: Pillow's modes that each colour space of a profile may be applied to.
_SPACES = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}


def has_transparency(image: Image) -> bool:
    """Whether any pixel may be less than opaque."""
    return image.mode in _ALPHA or "transparency" in image.info


def to_rgb(image: ImageFile) -> Image:
    """Convert a decoded picture to opaque 8-bit sRGB.

    16-bit and float values are scaled to 0-255 (float and 32-bit by their own range when it is
    neither 0-1, 0-255 nor 0-65535); transparency is laid on white; an embedded ICC profile is
    applied when it can be read and fits the pixels.
    """
    from PIL import Image

    alpha = _alpha(image)
    if alpha is not None:
        rgb = _colors(_without_alpha(image), image)
        return Image.composite(rgb, Image.new("RGB", rgb.size, "white"), alpha)
    return _colors(image, image)


def _alpha(image: Image) -> Image | None:
    if not has_transparency(image):
        return None
    if image.mode.startswith("I;16"):
        return _sixteen_bit_alpha(image)
    return image.convert("RGBA").getchannel("A")


def _sixteen_bit_alpha(image: Image) -> Image:
    from PIL import Image as Images

    opaque = image.info["transparency"]
    values = array("H", image.convert("I;16").tobytes())
    if sys.byteorder == "big":
        values.byteswap()
    return Images.frombytes("L", image.size, bytes(0 if value == opaque else 255 for value in values))


def _without_alpha(image: Image) -> Image:
    if image.mode in ("LA", "La"):
        return image.convert("LA").getchannel("L")
    if image.mode in ("L", "1") or image.mode.startswith("I;16"):
        return image
    # Through RGBA, so that a palette's transparent entry does not turn into a warning.
    return image.convert("RGBA").convert("RGB")


def _colors(image: Image, source: Image) -> Image:
    if image.mode.startswith("I") or image.mode == "F":
        image = _to_eight_bits(image, source.format)
    elif image.mode == "1":
        image = image.convert("L")
    elif image.mode == "LAB":
        return _from_lab(image)
    elif image.mode not in ("L", "RGB", "CMYK"):
        image = image.convert("RGB")
    profile = source.info.get("icc_profile")
    converted = _to_srgb(image, profile) if isinstance(profile, bytes) and profile else None
    return image.convert("RGB") if converted is None else converted


def _to_eight_bits(image: Image, kind: str | None) -> Image:
    if image.mode == "F":
        image = _finite(image)
    elif image.mode != "I":
        image = image.convert("I")
    low, high = image.getextrema()
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    scale, offset = _scale(float(low), float(high), float_values=image.mode == "F", tiff=kind == "TIFF")
    return image.point(lambda value: value * scale + offset).convert("L")


def _scale(low: float, high: float, *, float_values: bool, tiff: bool) -> tuple[float, float]:
    """Factor and addend that bring `low`…`high` into 0…255, by the range the values seem to use."""
    half = 0.5  # the conversion cuts off, it does not round
    if low < 0 or high > 65535:
        spread = high - low
        return (255 / spread, half - low * 255 / spread) if spread else (0.0, 128.0)
    if float_values and high <= 1:
        return 255, half
    if float_values and high <= 255:
        return 1, half
    # Cameras and microscopes write 8 or 12 bits into wider TIFFs: 16-bit white is not to be expected there.
    white = 65535 if not tiff or high > 4095 else 4095 if high > 255 else 255
    return 255 / white, half


def _finite(image: Image) -> Image:
    from PIL import Image as Images

    values = array("f", image.tobytes())
    if math.isfinite(sum(values)):
        return image
    clean = array("f", [value if math.isfinite(value) else 0.0 for value in values])
    return Images.frombytes("F", image.size, clean.tobytes())


def _to_srgb(image: Image, profile: bytes) -> Image | None:
    """Apply an embedded profile; `None` when it is broken, foreign to these pixels, or sRGB already."""
    try:
        from PIL import ImageCms
    except ImportError:
        return None
    try:
        given = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        described: Any = given.profile
        mode = _SPACES.get(described.xcolor_space.strip())
        if mode is None or (mode == "CMYK") != (image.mode == "CMYK"):
            return None
        if mode == "RGB" and "srgb" in (described.profile_description or "").lower():
            return None
        srgb = ImageCms.createProfile("sRGB")
        return ImageCms.profileToProfile(image.convert(mode), given, srgb, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None


def _from_lab(image: Image) -> Image:
    from PIL import ImageCms

    lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    converted = ImageCms.profileToProfile(image, lab, srgb, outputMode="RGB")
    assert converted is not None
    return converted
