"""Changes: what a text makes of a scene, and which single edit leads from one scene to another."""

from __future__ import annotations

import random
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from langgraph_interleave_miniature.parsing import IT, Mention, Said
from langgraph_interleave_miniature.scenes import BACKGROUNDS, CELLS, COLORS, KINDS, Edit, Scene, Thing

Option = TypeVar("Option", str, int)
#: What chance should not choose.
Shun: TypeAlias = AbstractSet[str | int]


class Impossible(Exception):
    """A scene cannot be as a text says. The message is a sentence, and says why."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A scene, and in words what the text left open and chance decided."""

    scene: Scene
    open: tuple[str, ...] = ()


def described(said: Said, rng: random.Random, shun: Shun = frozenset()) -> Chosen:
    """The scene a description means; what it leaves open is chosen by chance.

    Args:
        said: The description.
        rng: Source of chance.
        shun: Colors, backgrounds and cells that chance leaves to what comes later, if it can.

    Raises:
        Impossible: Two things of one kind, more than there are cells, or two in one cell.

    Example:
        >>> from langgraph_interleave_miniature.parsing import said
        >>> described(said("a red ball at the top left"), random.Random(0)).open
        ('the background',)
    """
    background = said.background
    opened = () if background is not None else ("the background",)
    start = Chosen(Scene(background or _picked(rng, BACKGROUNDS, shun)), opened)
    return _added(start, said.things, rng, shun)


def applied(said: Said, before: Scene, rng: random.Random, shun: Shun = frozenset()) -> Chosen:
    """The scene after a change; what the text leaves open is chosen by chance.

    Args:
        said: The change.
        before: What there is.
        rng: Source of chance.
        shun: As for `described`.

    Raises:
        Impossible: It changes what is not there, or adds what there is no room for.

    Example:
        >>> from langgraph_interleave_miniature.parsing import said
        >>> before = Scene("paper", (Thing("ball", "red", 0), Thing("box", "blue", 4)))
        >>> applied(said("remove the ball"), before, random.Random(0)).scene.shown
        ('paper', {4: ('box', 'blue')})
    """
    after = replace(before, background=said.background) if said.background is not None else before
    match said.verb:
        case "remove":
            gone = [_found(mention, before) for mention in said.things]
            return Chosen(replace(after, things=tuple(thing for thing in after.things if thing not in gone)))
        case "move":
            return _moved(said.things, after, rng)
        case None if any(mention.kind == IT or before.named(mention.kind) for mention in said.things):
            return Chosen(said.scene) if said.scene is not None else _retold(said.things, after, rng, shun)
        case _:
            pass
    turned = [mention for mention in said.things if mention.turns is not None]
    for mention in turned:
        old = _found(mention, before)
        after = _with(after, old, replace(old, color=mention.turns or old.color))
    new = tuple(mention for mention in said.things if mention.turns is None)
    if said.verb == "change" and new:
        named = ", ".join(_noun(mention) for mention in new)
        raise Impossible(f"It is not said what becomes of {named}.")
    return _added(Chosen(after), new, rng, shun)


def edit_between(before: Scene, after: Scene) -> Edit | None:
    """The one edit that leads from a scene to another; `None` when it takes none, several, or none there is.

    Example:
        >>> edit_between(Scene("paper"), Scene("night")).op
        'background'
    """
    (ground, there), (new_ground, then) = before.shown, after.shown
    changed = {cell for cell in range(CELLS) if there.get(cell) != then.get(cell)}
    if ground != new_ground:
        return None if changed else Edit("background", before, replace(before, background=new_ground))
    if len(changed) != 1:
        return None
    (cell,) = changed
    old = next((thing for thing in before.things if thing.cell == cell), None)
    new = next((thing for thing in after.things if thing.cell == cell), None)
    if old is None and new is not None:
        return Edit("add", before, replace(before, things=(*before.things, new)))
    if old is not None and new is None:
        return Edit("remove", before, replace(before, things=tuple(one for one in before.things if one is not old)))
    if old is not None and new is not None and old.kind == new.kind:
        return Edit("recolor", before, _with(before, old, replace(old, color=new.color)))
    return None


