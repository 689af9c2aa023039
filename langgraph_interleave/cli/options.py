"""What can be said to a part: its options, read from its signature and its docstring, so that they cannot differ."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.registry import KINDS, OURS, Entry, Kind, installed, load

#: Parts of ours that have no entry point, with how they are written.
BESIDES: tuple[tuple[str, str, str], ...] = (
    ("model", "langgraph_interleave.models.transformers.chat:TransformersChat",
     "transformers:FOLDER or transformers:OWNER/MODEL, as a planner, a critic, or the model of svg"),
    ("backend", "langgraph_interleave.backends.callable:CallableBackend",
     "in Python: a function, or CallableBackend(draw)"),
)  # fmt: skip
_SPACED = re.compile(r"\s+")
_ENTRY = re.compile(r"(?P<names>\w+(?:, \w+)*): ?(?P<words>.*)")


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a part.

    Attributes:
        name: What it is called.
        meaning: What it is, in the words of the docstring.
        default: As Python writes it; empty where it must be given.
        in_name: Whether a name may carry it, `part:…?option=value`.
        in_python: Whether it is an argument of the class; else it is in `defaults`.
    """

    name: str
    meaning: str
    default: str
    in_name: bool
    in_python: bool = True


@dataclass(frozen=True, slots=True)
class Described:
    """A part as it is told to people.

    Attributes:
        kind: Which role, or `model`.
        name: What people type.
        place: Where Python imports it from, `module.Class`.
        written: How a name of it is written.
        summary: What it is, in a sentence.
        options: All of them, in order.
    """

    kind: str
    name: str
    place: str
    written: str
    summary: str
    options: tuple[Option, ...]


def described(entry: Entry) -> Described:
    """Describe an installed part.

    Raises:
        ConfigError: It cannot be imported.
    """
    written = entry.name if entry.kind != "check" else f"checks=({entry.name!r},)"
    return of_class(entry.kind, entry.name, load(entry), entry.point.value, written)


def of_class(kind: str, name: str, part: Callable[..., object], place: str, written: str) -> Described:
    """Describe a class or function.

    Args:
        kind: Which role.
        name: What people type.
        part: The class or function.
        place: `module:Class`.
        written: How a name of it is written, where it does not say.

    Example:
        >>> from langgraph_interleave.backends.simulator import SimulatorBackend
        >>> told = of_class("backend", "simulator", SimulatorBackend, "a.b:SimulatorBackend", "simulator")
        >>> [(option.name, option.default) for option in told.options]
        [('preset', "'default'"), ('seed', '0'), ('latency_s', '0.0')]
    """
    doc = inspect.getdoc(part) or ""
    meanings = dict(_arguments(doc))
    in_name: frozenset[str] = getattr(part, "in_name", frozenset())
    options = [
        Option(one, meanings.get(one, ""), default, in_name=one in in_name or (kind == "model" and one != "model"))
        for one, default in _signature(part)
    ]
    known = {option.name for option in options}
    options += [
        Option(one, "Of every drawing; in Python in `defaults`.", "", in_name=True, in_python=False)
        for one in sorted(in_name - known)
    ]
    summary = _SPACED.sub(" ", doc.partition("\n\n")[0]).strip()
    return Described(
        kind, name, place.replace(":", "."), str(getattr(part, "written", written)), summary, tuple(options)
    )


def find(name: str) -> tuple[Described, ...]:
    """Everything of that name.

    Raises:
        ConfigError: There is nothing, or it cannot be imported.
    """
    wanted = name.strip()
    found = [described(one) for kind in KINDS for one in installed(kind) if one.name == wanted and not one.shadowed]
    found += [one for one in besides() if one.name == wanted]
    if not found:
        names = sorted({entry.name for kind in KINDS for entry in installed(kind)} | {one.name for one in besides()})
        raise ConfigError(f"Nothing called {wanted!r} is installed.", remedy=f"There are {', '.join(names)}.")
    return tuple(found)


def built_in(kind: Kind) -> tuple[Described, ...]:
    """Every part of ours of a kind, by name."""
    found = [described(entry) for entry in installed(kind) if entry.distribution == OURS]
    return tuple(found + [one for one in besides() if one.kind == kind])


def besides() -> tuple[Described, ...]:
    """Parts of ours without an entry point."""
    found: list[Described] = []
    for kind, place, written in BESIDES:
        module, _, name = place.partition(":")
        shown = "transformers" if kind == "model" else "callable"
        found.append(of_class(kind, shown, getattr(importlib.import_module(module), name), place, written))
    return tuple(found)


def _signature(part: Callable[..., object]) -> Iterator[tuple[str, str]]:
    """Names of arguments, and their defaults as they are written."""
    if isinstance(part, type) and issubclass(part, BaseModel):
        own: dict[str, Any] = part.__annotations__
        for name in own:
            field = part.model_fields.get(name)
            if field is not None:
                yield name, "" if field.is_required() else repr(field.default)
        return
    try:
        parameters = inspect.signature(part).parameters.values()
    except (TypeError, ValueError):  # some callables written in C have none
        return
    for one in parameters:
        if one.kind is one.VAR_POSITIONAL:
            yield one.name, "()"
        if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD):
            yield one.name, "" if one.default is one.empty else repr(one.default)


def _arguments(doc: str) -> Iterator[tuple[str, str]]:
    """The entries under `Args:` of a docstring."""
    section = re.search(r"^Args:\n((?:    .*\n?|\n)+)", doc, re.MULTILINE)
    told: list[tuple[str, list[str]]] = []
    for line in (section[1] if section else "").splitlines():
        match = _ENTRY.fullmatch(line[4:])
        if match and not line.startswith("     "):
            told.append((match["names"], [match["words"]]))
        elif told:
            told[-1][1].append(line.strip())
    for names, words in told:
        for name in names.split(", "):
            yield name, " ".join(words).strip()
