"""A small image backend that does everything right, for tests that spoil one thing of it."""

from __future__ import annotations

import asyncio
import hashlib
import io
from typing import Any

from PIL import Image, UnidentifiedImageError

from langgraph_interleave.errors import CallTimeout, InvalidRequest
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.types import (
    Capabilities,
    ImageBytes,
    ImageRequest,
    ImageResult,
    OnProgress,
    Progress,
    Usage,
)

SIDE = 96
MOST = 512


class Painter:
    """Paints a ground of the prompt's and the seed's colours, and the references on it, in a row."""

    name = "painter"
    fingerprint = "painter/1"
    capabilities = Capabilities(
        edit="instruct", max_references=3, max_images=4, min_side=16, max_pixels=MOST * MOST, max_aspect=4,
        seed="exact", progress="steps", cancel="cooperative", concurrency=4,
    )  # fmt: skip

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        self.refuse(request)
        width, height = self.size(request)
        references = [self.opened(reference) for reference in self.used(request)]
        try:
            async with asyncio.timeout(request.timeout_s):
                await self.work()
        except TimeoutError as error:
            raise CallTimeout("The paint was not dry in time.", remedy="Allow more time.") from error
        images: list[ImageBytes] = []
        for index in range(request.n):
            images.append(self.paint(request, references, width, height, self.seed(request, index)))
            if on_progress is not None:
                on_progress(Progress(index + 1, request.n))
        return ImageResult(
            tuple(images), usage=Usage(images=len(images), cost_usd=0.0), warnings=self.told(request), model="painter"
        )

    def seed(self, request: ImageRequest, index: int) -> int:
        return (request.seed or 0) + index

    async def work(self) -> None:
        await asyncio.sleep(0.002)

    def refuse(self, request: ImageRequest) -> None:
        can = self.capabilities
        if not request.prompt.strip():
            raise InvalidRequest("The prompt is empty.", remedy="Say what to paint.")
        if not 1 <= request.n <= can.max_images:
            raise InvalidRequest(f"{request.n} pictures are no number.", remedy="Ask for 1 to 4.")
        if len(request.references) > can.max_references:
            raise InvalidRequest(f"{len(request.references)} references are too many.", remedy="Give 3 at most.")
        if request.seed is not None and not 0 <= request.seed < 2**32:
            raise InvalidRequest(f"The seed {request.seed} is out of range.", remedy="Give 0 to 2**32 - 1.")

    def size(self, request: ImageRequest) -> tuple[int, int]:
        first = request.references[0] if request.references else None
        aspect = first.width / first.height if first else 1.0
        width = request.width if request.width is not None else SIDE
        height = request.height if request.height is not None else round(width / aspect)
        if min(width, height) < 16 or width * height > MOST * MOST or max(width, height) > 4 * min(width, height):
            raise InvalidRequest(f"{width}x{height} cannot be painted.", remedy="Ask for 16 to 512 a side.")
        return width, height

    def used(self, request: ImageRequest) -> list[ImageBytes]:
        return list(request.references)

    def opened(self, reference: ImageBytes) -> Any:
        try:
            picture = Image.open(io.BytesIO(reference.data))
            return picture.convert("RGB")
        except (UnidentifiedImageError, OSError, SyntaxError) as error:
            raise InvalidRequest("A reference is no picture.", remedy="Give PNG, JPEG or WebP.") from error

    def told(self, request: ImageRequest) -> tuple[str, ...]:
        untaken = {"mask": request.mask, "negative prompt": request.negative_prompt, "glass": request.transparent}
        return tuple(f"No notice was taken of the {name}." for name, given in untaken.items() if given)

    def paint(self, request: ImageRequest, references: list[Any], width: int, height: int, seed: int) -> ImageBytes:
        digest = hashlib.sha256(f"{seed}/{request.prompt}".encode()).digest()
        picture = Image.new("RGB", (width, height), tuple(digest[:3]))
        picture.paste(tuple(digest[3:6]), (0, 0, width, height // 4))
        for place, reference in enumerate(references):
            room = width // len(references)
            picture.paste(reference.resize((max(1, room), max(1, height // 2))), (place * room, height // 4))
        return self.encoded(picture, request, seed)

    def encoded(self, picture: Any, request: ImageRequest, seed: int) -> ImageBytes:
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        return verify_image(buffer.getvalue(), what="the painting", seed=seed)
