"""Pictures on their way into a pipeline and out of it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from langgraph_interleave.backends.diffusers.families import Family
from langgraph_interleave.backends.diffusers.sizes import Size
from langgraph_interleave.errors import BadResponse, ConfigError, InvalidRequest
from langgraph_interleave.imaging import MAX_PIXELS, load_image
from langgraph_interleave.imaging.color import has_transparency, to_rgb
from langgraph_interleave.imaging.formats import Unreadable, decode
from langgraph_interleave.imaging.provenance import xmp
from langgraph_interleave.types import ImageBytes

if TYPE_CHECKING:
    from PIL.Image import Image

_ORIENTATION = 0x0112


def opened(reference: ImageBytes, what: str) -> Image:
    """A reference as pipelines take it: upright, opaque, 8-bit sRGB; its first frame.

    Raises:
        InvalidRequest: It cannot be read.
    """
    try:
        file, _ = decode(reference.data, MAX_PIXELS)
        if file.getexif().get(_ORIENTATION, 1) != 1:
            file, _ = decode(load_image(reference.data, name=what).data, MAX_PIXELS)
        return to_rgb(file)
    except Unreadable as error:
        raise InvalidRequest(f"{what} is {error.reason}.", remedy=error.remedy) from error
    except ConfigError as error:
        raise InvalidRequest(error.message, remedy=error.remedy) from error


def fitted(picture: Image, family: Family, size: Size, what: str) -> tuple[Image, tuple[str, ...]]:
    """A reference in a size the pipeline takes.

    One that is too small is enlarged, one larger than the model was made for is made smaller, in its
    shape. For a pipeline that draws in the size of its reference it is cropped around the middle to the
    size wanted; nothing is stretched.

    Raises:
        InvalidRequest: It is longer than the pipeline takes.
    """
    from PIL import ImageOps
    from PIL.Image import Resampling

    if not family.sized or family.edit == "img2img" or family.masked:
        if picture.size == size:
            return picture, ()
        cropped = abs(picture.width * size[1] - picture.height * size[0]) > max(size) * max(picture.size) * 0.05
        said = f"{what} was cropped to the shape of the picture, {size[0]}x{size[1]}."
        return ImageOps.fit(picture, size, Resampling.LANCZOS), (said,) if cropped else ()
    longest, shortest = max(picture.size), min(picture.size)
    if longest > shortest * family.max_aspect:
        raise InvalidRequest(
            f"{what} is {picture.width}x{picture.height} pixels, which is too long for this model.",
            remedy=f"Its longer side is at most {family.max_aspect:g} times the shorter; crop it.",
        )
    small = shortest < family.min_side
    # Models look at references in the area they were made for; more only takes memory.
    scale = family.min_side / shortest if small else min(1.0, family.side / (picture.width * picture.height) ** 0.5)
    if scale == 1.0:
        return picture, ()
    sides = (max(family.min_side, round(picture.width * scale)), max(family.min_side, round(picture.height * scale)))
    said = f"{what} is {picture.width}x{picture.height}; it was enlarged to {sides[0]}x{sides[1]}."
    return picture.resize(sides, Resampling.LANCZOS), (said,) if small else ()


def painted(mask: ImageBytes, size: Size) -> Image:
    """A mask as pipelines take it: white where the picture may change.

    Raises:
        InvalidRequest: It cannot be read, or marks nothing.
    """
    from PIL import ImageOps
    from PIL.Image import Resampling

    try:
        file, _ = decode(mask.data, MAX_PIXELS)
    except Unreadable as error:
        raise InvalidRequest(f"The mask is {error.reason}.", remedy=error.remedy) from error
    if not has_transparency(file):
        raise InvalidRequest("The mask is opaque everywhere.", remedy="Make transparent what may change.")
    alpha = file.convert("RGBA").getchannel("A")
    return ImageOps.fit(ImageOps.invert(alpha), size, Resampling.NEAREST)


def plain(drawn: Any) -> list[Image | None]:
    """What a pipeline returned, as pictures: a tensor of values from 0 to 1, or pictures already.

    `None` stands for values that are not numbers.
    """
    from PIL import Image as Images

    if not hasattr(drawn, "isfinite"):
        return [one.convert("RGB") for one in drawn]
    pictures: list[Image | None] = []
    for one in drawn.detach().float().cpu():
        if not bool(one.isfinite().all()):
            pictures.append(None)
            continue
        # Rounded as diffusers does, so that the pixels are those it would have returned.
        pixels = (one * 255).round().clamp(0, 255).permute(1, 2, 0).contiguous().byte().numpy()
        pictures.append(Images.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).convert("RGB"))
    return pictures


def verified(picture: Image | None, what: str) -> Image:
    """A drawn picture, if it is one.

    Raises:
        BadResponse: Its values are no numbers, or it is black all over.
    """
    if picture is None:
        raise BadResponse(
            f"{what} computed values that are not numbers.",
            remedy="Use dtype=bfloat16 or float32; if it stays so, the weights are damaged.",
            code="not_finite", ambiguous=False,
        )  # fmt: skip
    if all(extremes == (0, 0) for extremes in picture.getextrema()):
        raise BadResponse(
            f"{what} drew a picture that is black all over.",
            remedy="Its numbers overflow or a filter blanked it: use dtype=bfloat16 or float32, or another seed.",
            code="black", ambiguous=False,
        )  # fmt: skip
    return picture


def encoded(picture: Image, seed: int | None, *, edited: bool) -> ImageBytes:
    """A drawn picture as a PNG that says a trained model made it (IPTC digital source type)."""
    from PIL.PngImagePlugin import PngInfo

    marks = PngInfo()
    kind = "compositeWithTrainedAlgorithmicMedia" if edited else "trainedAlgorithmicMedia"
    marks.add_itxt("XML:com.adobe.xmp", xmp(kind))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", pnginfo=marks, compress_level=4)
    return ImageBytes(buffer.getvalue(), "image/png", picture.width, picture.height, seed=seed)
