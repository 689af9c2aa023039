"""How fast the loop is on the real graph, beside a plain loop and an ideal scheduler: prints JSON.

    python benchmarks/loop.py --json [--seeds 40] [--quick]

The stubs are the same for both: step i of n is complete at 0.2 (i + 1) / n s of planning, a drawing
takes 0.10 s, a critique 0.06 s, 70 % of the attempts are accepted, three attempts at most. Which
attempts these are is fixed by the seed, so that graph, plain loop and bound meet the same luck.

  plain  plan, then for each step in order: draw, judge, and again until accepted
  ideal  what no scheduler can beat that knows the same things and has as many hands as it likes:
         with nothing ahead nothing starts before the plan is complete, or before a source has its
         outcome; with an early start a step is drawn as soon as its words are there; with lookahead
         also as soon as every source has a picture, on the bet that this picture stays, and judged
         once the bets are won. Of several candidates each has a bet of its own.

Beside it: how many steps come out right on the simulator with one candidate and with two (`pace/quality.py`), and
what lookahead costs and saves where every picture is billed (`pace/bets.py`).

Runs of graph and plain loop alternate, so that whatever else the machine does hits both. `visible` is
the time from when a picture may be shown (it exists and the plan is validated; before that its step
may still change) to when its preview comes out of the graph's stream. Ten seeds took seven minutes,
nearly all of it waiting for stubs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from random import Random
from typing import Any, Literal

from pace import bets, quality

from langgraph_interleave import Limits, create_interleave_graph
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import (
    Capabilities,
    CritiqueRequest,
    ImageRequest,
    ImageResult,
    Plan,
    PlanFinished,
    Usage,
)

PLAN_S, GENERATE_S, CRITIQUE_S, SLOW_S = 0.20, 0.10, 0.06, 1.0
ACCEPTED = 0.70
ATTEMPTS = 3

Ahead = Literal["nothing", "early start", "lookahead"]


@dataclass(frozen=True, slots=True)
class Stub:
    """One step as the stubs play it.

    Attributes:
        attempts: How many it takes until it has its outcome.
        sources: The steps it builds on.
        generate_s: Seconds of a drawing.
        critique_s: Seconds of a critique.
    """

    attempts: int = 1
    sources: tuple[int, ...] = ()
    generate_s: float = GENERATE_S
    critique_s: float = CRITIQUE_S


@dataclass(frozen=True, slots=True)
class Case:
    """A shape of plan, how it is run, and what is expected.

    Attributes:
        name: What it is.
        sources: For each step the steps it builds on.
        ahead: What may start before it is certain.
        bar: Graph over plain loop, expected at most; `None` where nothing was said.
        slow: The steps whose drawings take `SLOW_S`.
        candidates: Pictures of each attempt in the graph; the plain loop has one.
    """

    name: str
    sources: tuple[tuple[int, ...], ...]
    ahead: Ahead
    bar: float | None
    slow: tuple[int, ...] = ()
    candidates: int = 1

    def stubs(self, seed: int, candidates: int = 1) -> list[Stub]:
        """The steps under the luck of a seed."""
        return [
            Stub(attempts_of(seed, step, candidates), sources, SLOW_S if step in self.slow else GENERATE_S)
            for step, sources in enumerate(self.sources)
        ]


CHAIN: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (2,), (3,), (4,))
BESIDE: tuple[tuple[int, ...], ...] = ((), (), (1,), (2,), (3,))
CASES = (
    Case("chain of 6, nothing ahead", CHAIN, "nothing", None),
    Case("chain of 6, early start", CHAIN, "early start", 0.95),
    Case("chain of 6, lookahead", CHAIN, "lookahead", 0.75),
    Case("chain of 6, lookahead, 2 candidates", CHAIN, "lookahead", 0.62, candidates=2),
    Case("6 independent steps", ((),) * 6, "lookahead", 0.36),
    Case("slow step beside a chain of 4, early start", BESIDE, "early start", None, slow=(0,)),
    Case("slow step beside a chain of 4, lookahead", BESIDE, "lookahead", None, slow=(0,)),
)
#: Graph over ideal, and a preview's delay in ms: expected at most.
IDEAL_BAR, VISIBLE_BAR_MS = 1.08, 50.0


def accepted(seed: int, step: int, attempt: int, candidate: int = 0) -> bool:
    """Whether the critic accepts this picture."""
    further = f"/{candidate}" if candidate else ""
    return Random(f"{seed}/{step}/{attempt}{further}").random() < ACCEPTED


def attempts_of(seed: int, step: int, candidates: int = 1) -> int:
    """How many attempts a step takes until one of its candidates is accepted."""
    won = (k + 1 for k in range(ATTEMPTS) if any(accepted(seed, step, k, one) for one in range(candidates)))
    return next(won, ATTEMPTS)


def ideal(stubs: Sequence[Stub], *, ahead: Ahead, plan_s: float = PLAN_S) -> float:
    """Seconds an ideal scheduler takes.

    Args:
        stubs: The steps in order; sources point backwards.
        ahead: What may start before it is certain: nothing; drawings of steps whose sources have
            their outcome while the plan is still written; or drawings on unjudged sources as well.
        plan_s: Seconds of planning; step i of n is complete after (i + 1) / n of it.

    Example:
        >>> ideal([Stub(), Stub(sources=(0,))], ahead="nothing")
        0.52
        >>> ideal([Stub(), Stub(sources=(0,))], ahead="lookahead")
        0.36
    """
    drawn: list[float] = []  # when a step's last attempt has its picture
    done: list[float] = []  # when a step has its outcome
    for index, stub in enumerate(stubs):
        known = plan_s if ahead == "nothing" else plan_s * (index + 1) / len(stubs)
        settled = max((done[source] for source in stub.sources), default=0.0)
        sources = max((drawn[source] for source in stub.sources), default=0.0) if ahead == "lookahead" else settled
        picture = max(known, sources) + stub.generate_s
        verdict = max(picture, settled) + stub.critique_s
        for _ in range(1, stub.attempts):
            picture = verdict + stub.generate_s
            verdict = picture + stub.critique_s
        drawn.append(picture)
        done.append(verdict)
    return round(max(plan_s, *done), 6)


def plain_bound(stubs: Sequence[Stub], plan_s: float = PLAN_S) -> float:
    """Seconds of the plain loop if nothing but its stubs took time."""
    return round(plan_s + sum(stub.attempts * (stub.generate_s + stub.critique_s) for stub in stubs), 6)


class Stage:
    """Planner, backend and critic of one run, alike for graph and plain loop, with a stopwatch."""

    def __init__(self, case: Case, seed: int) -> None:
        self.planned_at = 0.0
        self.exists_at: dict[str, float] = {}
        self._candidate: dict[str, int] = {}
        self._stubs = case.stubs(seed)
        self._seed = seed
        plan: Plan = simple_plan(len(case.sources), sources=case.sources)
        self.planner = ScriptedPlanner(plan, pace_s=PLAN_S)
        can = Capabilities(edit="instruct", max_references=16, seed="exact", concurrency=64, max_images=4)
        self.backend = ScriptedBackend(
            self._draw, delay_s=lambda asked: self._stubs[_step(asked.prompt)].generate_s, capabilities=can
        )
        self.critic = ScriptedCritic(self._judge, delay_s=CRITIQUE_S)

    def _draw(self, asked: ImageRequest) -> ImageResult:
        # What it builds on is part of the picture, so that no two bets come to the same.
        words = "+".join((asked.prompt, *(reference.sha256 for reference in asked.references)))
        cards = tuple(noise_card(words, seed=(asked.seed or 0) + number) for number in range(asked.n))
        for number, card in enumerate(cards):
            self._candidate[card.sha256] = number
            self.exists_at[card.sha256] = time.perf_counter()
        return ImageResult(cards, usage=Usage(images=asked.n))

    def _judge(self, asked: CritiqueRequest) -> str:
        number = self._candidate[asked.after.sha256]
        return "accept" if accepted(self._seed, _step(asked.instruction), asked.attempt, number) else "revise"


def _step(words: str) -> int:
    """The step that `simple_plan` wrote these words for."""
    return int(words.split("thing ")[1].split(" ")[0].rstrip("."))


async def plain(stage: Stage) -> float:
    """The plain loop; seconds it took."""
    from langgraph_interleave.planner import PlanRequest
    from langgraph_interleave.types import Request, TextPart

    began = time.perf_counter()
    finished: PlanFinished | None = None
    async for delta in stage.planner.aplan(PlanRequest(Request(parts=(TextPart(text="x"),)))):
        if isinstance(delta, PlanFinished):
            finished = delta
    assert finished is not None
    for step in finished.plan.steps:
        words = step.prompt or ""
        for attempt in range(ATTEMPTS):
            drawn = await stage.backend.agenerate(ImageRequest(words, seed=attempt))
            judged = await stage.critic.acritique(
                CritiqueRequest(step.instruction or "", words, drawn.images[0], attempt=attempt)
            )
            if judged.critique.verdict == "accept":
                break
            words = judged.critique.refined_prompt or words
    return time.perf_counter() - began


async def graph(stage: Stage, case: Case) -> tuple[float, list[float]]:
    """The real graph; seconds it took, and how long each preview was under way, in ms."""
    compiled = create_interleave_graph(
        stage.planner,
        stage.backend,
        stage.critic,
        limits=Limits(max_attempts=ATTEMPTS),
        lookahead=case.ahead == "lookahead",
        candidates=case.candidates,
        early_start=case.ahead != "nothing",
    )
    seen: dict[str, float] = {}
    validated = 0.0
    began = time.perf_counter()
    async for event in compiled.astream({"request": "x"}, stream_mode="custom"):
        now = time.perf_counter()
        if event["type"] != "interleave.segment":
            continue
        if event["kind"] == "plan":
            validated = now
        elif event["kind"] == "preview":
            seen.setdefault(event["image"]["sha256"], now)
    seconds = time.perf_counter() - began
    # The stub's plan is complete when it says so; what comes after that is the graph's own time.
    complete = min(validated, began + PLAN_S)
    return seconds, [1e3 * (at - max(stage.exists_at[digest], complete)) for digest, at in seen.items()]


@dataclass(slots=True)
class Times:
    """What was measured of one case, one entry a seed."""

    case: Case
    graph: list[float] = field(default_factory=list[float])
    plain: list[float] = field(default_factory=list[float])
    stubs: list[list[Stub]] = field(default_factory=list[list[Stub]])
    plain_stubs: list[list[Stub]] = field(default_factory=list[list[Stub]])
    visible_ms: list[float] = field(default_factory=list[float])

    def data(self) -> dict[str, Any]:
        """As JSON. Ratios are taken per seed, then averaged."""
        bound = [ideal(stubs, ahead=self.case.ahead) for stubs in self.stubs]
        nominal = [plain_bound(stubs) for stubs in self.plain_stubs]
        return {
            "case": self.case.name,
            "bar": self.case.bar,
            "graph_over_plain": spread([a / b for a, b in zip(self.graph, self.plain, strict=True)]),
            "ideal_over_plain": spread([a / b for a, b in zip(bound, nominal, strict=True)]),
            "graph_over_ideal": spread([a / b for a, b in zip(self.graph, bound, strict=True)]),
            "plain_over_its_stubs": spread([a / b for a, b in zip(self.plain, nominal, strict=True)]),
            "seconds": {"graph": spread(self.graph), "plain": spread(self.plain), "ideal": spread(bound)},
            "visible_ms": percentiles(self.visible_ms),
        }


def spread(values: Sequence[float]) -> dict[str, float]:
    """Mean, standard deviation and range."""
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    found = {"mean": statistics.fmean(values), "sd": deviation, "min": min(values), "max": max(values)}
    return {name: round(value, 4) for name, value in found.items()}


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum."""
    ordered = sorted(values)
    last = len(ordered) - 1
    found = {"median": statistics.median(ordered), "p95": ordered[min(last, int(0.95 * len(ordered)))]}
    return {name: round(value, 2) for name, value in {**found, "max": ordered[last]}.items()} | {"count": len(ordered)}


