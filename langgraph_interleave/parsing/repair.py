"""Mending broken punctuation, and nothing else.

json-repair closes what is open and drops what it cannot place: asked to mend an answer that a token
limit cut off, it returns half a plan. Here its result counts only when every letter, digit and
bracket of the text is still there, in the same order, and none was added.
"""

from __future__ import annotations

import json
import re

from langgraph_interleave.parsing.data import Json, plain

#: json-repair needs about 4 µs a character; longer answers are asked for again instead.
MAX_CHARS = 100_000
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_BRACKETS = frozenset("{}[]")


class CannotRepair(Exception):
    """The text cannot be mended by punctuation alone. `cut`: it lacks its end."""

    def __init__(self, message: str, *, cut: bool = False) -> None:
        super().__init__(message)
        self.cut = cut


def mend(span: str) -> Json:
    """Read a broken JSON or Python-literal object by mending commas, colons and quotes.

    Args:
        span: The text from its opening bracket on; remarks after the last bracket are ignored.

    Returns:
        The value, made of the same letters, digits and brackets as the text.

    Raises:
        CannotRepair: More than punctuation would have to change.

    Example:
        >>> mend('{"sign": "it says "open" today" "size": 2,}')
        {'sign': 'it says "open" today', 'size': 2}
    """
    from json_repair import repair_json

    if len(span) > MAX_CHARS:
        raise CannotRepair(f"it is longer than {MAX_CHARS} characters")
    end = span.rfind("}" if span.startswith("{") else "]")
    if end < 0:
        raise CannotRepair("it has no end", cut=True)
    span = span[: end + 1]
    try:
        value = plain(repair_json(span, return_objects=True, skip_json_loads=True))
        after = _substance(json.dumps(value, ensure_ascii=False))
    except (ValueError, LookupError, RecursionError, TypeError) as error:
        raise CannotRepair(f"json-repair gave up ({type(error).__name__})") from error
    before = _substance(span)
    if before != after:
        raise CannotRepair("words or brackets would be lost or added", cut=after.startswith(before))
    return value


def _substance(text: str) -> str:
    """Letters, digits and brackets of a text; the same for a value and for however it is written."""
    text = _ESCAPE.sub(_unescaped, text)
    kept = "".join(char for char in text if char in _BRACKETS or char.isalnum())
    return kept.lower().replace("none", "null")


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return " " if match[2] in "nrtbf" else match[2]
