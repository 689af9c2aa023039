"""Outlines: from a request to the scenes of a sequence, as many as are asked for, each with the words that tell it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from langgraph_interleave.errors import PlanError

from langgraph_interleave_miniature.changes import Chosen, Impossible, Shun, applied, described, edit_between
from langgraph_interleave_miniature.naming import listed, nouns
from langgraph_interleave_miniature.parsing import Said, said
from langgraph_interleave_miniature.requests import Asked, asked
from langgraph_interleave_miniature.scenes import COLORS, KINDS, Scene
from langgraph_interleave_miniature.stories import beginning, next_event

#: Pictures of a story nobody gave a number for.
_STORY = 5
#: Characters of a request that a message quotes at most.
_QUOTED = 200
#: What can be said, for whoever said something else.
REMEDY = (
    f"The miniature knows {', '.join(KINDS)}; the colors {', '.join(COLORS)}; top or bottom, left, middle or right; "
    "in a meadow, at night, on the beach, on white paper. "
    "For example: “a red ball at the top left in a meadow; then add a blue car at the bottom right; then make the "
    "ball green”, or “a story about a red car, 4 steps”."
)


@dataclass(frozen=True, slots=True)
class Moment:
    """What one picture shows, and the words that go with it."""

    scene: Scene
    caption: str


@dataclass(frozen=True, slots=True)
class Outline:
    """The sequence.

    Args:
        moments: One for each picture.
        thoughts: How it came about, sentence by sentence.
        unshown: Words of the request that cannot be shown.
        asked: How many pictures were asked for, where it are others.
    """

    moments: tuple[Moment, ...]
    thoughts: tuple[str, ...] = ()
    unshown: tuple[str, ...] = ()
    asked: int | None = None


def outline_of(
    text: str, *, steps: int | None = None, most: int = 100, seed: int = 0, given: Scene | None = None
) -> Outline:
    """Lays a request out.

    What it leaves open (a color, a place, what happens in a story) is chosen by chance, always in the same way for
    the same request and seed. With more pictures asked for than changes told, it goes on as a story; with fewer,
    the first picture shows what the first changes lead to.

    Args:
        text: The request.
        steps: Pictures the caller insists on; goes before a number in the text.
        most: Pictures at most.
        seed: Of chance.
        given: What a picture of the user's shows, which the first one changes.

    Raises:
        PlanError: The request has words for what the miniature does not know, or asks for what cannot be.

    Example:
        >>> [moment.caption for moment in outline_of("a red ball at night; make it blue").moments]
        ['A red ball at night.', 'Make it blue.']
    """
    wish = asked(text)
    rng = random.Random(f"{seed}/{text}")
    told, thoughts, unshown = _told(wish, rng, given)
    wanted = steps or wish.count or (max(_STORY, len(told)) if wish.story else len(told))
    count = min(wanted, most)
    if count < len(told):
        left = len(told) - count + 1
        caption = " ".join(moment.caption for moment in told[:left])
        told = [Moment(told[left - 1].scene, caption), *told[left:]]
        thoughts.append(f"The first picture shows at once what {left} parts of the request tell.")
    elif count > len(told):
        more = count - len(told)
        told = _continued(told, count, rng)
        thoughts.append(f"What happens in the last {f'{more} pictures' if more > 1 else 'picture'} is made up.")
    return Outline(tuple(told), tuple(thoughts), tuple(unshown), wanted if wanted != count else None)


def _told(wish: Asked, rng: random.Random, given: Scene | None) -> tuple[list[Moment], list[str], list[str]]:
    moments: list[Moment] = []
    thoughts: list[str] = []
    unshown: list[str] = []
    opened: list[str] = []
    # Chance takes nothing that is told somewhere: what turns yellow later is not yellow from the beginning.
    named = frozenset(_named([said(clause) for clause in wish.clauses]))
    for clause in wish.clauses:
        words = said(clause)
        if words.unknown or (words.empty and not wish.story):
            strange = _shortened(", ".join(f"“{word}”" for word in words.unknown) or f"“{clause}”")
            raise PlanError(f"The miniature does not understand {strange}.", remedy=REMEDY)
        unshown += words.unshown
        if words.empty:
            continue
        try:
            before = moments[-1].scene if moments else given
            chosen = applied(words, before, rng, named) if before is not None else _first(words, rng, named)
        except Impossible as error:
            raise PlanError(f"“{_shortened(clause)}” cannot be: {error}", remedy=REMEDY) from error
        opened += chosen.open
        moments.append(Moment(chosen.scene, _sentence(clause)))
    if not moments:
        if not wish.story:
            raise PlanError("The request says nothing that could be drawn.", remedy=REMEDY)
        if given is not None:
            event = next_event(rng, given, frozenset(thing.kind for thing in given.things))
            return [Moment(event.edit.after, event.caption)], thoughts, unshown
        scene = beginning(rng)
        moments.append(Moment(scene, f"Once upon a time there was {nouns(scene)}."))
    elif wish.story and given is None and moments[0].scene.things:
        moments[0] = Moment(moments[0].scene, f"Once upon a time there was {nouns(moments[0].scene)}.")
    if opened:
        thoughts.append(f"The request leaves open {listed(opened)}; chance decides.")
    return moments, thoughts, unshown


def _named(clauses: list[Said]) -> Iterator[str | int]:
    for words in clauses:
        if words.background is not None:
            yield words.background
        for thing in words.things:
            yield from (part for part in (thing.color, thing.turns, thing.cell) if part is not None)


def _first(words: Said, rng: random.Random, shun: Shun) -> Chosen:
    if words.verb in ("remove", "move"):
        raise Impossible("it is the first picture, and there is nothing before it.")
    # "make a ball green": it is so from the beginning.
    things = tuple(replace(thing, color=thing.turns or thing.color, turns=None) for thing in words.things)
    return described(replace(words, things=things), rng, shun)


def _continued(told: list[Moment], count: int, rng: random.Random) -> list[Moment]:
    moments = list(told)
    heroes = frozenset(thing.kind for thing in moments[0].scene.things)
    last = edit_between(moments[-2].scene, moments[-1].scene) if len(moments) > 1 else None
    while len(moments) < count:
        event = next_event(rng, moments[-1].scene, heroes, last)
        moments.append(Moment(event.edit.after, event.caption))
        last = event.edit
    return moments


def _sentence(clause: str) -> str:
    text = " ".join(clause.split())
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def _shortened(text: str) -> str:
    """As much of a user's words as belongs into a message."""
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED].rstrip()}…"
