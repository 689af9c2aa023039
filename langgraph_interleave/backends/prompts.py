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

#: Scripts that write without spaces between words: each character may stand alone.
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
#: What belongs to the character before it.
_MARKS = (
    r"\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\u200d\ufe00-\ufe0f\ufe20-\ufe2f"
    r"\U000e0100-\U000e01ef"
)
_UNIT = re.compile(rf"\s+|[{_UNSPACED}][{_MARKS}]*|(?:[^\s{_UNSPACED}][{_MARKS}]*)+")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？][”’」』）]*\s*|\n\s*")
_WORD = re.compile(r"\w+|[^\w\s]")
_GAP = " … "

_TAGS: dict[Syntax, tuple[re.Pattern[str], str, str]] = {
    "sd_cpp": (
        re.compile(r"</?\s*sd_cpp_extra_args\s*>", re.IGNORECASE), "", "Settings for the server were taken out",
    ),
    "lora": (
        re.compile(r"<\s*(?:lora|lyco|hypernet)\s*:[^<>]{0,400}>", re.IGNORECASE), "",
        "Weights to be loaded by name were taken out",
    ),
    "embedding": (
        re.compile(r"\bembedding\s*:\s*(?=\S)", re.IGNORECASE), "embedding ",
        "Files to be loaded by name were taken out",
    ),
    "pipe": (re.compile(r"\s*\|+\s*"), " / ", "A | that this server reads as “must not be there” was taken out"),
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
    text, before = prompt, None
    while text != before:
        before = text
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
