"""Captions: scenes and edits put into words, either the usual words or any of those the model was trained on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

from langgraph_interleave_miniature.scenes import COLUMNS, Edit, Scene, Thing
from langgraph_interleave_miniature.words import (
    ADD_WORDS,
    BACKGROUND_WORDS,
    COLOR_WORDS,
    COLUMN_WORDS,
    KEEPING,
    KIND_WORDS,
    NOTHING_ELSE,
    OPENINGS,
    RECOLOR_WORDS,
    REMOVE_WORDS,
    ROW_WORDS,
)

#: `full`: every color, cell and the background are said. `some`: any of them may be left out.
#: `anywhere`: no cell is said. What is not said is the model's to choose.
Detail = Literal["full", "some", "anywhere"]


def _usual(rng: random.Random, words: Sequence[str]) -> str:
    """The usual word twice as often as any other."""
    return rng.choice((words[0], *words))


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def place(cell: int) -> str:
    """Where a cell is, in the usual words.

    Example:
        >>> place(5)
        'at the bottom right'
    """
    return f"at the {ROW_WORDS[cell // COLUMNS][0]} {COLUMN_WORDS[cell % COLUMNS][0]}"


def describe(scene: Scene) -> str:
    """A whole scene in the usual words; `parsing.scene_of` reads it back.

    Example:
        >>> describe(Scene("night", (Thing("ball", "red", 0),)))
        'a red ball at the top left at night'
    """
    things = [f"{_article(f'{thing.color} {thing.kind}')} {place(thing.cell)}" for thing in scene.things]
    return f"{' and '.join(things) or 'nothing'} {BACKGROUND_WORDS[scene.background][0]}"


def command(edit: Edit) -> str:
    """An edit in the usual words, as explicit as can be.

    Example:
        >>> before = Scene("paper", (Thing("ball", "red", 0),))
        >>> command(Edit("recolor", before, Scene("paper", (Thing("ball", "blue", 0),))))
        'make the red ball at the top left blue'
    """
    thing = edit.thing
    if thing is None:
        return f"make it {BACKGROUND_WORDS[edit.after.background][0]}"
    noun = f"{thing.color} {thing.kind}"
    if edit.op == "add":
        return f"add {_article(noun)} {place(thing.cell)}"
    if edit.op == "remove":
        return f"remove the {noun} {place(thing.cell)}"
    return f"make the {noun} {place(thing.cell)} {_new_color(edit)}"


def _new_color(edit: Edit) -> str:
    assert edit.thing is not None
    return next(thing.color for thing in edit.after.things if thing.cell == edit.thing.cell)


def _any_place(rng: random.Random, cell: int, detail: Detail) -> str:
    row, column = _usual(rng, ROW_WORDS[cell // COLUMNS]), _usual(rng, COLUMN_WORDS[cell % COLUMNS])
    chance = rng.random() if detail == "some" else 0.0
    if detail == "anywhere" or chance > 0.9:
        return ""
    if chance > 0.82:
        return f"at the {row}"
    if chance > 0.7:
        return f"in the {column}" if cell % COLUMNS == 1 else f"on the {column}"
    return rng.choice((f"at the {row} {column}", f"at the {row} {column}", f"in the {row} {column}", f"{row} {column}"))


def _any_noun(rng: random.Random, thing: Thing, *, color: bool) -> str:
    kind = _usual(rng, KIND_WORDS[thing.kind])
    return f"{_usual(rng, COLOR_WORDS[thing.color])} {kind}" if color else kind


def caption(rng: random.Random, scene: Scene, detail: Detail = "full") -> str:
    """A scene in any words the model is trained on.

    Args:
        rng: Source of chance.
        scene: What the picture shows.
        detail: How much is said.

    Example:
        >>> caption(random.Random(6), Scene("beach", (Thing("fish", "orange", 4),)))
        'please draw an orange fish in the bottom center on a sandy beach'
    """
    parts: list[str] = []
    for thing in rng.sample(scene.things, len(scene.things)):
        noun = _any_noun(rng, thing, color=detail != "some" or rng.random() > 0.08)
        named = _article(noun) if rng.random() < 0.85 else noun
        parts.append(f"{named} {_any_place(rng, thing.cell, detail)}".strip())
    silent = detail == "some" and parts and rng.random() < 0.15
    background = "" if silent else _usual(rng, BACKGROUND_WORDS[scene.background])
    body = (" and " if rng.random() < 0.7 else ", ").join(parts) or "nothing"
    if background and rng.random() < 0.15:
        return f"{background}, {body}"
    opening = rng.choice(("", "", "", *OPENINGS))
    ending = NOTHING_ELSE if rng.random() < 0.08 else ""
    return " ".join(part for part in (opening, body, background, ending) if part)


def instruction(rng: random.Random, edit: Edit, detail: Detail = "full") -> str:
    """An edit in any words the model is trained on; `full` names things by their color, `some` may not.

    Example:
        >>> before = Scene("paper", (Thing("ball", "red", 0),))
        >>> instruction(random.Random(1), Edit("remove", before, Scene("paper")))
        'erase the red ball top left'
    """
    text = _instruction(rng, edit, detail)
    return f"{text} {KEEPING}" if rng.random() < 0.08 else text


def _instruction(rng: random.Random, edit: Edit, detail: Detail) -> str:
    thing = edit.thing
    if thing is None:
        where = _usual(rng, BACKGROUND_WORDS[edit.after.background])
        start = rng.choice(("put it", "make it", "change the background,", "same scene"))
        return f"{start} {where}"
    if edit.op == "add":
        noun = _any_noun(rng, thing, color=detail == "full" or rng.random() > 0.08)
        return f"{_usual(rng, ADD_WORDS)} {_article(noun)} {_any_place(rng, thing.cell, detail)}".strip()
    noun = "the " + _any_noun(rng, thing, color=detail == "full" or rng.random() < 0.6)
    if rng.random() < 0.4:
        noun = f"{noun} {_any_place(rng, thing.cell, 'full')}"
    if edit.op == "remove":
        return f"{_usual(rng, REMOVE_WORDS)} {noun}"
    verb = rng.choice(RECOLOR_WORDS)
    return f"{verb} {noun} {'to ' if verb == 'change' else ''}{_usual(rng, COLOR_WORDS[_new_color(edit)])}"
