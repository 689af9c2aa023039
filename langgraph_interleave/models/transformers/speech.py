"""Tokens as text, while they come: whole characters only, and nothing of what ends the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: What a character that has not all its bytes yet is decoded to.
_HALF = "\ufffd"


class Speech:
    """Turns one answer's tokens into text.

    Args:
        decode: The tokenizer's decoding of some tokens.
        stops: The answer ends before the first of these.

    Attributes:
        stopped: One of them was said; nothing more will be.

    Example:
        >>> speech = Speech(lambda tokens: bytes(tokens).decode(errors="replace"), stops=["END"])
        >>> [speech.feed(token) for token in "é EN".encode()], speech.finish()
        (['', 'é', ' ', '', ''], 'EN')
    """

    def __init__(self, decode: Callable[[Sequence[int]], str], stops: Sequence[str] = ()) -> None:
        self._decode = decode
        self._stops = tuple(stop for stop in stops if stop)
        self._tokens: list[int] = []
        # Up to `_read` the tokens were given out; decoding starts a little earlier, for the space between words.
        self._from, self._read = 0, 0
        self._held = ""
        self.stopped = False

    def feed(self, token: int) -> str:
        """Take the next token; returns the text that is certain with it."""
        if self.stopped:
            return ""
        self._tokens.append(token)
        return self._given(self._more(final=False), final=False)

    def finish(self) -> str:
        """No token follows; returns what was held back."""
        return "" if self.stopped else self._given(self._more(final=True), final=True)

    def _more(self, *, final: bool) -> str:
        before = self._decode(self._tokens[self._from : self._read]) if self._read > self._from else ""
        after = self._decode(self._tokens[self._from :]) if len(self._tokens) > self._from else ""
        if len(after) <= len(before) or (after.endswith(_HALF) and not final):
            return ""
        self._from, self._read = self._read, len(self._tokens)
        return after[len(before) :]

    def _given(self, text: str, *, final: bool) -> str:
        self._held += text
        found = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if found:
            self.stopped = True
            given, self._held = self._held[: min(found)], ""
            return given
        keep = 0 if final else max((_overlap(self._held, stop) for stop in self._stops), default=0)
        given = self._held[: len(self._held) - keep]
        self._held = self._held[len(self._held) - keep :]
        return given


def _overlap(text: str, stop: str) -> int:
    """How many of the last characters may be the beginning of `stop`."""
    return next((n for n in range(min(len(stop) - 1, len(text)), 0, -1) if text.endswith(stop[:n])), 0)
