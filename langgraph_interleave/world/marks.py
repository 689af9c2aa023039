"""What a picture of ours says about itself: how it was made, and the scene it shows.

Every picture carries the IPTC digital source type in XMP (drawn by code: `algorithmicMedia`; with a
photo in it: `composite`). A PNG also carries its scene as JSON, so that a later request can change
it in plain words. No critic reads that: critics look at pixels.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from langgraph_interleave.world.scene import Scene

if TYPE_CHECKING:
    from PIL.Image import Image

Format = Literal["PNG", "JPEG", "WEBP"]
MIME = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}

SOURCE_TYPES = "http://cv.iptc.org/newscodes/digitalsourcetype/"
#: Keyword of the PNG text chunk with the scene.
SCENE_KEY = "langgraph-interleave.scene"
_XMP_KEY = "XML:com.adobe.xmp"
# Larger than any scene: what is not ours is not parsed.
_MOST = 200_000


def encode(image: Image, scene: Scene, *, fmt: Format = "PNG", composite: bool = False) -> bytes:
    """Encode a picture with its marks.

    Args:
        image: What to encode, RGB.
        scene: What it shows.
        fmt: The format; only PNG carries the scene.
        composite: A photo is part of it.
    """
    packet = xmp("composite" if composite else "algorithmicMedia")
    buffer = io.BytesIO()
    if fmt == "PNG":
        from PIL.PngImagePlugin import PngInfo

        marks = PngInfo()
        marks.add_itxt(_XMP_KEY, packet)
        marks.add_itxt(SCENE_KEY, scene.model_dump_json(exclude_defaults=True))
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
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.format != "PNG":
                return None
            text: object = image.info.get(SCENE_KEY)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    if not isinstance(text, str) or len(text) > _MOST:
        return None
    try:
        return Scene.model_validate_json(text)
    except ValidationError:
        return None


def xmp(source_type: str) -> str:
    """The XMP packet that states a digital source type."""
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
        '<x:xmpmeta xmlns:x="adobe:ns:meta/">'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">'
        f"<Iptc4xmpExt:DigitalSourceType>{SOURCE_TYPES}{source_type}</Iptc4xmpExt:DigitalSourceType>"
        "</rdf:Description></rdf:RDF></x:xmpmeta>"
        '<?xpacket end="w"?>'
    )
