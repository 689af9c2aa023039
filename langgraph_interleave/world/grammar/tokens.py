"""Tokens: what a text is made of for the reader of scenes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

Shape = Literal["word", "number", "quote", "mark"]

_OPEN_CLOSE = {"“": "”", "„": "“”", "「": "」", "『": "』", "«": "»", "《": "》", "»": "«"}
#: Scripts written without spaces: each character is a token of its own.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(
    rf'(?P<quote>"(?:\\.|[^"\\])*"|“[^”]*”|„[^“”]*[“”]|「[^」]*」|『[^』]*』|«[^»]*»|»[^«]*«|《[^》]*》)'
    rf"|(?P<number>\d+)"
    rf"|(?P<single>[{_UNSPACED}])"
    rf"|(?P<word>(?:(?![{_UNSPACED}])[^\W\d_])(?:(?![{_UNSPACED}])(?:\w|[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff]"
    rf"|['’\-–](?=[^\W\d_])))*)"
    rf"|(?P<mark>\S)"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text: `norm` is what is compared (lower case, or what a quotation holds).

    `raw` is the text as written; `start` and `end` are its place. `unspaced` marks a character of
    a script that puts no spaces between words.
    """

    shape: Shape
    norm: str
    raw: str
    start: int
    end: int
    unspaced: bool = False


def tokenize(text: str) -> list[Token]:
    r"""Cut a text into words, numbers, quotations and marks.

    A line break is a mark (`\n`). A quotation is one token, whatever it holds.

    Example:
        >>> [token.norm for token in tokenize('A card labelled "A; B", 3 balls')]
        ['a', 'card', 'labelled', 'A; B', ',', '3', 'balls']
    """
    tokens: list[Token] = []
    place = 0
    for match in _TOKEN.finditer(text):
        between = text[place : match.start()]
        if "\n" in between:
            tokens.append(Token("mark", "\n", "\n", place, match.start()))
        place = match.end()
        raw, start, end = match[0], match.start(), match.end()
        if match["quote"] is not None:
            tokens.append(Token("quote", unquote(raw), raw, start, end))
        elif match["number"] is not None:
            tokens.append(Token("number", raw, raw, start, end))
        elif match["single"] is not None:
            tokens.append(Token("word", raw, raw, start, end, unspaced=True))
        elif match["word"] is not None:
            tokens.append(Token("word", normal(raw), raw, start, end))
        else:
            tokens.append(Token("mark", _MARKS.get(raw, raw), raw, start, end))
    return tokens


def normal(word: str) -> str:
    """A word as it is compared: lower case, straight apostrophe, no possessive `'s`."""
    word = word.casefold().replace("’", "'").replace("–", "-")
    return word.removesuffix("'s")


def quote(text: str) -> str:
    r"""A text in quotation marks, so that `unquote` gives it back whatever it holds.

    Example:
        >>> print(quote('say "hi"'))
        "say \"hi\""
    """
    return json.dumps(text, ensure_ascii=False)


def unquote(raw: str) -> str:
    """What a quotation holds."""
    if raw.startswith('"'):
        try:
            return str(json.loads(raw, strict=False))
        except ValueError:
            return raw[1:-1]
    return raw[1:-1]


_MARKS = {"，": ",", "、": ",", "；": ";", "。": ".", "：": ":", "！": "!", "？": "?", "（": "(", "）": ")"}