def _added(start: Chosen, mentions: tuple[Mention, ...], rng: random.Random, shun: Shun) -> Chosen:
    scene, opened = start.scene, list(start.open)
    # Those whose cell is said go first, so that chance takes no cell that somebody needs.
    for mention in sorted(mentions, key=lambda one: -sum(part is not None for part in (one.row, one.column))):
        if mention.kind == IT:
            raise Impossible("“It” is not known yet: there is nothing before.")
        if scene.named(mention.kind) is not None:
            raise Impossible(f"There is one {mention.kind} in a picture at most.")
        cells = [cell for cell in scene.free if mention.fits(cell)]
        if not cells:
            raise Impossible(f"There is no room for {_noun(mention)}: a place holds one thing.")
        color = mention.color or _picked(rng, COLORS, shun)
        cell = _picked(rng, cells, shun)
        if mention.color is None:
            opened.append(f"the color of the {mention.kind}")
        if mention.cell is None:
            opened.append(f"the place of the {mention.kind}")
        scene = replace(scene, things=(*scene.things, Thing(mention.kind, color, cell)))
    order = [mention.kind for mention in mentions]
    # In the order in which they are told.
    things = sorted(scene.things, key=lambda one: order.index(one.kind) if one.kind in order else -1)
    return Chosen(replace(scene, things=tuple(things)), tuple(opened))


def _moved(mentions: tuple[Mention, ...], scene: Scene, rng: random.Random) -> Chosen:
    opened: list[str] = []
    for mention in mentions:
        old = _found(replace(mention, row=None, column=None), scene)
        cells = [cell for cell in [*scene.free, old.cell] if mention.fits(cell)]
        if not mention.placed or not cells:
            raise Impossible(f"There is no room for the {old.kind} there, or it is not said where it goes.")
        if mention.cell is None:
            opened.append(f"the place of the {old.kind}")
        scene = _with(
            scene,
            old,
            replace(old, cell=cells[0] if len(cells) == 1 else rng.choice([c for c in cells if c != old.cell])),
        )
    return Chosen(scene, tuple(opened))


def _retold(mentions: tuple[Mention, ...], scene: Scene, rng: random.Random, shun: Shun) -> Chosen:
    """Things that are there are as they are now told to be; those that are not come in."""
    new: list[Mention] = []
    for mention in mentions:
        if mention.kind != IT and scene.named(mention.kind) is None:
            new.append(mention)
            continue
        old = _found(mention, scene)
        if mention.color is not None:
            scene = _with(scene, old, replace(old, color=mention.color))
        if mention.placed and not mention.fits(old.cell):
            scene = _moved((replace(mention, kind=old.kind),), scene, rng).scene
    return _added(Chosen(scene), tuple(new), rng, shun)


def _picked(rng: random.Random, options: Sequence[Option], shun: Shun) -> Option:
    return rng.choice([option for option in options if option not in shun] or options)


def _found(mention: Mention, scene: Scene) -> Thing:
    """The thing of a scene that a mention means."""
    if mention.kind == IT:
        if not scene.things:
            raise Impossible("“It” is not known: the picture is empty.")
        return scene.things[-1]
    thing = scene.named(mention.kind)
    if thing is None:
        there = " and ".join(f"a {one.color} {one.kind}" for one in scene.things) or "nothing"
        raise Impossible(f"There is no {mention.kind} in the picture by then, but {there}.")
    return thing


def _with(scene: Scene, old: Thing, new: Thing) -> Scene:
    return replace(scene, things=tuple(new if thing is old else thing for thing in scene.things))


def _noun(mention: Mention) -> str:
    return f"the {mention.color} {mention.kind}" if mention.color else f"the {mention.kind}"


assert IT not in KINDS
