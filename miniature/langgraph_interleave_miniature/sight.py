"""Sight: a picture's bytes as a critic sees them: opened, brought to size, read, and held against a drawing."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph_interleave.types import ImageBytes

from langgraph_interleave_miniature.drawing import SIDE, draw
from langgraph_interleave_miniature.reading import Reader, Reading

if TYPE_CHECKING:
    from PIL import Image

#: Mean difference between a picture and the drawing of what was read in it, in grey levels, above which it is
#: hardly one of this world.
FOREIGN = 40.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What a critic sees of a picture.

    Args:
        reading: What was read in it.
        difference: Mean difference from the drawing of that, in grey levels, 0 to 255.
        size: Its sides before it was brought to 64 x 64.
    """

    reading: Reading
    difference: float
    size: tuple[int, int]

    @property
    def foreign(self) -> bool:
        """Whether it hardly shows the miniature's world at all."""
        return self.difference > FOREIGN


def see(image: ImageBytes, reader: Reader) -> Seen | None:
    """Look at a picture; `None` if it cannot be opened."""
    picture = _opened(image)
    if picture is None:
        return None
    size = picture.size
    if size != (SIDE, SIDE):
        picture = picture.resize((SIDE, SIDE))
    reading = reader(picture)
    return Seen(reading, _difference(picture, draw(reading.scene)), size)


def _opened(image: ImageBytes) -> Image.Image | None:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(image.data)) as file:
            return file.convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        return None


def _difference(one: Image.Image, other: Image.Image) -> float:
    from PIL import ImageChops, ImageStat

    means = ImageStat.Stat(ImageChops.difference(one, other)).mean
    return sum(means) / len(means)
