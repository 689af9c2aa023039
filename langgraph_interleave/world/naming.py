"""How faults and critiques name things: "three red balls", "the red balls", "is" or "are"."""

from __future__ import annotations

from langgraph_interleave.world.grammar.prose import noun, phrase
from langgraph_interleave.world.scene import Thing


def named(thing: Thing) -> str:
    """The thing in words, without its place, size and state.

    Example:
        >>> named(Thing(id="ball", kind="ball", color="red", count=3, at="left"))
        'three red balls'
    """
    return phrase(thing.model_copy(update={"size": "medium", "state": None}), placed=False)


def the(thing: Thing, *, color: bool = True) -> str:
    """The thing as one already spoken of.

    Example:
        >>> the(Thing(id="ball", kind="ball", color="red", count=3)), the(Thing(id="?", kind="cat"))
        ('the red balls', 'the cat')
    """
    words = noun(thing.kind, thing.count)
    if thing.label is not None:
        return f'the {words} labelled "{thing.label}"'
    return f"the {thing.color} {words}" if color and thing.color else f"the {words}"


def capital(words: str) -> str:
    """The words as the beginning of a sentence.

    Example:
        >>> capital("the cat sleeps.")
        'The cat sleeps.'
    """
    return words[:1].upper() + words[1:]


def be(count: int) -> str:
    """`is` or `are`."""
    return "is" if count == 1 else "are"


def was(count: int) -> str:
    """`was` or `were`."""
    return "was" if count == 1 else "were"
