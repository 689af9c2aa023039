"""The critic's answer: a verdict, its reasons, scores, and the prompt it would try next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from langgraph_interleave.types.artifact import ImageBytes
from langgraph_interleave.types.base import Frozen
from langgraph_interleave.types.plan import StyleGuide
from langgraph_interleave.types.unusable import Unusable
from langgraph_interleave.types.usage import Usage

Verdict = Literal["accept", "revise"]
Judge = Literal["critic", "check", "human"]
Score = float | None


class Scores(Frozen):
    """Judged quality on 0-10. `None` is unscored and never counts as 0."""

    semantics: Score = Field(default=None, ge=0, le=10)
    quality: Score = Field(default=None, ge=0, le=10)
    consistency: Score = Field(default=None, ge=0, le=10)

    @property
    def mean(self) -> float | None:
        """Mean of the scores that are given; `None` when none is."""
        given = [s for s in (self.semantics, self.quality, self.consistency) if s is not None]
        return sum(given) / len(given) if given else None


class Critique(Frozen):
    """The critic's whole answer about one attempt.

    `refined_prompt` is `None` on accept, and on revise when the critic had no better words: the
    step is then drawn again with the same prompt and a new seed.
    """

    verdict: Verdict
    reasoning: str = ""
    refined_prompt: str | None = None
    scores: Scores = Scores()
    judge: Judge = "critic"
    warnings: tuple[str, ...] = ()


class CheckResult(Frozen):
    """What one check found. `passed=None`: not applicable here."""

    name: str
    passed: bool | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An attempt before the one that is judged: its prompt, its failed checks, and what was said of it."""

    prompt: str
    critique: Critique
    checks: Sequence[CheckResult] = ()


@dataclass(frozen=True, slots=True)
class CritiqueRequest:
    """What a critic is given. It receives pixels, and judges `after` against `instruction`.

    Attributes:
        instruction: What the step must achieve; the same at every attempt.
        prompt: The text that made `after`.
        after: The picture to judge.
        before: The first source of the step, `None` when it starts from nothing.
        references: All sources in order, `before` included.
        style_guide: What the sequence shares.
        checks: Failed checks of this attempt; a picture with any must be revised.
        attempt: 0-based number of the attempt.
        earlier: The judged attempts before, oldest first.
        unusable: The critic's own answers about this picture that could not be used, oldest first.
    """

    instruction: str
    prompt: str
    after: ImageBytes
    before: ImageBytes | None = None
    references: Sequence[ImageBytes] = ()
    style_guide: StyleGuide = StyleGuide()
    checks: Sequence[CheckResult] = ()
    attempt: int = 0
    earlier: Sequence[Earlier] = ()
    unusable: Sequence[Unusable] = ()


@dataclass(frozen=True, slots=True)
class CritiqueResult:
    """A critic's answer with what the call used and, where a model wrote it, its raw text."""

    critique: Critique
    usage: Usage = field(default_factory=Usage)
    raw: str | None = None
