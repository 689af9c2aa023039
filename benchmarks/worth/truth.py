"""When a picture is right: pure functions on scenes. `benchmarks/ablation.py` says why so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from langgraph_interleave.world.scene import Beside, Scene, Thing

#: What a thing shows: kind, words on it, colour, size, number, state, place.
Look = tuple[str, str | None, str | None, str, int, str | None, tuple[str, str] | str | None]


def right(shown: Scene | None, asked: Scene, before: Scene | None = None) -> bool:
    """Whether a picture shows what its step asked for, with what had to stay as it was, and no more.

    Things are told apart by what they look like, never by a planner's names for them, and their
    order does not count. Where a line leaves the place of a *new* thing open, it may stand anywhere;
    what was in the picture before must stay where it was asked to be.

    Args:
        shown: The scene the picture really shows; `None` for no picture.
        asked: The scene the step's line describes.
        before: The scene the line before describes.

    Example:
        >>> ball = Thing(id="ball", kind="ball", color="red", count=2)
        >>> right(Scene(things=(ball.model_copy(update={"id": "x"}),)), Scene(things=(ball,)))
        True
        >>> right(Scene(things=(ball.model_copy(update={"count": 3}),)), Scene(things=(ball,)))
        False
    """
    if shown is None or shown.backdrop != asked.backdrop or len(shown.things) != len(asked.things):
        return False
    return _covered(shown, asked, before)


def contains(shown: Scene | None, asked: Scene) -> bool:
    """The lenient rule: whatever the step asked for is somewhere in the picture, whatever else is there.

    Backdrop, places and further things are forgiven.

    Example:
        >>> cat, dog = Thing(id="cat", kind="cat"), Thing(id="dog", kind="dog")
        >>> contains(Scene(things=(cat, dog)), Scene(things=(dog,)))
        True
    """
    if shown is None:
        return False
    have = Counter(_look(thing, shown)[:-1] for thing in shown.things)
    want = Counter(_look(thing, asked)[:-1] for thing in asked.things)
    return want <= have


def rightness(shown: Sequence[Scene | None], asked: Sequence[Scene]) -> tuple[bool, ...]:
    """`right` for each asked step of a sequence; a step without a picture is wrong."""
    given = [*shown, *[None] * len(asked)]
    before = [None, *asked]
    return tuple(right(have, want, earlier) for have, want, earlier in zip(given, asked, before, strict=False))


def _covered(shown: Scene, asked: Scene, before: Scene | None) -> bool:
    """Whether things and wishes can be paired off; wishes with a place choose first."""
    kept = {thing.kind for thing in before.things} if before else set[str]()
    left = [_look(thing, shown) for thing in shown.things]
    wishes = sorted(asked.things, key=lambda thing: thing.at is None)
    for thing in wishes:
        wish = _look(thing, asked)
        anywhere = thing.at is None and thing.kind not in kept
        found = next((look for look in left if look == wish or (anywhere and look[:-1] == wish[:-1])), None)
        if found is None:
            return False
        left.remove(found)
    return True


def _look(thing: Thing, scene: Scene) -> Look:
    return thing.kind, thing.label, thing.color, thing.size, thing.count, thing.state, _place(thing, scene)


def _place(thing: Thing, scene: Scene) -> tuple[str, str] | str | None:
    if not isinstance(thing.at, Beside):
        return thing.at
    beside = next((other.kind for other in scene.things if other.id == thing.at.of), thing.at.of)
    return thing.at.relation, beside
