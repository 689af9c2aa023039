"""What the loop is worth, and where it is worth nothing: prints JSON.

    python benchmarks/ablation.py --json [--quick] [--figure ablation.png]
    python benchmarks/ablation.py --world miniature --json [--quick] [--figure miniature.png]

The worlds. In the built-in one (`worth/builtin.py`) the truth is known: code draws, every fault is rolled at rates we
chose, and the critic of the grid is an oracle that flips a coin. Nothing there is a statement about any real image
model; it says how a loop behaves as its parts get better. In the miniature's world (`worth/miniature/world.py`) a
really trained diffusion model draws, with mistakes nobody scripted, and success is told by a second trained reader,
which shares neither seed nor data with the critic's. Its docstring says what that measure is good for.

The arms.
  one-shot         the request as it is, as one prompt, one picture for each asked step
  rewrite-only     each step drawn alone from its own prompt as the planner wrote it, no references
  plan-only        the planned steps, each building on the picture before; no critic
  plan, best of n  the same, n candidates a step from the same prompt, ranked by the critic
  plan+critic      the loop of this package, at most three attempts a step, keeping the last or the
                   best attempt where none was accepted
The last three run on the real graph; the first two have none.

When is a step right? Its picture must show what its line asks for (each thing with all that is said of it, on the
backdrop), what had to stay must have stayed, and nothing else may be there. The measure is the line, which every arm
was given, not the plan. A sequence is right when every step is. Beside it stands a lenient rule, under which it is
enough that all things asked for are somewhere in the picture: it forgives an arm that draws the whole request into
every picture. One prompt for n pictures cannot be n different steps: one-shot is low by construction. Who re-runs a
sequence until it is right is granted a free and infallible judge.

Where retries lose (`break_even`).
  price  the loop pays for critiques; re-running plan-only until a whole sequence is right pays only for
         drawings. `critique_price` is the highest price of a critique, in drawings, at which the loop
         still makes a right sequence for no more: (drawings per right sequence of plan-only x right
         share of the loop - its drawings) / its critiques. Below 0 the loop loses even if critiques are free.
  error  `map`: right steps of the loop less those of plan-only over the critic's two errors. Where an
         attempt's chances are always the same (pure resampling, unlimited attempts) a loop gains while
         false accepts + false rejects < 1, that is while the critic is better than a coin.
  best of n  `equal_drawings`: the loop against best-of-n mixed so that both draw as many pictures.
  words  `step_over_resampling`: the loop with the critic's prompts less the same loop that only draws again
         (`helps` 0).

Intervals are 95 %, from a bootstrap over tasks, paired: every arm meets the same tasks and the same luck.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from worth import arms
from worth.bootstrap import RESAMPLES
from worth.jobs import run_jobs
from worth.report import report
from worth.world import World

from langgraph_interleave.errors import ConfigError

#: Versions told with the results, where they are installed.
PACKAGES = ("langgraph-interleave", "langgraph", "langchain-core", "pillow")
DRAWING = ("langgraph-interleave-miniature", "torch", "diffusers", "transformers")


def world_of(name: str, weights: Path | None = None) -> World:
    """A world by name.

    Args:
        name: `builtin` or `miniature`.
        weights: The miniature's, where they are not those of its package.

    Raises:
        SystemExit: The miniature is not installed.
    """
    if name == "miniature":
        try:
            from worth.miniature.world import MiniatureWorld
        except ImportError as error:
            raise SystemExit(f"The miniature is not installed ({error}): pip install -e ./miniature") from error
        return MiniatureWorld(weights)
    from worth.builtin import WORLD

    return WORLD


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description="What the loop is worth in the built-in world, or on the miniature.")
    parser.add_argument("--world", choices=("builtin", "miniature"), default="builtin")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--quick", action="store_true", help="a few cells and tasks, in seconds")
    parser.add_argument("--tasks", type=int, help="how many requests (default 60; quick: 6)")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds for each")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="how many processes")
    parser.add_argument("--figure", type=Path, metavar="PATH", help="also draw the figure (needs the extra plots)")
    parser.add_argument("--from", type=Path, dest="saved", metavar="JSON", help="take these results, measure nothing")
    parser.add_argument("--weights", type=Path, metavar="FOLDER", help="of the miniature (default: its package's)")
    options = parser.parse_args(arguments)
    world = world_of(options.world, options.weights)
    if options.saved is not None:
        result = json.loads(options.saved.read_text(encoding="utf-8"))
        result["notes"] = world.notes(result)
    else:
        tasks = options.tasks or (6 if options.quick else 60)
        try:
            result = run(world, tasks, options.seeds, options.workers, options.quick)
        except ConfigError as error:
            raise SystemExit(str(error)) from error
    if options.figure is not None:
        world.draw(result, options.figure)
    sys.stdout.write(json.dumps(result, indent=1) + "\n" if options.json else table(world, result))
    return 0


def run(world: World, tasks: int, seeds: int, workers: int, quick: bool) -> dict[str, Any]:
    """Measure everything."""
    began = time.perf_counter()
    more = world.parameters()
    jobs = world.jobs(tasks, seeds, quick=quick)
    result = report(jobs, run_jobs(jobs, world, workers=workers))
    parameters = {
        "world": world.name,
        "tasks": tasks,
        "seeds": seeds,
        "attempts": arms.ATTEMPTS,
        "resamples": RESAMPLES,
        **more,
    }
    packages = (*PACKAGES, *(DRAWING if world.name == "miniature" else ()))
    versions = {"python": sys.version.split()[0], **{name: _version(name) for name in packages}}
    measured = {"seconds": round(time.perf_counter() - began, 1), "notes": world.notes(result)}
    return {"parameters": parameters, "versions": versions, **result, **measured}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def table(world: World, result: dict[str, Any]) -> str:
    """The rows of the headline cell, for people."""
    lines = [f"{'arm':<46}{'steps right':>24}{'sequences right':>24}{'drawings':>10}{'critiques':>10}"]
    for row in filter(world.is_headline, result["rows"]):
        shares = "".join(
            f"{100 * row[name]['value']:>9.0f} % ({100 * row[name]['low']:3.0f}-{100 * row[name]['high']:3.0f})"
            for name in ("step", "sequence")
        )
        lines.append(f"{_named(row):<46}{shares}{row['drawings_per_step']:>10.2f}{row['critiques_per_step']:>10.2f}")
    return "\n".join((*lines, *result["notes"], ""))


def _named(row: dict[str, Any]) -> str:
    looped = row["arm"] in (arms.KEEP_LAST, arms.KEEP_BEST) and row.get("attempts", arms.ATTEMPTS) != arms.ATTEMPTS
    words = f", {row['attempts']} attempts" if looped else ""
    return f"{row['arm']}{words}{'' if row['helps'] else ', resampling'}"


if __name__ == "__main__":
    raise SystemExit(main())
