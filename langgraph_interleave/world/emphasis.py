"""How a prompt speaks of a thing: not at all, plainly, or with emphasis.

Real image models follow words that stand out better than words that are merely there. The simulator
asks here how a prompt puts what is at stake.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from langgraph_interleave.world.grammar.numbers import in_words
from langgraph_interleave.world.grammar.phrases import NOUNS, state_phrase
from langgraph_interleave.world.grammar.prose import noun
from langgraph_interleave.world.palette import COLOR_SYNONYMS
from langgraph_interleave.world.scene import Beside, Thing
from langgraph_interleave.world.vocabulary import KINDS

Stake = Literal["presence", "count", "color", "place", "state", "size", "nothing else", "sameness"]
Emphasis = Literal["none", "plain", "emphasised"]

_SENTENCE = re.compile(r"(?<=[.!?;。！？；])\s*|\n+")
_EMPHATIC = re.compile(
    r"\b(correction|important|exactly|precisely|must|make sure|be sure|ensure|only|not|never|no other|nothing else"
    r"|clearly|really|above all)\b",
    re.IGNORECASE,
)
_SAME = re.compile(r"\b(keep|keeps|kept|same|unchanged|as before|as it was|still|stays?|remains?)\b", re.IGNORECASE)
_EVERYTHING = re.compile(r"\b(everything|all else|the rest|nothing else|no other|anything else)\b", re.IGNORECASE)
_NOTHING_ELSE = re.compile(r"\b(nothing else|no other|nothing more|and no more|not add|without any)\b", re.IGNORECASE)
_PLACES = {
    "on": ("on", "onto", "on top of"),
    "in": ("in", "into", "inside"),
    "above": ("above", "over"),
    "below": ("below", "under", "beneath", "underneath"),
    "left of": ("left of", "to the left of"),
    "right of": ("right of", "to the right of"),
    "in front of": ("in front of", "before"),
    "behind": ("behind",),
}
_SIZES = {
    "small": ("small", "little", "tiny"),
    "medium": ("medium", "size"),
    "large": ("large", "big", "huge", "tall"),
}


def emphasis(prompt: str, thing: Thing | None, stake: Stake) -> Emphasis:
    """How strongly `prompt` states one fact about `thing`; the strongest of its sentences counts.

    Args:
        prompt: Text for the backend.
        thing: Whose fact it is; `None` for the backdrop and for the picture as a whole.
        stake: Which fact: that it is there, its number, colour, place, state or size; that there is
            `nothing else`; its `sameness` with the picture before.

    Returns:
        `emphasised` where a sentence states it with a word such as "exactly", "must" or "correction",
        `plain` where one merely states it, else `none`. English words only.

    Example:
        >>> balls = Thing(id="ball", kind="ball", color="red", count=3)
        >>> emphasis("Three red balls on a table.", balls, "count")
        'plain'
        >>> emphasis("Balls. There must be exactly three red balls.", balls, "count")
        'emphasised'
        >>> emphasis("Some balls on a table.", balls, "count")
        'none'
    """
    found: Emphasis = "none"
    for sentence in sentences(prompt):
        if not _states(sentence, thing, stake):
            continue
        if _EMPHATIC.search(sentence):
            return "emphasised"
        found = "plain"
    return found


def sentences(prompt: str) -> tuple[str, ...]:
    """The sentences of a prompt, without empty ones."""
    return tuple(part.strip() for part in _SENTENCE.split(prompt) if part.strip())


def nouns(thing: Thing) -> tuple[str, ...]:
    """Every word or phrase that may name the thing, in singular and plural."""
    if thing.label:
        return (thing.label,)
    kind = KINDS.get(thing.kind)
    if kind is None:
        return (thing.kind,)
    said = (noun(kind.name), noun(kind.name, 2)) if kind.name in NOUNS else ()
    return (kind.name, kind.plural, *said, *kind.synonyms, *(f"{word}s" for word in kind.synonyms))


def _states(sentence: str, thing: Thing | None, stake: Stake) -> bool:
    if stake == "nothing else":
        return bool(_NOTHING_ELSE.search(sentence))
    if stake == "sameness":
        same = bool(_SAME.search(sentence))
        return same and (thing is None or bool(_EVERYTHING.search(sentence)) or _says(sentence, nouns(thing)))
    if thing is None or not _says(sentence, nouns(thing)):
        return False
    return stake == "presence" or _says(sentence, _words(thing, stake))


def _words(thing: Thing, stake: Stake) -> tuple[str, ...]:
    match stake:
        case "count":
            one = ("a", "an", "single") if thing.count == 1 else ()
            return (in_words(thing.count), str(thing.count), *one)
        case "color":
            color = thing.color or ""
            return (color, *(word for word, known in COLOR_SYNONYMS.items() if known == color))
        case "size":
            return _SIZES[thing.size]
        case "state":
            if thing.state is None:
                return ()
            kind = KINDS.get(thing.kind)
            said = state_phrase(thing.kind, thing.state)[0]
            return (thing.state, said, *(kind.state_words.get(thing.state, ()) if kind else ()))
        case "place":
            if isinstance(thing.at, Beside):
                return _PLACES[thing.at.relation]
            cell = thing.at or ""
            other = cell.replace("upper", "top").replace("lower", "bottom")
            return (cell, other, other.replace("middle", "centre"), other.replace("middle", "center"))
        case _:
            return ()


def _says(sentence: str, words: tuple[str, ...]) -> bool:
    return any(_pattern(word).search(sentence) for word in words if word)


@lru_cache(maxsize=2048)
def _pattern(words: str) -> re.Pattern[str]:
    # Between Latin letters a word ends; scripts without spaces have no such border.
    return re.compile(rf"(?<![A-Za-z]){re.escape(words)}(?![A-Za-z])", re.IGNORECASE)
