"""The backend `simulator`: `sketch` with a fault preset. A test world, not a model of any generator."""

from __future__ import annotations

import asyncio
import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Self

from langgraph_interleave.backends.base import Companions
from langgraph_interleave.backends.sketch import SketchBackend, understand
from langgraph_interleave.errors import CallTimeout, ConfigError, InvalidRequest
from langgraph_interleave.types import (
    Capabilities,
    ImageBytes,
    ImageRequest,
    ImageResult,
    OnProgress,
    Progress,
    Usage,
)
from langgraph_interleave.world.presets import Preset
from langgraph_interleave.world.presets import preset as preset_named

if TYPE_CHECKING:
    from langgraph_interleave.world.faults import Fault
    from langgraph_interleave.world.scene import Scene

#: Told with every document.
SIMULATED = "Sketches drawn by code; faults simulated so that a correction can be seen."
#: Changes whenever the same request would have other faults.
_VERSION = 1
_MAX_SEED = 2**32
#: Pictures whose truth is remembered; older ones are forgotten.
_REMEMBERED = 100_000
#: Keyword of the PNG text chunk that counts the edits a picture has behind it.
_EDITS_KEY = b"langgraph-interleave.edits"


class SimulatorBackend:
    """Draws like `sketch`, and makes mistakes as a preset says: a test world for loop, critic and planner.

    The mistakes are simulated: seeded, each with a name, at rates fixed in `world/presets.toml`.
    What it shows is how a loop behaves with an artist who errs; nothing about how well any real
    model draws. Words matter as the preset says: what a prompt states plainly, or with emphasis,
    goes wrong less often.

    Args:
        preset: Name of a preset, or one of your own.
        seed: Another seed is another artist: the same requests have other faults.
        latency_s: Seconds a picture takes beyond drawing it.

    Example:
        >>> import asyncio
        >>> simulator = SimulatorBackend("hard")
        >>> request = ImageRequest(prompt="On a meadow: five red balls.", seed=2, width=128, height=128)
        >>> image = asyncio.run(simulator.agenerate(request)).images[0]
        >>> simulator.truth(image.sha256)[0].words
        'There are four red balls; five were asked for.'
    """

    name = "simulator"
    written = "simulator or simulator:PRESET, as in simulator:hard"
    companions = Companions(planner="scene", critic="pixel", note=SIMULATED, style_in_prompts=False)

    def __init__(self, preset: str | Preset = "default", *, seed: int = 0, latency_s: float = 0.0) -> None:
        if not 0 <= latency_s <= 3600:
            raise ConfigError(f"latency_s={latency_s!r} of the simulator is out of range.", remedy="Give 0 to 3600.")
        self.preset = preset_named(preset) if isinstance(preset, str) else preset
        self.seed = seed
        self.latency_s = latency_s
        self._sketch = SketchBackend()
        self._truth: dict[str, tuple[tuple[Fault, ...], Scene]] = {}
        rates = hashlib.sha256(self.preset.model_dump_json().encode()).hexdigest()[:8]
        self.fingerprint = f"simulator/{_VERSION}/{self.preset.name}-{rates}/{seed}/{self._sketch.fingerprint}"

    @classmethod
    def from_string(cls, text: str, *, seed: int = 0, latency_s: float = 0.0) -> Self:
        """The simulator that `simulator:<preset>` means.

        Raises:
            ConfigError: There is no preset of that name.

        Example:
            >>> SimulatorBackend.from_string("hard").preset.name
            'hard'
        """
        return cls(text.strip(), seed=seed, latency_s=latency_s)

    @property
    def capabilities(self) -> Capabilities:
        """What it can do: what `sketch` can."""
        return self._sketch.capabilities

    def truth(self, sha256: str) -> tuple[Fault, ...] | None:
        """What is wrong with a picture this very object drew; for measurements, never for a critic.

        Args:
            sha256: Digest of the picture's bytes as they were returned.

        Returns:
            The faults in it (none: it is right), or `None` when it drew no such picture, or did so
            more than a hundred thousand pictures ago. It is kept in memory only.
        """
        known = self._truth.get(sha256)
        return None if known is None else known[0]

    def shown(self, sha256: str) -> Scene | None:
        """The scene such a picture really shows; for measurements, never for a critic."""
        known = self._truth.get(sha256)
        return None if known is None else known[1]

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw, with faults. Arguments, results and errors as for `sketch`."""
        if not 1 <= request.n <= self.capabilities.max_images:
            raise InvalidRequest(
                f"{request.n} pictures cannot be drawn in one call.",
                remedy=f"Ask for 1 to {self.capabilities.max_images} images.",
            )
        if request.seed is not None and not 0 <= request.seed < _MAX_SEED:
            raise InvalidRequest(f"The seed {request.seed} is out of range.", remedy="Give 0 to 2**32 - 1.")
        results: list[ImageResult] = []
        try:
            async with asyncio.timeout(request.timeout_s):
                asked = await asyncio.to_thread(understand, request)
                for index in range(request.n):
                    results.append(await self._draw(request, asked.scene, index))
                    if on_progress is not None:
                        on_progress(Progress(step=index + 1, total=request.n))
        except TimeoutError as error:
            raise CallTimeout(
                f"The simulator did not draw within {request.timeout_s:g} s.",
                remedy="Allow more time, or lower latency_s.",
                ambiguous=False,
            ) from error
        images = tuple(image for result in results for image in result.images)
        warnings = dict.fromkeys((*results[0].warnings, *asked.warnings))
        return ImageResult(
            images, usage=Usage(images=len(images), cost_usd=0.0), warnings=tuple(warnings), model=self.fingerprint
        )

    async def _draw(self, request: ImageRequest, scene: Scene, index: int) -> ImageResult:
        from langgraph_interleave.world.grammar import describe

        seed = ((request.seed or 0) + index) % _MAX_SEED
        wrong, faults, depth = await asyncio.to_thread(self._err, request, scene, seed)
        drawn = await self._sketch.agenerate(replace(request, prompt=describe(wrong), n=1, seed=seed, timeout_s=None))
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        [image] = drawn.images
        image = replace(image, data=_with_edits(image.data, depth)) if depth else image
        if len(self._truth) >= _REMEMBERED:
            self._truth.pop(next(iter(self._truth)), None)
        self._truth[image.sha256] = (faults, wrong)
        return replace(drawn, images=(image,))

    def _err(self, request: ImageRequest, scene: Scene, seed: int) -> tuple[Scene, tuple[Fault, ...], int]:
        """The scene that is drawn in place of the one asked for, and how many edits that is from nothing."""
        from langgraph_interleave.world.faults import faulty
        from langgraph_interleave.world.marks import scene_of

        first: Sequence[ImageBytes] = request.references[:1]
        before = scene_of(first[0].data) if first else None
        depth = 0 if before is None else _edits(first[0].data) + 1
        # Not of the prompt's words: the same luck with better words is what shows whether they help.
        luck = f"{_VERSION}/{self.seed}/{seed}/{scene.model_dump_json()}"
        wrong, faults = faulty(scene, before, self.preset, Random(luck), request.prompt, depth=depth)
        return wrong, faults, depth


def _with_edits(data: bytes, edits: int) -> bytes:
    """A PNG that also says how many edits it has behind it; pixels and all else are untouched."""
    body = b"tEXt" + _EDITS_KEY + b"\0" + str(edits).encode("ascii")
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    end = data.rfind(b"\0\0\0\0IEND")
    return data[:end] + chunk + data[end:] if end > 0 else data


def _edits(data: bytes) -> int:
    """How many edits a picture has behind it, by its own word."""
    at = data.rfind(b"tEXt" + _EDITS_KEY + b"\0")
    if at < 4:
        return 0
    (length,) = struct.unpack(">I", data[at - 4 : at])
    digits = data[at + 4 + len(_EDITS_KEY) + 1 : at + 4 + min(length, 64)]
    return min(int(digits), 1000) if digits.isdigit() else 0
