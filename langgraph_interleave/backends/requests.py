"""Requests held against what a backend says it can do, before anything is drawn."""

from __future__ import annotations

from langgraph_interleave.backends.references import check_references
from langgraph_interleave.errors import InvalidRequest
from langgraph_interleave.types import Capabilities, ImageRequest

_MAX_SEED = 2**32


async def check_request(request: ImageRequest, capabilities: Capabilities, *, what: str) -> None:
    """Refuse what a backend cannot draw by its own word: numbers, sizes, references.

    What it can draw, though not all as asked (a mask, a negative prompt, a transparent ground it does not
    take), is not refused; `untaken` has the warnings for that.

    Args:
        request: What is asked for.
        capabilities: What the backend says it can do.
        what: The backend's name, for messages.

    Raises:
        InvalidRequest: It cannot be drawn; the remedy says what can.

    Example:
        >>> import asyncio
        >>> asyncio.run(check_request(ImageRequest("a pot", width=8, height=8), Capabilities(), what="mine"))
        Traceback (most recent call last):
            ...
        langgraph_interleave.errors.InvalidRequest: mine cannot draw 8x8 pixels. Sides must be at least 16 pixels.
    """
    most = capabilities.max_images
    if not 1 <= request.n <= most:
        raise InvalidRequest(
            f"{what} cannot draw {request.n} pictures at once.",
            remedy=f"Ask for 1 to {most}." if most > 1 else "Ask for 1.",
        )
    if request.seed is not None and not 0 <= request.seed < _MAX_SEED:
        raise InvalidRequest(f"The seed {request.seed} is out of range.", remedy="Give 0 to 2**32 - 1.")
    if (why := _impossible(request, capabilities)) is not None:
        sides = "x".join("any" if side is None else str(side) for side in (request.width, request.height))
        raise InvalidRequest(f"{what} cannot draw {sides} pixels.", remedy=why)
    await check_references(request.references, what=what, most=capabilities.max_references)


def _impossible(request: ImageRequest, can: Capabilities) -> str | None:
    """Why a size cannot be drawn, as what must be."""
    sides = [side for side in (request.width, request.height) if side is not None]
    if any(side < can.min_side for side in sides):
        return f"Sides must be at least {can.min_side} pixels."
    if len(sides) < 2:
        return None
    if sides[0] * sides[1] > can.max_pixels:
        return f"At most {can.max_pixels:,} pixels in all are possible."
    if can.max_aspect is not None and max(sides) > min(sides) * can.max_aspect:
        return f"One side may be {can.max_aspect:g} times the other at most."
    return None
