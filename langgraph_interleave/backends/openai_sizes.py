"""Sizes that image models of the OpenAI API take, and the nearest one to what is wanted."""

from __future__ import annotations

from langgraph_interleave.types import ImageRequest

#: Pixels of a picture nobody gave a size for.
SIDE = 1024
MULTIPLE = 16
MIN_SIDE = 16
MAX_LONG, MAX_SHORT = 3840, 2160
MAX_ASPECT = 3
#: A reference larger than this does not make the picture as large: pixels are billed.
LARGEST_BY_REFERENCE = 1536
#: All that models before gpt-image-2 draw.
STANDARD = ((1024, 1024), (1536, 1024), (1024, 1536))


def is_standard(model: str) -> bool:
    """Whether a model draws the three standard sizes only.

    Example:
        >>> is_standard("gpt-image-1.5"), is_standard("gpt-image-2.6-flare"), is_standard("flux-2")
        (True, False, False)
    """
    name = model.rpartition("/")[2]
    return name.startswith(("gpt-image-1-", "gpt-image-1.")) or name in ("gpt-image-1", "chatgpt-image-latest")


def wanted_size(request: ImageRequest) -> tuple[int, int]:
    """The size wanted in pixels: as asked, else in the shape of the first reference, else a square."""
    width, height = request.width, request.height
    first = request.references[0] if request.references else None
    if width is None and height is None and first is not None:
        scale = min(1.0, LARGEST_BY_REFERENCE / max(first.width, first.height))
        return max(1, round(first.width * scale)), max(1, round(first.height * scale))
    aspect = first.width / first.height if first is not None else 1.0
    if width is None:
        width = SIDE if height is None else max(1, round(height * aspect))
    return width, max(1, round(width / aspect)) if height is None else height


def snapped(width: int, height: int, *, standard: bool = False) -> tuple[int, int]:
    """The size nearest to what is wanted that a model takes: the shape first, then the area.

    Args:
        width: Pixels wanted, ≥ 1.
        height: As `width`.
        standard: The model draws the three standard sizes only.

    Returns:
        Multiples of 16, at most 3 : 1 and 3840 by 2160 pixels (or upright). Not guaranteed: that the
        model takes one so small; the service has limits of its own, which it does not publish.

    Example:
        >>> snapped(1000, 700), snapped(70, 50), snapped(9000, 1000), snapped(500, 900, standard=True)
        ((992, 704), (64, 48), (3840, 1280), (1024, 1536))
    """
    if standard:
        return min(STANDARD, key=lambda size: abs(size[0] / size[1] - width / height))
    w, h = float(width), float(height)
    w, h = min(w, h * MAX_ASPECT), min(h, w * MAX_ASPECT)
    # The longer side gave way; the area comes back before it is cut to the largest.
    grow = (width * height / (w * h)) ** 0.5
    w, h = w * grow, h * grow
    shrink = min(1.0, MAX_LONG / max(w, h), MAX_SHORT / min(w, h))
    long, short = _multiple(max(w, h) * shrink), _multiple(min(w, h) * shrink)
    long, short = min(long, MAX_LONG, short * MAX_ASPECT), min(short, MAX_SHORT)
    return (long, short) if width >= height else (short, long)


def _multiple(pixels: float) -> int:
    return max(MIN_SIDE, round(pixels / MULTIPLE) * MULTIPLE)
