"""The two slips models make most: quotes inside a text that are not escaped, and commas left out.

Which quote ends a text shows in what follows it: a colon after a field name; after a value the end of
its container, or a comma and the next field. Every other quote belongs to the text. Nothing but
backslashes and commas is ever added, and each character is looked at a bounded number of times.
"""

from __future__ import annotations

import contextlib
import re

from langgraph_interleave.parsing.literal import CLOSERS

_BETWEEN = re.compile(r"(?:[\s\ufeff\u200b]+|(?:#|//)[^\n]*)+")
_WORD = re.compile(r"[A-Za-z0-9_$+\-.]+")
_NAME = r"[\"'“„‘][^\"'“”„‘’\\\n]{1,40}[\"'“”’]\s*[:：]"
_AFTER_NAME = re.compile(r"\s*[:：]")
_AFTER_MEMBER = re.compile(rf"\s*(?:\}}\s*(?:[,，\]}}{{]|\Z)|[,，]\s*(?:\}}|{_NAME})|{_NAME})")
_AFTER_ITEM = re.compile(r"\s*(?:\]|[,，]\s*[\]\"'“„‘{\[0-9-])")
_INSIDE = {closers: re.compile(rf"(?:[^\\{closers}]|\\.)*", re.DOTALL) for closers in set(CLOSERS.values())}


class _Stuck(Exception):
    """Something else than quotes and commas is wrong."""


def corrected(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Escape stray quotes and add missing commas in one object or list.

    Args:
        text: The object, from its opening bracket on.

    Returns:
        The text, corrected up to where something else is wrong, and what was corrected.

    Example:
        >>> print(corrected('{"sign": "it says "open" today" "size": 2}')[0])
        {"sign": "it says \"open\" today" ,"size": 2}
    """
    corrector = _Corrector(text)
    with contextlib.suppress(_Stuck):
        corrector.run()
    return "".join(corrector.out) + text[corrector.pos :], tuple(dict.fromkeys(corrector.done))


class _Corrector:
    """Walks over the text once; `out` is the corrected text up to `pos`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.out: list[str] = []
        self.done: list[str] = []

    def run(self) -> None:
        """Walk to the end of the object; raises `_Stuck` where that is impossible."""
        open_brackets: list[str] = []
        expected = "value"
        while True:
            char = self._next()
            inner = "name" if open_brackets and open_brackets[-1] == "{" else "value"
            if char in "}]":
                if not open_brackets or expected not in ("more", inner) or (char == "}") != (inner == "name"):
                    raise _Stuck
                open_brackets.pop()
                self._copy(1)
                if not open_brackets:
                    return
                expected = "more"
            elif expected == "more":
                if char in ",，":
                    self._copy(1)
                elif char in CLOSERS or char in "{[":
                    self.out.append(",")
                    self.done.append("a missing comma")
                else:
                    raise _Stuck
                expected = inner
            elif expected == "name":
                self._text_or_word(char, _AFTER_NAME)
                if self._next() not in ":：":
                    raise _Stuck
                self._copy(1)
                expected = "value"
            elif char in "{[":
                open_brackets.append(char)
                self._copy(1)
                expected = "name" if char == "{" else "value"
            else:
                self._text_or_word(char, _AFTER_MEMBER if inner == "name" else _AFTER_ITEM)
                expected = "more"

    def _next(self) -> str:
        """Copy space and comments; the character behind them."""
        if between := _BETWEEN.match(self.text, self.pos):
            self._copy(between.end() - self.pos)
        if self.pos >= len(self.text):
            raise _Stuck
        return self.text[self.pos]

    def _copy(self, count: int) -> None:
        self.out.append(self.text[self.pos : self.pos + count])
        self.pos += count

    def _text_or_word(self, char: str, after: re.Pattern[str]) -> None:
        if char in CLOSERS:
            self._text(CLOSERS[char], after)
        elif word := _WORD.match(self.text, self.pos):
            self._copy(len(word[0]))
        else:
            raise _Stuck

    def _text(self, closers: str, after: re.Pattern[str]) -> None:
        begin = self.pos, len(self.out), len(self.done)
        self._copy(1)
        while True:
            if inside := _INSIDE[closers].match(self.text, self.pos):
                self._copy(len(inside[0]))
            if self.pos >= len(self.text) or self.text[self.pos] == "\\":
                # It never ends: leave it as it was.
                self.pos = begin[0]
                del self.out[begin[1] :], self.done[begin[2] :]
                raise _Stuck
            if after.match(self.text, self.pos + 1):
                self._copy(1)
                return
            self.out.append("\\")
            self.done.append("unescaped quotes")
            self._copy(1)
