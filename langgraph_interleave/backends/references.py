"""References looked at before anything is sent: a broken one would be left out in silence, or paid for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langgraph_interleave.errors import BadResponse, InvalidRequest
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.types import ImageBytes


async def check_references(references: Sequence[ImageBytes], *, what: str, most: int) -> None:
    """Refuse what cannot be drawn from.

    Args:
        references: The references of a request.
        what: Whose they are to be, for messages.
        most: How many are taken.

    Raises:
        InvalidRequest: There are too many, or one is no whole picture.

    Example:
        >>> asyncio.run(check_references([ImageBytes(b"GIF", "image/png", 1, 1)], what="mine", most=1))
        Traceback (most recent call last):
            ...
        langgraph_interleave.errors.InvalidRequest: Reference 1 of mine is text, not a picture. Give PNG, JPEG or WebP.
    """
    if len(references) > most:
        raise InvalidRequest(
            f"{len(references)} references are too many for {what}, which takes {most}.",
            remedy=f"Give at most {most}." if most else "Plan steps that start from nothing, or use another backend.",
        )
    if references:
        await asyncio.to_thread(_verify, references, what)


def _verify(references: Sequence[ImageBytes], what: str) -> None:
    for number, reference in enumerate(references, 1):
        try:
            verify_image(reference.data, what=f"Reference {number} of {what}")
        except BadResponse as error:
            raise InvalidRequest(error.message, remedy="Give PNG, JPEG or WebP.") from error
