"""Requests in the miniature's world: storyboards of three or four pictures, made at random, as fresh as their seed.

Every line says in full what its picture shows, so that no arm lacks any words. Most pictures are one change away from
the one before, and the planner makes edits of them; others are new scenes with one thing in common, which it has drawn
from nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from random import Random

from langgraph_interleave_miniature.captions import describe
from langgraph_interleave_miniature.instructions import target_of
from langgraph_interleave_miniature.planner import plan_deltas
from langgraph_interleave_miniature.scenes import BACKGROUNDS, Scene, random_edit, random_scene
from worth.world import Task

from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.types import Capabilities, PlanFinished, Request, TextPart

#: What the planner is told of the artist.
CAPABILITIES = Capabilities(edit="instruct", max_references=1, seed="exact", billed=False)
#: Share of pictures after the first that are new scenes.
_NEW = 0.25


def tasks(count: int, *, seed: int = 0) -> list[Task]:
    """The first `count` storyboards of a seed; fewer are the first of more.

    What the planner does not read as it was meant is left out, as in the built-in world: that says nothing about
    drawing, judging and drawing again.
    """
    return list(islice((task for task in _at_random(seed) if read_as_meant(task)), count))


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


def _at_random(seed: int) -> Iterator[Task]:
    rng = Random(f"ablation/miniature/{seed}")
    number = 0
    while True:
        scenes = [random_scene(rng, rng.choice((1, 2, 2)))]
        length = rng.choice((3, 4))
        while len(scenes) < length:
            scenes.append(_next(scenes[-1], rng))
        request = "\n".join(f"{place}. {describe(scene)}" for place, scene in enumerate(scenes, 1))
        yield Task(f"random {seed}/{number}", request, tuple(scenes))
        number += 1


def _next(scene: Scene, rng: Random) -> Scene:
    """The scene with one change, or another one in which something of it is seen again; never an empty one."""
    if rng.random() >= _NEW:
        after = random_edit(rng, scene).after
        return after if after.things else _next(scene, rng)
    hero = rng.choice(scene.things)
    others = random_scene(rng, rng.choice((1, 2))).things
    company = tuple(thing for thing in others if thing.kind != hero.kind and thing.cell != hero.cell)
    ground = rng.choice([one for one in BACKGROUNDS if one != scene.background])
    return replace(scene, background=ground, things=(hero, *company))
