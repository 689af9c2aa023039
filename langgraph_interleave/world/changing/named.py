"""Which steps a text is about: "step 3", "the last two pictures", "from step 2 on", "every step"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_interleave.world.grammar.numbers import ORDINALS, WORDS

#: Stands in a text where steps were named; taken out of a text that has it otherwise.
MARK = "\u2062"
_PICTURE = r"(?:pictures?|images?|drawings?|illustrations?|sketch(?:es)?|photos?|bild(?:er|ern|s)?|im[áa]gen(?:es)?)"
_UNIT = (
    rf"(?:{_PICTURE}|steps?|panels?|frames?|scenes?|pages?|parts?|stages?|slides?|schritte?[ns]?|szenen?|pasos?|"
    r"[ée]tapes?)"
)
_NUMBERS = {**{word: number for number, word in enumerate(WORDS) if number}}
_PLACES: dict[str, int] = {
    **{word: number for number, word in enumerate(ORDINALS, 1)},
    "ersten": 1, "zweiten": 2, "dritten": 3, "vierten": 4, "fünften": 5, "last": -1, "final": -1, "letzten": -1,
    "very last": -1, "penultimate": -2, "second last": -2, "second-last": -2, "second to last": -2,
    "second-to-last": -2, "last but one": -2, "next to last": -2,
}  # fmt: skip
_N = rf"(?:\d{{1,4}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_ORD = rf"(?:{'|'.join(sorted(_PLACES, key=len, reverse=True))}|\d{{1,4}}(?:st|nd|rd|th|\.))"
_AND = r"\s*(?:,\s*and|,|and|&|or|und|y|et)\s*"
_TO = r"\s*(?:to|through|until|till|up\s+to|bis|-|–)\s*"
#: A number after "step 2 and" is a step's unless it counts something: "step 2 and 3 birds".
_FURTHER = rf"(?:{_AND}(?:(?:the\s+)?{_UNIT}\s*(?:{_N})\b|\d{{1,4}}\b(?!\s+[a-z]+s\b)))"
_LISTED = (
    rf"(?P<unit>{_UNIT})\s*(?:numbers?\s*|no\.?\s*|nr\.?\s*|#\s*)?(?P<first>{_N})\b"
    rf"(?:{_TO}(?:{_UNIT}\s*)?(?P<until>\d{{1,4}}\b(?!\s+[a-z]+s\b)|{_N}\b(?!\s+[a-z]))|(?P<more>{_FURTHER}+))?"
)
_PLACED = (
    rf"(?:the\s+)?(?P<place>{_ORD})(?P<places>(?:{_AND}(?:the\s+)?{_ORD})*)\s+(?:(?P<several>{_N})\s+)?"
    rf"(?P<unit2>{_UNIT})\b"
)
_CHINESE = r"第\s*(?P<zh>\d{1,4}|[一二三四五六七八九十]{1,3})\s*(?:步骤|步|张图?|幅图?|格|页|个画面)"
_EVERY = (
    rf"(?:every(?:\s+single)?|each(?:\s+of\s+the)?|all(?:\s+of)?(?:\s+the|\s+these)?|jede[mnrs]?|allen?|todos\s+los|"
    rf"chaque)\s+(?P<every>{_UNIT})\b|\b(?:everywhere|throughout(?:\s+the\s+\w+)?|all\s+of\s+them|"
    r"the\s+(?:whole|entire)\s+(?:story|sequence|document|guide|thing|series|plan))\b|(?:每一?[步张幅]图?|全部|所有的?[步图]\w?)"
)
_REFERENCE = re.compile(
    rf"(?P<all>{_EVERY})|(?P<from>\b(?:from|starting\s+(?:with|from|at)|beginning\s+with|ab)\s+(?:the\s+)?)?"
    rf"\b(?:{_LISTED}|{_PLACED})(?P<on>\s*,?\s*(?:on(?:wards?)?|forwards?|and\s+(?:all\s+)?(?:later|following|after))"
    rf"\b(?!\s+(?:the|a|an|my|top)\b))?|{_CHINESE}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Named:
    """Steps that a text names.

    Attributes:
        steps: Their indices, in order, each once.
        missing: What was named and is not there, in words: "step 9".
        every: All steps are meant.
        said: The words that name them.
    """

    steps: tuple[int, ...]
    missing: tuple[str, ...] = ()
    every: bool = False
    said: str = ""


def named_in(text: str, drawn: Sequence[int], count: int, *, first: int = 1) -> tuple[str, tuple[Named, ...]]:
    """A text with `MARK` in place of each naming of steps, and the steps that each names, in order.

    "Step 2" is the step that is called so; "picture 2" the second one that has a picture.

    Args:
        text: The user's words.
        drawn: Indices of the steps with a picture.
        count: How many steps there are.
        first: What the first step is called.

    Example:
        >>> text, named = named_in("make steps 2 and 3 darker, and redo the last picture", [0, 1, 2, 3], 4)
        >>> text.replace(MARK, "*"), [one.steps for one in named]
        ('make * darker, and redo *', [(1, 2), (3,)])
    """
    found: list[Named] = []

    def mark(match: re.Match[str]) -> str:
        found.append(_named(match, list(drawn), count, first))
        ranges = match["on"] is not None or not (match["from"] or "").casefold().startswith("from")
        return MARK if ranges else f"{match['from']}{MARK}"

    return _REFERENCE.sub(mark, text.replace(MARK, " ")), tuple(found)


def number_of(word: str) -> int | None:
    """A number in digits, English or Chinese; `None` for anything else.

    Example:
        >>> number_of("3"), number_of("three"), number_of("3rd"), number_of("tree")
        (3, 3, 3, None)
    """
    word = word.strip().casefold()
    digits = re.match(r"\d{1,4}", word)
    if digits is not None:
        return int(digits[0])
    chinese = {digit: value for value, digit in enumerate("一二三四五六七八九十", 1)}
    return _NUMBERS.get(word) or _PLACES.get(word) or chinese.get(word)


def _named(match: re.Match[str], drawn: list[int], count: int, first: int) -> Named:
    if match["all"] is not None:
        pictures = match["every"] is not None and _is_picture(match["every"])
        return Named(tuple(drawn if pictures else range(count)), every=True, said=match[0])
    unit = match["unit"] or match["unit2"] or "step"
    # What a step is called, and which one it is.
    called = {number + 1: index for number, index in enumerate(drawn)} if _is_picture(unit) else {}
    called = called or {number: number - first for number in range(first, first + count)}
    order = sorted(called.values())
    numbers = _numbers(match, len(order))
    steps: list[int] = []
    missing: list[str] = []
    for number in numbers:
        if number < 0 and -number <= len(order):
            steps.append(order[number])
        elif number in called:
            steps.append(called[number])
        else:
            missing.append(f"{_one(unit)} {number}" if number > 0 else match[0].strip())
    starts = match["from"] is not None and not match["from"].casefold().startswith("from")
    if (starts or match["on"]) and steps and not match["until"]:
        steps = [index for index in order if index >= min(steps)]
    return Named(tuple(sorted(set(steps))), tuple(missing), said=match[0])


def _numbers(match: re.Match[str], count: int) -> list[int]:
    if match["zh"] is not None:
        return [number_of(match["zh"]) or 0]
    if match["first"] is not None:
        numbers = [number_of(match["first"]) or 0]
        if match["until"] is not None:
            last = number_of(match["until"]) or 0
            # A range far beyond the end is not written out.
            return list(range(numbers[0], min(last, numbers[0] + 99) + 1)) or numbers
        further = re.findall(rf"\b{_N}\b", match["more"] or "", re.IGNORECASE)
        return numbers + [number for word in further if (number := number_of(word))]
    places = [_place(word) for word in re.findall(_ORD, f"{match['place']} {match['places']}", re.IGNORECASE)]
    several = number_of(match["several"]) if match["several"] is not None else None
    if several and places == [-1]:
        return list(range(-min(several, count), 0))
    if several and places == [1]:
        return list(range(1, several + 1))
    return places


def _place(word: str) -> int:
    word = " ".join(word.casefold().split())
    return _PLACES.get(word) or number_of(word) or 0


def _is_picture(unit: str) -> bool:
    return re.fullmatch(_PICTURE, unit, re.IGNORECASE) is not None


def _one(unit: str) -> str:
    return re.sub(r"(?<=[a-z])s$", "", unit.casefold())
