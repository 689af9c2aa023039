"""Many runs at once in one process, and one very long run: prints JSON.

    python benchmarks/scale.py --json [--runs 100] [--at-once 8] [--quick]

Concurrency: `runs` six-step runs of one graph on the simulator start at the same moment. At most `at_once` drawings
go on at a time, as a provider would have it, and each takes `LATENCY_S` beside what the simulator computes. Nothing
can be done before the drawings are: `ideal` is their number times `LATENCY_S`, divided by `at_once`, with everything
else for nothing (judging, planning, computing, all of LangGraph). What is told is how long a run took, of all runs.

Memory: one run of 10 steps and one of 100, each in a process of its own, with pictures of 1 MB that build on one
another, a store in a folder and a SQLite checkpointer. What is told is the peak of resident memory.

Exits with 1 where a run is not complete or a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph_interleave import ArtifactStore, InterleaveContext, Limits, create_interleave_graph
from langgraph_interleave.backends.simulator import SimulatorBackend
from langgraph_interleave.critic import OnText
from langgraph_interleave.types import (
    Capabilities,
    Critique,
    CritiqueRequest,
    CritiqueResult,
    ImageBytes,
    ImageRequest,
    ImageResult,
    OnProgress,
    Usage,
)

LATENCY_S = 0.6
REQUEST = "How to plant a bean, in 6 steps"
#: The 95th percentile over the ideal, and the growth of peak memory in MB: expected at most.
P95_BAR, MEMORY_BAR_MB = 1.5, 60.0
STEPS = (10, 100)
#: Side of a picture of noise whose PNG has 1 MB.
SIDE = 590


class Counter:
    """A backend that serves so many at once, as at the counter of a shop."""

    name = "counter"

    def __init__(self, backend: SimulatorBackend, at_once: int) -> None:
        self._backend = backend
        self._places = asyncio.Semaphore(at_once)
        self.fingerprint = backend.fingerprint
        self.companions = backend.companions
        self.drawn = 0

    @property
    def capabilities(self) -> Capabilities:
        """What the backend behind it can do."""
        return self._backend.capabilities

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Wait for a place, then draw."""
        async with self._places:
            self.drawn += 1
            return await self._backend.agenerate(request, on_progress=on_progress)


