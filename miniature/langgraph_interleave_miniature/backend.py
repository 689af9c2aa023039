"""The backend `miniature`: the trained pipeline of this package, drawn by the backend `diffusers`."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from langgraph_interleave.backends.base import Companions
from langgraph_interleave.backends.diffusers import DiffusersBackend
from langgraph_interleave.errors import ConfigError, InvalidRequest
from langgraph_interleave.imaging import load_image, verify_image
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, OnProgress

from langgraph_interleave_miniature.drawing import SIDE
from langgraph_interleave_miniature.parsing import said
from langgraph_interleave_miniature.storage import PIPELINE
from langgraph_interleave_miniature.storage import weights as stored

#: Told with every document.
NOTE = "Drawn by a miniature model of 8 MB with mistakes of its own, to see and test the loop with."

#: Tokens a prompt is padded to. Six things and a background take 55; the pipeline's own 512 draw no better and take
#: three times as long.
_TOKENS = 128


class MiniatureBackend:
    """Draws 64 x 64 pixels with a really trained FLUX.2 [klein] of 8 MB: to see and test the loop with, on any CPU.

    It knows eight kinds of things in six colors, six places and four backgrounds, edits one picture as told, and
    makes mistakes nobody scripted; it is no picture generator. The same request and seed are the same bytes on one
    machine. It brings its planner and its critic with it, which are used where no others are given.

    Args:
        weights: A folder of weights as the training writes it; this package's own by default.
        device: Where it runs. On a CPU a picture takes a tenth of a second, which an accelerator hardly betters.
        defaults: Options of every drawing, as of the backend `diffusers`.

    Raises:
        ConfigError: The weights are not there.
    """

    name = "miniature"
    companions = Companions(planner="miniature", critic="miniature", note=NOTE, style_in_prompts=False)

    def __init__(
        self,
        weights: str | Path | None = None,
        *,
        device: str = "cpu",
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        # Alone, so that a picture is the same whoever else draws at the moment; in full precision, as it is so small.
        asked = {"max_sequence_length": _TOKENS, **(defaults or {})}
        pipeline = stored(PIPELINE, weights)
        self._inner = DiffusersBackend(pipeline, device=device, dtype="float32", defaults=asked, batch=False)
        self.fingerprint = f"miniature/{self._inner.fingerprint}"

    @classmethod
    def from_string(cls, text: str, **options: Any) -> Self:
        """The backend that `miniature:<folder>` means: other weights than the package's.

        Raises:
            ConfigError: There are none.
        """
        return cls(text.strip(), **options)

    def __repr__(self) -> str:
        return f"MiniatureBackend({self._inner.source!r})"

    @property
    def capabilities(self) -> Capabilities:
        """What it can do: what such a pipeline can, in one size and from one picture."""
        return replace(
            self._inner.capabilities,
            edit="instruct",
            max_references=1,
            size_multiple=SIDE,
            min_side=SIDE,
            max_pixels=SIDE * SIDE,
            max_aspect=1.0,
            sizes=(f"{SIDE}x{SIDE}",),
        )

    async def aready(self) -> None:
        """Find out whether the libraries and the device are there; nothing is loaded.

        Raises:
            ConfigError: One of them is not.
        """
        await self._inner.aready()

    async def aclose(self) -> None:
        """Let go of the pipeline; it is loaded anew when needed."""
        await self._inner.aclose()

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw, as the backend `diffusers` does.

        Args:
            request: Prompt, at most one reference, seed. Whatever size is asked for, it is 64 x 64.
            on_progress: Called after every step, from another thread.

        Returns:
            `request.n` pictures; image i is drawn with `seed + i`. Warnings name another size, a reference that was
            cropped, and words the model was not trained on.

        Raises:
            CallError: As of the backend `diffusers`.
            ConfigError: The pipeline cannot run on this machine.
        """
        sized = _size_warnings(request)
        if len(request.references) > 1:
            raise InvalidRequest(
                f"{len(request.references)} references are too many for the miniature.", remedy="Give at most one."
            )
        references: list[ImageBytes] = []
        for reference in request.references:
            fitting, said_of_it = await asyncio.to_thread(_fitted, reference)
            references.append(fitting)
            sized += said_of_it
        asked = replace(request, references=tuple(references), width=SIDE, height=SIDE)
        result = await self._inner.agenerate(asked, on_progress=on_progress)
        return replace(result, warnings=(*sized, *_strange(request.prompt), *result.warnings), model=self.fingerprint)


def _size_warnings(request: ImageRequest) -> tuple[str, ...]:
    wanted = (request.width or SIDE, request.height or SIDE)
    if any(pixels is not None and pixels < 1 for pixels in (request.width, request.height)):
        raise InvalidRequest(
            f"A picture of {request.width}x{request.height} pixels cannot be drawn.", remedy=f"Ask for {SIDE}x{SIDE}."
        )
    if wanted == (SIDE, SIDE):
        return ()
    return (f"{wanted[0]}x{wanted[1]} was asked for; the miniature draws {SIDE}x{SIDE}.",)


def _fitted(reference: ImageBytes) -> tuple[ImageBytes, tuple[str, ...]]:
    """A reference in the one size the model knows: cropped to a square around its middle."""
    if (reference.width, reference.height) == (SIDE, SIDE):
        return reference, ()
    from PIL import Image, ImageOps

    try:
        plain = load_image(reference.data, name="The reference")
    except ConfigError as error:
        raise InvalidRequest(error.message, remedy=error.remedy) from error
    with Image.open(io.BytesIO(plain.data)) as file:
        picture = ImageOps.fit(file.convert("RGB"), (SIDE, SIDE), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    said_of_it = f"The reference is {plain.width}x{plain.height}; it was cropped and scaled to {SIDE}x{SIDE}."
    return verify_image(buffer.getvalue(), what="the reference"), (said_of_it,)


def _strange(prompt: str) -> tuple[str, ...]:
    words = said(prompt)
    strange = ", ".join((*words.unknown, *words.unshown))[:200]
    return (f"Words the miniature was not trained on: {strange}.",) if strange else ()
