"""Wanting: what a picture should show, told from an instruction and, for a change, from the picture before."""

from __future__ import annotations

import random
from dataclasses import replace

from langgraph_interleave_miniature.changes import Impossible, applied
from langgraph_interleave_miniature.instructions import target_of
from langgraph_interleave_miniature.parsing import IT, Mention, Said
from langgraph_interleave_miniature.reading import Reading
from langgraph_interleave_miniature.scenes import COLORS, COLUMNS, Scene, Thing


def wanted_of(instruction: str, before: Reading | None) -> Said | None:
    """What the whole picture should show; `None` when the words do not tell.

    A change is understood as one to what is seen in the picture before; a color or place it leaves open stays open.

    Example:
        >>> from langgraph_interleave_miniature.reading import certain
        >>> wanted = wanted_of("Add a blue car.", certain(Scene("night", (Thing("ball", "red", 0),))))
        >>> [(thing.kind, thing.color, thing.cell) for thing in wanted.things], wanted.background
        ([('ball', 'red', 0), ('car', 'blue', None)], 'night')
    """
    words = target_of(instruction)
    if words.empty:
        return None
    if words.scene is not None or before is None:
        return words if words.verb not in ("remove", "move") and not _turns(words) else None
    scene = before.scene
    new = tuple(one for one in words.things if one.kind != IT and one.turns is None and scene.named(one.kind) is None)
    changes = replace(words, things=tuple(one for one in words.things if one not in new))
    if words.verb in ("remove", "move", "change") and new:
        return None
    try:
        # Nothing is left to chance: what is new and open is kept apart.
        after = applied(changes, scene, random.Random(0)).scene
    except Impossible:
        return None
    kept = whole(after)
    return replace(kept, things=(*kept.things, *new), unknown=words.unknown)


def whole(scene: Scene) -> Said:
    """A scene as words that leave nothing open."""
    things = tuple(
        Mention(thing.kind, thing.color, thing.cell // COLUMNS, thing.cell % COLUMNS) for thing in scene.things
    )
    return Said(things, scene.background, nothing=not things)


def completed(wanted: Said, reading: Reading) -> Scene:
    """The scene that is wanted; what is left open is as the picture has it.

    Example:
        >>> from langgraph_interleave_miniature.parsing import said
        >>> from langgraph_interleave_miniature.reading import certain
        >>> seen = certain(Scene("night", (Thing("ball", "blue", 4),)))
        >>> completed(said("a red ball"), seen).shown
        ('night', {4: ('ball', 'red')})
    """
    seen = reading.scene
    things: list[Thing] = []
    fixed = {mention.cell for mention in wanted.things if mention.cell is not None}
    for index, mention in enumerate(wanted.things):
        like = seen.named(mention.kind)
        color = mention.color or (like.color if like is not None else COLORS[index % len(COLORS)])
        cell = mention.cell
        if cell is None:
            taken = fixed | {thing.cell for thing in things}
            fitting = [one for one in range(len(reading.kinds)) if mention.fits(one) and one not in taken]
            here = like.cell if like is not None else None
            cell = here if here in fitting else next(iter(fitting), 0)
        things.append(Thing(mention.kind, color, cell))
    return Scene(wanted.background or seen.background, tuple(things))


def _turns(words: Said) -> bool:
    return any(thing.turns is not None or thing.kind == IT for thing in words.things)
