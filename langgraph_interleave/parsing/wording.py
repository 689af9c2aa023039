"""Texts and numbers as models write them: null as a word, numbers as texts, lists where text belongs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from langgraph_interleave.parsing.data import Json, cleaned

_NOTHING = frozenset({"null", "none", "nil", "n/a", "undefined"})
_AROUND = " \t\n\"'`.,<>()[]{}“”‘’"
_INTEGER = re.compile(r"\D{0,20}?(?<![-\d])(\d{1,9})(?:\.0+)?\D{0,3}\Z", re.ASCII | re.DOTALL)


def is_nothing(text: str) -> bool:
    """Whether a whole text says that there is nothing: empty, "null", "None", "N/A"."""
    return not text or text.isspace() or (len(text) < 40 and text.strip(_AROUND).lower() in _NOTHING)


def text_of(value: Json) -> str | None:
    """Read a text field.

    Returns:
        The text without control characters and outer space; a number as text; `None` for nothing.

    Raises:
        TypeError: It is a list, an object or a boolean.

    Example:
        >>> text_of(" Dig. "), text_of("None"), text_of(3), text_of(None)
        ('Dig.', None, '3', None)
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"is {kind_of(value)}, not text")
    text = cleaned(str(value)).strip()
    return None if is_nothing(text) else text


def phrase_of(value: Json) -> str:
    """Read a free description: text, or lists and objects of texts flattened into one line.

    Example:
        >>> phrase_of(["red", "ochre"]), phrase_of({"Mia": "red coat", "age": 7})
        ('red; ochre', 'Mia: red coat; age: 7')
    """
    if isinstance(value, Mapping):
        parts = [(str(key), phrase_of(inner)) for key, inner in value.items()]
        return "; ".join(f"{cleaned(key)}: {phrase}" for key, phrase in parts if phrase)
    if isinstance(value, list):
        return "; ".join(phrase for phrase in map(phrase_of, value) if phrase)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return text_of(value) or ""


def integer_of(value: Json) -> int | None:
    """Read a step number: 3, 3.0, "3", "3.", "Step 3"; `None` for anything else.

    Example:
        >>> [integer_of(v) for v in (3, 3.0, "3.", "Step 3", "3.5", True, None)]
        [3, 3, 3, 3, None, None, None]
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return int(value) if value == value and abs(value) < 1e9 and value == int(value) else None
    if isinstance(value, str) and (match := _INTEGER.match(value.strip())):
        return int(match[1])
    return None


def kind_of(value: Json) -> str:
    """What a value is, in a reader's words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list) else "an object"
