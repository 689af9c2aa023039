"""Whether to draw the next step before this one is judged: always, never, or where it is worth it.

A chain of six on the real graph, whose backend is billed for every picture and whose lost bets are therefore
paid in full. One stub second stands for `SCALE` seconds of a real provider. What is compared is the total:
dollars spent, and the waiting at what a second of it is worth. How often the critic accepts is what the graph
has to find out; it keeps what it has learned from one run to the next, as it does in a long-lived process.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, get_args

from langgraph_interleave import Limits, create_interleave_graph
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import (
    Capabilities,
    CritiqueRequest,
    ImageRequest,
    ImageResult,
    Lookahead,
    Plan,
    Usage,
)

#: Seconds of a drawing and of a critique, and how many real ones each stands for.
GENERATE_S, CRITIQUE_S, SCALE = 0.05, 0.04, 200.0
STEPS, ATTEMPTS = 6, 3
PRICE_USD = 0.02
#: What a real second is worth: the default of the graph.
SECOND_USD = 0.002
#: How often an attempt is accepted.
RATES = (0.95, 0.8, 0.6, 0.4, 0.2, 0.05)
WAYS: tuple[Lookahead, ...] = get_args(Lookahead)


@dataclass(slots=True)
class Row:
    """What one way took at one rate of acceptance, one entry a run."""

    rate: float
    lookahead: Lookahead
    seconds: list[float] = field(default_factory=list[float])
    dollars: list[float] = field(default_factory=list[float])
    lost: list[int] = field(default_factory=list[int])

    def data(self) -> dict[str, Any]:
        """As JSON; seconds are those they stand for."""
        seconds, dollars = statistics.fmean(self.seconds) * SCALE, statistics.fmean(self.dollars)
        return {
            "accepted": self.rate,
            "lookahead": self.lookahead,
            "seconds": round(seconds, 1),
            "dollars": round(dollars, 4),
            "lost_bets": round(statistics.fmean(self.lost), 2),
            "total_dollars": round(dollars + seconds * SECOND_USD, 4),
        }


class Bench:
    """A graph of stubs for one way and one rate; runs differ by their luck."""

    def __init__(self, rate: float, lookahead: Lookahead) -> None:
        self._rate = rate
        can = Capabilities(edit="instruct", max_references=4, seed="exact", concurrency=64, billed=True)
        self.backend = ScriptedBackend(self._draw, delay_s=GENERATE_S, capabilities=can)
        self.graph = create_interleave_graph(
            ScriptedPlanner(self._plan),
            self.backend,
            ScriptedCritic(self._judge, delay_s=CRITIQUE_S),
            limits=Limits(max_attempts=ATTEMPTS),
            lookahead=lookahead,
            early_start=False,
            second_usd=SECOND_USD * SCALE,
            style_in_prompts=False,
        )

    async def run(self, luck: int) -> tuple[float, float, int]:
        """One run: seconds, dollars, lost bets."""
        began, before = time.perf_counter(), len(self.backend.requests)
        result = await self.graph.ainvoke({"request": f"luck {luck}"})
        seconds = time.perf_counter() - began
        drawn = len(self.backend.requests) - before
        return seconds, drawn * PRICE_USD, int(result["spend"]["wasted"])

    @staticmethod
    def _plan(request: PlanRequest) -> Plan:
        plan = simple_plan(STEPS)
        steps = [
            step.model_copy(update={"instruction": f"{request.request.text} step {step.index}"}) for step in plan.steps
        ]
        return plan.model_copy(update={"steps": tuple(steps)})

    def _judge(self, asked: CritiqueRequest) -> str:
        return "accept" if Random(f"{asked.instruction}/{asked.attempt}").random() < self._rate else "revise"

    @staticmethod
    def _draw(asked: ImageRequest) -> ImageResult:
        return ImageResult((noise_card(asked.prompt, seed=asked.seed or 0),), usage=Usage(images=1, cost_usd=PRICE_USD))


async def measure(runs: int, rates: Sequence[float] = RATES) -> list[dict[str, Any]]:
    """The table: every rate under every way, runs of the ways in turn."""
    rows: list[dict[str, Any]] = []
    for rate in rates:
        benches = [(Row(rate, way), Bench(rate, way)) for way in WAYS]
        for luck in range(runs):
            for row, bench in benches:
                seconds, dollars, lost = await bench.run(luck)
                row.seconds.append(seconds)
                row.dollars.append(dollars)
                row.lost.append(lost)
        rows += [row.data() for row, _ in benches]
    return rows


def table(rows: Sequence[dict[str, Any]]) -> str:
    """As a Markdown table, for people."""
    said = (
        f"A picture costs ${PRICE_USD:.2f}, a second of waiting ${SECOND_USD:.3f}; "
        f"a drawing takes {GENERATE_S * SCALE:.0f} s, a critique {CRITIQUE_S * SCALE:.0f} s; a chain of {STEPS}."
    )
    lines = [
        said,
        "",
        "| accepted | never: s, $ | always: s, $ | by value: s, $ | total never | always | by value |",
        "|---|---|---|---|---|---|---|",
    ]
    for rate in dict.fromkeys(row["accepted"] for row in rows):
        of = {row["lookahead"]: row for row in rows if row["accepted"] == rate}
        spent = [f"{of[way]['seconds']:.0f}, {of[way]['dollars']:.3f}" for way in ("never", "always", "value")]
        totals = [f"{of[way]['total_dollars']:.3f}" for way in ("never", "always", "value")]
        lines.append(f"| {rate:.0%} | {' | '.join((*spent, *totals))} |")
    return "\n".join((*lines, ""))
