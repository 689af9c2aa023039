"""What each reference policy does to twelve steps that drift: prints one table, or JSON.

    python benchmarks/consistency.py [--json] [--sequences 30] [--judged 8] [--quick]

The world. The simulator with its preset `identity_drift`, whose rates were fixed beforehand
(`world/presets.toml`, chosen by us): with every further edit it becomes likelier that something that
was to stay changes its colour or size, and an edit counts from the picture it is really drawn from. Each
sequence has twelve steps: three things that stay from the first to the last, and one guest, another in
every step. Sequences and luck are the same for all policies.

The columns.
  success    steps of which the simulator itself says that nothing is wrong; `late` are the last four
  whole      sequences without any fault
  depth      edits between a picture and one that was drawn new, on average
  drift      the document's own measure, 0 to 1, against the first picture of the chain, over the last
             four steps; a part of it was asked for (the guest): `as asked` is the same plan without faults
  judged     the same success with the pixel critic and three attempts, and the drawings that took for a step

What this world cannot show. The simulator conditions on its first reference alone. So `all`, whose first
reference is that of `explicit`, cannot do better here, nor can `sheet`, whose sheet is moreover what the first
picture is made from; with an image model that looks at every reference they may. And its prompts describe
the whole picture, so that starting again loses nothing: a model that is given merged instructions has
more to do at once. Nothing here is a statement about a real image model.
Intervals are 95 %, from a bootstrap over sequences.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Any

from langgraph_interleave import Limits, create_interleave_graph
from langgraph_interleave.backends.simulator import SimulatorBackend
from langgraph_interleave.critic import Critic
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.testing import ScriptedCritic
from langgraph_interleave.types import Plan, PlanDelta, PlanFinished, Step, StepDelta, StyleDelta, StyleGuide
from langgraph_interleave.world.critic import PixelCritic
from langgraph_interleave.world.grammar import change_in_words, instruction, prompt
from langgraph_interleave.world.scene import Cell, Scene, Thing

STEPS = 12
LATE = 4
SIDE = 256
PRESET = "identity_drift"

#: What stays: kind, colour and place; and what comes and goes, with where it stands.
STAYS = (("ball", "red"), ("cup", "blue"), ("box", "green"), ("hat", "purple"), ("balloon", "orange"), ("car", "blue"))
GUESTS = ("star", "mushroom", "apple", "key", "fish", "leaf")
CELLS: tuple[Cell, ...] = ("left", "middle", "right")
GUEST_CELLS: tuple[Cell, ...] = ("upper left", "upper middle", "upper right", "lower left", "lower right")

#: Options of the graph for each row.
POLICIES: dict[str, dict[str, Any]] = {
    "explicit": {},
    "previous": {"references": "previous"},
    "first": {"references": "first"},
    "all": {"references": "all"},
    "sheet": {"references": "sheet"},
    "explicit, reanchor_every=2": {"reanchor_every": 2},
    "explicit, reanchor_every=3": {"reanchor_every": 3},
    "explicit, reanchor_every=6": {"reanchor_every": 6},
}
AS_ASKED = "as asked"


@dataclass(frozen=True, slots=True)
class Result:
    """One sequence under one policy: what is right, how far it came, and what it took."""

    right: tuple[bool, ...]
    depths: tuple[int, ...]
    drifts: tuple[float, ...]
    drawings: int


def scenes(seed: int) -> list[Scene]:
    """Twelve scenes: three things that stay, and a guest."""
    rng = Random(seed)
    stays = [
        Thing(id=kind, kind=kind, color=color, at=cell)
        for (kind, color), cell in zip(rng.sample(STAYS, 3), CELLS, strict=True)
    ]
    backdrop = rng.choice(("table", "meadow", "paper"))
    made: list[Scene] = []
    guest: Thing | None = None
    for number in range(STEPS):
        kind = rng.choice([kind for kind in GUESTS if guest is None or kind != guest.kind])
        guest = Thing(id=f"guest_{number}", kind=kind, size="small", at=rng.choice(GUEST_CELLS))
        made.append(Scene(backdrop=backdrop, things=(*stays, guest)))
    return made


def plan_of(seed: int) -> Plan:
    """The scenes as a chain of edits."""
    steps: list[Step] = []
    before: Scene | None = None
    for index, scene in enumerate(scenes(seed)):
        change = "" if before is None else change_in_words(before, scene)
        steps.append(
            Step(
                index=index,
                op="generate" if before is None else "edit",
                instruction=instruction(change, scene),
                prompt=prompt(change, scene),
                sources=() if before is None else (f"step:{index - 1}",),
            )
        )
        before = scene
    stays = [f"{thing.color} {thing.kind}" for thing in scenes(seed)[0].things[:3]]
    return Plan(steps=tuple(steps), style_guide=StyleGuide(characters=", ".join(stays)))


class Planned:
    """A planner that has the plan of a seed."""

    name = "planned"
    billed = False

    def __init__(self, seed: int) -> None:
        self.plan = plan_of(seed)
        self.fingerprint = f"planned:{seed}"

    async def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        """The plan, step by step."""
        yield StyleDelta(self.plan.style_guide)
        for step in self.plan.steps:
            yield StepDelta(step)
        yield PlanFinished(plan=self.plan)


async def run(seed: int, options: dict[str, Any], *, preset: str = PRESET, attempts: int = 1) -> Result:
    """One sequence under one policy.

    Args:
        seed: Of the sequence and of the luck.
        options: Of the graph.
        preset: How the simulator errs.
        attempts: How many a step may take; with one, nobody judges.
    """
    backend = SimulatorBackend(preset, seed=seed)
    critic: Critic = ScriptedCritic() if attempts == 1 else PixelCritic()
    graph = create_interleave_graph(
        Planned(seed), backend, critic, limits=Limits(max_attempts=attempts), lookahead=False, checks=(),
        size=f"{SIDE}x{SIDE}", seed=seed, **options,
    )  # fmt: skip
    document = (await graph.ainvoke({"request": "Twelve pictures."}))["document"]
    steps: list[dict[str, Any]] = document["steps"]
    return Result(
        right=tuple(backend.truth(step["image"]["sha256"]) == () for step in steps),
        depths=tuple(step["depth"] for step in steps),
        drifts=tuple(step.get("drift", {}).get("first", 0.0) for step in steps),
        drawings=document["spend"]["images"],
    )


async def measure(sequences: int, judged: int) -> dict[str, dict[str, Any]]:
    """Every policy over the same sequences."""
    table: dict[str, dict[str, Any]] = {}
    for name, options in {**POLICIES, AS_ASKED: {}}.items():
        preset = "perfect" if name == AS_ASKED else PRESET
        plain = [await run(seed, options, preset=preset) for seed in range(sequences)]
        looped = [await run(seed, options, preset=preset, attempts=3) for seed in range(judged)]
        table[name] = row(plain, looped)
    return table


def row(plain: Sequence[Result], looped: Sequence[Result]) -> dict[str, Any]:
    """The figures of one policy."""
    data: dict[str, Any] = {
        "success": spread([fmean(result.right) for result in plain]),
        "late": spread([fmean(result.right[-LATE:]) for result in plain]),
        "whole": round(fmean(all(result.right) for result in plain), 3),
        "depth": round(fmean(fmean(result.depths) for result in plain), 2),
        "drift": spread([fmean(result.drifts[-LATE:]) for result in plain]),
        "drift_by_step": [round(fmean(result.drifts[n] for result in plain), 3) for n in range(STEPS)],
    }
    if looped:
        data["judged"] = spread([fmean(result.right) for result in looped])
        data["drawings_per_step"] = round(fmean(result.drawings for result in looped) / STEPS, 2)
    return data


def spread(values: Sequence[float], *, rounds: int = 1000) -> list[float]:
    """Mean, and the ends of its 95 % interval."""
    rng = Random(1)
    means = sorted(fmean(rng.choices(values, k=len(values))) for _ in range(rounds))
    return [round(value, 3) for value in (fmean(values), means[rounds // 40], means[-rounds // 40])]


def lines(table: dict[str, dict[str, Any]]) -> list[str]:
    """The table for people."""
    head = (
        f"{'policy':<28}{'success':>18}{'late':>18}{'whole':>7}{'depth':>7}{'drift':>18}{'judged':>18}{'drawings':>9}"
    )
    said = [head]
    for name, data in table.items():
        three = [f"{a:.2f} [{b:.2f}, {c:.2f}]" for a, b, c in (data["success"], data["late"], data["drift"])]
        judged = data.get("judged")
        last = f"{judged[0]:.2f} [{judged[1]:.2f}, {judged[2]:.2f}]" if judged else "-"
        drawings = f"{data['drawings_per_step']:.2f}" if judged else "-"
        said.append(
            f"{name:<28}{three[0]:>18}{three[1]:>18}{data['whole']:>7.2f}{data['depth']:>7.2f}"
            f"{three[2]:>18}{last:>18}{drawings:>9}"
        )
    return said


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Drift and success over twelve steps for each reference policy.")
    parser.add_argument("--sequences", type=int, default=30, help="sequences per policy")
    parser.add_argument("--judged", type=int, default=8, help="sequences with critic and three attempts")
    parser.add_argument("--quick", action="store_true", help="three sequences, two of them judged")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    sequences, judged = (3, 2) if given.quick else (given.sequences, given.judged)
    began = time.perf_counter()
    table = asyncio.run(measure(sequences, judged))
    seconds = round(time.perf_counter() - began, 1)
    if given.json:
        about = {"preset": PRESET, "steps": STEPS, "sequences": sequences, "judged": judged, "seconds": seconds}
        print(json.dumps({**about, "policies": table}, indent=2))
    else:
        print("\n".join(lines(table)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