async def measure(cases: Sequence[Case], seeds: int) -> list[Times]:
    """Run every case under every seed, graph and plain loop in turn."""
    times = [Times(case) for case in cases]
    for case in cases:
        await graph(Stage(case, 0), case)  # warm-up
    for seed in range(seeds):
        for case, found in zip(cases, times, strict=True):
            found.stubs.append(case.stubs(seed, case.candidates))
            found.plain_stubs.append(case.stubs(seed))
            for who in ("graph", "plain") if seed % 2 else ("plain", "graph"):
                if who == "plain":
                    found.plain.append(await plain(Stage(case, seed)))
                else:
                    seconds, visible = await graph(Stage(case, seed), case)
                    found.graph.append(seconds)
                    found.visible_ms += visible
    return times


def table(result: dict[str, Any]) -> str:
    """As a Markdown table, for people."""
    lines = [
        "| case | graph ÷ plain loop | expected | ideal ÷ plain loop | graph ÷ ideal | picture visible after |",
        "|---|---|---|---|---|---|",
    ]
    for row in result["cases"]:
        ratio, bound, distance = row["graph_over_plain"], row["ideal_over_plain"], row["graph_over_ideal"]
        bar = "" if row["bar"] is None else f"≤ {row['bar']:.2f}"
        shown = row["visible_ms"]
        lines.append(
            f"| {row['case']} | {ratio['mean']:.2f} ± {ratio['sd']:.2f} | {bar} | {bound['mean']:.2f} | "
            f"{distance['mean']:.3f} ± {distance['sd']:.3f} | {shown['median']:.0f} ms (95 %: {shown['p95']:.0f}, "
            f"most: {shown['max']:.0f}) |"
        )
    return "\n".join((*lines, ""))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description="How fast the loop is, beside a plain loop and an ideal scheduler.")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--seeds", type=int, help="how many (default 40; quick: 2)")
    parser.add_argument("--quick", action="store_true", help="two seeds, in seconds")
    options = parser.parse_args(arguments)
    seeds = options.seeds or (2 if options.quick else 40)
    began = time.perf_counter()
    cases = [found.data() for found in asyncio.run(measure(CASES, seeds))]
    right = asyncio.run(quality.measure(2 if options.quick else 40))
    lookahead = asyncio.run(bets.measure(2 if options.quick else max(10, seeds)))
    result = {
        "parameters": {
            "plan_s": PLAN_S,
            "generate_s": GENERATE_S,
            "slow_generate_s": SLOW_S,
            "critique_s": CRITIQUE_S,
            "accepted": ACCEPTED,
            "attempts": ATTEMPTS,
            "seeds": [0, seeds - 1],
        },
        "expected": {"graph_over_ideal": IDEAL_BAR, "visible_ms": VISIBLE_BAR_MS},
        "versions": {
            "python": sys.version.split()[0],
            **{name: version(name) for name in ("langgraph-interleave", "langgraph", "langchain-core")},
        },
        "cases": cases,
        "quality": right,
        "lookahead": lookahead,
        "seconds": round(time.perf_counter() - began, 1),
    }
    shown = "\n".join((table(result), quality.table(right), bets.table(lookahead)))
    sys.stdout.write(json.dumps(result, indent=1) + "\n" if options.json else shown)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
