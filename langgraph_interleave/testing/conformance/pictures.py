"""Pictures to try a backend with, and what is told by comparing two."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from langgraph_interleave.types import ImageBytes

if TYPE_CHECKING:
    from PIL.Image import Image

#: Sides of a reference, in pixels: every model takes that much, and it costs little.
SIDE = 128
#: Pictures no further apart than this, in grey levels, are the same picture drawn in another batch.
NEAR = 1
#: What a reference with private metadata is marked with.
OWNER = "conformance-owner-5d1f"


def two_colours(
    left: tuple[int, int, int], right: tuple[int, int, int], *, width: int = SIDE, height: int = SIDE
) -> ImageBytes:
    """A picture of two halves.

    Example:
        >>> two_colours((255, 0, 0), (0, 0, 255)).width
        128
    """
    from PIL import Image

    picture = Image.new("RGB", (width, height), left)
    picture.paste(right, (width // 2, 0, width, height))
    return _png(picture)


def half_mask(width: int, height: int) -> ImageBytes:
    """A mask whose left half may change: transparent there, opaque elsewhere."""
    from PIL import Image

    picture = Image.new("RGBA", (width, height), (255, 255, 255, 255))
    picture.paste((0, 0, 0, 0), (0, 0, width // 2, height))
    return _png(picture)


def private(width: int = SIDE, height: int = SIDE) -> ImageBytes:
    """A photograph as a telephone leaves it: with the place, the owner and a comment in it."""
    from PIL import ExifTags, Image

    picture = Image.linear_gradient("L").resize((width, height)).convert("RGB")
    exif = Image.Exif()
    exif[ExifTags.Base.Artist] = OWNER
    exif[ExifTags.Base.ImageDescription] = OWNER
    exif.get_ifd(ExifTags.IFD.GPSInfo).update({1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 18.0)})
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=92, exif=exif, comment=OWNER.encode())
    return ImageBytes(buffer.getvalue(), "image/jpeg", width, height)


def broken() -> ImageBytes:
    """Bytes that begin as a PNG and are none."""
    return ImageBytes(two_colours((9, 9, 9), (99, 99, 99)).data[:60] + b"\0" * 40, "image/png", SIDE, SIDE)


def opened(image: ImageBytes | bytes) -> Image:
    """A picture decoded, with whatever bands it has."""
    from PIL import Image

    picture = Image.open(io.BytesIO(image if isinstance(image, bytes) else image.data))
    picture.load()
    return picture


def apart(one: ImageBytes, other: ImageBytes, *, box: tuple[int, int, int, int] | None = None) -> int:
    """The largest difference between two pictures in grey levels, 0 to 255; 255 where the sizes differ.

    Example:
        >>> red = two_colours((255, 0, 0), (255, 0, 0))
        >>> apart(red, red), apart(red, two_colours((255, 0, 0), (0, 0, 255)))
        (0, 255)
    """
    from PIL import ImageChops

    pictures = opened(one).convert("RGB"), opened(other).convert("RGB")
    if pictures[0].size != pictures[1].size:
        return 255
    difference = ImageChops.difference(*pictures)
    bands = (difference.crop(box) if box else difference).getextrema()
    return max(int(high) for _, high in bands)  # type: ignore[misc]


def mean_apart(one: ImageBytes, other: ImageBytes, box: tuple[int, int, int, int]) -> float:
    """The mean difference of a part of two pictures in grey levels; the second is brought to the first's size."""
    from PIL import ImageChops, ImageStat

    first, second = opened(one).convert("RGB"), opened(other).convert("RGB")
    stat = ImageStat.Stat(ImageChops.difference(first, second.resize(first.size)).crop(box))
    return sum(stat.mean) / len(stat.mean)


def is_black(image: ImageBytes) -> bool:
    """Whether a picture shows nothing at all: it is black, or transparent, everywhere."""
    picture = opened(image)
    if "A" in picture.getbands() and picture.getchannel("A").getextrema() == (0, 0):
        return True
    return all(band == (0, 0) for band in picture.convert("RGB").getextrema())


def is_see_through(image: ImageBytes) -> bool:
    """Whether some of a picture is transparent."""
    picture = opened(image)
    if "transparency" in picture.info:
        picture = picture.convert("RGBA")
    return "A" in picture.getbands() and int(picture.getchannel("A").getextrema()[0]) < 255  # type: ignore[arg-type]


def _png(picture: Image) -> ImageBytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return ImageBytes(buffer.getvalue(), "image/png", picture.width, picture.height)
