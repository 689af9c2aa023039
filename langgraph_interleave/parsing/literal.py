"""One JSON or Python-literal object or list, read as its text arrives.

Models write JSON, Python literals, and mixtures of the two. One push reader understands the union:
double, single and curly quotes; `true`, `True`, `null`, `None`; trailing commas; comments;
unquoted keys. It is a plain state machine: no recursion, each character is looked at once,
and the text may be cut anywhere between two calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from langgraph_interleave.parsing.data import MAX_DEPTH, Json, joined, number

Path = tuple[str | int, ...]
Watch = Callable[[Path, Json], None]

_MAX_WORD = 5_000

_SPACE = re.compile(r"[\s\ufeff\u200b]+")
_WORD = re.compile(r"[A-Za-z0-9_$+\-.]+")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z", re.ASCII)
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$\-]*\Z")
_LINE = re.compile(r"[^\n]*")

#: Opening quote -> the characters that close it, and what else the string is made of.
CLOSERS = {'"': '"', "'": "'", "“": "”", "”": "”", "„": "“”", "‘": "’", "’": "’"}
_PLAIN = {closers: re.compile(f"[^\\\\{closers}]+") for closers in set(CLOSERS.values())}
_WORDS = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "undefined": None,
    "nan": float("nan"),
    "infinity": float("inf"),
    "-infinity": float("-inf"),
    "inf": float("inf"),
    "-inf": float("-inf"),
}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "\n": ""}
_HEX_DIGITS = {"u": 4, "x": 2, "U": 8}

FaultKind = Literal["cut", "broken", "refused"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a value could not be read.

    `cut`: the text ended inside it. `broken`: the punctuation is wrong, repairing may help.
    `refused`: it is readable but not plain data (a set, bytes, a field given twice); never repaired.
    `at` is where, in characters from the start of the value.
    """

    kind: FaultKind
    message: str
    at: int


class _Open:
    """A container that is not closed yet; `key` is the one whose value comes next."""

    __slots__ = ("comma", "key", "value")

    def __init__(self, value: dict[str, Json] | list[Json]) -> None:
        self.value = value
        self.key: str | None = None
        self.comma = False


