"""From pieces of a document to LangChain content blocks, with pictures by reference, URL or base64."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Literal

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.chat.order import Piece
from langgraph_interleave.compose import mark
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.events import SegmentImage
from langgraph_interleave.stored import read_step
from langgraph_interleave.types import ArtifactRef

#: How pictures are delivered: their address in the store, their bytes, or the URL a function makes of them.
ImageForm = Literal["reference", "base64"] | Callable[[ArtifactRef], str]


def check_form(images: object) -> None:
    """Refuse an unknown way of delivering pictures, before anything is spent.

    Raises:
        ConfigError: It is none.
    """
    if images not in ("reference", "base64") and not callable(images):
        raise ConfigError(
            f"images={images!r} is no way of delivering pictures.",
            remedy='Use "reference", "base64", or a function that takes an ArtifactRef and returns a URL.',
        )


class Blocks:
    """Makes content blocks.

    Args:
        artifacts: Where pictures and records are.
        images: How pictures are delivered. A function is called in a thread from async code.
    """

    def __init__(self, artifacts: ArtifactStore, images: ImageForm) -> None:
        self._artifacts = artifacts
        self._images: ImageForm = images
        self._spoken = False

    def waits(self, piece: Piece) -> bool:
        """Whether making this block reads from the store, or calls a function of the user's."""
        return piece.kind == "mark" or (piece.kind == "image" and self._images != "reference")

    def make(self, piece: Piece) -> dict[str, Any]:
        """The block, or the next stretch of one, with its place as `index`.

        Raises:
            ArtifactMissing: The picture, or the step's record, is not in the store.
            ConfigError: The function for URLs returned something else.
        """
        if piece.kind == "reasoning":
            return {"type": "reasoning", "reasoning": piece.text, "index": piece.index}
        if piece.kind == "image":
            assert piece.image is not None
            return self._image(piece, piece.image)
        text = piece.text
        if piece.kind == "mark":
            text = mark(read_step(self._artifacts, piece.record or "")) or ""
        # Readers join the text blocks of a message without anything between them.
        spaced = f"\n\n{text}" if self._spoken else text
        self._spoken = True
        return {"type": "text", "text": spaced, "index": piece.index}

    def _image(self, piece: Piece, image: SegmentImage) -> dict[str, Any]:
        extras = {"width": image.width, "height": image.height, "alt": piece.text or None, "step": piece.step}
        return {
            "type": "image",
            **self._where(image),
            "mime_type": image.mime,
            "extras": {key: value for key, value in extras.items() if value is not None},
            "index": piece.index,
        }

    def _where(self, image: SegmentImage) -> dict[str, str]:
        if self._images == "reference":
            return {"url": image.uri}
        data = self._artifacts.get(image.sha256)
        if self._images == "base64":
            return {"base64": base64.b64encode(data).decode("ascii")}
        assert callable(self._images)
        ref = ArtifactRef(sha256=image.sha256, mime=image.mime, size=len(data), width=image.width, height=image.height)
        url: Any = self._images(ref)
        if not isinstance(url, str) or not url:
            raise ConfigError(
                f"The function given as `images` returned a {type(url).__name__} for {ref.uri}, not a URL.",
                remedy="Return the address under which the picture can be fetched, as a string.",
            )
        return {"url": url}
