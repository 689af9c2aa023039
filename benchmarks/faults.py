"""What random faults do to random runs: each has to end in time, cost what it says, and leave nothing behind.

    python benchmarks/faults.py --json [--runs 1000] [--seed 0] [--first 0] [--at-once 8]

Planner and critic are chat models, the backend draws test cards, and all three fail as their schedules
say (`langgraph_interleave.testing`); plan, limits, options, faults and the way of calling are drawn from
the seed and the run's number: `--seed S --first N --runs 1` is run N again. Of every run is demanded:

  it ends in a document or in an error of this package (or as cancelled, where it was), by its deadline;
  its spend is what its records say, and what roles counted for themselves: see `faulty_run.balance`;
  afterwards no call is under way, and the planted key and picture are in no document, record or event.

And of all together: no task or thread of a run is left, no file is open, none lies about, and nobody
complained of an exception that was never retrieved. The exit code is 1 if anything of this does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from faulty_run import FaultyRun, Result

from langgraph_interleave import background
from langgraph_interleave.background import background_loop
from langgraph_interleave.testing.faults.provider import exception_of

#: Said by asyncio, threading or the interpreter of what was left lying.
_COMPLAINTS = ("never retrieved", "was destroyed but it is pending", "was never awaited", "Exception ignored")
#: Threads of the package's own: loops stay, the others end when they are idle.
_STAY, _IDLE = ("MainThread", "interleave-loop"), ("interleave-work", "interleave-store", "asyncio_", "sync")
_IDLE_S = 12.0
#: A loop of its own that hears nothing for longer than this makes every deadline late, in seconds.
_LAG_S = 0.05


class Ears(logging.Handler):
    """Hears complaints, wherever they are made."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        words = record.getMessage()
        if any(complaint in words for complaint in _COMPLAINTS):
            self.heard.append(words)

    def unraisable(self, hook: Any) -> None:
        self.heard.append(f"Exception ignored: {hook.err_msg} {hook.exc_value!r}")


class Before:
    """What there was before the runs: tasks, threads and open files."""

    def __init__(self) -> None:
        self._threads = set(threading.enumerate())
        self._tasks = self._running()
        self._files = _files()

    def more(self, *, idle: bool) -> list[str]:
        """What there is now besides.

        Args:
            idle: Idle threads of the package's pools are let pass.
        """
        pools = _IDLE if idle else ("sync", "asyncio_")
        threads = [thread.name for thread in set(threading.enumerate()) - self._threads]
        tasks = [str(task.get_coro()) for task in self._running() - self._tasks]
        files = Counter(map(_sort, _files())) - Counter(map(_sort, self._files))
        return [
            *(f"thread: {name}" for name in threads if not name.startswith((*_STAY, *pools))),
            *(f"task: {name[:120]}" for name in tasks if "Lag.watch" not in name),
            *(f"open: {name}" for name in files.elements()),
        ]

    @staticmethod
    def _running() -> set[asyncio.Task[Any]]:
        return asyncio.all_tasks(background_loop()) | asyncio.all_tasks()


