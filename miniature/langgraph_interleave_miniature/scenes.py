"""Scenes: what a picture of the miniature's world shows, as data.

Eight kinds of things in six colors stand in six cells (two rows of three) before one of four
backgrounds. A scene holds at most one thing of a kind, so that "the house" always means one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

KINDS = ("ball", "box", "star", "heart", "house", "tree", "car", "fish")
COLORS = ("red", "orange", "yellow", "green", "blue", "purple")
BACKGROUNDS = ("meadow", "night", "beach", "paper")
#: Columns and rows of the grid; a cell is `row * COLUMNS + column`, 0 at the top left.
COLUMNS, ROWS = 3, 2
CELLS = COLUMNS * ROWS
#: How many things a picture of the training data shows at most.
MOST = 3


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing of a scene.

    Args:
        kind: One of `KINDS`.
        color: One of `COLORS`.
        cell: 0 to 5, by rows from the top left.
        dx: Shift to the right of the cell's middle, in pixels of a 64-pixel picture, -1.5 to 1.5.
        dy: Shift downwards, -2.5 to 2.5.
        radius: Half the thing's width, in pixels of a 64-pixel picture, 8.2 to 9.6.
    """

    kind: str
    color: str
    cell: int
    dx: float = 0.0
    dy: float = 0.0
    radius: float = 9.0


@dataclass(frozen=True, slots=True)
class Scene:
    """A background and the things before it.

    Example:
        >>> Scene("night", (Thing("ball", "red", 0),)).shown
        ('night', {0: ('ball', 'red')})
    """

    background: str
    things: tuple[Thing, ...] = ()

    @property
    def shown(self) -> tuple[str, dict[int, tuple[str, str]]]:
        """What matters when pictures are compared: background, and kind and color by cell."""
        return self.background, {thing.cell: (thing.kind, thing.color) for thing in self.things}

    @property
    def free(self) -> list[int]:
        """Cells with nothing in them."""
        taken = {thing.cell for thing in self.things}
        return [cell for cell in range(CELLS) if cell not in taken]

    def named(self, kind: str) -> Thing | None:
        """The thing of this kind, if the scene has one."""
        return next((thing for thing in self.things if thing.kind == kind), None)


def random_thing(rng: random.Random, cell: int, kind: str) -> Thing:
    """A thing of random color, a little off the middle of its cell."""
    return Thing(kind, rng.choice(COLORS), cell, rng.uniform(-1.5, 1.5), rng.uniform(-2.5, 2.5), rng.uniform(8.2, 9.6))


def random_scene(rng: random.Random, count: int | None = None) -> Scene:
    """A random scene.

    Args:
        rng: Source of chance.
        count: How many things, 0 to 6; `None` for 0 to `MOST` as often as the training data has them.

    Example:
        >>> random_scene(random.Random(1), 1).things[0].kind in KINDS
        True
    """
    if count is None:
        count = rng.choices(range(MOST + 1), (0.03, 0.33, 0.4, 0.24))[0]
    cells, kinds = rng.sample(range(CELLS), count), rng.sample(KINDS, count)
    things = tuple(random_thing(rng, cell, kind) for cell, kind in zip(cells, kinds, strict=True))
    return Scene(rng.choice(BACKGROUNDS), things)


@dataclass(frozen=True, slots=True)
class Edit:
    """A change from one scene to another.

    Args:
        op: `add`, `remove`, `recolor` or `background`.
        before: The scene it starts from.
        after: The scene it leads to. All else is the same to the pixel.
    """

    op: str
    before: Scene
    after: Scene

    @property
    def thing(self) -> Thing | None:
        """The thing that is added, removed or recolored, as it was before if it was; `None` for a background."""
        gone = [thing for thing in self.before.things if thing not in self.after.things]
        new = [thing for thing in self.after.things if thing not in self.before.things]
        return (gone or new or [None])[0]

    @property
    def reversed(self) -> Edit:
        """The edit that takes this one back."""
        ops = {"add": "remove", "remove": "add"}
        return Edit(ops.get(self.op, self.op), self.after, self.before)


OPS = ("add", "remove", "recolor", "background")


def random_edit(rng: random.Random, scene: Scene, op: str | None = None) -> Edit:
    """A random edit of a scene.

    Args:
        rng: Source of chance.
        scene: Where to start.
        op: One of `OPS`; `None` for any that fits. `add` needs fewer than `MOST` things, `remove` and `recolor` one.

    Example:
        >>> random_edit(random.Random(1), Scene("paper")).op in ("add", "background")
        True
    """
    if op is None:
        fitting = ["background"]
        fitting += ["add", "add"] if len(scene.things) < MOST else []
        fitting += ["remove", "recolor", "recolor"] if scene.things else []
        op = rng.choice(fitting)
    if op == "background":
        return Edit(op, scene, replace(scene, background=rng.choice([x for x in BACKGROUNDS if x != scene.background])))
    if op == "add":
        unused = [kind for kind in KINDS if scene.named(kind) is None]
        new = random_thing(rng, rng.choice(scene.free), rng.choice(unused))
        return Edit(op, scene, replace(scene, things=(*scene.things, new)))
    old = rng.choice(scene.things)
    if op == "remove":
        return Edit(op, scene, replace(scene, things=tuple(thing for thing in scene.things if thing is not old)))
    new = replace(old, color=rng.choice([color for color in COLORS if color != old.color]))
    return Edit(op, scene, replace(scene, things=tuple(new if thing is old else thing for thing in scene.things)))
