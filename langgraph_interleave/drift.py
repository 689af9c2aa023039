"""How far a picture has come from another: a measure of drift over a sequence, from pixels alone.

Half of it is structure, half colour, each 0 to 1:

  structure  both pictures in grey at 17 x 17; for each pair of neighbours, sideways and downwards, whether it
             gets lighter, darker, or neither by more than 3 levels; the share of these edges that differ
  colour     histograms of both pictures at 32 x 32 over 5 x 5 x 5 colours, each pixel shared between the
             nearest; half the sum of the differences

0 is the same picture to these eyes; pictures that have nothing to do with each other come out between 0.5
and 1. It does not know what is shown: a change that was asked for counts like one that was not, so compare
the figures of runs of the same plan, not those of different plans.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, cast

from langgraph_interleave.imaging.color import to_rgb
from langgraph_interleave.imaging.formats import MAX_PIXELS, decode
from langgraph_interleave.types import ImageBytes

if TYPE_CHECKING:
    from PIL.Image import Image

_GRID = 16
_SIDE = 32
_BINS = 5
#: Neighbours that differ by no more are alike: paper grain and compression are no edges.
_FLAT = 3


@dataclass(frozen=True, slots=True)
class Look:
    """What is kept of a picture to compare it: its edges, and how much of which colour there is."""

    edges: tuple[int, ...]
    colors: tuple[float, ...]


def look_of(picture: ImageBytes) -> Look:
    """The look of a picture; some milliseconds.

    Raises:
        Unreadable: It cannot be decoded.
    """
    image = reduced(picture, 256)
    grey = _resized(image.convert("L"), _GRID + 1)
    return Look(_edges(grey), _colors(_resized(image, _SIDE)))


def drift(one: Look, other: Look) -> float:
    """How far two pictures are apart, 0 to 1, to three decimals; the same both ways.

    Example:
        >>> drift(Look((1, 0, -1), (1.0, 0.0)), Look((1, 0, -1), (0.5, 0.5)))
        0.25
    """
    color = sum(abs(a - b) for a, b in zip(one.colors, other.colors, strict=True)) / 2
    return round(min(1.0, 0.5 * structure(one, other) + 0.5 * color), 3)


def structure(one: Look, other: Look) -> float:
    """The half of `drift` that knows nothing of colours, 0 to 1: the share of the edges that differ."""
    pairs = list(zip(one.edges, other.edges, strict=True))
    there = sum(abs(a) + abs(b) for a, b in pairs)
    return sum(abs(a - b) for a, b in pairs) / there if there else 0.0


def reduced(picture: ImageBytes, side: int) -> Image:
    """A picture in RGB, on white, with no side longer than `side` pixels; a smaller one is left as it is.

    Raises:
        Unreadable: It cannot be decoded.
    """
    image, _ = decode(picture.data, max(MAX_PIXELS, picture.width * picture.height))
    rgb = to_rgb(image)
    factor = max(rgb.size) // side
    return rgb.reduce(factor) if factor > 1 else rgb


def _resized(image: Image, side: int) -> Image:
    from PIL.Image import Resampling

    return image.resize((side, side), Resampling.BOX)


def _edges(grey: Image) -> tuple[int, ...]:
    values = grey.tobytes()
    wide = _GRID + 1
    found: list[int] = []
    for y, x in product(range(_GRID), range(_GRID)):
        here = values[y * wide + x]
        found += [_sign(values[y * wide + x + 1] - here), _sign(values[(y + 1) * wide + x] - here)]
    return tuple(found)


def _sign(difference: int) -> int:
    return 0 if abs(difference) <= _FLAT else 1 if difference > 0 else -1


def _colors(image: Image) -> tuple[float, ...]:
    counts = [0.0] * _BINS**3
    data = image.tobytes()
    total = len(data) // 3
    for at in range(0, len(data), 3):
        # Shared between neighbouring bins, so that a small shift is a small difference.
        sides = [_shares(data[at + band]) for band in range(3)]
        for (r, a), (g, b), (c, d) in product(*sides):
            counts[(r * _BINS + g) * _BINS + c] += a * b * d
    return tuple(count / total for count in counts)


def _shares(value: int) -> tuple[tuple[int, float], ...]:
    place = value / 255 * (_BINS - 1)
    low = min(int(place), _BINS - 2)
    over = place - low
    return cast("tuple[tuple[int, float], ...]", ((low, 1 - over), (low + 1, over)))