class Reader:
    """Reads one object or list from text given in pieces of any size.

    Attributes:
        done: The value is complete and in `value`.
        fault: Why reading stopped, `None` while there is nothing wrong.
        committed: A quoted field name or a `name:` was read, so this is an object and not braces in prose.
        notes: What was tolerated that neither JSON nor Python allows.

    Args:
        watch: Called with path and value whenever a value at depth 0, 1 or 2 is complete.

    Example:
        >>> reader = Reader()
        >>> reader.feed("{'a': No"), reader.feed("ne} and more")
        (8, 3)
        >>> reader.value
        {'a': None}
    """

    def __init__(self, watch: Watch | None = None) -> None:
        self.done = False
        self.value: Json = None
        self.fault: Fault | None = None
        self.committed = False
        self.notes: list[str] = []
        self._watch = watch
        self._stack: list[_Open] = []
        self._state: Callable[[str, int], int] = self._in_value
        self._before_comment = self._state
        self._read = 0
        self._parts: list[str] = []
        self._length = 0
        self._closers = ""
        self._escape = ""
        self._is_key = False
        self._pythonic = False
        self._trailing_comma = False

    def feed(self, text: str, pos: int = 0) -> int:
        """Read on from `pos`; returns the position after the last character used.

        At a fault this is the position of the offending character.
        """
        while pos < len(text) and not self.done and self.fault is None:
            after = self._state(text, pos)
            self._read += after - pos
            pos = after
        return pos

    def finish(self) -> None:
        """Say that no more text comes; an unfinished value becomes a `cut` fault."""
        if not self.done and self.fault is None:
            in_text = self._state in (self._in_string, self._in_escape)
            self._fail("cut", f"the text ends in the middle of {'a quoted text' if in_text else 'the structure'}")

    # Each state reads at `pos` and returns the position after what it used.

    def _in_value(self, text: str, pos: int) -> int:
        char = text[pos]
        if space := _SPACE.match(text, pos):
            return space.end()
        if char in "{[":
            return self._open(char, pos)
        if char == "]" and self._stack and isinstance(self._stack[-1].value, list):
            return self._close(pos)
        if char in CLOSERS:
            return self._begin_string(char, pos, is_key=False)
        if _WORD.match(char):
            return self._begin_word(pos, is_key=False)
        if char in "#/":
            return self._begin_comment(char, pos)
        if char == "(":
            return self._fail("refused", "a tuple stands where a list or a text belongs", pos)
        return self._fail("broken", f"a value is missing before {char!r}", pos)

    def _in_key(self, text: str, pos: int) -> int:
        char = text[pos]
        if space := _SPACE.match(text, pos):
            return space.end()
        if char == "}":
            return self._close(pos)
        if char in CLOSERS:
            return self._begin_string(char, pos, is_key=True)
        if _WORD.match(char):
            return self._begin_word(pos, is_key=True)
        if char in "#/":
            return self._begin_comment(char, pos)
        return self._fail("broken", f"a field name is missing before {char!r}", pos)

    def _in_colon(self, text: str, pos: int) -> int:
        char = text[pos]
        if space := _SPACE.match(text, pos):
            return space.end()
        if char in ":：":
            self.committed = True
            self._note_wide(char)
            self._state = self._in_value
            return pos + 1
        if char in ",}":
            return self._fail("refused", "a set stands where an object belongs", pos)
        return self._fail("broken", f"':' is missing before {char!r}", pos)

    def _after_value(self, text: str, pos: int) -> int:
        char = text[pos]
        if space := _SPACE.match(text, pos):
            return space.end()
        top = self._stack[-1]
        is_list = isinstance(top.value, list)
        if char in ",，":
            self._note_wide(char)
            top.comma = True
            self._state = self._in_value if is_list else self._in_key
            return pos + 1
        if char == ("]" if is_list else "}"):
            return self._close(pos)
        if char in "#/":
            return self._begin_comment(char, pos)
        return self._fail("broken", f"',' or {']' if is_list else '}'!r} is missing before {char!r}", pos)

    def _in_string(self, text: str, pos: int) -> int:
        if plain := _PLAIN[self._closers].match(text, pos):
            self._parts.append(plain[0])
            return plain.end()
        if text[pos] == "\\":
            self._escape = ""
            self._state = self._in_escape
            return pos + 1
        self._end_string()
        return pos + 1

    def _in_escape(self, text: str, pos: int) -> int:
        char = text[pos]
        if not self._escape:
            if char in _HEX_DIGITS:
                self._escape = char
                return pos + 1
            # What neither language knows (LaTeX's \alpha) keeps its backslash.
            known = _ESCAPES.get(char, char if char in "\\/" or char in CLOSERS else "\\" + char)
            self._parts.append(known)
            self._state = self._in_string
            return pos + 1
        if char in "0123456789abcdefABCDEF":
            self._escape += char
            if len(self._escape) > _HEX_DIGITS[self._escape[0]]:
                code = int(self._escape[1:], 16)
                self._parts.append(chr(code) if code <= 0x10FFFF else "\ufffd")
                self._state = self._in_string
            return pos + 1
        self._parts.append("\\" + self._escape)
        self._state = self._in_string
        return pos

    def _in_word(self, text: str, pos: int) -> int:
        if word := _WORD.match(text, pos):
            self._parts.append(word[0])
            self._length += len(word[0])
            if self._length > _MAX_WORD:
                return self._fail("broken", "a word or number without quotes is too long", pos)
            return word.end()
        self._end_word(text[pos])
        return pos

    def _in_comment(self, text: str, pos: int) -> int:
        if self._escape:  # the second slash
            if text[pos] != "/":
                return self._fail("broken", "'/' stands between two values", pos)
            self._escape = ""
            return pos + 1
        if text[pos] == "\n":
            self._state = self._before_comment
            return pos + 1
        line = _LINE.match(text, pos)
        return line.end() if line else pos + 1

    # What the states do.

    def _open(self, char: str, pos: int) -> int:
        if len(self._stack) >= MAX_DEPTH:
            return self._fail("refused", f"it is nested deeper than {MAX_DEPTH} levels", pos)
        self._stack.append(_Open({} if char == "{" else []))
        self._state = self._in_key if char == "{" else self._in_value
        return pos + 1

    def _close(self, pos: int) -> int:
        closed = self._stack.pop()
        self._trailing_comma |= closed.comma
        self._put(closed.value)
        return pos + 1

    def _begin_string(self, quote: str, pos: int, *, is_key: bool) -> int:
        if quote not in "\"'":
            self._note("curly quotes")
        self._pythonic |= quote == "'"
        self._closers = CLOSERS[quote]
        self._parts = []
        self._is_key = is_key
        self._state = self._in_string
        return pos + 1

    def _end_string(self) -> None:
        value = joined("".join(self._parts))
        if self._is_key:
            self.committed = True
            self._take_key(value)
        else:
            self._put(value)

    def _begin_word(self, pos: int, *, is_key: bool) -> int:
        self._parts = []
        self._length = 0
        self._is_key = is_key
        self._state = self._in_word
        return pos

    def _end_word(self, following: str) -> None:
        word = "".join(self._parts)
        if following and following in "\"'":
            self._fail("refused", f"bytes or a prefixed text ({word[:20]}{following}…) stand where plain text belongs")
        elif self._is_key:
            if _NAME.match(word):
                self._note("unquoted field names")
                self._take_key(word)
            else:
                self._fail("broken", f"{word[:40]!r} stands where a field name belongs")
        elif word.lower() in _WORDS:
            self._pythonic |= word in ("True", "False", "None")
            self._put(_WORDS[word.lower()])
        elif _NUMBER.match(word):
            self._put(number(word))
        elif _NUMBER.match(word[:-1]) and word[-1] in "jJ":
            self._fail("refused", f"the complex number {word[:40]} is not plain data")
        else:
            self._fail("broken", f"{word[:40]!r} has no quotes around it")

    def _take_key(self, key: str) -> None:
        self._stack[-1].key = key
        self._state = self._in_colon

    def _put(self, value: Json) -> None:
        if not self._stack:
            self.value = value
            self.done = True
            if self._trailing_comma and not self._pythonic:
                self._note("a trailing comma")
        else:
            top = self._stack[-1]
            if isinstance(top.value, list):
                top.value.append(value)
            else:
                key = top.key or ""
                if key in top.value and top.value[key] != value:
                    self._fail("refused", f"the field {key[:40]!r} is given twice, with different values")
                    return
                top.value[key] = value
            top.comma = False
            self._state = self._after_value
        if self._watch is not None and len(self._stack) <= 2:
            self._watch(self._path(), value)

    def _path(self) -> Path:
        return tuple(
            len(opened.value) - 1 if isinstance(opened.value, list) else opened.key or "" for opened in self._stack
        )

    def _begin_comment(self, char: str, pos: int) -> int:
        self._note("a comment")
        self._before_comment = self._state
        self._escape = "/" if char == "/" else ""
        self._state = self._in_comment
        return pos + 1

    def _note_wide(self, char: str) -> None:
        if char in "：，":
            self._note("full-width punctuation")

    def _note(self, what: str) -> None:
        if what not in self.notes:
            self.notes.append(what)

    def _fail(self, kind: FaultKind, message: str, pos: int = 0) -> int:
        self.fault = Fault(kind, message, self._read)
        return pos
