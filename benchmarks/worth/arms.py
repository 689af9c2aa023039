"""The arms of the ablation: what each does with a task, and what that cost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from worth.artists import Artist, BestOf, Oracle, critic_of
from worth.tasks import Task, plan_of, planned
from worth.truth import contains, rightness

from langgraph_interleave import Limits, create_interleave_graph
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.context import derive_seed
from langgraph_interleave.critic import Critic
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.types import ImageRequest, OnExhausted, PlanDelta
from langgraph_interleave.world.critic import PixelCritic
from langgraph_interleave.world.grammar import prompt, target
from langgraph_interleave.world.presets import Preset
from langgraph_interleave.world.scene import Scene

#: Attempts per step of the arms with a critic: the default of the graph.
ATTEMPTS = 3
#: Side of the pictures in pixels. The oracle does not look at them.
SIDE = 64
#: Side of the pictures the pixel critic looks at.
SEEN_SIDE = 256

#: One picture for each asked step, all from the whole request as it is.
ONE_SHOT = "one-shot"
#: Each step from its own prompt as the planner wrote it, no references.
REWRITE_ONLY = "rewrite-only"
#: The plan with its references, no critic.
PLAN_ONLY = "plan-only"
#: The plan; candidates of each step from the same prompt, ranked by the critic.
BEST_OF_2, BEST_OF_3 = "plan, best of 2", "plan, best of 3"
#: The loop, by what it keeps when no attempt was accepted.
KEEP_LAST, KEEP_BEST = "plan+critic, keep last", "plan+critic, keep best"
ARMS = (ONE_SHOT, REWRITE_ONLY, PLAN_ONLY, BEST_OF_2, BEST_OF_3, KEEP_LAST, KEEP_BEST)
#: Arms in which somebody judges.
JUDGED = (BEST_OF_2, BEST_OF_3, KEEP_LAST, KEEP_BEST)

Error = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Result:
    """What one arm made of one task.

    Attributes:
        right: For each asked step, whether the delivered picture is right.
        contained: The same by the lenient rule.
        drawings: Generator calls.
        critiques: Critic calls.
        exhausted: Steps none of whose attempts was accepted.
    """

    right: tuple[bool, ...]
    contained: tuple[bool, ...]
    drawings: int
    critiques: int
    exhausted: int = 0


async def run_arm(arm: str, task: Task, preset: Preset, *, seed: int, error: Error | None = None) -> Result:
    """Let an arm carry out a task.

    Args:
        arm: One of `ARMS`.
        task: What is asked.
        preset: How often the artist errs, and how much words help.
        seed: Of the artist, of the run and of the critic's coin. Equal seeds are equal luck: the
            first drawing of a step is the same in every arm that asks for the same thing.
        error: The critic's rates of false accepts and false rejects; needed by the arms in `JUDGED`.
    """
    artist = Artist(preset, seed=seed)
    if arm in (ONE_SHOT, REWRITE_ONLY):
        return await _without_graph(arm, task, artist, seed)
    if arm not in JUDGED:
        return await _with_graph(task, artist, critic_of(artist, None, seed), artist, seed=seed, attempts=1)
    assert error is not None, f"the arm {arm!r} needs a critic"
    judge = Oracle(artist, false_accept=error[0], false_reject=error[1], seed=seed)
    if arm in (BEST_OF_2, BEST_OF_3):
        several = BestOf(artist, judge, 2 if arm == BEST_OF_2 else 3)
        result = await _with_graph(task, several, critic_of(artist, None, seed), artist, seed=seed, attempts=1)
    else:
        result = await _with_graph(task, artist, judge, artist, seed=seed, keep="last" if arm == KEEP_LAST else "best")
    return replace(result, critiques=judge.critiques)


async def run_loop(task: Task, preset: Preset, *, seed: int, error: Error) -> dict[str, Result]:
    """The loop, keeping the last and keeping the best.

    Until a step is exhausted both are the same run, call for call; so the second is run only where
    one was.
    """
    best = await run_arm(KEEP_BEST, task, preset, seed=seed, error=error)
    last = best if not best.exhausted else await run_arm(KEEP_LAST, task, preset, seed=seed, error=error)
    return {KEEP_LAST: last, KEEP_BEST: best}


async def run_pixel(task: Task, preset: Preset, *, seed: int) -> Result:
    """The loop with the built-in critic, which sees nothing but pixels."""
    artist = Artist(preset, seed=seed, pixels=True)
    counting = _Counting(PixelCritic())
    result = await _with_graph(task, artist, counting, artist, seed=seed, side=SEEN_SIDE)
    return replace(result, critiques=counting.critiques)


async def _without_graph(arm: str, task: Task, artist: Artist, seed: int) -> Result:
    if arm == ONE_SHOT:
        prompts: Sequence[str] = [task.request] * len(task.scenes)
    else:
        # What the planner wrote for the step, without the change to a picture it is not given.
        prompts = [prompt("", target(step.instruction or "")) for step in plan_of(task).steps]
    shown: list[Scene | None] = []
    for number, words in enumerate(prompts):
        request = ImageRequest(prompt=words, seed=derive_seed(seed, number, 0), width=SIDE, height=SIDE)
        drawn = await artist.agenerate(request)
        shown.append(artist.shown(drawn.images[0].sha256))
    return _result(task, shown, artist.drawings)


async def _with_graph(
    task: Task,
    backend: ImageBackend,
    critic: Critic,
    artist: Artist,
    *,
    seed: int,
    attempts: int = ATTEMPTS,
    keep: OnExhausted = "best",
    side: int = SIDE,
) -> Result:
    graph = create_interleave_graph(
        _Planner(),
        backend,
        critic,
        limits=Limits(max_attempts=attempts),
        on_exhausted=keep,
        checks=(),
        lookahead=False,
        size=f"{side}x{side}",
        seed=seed,
    )
    document = (await graph.ainvoke({"request": task.request}))["document"]
    steps: list[dict[str, Any]] = document["steps"]
    shown = [artist.shown(step["image"]["sha256"]) if step["image"] else None for step in steps]
    exhausted = sum(step["outcome"] == "exhausted" for step in steps)
    return replace(_result(task, shown, artist.drawings), exhausted=exhausted)


def _result(task: Task, shown: Sequence[Scene | None], drawings: int) -> Result:
    lenient = tuple(contains(have, asked) for have, asked in zip(shown, task.scenes, strict=False))
    missing = (False,) * (len(task.scenes) - len(lenient))
    return Result(rightness(shown, task.scenes), (*lenient, *missing), drawings, 0)


class _Planner:
    """The rule-based planner, asked once about each request: it answers the same every time."""

    billed = False
    fingerprint = "scene, asked once"

    async def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        yield planned(request.request.text)


class _Counting:
    """The pixel critic, counted."""

    billed = False

    def __init__(self, critic: PixelCritic) -> None:
        self._critic = critic
        self.fingerprint = critic.fingerprint
        self.critiques = 0

    async def acritique(self, request: Any, *, on_text: Any = None) -> Any:
        self.critiques += 1
        return await self._critic.acritique(request, on_text=on_text)
