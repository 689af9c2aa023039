"""Wishes: what a request says about the form of the answer, apart from what it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass

from langgraph_interleave.world.grammar.languages import Language, language_of, name_of
from langgraph_interleave.world.grammar.numbers import BY_LANGUAGE

_UNITS = (
    r"(?:steps?|pictures?|images?|panels?|frames?|parts?|drawings?|sketches|scenes?|stages?|pages?|illustrations?|"
    r"slides?|schritten?|bildern?|szenen?|teilen?|pasos?|im[áa]genes|imagen|dibujos?|escenas?|"
    r"étapes?|dessins?|vignettes?|viñetas?)"
)
_TENS = ("twenty", "thirty", "forty", "fifty")
_NUMBERS: dict[str, int] = {
    **{word: number for table in ("de", "es", "fr", "en") for word, number in BY_LANGUAGE[table].items()
       if " " not in word and word not in ("few", "several", "many", "both", "hundred")},
    **{f"{ten}-{one}": (position + 2) * 10 + digit for position, ten in enumerate(_TENS)
       for one, digit in BY_LANGUAGE["en"].items() if 0 < digit < 10},
}  # fmt: skip
_WORD = "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
_ADJECTIVES = (
    r"(?:(?:easy|simple|short|clear|small|different|separate|single|hand-drawn|einfachen?|kurzen?|facile?s?)\s+)*"
)
_NOT_EACH = r"(?!\s+(?:each|for\s+each|per)\b)"
_COUNTS = (
    re.compile(rf"\b(?:in|with|using|into|over|across|mit|en|as|als)\s+(?:exactly\s+|genau\s+|about\s+)?"
               rf"(\d+|{_WORD})[\s-]+"
               rf"{_ADJECTIVES}{_UNITS}\b", re.IGNORECASE),
    re.compile(rf"\b(\d+|{_WORD})[\s-]{_ADJECTIVES}(?:step|panel|picture|image|frame|part|page|stage|scene)s?\b"
               rf"{_NOT_EACH}",
               re.IGNORECASE),
    re.compile(rf"\b(\d+|{_WORD})\s+{_ADJECTIVES}{_UNITS}\b{_NOT_EACH}", re.IGNORECASE),
)  # fmt: skip
_ZH_COUNT = re.compile(
    r"(?:分成?|用|共|，|,)?\s*(\d+|[一二两三四五六七八九十]+)\s*个?(?:步骤|步|张图片|张图|幅图|张|幅|格|个画面)"
)
_LANGUAGE = re.compile(
    r"[,;]?\s*\b(?:in|auf|en)\s+(english|german|chinese|spanish|french|mandarin|englisch|deutsch|chinesisch|español|"
    r"inglés|anglais|français|allemand)\b|[，,]?用(中文|汉语|英语|英文|德语|德文)",
    re.IGNORECASE,
)
_ONE_EACH = re.compile(
    r"[,;]?\s*\b(?:one|a single|a separate)\s+(?:card|picture|image|panel|page|drawing|step)\s*"
    r"(?:each|for each|per \w+)\b"
    r"[^,;.]*|\b(?:on\s+)?(?:a|one)\s+\w+\s+each\b",
    re.IGNORECASE,
)
_WORDS_ONLY = re.compile(
    r"\b(?:in words only|only in words|just in words|text only|text-only|only text|no (?:pictures?|images?|drawings?)|"
    r"without (?:any )?(?:pictures?|images?|drawings?)|words only|just (?:explain|tell|describe)|only (?:explain|tell)|"
    r"nur (?:in worten|text|in textform|erklären)|ohne bild(?:er)?|sans images?|sin im[áa]genes|in words)\b|"
    r"只?用文字|纯文字|只要文字|不要图|不用图|无图",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:explain|describe|say|tell|mention|write|erkläre?|beschreibe?|sage?|schreibe?)\b|说明|解释|描述|写",
    re.IGNORECASE,
)
_OF_ALL = re.compile(
    r"(?:[,;.!?，。；！？–—-]\s*(?:but\s+|and\s+|please\s+|bitte\s+)?|\b(?:all|everything|alles|全部|都)\b.*)$",
    re.IGNORECASE,
)
_NEEDS = re.compile(
    r"\b(?:materials?|ingredients?|suppl(?:y|ies)|what (?:you|i|we|one) (?:will )?needs?|what do (?:you|i|we) need|"
    r"things (?:you|i|we) need|"
    r"tools (?:you|i|we)? ?need(?:ed)?|shopping list|equipment|zutaten|material(?:liste|ien)?|"
    r"was (?:man|ich|wir|du) brauch(?:t|e|en|st)|ingredientes|materiales|ingrédients|matériel)\b|"
    r"材料|食材|需要什么|需要的东西|用具|清单",
    re.IGNORECASE,
)
_TIP = re.compile(
    r"\b(?:tips?|advice|safety note|safety notes|warning|good to know|summary|conclusion|hint|tipps?|hinweis|fazit|"
    r"zusammenfassung|consejo|conseil)\b|小贴士|提示|注意事项|总结|建议",
    re.IGNORECASE,
)
_INTRO = re.compile(
    r"\b(?:introduction|intro|short introduction|einleitung|introducción)\b|简介|开场白|介绍一下", re.IGNORECASE
)

_DANGLING = re.compile(
    r"[\s:,;]*(?:\b(?:and|und)\s+)?\b(?:then|afterwards|after that|followed by|and|dann|danach|und)"
    r"\s*[.!]?$|[，,：:]?\s*(?:然后|再|接着)$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?<=[.!?;。！？；\n])\s*|(?<=[:：])\s*(?=(?:first\s+)?(?:list|give|name|begin|start|write|tell|zuerst|先)\b)|"
    r"[,，]\s*(?=\b)|"
    r"\s+(?=and (?:also )?(?:list|end|finish|add|give|include|start)\b)|"
    r"(?<!end)(?<!finish)(?<!start)\s+(?=with (?:a|an|the|some) )"
)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a request says about the form of the answer.

    Attributes:
        subject: The request without these wishes.
        listing: The same, with "in words only" left where it stood: in a list it may be said of one item.
        language: Its language, of those the planner knows.
        spoken: The language it asks the captions to be in, or `None`.
        count: Steps asked for, or `None`.
        words_only: No pictures at all.
        needs: A list of what is needed, in words.
        tip: A closing word of advice.
        intro: An introduction in words.
    """

    subject: str
    listing: str
    language: Language
    spoken: Language | None = None
    count: int | None = None
    words_only: bool = False
    needs: bool = False
    tip: bool = False
    intro: bool = False


