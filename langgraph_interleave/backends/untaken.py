"""What a request asks for beyond what a backend takes, in words: a missing capability is never silence."""

from __future__ import annotations

from langgraph_interleave.types import Capabilities, ImageRequest


def untaken(request: ImageRequest, capabilities: Capabilities, *, what: str) -> tuple[str, ...]:
    """Warnings for mask, negative prompt and transparent ground, where the backend takes none.

    Args:
        request: What is asked for.
        capabilities: What the backend can do.
        what: Whom to name.

    Example:
        >>> untaken(ImageRequest("a cat", negative_prompt="dogs"), Capabilities(), what="sketch")
        ('sketch takes no negative prompt; it was left out.',)
    """
    said: list[str] = []
    if request.negative_prompt and not capabilities.negative_prompt:
        said.append(f"{what} takes no negative prompt; it was left out.")
    if request.mask is not None and not capabilities.mask:
        said.append(f"{what} takes no mask; all of the picture may change.")
    if request.transparent and not capabilities.transparent:
        said.append(f"{what} draws no transparent ground; it is opaque.")
    return tuple(said)
