"""A scene as English prose, in one canonical form that `reader` understands without loss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.world.grammar.numbers import ORDINALS, in_words
from langgraph_interleave.world.grammar.phrases import (
    BACKDROPS,
    CELLS,
    RELATIONS,
    article,
    noun,
    state_phrase,
)
from langgraph_interleave.world.grammar.tokens import quote
from langgraph_interleave.world.scene import Beside, Scene, Thing
from langgraph_interleave.world.vocabulary import KINDS

#: How a text says that the request's photo is part of the picture.
PHOTO = "with the given photo pinned up"
#: What stands where no thing is to be seen.
EMPTY = "nothing else"


def describe(scene: Scene) -> str:
    """A scene as natural prose that needs no other text, in canonical form.

    `read(describe(scene)).scene == scene` for every scene whose kinds, states, colours and
    backdrop are the vocabulary's and whose relations name things of the scene.

    Args:
        scene: What the picture shows.

    Returns:
        One sentence, and a second one when words are to be written into the picture.

    Raises:
        ConfigError: A relation names a thing that is not in the scene.

    Example:
        >>> from langgraph_interleave.world.scene import Beside, Scene, Thing
        >>> pot = Thing(id="flower_pot", kind="flower pot", state="with soil", at="middle")
        >>> seed = Thing(id="seed", kind="seed", at=Beside(relation="above", of="flower_pot"))
        >>> describe(Scene(backdrop="table", things=(pot, seed)))
        'On a wooden table: a flower pot with soil in the middle; a seed above the flower pot.'
    """
    where = BACKDROPS.get(scene.backdrop, f"in front of the backdrop {quote(scene.backdrop)}")
    if scene.photo:
        where += f", {PHOTO}"
    phrases: list[str] = []
    before: list[str] = []
    for thing in scene.things:
        phrases.append(phrase(thing, scene, named=thing.id != canonical_id(thing, before)))
        before.append(thing.id)
    text = f"{where[0].upper()}{where[1:]}: {'; '.join(phrases) or EMPTY}."
    if scene.caption is not None:
        text += f" The words {quote(scene.caption)} are written in the picture."
    return text


def phrase(thing: Thing, scene: Scene | None = None, *, named: bool = False, placed: bool = True) -> str:
    """One thing in words: "two small red balls on the box".

    Args:
        thing: The thing.
        scene: Where it is, to name what it stands beside.
        named: Say its id, too.
        placed: Say where it stands.
    """
    words: list[str] = []
    several = thing.count > 1
    if thing.size != "medium":
        words.append(thing.size)
    after = ""
    if thing.state is not None:
        said, behind = state_phrase(thing.kind, thing.state)
        if behind:
            after = f" {said}"
        else:
            words.append(said)
    if thing.color is not None:
        words.append(thing.color if _is_plain_color(thing) else f"{thing.color}-painted")
    words.append(noun(thing.kind, thing.count))
    text = " ".join(words)
    text = (f"{in_words(thing.count)} {text}" if several else f"{article(text)} {text}") + after
    if thing.label is not None:
        text += f" labelled {quote(thing.label)}"
    if named:
        text += f" called {quote(thing.id)}"
    if placed and thing.at is not None:
        text += f" {place(thing, scene)}"
    return text


def place(thing: Thing, scene: Scene | None) -> str:
    """Where a thing stands, in words; empty when that is left open."""
    if thing.at is None:
        return ""
    if not isinstance(thing.at, Beside):
        return CELLS[thing.at]
    return f"{RELATIONS[thing.at.relation]} {reference(thing.at.of, scene, by=thing.id)}"


def reference(thing_id: str, scene: Scene | None, *, by: str = "") -> str:
    """The shortest words that mean one thing of a scene: "the pot", "the red ball", "the second card".

    Args:
        thing_id: Whose.
        scene: Where it is.
        by: The id of the thing that stands beside it, for the message.

    Raises:
        ConfigError: The scene has no such thing.
    """
    things = scene.things if scene is not None else ()
    if scene is not None and scene.photo and thing_id == "photo" and all(thing.id != "photo" for thing in things):
        return "the photo"
    thing = next((thing for thing in things if thing.id == thing_id), None)
    if thing is None:
        raise ConfigError(
            f"The thing {by!r} is placed beside {thing_id!r}, which the scene has not.",
            remedy="Name one of its things: " + (", ".join(thing.id for thing in things) or "it has none") + ".",
        )
    same = [other for other in things if other.kind == thing.kind]
    name = noun(thing.kind, thing.count)
    if len(same) == 1:
        return f"the {name}"
    if thing.label is not None and [other.label for other in same].count(thing.label) == 1:
        return f"the {name} labelled {quote(thing.label)}"
    if (
        thing.color is not None
        and _is_plain_color(thing)
        and [other.color for other in same].count(thing.color) == 1
        and None not in [other.color for other in same]
    ):
        return f"the {thing.color} {name}"
    if len(same) <= len(ORDINALS):
        return f"the {ORDINALS[same.index(thing)]} {name}"
    return f"the {name} called {quote(thing.id)}"


def canonical_id(thing: Thing, before: Sequence[str]) -> str:
    """The id a thing has unless its description says another: its kind, numbered from the second on.

    A card is called after its label.

    Args:
        thing: The thing.
        before: Ids of the things before it in the scene.

    Example:
        >>> canonical_id(Thing(id="?", kind="flower pot"), ["flower_pot"])
        'flower_pot_2'
    """
    base = slug(thing.label) if thing.kind == "card" and thing.label else ""
    base = base or slug(thing.kind)
    name, number = base, 1
    while name in before:
        number += 1
        name = f"{base}_{number}"
    return name


def slug(words: str) -> str:
    """Words as an id: lower case, underscores; letters and digits of any script stay."""
    return re.sub(r"[\W_]+", "_", words.casefold()).strip("_")[:40]


def with_ids(things: Iterable[Thing]) -> tuple[Thing, ...]:
    """The same things, each with its canonical id."""
    done: list[Thing] = []
    for thing in things:
        done.append(thing.model_copy(update={"id": canonical_id(thing, [other.id for other in done])}))
    return tuple(done)


def _is_plain_color(thing: Thing) -> bool:
    """Whether a bare colour word before the noun can only mean its colour (a red traffic light shows red)."""
    kind = KINDS.get(thing.kind)
    if kind is None or kind.recolourable or not kind.states:
        return True
    return not any(thing.color in words.split(" ") for words in (*kind.states, *sum(kind.state_words.values(), ())))
