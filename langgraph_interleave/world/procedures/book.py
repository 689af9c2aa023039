"""Loads the book: one TOML file a procedure, beside this module."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from langgraph_interleave.errors import InternalError
from langgraph_interleave.world.grammar import read
from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.procedures.procedure import Order, Procedure, ProcedureStep, Words

#: Languages of names, to be found by; captions are in fewer.
_NAMED: tuple[Language, ...] = ("en", "de", "zh", "es", "fr")
_LANGUAGES: tuple[Language, ...] = ("en", "de", "zh")


@cache
def book() -> tuple[Procedure, ...]:
    """Every procedure, by key in alphabetical order. Read once a process.

    Raises:
        InternalError: A file of the book is damaged; it is named.

    Example:
        >>> [procedure.key for procedure in book()][:2]
        ['assemble_a_chair', 'bake_a_cake']
    """
    return tuple(_procedure(key, text) for key, text in _pages().items())


@cache
def fingerprint() -> str:
    """A digest of the book's files; another book is another planner."""
    digest = hashlib.sha256()
    for key, text in _pages().items():
        digest.update(f"{key}\0{text}\0".encode())
    return digest.hexdigest()[:12]


@cache
def _pages() -> Mapping[str, str]:
    folder = files("langgraph_interleave.world.procedures")
    found = {page.name: page for page in folder.iterdir() if page.name.endswith(".toml")}
    return {name.removesuffix(".toml"): found[name].read_text(encoding="utf-8") for name in sorted(found)}


def _procedure(key: str, text: str) -> Procedure:
    try:
        data = tomllib.loads(text)
        order: Order = data.get("order", "chain")
        return Procedure(
            key=key,
            title=_words(data["title"]),
            names={language: _names(data, language) for language in _NAMED},
            order=order,
            steps=tuple(_step(step) for step in data["steps"]),
            needs=_words(data["needs"]) if "needs" in data else None,
            tip=_words(data["tip"]) if "tip" in data else None,
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise InternalError(f"The page {key!r} of the book of procedures is damaged: {error}.") from error


def _names(data: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    """What people call it, its title being one of the names."""
    title = data["title"].get(language)
    return tuple(dict.fromkeys((*data["names"].get(language, ()), *([title.casefold()] if title else []))))


def _step(data: Mapping[str, Any]) -> ProcedureStep:
    said = {language: data[language] for language in _LANGUAGES if language in data}
    return ProcedureStep(
        scene=read(data["scene"], language="en").scene,
        title=Words(**{language: words[0] for language, words in said.items()}),
        caption=Words(**{language: words[1] for language, words in said.items()}),
        extra=bool(data.get("extra", False)),
    )


def _words(data: Mapping[str, str]) -> Words:
    return Words(**{language: data[language] for language in _LANGUAGES if language in data})
