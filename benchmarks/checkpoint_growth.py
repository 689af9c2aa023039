"""How much a checkpointer stores per step, with 1.5 kB of plan text a step: prints JSON.

Three turns on one thread with SqliteSaver; bytes of checkpoints, metadata and writes.

    python benchmarks/checkpoint_growth.py --steps 10 100
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_interleave import Limits, create_interleave_graph
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan

STORED = (
    "select (select sum(length(checkpoint) + length(metadata)) from checkpoints)"
    " + (select coalesce(sum(length(value)), 0) from writes)"
)


def growth(count: int, folder: Path, *, revise: bool) -> dict[str, Any]:
    """Bytes per step of a chain of `count` steps, and how the turns compare."""
    plan = simple_plan(count)
    steps = tuple(
        step.model_copy(update={"title": "t" * 40, "instruction": "i" * 500, "prompt": "p" * 800, "caption": "c" * 160})
        for step in plan.steps
    )
    critic = ScriptedCritic(lambda asked: "revise" if revise and asked.attempt == 0 else "accept")
    with SqliteSaver.from_conn_string(str(folder / f"{count}-{revise}.sqlite")) as saver:
        graph = create_interleave_graph(
            ScriptedPlanner(plan.model_copy(update={"steps": steps})),
            ScriptedBackend(),
            critic,
            limits=Limits(max_steps=count),
            checkpointer=saver,
        )
        totals = [0]
        for _ in range(3):
            result = graph.invoke({"request": "x"}, {"configurable": {"thread_id": "t"}})
            assert result["outcome"] == "complete"
            totals.append(saver.conn.execute(STORED).fetchone()[0])
    first, second, third = (after - before for before, after in itertools.pairwise(totals))
    return {
        "steps": count,
        "attempts_per_step": 2 if revise else 1,
        "bytes_per_step": round(first / count),
        "second_turn_over_first": round(second / first, 3),
        "third_turn_over_second": round(third / second, 3),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs="+", default=[10, 100])
    counts = parser.parse_args().steps
    with tempfile.TemporaryDirectory() as folder:
        rows = [growth(count, Path(folder), revise=revise) for count in counts for revise in (False, True)]
    print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
