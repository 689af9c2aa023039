"""The arms of the ablation: what each does with a task, and what that cost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from worth.critics import BestOf, Watched
from worth.world import OWN, Artist, Judging, Task, World

from langgraph_interleave import Limits, create_interleave_graph
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.context import derive_seed
from langgraph_interleave.critic import Critic
from langgraph_interleave.critics.unjudged import Unjudged
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.types import ImageRequest, OnExhausted, PlanDelta, PlanFinished

#: Attempts per step of the arms with a critic: the default of the graph.
ATTEMPTS = 3

#: One picture for each asked step, all from the whole request as it is.
ONE_SHOT = "one-shot"
#: Each step from its own prompt as the planner wrote it, no references.
REWRITE_ONLY = "rewrite-only"
#: The plan with its references, no critic.
PLAN_ONLY = "plan-only"
#: The plan; candidates of each step from the same prompt, ranked by the critic.
BEST_OF_2, BEST_OF_3, BEST_OF_4 = "plan, best of 2", "plan, best of 3", "plan, best of 4"
#: The loop, by what it keeps when no attempt was accepted.
KEEP_LAST, KEEP_BEST = "plan+critic, keep last", "plan+critic, keep best"
#: How many candidates.
CANDIDATES = {BEST_OF_2: 2, BEST_OF_3: 3, BEST_OF_4: 4}
ARMS = (ONE_SHOT, REWRITE_ONLY, PLAN_ONLY, *CANDIDATES, KEEP_LAST, KEEP_BEST)
#: Arms in which somebody judges.
JUDGED = (*CANDIDATES, KEEP_LAST, KEEP_BEST)


@dataclass(frozen=True, slots=True)
class Result:
    """What one arm made of one task.

    Attributes:
        right: For each asked step, whether the delivered picture is right.
        contained: The same by the lenient rule.
        drawings: Generator calls.
        critiques: Critic calls.
        exhausted: Steps none of whose attempts was accepted.
        of_right: Critic calls on right pictures.
        false_accepts: Wrong pictures the critic passed.
        false_rejects: Right pictures it sent back.
    """

    right: tuple[bool, ...]
    contained: tuple[bool, ...]
    drawings: int
    critiques: int = 0
    exhausted: int = 0
    of_right: int = 0
    false_accepts: int = 0
    false_rejects: int = 0


async def run_arm(
    world: World,
    arm: str,
    task: Task,
    setting: Any,
    *,
    seed: int,
    judging: Judging = None,
    attempts: int = ATTEMPTS,
) -> Result:
    """Let an arm carry out a task.

    Args:
        world: Where.
        arm: One of `ARMS`.
        task: What is asked.
        setting: How the world's artist draws.
        seed: Of the artist, of the run and of the critic's coin. Equal seeds are equal luck: the
            first drawing of a step is the same in every arm that asks for the same thing.
        judging: Who judges; needed by the arms in `JUDGED`.
        attempts: Per step, in the arms with a loop.
    """
    seed, own = world.luck(task, seed), judging == OWN
    artist = world.artist(setting, seed=seed, own=own)
    run = _Run(world, task, artist, seed, world.side(own=own))
    if arm in (ONE_SHOT, REWRITE_ONLY):
        return await run.without_graph(arm)
    if arm not in JUDGED:
        return await run.with_graph(artist, Unjudged(), attempts=1)
    assert judging is not None, f"the arm {arm!r} needs a critic"
    judge = Watched(world.critic(artist, judging, seed=seed), artist)
    if arm in CANDIDATES:
        plan = world.planned(task.request).plan

        def instruction(request: ImageRequest) -> str:
            return world.instruction(request, plan, seed)

        result = await run.with_graph(BestOf(artist, judge, CANDIDATES[arm], instruction), Unjudged(), attempts=1)
    else:
        result = await run.with_graph(artist, judge, attempts=attempts, keep="last" if arm == KEEP_LAST else "best")
    return replace(
        result,
        critiques=judge.critiques,
        of_right=judge.of_right,
        false_accepts=judge.false_accepts,
        false_rejects=judge.false_rejects,
    )


async def run_loop(
    world: World, task: Task, setting: Any, *, seed: int, judging: Judging, attempts: int = ATTEMPTS
) -> dict[str, Result]:
    """The loop, keeping the last and keeping the best.

    Until a step is exhausted both are the same run, call for call; so the second is run only where
    one was.
    """
    best = await run_arm(world, KEEP_BEST, task, setting, seed=seed, judging=judging, attempts=attempts)
    last = best
    if best.exhausted:
        last = await run_arm(world, KEEP_LAST, task, setting, seed=seed, judging=judging, attempts=attempts)
    return {KEEP_LAST: last, KEEP_BEST: best}


@dataclass(frozen=True, slots=True)
class _Run:
    """A task in the hands of an artist."""

    world: World
    task: Task
    artist: Artist
    seed: int
    side: int

    async def without_graph(self, arm: str) -> Result:
        if arm == ONE_SHOT:
            prompts: Sequence[str] = [self.task.request] * len(self.task.scenes)
        else:
            prompts = self.world.alone(self.world.planned(self.task.request).plan)
        shown: list[Any | None] = []
        for number, words in enumerate(prompts):
            seed = derive_seed(self.seed, number, 0)
            drawn = await self.artist.agenerate(ImageRequest(words, seed=seed, width=self.side, height=self.side))
            shown.append(self.artist.shown(drawn.images[0].sha256))
        return self._result(shown)

    async def with_graph(
        self, backend: ImageBackend, critic: Critic, *, attempts: int, keep: OnExhausted = "best"
    ) -> Result:
        graph = create_interleave_graph(
            _Planner(self.world),
            backend,
            critic,
            limits=Limits(max_attempts=attempts),
            on_exhausted=keep,
            checks=(),
            lookahead=False,
            size=f"{self.side}x{self.side}",
            style_in_prompts=self.world.style_in_prompts,
            seed=self.seed,
        )
        document = (await graph.ainvoke({"request": self.task.request}))["document"]
        steps: list[dict[str, Any]] = document["steps"]
        shown = [self.artist.shown(step["image"]["sha256"]) if step["image"] else None for step in steps]
        exhausted = sum(step["outcome"] == "exhausted" for step in steps)
        return replace(self._result(shown), exhausted=exhausted)

    def _result(self, shown: Sequence[Any | None]) -> Result:
        asked = self.task.scenes
        lenient = tuple(self.world.contains(have, want) for have, want in zip(shown, asked, strict=False))
        missing = (False,) * (len(asked) - len(lenient))
        return Result(self.world.rightness(shown, asked), (*lenient, *missing), self.artist.drawings)


class _Planner:
    """The world's planner, asked once about each request: it answers the same every time."""

    billed = False
    fingerprint = "asked once"

    def __init__(self, world: World) -> None:
        self._world = world

    async def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        finished: PlanFinished = self._world.planned(request.request.text)
        yield finished
