"""Corrections: what a refined prompt adds to a prompt, in words that leave its scene as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from langgraph_interleave.world.grammar import describe, read, target
from langgraph_interleave.world.grammar.numbers import in_words
from langgraph_interleave.world.grammar.phrases import BACKDROPS, state_phrase
from langgraph_interleave.world.grammar.prose import place
from langgraph_interleave.world.grammar.tokens import quote
from langgraph_interleave.world.naming import capital, named, the
from langgraph_interleave.world.scene import Scene
from langgraph_interleave.world.sight.guesses import Finding

#: What a correction begins with, in a paragraph of its own at the end of the prompt.
LEAD = "Make sure:"
_CORRECTION = re.compile(rf"\s*\n\n{LEAD} .*\Z", re.DOTALL)


def refine(prompt: str, findings: Sequence[Finding], scene: Scene) -> str:
    """The prompt with what went wrong said once more, exactly and with emphasis.

    A correction that an earlier attempt added is replaced: corrections do not pile up.

    Args:
        prompt: The text that made the picture.
        findings: What is wrong with it.
        scene: What the picture must show.

    Returns:
        A prompt that leads to the same scene.

    Example:
        >>> from langgraph_interleave.world.scene import Thing
        >>> balls = Thing(id="ball", kind="ball", color="red", count=3)
        >>> scene = Scene(backdrop="meadow", things=(balls,))
        >>> print(refine("On a meadow: three red balls.", [Finding("count", balls)], scene))
        On a meadow: three red balls.
        <BLANKLINE>
        Make sure: the red balls must be exactly three.
    """
    base = plain(prompt)
    for words in (base, describe(scene)):
        refined = f"{words}\n\n{LEAD} {_joined(words, findings, scene)}"
        if _same(refined, base):
            return refined
    return f"{base}\n\n{LEAD} everything must be exactly as it is said here."


def plain(prompt: str) -> str:
    """The prompt without a correction of ours."""
    return _CORRECTION.sub("", prompt)


def _joined(base: str, findings: Sequence[Finding], scene: Scene) -> str:
    parts: list[str] = []
    for finding in findings:
        options = list(dict.fromkeys(_sentences(finding, scene)))
        # The first that changes nothing for a reader of free text, too.
        words = next((one for one in options if _reads_alike(f"{base}\n\n{LEAD} {one}", base)), options[0])
        if words not in parts:
            parts.append(words)
    text = " ".join(capital(part) for part in parts)
    return text[:1].lower() + text[1:]


def _same(refined: str, base: str) -> bool:
    return target(refined) == target(base)


def _reads_alike(refined: str, base: str) -> bool:
    return read(refined).scene == read(base).scene


def _sentences(finding: Finding, scene: Scene) -> Iterator[str]:
    """Ways to say a correction, the best first."""
    thing = finding.thing
    if thing is None:
        yield from _of_the_picture(finding, scene)
        return
    it = the(thing)
    stay = " and stay exactly as before" if finding.kept else ""
    match finding.what:
        case "count":
            yield f"{it} must be exactly {in_words(thing.count)}{stay}."
            yield f"there must be exactly {named(thing)}{stay}."
        case "color" | "swap" if thing.color is not None:
            yield from (f"{one}." for one in _colors(finding, stay))
        case "color" | "swap":
            yield f"{it} must keep exactly the same colour."
        case "place" if thing.at is not None:
            yield f"{it} must be exactly {place(thing, scene)}{stay}."
            yield f"{it} must be at the right place{stay}."
        case "state" if thing.state is not None:
            yield f"{it} must clearly be {state_phrase(thing.kind, thing.state)[0]}{stay}."
        case "size":
            yield f"{it} must be exactly of {thing.size} size{stay}."
        case "photo":
            yield "the given photo must be pinned up."
            yield "everything must be exactly as it is said here."
        case _ if finding.kept:
            yield f"{it} must be there and stay exactly as before."
        case _:
            where = place(thing, scene)
            yield f"{it} must really be there{f', {where}' if where else ''}."
            yield f"{it} must really be there."
            yield f"there really must be {named(thing)}."


def _colors(finding: Finding, stay: str) -> Iterator[str]:
    things = [thing for thing in (finding.thing, finding.second) if thing is not None]
    yield " and ".join(f"{the(thing, color=False)} must clearly be {thing.color}" for thing in things) + stay
    yield " and ".join(f"{the(thing)} must clearly be {thing.color}" for thing in things) + stay


def _of_the_picture(finding: Finding, scene: Scene) -> Iterator[str]:
    match finding.what:
        case "extra":
            yield "there must be nothing else in the picture."
        case "words" if finding.text:
            yield f"the words {quote(finding.text)} must be written in the picture exactly so."
            yield f"the words {quote(finding.text)} are written in the picture."
            yield "the words in the picture must be exactly as they are said here."
        case "backdrop":
            where = BACKDROPS.get(scene.backdrop, scene.backdrop)
            yield f"the background must be {where}{' and stay exactly as before' if finding.kept else ''}."
            yield "the background must stay exactly the same."
        case _:
            yield "everything must be exactly as it is said here, and nothing else."
