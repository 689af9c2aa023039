"""The size a backend can draw that is nearest to the one wanted."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest

#: Pixels of a picture nobody gave a size for.
SIDE = 1024
#: A reference larger than this does not make the picture as large: pixels cost time or money.
LARGEST_BY_REFERENCE = 1536

_ENTRY = re.compile(r"(\d{1,5})\s*([x×:])\s*(\d{1,5})")


@dataclass(frozen=True, slots=True)
class Snapped:
    """A size that can be drawn.

    Attributes:
        width: Pixels, ≥ 1. Where only a ratio can be chosen, what that ratio is likely to give.
        height: As `width`.
        entry: The entry of `Capabilities.sizes` that was chosen (`1536x1024`, `16:9`), if there are any.
        warning: Says what was asked for and what is drawn; `None` where that is the same.
    """

    width: int
    height: int
    entry: str | None = None
    warning: str | None = None


def wanted_size(request: ImageRequest, *, side: int = SIDE, largest: int = LARGEST_BY_REFERENCE) -> tuple[int, int]:
    """The size wanted in pixels: as asked, else in the shape of the first reference, else a square.

    Args:
        request: Its `width`, `height` and first reference are read.
        side: Of the square, in pixels, and the width where only the shape is known.
        largest: Longest side taken from a reference, in pixels.

    Returns:
        Width and height, each ≥ 1. What was asked for as 0 or less counts as not asked for.

    Example:
        >>> wanted_size(ImageRequest("x", width=300)), wanted_size(ImageRequest("x"))
        ((300, 300), (1024, 1024))
    """
    width = request.width if request.width and request.width > 0 else None
    height = request.height if request.height and request.height > 0 else None
    first: ImageBytes | None = request.references[0] if request.references else None
    if width is None and height is None and first is not None:
        scale = min(1.0, largest / max(first.width, first.height))
        return max(1, round(first.width * scale)), max(1, round(first.height * scale))
    aspect = first.width / first.height if first is not None else 1.0
    if width is None:
        width = side if height is None else max(1, round(height * aspect))
    return width, max(1, round(width / aspect)) if height is None else height


def snap_size(
    width: int,
    height: int,
    capabilities: Capabilities,
    *,
    name: str = "the backend",
    max_long: int | None = None,
    max_short: int | None = None,
) -> Snapped:
    """The size nearest to what is wanted that a backend draws: the shape is kept first, then the area.

    Args:
        width: Pixels wanted, ≥ 1.
        height: As `width`.
        capabilities: `sizes` or `size_multiple`, `min_side`, `max_pixels` and `max_aspect` of it are read.
        name: Whom to name in the warning.
        max_long: Longest the longer side may be, in pixels.
        max_short: Longest the shorter side may be, in pixels.

    Returns:
        A size within all bounds, upright where the wanted one is. Where the bounds contradict each
        other, the shortest side goes before the largest area. A side is never 0.

    Example:
        >>> snap_size(70, 50, Capabilities(size_multiple=16), name="klein").warning
        '70x50 was asked for; klein draws 64x48.'
        >>> chosen = snap_size(1920, 1080, Capabilities(sizes=("1:1", "16:9", "9:16"), max_pixels=1024 * 1024))
        >>> chosen.entry, chosen.width, chosen.height
        ('16:9', 1365, 768)
    """
    width, height = max(1, width), max(1, height)
    listed = list(_listed(capabilities.sizes))
    entry: str | None = None
    if listed:
        entry, w, h = _nearest(width, height, listed, capabilities)
    else:
        w, h = _within(width, height, capabilities, max_long, max_short)
    same = (w, h) == (width, height)
    return Snapped(w, h, entry, None if same else f"{width}x{height} was asked for; {name} draws {w}x{h}.")


def _listed(sizes: Sequence[str]) -> Iterator[tuple[str, int, int, bool]]:
    """Entry, its two numbers, and whether they are pixels."""
    for entry in sizes:
        match = _ENTRY.fullmatch(entry.strip())
        if match is not None and int(match[1]) and int(match[3]):
            yield entry, int(match[1]), int(match[3]), match[2] != ":"


def _nearest(
    width: int, height: int, listed: Sequence[tuple[str, int, int, bool]], capabilities: Capabilities
) -> tuple[str, int, int]:
    def sized(one: tuple[str, int, int, bool]) -> tuple[str, int, int]:
        entry, w, h, pixels = one
        return (entry, w, h) if pixels else (entry, *_of_shape(w / h, width * height, capabilities))

    def distance(one: tuple[str, int, int, bool]) -> tuple[float, float]:
        _, w, h = sized(one)
        shape = abs(math.log(one[1] / one[2] / (width / height)))
        return round(shape, 6), abs(math.log(w * h / (width * height)))

    return sized(min(listed, key=distance))


def _of_shape(aspect: float, area: int, capabilities: Capabilities) -> tuple[int, int]:
    """Pixels of a shape, of the area wanted or the largest possible."""
    area = max(1, min(area, capabilities.max_pixels))
    step = max(1, capabilities.size_multiple)
    low = _up(max(1, capabilities.min_side), step)
    width, height = (area * aspect) ** 0.5, (area / aspect) ** 0.5
    return max(low, _down(width, step)), max(low, _down(height, step))


def _within(
    width: int, height: int, capabilities: Capabilities, max_long: int | None, max_short: int | None
) -> tuple[int, int]:
    step, most = max(1, capabilities.size_multiple), max(1, capabilities.max_pixels)
    low = _up(max(1, capabilities.min_side), step)
    top_long, top_short = max_long or 10**9, max_short or max_long or 10**9
    aspect = max(1.0, capabilities.max_aspect) if capabilities.max_aspect else math.inf
    long, short = float(max(width, height)), float(min(width, height))
    if long > short * aspect:
        # The longer side gives way, and the area comes back.
        short = (long * short / aspect) ** 0.5
        long = short * aspect
    shrink = min(1.0, top_long / long, top_short / short, (most / (long * short)) ** 0.5)
    long, short = long * shrink, short * shrink
    if short < low:
        long, short = min(long * low / short, top_long, max(low, most / low)), float(low)
    longest, shortest = max(low, _down(top_long, step)), max(low, _down(top_short, step))
    wide, narrow = min(_near(long, step, low), longest), min(_near(short, step, low), shortest)
    while wide * narrow > most and wide > low:
        # Rounding went over the area: the step down that keeps the shape best.
        steps = [(wide - step, narrow), (wide, narrow - step), (wide - step, narrow - step)]
        fewer = [size for size in steps if size[0] >= size[1] >= low]
        if not fewer:
            break
        wide, narrow = min(fewer, key=lambda size: abs(math.log(size[0] / size[1] * short / long)))
    if aspect < math.inf:
        wide = max(narrow, min(wide, _down(narrow * aspect, step)))
    return (wide, narrow) if width >= height else (narrow, wide)


def _near(pixels: float, step: int, low: int) -> int:
    return max(low, round(pixels / step) * step)


def _down(pixels: float, step: int) -> int:
    # What floating point left a hair below a multiple is that multiple.
    return max(step, int(pixels / step + 1e-9) * step)


def _up(pixels: int, step: int) -> int:
    return -(-pixels // step) * step