def wishes_of(text: str) -> Wishes:
    """Read the wishes out of a request.

    Example:
        >>> wishes = wishes_of("How to plant a bean, in 5 steps")
        >>> wishes.subject, wishes.count
        ('How to plant a bean', 5)
    """
    subject, spoken = take_language(text)
    language = language_of(subject)
    subject, count = take_count(subject)
    aside = [
        clause for clause in _clauses(subject) if _NEEDS.search(clause) or _TIP.search(clause) or _INTRO.search(clause)
    ]
    said = " ".join(aside)
    for clause in aside:
        purpose = re.search(r"\bneeds?(?:ed)?\s+(?:to|for)\s+(.+?)[?.!]*$", clause.strip(), re.IGNORECASE)
        if purpose is not None:
            # "What do I need to bake a cake? Then show how to bake it."
            subject = f"how to {purpose[1]}"
            break
        # "How to make tea, and first list what I need": the wish goes, the subject stays.
        if len(clause) < len(subject.strip()) or not re.search(r"\bhow\b", clause, re.IGNORECASE):
            subject = subject.replace(clause, " ")
    if aside:
        # What announced or followed the wish says nothing without it: "…: list the ingredients first, then 4 pictures".
        subject = _DANGLING.sub("", tidy(subject))
    words_only = bool(_WORDS_ONLY.search(subject))
    listing = tidy(subject)
    subject = _WORDS_ONLY.sub(" ", subject)
    subject = tidy(subject)
    return Wishes(
        subject=subject or tidy(text),
        listing=listing or tidy(text),
        language=language,
        spoken=spoken,
        count=count,
        words_only=words_only,
        needs=bool(_NEEDS.search(said)),
        tip=bool(_TIP.search(said)),
        intro=bool(_INTRO.search(said)),
    )


