"""Sizes that image models of the OpenAI API take, and the nearest one to what is wanted."""

from __future__ import annotations

from langgraph_interleave.imaging.sizes import snap_size, wanted_size
from langgraph_interleave.types import Capabilities

__all__ = ["MAX_LONG", "MAX_SHORT", "MIN_SIDE", "MULTIPLE", "STANDARD", "is_standard", "snapped", "wanted_size"]

MULTIPLE = 16
MIN_SIDE = 16
MAX_LONG, MAX_SHORT = 3840, 2160
MAX_ASPECT = 3.0
#: All that models before gpt-image-2 draw.
STANDARD = ("1024x1024", "1536x1024", "1024x1536")


def is_standard(model: str) -> bool:
    """Whether a model draws the three standard sizes only.

    Example:
        >>> is_standard("gpt-image-1.5"), is_standard("gpt-image-2.6-flare"), is_standard("flux-2")
        (True, False, False)
    """
    name = model.rpartition("/")[2]
    return name.startswith(("gpt-image-1-", "gpt-image-1.")) or name in ("gpt-image-1", "chatgpt-image-latest")


def bounds(*, standard: bool = False, multiple: int = MULTIPLE, most: int | None = None) -> Capabilities:
    """What the API says about sizes, as the part of capabilities that is about them.

    Args:
        standard: The model draws the three standard sizes only.
        multiple: Sides are multiples of this.
        most: Largest area the operator allows, in pixels.
    """
    if standard:
        return Capabilities(sizes=STANDARD, size_multiple=512, min_side=1024, max_pixels=1536 * 1024, max_aspect=1.5)
    return Capabilities(
        size_multiple=multiple,
        min_side=multiple,
        max_pixels=min(most or MAX_LONG * MAX_SHORT, MAX_LONG * MAX_SHORT),
        max_aspect=MAX_ASPECT,
    )


def snapped(
    width: int, height: int, *, standard: bool = False, multiple: int = MULTIPLE, most: int | None = None
) -> tuple[int, int]:
    """The size nearest to what is wanted that a model takes: the shape first, then the area.

    Args:
        width: Pixels wanted, ≥ 1.
        height: As `width`.
        standard: The model draws the three standard sizes only.
        multiple: Sides the server keeps as they are.
        most: Largest area the operator allows, in pixels.

    Returns:
        Multiples of 16, at most 3 : 1 and 3840 by 2160 pixels (or upright). Not guaranteed: that the
        model takes one so small; the service has limits of its own, which it does not publish.

    Example:
        >>> snapped(1000, 700), snapped(70, 50), snapped(9000, 1000), snapped(500, 900, standard=True)
        ((992, 704), (64, 48), (3840, 1280), (1024, 1536))
    """
    within = bounds(standard=standard, multiple=multiple, most=most)
    found = snap_size(width, height, within, max_long=MAX_LONG, max_short=MAX_SHORT)
    return found.width, found.height
