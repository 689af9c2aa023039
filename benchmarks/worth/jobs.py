"""Cells of the ablation as work that processes can share: each takes a task through all cells."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context

from worth.arms import KEEP_BEST, KEEP_LAST, Result, run_arm, run_loop
from worth.bootstrap import Sums
from worth.world import OWN, Job, Task, World

#: Name of the row in which the built-in critic judges.
PIXEL = "plan+pixel critic, keep best"

Measured = dict[str, list[Sums]]


def run_jobs(jobs: Sequence[Job], world: World, *, workers: int = 1) -> list[Measured]:
    """All jobs, in their order, by so many processes: sums per arm and task.

    A task is in one process through all its cells, so that what it asks for again need not be drawn again.
    """
    numbers = range(max(job.tasks for job in jobs))
    work = partial(_of_task, tuple(jobs), world)
    if workers == 1:
        return _joined(jobs, map(work, numbers))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return _joined(jobs, pool.map(work, numbers))


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
        of_right=sum(row.of_right for row in rows),
        false_accepts=sum(row.false_accepts for row in rows),
        false_rejects=sum(row.false_rejects for row in rows),
    )


def _joined(jobs: Sequence[Job], tasks: Iterable[list[dict[str, Sums]]]) -> list[Measured]:
    found: list[Measured] = [{} for _ in jobs]
    for of_jobs in tasks:
        for measured, of_job in zip(found, of_jobs, strict=True):
            for arm, sums in of_job.items():
                measured.setdefault(arm, []).append(sums)
    return found


def _of_task(jobs: Sequence[Job], world: World, number: int) -> list[dict[str, Sums]]:
    """The task of this number through every job that has so many."""
    return asyncio.run(_through(jobs, world, number))


async def _through(jobs: Sequence[Job], world: World, number: int) -> list[dict[str, Sums]]:
    most = max(job.tasks for job in jobs)
    return [
        await _measured(job, world, _tasks(world, job.preset, most)[number]) if number < job.tasks else {}
        for job in jobs
    ]


async def _measured(job: Job, world: World, task: Task) -> dict[str, Sums]:
    found: dict[str, Sums] = {}
    for seed in range(job.seeds):
        for arm, result in (await _results(job, world, task, seed)).items():
            found[arm] = found.get(arm, Sums()) + sums_of([result])
    return found


async def _results(job: Job, world: World, task: Task, seed: int) -> dict[str, Result]:
    setting, results = world.setting(job), dict[str, Result]()
    for arm in job.arms:
        if arm == PIXEL:
            results[arm] = await run_arm(world, KEEP_BEST, task, setting, seed=seed, judging=OWN)
        elif arm not in (KEEP_LAST, KEEP_BEST):
            results[arm] = await run_arm(world, arm, task, setting, seed=seed, judging=job.error)
        elif KEEP_LAST not in job.arms:
            results[arm] = await run_arm(world, arm, task, setting, seed=seed, judging=job.error, attempts=job.attempts)
        elif arm not in results:
            results |= await run_loop(world, task, setting, seed=seed, judging=job.error, attempts=job.attempts)
    return results


@cache
def _tasks(world: World, preset: str, count: int) -> tuple[Task, ...]:
    return tuple(world.tasks(count, preset))
