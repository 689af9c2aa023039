"""What a picture says about its making: the IPTC digital source type, and a provider's signature.

Pictures of ours state in XMP how they were made. Pictures of providers are kept as they came: where
they carry Content Credentials (C2PA), any change of a byte would break the signature. That it is
there is reported; whether it is valid is not tested here.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, replace
from typing import Literal

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging.chunks import Part, find, joined, jpeg_part, parts_of, png_part, webp_part
from langgraph_interleave.types import ImageBytes

SOURCE_TYPES = "http://cv.iptc.org/newscodes/digitalsourcetype/"
#: Drawn by code; by code around a photo; by a model that was trained; by a model into or around a photo.
SourceType = Literal[
    "algorithmicMedia",
    "composite",
    "compositeSynthetic",
    "compositeWithTrainedAlgorithmicMedia",
    "trainedAlgorithmicMedia",
]

_XMP_IN_PNG = b"XML:com.adobe.xmp"
_XMP_IN_JPEG = b"http://ns.adobe.com/xap/1.0/\0"
_EXIF_IN_JPEG = b"Exif\0\0"
_STATED = re.compile(rb"digitalsourcetype/([A-Za-z]{3,60})")
#: The label that China's rules ask of providers, as text of its own or inside EXIF.
_LABEL = b"AIGC"
#: Texts in a PNG that say where it comes from, not what its maker was told.
_KEPT_TEXT = (_XMP_IN_PNG, _LABEL)
_XMP_FLAG, _EXIF_FLAG, _ALPHA_FLAG = 0x04, 0x08, 0x10
_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a picture says about its making.

    Attributes:
        source_type: The IPTC digital source type it states in XMP, else in its signed manifest.
        signed: It carries Content Credentials (C2PA). Not tested: whether they are valid.
    """

    source_type: str | None = None
    signed: bool = False


def read(data: bytes) -> Provenance:
    """What an encoded picture says about its making; anything may be passed.

    Example:
        >>> read(b"not a picture")
        Provenance(source_type=None, signed=False)
    """
    parts = parts_of(data)
    manifest = _manifest(parts)
    packet = _packet(parts)
    stated = _STATED.search(packet) or _STATED.search(manifest)
    return Provenance(stated[1].decode() if stated else None, bool(manifest))


def mark(image: ImageBytes, kind: SourceType) -> ImageBytes:
    """The same picture, with its digital source type stated in XMP. The pixels stay what they are.

    Args:
        image: A PNG, JPEG or WebP picture.
        kind: How it was made.

    Returns:
        A new picture; the same object when it is signed (a signature outweighs a mark) or says so
        already. XMP of other content is replaced.

    Raises:
        ConfigError: It is none of these formats.

    Example:
        >>> import io
        >>> from PIL import Image
        >>> buffer = io.BytesIO()
        >>> Image.new("RGB", (8, 8), "red").save(buffer, "PNG")
        >>> read(mark(ImageBytes(buffer.getvalue(), "image/png", 8, 8), "algorithmicMedia").data).source_type
        'algorithmicMedia'
    """
    found = read(image.data)
    if found.signed or found.source_type == kind:
        return image
    parts, packet = parts_of(image.data), xmp(kind).encode()
    if find(parts, "IHDR"):
        text = png_part("iTXt", _XMP_IN_PNG + b"\0\0\0\0\0" + packet)
        parts = [part for part in parts if not _is_xmp(part)]
        # After the header: readers that stop early see it.
        parts.insert(2, text)
    elif image.data.startswith(b"\xff\xd8") and len(parts) > 2:
        parts = [part for part in parts if not _is_xmp(part)]
        after = 2 if parts[1].name == "APP0" else 1
        parts.insert(after, jpeg_part(0xE1, _XMP_IN_JPEG + packet))
    elif find(parts, "VP8 ", "VP8L", "VP8X"):
        parts = _extended([part for part in parts if part.name != "XMP "], image)
        parts.append(webp_part("XMP ", packet))
    else:
        raise ConfigError(f"A picture of {image.mime} cannot be marked.", remedy="Encode it as PNG, JPEG or WebP.")
    return replace(image, data=joined(parts))


def without_private(data: bytes) -> bytes:
    """The same picture without what its maker's software wrote into it: prompts, settings, EXIF, comments.

    Servers write the whole prompt into PNG text. Colour profiles, XMP and the label `AIGC` stay.
    Signed pictures stay as they are, and so does whatever cannot be followed.

    Returns:
        The very same bytes where there is nothing to take out.
    """
    parts = parts_of(data)
    if _manifest(parts):
        return data
    kept = [part for part in parts if not _is_private(part)]
    if len(kept) == len(parts):
        return data
    head = find(kept, "VP8X")
    if head is not None and head.data and find(kept, "EXIF") is None:
        flags = bytes([head.data[0] & ~_EXIF_FLAG]) + head.data[1:]
        kept = [webp_part("VP8X", flags) if part is head else part for part in kept]
    return joined(kept)


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


def _manifest(parts: list[Part]) -> bytes:
    """The bytes of the Content Credentials, empty where there are none."""
    found = [part.data for part in parts if part.name in ("caBX", "C2PA")]
    # JPEG: JUMBF boxes in APP11, perhaps over several segments.
    found += [part.data for part in parts if part.name == "APP11" and part.data.startswith(b"JP")]
    whole = b"".join(found)
    return whole if b"c2pa" in whole else b""


def _packet(parts: list[Part]) -> bytes:
    part = next((part for part in parts if _is_xmp(part)), None)
    if part is None:
        return b""
    if part.name == "iTXt":
        compressed = part.data[len(_XMP_IN_PNG) + 1 : len(_XMP_IN_PNG) + 2] == b"\x01"
        text = part.data[len(_XMP_IN_PNG) + 3 :].split(b"\0", 2)[-1]
        if compressed:
            try:
                return zlib.decompressobj().decompress(text, _MOST)
            except zlib.error:
                return b""
        return text
    return part.data


def _is_xmp(part: Part) -> bool:
    return (
        part.name == "XMP "
        or (part.name == "iTXt" and part.data.startswith(_XMP_IN_PNG + b"\0"))
        or (part.name == "APP1" and part.data.startswith(_XMP_IN_JPEG))
    )


def _is_private(part: Part) -> bool:
    if part.name in ("tEXt", "zTXt", "iTXt"):
        return not part.data.startswith(tuple(key + b"\0" for key in _KEPT_TEXT))
    if part.name in ("eXIf", "EXIF") or (part.name == "APP1" and part.data.startswith(_EXIF_IN_JPEG)):
        return _LABEL not in part.data
    # Photoshop's block holds captions and bylines.
    return part.name in ("COM", "APP13")


def _extended(parts: list[Part], image: ImageBytes) -> list[Part]:
    """The parts of a WebP file in the form that may hold XMP, and says that it does."""
    head = find(parts, "VP8X")
    if head is not None:
        flags = bytes([head.data[0] | _XMP_FLAG]) + head.data[1:]
        return [webp_part("VP8X", flags) if part is head else part for part in parts]
    flags = _XMP_FLAG
    lossless = find(parts, "VP8L")
    if lossless is not None and len(lossless.data) >= 5 and lossless.data[4] & 0x10:
        flags |= _ALPHA_FLAG
    canvas = struct.pack("<I", image.width - 1)[:3] + struct.pack("<I", image.height - 1)[:3]
    return [parts[0], webp_part("VP8X", bytes([flags, 0, 0, 0]) + canvas), *parts[1:]]
