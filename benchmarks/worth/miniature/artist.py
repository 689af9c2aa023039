"""The miniature at work: draws with the real pipeline, once whatever is asked again, and has its pictures read.

What a picture shows is what the independent reader says: trained with another seed, other drawings and other
augmentation than the critic's. It is no truth, only an opinion that owes the critic nothing;
`benchmarks/readers.py` says how far the two agree, and with a person's eyes.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from langgraph_interleave_miniature.backend import MiniatureBackend
from langgraph_interleave_miniature.critic import MiniatureCritic
from langgraph_interleave_miniature.reader import READERS, TrainedReader
from langgraph_interleave_miniature.reading import Reader
from langgraph_interleave_miniature.scenes import Scene
from langgraph_interleave_miniature.storage import weights as stored
from PIL import Image
from worth.miniature.tasks import target

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.critic import Critic
from langgraph_interleave.types import (
    Capabilities,
    CritiqueRequest,
    ImageBytes,
    ImageRequest,
    ImageResult,
    OnProgress,
    Usage,
)

#: Tokens a prompt is padded to, and for prompts of more words (whole requests). The pipeline's default of 512 takes
#: four times as long; the model was trained on texts of every length.
TOKENS, MORE_TOKENS, FEW_WORDS = 64, 256, 56


@dataclass(slots=True)
class Studio:
    """Pipeline, critic and reader of one folder of weights, with all that was drawn and read in this process.

    Attributes:
        backend: Draws.
        critic: The miniature's own.
        reader: The independent one.
        pictures: By prompt, references and seed.
        shown: What the independent reader sees, by the picture's hash.
    """

    backend: ImageBackend
    critic: Critic
    reader: Reader
    pictures: dict[tuple[str, tuple[str, ...], int], ImageBytes] = field(default_factory=dict)
    shown: dict[str, Scene] = field(default_factory=dict)

    async def draw(self, request: ImageRequest) -> ImageBytes:
        """A picture, drawn once for the same prompt, references and seed."""
        key = (request.prompt, tuple(image.sha256 for image in request.references), request.seed or 0)
        if key not in self.pictures:
            tokens = TOKENS if len(request.prompt.split()) <= FEW_WORDS else MORE_TOKENS
            asked = replace(request, extra={**request.extra, "max_sequence_length": tokens})
            image = (await self.backend.agenerate(asked)).images[0]
            self.pictures[key] = image
            with Image.open(io.BytesIO(image.data)) as picture:
                self.shown[image.sha256] = self.reader(picture.convert("RGB")).scene
        return self.pictures[key]


@cache
def studio(weights: Path | None) -> Studio:
    """The studio of a folder of weights, one in a process; `None` for the package's own."""
    backend, critic, file = MiniatureBackend(weights), MiniatureCritic(weights=weights), READERS["independent"]
    independent = stored(file, weights)
    import torch

    # Work is shared among processes, each with one task: threads would only be in each other's way.
    torch.set_num_threads(1)
    return Studio(backend, critic, TrainedReader(independent))


class Artist:
    """The miniature, counted; what was drawn before by anybody is counted as drawn again.

    Args:
        hands: Who really draws.
        helps: Whether prompts of critics are used; else it is drawn again from the step's own.

    Attributes:
        drawings: Pictures drawn so far.
    """

    name = "miniature"

    def __init__(self, hands: Studio, *, helps: bool = True) -> None:
        self.hands = hands
        self.helps = helps
        self.drawings = 0
        self.fingerprint = hands.backend.fingerprint

    @property
    def capabilities(self) -> Capabilities:
        """What the miniature can do."""
        return self.hands.backend.capabilities

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw."""
        image = await self.hands.draw(request)
        self.drawings += 1
        return ImageResult((image,), usage=Usage(images=1, cost_usd=0.0))

    def shown(self, sha256: str) -> Scene | None:
        """What the independent reader sees in a picture of the miniature's."""
        return self.hands.shown.get(sha256)

    def faultless(self, request: CritiqueRequest) -> bool:
        """Whether the independent reader sees all that the instruction asks for, and nothing else."""
        seen = self.shown(request.after.sha256)
        return seen is not None and seen.shown == target(request.instruction).shown
