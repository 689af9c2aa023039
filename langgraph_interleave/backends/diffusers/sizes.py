"""The size a picture is drawn in: what is wanted, and the nearest a pipeline takes."""

from __future__ import annotations

from langgraph_interleave.backends.diffusers.families import Family
from langgraph_interleave.errors import InvalidRequest
from langgraph_interleave.types import ImageRequest

Size = tuple[int, int]


def size_of(request: ImageRequest, family: Family, side: int | None = None) -> tuple[Size, tuple[str, ...]]:
    """The size to draw, and what has to be said about it.

    As asked; a side nobody gave follows from the shape of the first reference, which is followed
    altogether where no side was given, up to the area the model was made for.

    Args:
        request: What is wanted.
        family: What the pipeline takes.
        side: Of a picture nobody gave a size for; the family's own by default.

    Raises:
        InvalidRequest: A side is less than one pixel.

    Example:
        >>> size_of(ImageRequest("a cat", width=70, height=50), Family())
        ((96, 64), ('The size 70x50 was asked for; the picture is 96x64.',))
    """
    for pixels in (request.width, request.height):
        if pixels is not None and pixels < 1:
            raise InvalidRequest(f"A side of {pixels} pixels cannot be drawn.", remedy="Give 1 or more.")
    side = side or family.side
    first = request.references[0] if request.references else None
    width, height = request.width, request.height
    if width is None and height is None:
        wanted = (side, side) if first is None else _within((first.width, first.height), side * side)
        return snapped(wanted, family), ()
    aspect = first.width / first.height if first is not None else 1.0
    if width is None:
        assert height is not None
        width = max(1, round(height * aspect))
    if height is None:
        height = max(1, round(width / aspect))
    actual = snapped((width, height), family)
    if actual == (width, height):
        return actual, ()
    said = f"The size {width}x{height} was asked for; the picture is {actual[0]}x{actual[1]}."
    return actual, (said,)


def snapped(wanted: tuple[float, float], family: Family) -> Size:
    """The nearest size that a pipeline draws: the shape first, then the area.

    Example:
        >>> snapped((1000, 700), Family()), snapped((9000, 100), Family())
        ((992, 704), (2688, 336))
    """
    width, height = wanted
    area = width * height
    longest = family.max_aspect
    width, height = min(width, height * longest), min(height, width * longest)
    grow = (area / (width * height)) ** 0.5
    width, height = _within((width * grow, height * grow), family.max_pixels)
    # A side that is too short makes the whole picture larger: its shape stays.
    enlarge = max(1.0, family.min_side / min(width, height))
    width, height = width * enlarge, height * enlarge
    least = -(-family.min_side // family.multiple) * family.multiple
    sides = [max(least, round(pixels / family.multiple) * family.multiple) for pixels in (width, height)]
    while sides[0] * sides[1] > family.max_pixels and max(sides) > least:
        # Rounding up went over the area.
        sides[sides.index(max(sides))] -= family.multiple
    while max(sides) > min(sides) * longest:
        sides[sides.index(max(sides))] -= family.multiple
    return sides[0], sides[1]


def _within(size: tuple[float, float], area: float) -> tuple[float, float]:
    """The size, made smaller in its shape where it is larger than an area."""
    shrink = min(1.0, (area / (size[0] * size[1])) ** 0.5)
    return size[0] * shrink, size[1] * shrink
