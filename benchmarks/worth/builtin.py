"""The built-in world: storyboards of scenes, the simulator with the faults of a preset, an oracle that errs.

Requests are storyboards whose lines say in full what each picture must show, half of them from the book of procedures,
half made at random (`tasks.py`). The simulator draws with the faults of a preset that was fixed beforehand
(`world/presets.toml`, every rate chosen by us), scaled. The critic knows the truth and flips a coin, so that its rates
of false accepts and false rejects are exact (`artists.py`); one row has the built-in critic, which sees pixels only.
When a step is right is told in `truth.py`: for arms with a plan this is the simulator's own list of faults being empty.

What helps an arm here that would not elsewhere. In this world a word always looks the same: a red ball drawn anew is
the same red ball. So drawing each step alone (rewrite-only) loses no identity, which real generators do lose; it pays
only by putting the whole scene at risk again in every picture. The simulated artist draws the last line of a list:
one-shot can be right in one step of each sequence, a floor by construction. The planner never errs here: storyboards it
misreads are left out, and listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

from worth import arms, tasks, truth
from worth.artists import Artist, Oracle
from worth.jobs import PIXEL
from worth.world import OWN, Error, Job, Task

from langgraph_interleave.critic import Critic
from langgraph_interleave.types import ImageRequest, Plan, PlanFinished
from langgraph_interleave.world.critic import PixelCritic
from langgraph_interleave.world.grammar import prompt, target
from langgraph_interleave.world.presets import Preset, preset
from langgraph_interleave.world.scene import Scene

#: Side of the pictures in pixels. The oracle does not look at them.
SIDE = 64
#: Side of the pictures the pixel critic looks at.
SEEN_SIDE = 256

#: What the rates of `default` are multiplied by; 0 is an artist without faults.
SCALES = (0.0, 0.25, 0.5, 1.0, 2.0, 3.0)
#: What the preset's two figures of how much words help are multiplied by; 0 is pure resampling.
HELPS = (0.0, 0.5, 1.0)
#: The critic's rate of false accepts and of false rejects, both the same.
ERRORS = (0.0, 0.1, 0.3)
#: Where best-of-n is run, too.
CANDIDATE_SCALES, CANDIDATE_HELPS = (1.0, 2.0), (0.0, 1.0)
#: Rates of false accepts and of false rejects of the map.
MAP = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Other presets that are run as they are, with a critic that errs in one case of ten.
PRESETS = ("hard", "identity_drift")

UNJUDGED = (arms.ONE_SHOT, arms.REWRITE_ONLY, arms.PLAN_ONLY)
LOOPS = (arms.KEEP_LAST, arms.KEEP_BEST)
CANDIDATES = (arms.BEST_OF_2, arms.BEST_OF_3)


@dataclass(frozen=True, slots=True)
class BuiltinWorld:
    """Scenes as data, drawn by code; a `world.World`."""

    name: str = "builtin"
    style_in_prompts: bool | None = None

    def tasks(self, count: int, preset: str) -> Sequence[Task]:
        """From the book of procedures and at random, in turn; the same for every preset."""
        return tasks.tasks(count)

    def planned(self, words: str) -> PlanFinished:
        """What the rule-based planner makes of the words."""
        return tasks.planned(words)

    def alone(self, plan: Plan) -> Sequence[str]:
        """What the planner wrote for each step, without the change to a picture it is not given."""
        return [prompt("", target(step.instruction or "")) for step in plan.steps]

    def setting(self, job: Job) -> Preset:
        """The job's preset as scaled."""
        base = preset(job.preset).scaled(job.scale)
        return base.model_copy(
            update={
                "plain_prompt_helps": base.plain_prompt_helps * job.helps,
                "refined_helps": base.refined_helps * job.helps,
            }
        )

    def luck(self, task: Task, seed: int) -> int:
        """The seed itself: the simulator's luck depends on what is asked, too."""
        return seed

    def side(self, *, own: bool) -> int:
        """Small, unless somebody looks."""
        return SEEN_SIDE if own else SIDE

    def artist(self, setting: Preset, *, seed: int, own: bool) -> Artist:
        """The simulator; it really draws where somebody looks."""
        return Artist(setting, seed=seed, pixels=own)

    def critic(self, artist: Artist, judging: Error | Literal["own"], *, seed: int) -> Critic:
        """The pixel critic, or the oracle with its errors."""
        if judging == OWN:
            return PixelCritic()
        return Oracle(artist, false_accept=judging[0], false_reject=judging[1], seed=seed)

    def instruction(self, request: ImageRequest, plan: Plan, seed: int) -> str:
        """The prompt: here it states the whole scene."""
        return request.prompt

    def rightness(self, shown: Sequence[Scene | None], asked: Sequence[Scene]) -> tuple[bool, ...]:
        """As `truth.rightness`."""
        return truth.rightness(shown, asked)

    def contains(self, shown: Scene | None, asked: Scene) -> bool:
        """As `truth.contains`."""
        return truth.contains(shown, asked)

    def jobs(self, tasks: int, seeds: int, *, quick: bool) -> list[Job]:
        """Rates of faults x how much words help x errors of the critic; the map; other presets."""
        return jobs_of(tasks, seeds, quick=quick)

    def is_headline(self, row: dict[str, Any]) -> bool:
        """Rates and help as in the preset, a critic that errs in one case of ten."""
        critic = row["critic"]
        return (
            (row["preset"], row["scale"], row["helps"]) == ("default", 1, 1)
            and (critic is None or critic["false_accept"] == 0.1)
        )  # fmt: skip

    def parameters(self) -> dict[str, Any]:
        """Sizes, and the storyboards that are left out because the planner misreads them."""
        return {"side": {"oracle": SIDE, "pixel critic": SEEN_SIDE}, "left_out": tasks.misread()}

    def notes(self, result: dict[str, Any]) -> list[str]:
        """As `notes`."""
        return notes(result)

    def draw(self, result: dict[str, Any], path: Path) -> None:
        """Arms, price and map."""
        from worth.figure import draw

        draw(result, path)


