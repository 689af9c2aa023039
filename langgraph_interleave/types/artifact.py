"""Artifacts: stored bytes, addressed by digest; and pictures in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from langgraph_interleave.types.base import Frozen

SCHEME = "artifact://"


class ArtifactRef(Frozen):
    """A pointer to stored bytes. State, events and logs carry this, never the bytes.

    Two references are equal when their content is equal: the digest is the identity.
    `width` and `height` are pixels, measured after decoding; `None` for what is not a picture.
    """

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    mime: str
    size: int = Field(ge=0, description="bytes")
    width: int | None = Field(default=None, ge=1)
    height: int | None = Field(default=None, ge=1)

    @property
    def uri(self) -> str:
        """The address used in content blocks and events: `artifact://<sha256>`."""
        return f"{SCHEME}{self.sha256}"


@dataclass(frozen=True, slots=True)
class ImageBytes:
    """One picture in memory: decoded once, verified, measured, without private metadata.

    `data` is the encoded file (PNG, JPEG or WebP); `width` and `height` are its real pixels.
    `seed` is the one that made it, where there was one.
    """

    data: bytes
    mime: str
    width: int
    height: int
    seed: int | None = None

    @property
    def sha256(self) -> str:
        """The digest of `data`, hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    def __repr__(self) -> str:
        # Bytes never reach a log through a repr.
        return f"ImageBytes({self.mime}, {self.width}x{self.height}, {len(self.data)} bytes)"


class Linking(Protocol):
    """What makes links to stored bytes, as `langgraph_interleave.serving.Links` does."""

    def bound(self) -> Callable[[ArtifactRef | str], str]:
        """A function from reference to URL, for whoever is asking now; it may be called from anywhere later."""
        ...
