"""The size a picture is drawn in: what is wanted, and the nearest a pipeline takes."""

from __future__ import annotations

from langgraph_interleave.backends.diffusers.families import Family
from langgraph_interleave.errors import InvalidRequest
from langgraph_interleave.imaging.sizes import snap_size
from langgraph_interleave.types import Capabilities, ImageRequest

Size = tuple[int, int]


def size_of(
    request: ImageRequest, family: Family, *, side: int | None = None, what: str = "the model"
) -> tuple[Size, tuple[str, ...]]:
    """The size to draw, and what has to be said about it.

    As asked; a side nobody gave follows from the shape of the first reference, which is followed
    altogether where no side was given, up to the area the model was made for.

    Args:
        request: What is wanted.
        family: What the pipeline takes.
        side: Of a picture nobody gave a size for; the family's own by default.
        what: Whom to name.

    Raises:
        InvalidRequest: A side is less than one pixel.

    Example:
        >>> size_of(ImageRequest("a cat", width=70, height=50), Family())
        ((96, 64), ('70x50 was asked for; the model draws 96x64.',))
    """
    for pixels in (request.width, request.height):
        if pixels is not None and pixels < 1:
            raise InvalidRequest(f"A side of {pixels} pixels cannot be drawn.", remedy="Give 1 or more.")
    side = side or family.side
    first = request.references[0] if request.references else None
    width, height = request.width, request.height
    asked = width is not None or height is not None
    if first is not None and not asked:
        shrink = min(1.0, side / (first.width * first.height) ** 0.5)
        width, height = max(1, round(first.width * shrink)), max(1, round(first.height * shrink))
    aspect = first.width / first.height if first is not None else 1.0
    if width is None:
        width = side if height is None else max(1, round(height * aspect))
    if height is None:
        height = max(1, round(width / aspect))
    chosen = snap_size(width, height, bounds_of(family), name=what)
    return (chosen.width, chosen.height), (chosen.warning,) if asked and chosen.warning else ()


def bounds_of(family: Family) -> Capabilities:
    """The sizes a family draws, as the contract puts them."""
    return Capabilities(
        size_multiple=family.multiple,
        min_side=family.min_side,
        max_pixels=family.max_pixels,
        max_aspect=family.max_aspect,
    )
