"""Finds the procedure a request asks for: by title and names, tolerant of word forms, synonyms and typing errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache

from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.grammar.numbers import singular
from langgraph_interleave.world.procedures.book import book
from langgraph_interleave.world.procedures.procedure import Procedure

#: Least share of a request's own words that a name must account for.
_LEAST = 0.5

_STOP_WORDS = """
how to do you does i we can the a an of in on with my your his her their its me please show picture
pictures image images explain tell teach illustrate illustrated guide tutorial instructions instruction for
and or step steps by what is are it this that simple easy easily properly correctly some one let us lets
want would like need create generate give using about from at as into quick quickly beginner beginners kid
kids child children sequence series story storyboard comic visual through all each process way wie man ein
eine einen einem einer der die das den dem zeig zeige mir bitte schritt schritten schritte bildern bilder
anleitung erkläre und zum zur im auf mit werden wird cómo como hacer un una el la los las de del comment faire
du des le les une se à
"""
_STOP = frozenset(_STOP_WORDS.split())
#: Groups of verbs that ask for the same.
_SAME = tuple(
    frozenset(group.split())
    for group in (
        "make prepare cook brew fix do", "build construct assemble erect", "draw sketch doodle paint",
        "plant sow grow raise", "fold crease", "change replace swap", "send post mail", "wrap pack", "brush clean",
        "light start kindle ignite", "boil cook", "bake make", "treat dress bandage", "tyre tire", "plane airplane",
        "gift present", "bean seed", "pump inflate", "bulb lightbulb", "tea teacup", "pitch raise", "bicycle bike",
    )
)  # fmt: skip
_ZH_NOISE = re.compile(
    r"请|怎样|如何|怎么|怎|展示|显示|画出|图解|教我|教程|步骤|的过程|过程|分?成?[\d一二两三四五六七八九十]{1,3}个?(?:步|张图)|"
    r"一颗|一个|一只|一棵|一封|一杯|一座|一些|的|"
    r"[，。！？、,.!?\s\d]"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hit:
    """A procedure found.

    Attributes:
        procedure: The page.
        name: The name it was found by.
        score: 0 to 1: how much of the request that name accounts for.
        words: How many words of that name count; one alone may as well only name a thing.
    """

    procedure: Procedure
    name: str
    score: float
    words: int = 2


def find(request: str, language: Language = "en") -> Hit | None:
    """The procedure of the book that a request asks for, or `None`.

    Args:
        request: The user's words, wishes about number and form already taken out.
        language: Their language.

    Example:
        >>> hit = find("how to plant a bean")
        >>> hit.procedure.key if hit else None
        'plant_a_bean'
    """
    best: Hit | None = None
    for procedure in book():
        hits = [_chinese(procedure, request)] if language == "zh" else [
            _by_words(procedure, request, procedure.names[known]) for known in ("en", "de", "es", "fr")
        ]  # fmt: skip
        for hit in hits:
            if hit is not None and (best is None or hit.score > best.score):
                best = hit
    return best


def _by_words(procedure: Procedure, request: str, names: Iterable[str]) -> Hit | None:
    asked = _content(request)
    if not asked:
        return None
    best: Hit | None = None
    for name in names:
        wanted = _content(name)
        if not wanted:
            continue
        matched = _matched(wanted, asked)
        if matched is None:
            continue
        # Every word of the name must be there, and the name must account for most of what was asked.
        score = matched / max(len(asked), len(wanted))
        # A longer name says more: "draw a cat" goes before "cat".
        score += 0.01 * min(len(wanted), 5)
        if matched / len(asked) >= _LEAST and (best is None or score > best.score):
            best = Hit(procedure, name, min(score, 1.0), len(wanted))
    return best


def _matched(wanted: Sequence[str], asked: Sequence[str]) -> float | None:
    """How well all words of a name are found in a request, each word of which counts once; `None`: not all are."""
    left = list(asked)
    total = 0.0
    for word in sorted(wanted, key=lambda word: word not in asked):
        close, other = max(((_closeness(word, other), other) for other in left), default=(0.0, ""))
        if close == 0.0:
            return None
        left.remove(other)
        total += close
    return total


def _chinese(procedure: Procedure, request: str) -> Hit | None:
    asked = _ZH_NOISE.sub("", request)
    best: Hit | None = None
    for name in procedure.names["zh"]:
        wanted = _ZH_NOISE.sub("", name)
        if wanted and _in_order(wanted, asked):
            score = len(wanted) / max(len(asked), 1) * (1.0 if wanted in asked else 0.99)
            if score >= 0.49 and (best is None or score > best.score):
                best = Hit(procedure, name, score)
    return best


def _in_order(part: str, whole: str) -> bool:
    """Whether all characters of a word come in a text, in order: "画猫" in "画可爱猫"."""
    rest = iter(whole)
    return all(character in rest for character in part)


@cache
def _content(text: str) -> tuple[str, ...]:
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.casefold().replace("’", "'").replace("'s", ""))
    kept = [_stem(word) for word in words if word not in _STOP]
    return tuple(dict.fromkeys(kept))


def _stem(word: str) -> str:
    if word.endswith("ing") and len(word) > 5:
        stem = word[:-3]
        return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
    return singular(word)


@lru_cache(maxsize=20_000)
def _closeness(one: str, other: str) -> float:
    """1 for the same word, 0.9 for a synonym or a typing error, 0 otherwise."""
    if one == other or one + "e" == other or other + "e" == one:
        return 1.0
    if any(one in group and other in group for group in _SAME):
        return 0.9
    if min(len(one), len(other)) >= 5 and SequenceMatcher(None, one, other).ratio() >= 0.85:
        return 0.9
    return 0.0
