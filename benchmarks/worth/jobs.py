"""Cells of the ablation as jobs that processes can share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context

from worth.arms import KEEP_BEST, KEEP_LAST, Error, Result, run_arm, run_loop, run_pixel
from worth.bootstrap import Sums
from worth.tasks import Task, tasks

from langgraph_interleave.world.presets import Preset, preset

#: Name of the row in which the built-in critic judges.
PIXEL = "plan+pixel critic, keep best"


@dataclass(frozen=True, slots=True)
class Job:
    """One cell: an artist, a critic, and the arms to run with them.

    Attributes:
        preset: Name of the fault preset.
        scale: What its rates are multiplied by.
        helps: What its two figures of how much words help are multiplied by; 0 is pure resampling.
        error: The critic's rates of false accepts and false rejects; `None` for arms without one.
        arms: What is run.
        tasks: How many tasks.
        seeds: How many seeds each.
    """

    preset: str
    scale: float
    helps: float
    error: Error | None
    arms: tuple[str, ...]
    tasks: int
    seeds: int = 1


Measured = dict[str, list[Sums]]


def artist_of(job: Job) -> Preset:
    """The job's preset as scaled."""
    base = preset(job.preset).scaled(job.scale)
    return base.model_copy(
        update={
            "plain_prompt_helps": base.plain_prompt_helps * job.helps,
            "refined_helps": base.refined_helps * job.helps,
        }
    )


def run_jobs(jobs: Sequence[Job], *, workers: int = 1) -> list[Measured]:
    """All jobs, in their order, by so many processes."""
    if workers == 1:
        return [measure(job) for job in jobs]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return list(pool.map(measure, jobs))


def measure(job: Job) -> Measured:
    """Run a job: sums per arm and task."""
    return asyncio.run(_measure(job))


async def _measure(job: Job) -> Measured:
    found: Measured = {}
    artist = artist_of(job)
    for task in _tasks(job.tasks):
        of_task: dict[str, Sums] = {}
        for seed in range(job.seeds):
            for arm, result in (await _results(job, task, artist, seed)).items():
                of_task[arm] = of_task.get(arm, Sums()) + sums_of([result])
        for arm, sums in of_task.items():
            found.setdefault(arm, []).append(sums)
    return found


async def _results(job: Job, task: Task, artist: Preset, seed: int) -> dict[str, Result]:
    results: dict[str, Result] = {}
    for arm in job.arms:
        if arm == PIXEL:
            results[arm] = await run_pixel(task, artist, seed=seed)
        elif arm in (KEEP_LAST, KEEP_BEST):
            if arm not in results and job.error is not None:
                results |= await run_loop(task, artist, seed=seed, error=job.error)
        else:
            results[arm] = await run_arm(arm, task, artist, seed=seed, error=job.error)
    return results


def sums_of(results: Iterable[Result]) -> Sums:
    """Results as sums."""
    rows = list(results)
    return Sums(
        steps=sum(len(row.right) for row in rows),
        right=sum(sum(row.right) for row in rows),
        contained=sum(sum(row.contained) for row in rows),
        sequences=len(rows),
        whole=sum(all(row.right) for row in rows),
        drawings=sum(row.drawings for row in rows),
        critiques=sum(row.critiques for row in rows),
        exhausted=sum(row.exhausted for row in rows),
    )


@cache
def _tasks(count: int) -> tuple[Task, ...]:
    return tuple(tasks(count))