def take_language(text: str) -> tuple[str, Language | None]:
    """The text without "in German", and the language; unchanged and `None` where nothing says one."""
    match = _LANGUAGE.search(text)
    if match is None:
        return text, None
    return text[: match.start()] + text[match.end() :], name_of(match[1] or match[2])


def take_count(text: str) -> tuple[str, int | None]:
    """The text without "in 5 steps", and the number; unchanged and `None` where nothing says one."""
    for pattern in (*_COUNTS, _ZH_COUNT):
        match = pattern.search(text)
        if match is not None:
            number = number_of(match[1])
            if number and re.match(r"\s+(?:of|von)\b", text[match.end() :], re.IGNORECASE):
                # "four stages of a butterfly": what they are of is the subject.
                return text[: match.start(1)] + text[match.end(1) :].lstrip("- "), number
            if number:
                return text[: match.start()] + text[match.end() :], number
    return text, None


def number_of(word: str) -> int | None:
    """A number from digits or a number word of a known language, 1 to 99; else `None`.

    Example:
        >>> number_of("twenty-five"), number_of("十二"), number_of("0")
        (25, 12, None)
    """
    if word.isdigit():
        value = int(word[:4])
        return value if 1 <= value <= 999 else None
    if re.fullmatch("[一二两三四五六七八九十]+", word):
        digits = {digit: value for value, digit in enumerate("一二三四五六七八九", 1)} | {"两": 2}
        tens, ten, ones = word.partition("十")
        if not ten:
            return digits.get(word)
        return digits.get(tens, 1) * 10 + digits.get(ones, 0)
    return _NUMBERS.get(word.casefold())


def words_only(text: str) -> bool:
    """Whether a piece of a request asks for words without a picture."""
    return bool(_WORDS_ONLY.search(text))


def words_only_of_all(text: str) -> bool:
    """Whether the last item of a list asks for words for the whole list, not for itself.

    That is so where the wish says "all", or stands behind a comma or in a sentence of its own; one in
    brackets, or beside a verb of telling ("then explain why, in words only"), is the item's.

    Example:
        >>> words_only_of_all("pour the tea, in words only"), words_only_of_all("say why in words only")
        (True, False)
    """
    match = _WORDS_ONLY.search(text)
    if match is None or _TELLS.search(text[: match.start()]):
        return False
    return bool(_OF_ALL.search(text[: match.start()]))


def without_form(text: str) -> str:
    """A piece of a request without "one card each", "(text only)" and the like."""
    return tidy(_WORDS_ONLY.sub(" ", _ONE_EACH.sub(" ", text)))


def tidy(text: str) -> str:
    """A text with the holes closed that taking something out has left."""
    text = re.sub(r"\(\s*\)|（\s*）|\[\s*\]", " ", text)
    text = re.sub(r"[ \t]+", " ", text)
    text = re.sub(r"\s+([,.;:!?，。；：！？])", r"\1", text)
    text = re.sub(r"([,;:，；：])(?:\s*[,;:，；：])+", r"\1", text)
    text = re.sub(r"([,;:，；：])\s*([.!?。！？])", r"\2", text)
    return text.strip(" \t\n,;:，；：-–—、")


def _clauses(text: str) -> list[str]:
    """Pieces of a sentence that a wish may fill alone."""
    parts = _CLAUSE.split(text)
    return [part for part in parts if part and part.strip()]
