"""Sight: a picture's bytes as a critic sees them: opened, brought to size, read, and held against a drawing."""

from __future__ import annotations

import io
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging import load_image
from langgraph_interleave.types import ImageBytes

from langgraph_interleave_miniature.drawing import SIDE, draw
from langgraph_interleave_miniature.reading import Reader, Reading
from langgraph_interleave_miniature.storage import READER, digest_of, weights

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


class Sight:
    """Looks at pictures with a reader, which is loaded when the first picture comes.

    Args:
        reader: Another reader; by default the trained one of `folder`.
        folder: Folder of weights; this package's own by default.
    """

    def __init__(self, reader: Reader | None = None, *, folder: str | Path | None = None) -> None:
        self._reader = reader
        self._folder = folder
        self._loading = threading.Lock()

    @property
    def kind(self) -> str:
        """What tells its reader from another, for fingerprints.

        Raises:
            ConfigError: The reader's weights are not there.
        """
        if self._reader is not None:
            return type(self._reader).__name__
        return digest_of(weights(READER, self._folder))

    def see(self, image: ImageBytes) -> Seen | None:
        """Look at a picture; `None` if it cannot be opened. Takes about a hundredth of a second.

        Raises:
            ConfigError: The reader's weights are not there.
        """
        picture = _opened(image)
        if picture is None:
            return None
        size = picture.size
        if size != (SIDE, SIDE):
            picture = picture.resize((SIDE, SIDE))
        reading = self._loaded()(picture)
        return Seen(reading, _difference(picture, draw(reading.scene)), size)

    def _loaded(self) -> Reader:
        with self._loading:
            if self._reader is None:
                from langgraph_interleave_miniature.reader import TrainedReader

                self._reader = TrainedReader(weights(READER, self._folder))
            return self._reader


def _opened(image: ImageBytes) -> Image.Image | None:
    from PIL import Image

    try:
        plain = load_image(image.data, name="the picture")
    except ConfigError:
        return None
    with Image.open(io.BytesIO(plain.data)) as file:
        return file.convert("RGB")


def _difference(one: Image.Image, other: Image.Image) -> float:
    from PIL import ImageChops, ImageStat

    means = ImageStat.Stat(ImageChops.difference(one, other)).mean
    return sum(means) / len(means)
