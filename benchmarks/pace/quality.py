"""Whether candidates are worth having: how many steps come out right on the simulator, by its own ground truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from worth.artists import Artist, Oracle
from worth.tasks import planned, tasks
from worth.truth import rightness

from langgraph_interleave import Limits, create_interleave_graph
from langgraph_interleave.types import Plan

#: The critic errs in one case of ten, both ways.
ERROR = 0.1
#: How many candidates an attempt has, and whether steps are drawn ahead.
WAYS: tuple[tuple[int, str], ...] = ((1, "never"), (1, "always"), (2, "never"), (2, "always"))


async def measure(count: int, seeds: int = 2, preset: str = "default") -> list[dict[str, Any]]:
    """Steps that are right, of all that were asked for, under every way; the same tasks and luck for each."""
    found: dict[tuple[int, str], list[bool]] = {way: [] for way in WAYS}
    drawn: dict[tuple[int, str], int] = dict.fromkeys(WAYS, 0)
    for task in tasks(count):
        plan: Plan = planned(task.request).plan
        for seed in range(seeds):
            for way in WAYS:
                artist = Artist(preset, seed=seed)
                graph = create_interleave_graph(
                    plan,
                    artist,
                    Oracle(artist, false_accept=ERROR, false_reject=ERROR, seed=seed),
                    limits=Limits(max_attempts=3),
                    candidates=way[0],
                    lookahead=way[1],  # pyright: ignore[reportArgumentType]
                    checks=(),
                    size="64x64",
                    seed=seed,
                    style_in_prompts=False,
                )
                document = (await graph.ainvoke({"request": task.request}))["document"]
                shown = [artist.shown(one["image"]["sha256"]) if one["image"] else None for one in document["steps"]]
                found[way] += rightness(shown, task.scenes)
                drawn[way] += artist.drawings
    return [_row(way, found[way], drawn[way]) for way in WAYS]


def _row(way: tuple[int, str], right: Sequence[bool], drawings: int) -> dict[str, Any]:
    share = sum(right) / len(right)
    return {
        "candidates": way[0],
        "lookahead": way[1],
        "right": round(share, 4),
        "standard_error": round(math.sqrt(share * (1 - share) / len(right)), 4),
        "steps": len(right),
        "drawings_per_step": round(drawings / len(right), 2),
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """As a Markdown table, for people."""
    lines = ["| candidates | lookahead | steps that are right | drawings a step |", "|---|---|---|---|"]
    lines += [
        f"| {row['candidates']} | {row['lookahead']} | {row['right']:.1%} ± {row['standard_error']:.1%} | "
        f"{row['drawings_per_step']:.2f} |"
        for row in rows
    ]
    return "\n".join((*lines, ""))
