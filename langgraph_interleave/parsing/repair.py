"""Mending broken punctuation, and nothing else.

First the usual slips are corrected (see `punctuation`). What remains broken goes to json-repair, if it
is short. A value in which a text seems to have swallowed its neighbours does not count as mended.

json-repair closes what is open and drops what it cannot place: asked to mend an answer that a token
limit cut off, it returns half a plan. So its result counts only when every letter, digit and
bracket of the text is still there, in the same order, with none added, and when a value put behind
the text is still read as a value of its own, so that nothing was left open.
"""

from __future__ import annotations

import json
import re

from langgraph_interleave.parsing.data import MAX_DEPTH, Json, plain
from langgraph_interleave.parsing.literal import Reader
from langgraph_interleave.parsing.punctuation import corrected

#: json-repair can take time that grows with the square of the length: 1 s for 4,000 characters.
_MAX_CHARS = 3_000
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_BEHIND = "behind the text"
#: A quote and what stands between two fields, inside one text: more likely a quote too few than meant so.
_DEBRIS = re.compile(r"[\"'”’]\s*(?:[:：]\s*[\"'“‘{\[]|[,，]\s*[\"'“‘]|[}\]])")
_EMPTY_TEXT = re.compile(r"\"\"|''|“”|‘’")
_BRACKETS = frozenset("{}[]")


class CannotRepair(Exception):
    """The text cannot be mended by punctuation alone. `cut`: it lacks its end."""

    def __init__(self, message: str, *, cut: bool = False) -> None:
        super().__init__(message)
        self.cut = cut


def mend(span: str) -> tuple[Json, tuple[str, ...]]:
    """Read a broken JSON or Python-literal object by mending commas, colons and quotes.

    Args:
        span: The text from its opening bracket on; remarks after the last bracket are ignored.

    Returns:
        The value, made of the same letters, digits and brackets as the text; and what was mended.

    Raises:
        CannotRepair: More than punctuation would have to change.

    Example:
        >>> mend('{"sign": "it says "open" today" "size": 2,}')[0]
        {'sign': 'it says "open" today', 'size': 2}
    """
    end = span.rfind("}" if span.startswith("{") else "]")
    if end < 0:
        raise CannotRepair("it has no end", cut=True)
    span = span[: end + 1]
    text, done = corrected(span)
    reader = Reader()
    if reader.feed(text) == len(text) and reader.done and not _has_debris(reader.value):
        return reader.value, (*done, *reader.notes)
    return _by_json_repair(span), ("wrong punctuation",)


def _by_json_repair(span: str) -> Json:
    from json_repair import repair_json

    if len(span) > _MAX_CHARS or _depth(span) > MAX_DEPTH:
        raise CannotRepair("it is too long or nested too deeply", cut=_depth(span, at_end=True) > 0)
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
    if _has_debris(value):
        raise CannotRepair("it is not clear where a text ends")
    return value


def _depth(text: str, *, at_end: bool = False) -> int:
    """How deep brackets are nested at most, or at the end; those inside texts are counted too."""
    depth = deepest = 0
    for char in text:
        depth += (char in "{[") - (char in "}]")
        deepest = max(deepest, depth)
    return depth if at_end else deepest


def _has_debris(value: Json) -> bool:
    if isinstance(value, dict):
        return any(_DEBRIS.search(key) or _has_debris(inner) for key, inner in value.items())
    if isinstance(value, list):
        return any(map(_has_debris, value))
    return isinstance(value, str) and _DEBRIS.search(value) is not None


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
