"""The backend `diffusers` itself: requests in, pictures out."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Mapping
from typing import Any, Self

from langgraph_interleave.artifacts import canonical_json
from langgraph_interleave.backends.diffusers import quantization as quantizations
from langgraph_interleave.backends.diffusers.abilities import capabilities_of
from langgraph_interleave.backends.diffusers.families import FAMILIES, Family, variant
from langgraph_interleave.backends.diffusers.hardware import OFFLOADS, Offload, choose, dtype_name
from langgraph_interleave.backends.diffusers.identity import identity_of, identity_of_object
from langgraph_interleave.backends.diffusers.jobs import Drawn, Job
from langgraph_interleave.backends.diffusers.loading import Recipe
from langgraph_interleave.backends.diffusers.lora import Given, read_loras
from langgraph_interleave.backends.diffusers.options import arguments, check_defaults
from langgraph_interleave.backends.diffusers.orders import Manner, check, job_of
from langgraph_interleave.backends.diffusers.pictures import encoded
from langgraph_interleave.backends.diffusers.probe import family_of, taken
from langgraph_interleave.backends.diffusers.shared import SharedPipeline, loaded, shared
from langgraph_interleave.backends.diffusers.source import (
    IN_NAME,
    checked,
    checked_config,
    checked_object,
    is_file,
    known_of,
    read_name,
)
from langgraph_interleave.errors import CallTimeout, ConfigError
from langgraph_interleave.models.libraries import library
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, OnProgress, Usage

#: Changes whenever the same request would be drawn in another way.
_VERSION = 1
#: Pictures in one call, where nobody says how many.
_TOGETHER = 8


class DiffusersBackend:
    """Draws with a pipeline of the diffusers library, in this process.

    FLUX.2 klein and dev, FLUX.1, Kontext, Qwen-Image and its editors, Z-Image, Stable Diffusion and
    InstructPix2Pix have the defaults that are right for them; any other pipeline that draws from words
    is called as its signature tells. Nothing is loaded before the first drawing; then weights that are
    not on this machine are downloaded.

    A pipeline draws one call at a time, whoever asks. Requests that wait at the same moment and are
    alike (size, steps, guidance, references) are drawn in one call, each with a random generator of its
    own: on a CPU a picture differs by at most one grey level from the one drawn alone, on a GPU perhaps
    by a little more; `batch=False` draws each alone. A drawing nobody waits for stops after its step.

    Args:
        source: A hub id, the folder of a pipeline, a `.safetensors` file, or a pipeline object.
        offload: `none` keeps all of it on the device; `model`, `sequential` and `group` keep less there,
            ever slower.
        dtype: `bfloat16`, `float16` or `float32`; by default what the device computes best.
        device: `cuda`, `cuda:1`, `mps`, `xpu` or `cpu`; by default the best there is.
        quantization: `fp8`, `bnb-4bit`, `bnb-8bit`, `quanto-int8`, `quanto-int4`, `torchao-int8`,
            `torchao-int4`, or `gguf:FILE` for a transformer from a GGUF checkpoint.
        defaults: Options of every drawing: `steps`, `guidance`, `size` (pixels a side), or whatever the
            pipeline's call takes (`strength`, `image_guidance_scale` …).
        batch: Whether requests are drawn together, or how many pictures at most.
        preview_every: Show the unfinished picture after every so many steps; 0 for never. Each costs a
            decoding.
        revision: Of the hub's repository.
        variant: Of the weights' files (`fp16`).
        config: Hub id or folder of the pipeline that a `.safetensors` file belongs to: what the file does
            not hold comes from there. A file that holds the transformer alone needs it; for whole ones
            diffusers knows it, and fetches the configurations.
        lora: LoRAs: a `.safetensors` file, a folder, `OWNER/MODEL` or `OWNER/MODEL/FILE` on the hub, each
            perhaps with `:SCALE` (`owner/ink:0.8`); several with commas, as a list, or as names with scales.

    Raises:
        ConfigError: An option is wrong, or there is no such folder or file.

    Example:
        >>> backend = DiffusersBackend.from_string("black-forest-labs/FLUX.2-klein-4B?offload=model")
        >>> backend.capabilities.edit, backend.capabilities.max_references, backend.family.steps
        ('instruct', 4, 4)
    """

    name = "diffusers"
    written = "diffusers:OWNER/MODEL (of the hub), diffusers:FOLDER or diffusers:FILE.safetensors"
    in_name = frozenset(IN_NAME)

    def __init__(
        self,
        source: Any,
        *,
        offload: Offload = "none",
        dtype: Any = None,
        device: str | None = None,
        quantization: str | None = None,
        defaults: Mapping[str, Any] | None = None,
        batch: bool | int = True,
        preview_every: int = 0,
        revision: str | None = None,
        variant: str | None = None,
        config: str | None = None,
        lora: Given = None,
    ) -> None:
        if offload not in OFFLOADS:
            raise ConfigError(
                f"offload={offload!r} of the backend diffusers is unknown.", remedy=f"Use {', '.join(OFFLOADS)}."
            )
        if preview_every < 0 or int(batch) < 0:
            raise ConfigError("preview_every and batch cannot be negative.", remedy="Give 0 or more.")
        named = isinstance(source, str) or hasattr(source, "__fspath__")
        told = any(option is not None for option in (dtype, quantization, config, lora))
        self._pipe = None if named else checked_object(source, loaded_as=told)
        config = checked_config(config)
        self.source = checked(str(source), config) if named else type(source).__name__
        loras = read_loras(lora)
        self._recipe = Recipe(
            self.source, offload, dtype_name(dtype), device, quantizations.checked(quantization), revision, variant,
            config, loras,
        )  # fmt: skip
        _check_file_options(self._recipe)
        most = _TOGETHER if batch is True else max(1, int(batch))
        self._manner = Manner(dict(defaults or {}), most, preview_every)
        check_defaults(self._manner.defaults)
        if self._pipe is not None:
            # Of one that is there already, it is known now what it takes.
            arguments(family_of(self._pipe, self.source), taken(self._pipe), self._manner.defaults, {}, None)
        self._shared: SharedPipeline | None = None
        self._loading = threading.Lock()
        self._what = f"diffusers:{self.source.rpartition('/')[2] if named else self.source}"
        identity = identity_of(self.source, revision) if named else identity_of_object(source)
        look: dict[str, Any] = {
            "dtype": self._recipe.dtype, "device": device, "quantization": quantization, "variant": variant,
            "defaults": {name: str(value) for name, value in self._manner.defaults.items()},
        }  # fmt: skip
        look |= {"config": identity_of(config, revision)} if config else {}
        look |= {"loras": [one.identity for one in loras]} if loras else {}
        self.fingerprint = f"diffusers/{_VERSION}/{identity}/{hashlib.sha256(canonical_json(look)).hexdigest()[:8]}"

    @classmethod
    def from_string(cls, text: str, **options: Any) -> Self:
        """The backend that `diffusers:<text>` means: a hub id or folder, and options after a question mark.

        Args:
            text: `black-forest-labs/FLUX.2-klein-4B?offload=model&steps=4`.
            options: As for the class; they go before those of the text.

        Raises:
            ConfigError: An option is unknown or wrong.
        """
        source, found = read_name(text)
        return cls(source, **{**found, **options})

    def __repr__(self) -> str:
        return f"DiffusersBackend({self.source!r})"

    @property
    def family(self) -> Family:
        """How its pipeline is called; before it is loaded, as far as its files or its name tell."""
        if self._shared is not None:
            return self._shared.family
        if self._pipe is not None:
            return family_of(self._pipe, self.source)
        known = known_of(self.source, self._recipe.revision, self._recipe.config)
        family = FAMILIES.get(known.kind or "", Family())
        return variant(family, known.kind or "", self.source, distilled=known.distilled, guided=known.guided)

    @property
    def capabilities(self) -> Capabilities:
        """What it can do. Exact for a pipeline object, a folder of a known class, and once it is loaded."""
        return capabilities_of(self.family, most=self._manner.most, previews=self._manner.preview_every > 0)

    async def aready(self) -> None:
        """Find out whether the libraries and the device are there; nothing is loaded.

        Raises:
            ConfigError: One of them is not.
        """
        await asyncio.to_thread(self._preflight)

    def _preflight(self) -> None:
        library("diffusers")
        if self._pipe is None:
            choose(self._recipe.device, self._recipe.dtype, self._recipe.offload)

    async def aclose(self) -> None:
        """Let go of the pipeline; its memory is free once nobody else uses it. It is loaded anew when needed."""
        self._shared = None

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw.

        Args:
            request: Prompt, references in order, size, seed. `extra` holds options as `defaults` does.
            on_progress: Called after every step, from another thread.

        Returns:
            `request.n` pictures as PNG; image i is drawn with `seed + i`, and carries it.

        Raises:
            ConfigError: The pipeline is not there, or cannot run on this machine.
            InvalidRequest: It does not take such a request.
            Unavailable: There is not enough memory.
            CallTimeout: The deadline passed.
            BadResponse: What it drew is black, or no picture.
        """
        check(request, self._what)
        try:
            async with asyncio.timeout(request.timeout_s):
                pipeline = await asyncio.to_thread(self._loaded)
                job, said = await asyncio.to_thread(job_of, request, pipeline, self._manner)
                job.on_progress = on_progress
                drawn = await _drawn(pipeline, job)
                images = await asyncio.to_thread(_encoded, drawn, job)
        except TimeoutError as error:
            raise CallTimeout(
                f"{self._what} was not finished within {request.timeout_s:g} s.",
                remedy="Allow more time, or draw fewer steps or a smaller picture.",
                ambiguous=False,
            ) from error
        return ImageResult(
            images,
            usage=Usage(images=len(images), cost_usd=0.0),
            warnings=(*said, *drawn.warnings),
            model=self._what,
        )

    def _loaded(self) -> SharedPipeline:
        with self._loading:
            if self._shared is None:
                if self._pipe is None:
                    self._shared = loaded(self._recipe, self._what)
                else:
                    # Whoever made it has put it somewhere; it is moved only where that is asked for.
                    found = shared(self._pipe, self._what)
                    found.place(self._recipe)
                    self._shared = found
            return self._shared


def _check_file_options(recipe: Recipe) -> None:
    if not is_file(recipe.source):
        if recipe.config is not None:
            raise ConfigError(
                "config= says which pipeline a single file belongs to, and the model is no file.",
                remedy="Leave it out.",
            )
        return
    if recipe.quantization not in (None, quantizations.FP8):
        raise ConfigError(
            f"A single file is loaded as it is, not with quantization={recipe.quantization}.",
            remedy="Use fp8, or give the hub id or folder of a pipeline.",
        )


async def _drawn(pipeline: SharedPipeline, job: Job) -> Drawn:
    pipeline.submit(job)
    try:
        return await asyncio.wrap_future(job.future)
    except asyncio.CancelledError:
        pipeline.leave(job)
        raise


def _encoded(drawn: Drawn, job: Job) -> tuple[ImageBytes, ...]:
    edited = bool(job.references)
    return tuple(encoded(picture, seed, edited=edited) for picture, seed in zip(drawn.pictures, job.seeds, strict=True))