async def many(runs: int, at_once: int, latency_s: float) -> dict[str, Any]:
    """Start all runs at the same moment, and wait for them."""
    counter = Counter(SimulatorBackend(latency_s=latency_s), at_once)
    # As many attempts as it takes: the simulator's faults are no part of what is measured.
    graph = create_interleave_graph(backend=counter, lookahead=False, size="128x128", limits=Limits(max_attempts=12))
    await graph.ainvoke({"request": "A bean, in 1 step"})  # warm-up: imports
    counter.drawn = 0

    async def one(seed: int) -> tuple[str, float]:
        began = time.perf_counter()
        result = await graph.ainvoke({"request": REQUEST}, context=InterleaveContext(seed=seed))
        return result["outcome"], time.perf_counter() - began

    began, computed = time.perf_counter(), time.process_time()
    found = await asyncio.gather(*(one(seed) for seed in range(runs)))
    seconds, cpu = time.perf_counter() - began, time.process_time() - computed
    spans = sorted(span for _, span in found)
    ideal = counter.drawn * latency_s / at_once
    p95 = spans[min(len(spans) - 1, int(0.95 * len(spans)))]
    outcomes = [outcome for outcome, _ in found]
    return {
        "runs": runs,
        "at_once": at_once,
        "latency_s": latency_s,
        "drawings": counter.drawn,
        "outcomes": {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))},
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "ideal_s": round(ideal, 2),
        "median_s": round(spans[len(spans) // 2], 2),
        "p95_s": round(p95, 2),
        "p95_over_ideal": round(p95 / ideal, 3),
    }


def long_run(steps: int) -> dict[str, Any]:
    """One run in this process: its peak of resident memory, in MB."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    from langgraph_interleave.testing import ScriptedPlanner, noise_card, simple_plan

    class Painter:
        """Draws noise. The scripted roles remember every picture they were given; this one none."""

        name = fingerprint = "painter"
        capabilities = Capabilities(edit="instruct", max_references=4, seed="exact", concurrency=8)

        async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
            card: ImageBytes = await asyncio.to_thread(noise_card, request.prompt, seed=request.seed or 0, side=SIDE)
            return ImageResult((card,), usage=Usage(images=1, cost_usd=0.0))

    class Judge:
        """Wants every third picture once more."""

        billed = False
        fingerprint = "judge"

        async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
            again = request.attempt == 0 and int(request.instruction.split("thing ")[1].rstrip(".")) % 3 == 0
            return CritiqueResult(Critique(verdict="revise" if again else "accept"))

    with tempfile.TemporaryDirectory() as folder, SqliteSaver.from_conn_string(f"{folder}/checkpoints.sqlite") as saver:
        graph = create_interleave_graph(
            ScriptedPlanner(simple_plan(steps)),
            Painter(),
            Judge(),
            limits=Limits(max_steps=steps),
            artifacts=ArtifactStore.folder(Path(folder) / "store"),
            checkpointer=saver,
        )
        result = graph.invoke({"request": "x"}, {"configurable": {"thread_id": "t"}})
        stored = sum(path.stat().st_size for path in (Path(folder) / "store").rglob("*") if path.is_file())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    return {
        "steps": steps,
        "outcome": result["outcome"],
        "pictures": result["spend"]["images"],
        "stored_mb": round(stored / 1e6, 1),
        "peak_mb": round(peak, 1),
    }


def memory(steps: Sequence[int]) -> dict[str, Any]:
    """Every length in a process of its own."""
    rows: list[dict[str, Any]] = []
    for count in steps:
        command = [sys.executable, __file__, "--long", str(count)]
        rows.append(json.loads(subprocess.run(command, capture_output=True, check=True, timeout=600).stdout))
    return {"runs": rows, "growth_mb": round(rows[-1]["peak_mb"] - rows[0]["peak_mb"], 1)}


def table(result: dict[str, Any]) -> str:
    """As text, for people."""
    runs, kept = result["concurrency"], result["memory"]
    said = (
        f"{runs['runs']} runs at once, {runs['at_once']} drawings at a time: {runs['outcomes']}; 95 % within "
        f"{runs['p95_s']:.1f} s, {runs['p95_over_ideal']:.2f} x the ideal {runs['ideal_s']:.1f} s"
    )
    lines = [
        said,
        *(
            f"{row['steps']} steps, {row['stored_mb']:.0f} MB of pictures: {row['peak_mb']:.0f} MB"
            for row in kept["runs"]
        ),
        f"growth: {kept['growth_mb']:.1f} MB",
    ]
    return "\n".join((*lines, ""))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description="Many runs at once, and one very long run.")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--runs", type=int, help="runs at the same moment (default 100; quick: 10)")
    parser.add_argument("--at-once", type=int, default=8, help="drawings at a time")
    parser.add_argument("--quick", action="store_true", help="ten runs, and 20 steps for the long one")
    parser.add_argument("--long", type=int, metavar="STEPS", help="one long run in this process")
    options = parser.parse_args(arguments)
    if options.long:
        print(json.dumps(long_run(options.long)))
        return 0
    runs = options.runs or (10 if options.quick else 100)
    result: dict[str, Any] = {
        "concurrency": asyncio.run(many(runs, options.at_once, 0.1 if options.quick else LATENCY_S)),
        "memory": memory((5, 20) if options.quick else STEPS),
        "expected": {"p95_over_ideal": P95_BAR, "growth_mb": MEMORY_BAR_MB},
    }
    concurrency, kept = result["concurrency"], result["memory"]
    whole = concurrency["outcomes"] == {"complete": runs} and all(row["outcome"] == "complete" for row in kept["runs"])
    kept_to = concurrency["p95_over_ideal"] <= P95_BAR and kept["growth_mb"] <= MEMORY_BAR_MB
    sys.stdout.write(json.dumps(result, indent=1) + "\n" if options.json else table(result))
    return 0 if whole and (kept_to or options.quick) else 1


if __name__ == "__main__":
    raise SystemExit(main())
