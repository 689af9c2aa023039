"""Reasoning as it is being spoken: inside thinking tags, or in a field of the object being written."""

from __future__ import annotations

import re

from langgraph_interleave.splitter import Splitter

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_LOW = re.compile(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}")


class Speaking:
    """Picks the reasoning out of an answer that is still being written.

    What it gives is for people who watch: at most a prefix of what the whole answer is read as. Space
    waits for the word behind it. A field that is not a plain string is not spoken.

    Args:
        field: Name of the object's field that holds reasoning.

    Example:
        >>> speaking = Speaking("reasoning")
        >>> [speaking.feed(text) for text in ('{"reasoning": "Two', ' beans. One ', 'pot.", "verdict":')]
        ['Two', ' beans. One', ' pot.']
    """

    def __init__(self, field: str) -> None:
        self._begin = re.compile(rf"""["']{re.escape(field)}["']\s*:\s*(?P<quote>["'])""")
        self._splitter = Splitter()
        #: Whether it is an object from its first character on: then a tag in it is a part of somebody's words.
        self._object: bool | None = None
        self._rest = ""
        self._held = ""
        self._quote: str | None = None
        self._over = False

    def feed(self, text: str) -> str:
        """Take the next text, cut anywhere; returns the reasoning that is new with it."""
        if self._object is None and text.strip():
            self._object = text.lstrip().startswith("{")
        if self._object:
            whole = self._held + text
            spoken = whole.rstrip()
            self._held = whole[len(spoken) :]
            return self._field(spoken)
        pieces = self._splitter.feed(text)
        return "".join(piece.text if piece.track == "reasoning" else self._field(piece.text) for piece in pieces)

    def _field(self, text: str) -> str:
        if self._over:
            return ""
        self._rest += text
        if self._quote is None:
            begin = self._begin.search(self._rest)
            if begin is None:
                return ""
            self._quote, self._rest = begin["quote"], self._rest[begin.end() :]
        return self._string()

    def _string(self) -> str:
        out: list[str] = []
        pos, text = 0, self._rest
        while pos < len(text):
            char = text[pos]
            if char == self._quote:
                self._over, pos = True, len(text)
                break
            if char != "\\":
                out.append(char)
                pos += 1
                continue
            length = 6 if text[pos + 1 : pos + 2] == "u" else 2
            if pos + length > len(text):
                break  # half an escape; the rest of it is still to come
            escape = text[pos + 1 : pos + length]
            if length == 6:
                if not _HEX.fullmatch(escape[1:]):
                    self._over = True  # not a string that can be shown as it comes
                    break
                code = int(escape[1:], 16)
                if 0xD800 <= code < 0xDC00:
                    rest = text[pos + 6 : pos + 12]
                    if len(rest) < 6 and "\\u".startswith(rest[:2]):
                        break  # the other half may still come
                    whole = _LOW.fullmatch(rest) is not None
                    out.append(_pair(escape[1:], rest[2:]) if whole else "�")
                    pos += 12 if whole else 6
                    continue
                out.append(chr(code) if not 0xDC00 <= code < 0xE000 else "�")
            else:
                out.append(_ESCAPES.get(escape, escape))
            pos += length
        self._rest = text[pos:]
        return "".join(out)


def _pair(high: str, low: str) -> str:
    """Two escaped halves of one character."""
    return bytes.fromhex(high + low).decode("utf-16-be")