class Lag:
    """How late the loops are: others on the machine make them so, and what is measured on them."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, float]] = []
        self.over = False

    def since(self, moment: float) -> float:
        """The longest that anything on the loops was late since then, in seconds."""
        return max((late for when, late in reversed(self._seen) if when >= moment), default=0.0)

    async def watch(self) -> None:
        while not self.over:
            asked = time.monotonic()
            await asyncio.sleep(_LAG_S)
            now = time.monotonic()
            self._seen.append((now, now - asked - _LAG_S))


async def measure(runs: int, seed: int, *, first: int = 0, at_once: int = 8, wait_idle: bool = True) -> dict[str, Any]:
    """Make the runs and look at what is left.

    Args:
        runs: How many.
        seed: Seed of all of them.
        first: Number of the first.
        at_once: How many at the same time.
        wait_idle: Wait until idle threads of the package are gone, and count them.
    """
    ears, lag = Ears(), Lag()
    logging.getLogger().addHandler(ears)
    unraisable, sys.unraisablehook = sys.unraisablehook, ears.unraisable
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    threads = ThreadPoolExecutor(at_once, "sync")
    places = asyncio.Semaphore(at_once)
    background_loop()
    before = Before()

    async def one(number: int) -> Result:
        async with places:
            return await FaultyRun(seed, number, folder, threads).measure(lag)

    background.submit(lag.watch)
    watching = asyncio.create_task(lag.watch())
    # Loaded at the first failure otherwise, which takes a second.
    exception_of("rate_limited", retry_after_s=0)
    started = time.monotonic()
    try:
        results = await asyncio.gather(*(one(first + number) for number in range(runs)))
        seconds = time.monotonic() - started
        left = await _left(before, folder, wait_idle=wait_idle)
    finally:
        lag.over = True
        watching.cancel()
        threads.shutdown(wait=False)
        logging.getLogger().removeHandler(ears)
        sys.unraisablehook = unraisable
        shutil.rmtree(folder, ignore_errors=True)
    left += ears.heard
    wrong = {str(result.number): result.wrong for result in results if result.wrong}
    return {
        "langgraph": version("langgraph"),
        "seed": seed,
        "runs": runs,
        "seconds": round(seconds, 1),
        "ends": dict(Counter(result.end for result in results).most_common()),
        "ways": dict(Counter(result.way for result in results).most_common()),
        "latest_s": round(max(result.late_s for result in results), 3),
        "loops_late_s": round(lag.since(started), 3),
        "counted_exactly": sum(result.exact for result in results),
        "calls": dict(sum((Counter(result.calls) for result in results), Counter())),
        "ambiguous": sum(result.ambiguous for result in results),
        "faults": table(results),
        "left": left,
        "wrong": wrong,
        "again": [f"python benchmarks/faults.py --json --seed {seed} --first {n} --runs 1" for n in wrong],
        "passed": not wrong and not left,
    }


def table(results: list[Result]) -> dict[str, Any]:
    """For each fault: in how many runs it happened, how often, and how these runs ended."""
    rows: dict[str, Any] = defaultdict(lambda: {"runs": 0, "happened": 0, "ends": Counter(), "marks": Counter()})
    for result in results:
        for name, times in result.faults.items():
            row = rows[name]
            row["runs"] += 1
            row["happened"] += times
            row["ends"][result.end] += 1
            row["marks"].update(result.marks)
    return {
        name: {**row, "ends": dict(row["ends"].most_common()), "marks": dict(row["marks"].most_common(8))}
        for name, row in sorted(rows.items())
    }


async def _left(before: Before, folder: Path, *, wait_idle: bool) -> list[str]:
    """What is still there of the runs: tasks, threads, open files, files of an unfinished write."""
    until = time.monotonic() + (_IDLE_S if wait_idle else 1.0)
    while True:
        gc.collect()
        await asyncio.sleep(0.1)
        left = before.more(idle=not wait_idle)
        if not left or time.monotonic() > until:
            break
    return [*left, *(f"lies about: {name}" for name in _lying(folder))]


def _files() -> list[str]:
    try:
        return [str(path.readlink()) for path in Path("/proc/self/fd").iterdir()]
    except OSError:
        return []  # not on Linux, or one that was closed meanwhile


def _sort(name: str) -> str:
    return name.partition(":")[0]  # sockets and pipes have numbers


def _lying(folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if path.suffix == ".tmp"]


def main() -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON (there is no other form)")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--at-once", type=int, default=8)
    given = parser.parse_args()
    logging.getLogger("langgraph_interleave").setLevel(logging.CRITICAL)
    figures = asyncio.run(
        measure(given.runs, given.seed, first=given.first, at_once=given.at_once, wait_idle=given.runs > 20)
    )
    json.dump(figures, sys.stdout, indent=2)
    sys.stdout.write("\n")
    return 0 if figures["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
