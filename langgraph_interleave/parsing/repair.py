"""Mending broken punctuation, and nothing else.

json-repair closes what is open and drops what it cannot place: asked to mend an answer that a token
limit cut off, it returns half a plan. Here its result counts only when every letter, digit and
bracket of the text is still there, in the same order, with none added, and when a value put behind
the text is still read as a value of its own, so nothing was left open.
"""

from __future__ import annotations

import json
import re

from langgraph_interleave.parsing.data import Json, plain

#: json-repair needs about 4 µs a character; longer answers are asked for again instead.
MAX_CHARS = 100_000
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_BEHIND = "behind the text"
_EMPTY_TEXT = re.compile(r"\"\"|''|“”|‘’")
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
        found = plain(repair_json(f'[{span}, "{_BEHIND}"]', return_objects=True, skip_json_loads=True))
    except (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        # Whatever it stumbles over (too deep a nesting is a RuntimeError): what it cannot mend stays broken.
        raise CannotRepair(f"json-repair gave up ({type(error).__name__})") from error
    if not isinstance(found, list) or len(found) != 2 or found[1] != _BEHIND:
        raise CannotRepair("something in it is not closed", cut=True)
    value = found[0]
    after = _substance(json.dumps(value, ensure_ascii=False))
    before = _substance(span)
    if before != after:
        raise CannotRepair("words or brackets would be lost or added", cut=after.startswith(before))
    if _empty_texts(value) > len(_EMPTY_TEXT.findall(span)):
        raise CannotRepair("a missing value would be made up")
    return value


def _empty_texts(value: Json) -> int:
    """How many texts in a value are empty; json-repair puts one where a value is missing."""
    if isinstance(value, dict):
        return sum(map(_empty_texts, value.values()))
    if isinstance(value, list):
        return sum(map(_empty_texts, value))
    return value == ""


def _substance(text: str) -> str:
    """Letters, digits and brackets of a text; the same for a value and for however it is written."""
    text = _ESCAPE.sub(_unescaped, text)
    kept = "".join(char for char in text if char in _BRACKETS or char.isalnum())
    return kept.lower().replace("none", "null")


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return " " if match[2] in "nrtbf" else match[2]
