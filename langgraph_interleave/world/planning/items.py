"""Items: a request that lists its steps itself, by numbers, bullets, connectives or commas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from langgraph_interleave.world.grammar.numbers import singular
from langgraph_interleave.world.planning.wishes import number_of, tidy

#: How the items follow each other: told as a sequence, or side by side.
Form = Literal["numbered", "sequence", "listed"]

_NUMBERED = re.compile(
    r"(?:(?<=^)|(?<=[\s,;:.，。；：(]))(?:step\s+|schritt\s+|picture\s+|panel\s+|paso\s+|étape\s+)?\(?(\d{1,2})\s?"
    r"(?:[.)、:：]|\s[-–—])\s*(?=\S)",
    re.IGNORECASE,
)
_ZH_NUMBERED = re.compile(r"第([一二三四五六七八九十]+|\d{1,2})(?:步|张|幅|图|格)[，,：:、]?\s*")
_BULLET = re.compile(r"^[ \t]*[-*•–·][ \t]+", re.MULTILINE)
_CONNECTIVE = re.compile(
    r"\s*(?:→|⇒|->|=>)\s*|"
    r"(?:[,;.!]\s*|(?<!\bthe)(?<!\bThe)\s+|^)(?:and\s+)?"
    r"(?:first of all|firstly|first|secondly|thirdly|"
    r"(?:second|third|fourth|fifth|sixth)(?=,)|and then|then|next(?! to\b)|after that|"
    r"afterwards|after this|later on|later|finally|at last|lastly|at the end|in the end|followed by|"
    r"zuerst|dann|danach|anschließend|zuletzt|schließlich|"
    r"primero|luego|después|finalmente|por último|d'abord|ensuite|puis|enfin)\b[,:]?\s*",
    re.IGNORECASE,
)
_ZH_CONNECTIVE = re.compile(r"[，,。；;]?\s*(?:首先|然后|接着|之后|随后|最后|再(?=[放加画来把倒])|先(?=\S))[，,]?\s*")
_LEAD = re.compile(
    r"^(?:(?:please|can you|could you|i want(?: you)? to|let us|let's)\s+)*(?:"
    r"(?:make|create|generate|give|draw|paint|show)\s+(?:me\s+|us\s+)?(?:(?:an?|some|the|one|\d+)\s+)?(?:\w+\s+)?"
    r"(?:pictures?|images?|drawings?|sketch(?:es)?|illustrations?|storyboard)\s+(?:of|about|showing)|"
    r"(?:an?\s+)?(?:tutorial|guide)\s*[:：]|explain(?:\s+to\s+\w+)?|describe|tell\s+me\s+about|"
    r"show|draw|depict|illustrate|paint|sketch|display|zeige|zeichne|male|muestra|dibuja|montre|dessine|"
    r"画出|展示|显示|请|画)"
    r"(?:\s+me|\s+us|\s+mir|\s+uns)?(?!\w)\s*(?:how\s+(?!to\b|do\b|can\b|should\b)(?:does\s+|is\s+|are\s+)?)?[:：]?\s*",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"[,\s]+(?:please\s+)?(?:show|draw|make|create|paint)\s+(?:me\s+)?(?:an?|one)\s+\w+.*$", re.IGNORECASE
)
_EACH = re.compile(
    r"\b(?:for each of|each of|one (?:picture|card|image|panel|step) (?:for )?each(?: for| of)?|for each|one by one|"
    r"side by side|separately|individually|je ein bild)\b",
    re.IGNORECASE,
)


_LISTED = re.compile(r"\s*[,;，、；]\s*(?:and\s+|und\s+)?|\s+(?:and|und|y|et)\s+|和")


@dataclass(frozen=True, slots=True)
class Items:
    """The steps a request lists. `lead` is what stood before the first one."""

    form: Form
    lead: str
    texts: tuple[str, ...]


def items_of(text: str) -> Items | None:
    """The steps a request lists, or `None` when it lists none.

    Args:
        text: The request.

    Example:
        >>> items_of("Show a red ball, then two red balls, then three red balls").texts
        ('a red ball', 'two red balls', 'three red balls')
    """
    return _numbered(text) or _bulleted(text) or _connected(text) or _counted(text) or _enumerated(text)


def without_lead(text: str) -> str:
    """A text without "show me", "draw" and the like at its beginning."""
    before = ""
    while before != text:
        before, text = text, tidy(_LEAD.sub("", text, count=1))
    return text


def _numbered(text: str) -> Items | None:
    for pattern in (_NUMBERED, _ZH_NUMBERED):
        marks = [(match, number_of(match[1]) or 0) for match in pattern.finditer(text)]
        ascending: list[re.Match[str]] = []
        for match, number in marks:
            if number == len(ascending) + 1 or (not ascending and number in (0, 1)):
                ascending.append(match)
        if len(ascending) >= 2:
            ends = [match.start() for match in ascending[1:]] + [len(text)]
            texts = [text[match.end() : end] for match, end in zip(ascending, ends, strict=True)]
            lead, last = text[: ascending[0].start()], texts[-1]
            # What follows the last item in a paragraph of its own is no part of it.
            texts[-1] = last.split("\n\n")[0]
            return _items("numbered", lead, texts)
    return None


def _bulleted(text: str) -> Items | None:
    marks = list(_BULLET.finditer(text))
    if len(marks) < 2:
        return None
    ends = [match.start() for match in marks[1:]] + [len(text)]
    texts = [text[match.end() : end] for match, end in zip(marks, ends, strict=True)]
    texts[-1] = texts[-1].split("\n\n")[0]
    return _items("numbered", text[: marks[0].start()], texts)


def _connected(text: str) -> Items | None:
    for pattern in (_CONNECTIVE, _ZH_CONNECTIVE):
        parts = [part for part in pattern.split(text) if part and tidy(part)]
        if len(parts) >= 2 and pattern.search(text):
            # "Show how this grows, first …": a part that only announces is the lead.
            lead = parts[0] if tidy(without_lead(parts[0])) == "" or parts[0].rstrip().endswith(":") else ""
            rest = parts[1:] if lead else parts
            if len(rest) < 2:
                return None
            return _items("sequence", lead, rest)
    return None


def _counted(text: str) -> Items | None:
    """As in "one apple, two apples, three apples": a number of the same each time."""
    parts = [tidy(part) for part in _LISTED.split(without_lead(text)) if tidy(part)]
    said = [part.split(" ", 1) for part in parts]
    if len(parts) < 3 or any(len(words) < 2 or number_of(words[0]) is None for words in said):
        return None
    numbers = [number_of(words[0]) for words in said]
    same = {singular(words[1].casefold()) for words in said}
    return _items("sequence", "", parts) if len(same) == 1 and len(set(numbers)) == len(numbers) else None


def _enumerated(text: str) -> Items | None:
    """As in "Show these: a cat, a dog and a fish", "for each of a cat, a dog and a fish"."""
    lead, colon, rest = text.partition(":") if ":" in text else text.partition("：")
    each = _EACH.search(text)
    if not colon and each is None:
        return None
    if not colon and each is not None:
        before, after = text[: each.start()], text[each.end() :]
        lead, rest = (before, after) if len(after.split(",")) > 1 or " and " in after else ("", before)
    rest = _ORDER.sub("", rest)
    parts = [part for part in _LISTED.split(rest) if tidy(part)]
    if len(parts) < 2 or any(len(part.split()) > 12 for part in parts):
        return None
    return _items("listed", lead, parts)


def _items(form: Form, lead: str, texts: list[str]) -> Items | None:
    cleaned = tuple(tidy(without_lead(text) if index == 0 else text) for index, text in enumerate(texts))
    if any(not text for text in cleaned):
        cleaned = tuple(text for text in cleaned if text)
    cleaned = tuple(text.rstrip(".。 ") if form != "numbered" else text for text in cleaned)
    return Items(form, tidy(lead), cleaned) if len(cleaned) >= 2 else None
