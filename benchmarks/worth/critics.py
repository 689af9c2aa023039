"""Critics of the arms in any world: erring at asked rates, watched, and picking among candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Generic, TypeVar

from worth.world import Artist

from langgraph_interleave.context import derive_seed
from langgraph_interleave.critic import Critic, OnText
from langgraph_interleave.types import (
    Capabilities,
    Critique,
    CritiqueRequest,
    CritiqueResult,
    ImageRequest,
    ImageResult,
    OnProgress,
    Usage,
)

_Artist = TypeVar("_Artist", bound=Artist)


class Erring(ABC, Generic[_Artist]):
    """A critic that is told the truth and then flips a coin: errors at exactly the rates that are asked for.

    Args:
        artist: Who drew what it judges.
        false_accept: 0-1; share of wrong pictures it passes.
        false_reject: 0-1; share of right pictures it sends back.
        seed: Of the coin.
    """

    billed = False

    def __init__(self, artist: _Artist, *, false_accept: float = 0.0, false_reject: float = 0.0, seed: int = 0) -> None:
        self._artist = artist
        self.false_accept = false_accept
        self.false_reject = false_reject
        self._seed = seed
        self.fingerprint = f"oracle/{false_accept:g}/{false_reject:g}/{seed}"

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Judge a picture of the artist's."""
        return CritiqueResult(self.judge(request))

    @abstractmethod
    def judge(self, request: CritiqueRequest) -> Critique:
        """Judge a picture of the artist's, at once."""


class Watched:
    """A critic whose verdicts are counted and held against the truth.

    Attributes:
        critiques: Verdicts given.
        of_right: Those on right pictures.
        false_accepts: Wrong pictures it passed.
        false_rejects: Right pictures it sent back.
    """

    billed = False

    def __init__(self, critic: Critic, artist: Artist) -> None:
        self._critic = critic
        self._artist = artist
        self.fingerprint = critic.fingerprint
        self.critiques = self.of_right = self.false_accepts = self.false_rejects = 0

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Judge as the critic does."""
        result = await self._critic.acritique(request, on_text=on_text)
        right, accepted = self._artist.faultless(request), result.critique.verdict == "accept"
        self.critiques += 1
        self.of_right += right
        self.false_accepts += accepted and not right
        self.false_rejects += right and not accepted
        return result


class BestOf:
    """Draws each picture `n` times from the same prompt and keeps the one its judge ranks highest.

    What spending on candidates instead of corrections buys. The first candidate is the picture the
    artist alone would have drawn. An accepted one goes before a rejected one, then the higher mean
    score, then the earlier.

    Args:
        artist: Who draws.
        judge: Who ranks.
        n: How many candidates.
        instruction: What a request has to achieve, for the judge; by default what its prompt says.
    """

    name = "best-of"

    def __init__(
        self, artist: Artist, judge: Critic, n: int, instruction: Callable[[ImageRequest], str] | None = None
    ) -> None:
        self._artist = artist
        self._judge = judge
        self._instruction = instruction or _prompt
        self.n = n
        self.fingerprint = f"best-of-{n}/{artist.fingerprint}/{judge.fingerprint}"

    @property
    def capabilities(self) -> Capabilities:
        """What the artist can do."""
        return self._artist.capabilities

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw the candidates, and hand the best one on."""
        first = request.seed or 0
        seeds = [first, *(derive_seed(first, 0, number) for number in range(1, self.n))]
        results = [await self._artist.agenerate(replace(request, seed=seed)) for seed in seeds]
        before = request.references[0] if request.references else None
        instruction = self._instruction(request)
        said: list[Critique] = []
        for result in results:
            asked = CritiqueRequest(
                instruction=instruction, prompt=request.prompt, after=result.images[0], before=before
            )
            said.append((await self._judge.acritique(asked)).critique)
        best = max(range(self.n), key=lambda number: (*_rank(said[number]), -number))
        return replace(results[best], usage=Usage(images=self.n, cost_usd=0.0))


def _prompt(request: ImageRequest) -> str:
    return request.prompt


def _rank(critique: Critique) -> tuple[bool, float]:
    return critique.verdict == "accept", critique.scores.mean or 0.0
