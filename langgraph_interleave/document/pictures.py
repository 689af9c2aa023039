"""Stored pictures on their way into a page: as `data:` addresses, smaller where that is enough."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.document.view import Shown
from langgraph_interleave.errors import ArtifactMissing
from langgraph_interleave.imaging import downscale, measure_image
from langgraph_interleave.types import ArtifactRef, ImageBytes

#: File name endings of what may be embedded; nothing else ever is.
ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}

#: Longest side, in pixels, of pictures that are shown enlarged, each pixel as a square.
TINY = 128


@dataclass(frozen=True, slots=True)
class Embedded:
    """A picture in a page. `src` is `None` when it cannot be shown; `why` then says so."""

    digest: str
    src: str | None = None
    width: int = 0
    height: int = 0
    why: str = ""

    @property
    def shape(self) -> str:
        """`tiny` is enlarged pixel by pixel, `small` never, `tall` is kept on one screen, `wide` fills the column."""
        longest = max(self.width, self.height)
        if longest <= TINY:
            return "tiny"
        if longest < 400:
            return "small"
        return "tall" if self.height > 1.25 * self.width else "wide"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large pictures are embedded: longest side in pixels; `None` for as stored.

    Pictures of at most `verbatim` bytes are embedded as they are, larger ones become WebP.
    """

    delivered: int | None = None
    story: int | None = 512
    verbatim: int = 60_000


PAGE = Sizes()
NOTEBOOK = Sizes(delivered=560, story=240, verbatim=8_000)


class Pictures:
    """Reads pictures from a store for one page, each size of each once."""

    def __init__(self, artifacts: ArtifactStore, sizes: Sizes) -> None:
        self._artifacts = artifacts
        self._sizes = sizes
        self._made: dict[tuple[str, int | None], Embedded] = {}

    def delivered(self, ref: ArtifactRef) -> Embedded:
        """A picture that the document is about."""
        return self._embedded(ref, self._sizes.delivered)

    def story(self, ref: ArtifactRef) -> Embedded:
        """A picture in a folded part, or a thumbnail."""
        return self._embedded(ref, self._sizes.story)

    def _embedded(self, ref: ArtifactRef, side: int | None) -> Embedded:
        key = ref.sha256, side
        if key not in self._made:
            self._made[key] = self._embed(ref, side)
        return self._made[key]

    def _embed(self, ref: ArtifactRef, side: int | None) -> Embedded:
        found = read_picture(self._artifacts, ref)
        if isinstance(found, str):
            return Embedded(ref.sha256, why=found)
        image = found
        if side is not None and len(image.data) > self._sizes.verbatim:
            image = downscale(image, side, mime="image/webp")
        src = f"data:{image.mime};base64,{base64.b64encode(image.data).decode('ascii')}"
        return Embedded(ref.sha256, src, image.width, image.height)


def file_name(shown: Shown) -> str:
    """What a picture is called as a file: by its place in the document, never by anybody's words."""
    return f"{shown.stem}.{ENDINGS[shown.ref.mime]}"


def read_picture(artifacts: ArtifactStore, ref: ArtifactRef) -> ImageBytes | str:
    """Read a picture that may be shown.

    Returns:
        The picture, or why there is none: it is gone, damaged, or not PNG, JPEG or WebP.
    """
    if ref.mime not in ENDINGS:
        return f"This is not a picture that can be shown here ({ref.mime})."
    try:
        data = artifacts.get(ref)
    except ArtifactMissing:
        return "This picture is no longer in the artifact store, or damaged there."
    measured = measure_image(data)
    if measured is None or measured[0] != ref.mime:
        return f"The stored bytes are not a picture of the type {ref.mime}."
    return ImageBytes(data, *measured)
