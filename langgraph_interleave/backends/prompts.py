"""Prompts as a backend can take them: short enough, and without anything its server would obey."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from langgraph_interleave.errors import InvalidRequest

#: `sd_cpp`: settings for stable-diffusion.cpp's server. `lora`: weights loaded by name, as the web UIs
#: write it. `embedding`: files loaded by name, as ComfyUI writes it. `pipe`: LocalAI splits off what
#: must not be there.
Syntax = Literal["sd_cpp", "lora", "embedding", "pipe"]
Count = Callable[[str], int]

#: Scripts that write without spaces between words: each character may stand alone. Thai, Lao, Tibetan, Myanmar
#: and Khmer are among them, and kana of half width.
_UNSPACED = (
    r"\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf"
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
#: What belongs to the character before it: marks, vowels and tones, skin colours, tags.
_MARKS = (
    r"\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\u200d\ufe00-\ufe0f\ufe20-\ufe2f"
    r"\u0e30-\u0e3a\u0e45-\u0e4e\u0eb0-\u0ebc\u0ec6-\u0ece\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e\u0f3f\u0f71-\u0f84"
    r"\u0f86\u0f87\u0f8d-\u0fbc\u0fc6\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074"
    r"\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd\uff9e\uff9f"
    r"\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef"
)
#: Thai and Lao vowels that are written before the consonant they belong to.
_BEFORE = r"\u0e40-\u0e44\u0ec0-\u0ec4"
#: Signs that put the next consonant under the one before.
_STACKING = r"\u1039\u17d2"
_LETTER = rf"[{_BEFORE}]*[{_UNSPACED}][{_MARKS}]*(?:(?<=[{_STACKING}])[{_UNSPACED}][{_MARKS}]*)*"
_PICTURES = r"\u2600-\u27bf\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
_FLAG = r"[\U0001f1e6-\U0001f1ff]{1,2}"
#: A small picture, and all that is joined to it: a family is one character.
_PICTURE = rf"(?:[{_PICTURES}]|{_FLAG})[{_MARKS}]*(?:(?<=\u200d)[{_PICTURES}][{_MARKS}]*)*"
_SINGLE = rf"{_UNSPACED}{_PICTURES}\U0001f1e6-\U0001f1ff"
_UNIT = re.compile(rf"\s+|{_LETTER}|{_PICTURE}|(?:[^\s{_SINGLE}][{_MARKS}]*)+|\S")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？][”’」』）]*\s*|\n\s*")
_WORD = re.compile(r"\w+|[^\w\s]")
_GAP = " … "
#: How deep tags are nested in one another before every < is taken out.
_MOST_ROUNDS = 16

_TAGS: dict[Syntax, tuple[re.Pattern[str], str, str]] = {
    "sd_cpp": (
        re.compile(r"</?\s*sd_cpp_extra_args\s*>", re.IGNORECASE), "", "Settings for the server were taken out",
    ),
    "lora": (
        # With or without an end: servers read on through another < , and take names of any length.
        re.compile(r"<\s*(?:lora|lyco|hypernet)\s*:(?:[^<>]*>)?", re.IGNORECASE), "",
        "Weights to be loaded by name were taken out",
    ),
    "embedding": (
        re.compile(r"\bembedding\s*:\s*(?=\S)", re.IGNORECASE), "embedding ",
        "Files to be loaded by name were taken out",
    ),
    "pipe": (
        re.compile(r"(?:(?<!\s)\s+)?\|+\s*"), " / ", "A | that this server reads as “must not be there” was taken out",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fitted:
    """A prompt as it is sent, and what had to be said about it."""

    text: str
    warnings: tuple[str, ...] = ()


def fit_prompt(
    prompt: str,
    *,
    max_tokens: int | None = None,
    max_characters: int | None = None,
    count: Count | None = None,
    what: str = "the model",
) -> Fitted:
    """Shorten a prompt to what a model reads, by leaving out words from its middle.

    The beginning says what is drawn, the end what must hold (style, "keep the face"): both stay, the
    end with up to half of the room, from the start of a sentence where one fits. Never cut inside a
    word, nor between a character and the marks that belong to it.

    Args:
        prompt: The prompt.
        max_tokens: Longest the model reads, in tokens.
        max_characters: Longest the model takes, in characters.
        count: Tokens of a text, by the model's own tokenizer; default: `estimate_tokens`.
        what: Whom to name in the warning.

    Returns:
        A prompt within both limits, and a warning where it is another one.

    Raises:
        InvalidRequest: Not one word of it is short enough.

    Example:
        >>> words = "A pot on a table. It is red and round and very old. Keep the style of ink."
        >>> fit_prompt(words, max_characters=48).text
        'A pot on a table. It is … Keep the style of ink.'
    """
    measured = _Measure(max_tokens, max_characters, count or estimate_tokens)
    if measured.fits(prompt):
        return Fitted(prompt)
    units = _UNIT.findall(prompt)
    closing = _closing(units, measured)
    rest = units[: len(units) - len(closing)]
    end = "".join(closing).strip()
    taken = _most(rest, lambda few: measured.fits(_around(few, end)))
    while taken and not measured.fits(_around(rest[:taken], end)):
        taken -= 1
    text = _around(rest[:taken], end)
    if not text:
        raise InvalidRequest(
            f"A prompt of {len(prompt)} characters has no word that {what} could read.",
            remedy=f"Give at most {measured.limit}.",
        )
    dropped = sum(1 for unit in rest[taken:] if not unit.isspace())
    return Fitted(
        text, (f"The prompt is longer than {what} reads ({measured.limit}); {dropped} words of it were left out.",)
    )


def estimate_tokens(text: str) -> int:
    """Tokens of a text where no tokenizer is at hand: rather too many than too few for plain words.

    Four letters a token, each mark one, half a token for each byte of other scripts. Not guaranteed:
    that a certain model counts no more.

    Example:
        >>> estimate_tokens("a red ball"), estimate_tokens("赤い球")
        (3, 5)
    """
    return sum(-(-len(word) // 4) if word.isascii() else -(-len(word.encode()) // 2) for word in _WORD.findall(text))


def neutralised(prompt: str, syntax: Collection[Syntax]) -> Fitted:
    """A prompt in which nothing is left that a server would obey: words of a model must not set anything.

    Args:
        prompt: The prompt.
        syntax: What the server obeys.

    Returns:
        The prompt without it. What taking a piece out would form anew is taken out as well.

    Example:
        >>> neutralised('a ball <sd_cpp_extra_args>{"steps": 99}</sd_cpp_extra_args>', {"sd_cpp"}).text
        'a ball {"steps": 99}'
    """
    said: dict[str, None] = {}
    text, before, rounds = prompt, None, 0
    while text != before:
        before, rounds = text, rounds + 1
        if rounds > _MOST_ROUNDS:
            # Nobody writes so by chance; and each round reads all of it.
            text = text.replace("<", " ")
        for kind in _TAGS:
            if kind in syntax:
                pattern, instead, words = _TAGS[kind]
                text, found = pattern.subn(instead, text)
                if found:
                    said[f"{words} of the prompt."] = None
    return Fitted(text, tuple(said))


@dataclass(frozen=True, slots=True)
class _Measure:
    tokens: int | None
    characters: int | None
    count: Count

    def fits(self, text: str, share: float = 1.0) -> bool:
        if self.characters is not None and len(text) > self.characters * share:
            return False
        return self.tokens is None or self.count(text) <= self.tokens * share

    @property
    def limit(self) -> str:
        limits = [f"{most} {name}" for most, name in ((self.tokens, "tokens"), (self.characters, "characters")) if most]
        return " and ".join(limits)


def _closing(units: list[str], measured: _Measure) -> list[str]:
    """The last units, up to half of the room: whole sentences where one fits."""
    backwards = units[::-1]
    most = _most(backwards, lambda few: measured.fits("".join(reversed(few)).strip(), 0.5))
    last = units[len(units) - most :] if most else []
    text = "".join(last)
    whole = "".join(units)
    starts = {match.end() for match in _SENTENCE_END.finditer(whole)}
    at = len(whole) - len(text)
    for index, unit in enumerate(last):
        if at in starts:
            return last[index:]
        at += len(unit)
    return last


def _around(opening: list[str], end: str) -> str:
    start = "".join(opening).strip()
    if not start or not end:
        return start or end
    return f"{start}{_GAP}{end}"


def _most(units: list[str], fits: Callable[[list[str]], bool]) -> int:
    """How many of the first units fit: a longer text has no fewer tokens."""
    low, high = 0, len(units)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(units[:middle]):
            low = middle
        else:
            high = middle - 1
    return low
