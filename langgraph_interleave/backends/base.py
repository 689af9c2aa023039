"""The contract of an image backend: what it can do, and one method that draws."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult, OnProgress


@runtime_checkable
class ImageBackend(Protocol):
    """Anything that draws a picture from words, with or without references.

    `name` is what people type; `fingerprint` names model, version and parameters and is part of
    the ledger's key, so that a changed backend is never answered with another's picture.
    """

    name: str
    fingerprint: str

    @property
    def capabilities(self) -> Capabilities:
        """What this backend can do."""
        ...

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw.

        Args:
            request: Prompt, references in order, size, seed.
            on_progress: Called from any thread while the drawing goes on.

        Returns:
            At least one decoded, verified, measured picture.

        Raises:
            CallError: One of its subclasses, by cause. Nothing else.
        """
        ...
