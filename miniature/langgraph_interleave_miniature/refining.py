"""Refining: better words for a picture that went wrong, in the words the model was trained on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from langgraph_interleave_miniature.captions import command, describe
from langgraph_interleave_miniature.changes import edit_between
from langgraph_interleave_miniature.judging import Part
from langgraph_interleave_miniature.parsing import Mention
from langgraph_interleave_miniature.remarks import worst
from langgraph_interleave_miniature.scenes import Scene
from langgraph_interleave_miniature.words import KEEPING, NOTHING_ELSE


def refined(wanted: Scene, parts: Sequence[Part], before: Scene | None, used: Sequence[str]) -> str | None:
    """The prompt to try next.

    A picture is described with what went wrong first, and that there is nothing else where there was. An edit is
    told as explicitly as can be, and that the rest stays; when that was tried, or when no single edit leads to what
    is wanted (a fault of the picture before has to go too), the whole picture is described instead.

    Args:
        wanted: What the picture should show.
        parts: What is wrong with it.
        before: What the picture before shows, if there is one.
        used: Prompts tried so far.

    Returns:
        `None` when all of them were tried: then another seed is the better hope.

    Example:
        >>> from langgraph_interleave_miniature.scenes import Thing
        >>> night = Scene("night", (Thing("ball", "red", 0),))
        >>> refined(night, [], Scene("night"), ["add a ball"])
        'add a red ball at the top left'
    """
    tried = {_plain(prompt) for prompt in used}
    return next((prompt for prompt in _candidates(wanted, parts, before) if _plain(prompt) not in tried), None)


def _candidates(wanted: Scene, parts: Sequence[Part], before: Scene | None) -> Iterator[str]:
    findings = worst(parts)
    more = any(part.what == "extra" for part in findings)
    edit = edit_between(before, wanted) if before is not None else None
    if edit is not None:
        spoilt = more or any(part.kept for part in findings)
        plain, keeping = command(edit), f"{command(edit)} {KEEPING}"
        yield from (keeping, plain) if spoilt else (plain, keeping)
    described = _orders(wanted, findings)
    if more:
        yield from (f"{words} {NOTHING_ELSE}" for words in described)
    yield from described


def _orders(wanted: Scene, findings: Sequence[Part]) -> list[str]:
    """The scene described with each thing first in turn; what went wrong worst before the others."""
    wrong = [part.thing.kind for part in findings if isinstance(part.thing, Mention)]
    first = sorted(wanted.things, key=lambda thing: wrong.index(thing.kind) if thing.kind in wrong else len(wrong))
    turns = [first[index:] + first[:index] for index in range(max(1, len(first)))]
    return [describe(replace(wanted, things=tuple(things))) for things in turns]


def _plain(prompt: str) -> str:
    return " ".join(prompt.lower().split()).rstrip(".")
