"""Who draws and who judges in the built-in world: the simulator, quickly; and a critic that errs at exact rates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from random import Random

from PIL import Image
from worth.critics import Erring

from langgraph_interleave.backends.simulator import SimulatorBackend
from langgraph_interleave.backends.sketch import SketchBackend
from langgraph_interleave.types import (
    Critique,
    CritiqueRequest,
    ImageBytes,
    ImageRequest,
    ImageResult,
    OnProgress,
    Usage,
)
from langgraph_interleave.world.faults import Fault
from langgraph_interleave.world.grammar import target
from langgraph_interleave.world.marks import encode
from langgraph_interleave.world.presets import Preset
from langgraph_interleave.world.scene import Scene, Thing
from langgraph_interleave.world.sight.correction import refine
from langgraph_interleave.world.sight.guesses import Finding
from langgraph_interleave.world.sight.words import reasoning, scores


class Cards(SketchBackend):
    """Stands in for `sketch` where nobody looks at pixels: cards that only carry the scene they stand for.

    The simulator's faults are faults of the scene, so that no result depends on whether it is drawn.
    Each seed has a card of its own, as it would have a drawing of its own.
    """

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Make the card of a prompt that states its scene in full."""
        seed, side = request.seed or 0, request.width or 64
        return ImageResult((_card(request.prompt, seed, side),), usage=Usage(images=1, cost_usd=0.0))


@lru_cache(maxsize=20_000)
def _card(prompt: str, seed: int, side: int) -> ImageBytes:
    shade = sha256(f"{seed}".encode()).digest()
    data = encode(Image.new("RGB", (side, side), (shade[0], shade[1], shade[2])), _scene(prompt))
    return ImageBytes(data, "image/png", side, side, seed=seed)


@lru_cache(maxsize=20_000)
def _scene(words: str) -> Scene:
    return target(words)


class Artist(SimulatorBackend):
    """The simulator, counted.

    Args:
        preset: How often it errs.
        seed: Of its luck.
        pixels: Whether it really draws; else it hands out cards.

    Attributes:
        drawings: Pictures drawn so far.
    """

    def __init__(self, preset: str | Preset, *, seed: int, pixels: bool = False) -> None:
        super().__init__(preset, seed=seed)
        if not pixels:
            self._sketch = Cards()
        self.drawings = 0

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw, with the preset's faults."""
        result = await super().agenerate(request, on_progress=on_progress)
        self.drawings += len(result.images)
        return result

    def faultless(self, request: CritiqueRequest) -> bool:
        """Whether its own list of the picture's faults is empty."""
        return self.truth(request.after.sha256) == ()


class Oracle(Erring[Artist]):
    """A critic that knows the truth and then flips a coin: errors at exactly the rates that are asked for.

    What it knows is the artist's own list of faults. A false reject names a fault that is not there
    and asks to mend it; a false accept says nothing. Scores follow what it *says*, so a mistaken
    critic ranks attempts mistakenly, too. The same picture always meets the same luck.
    """

    def judge(self, request: CritiqueRequest) -> Critique:
        """Judge a picture of the artist's, at once."""
        wanted = _scene(request.instruction)
        faults = self._artist.truth(request.after.sha256)
        assert faults is not None, "it judges pictures of its own artist only"
        luck = Random(f"{self._seed}/{sha256(request.after.data).hexdigest()}/{request.instruction}")
        coin = luck.random()
        findings = findings_of(faults, wanted)
        if findings and coin < self.false_accept:
            findings = ()
        elif not findings and coin < self.false_reject:
            findings = (_imagined(wanted, luck),)
        marks = scores(findings, 0.0, before=request.before is not None)
        if not findings:
            return Critique(verdict="accept", reasoning=reasoning((), wanted), scores=marks)
        return Critique(
            verdict="revise",
            reasoning=reasoning(findings, wanted),
            refined_prompt=_refined(request.prompt, findings, request.instruction),
            scores=marks,
        )


def findings_of(faults: Sequence[Fault], wanted: Scene) -> tuple[Finding, ...]:
    """The artist's own list of faults, as a critic that sees all of them would put it."""
    things = {thing.id: thing for thing in wanted.things}
    found: list[Finding] = []
    for fault in faults:
        kept = fault.category in ("collateral", "identity_drift")
        if fault.what == "extra":
            found.append(Finding("extra"))
        elif fault.what == "backdrop":
            found.append(Finding("backdrop", kept=True))
        else:
            found.append(Finding(fault.what, things.get(fault.thing), kept=kept))
    return tuple(found)


@lru_cache(maxsize=20_000)
def _refined(prompt: str, findings: tuple[Finding, ...], instruction: str) -> str:
    return refine(prompt, findings, _scene(instruction))


def _imagined(wanted: Scene, luck: Random) -> Finding:
    """A fault that is not there."""
    if not wanted.things:
        return Finding("extra")
    thing: Thing = luck.choice(list(wanted.things))
    return Finding(luck.choice(("size", "count", "missing")), thing)