WORLD = BuiltinWorld()


def jobs_of(tasks: int, seeds: int, *, quick: bool) -> list[Job]:
    """Every cell that is run."""
    scales, helps, errors, corners = SCALES, HELPS, ERRORS, MAP
    if quick:
        scales, helps, errors, corners = (0.0, 1.0), (0.0, 1.0), (0.1,), (0.0, 1.0)
    jobs: list[Job] = []
    for scale, helping in product(scales, helps):
        if scale < 0.5 and helping < 1:
            continue  # where little goes wrong words have little to help with
        jobs.append(Job("default", scale, helping, None, UNJUDGED, tasks, seeds))
        for error in errors:
            candidates = CANDIDATES if scale in CANDIDATE_SCALES and helping in CANDIDATE_HELPS else ()
            jobs.append(Job("default", scale, helping, (error, error), (*candidates, *LOOPS), tasks, seeds))
    for helping, accept, reject in product(CANDIDATE_HELPS, corners, corners):
        jobs.append(Job("default", 1.0, helping, (accept, reject), LOOPS, max(2, tasks // 2), seeds))
    jobs.append(Job("default", 1.0, 1.0, None, (PIXEL,), tasks, 1))
    for name in PRESETS[: 0 if quick else None]:
        jobs.append(Job(name, 1.0, 1.0, None, UNJUDGED, tasks, seeds))
        jobs.append(Job(name, 1.0, 1.0, (0.1, 0.1), (*CANDIDATES, *LOOPS), tasks, seeds))
    return jobs


def notes(result: dict[str, Any]) -> list[str]:
    """What a reader might stumble over; each is said only where the figures say it."""
    rows, corners = result["rows"], result["break_even"]["map"]
    picked = {row["arm"]: row for row in rows if WORLD.is_headline(row)}
    last, best = picked[arms.KEEP_LAST], picked[arms.KEEP_BEST]
    steps = 100 * (best["step"]["value"] - last["step"]["value"])
    lenient = 100 * (best["lenient_step"] - last["lenient_step"])
    kept = (
        "Keep-best and keep-last are the same run until a step is exhausted: in the main cell they differ by "
        f"{steps:+.1f} points of right steps and {lenient:+.1f} by the lenient rule."
    )
    if steps <= 0 < lenient:
        kept += " The best-scored of the rejected attempts is nearer to what was asked; that does not make it right."
    said = [kept, "One-shot is low by construction: n pictures of one prompt are not n steps."]
    drifting = [row for row in rows if row["arm"] == arms.REWRITE_ONLY and (row["step_over_plan_only"]["low"] or 0) > 0]
    said += [
        f"With the preset {row['preset']} drawing each step alone beats the plan with references by "
        f"{100 * row['step_over_plan_only']['value']:.0f} points: its faults are those of editing, and in this world a "
        "thing drawn anew looks the same by itself, which it does with no real generator."
        for row in drifting
    ]
    priced = [row for row in rows if row["arm"] == arms.KEEP_BEST and row["helps"] == 1 and row["preset"] == "default"]
    for row in priced:
        price = row["critique_price"]
        if price["low"] is not None and price["low"] <= 0 and row["critic"]["false_accept"]:
            verdict = "Loses to" if price["high"] < 0 else "Not shown to beat"
            said.append(
                f"{verdict} re-running, even with free critiques: rates x {row['scale']:g}, critic wrong in "
                f"{100 * row['critic']['false_accept']:.0f} %; break-even at {price['value']:+.2f} drawings a critique "
                f"({price['low']:+.2f} to {price['high']:+.2f})."
            )
    beyond = [
        corner
        for corner in corners
        if corner["helps"] == 1
        and corner["critic"]["false_accept"] + corner["critic"]["false_reject"] >= 1
        and (corner["step_over_plan_only"]["low"] or 0) > 0
    ]
    if beyond:
        said.append(
            "Where words help, even a critic no better than a coin gains: a second attempt has better words than the "
            "first, whatever made it necessary."
        )
    return said
