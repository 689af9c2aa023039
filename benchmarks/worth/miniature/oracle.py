"""Critics of the miniature's pictures: one that errs at exact rates, and one whose words are not used."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from langgraph_interleave_miniature.judging import judge
from langgraph_interleave_miniature.reading import certain
from langgraph_interleave_miniature.refining import refined
from langgraph_interleave_miniature.remarks import reasoning, scores, worst
from langgraph_interleave_miniature.scenes import COLORS, Scene
from langgraph_interleave_miniature.wanting import whole
from worth.critics import Erring
from worth.miniature.artist import Artist
from worth.miniature.tasks import target

from langgraph_interleave.critic import Critic, OnText
from langgraph_interleave.types import Critique, CritiqueRequest, CritiqueResult


class Oracle(Erring[Artist]):
    """A critic that is told what the independent reader sees, and then flips a coin: errors at exactly the asked rates.

    It judges, scores and mends as the miniature's critic does who is sure of what it sees: what is really seen, or
    after the coin what it makes itself believe: all that was asked for, or something that is not there. The same
    picture always meets the same luck.
    """

    def judge(self, request: CritiqueRequest) -> Critique:
        """Judge a picture of the artist's, at once."""
        seen = self._artist.shown(request.after.sha256)
        assert seen is not None, "it judges pictures of its own artist only"
        asked = target(request.instruction)
        luck = Random(f"{self._seed}/{request.after.sha256}/{request.instruction}")
        coin = luck.random()
        if seen.shown != asked.shown:
            believed = asked if coin < self.false_accept else seen
        else:
            believed = imagined(asked, luck) if coin < self.false_reject else seen
        earlier = self._artist.shown(request.before.sha256) if request.before is not None else None
        before, reading, wanted = certain(earlier) if earlier is not None else None, certain(believed), whole(asked)
        parts = judge(reading, wanted, before)
        accepted = not worst(parts)
        used = [*(attempt.prompt for attempt in request.earlier), request.prompt]
        return Critique(
            verdict="accept" if accepted else "revise",
            reasoning=reasoning(parts, reading, wanted),
            refined_prompt=None if accepted else refined(asked, parts, earlier, used),
            scores=scores(parts, before=before is not None),
        )


class Silent:
    """A critic whose verdicts count and whose prompts do not: pure resampling."""

    billed = False

    def __init__(self, critic: Critic) -> None:
        self._critic = critic
        self.fingerprint = f"silent/{critic.fingerprint}"

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Judge, and suggest nothing."""
        result = await self._critic.acritique(request, on_text=on_text)
        return replace(result, critique=result.critique.model_copy(update={"refined_prompt": None}))


def imagined(scene: Scene, luck: Random) -> Scene:
    """The scene with a fault that is not there: a thing of another color, or gone. No scene of a task is empty."""
    thing = luck.choice(scene.things)
    if luck.random() < 0.5:
        return replace(scene, things=tuple(one for one in scene.things if one is not thing))
    other = replace(thing, color=luck.choice([color for color in COLORS if color != thing.color]))
    return replace(scene, things=tuple(other if one is thing else one for one in scene.things))
