"""The backend `simulator`: the sketch with seeded faults. A test world, not a generator of pictures."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from random import Random
from typing import Self

from langgraph_interleave.backends.sketch import SketchBackend, Understood, draw, size_of, understand
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, OnProgress, Progress, Usage
from langgraph_interleave.world.faults import Fault, faulty
from langgraph_interleave.world.marks import scene_of
from langgraph_interleave.world.presets import Preset, preset
from langgraph_interleave.world.scene import Scene

#: Changes whenever the same request would be drawn in another way.
_VERSION = 1
#: Pictures whose truth is remembered.
_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class _Made:
    """What is known of a picture that was drawn: what is wrong with it, and how many edits deep it is."""

    faults: tuple[Fault, ...]
    depth: int


class SimulatorBackend:
    """Sketches with faults at known rates: a test world in which corrections can be seen and counted.

    The same request with the same seed has the same faults. Which faults a picture has is never in
    the picture; `truth` tells, in this process only.

    Args:
        fault_preset: Name of a preset, or one of your own.
        seed: Mixed into the luck of every picture.
        latency_s: Seconds each drawing takes longer.

    Example:
        >>> import asyncio
        >>> backend = SimulatorBackend("perfect")
        >>> result = asyncio.run(backend.agenerate(ImageRequest(prompt="a red ball", width=128, height=128)))
        >>> backend.truth(result.images[0].sha256)
        ()
    """

    name = "simulator"

    def __init__(self, fault_preset: str | Preset = "default", *, seed: int = 0, latency_s: float = 0.0) -> None:
        self.preset = fault_preset if isinstance(fault_preset, Preset) else preset(fault_preset)
        if latency_s < 0:
            raise ConfigError(f"latency_s is {latency_s!r}.", remedy="Give 0 seconds or more.")
        self.seed = seed
        self.latency_s = latency_s
        rates = hashlib.sha256(self.preset.model_dump_json().encode()).hexdigest()[:12]
        self.fingerprint = f"simulator/{_VERSION}/{SketchBackend.fingerprint}/{rates}/{seed}"
        self._made: OrderedDict[str, _Made] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def from_string(cls, text: str, *, seed: int = 0, latency_s: float = 0.0) -> Self:
        """Make one from what follows `simulator:` on a command line: the name of a preset."""
        return cls(text, seed=seed, latency_s=latency_s)

    @property
    def capabilities(self) -> Capabilities:
        """What it can do: all that the sketch can."""
        return SketchBackend().capabilities

    def truth(self, sha256: str) -> tuple[Fault, ...] | None:
        """What is wrong with a picture drawn by this object; `None` for any other picture."""
        with self._lock:
            made = self._made.get(sha256)
        return None if made is None else made.faults

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw, perhaps something other than what was asked.

        Raises:
            InvalidRequest: As for the sketch.
        """
        width, height, warnings = size_of(request)
        understood = await asyncio.to_thread(understand, request)
        images: list[ImageBytes] = []
        for index in range(request.n):
            await asyncio.sleep(self.latency_s)
            seed = ((request.seed or 0) + index) % 2**32
            images.append(await asyncio.to_thread(self._draw, understood, request, width, height, seed))
            if on_progress is not None:
                on_progress(Progress(step=index + 1, total=request.n))
        return ImageResult(
            tuple(images),
            usage=Usage(images=len(images), cost_usd=0.0),
            warnings=(*warnings, *understood.warnings),
            model=self.fingerprint,
        )

    def _draw(self, understood: Understood, request: ImageRequest, width: int, height: int, seed: int) -> ImageBytes:
        before, depth = self._before(request)
        luck = Random(f"{self.seed}/{seed}/{request.prompt}")
        scene, faults = faulty(understood.scene, before, self.preset, luck, request.prompt, depth=depth)
        image = draw(replace(understood, scene=scene), width, height, seed)
        with self._lock:
            self._made[image.sha256] = _Made(faults, depth)
            while len(self._made) > _REMEMBERED:
                self._made.popitem(last=False)
        return image

    def _before(self, request: ImageRequest) -> tuple[Scene | None, int]:
        """What the picture to edit shows, and how many edits deep the result is."""
        if not request.references:
            return None, 0
        first = request.references[0]
        with self._lock:
            made = self._made.get(first.sha256)
        return scene_of(first.data), 1 + (made.depth if made else 0)
