"""Plain data and clean text: what may come out of a model's answer at all."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

#: What JSON can hold.
Json = Any

MAX_DEPTH = 64
_MAX_NODES = 250_000
_MAX_INT_DIGITS = 30
_MAX_INT_BITS = 100
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


def number(word: str) -> int | float:
    """Read a number of any length; beyond 30 digits it is rounded, beyond 1e308 infinite."""
    if len(word) <= _MAX_INT_DIGITS and word.lstrip("+-").isdigit():
        return int(word)
    return float(word)


def joined(text: str) -> str:
    """Join surrogate pairs into their character and replace lone halves, which UTF-8 cannot hold."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def storable(text: str) -> str:
    """Replace surrogates one by one, so that the result does not depend on where a stream was cut."""
    return _SURROGATE.sub("\ufffd", text)


def cleaned(text: str) -> str:
    """Drop control characters, which mean nothing in a prompt or caption; line breaks and tabs stay."""
    return _CONTROL.sub("", text)


def plain(value: object) -> Json:
    """Copy mappings, lists, texts, numbers, booleans and `None` to plain data.

    Raises:
        ValueError: Anything else is in it (sets, bytes, objects), a field name is not text, or it is
            nested deeper than 64 levels or larger than 250,000 values.
    """
    root: list[Json] = []
    todo: list[tuple[object, Callable[[Json], None], int]] = [(value, root.append, 0)]
    count = 0
    while todo:
        item, put, depth = todo.pop()
        count += 1
        if depth > MAX_DEPTH or count > _MAX_NODES:
            raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels or has more than {_MAX_NODES:,} values")
        if item is None or isinstance(item, bool | float):
            put(item)
        elif isinstance(item, int):
            put(item if item.bit_length() <= _MAX_INT_BITS else math.inf if item > 0 else -math.inf)
        elif isinstance(item, str):
            put(joined(str.__str__(item)))
        elif isinstance(item, Mapping):
            copy: dict[str, Json] = {}
            put(copy)
            for key, inner in item.items():
                if not isinstance(key, str):
                    raise ValueError(f"a field name is {type(key).__name__}, not text")
                copy[joined(key)] = None
                todo.append((inner, _Slot(copy, joined(key)), depth + 1))
        elif isinstance(item, list | tuple):
            members: list[Json] = [None] * len(item)
            put(members)
            todo.extend((inner, _Slot(members, i), depth + 1) for i, inner in enumerate(item))
        else:
            raise ValueError(f"it contains {type(item).__name__}, which is not plain data")
    return root[0]


def as_json(value: object) -> str:
    """Write data as JSON, to be kept; empty when it is not plain data."""
    try:
        return storable(json.dumps(plain(value), ensure_ascii=False))
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place in a container, to be filled later."""

    container: Any
    at: str | int

    def __call__(self, value: Json) -> None:
        self.container[self.at] = value
