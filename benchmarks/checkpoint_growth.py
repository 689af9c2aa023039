"""How much a checkpointer stores per step, with 1.5 kB of plan text a step: prints JSON.

Two turns on one thread with SqliteSaver; bytes of checkpoints, metadata and writes.

    python benchmarks/checkpoint_growth.py --steps 10 100
"""

from __future__ import annotations

import argparse
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
    """Bytes per step of a chain of `count` steps, first and second turn."""
    plan = simple_plan(count)
    steps = tuple(
        step.model_copy(update={"instruction": "i" * 500, "prompt": "p" * 500, "caption": "c" * 500})
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
        for _ in range(2):
            result = graph.invoke({"request": "x"}, {"configurable": {"thread_id": "t"}})
            assert result["outcome"] == "complete"
            totals.append(saver.conn.execute(STORED).fetchone()[0])
    first, second = totals[1] - totals[0], totals[2] - totals[1]
    return {
        "steps": count,
        "attempts_per_step": 2 if revise else 1,
        "bytes_per_step": round(first / count),
        "second_turn_over_first": round(second / first, 3),
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
