"""Requests in the miniature's world: storyboards of three or four pictures, made at random, as fresh as their seed.

Every line says in full what its picture shows, so that no arm lacks any words. Most pictures are one change away from
the one before, and the planner makes edits of them; others are new scenes with one thing in common, which it has drawn
from nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from random import Random

from langgraph_interleave_miniature.captions import describe
from langgraph_interleave_miniature.instructions import target_of
from langgraph_interleave_miniature.planner import plan_deltas
from langgraph_interleave_miniature.scenes import (
    BACKGROUNDS,
    CELLS,
    KINDS,
    Scene,
    Thing,
    random_edit,
    random_scene,
    random_thing,
)
from worth.world import Task

from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.types import Capabilities, PlanFinished, Request, TextPart

#: What the planner is told of the artist.
CAPABILITIES = Capabilities(edit="instruct", max_references=1, seed="exact", billed=False)
#: Share of pictures after the first that are new scenes.
_NEW = 0.25


@dataclass(frozen=True, slots=True)
class Crowd:
    """How many things there are in a storyboard's pictures.

    Args:
        low: In a scene that is described, at least, and in any picture.
        high: In a scene that is described, at most.
        most: In any picture, after things were added.
    """

    low: int
    high: int
    most: int


#: Storyboards by name. The miniature was trained on pictures with three things at most; places there are for six.
CROWDS = {"few": Crowd(1, 2, 3), "many": Crowd(4, 5, 6), "crowd": Crowd(5, 6, 6)}


def tasks(count: int, crowd: str, *, seed: int = 0) -> list[Task]:
    """The first `count` storyboards of a seed; fewer are the first of more.

    What the planner does not read as it was meant is left out, as in the built-in world: that says nothing about
    drawing, judging and drawing again.

    Args:
        count: How many.
        crowd: One of `CROWDS`.
        seed: Of chance.
    """
    return list(islice((task for task in _at_random(crowd, seed) if read_as_meant(task)), count))


@lru_cache(maxsize=1000)
def planned(words: str) -> PlanFinished:
    """The end of the planner's answer to these words."""
    request = PlanRequest(request=Request(parts=(TextPart(text=words),)), capabilities=CAPABILITIES)
    last = plan_deltas(request)[-1]
    assert isinstance(last, PlanFinished)
    return last


def target(instruction: str) -> Scene:
    """The scene an instruction of the planner's asks for."""
    scene = target_of(instruction).scene
    assert scene is not None, f"an instruction that leaves something open: {instruction}"
    return scene


def read_as_meant(task: Task) -> bool:
    """Whether the plan's instructions ask for exactly the scenes of the task."""
    steps = planned(task.request).plan.steps
    return [target(step.instruction or "").shown for step in steps] == [scene.shown for scene in task.scenes]


def _at_random(name: str, seed: int) -> Iterator[Task]:
    rng, crowd = Random(f"ablation/miniature/{name}/{seed}"), CROWDS[name]
    number = 0
    while True:
        scenes = [random_scene(rng, rng.randint(crowd.low, crowd.high))]
        length = rng.choice((3, 4))
        while len(scenes) < length:
            scenes.append(_next(scenes[-1], rng, crowd))
        request = "\n".join(f"{place}. {describe(scene)}" for place, scene in enumerate(scenes, 1))
        yield Task(f"{name} {seed}/{number}", request, tuple(scenes))
        number += 1


def _next(scene: Scene, rng: Random, crowd: Crowd) -> Scene:
    """The scene with one change, or another one in which something of it is seen again."""
    if rng.random() < _NEW:
        return _seen_again(rng.choice(scene.things), scene.background, rng, rng.randint(crowd.low, crowd.high))
    ops = ["background", "recolor", "recolor"]
    ops += ["add", "add"] if len(scene.things) < crowd.most else []
    ops += ["remove"] if len(scene.things) > crowd.low else []
    return random_edit(rng, scene, rng.choice(ops)).after


def _seen_again(hero: Thing, background: str, rng: Random, count: int) -> Scene:
    """Another scene of so many things, one of them where it was."""
    kinds = rng.sample([kind for kind in KINDS if kind != hero.kind], count - 1)
    cells = rng.sample([cell for cell in range(CELLS) if cell != hero.cell], count - 1)
    others = [random_thing(rng, cell, kind) for cell, kind in zip(cells, kinds, strict=True)]
    ground = rng.choice([one for one in BACKGROUNDS if one != background])
    return Scene(ground, (hero, *others))
