"""What the user asks for: ordered parts, text and images as the user interleaved them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from langgraph_interleave.types.artifact import ArtifactRef
from langgraph_interleave.types.base import Frozen


class TextPart(Frozen):
    """Words of the request."""

    type: Literal["text"] = "text"
    text: str


class ImagePart(Frozen):
    """A picture of the request. `name` is what the user called the file, for messages only."""

    type: Literal["image"] = "image"
    image: ArtifactRef
    name: str | None = None


Part = Annotated[TextPart | ImagePart, Field(discriminator="type")]


class Request(Frozen):
    """The user's request. `input:i` means the i-th of `images`, counted from 0."""

    parts: tuple[Part, ...] = Field(min_length=1)

    @property
    def text(self) -> str:
        """All words, joined by line breaks."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart)).strip()

    @property
    def images(self) -> tuple[ArtifactRef, ...]:
        """The pictures in the user's order."""
        return tuple(part.image for part in self.parts if isinstance(part, ImagePart))
