"""Requests of the built-in world: storyboards whose lines say in full what each picture must show.

Every arm reads the same words and no arm lacks any: a line names the backdrop, every thing, its
number, colour, state and place, also of what merely stays. The ground truth is the scene a line was
written from, not what a planner made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, islice
from random import Random

from worth.world import Task

from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.types import Capabilities, Plan, PlanFinished, Request, TextPart
from langgraph_interleave.world.alternatives import CELLS, other_colors, other_states
from langgraph_interleave.world.grammar import describe, target
from langgraph_interleave.world.palette import COLORS
from langgraph_interleave.world.planner import plan_deltas
from langgraph_interleave.world.procedures.book import book
from langgraph_interleave.world.scene import Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

#: What the planner is told of the artist.
CAPABILITIES = Capabilities(edit="instruct", max_references=8, seed="exact", billed=False)


def tasks(count: int, *, seed: int = 0) -> list[Task]:
    """The first `count` tasks, taken in turn from the book of procedures and from chance until the book is used up.

    A storyboard of the book that the rule-based planner does not read as it was meant is left out
    (`misread`): that is a matter of its reading, the same in every arm that has a plan, and says
    nothing about drawing, judging and drawing again.

    Args:
        count: How many; fewer are the first of more.
        seed: Of the storyboards made at random.
    """
    from_book = (task for task in of_the_book() if read_as_meant(task))
    made = (task for task in at_random(seed) if read_as_meant(task))
    in_turn = chain.from_iterable((task, next(made)) for task in from_book)
    return list(islice(chain(in_turn, made), count))


def misread() -> list[str]:
    """Names of the book's storyboards that the planner does not read as they were meant."""
    return [task.name for task in of_the_book() if not read_as_meant(task)]


def of_the_book() -> Iterator[Task]:
    """A storyboard for every procedure that has two steps or more."""
    for procedure in book():
        scenes = tuple(step.scene for step in procedure.usual)
        if len(scenes) > 1:
            yield task_of(procedure.key, scenes)


def at_random(seed: int) -> Iterator[Task]:
    """Storyboards of three to five pictures in which every next one changes one thing; without end."""
    rng = Random(f"ablation/{seed}")
    number = 0
    while True:
        scenes = [_first(rng)]
        length = rng.choice((3, 4, 5))
        while len(scenes) < length:
            scenes.append(_next(scenes[-1], rng))
        yield task_of(f"random {number}", tuple(scenes))
        number += 1


def task_of(name: str, scenes: tuple[Scene, ...]) -> Task:
    """The task whose request lists these scenes."""
    return Task(name, "\n".join(f"{number}. {describe(scene)}" for number, scene in enumerate(scenes, 1)), scenes)


def plan_of(task: Task) -> Plan:
    """What the rule-based planner makes of the request."""
    return planned(task.request).plan


@lru_cache(maxsize=1000)
def planned(words: str) -> PlanFinished:
    """The end of the planner's answer to these words."""
    request = PlanRequest(request=Request(parts=(TextPart(text=words),)), capabilities=CAPABILITIES)
    last = plan_deltas(request)[-1]
    assert isinstance(last, PlanFinished)
    return last


def read_as_meant(task: Task) -> bool:
    """Whether the plan's instructions ask for exactly the scenes of the task."""
    asked = tuple(target(step.instruction) if step.instruction else None for step in plan_of(task).steps)
    return asked == task.scenes


def _first(rng: Random) -> Scene:
    cells = rng.sample(CELLS, 3)
    kinds = rng.sample([kind for kind in KINDS if kind != "card"], rng.choice((1, 2)))
    things = tuple(_thing(kind, cell, rng) for kind, cell in zip(kinds, cells, strict=False))
    return Scene(backdrop=rng.choice(list(BACKDROPS)), things=things)


def _thing(kind: str, cell: str, rng: Random) -> Thing:
    known = KINDS[kind]
    return Thing.model_validate(
        {
            "id": kind.replace(" ", "_"),
            "kind": kind,
            "color": rng.choice(list(COLORS)) if known.recolourable and rng.random() < 0.6 else None,
            "count": rng.choice((1, 1, 2, 3, 4)),
            "state": rng.choice(known.states) if known.states and rng.random() < 0.5 else None,
            "at": cell,
        }
    )


def _next(scene: Scene, rng: Random) -> Scene:
    """The scene with one thing more, or one thing otherwise."""
    there = {thing.kind for thing in scene.things}
    free = [cell for cell in CELLS if all(thing.at != cell for thing in scene.things)]
    if len(scene.things) < 3 and rng.random() < 0.5:
        kind = rng.choice([kind for kind in KINDS if kind != "card" and kind not in there])
        return scene.model_copy(update={"things": (*scene.things, _thing(kind, rng.choice(free), rng))})
    place = rng.randrange(len(scene.things))
    thing = scene.things[place]
    changes: list[dict[str, object]] = [{"count": thing.count + 1}, {"at": rng.choice(free)}]
    if thing.color is not None:
        changes.append({"color": rng.choice(other_colors(thing))})
    if thing.state is not None and other_states(thing):
        changes.append({"state": rng.choice(other_states(thing))})
    changed = thing.model_copy(update=rng.choice(changes))
    return scene.model_copy(update={"things": (*scene.things[:place], changed, *scene.things[place + 1 :])})
