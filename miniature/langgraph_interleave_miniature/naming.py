"""Naming: things in running text."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_interleave_miniature.scenes import Scene


def nouns(scene: Scene) -> str:
    """The things of a scene, with articles; "nothing" without any.

    Example:
        >>> from langgraph_interleave_miniature.scenes import Thing
        >>> nouns(Scene("paper", (Thing("ball", "orange", 0), Thing("box", "red", 1))))
        'an orange ball and a red box'
    """
    things = [f"{'an' if thing.color[0] in 'aeiou' else 'a'} {thing.color} {thing.kind}" for thing in scene.things]
    return listed(things) or "nothing"


def listed(words: Sequence[str]) -> str:
    """Words as one says them.

    Example:
        >>> listed(["a", "b", "c"])
        'a, b and c'
    """
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
