"""An image backend of a third party, with public names of langgraph_interleave only: picture postcards."""

from __future__ import annotations

import asyncio
import hashlib
import io
from typing import Any

from PIL import Image, ImageDraw

from langgraph_interleave.errors import CallTimeout, ConfigError, InvalidRequest
from langgraph_interleave.imaging import load_image, verify_image
from langgraph_interleave.types import (
    Capabilities,
    ImageBytes,
    ImageRequest,
    ImageResult,
    OnProgress,
    Progress,
    Usage,
)

MIN_SIDE, MAX_SIDE, MAX_ASPECT = 32, 2048, 4


class PostcardBackend:
    """Draws picture postcards: stripes in the colours of the words, with the references pasted in a row.

    Args:
        frame: Width of the frame, in pixels.
    """

    name = "postcard"

    def __init__(self, *, frame: int = 4) -> None:
        self.frame = frame
        self.fingerprint = f"postcard/1.0/{frame}"

    @classmethod
    def from_string(cls, text: str) -> PostcardBackend:
        """The backend that `postcard:<frame>` means."""
        if not text.isdigit():
            raise ConfigError(f"The frame {text!r} is no number of pixels.", remedy="Write postcard:4.")
        return cls(frame=int(text))

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return Capabilities(
            edit="instruct", max_references=4, max_images=2, min_side=MIN_SIDE, max_pixels=MAX_SIDE * MAX_SIDE,
            max_aspect=MAX_ASPECT, seed="exact", progress="steps", concurrency=8,
        )  # fmt: skip

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw `request.n` postcards."""
        width, height = self._size(request)
        self._check(request)
        images: list[ImageBytes] = []
        try:
            async with asyncio.timeout(request.timeout_s):
                for index in range(request.n):
                    seed = (request.seed or 0) + index
                    images.append(await asyncio.to_thread(self._paint, request, width, height, seed))
                    if on_progress is not None:
                        on_progress(Progress(index + 1, request.n))
        except TimeoutError as error:
            raise CallTimeout("The postcard was not ready in time.", remedy="Allow more time.") from error
        untaken = {
            "a negative prompt": request.negative_prompt, "a mask": request.mask,
            "a transparent ground": request.transparent,
        }  # fmt: skip
        warnings = tuple(f"Postcards take no notice of {what}." for what, given in untaken.items() if given)
        return ImageResult(
            tuple(images), usage=Usage(images=len(images), cost_usd=0.0), warnings=warnings, model=self.fingerprint
        )

    def _size(self, request: ImageRequest) -> tuple[int, int]:
        first = request.references[0] if request.references else None
        aspect = first.width / first.height if first else 1.5
        width = request.width if request.width is not None else round((request.height or 256) * aspect)
        height = request.height if request.height is not None else round(width / aspect)
        if not (min(width, height) >= MIN_SIDE and max(width, height) <= MAX_SIDE):
            raise InvalidRequest(
                f"No postcard is {width}x{height}.", remedy=f"Ask for sides of {MIN_SIDE} to {MAX_SIDE}."
            )
        if max(width, height) > MAX_ASPECT * min(width, height):
            raise InvalidRequest(f"A postcard of {width}x{height} would tear.", remedy=f"At most {MAX_ASPECT}:1.")
        return width, height

    def _check(self, request: ImageRequest) -> None:
        most = self.capabilities.max_images
        if not 1 <= request.n <= most:
            raise InvalidRequest(f"{request.n} postcards are not sold.", remedy=f"Ask for 1 to {most}.")
        if len(request.references) > self.capabilities.max_references:
            raise InvalidRequest(f"{len(request.references)} references do not fit.", remedy="Give at most 4.")
        if request.seed is not None and not 0 <= request.seed < 2**32:
            raise InvalidRequest(f"The seed {request.seed} is out of range.", remedy="Give 0 to 2**32 - 1.")

    def _paint(self, request: ImageRequest, width: int, height: int, seed: int) -> ImageBytes:
        digest = hashlib.shake_256(f"{seed}/{request.prompt}".encode()).digest(24)
        card = Image.new("RGB", (width, height), "white")
        drawing = ImageDraw.Draw(card)
        for stripe in range(8):
            left, right = width * stripe // 8, width * (stripe + 1) // 8
            drawing.rectangle((left, 0, right, height), fill=tuple(digest[stripe * 3 : stripe * 3 + 3]))
        for place, reference in enumerate(request.references):
            self._paste(card, reference, place, len(request.references))
        drawing.rectangle((0, 0, width - 1, height - 1), outline="white", width=self.frame)
        buffer = io.BytesIO()
        card.save(buffer, "PNG")
        return verify_image(buffer.getvalue(), what="the postcard", seed=seed)

    def _paste(self, card: Image.Image, reference: ImageBytes, place: int, count: int) -> None:
        # Upright, opaque, without metadata; what is no picture is refused by name.
        plain = load_image(reference.data, name=f"Reference {place}")
        picture: Any = Image.open(io.BytesIO(plain.data))
        room = card.width // count
        picture.thumbnail((max(1, room - 2 * self.frame), max(1, card.height // 2)))
        card.paste(picture, (place * room + self.frame, card.height // 4))
