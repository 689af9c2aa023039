"""What a picture of ours says about itself: how it was made, and the scene it shows.

Every picture carries the IPTC digital source type in XMP (drawn by code: `algorithmicMedia`; with a
photo in it: `composite`). A PNG also carries its scene as JSON, so that a later request can change
it in plain words, and where its photo is, so that it can be kept. No critic reads that: critics look
at pixels.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from langgraph_interleave.imaging.provenance import xmp
from langgraph_interleave.types.artifact import ImageBytes
from langgraph_interleave.world.scene import Scene

if TYPE_CHECKING:
    from PIL.Image import Image

Format = Literal["PNG", "JPEG", "WEBP"]
Area = tuple[int, int, int, int]
MIME = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}

#: Keyword of the PNG text chunk with the scene.
SCENE_KEY = "langgraph-interleave.scene"
#: Keyword of the PNG text chunk that says where the photo is: left, top, right, bottom in pixels.
PHOTO_KEY = "langgraph-interleave.photo"
_XMP_KEY = "XML:com.adobe.xmp"
# Larger than any scene: what is not ours is not parsed.
_MOST = 200_000


def encode(image: Image, scene: Scene, *, fmt: Format = "PNG", photo: Area | None = None) -> bytes:
    """Encode a picture with its marks.

    Args:
        image: What to encode, RGB.
        scene: What it shows.
        fmt: The format; only PNG carries the scene.
        photo: Where in it a photo is, if one is.
    """
    packet = xmp("composite" if photo else "algorithmicMedia")
    buffer = io.BytesIO()
    if fmt == "PNG":
        from PIL.PngImagePlugin import PngInfo

        marks = PngInfo()
        marks.add_itxt(_XMP_KEY, packet)
        marks.add_itxt(SCENE_KEY, scene.model_dump_json(exclude_defaults=True))
        if photo:
            marks.add_text(PHOTO_KEY, ",".join(map(str, photo)))
        image.save(buffer, "PNG", pnginfo=marks, compress_level=3)
    elif fmt == "JPEG":
        image.save(buffer, "JPEG", quality=92, subsampling=0, xmp=packet.encode())
    else:
        image.save(buffer, "WEBP", quality=90, xmp=packet.encode())
    return buffer.getvalue()


def scene_of(data: bytes) -> Scene | None:
    """The scene a picture of ours carries.

    Args:
        data: An encoded picture, anybody's.

    Returns:
        Its scene, or `None` when it is not ours, or no longer carries one (it was encoded anew).
    """
    text = _text(data, SCENE_KEY)
    if text is None:
        return None
    try:
        return Scene.model_validate_json(text)
    except ValidationError:
        return None


def photo_of(data: bytes) -> ImageBytes | None:
    """The photo in a picture of ours, as large as it was drawn; `None` when there is none.

    Not guaranteed: its corners, over which tape is drawn.
    """
    text = _text(data, PHOTO_KEY)
    if text is None:
        return None
    from PIL import Image

    try:
        left, top, right, bottom = map(int, text.split(","))
        with Image.open(io.BytesIO(data)) as image:
            if not (0 <= left < right <= image.width and 0 <= top < bottom <= image.height):
                return None
            shown = image.convert("RGB").crop((left, top, right, bottom))
    except (OSError, ValueError, SyntaxError):
        return None
    buffer = io.BytesIO()
    shown.save(buffer, "PNG")
    return ImageBytes(buffer.getvalue(), MIME["PNG"], shown.width, shown.height)


def _text(data: bytes, key: str) -> str | None:
    """A text chunk of a PNG, `None` where there is none."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            text: object = image.info.get(key) if image.format == "PNG" else None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return str(text) if isinstance(text, str) and len(text) <= _MOST else None
