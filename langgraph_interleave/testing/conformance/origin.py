"""Where a picture comes from: nothing private of its references in it, and a mark that says who made it."""

from __future__ import annotations

from langgraph_interleave.errors import InterleaveError
from langgraph_interleave.testing.conformance.item import Item, exactly, with_references
from langgraph_interleave.testing.conformance.pictures import OWNER, opened, private
from langgraph_interleave.testing.conformance.subject import Failed, NotApplicable, NotProvable, Subject
from langgraph_interleave.types import ImageBytes

_GPS = 0x8825


async def metadata(subject: Subject) -> str:
    """What a telephone writes into a photo (place, owner, comment) does not get into the picture drawn from it."""
    if not subject.capabilities.max_references:
        raise NotApplicable("It takes no references.")
    result = await subject.refused(subject.request(references=(private(),)))
    if isinstance(result, InterleaveError):
        raise NotProvable(f"A photo with private metadata is refused: {result.message[:120]}")
    for image in result.images:
        if found := leaked(image):
            raise Failed(f"The picture holds {found} of the photo it was drawn from.")
    return "Place, owner and comment of a photo are not in the picture drawn from it."


def leaked(image: ImageBytes) -> str:
    """What of the private photo's metadata is in a picture, in words; empty for nothing."""
    picture = opened(image)
    exif = picture.getexif()
    if exif.get_ifd(_GPS):
        return "the place"
    words = [str(value) for value in (*picture.info.values(), *exif.values())]
    if OWNER.encode() in image.data or any(OWNER in word for word in words):
        return "the owner's name"
    return ""


async def provenance(subject: Subject) -> str:
    """Whether the picture says that a machine made it."""
    image = (await subject.plain()).images[0]
    head = image.data.lower()
    if b"c2pa" in head or b"jumb" in head:
        return "The picture is signed (C2PA), and the signature is kept."
    if b"digitalsourcetype" in head:
        return "The picture carries the IPTC digital source type."
    raise NotProvable("Nothing in the picture says that a machine made it.")


ITEMS = (
    Item(
        "metadata",
        "Keeps private metadata of references out of pictures",
        metadata,
        with_references(1),
        remedy=(
            "Hand on the pixels of references only, and return pictures through verify_image of "
            "langgraph_interleave.imaging."
        ),
    ),
    Item(
        "provenance",
        "Marks its pictures as made by a machine",
        provenance,
        exactly(0),
        remedy="Keep what the generator wrote into the picture about its origin.",
    ),
)
