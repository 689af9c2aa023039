"""A critic that looks at nothing but pixels.

It draws, with a steady hand, what the step asks for, lays that over the picture, and where the two
differ it asks which single mistakes would explain the difference: analysis by synthesis. It knows
the built-in world and nothing else; of a photograph it can only say that it is no drawing of the scene.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Self

from langgraph_interleave.critic import OnText
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.types import Critique, CritiqueRequest, CritiqueResult
from langgraph_interleave.world.grammar import describe, target
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.presets import preset
from langgraph_interleave.world.scene import Scene, Thing
from langgraph_interleave.world.sight.correction import plain, refine
from langgraph_interleave.world.sight.explanation import clean, differing, dirty, explain
from langgraph_interleave.world.sight.guesses import Finding
from langgraph_interleave.world.sight.view import View, areas_of, compare, differ, look
from langgraph_interleave.world.sight.wanted import Wanted, is_remark, wanted_of
from langgraph_interleave.world.sight.words import reasoning, scores

#: Changes when the critic judges differently.
VERSION = 1


class PixelCritic:
    """Judges drawings of the built-in world by their pixels; free, deterministic, without any model.

    It sees what a step's instruction describes in the words of the built-in world, in full: of an
    instruction that tells a change only it can say whether anything changed, and warns. It reads
    no metadata, and knows nothing of how a picture was made. What a reviewer says of an attempt ("two
    birds, not one") is carried out in its refined prompt, and asked for of the attempts after it. The
    noise makes it as fallible as a model, for measuring what a loop is worth with a critic that errs.

    Args:
        false_accept: 0-1; share of faulty pictures it passes all the same.
        false_reject: 0-1; share of right pictures it sends back all the same.
        seed: Of that noise. The same picture always has the same luck.

    Example:
        >>> from langgraph_interleave.world.render import render
        >>> from langgraph_interleave.world.scene import Scene, Thing
        >>> two = render(Scene(backdrop="meadow", things=(Thing(id="ball", kind="ball", count=2),)))
        >>> words = "On a meadow: three balls."
        >>> critique = PixelCritic().critique(CritiqueRequest(instruction=words, prompt=words, after=two))
        >>> critique.verdict, critique.reasoning
        ('revise', 'There are two balls; the step asks for three.')
    """

    name = "pixel"
    written = "pixel or pixel:PRESET"
    billed = False

    def __init__(self, *, false_accept: float = 0.0, false_reject: float = 0.0, seed: int = 0) -> None:
        for option, rate in (("false_accept", false_accept), ("false_reject", false_reject)):
            if not 0 <= rate <= 1:
                raise ConfigError(f"{option}={rate!r} of the pixel critic is no probability.", remedy="Give 0 to 1.")
        self.false_accept = false_accept
        self.false_reject = false_reject
        self.seed = seed
        noise = f":{false_accept:g}:{false_reject:g}:{seed}" if false_accept or false_reject else ""
        self.fingerprint = f"pixel:{VERSION}{noise}"

    @classmethod
    def from_string(cls, text: str, *, seed: int = 0) -> Self:
        """A critic that errs as a preset says.

        Args:
            text: Name of a preset.
            seed: Of the noise.

        Raises:
            ConfigError: There is no such preset.

        Example:
            >>> PixelCritic.from_string("hard").false_accept
            0.1
        """
        found = preset(text)
        return cls(false_accept=found.false_accept, false_reject=found.false_reject, seed=seed)

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Judge a picture; the reasoning is streamed in words once it is known."""
        critique = await asyncio.to_thread(self.critique, request)
        if on_text is not None:
            for piece in re.findall(r"\S+\s*", critique.reasoning):
                on_text(piece)
        return CritiqueResult(critique, raw=critique.reasoning)

    def critique(self, request: CritiqueRequest) -> Critique:
        """Judge a picture. Computes some hundredths of a second; never raises because of a picture."""
        asked = wanted_of(request)
        wanted = asked.scene
        seen = _see(request, asked)
        failed = [check.reason or check.name for check in request.checks if check.passed is False]
        # A failed check is a fact: no luck makes the picture right.
        findings = seen.findings if failed else self._mistaken(request, wanted, seen)
        before = request.before is not None
        if not findings and not failed:
            # A critic that errs is as content with a faulty picture as with a right one.
            marks = scores((), 0.0 if seen.findings else seen.rest, before=before)
            if seen.warnings:
                marks = marks.model_copy(update={"semantics": 7.0})
            said = reasoning((), wanted) if not seen.warnings else _UNSURE
            return Critique(verdict="accept", reasoning=said, scores=marks, warnings=seen.warnings)
        earlier = request.earlier[-1].critique.reasoning if request.earlier else ""
        corrected = findings or (Finding("unclear"),)
        checks = [
            check.reason or check.name for check in request.checks if check.passed is False and not is_remark(check)
        ]
        remarks = [words for words, _ in asked.remarks]
        return Critique(
            verdict="revise",
            reasoning=reasoning(findings, wanted, checks=checks, earlier=earlier, remarks=remarks, missed=asked.missed),
            refined_prompt=_refined(request, asked, findings),
            scores=scores(corrected, seen.rest, before=before),
            warnings=seen.warnings,
        )

    def _mistaken(self, request: CritiqueRequest, wanted: Scene, seen: _Seen) -> Sequence[Finding]:
        """The findings, or what a critic that errs would say instead."""
        rate = self.false_accept if seen.findings else self.false_reject
        if not rate:
            return seen.findings
        digest = sha256(seen.digest + request.instruction.encode()).hexdigest()
        luck = Random(f"{self.seed}/{digest}")
        if luck.random() >= rate:
            return seen.findings
        if seen.findings:
            return ()
        things = list(wanted.things)
        if not things:
            return (Finding("unclear", cell="middle"),)
        thing = luck.choice(things)
        return (_imagined(thing, luck),)


@dataclass(frozen=True, slots=True)
class _Seen:
    findings: tuple[Finding, ...]
    rest: float
    digest: bytes
    warnings: tuple[str, ...] = ()


def _refined(request: CritiqueRequest, asked: Wanted, findings: Sequence[Finding]) -> str | None:
    """A better prompt; `None` where a reviewer wants something that was not understood, and nothing else is wrong."""
    if asked.remarks and not asked.understood and not findings:
        return None
    base, corrected = request.prompt, findings or (Finding("unclear"),)
    if not asked.states_all:
        # The instruction tells a change only: what was said of the picture is a further one.
        for words, remark in asked.remarks:
            base = f"{sentence(plain(base))} {sentence(words)}" if remark.done else base
        return base if asked.understood else refine(base, corrected, asked.scene)
    if asked.scene != asked.plain and target(plain(base)) != asked.scene:
        base = describe(asked.scene)
    return refine(base, corrected, asked.scene)


def _see(request: CritiqueRequest, asked: Wanted) -> _Seen:
    wanted = asked.scene
    view = look(request.after)
    if view is None:
        return _Seen((Finding("broken"),), 0.0, request.after.data)
    explanation = explain(view, wanted)
    if explanation.findings and request.references and not wanted.photo:
        # A backend pins up a photo it was given, whether the words say so or not.
        pinned = wanted.model_copy(update={"photo": True})
        if compare(view, pinned).total < 0.5 * explanation.asked.total:
            explanation = explain(view, pinned)
    findings = explanation.findings
    if not findings or request.before is None:
        return _Seen(findings, explanation.rest.total, view.digest)
    before = look(request.before)
    if before is None:
        return _Seen(findings, explanation.rest.total, view.digest)
    if not asked.states_all:
        return _changed_at_all(view, before)
    told = tuple(_against(before, finding, wanted, view) for finding in findings)
    return _Seen(told, explanation.rest.total, view.digest)


def _changed_at_all(view: View, before: View) -> _Seen:
    """All that can be said when the instruction tells a change only: whether there is one."""
    if (view.width, view.height) == (before.width, before.height):
        difference = differ(view.pixels, before.pixels)
        if clean(difference):
            return _Seen((Finding("unchanged"),), 0.0, view.digest)
    return _Seen((), 0.0, view.digest, (_PARTLY,))


_UNSURE = "The picture changed, as the step asks; whether in just that way cannot be told from the words of the step."
_PARTLY = "The instruction tells a change but not the whole picture; the pixel critic could only see that it changed."


def _against(view: View, finding: Finding, wanted: Scene, after: View) -> Finding:
    """The finding, marked if what it is about was right in the picture before."""
    if (view.width, view.height) != (after.width, after.height):
        return finding
    residual = compare(view, wanted)
    if finding.what == "backdrop":
        # Things come and go from step to step, but most of a picture lies behind them.
        return finding.with_kept(differing(residual) < 0.3)
    if finding.thing is None:
        return finding
    areas = areas_of(wanted, finding.thing.id, view.width, view.height, grown=0.0)
    return finding.with_kept(bool(areas) and not dirty(residual, areas))


def _imagined(thing: Thing, luck: Random) -> Finding:
    """What a mistaken critic sees."""
    smaller = thing.model_copy(update={"size": "small" if thing.size != "small" else "medium"})
    fewer = thing.model_copy(update={"count": thing.count - 1 if thing.count > 1 else 2})
    return luck.choice((Finding("size", thing, smaller), Finding("count", thing, fewer), Finding("missing", thing)))
