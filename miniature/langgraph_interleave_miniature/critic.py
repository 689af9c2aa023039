"""The critic `miniature`: a small trained network reads the picture, and what it reads is held against the words."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from langgraph_interleave.critic import OnText
from langgraph_interleave.errors import CritiqueError
from langgraph_interleave.types import Critique, CritiqueRequest, CritiqueResult

from langgraph_interleave_miniature.judging import Part, chance, judge
from langgraph_interleave_miniature.parsing import Said
from langgraph_interleave_miniature.reading import Reader
from langgraph_interleave_miniature.refining import refined
from langgraph_interleave_miniature.remarks import doubted, reasoning, scores, worst
from langgraph_interleave_miniature.sight import Seen, Sight
from langgraph_interleave_miniature.wanting import completed, wanted_of

#: Changes when the critic judges differently.
_VERSION = 3
#: A picture is accepted when it is at least this likely right.
_ACCEPT = 0.5


class MiniatureCritic:
    """Judges pictures of the miniature's world by their pixels, with a reader that was trained on such pictures.

    It reads the picture, and the picture before where there is one, and compares with what the instruction wants:
    all the picture shows, or a change of what is seen before. The reader's probabilities are calibrated: what is
    likelier right than not is accepted, and what is not sure is said to be so. It reads no metadata and knows
    nothing of how a picture was made. How well something is drawn it does not judge; of other pictures it can
    only guess, and says that.

    Args:
        reader: Another reader; by default the trained one of `weights`.
        weights: Folder of weights; this package's own by default.

    Raises:
        ConfigError: The reader's weights are not there.
    """

    name = "miniature"
    billed = False

    def __init__(self, reader: Reader | None = None, *, weights: str | Path | None = None) -> None:
        self._sight = Sight(reader, folder=weights)
        self.fingerprint = f"miniature/{_VERSION}/{self._sight.kind}"

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Judge a picture; the reasoning is streamed in words once it is known.

        Raises:
            CritiqueError: The instruction says nothing of the miniature's world.
        """
        critique = await asyncio.to_thread(self.critique, request)
        if on_text is not None:
            for piece in re.findall(r"\S+\s*", critique.reasoning):
                on_text(piece)
        return CritiqueResult(critique, raw=critique.reasoning)

    def critique(self, request: CritiqueRequest) -> Critique:
        """Judge a picture. Takes about a hundredth of a second; the first time the reader is loaded, too.

        Raises:
            CritiqueError: The instruction says nothing of the miniature's world.
        """
        before = self._sight.see(request.before) if request.before is not None else None
        wanted = wanted_of(request.instruction, before.reading if before is not None else None)
        if wanted is None:
            raise CritiqueError(
                f"The critic miniature does not understand the instruction “{request.instruction[:120]}”.",
                remedy="Use the planner miniature, whose instructions say what the picture shows, or another critic.",
            )
        seen = self._sight.see(request.after)
        if seen is None:
            return Critique(verdict="revise", reasoning="The picture cannot be opened.")
        parts = judge(seen.reading, wanted, before.reading if before is not None else None)
        failed = [check.reason or check.name for check in request.checks if check.passed is False]
        accepted = not (worst(parts) or failed) and chance(parts) >= _ACCEPT
        return Critique(
            verdict="accept" if accepted else "revise",
            reasoning=reasoning(parts, seen.reading, wanted, checks=failed),
            refined_prompt=None if accepted else _better(request, wanted, parts, seen, before),
            scores=scores(parts, before=before is not None),
            warnings=_warnings(seen, wanted, parts),
        )


def _better(
    request: CritiqueRequest, wanted: Said, parts: tuple[Part, ...], seen: Seen, before: Seen | None
) -> str | None:
    scene = completed(wanted, seen.reading)
    used = [*(earlier.prompt for earlier in request.earlier), request.prompt]
    return refined(scene, parts, before.reading.scene if before is not None else None, used)


def _warnings(seen: Seen, wanted: Said, parts: tuple[Part, ...]) -> tuple[str, ...]:
    said: list[str] = []
    if wanted.unknown:
        said.append(
            f"Words of the instruction that the critic does not know were not judged: {', '.join(wanted.unknown)}."
        )
    if seen.foreign:
        said.append(
            "The picture hardly looks like one of the miniature's world; what the critic read in it is a guess."
        )
    doubts = doubted(parts)
    if doubts:
        said.append(f"The critic is unsure: {round(100 * chance(parts))} % that all is right.")
    return tuple(said)
