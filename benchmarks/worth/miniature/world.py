"""The miniature's world: a really trained diffusion model draws, with mistakes nobody scripted.

Requests are fresh storyboards in the miniature's own words (`tasks.py`), planned by its planner, drawn by the real
`Flux2KleinPipeline` through the backend `miniature`, 64 x 64 pixels in four steps. What it was trained for, pictures of
up to three things (`few`), it hardly ever draws wrong: there the loop has nothing to gain, and what it costs is told.
The main figures are of storyboards that ask for twice as much as it was trained on, five or six things (`crowd`);
between the two are four to six (`many`). The truth is not known here.

The measure is the independent reader (`artist.py`): another seed, other drawings and other augmentation than the reader
of the critic, so that a mistake of the critic's is not forgiven by who measures. It errs itself; how far both readers
and a person's eyes agree is told by `benchmarks/readers.py`.

The critics. `critic: own` is the miniature's, as a user has it: the loop decides by one reader and is measured by the
other. These are the honest rows, and the headline; `critic_measured` is how often it differed from the measure. In the
grid and the map the critic is the independent reader's own answer with flipped coins: there the critic and the measure
are one reader, which favours the loop, since what one reader sees wrongly it also counts as right. The grid shows what
the critic's errors do, not how good the loop is.

`helps` 1 uses the critic's prompts, 0 only draws again. Every drawing is made once for the same prompt, references and
seed, and counted each time it is asked for. The noise differs from task to task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, Literal

from langgraph_interleave_miniature.captions import describe
from langgraph_interleave_miniature.scenes import Scene
from worth import arms
from worth.miniature import tasks
from worth.miniature.artist import MORE_TOKENS, TOKENS, Artist, studio
from worth.miniature.oracle import Oracle, Silent
from worth.world import OWN, Error, Job, Task

from langgraph_interleave.context import derive_seed
from langgraph_interleave.critic import Critic
from langgraph_interleave.types import ImageRequest, Plan, PlanFinished

#: Storyboards of the main figures, and of those beside them: one of `tasks.CROWDS`.
MAIN, OTHERS = "crowd", ("many", "few")
#: Attempts beside the usual three.
ATTEMPTS = (2, 4)
#: The oracle's rate of false accepts and of false rejects, both the same.
ERRORS = (0.0, 0.1, 0.3)
#: Rates of false accepts and of false rejects of the map.
MAP = (0.0, 0.25, 0.5, 0.75, 1.0)
HELPS = (1.0, 0.0)

UNJUDGED = (arms.ONE_SHOT, arms.REWRITE_ONLY, arms.PLAN_ONLY)
LOOPS = (arms.KEEP_LAST, arms.KEEP_BEST)


@dataclass(frozen=True, slots=True)
class MiniatureWorld:
    """A `world.World` that is drawn by the miniature.

    Args:
        weights: A folder of weights; `None` for those of the package.
    """

    weights: Path | None = None
    name: str = "miniature"
    #: The miniature was not trained on words about style.
    style_in_prompts: bool | None = False

    def tasks(self, count: int, preset: str) -> Sequence[Task]:
        """Storyboards at random, as crowded as the preset says."""
        return tasks.tasks(count, preset)

    def planned(self, words: str) -> PlanFinished:
        """What the miniature's planner makes of the words."""
        return tasks.planned(words)

    def alone(self, plan: Plan) -> Sequence[str]:
        """Each step's whole picture in words."""
        return [describe(tasks.target(step.instruction or "")) for step in plan.steps]

    def setting(self, job: Job) -> bool:
        """Whether critics' prompts are used."""
        return job.helps > 0

    def luck(self, task: Task, seed: int) -> int:
        """A seed for every task: the same noise for all would make one picture's luck everybody's."""
        return int.from_bytes(sha256(f"{seed}/{task.name}".encode()).digest()[:4], "big")

    def side(self, *, own: bool) -> int:
        """The only one there is."""
        return 64

    def artist(self, setting: bool, *, seed: int, own: bool) -> Artist:
        """The miniature."""
        return Artist(studio(self.weights), helps=setting)

    def critic(self, artist: Artist, judging: Error | Literal["own"], *, seed: int) -> Critic:
        """The miniature's critic, or the independent reader's answer with flipped coins."""
        critic: Critic
        if judging == OWN:
            critic = artist.hands.critic
        else:
            critic = Oracle(artist, false_accept=judging[0], false_reject=judging[1], seed=seed)
        return critic if artist.helps else Silent(critic)

    def instruction(self, request: ImageRequest, plan: Plan, seed: int) -> str:
        """Of the step whose first drawing has this seed: the prompt of an edit does not say what stays."""
        [step] = [step for step in plan.steps if derive_seed(seed, step.index, 0) == request.seed]
        return step.instruction or ""

    def rightness(self, shown: Sequence[Scene | None], asked: Sequence[Scene]) -> tuple[bool, ...]:
        """Every thing, colour and place, the background, and nothing else."""
        given = [*shown, *[None] * len(asked)]
        return tuple(have is not None and have.shown == want.shown for have, want in zip(given, asked, strict=False))

    def contains(self, shown: Scene | None, asked: Scene) -> bool:
        """Whether all things asked for are there in their colours, wherever, whatever else is there."""
        return shown is not None and _things(asked) <= _things(shown)

    def jobs(self, tasks: int, seeds: int, *, quick: bool) -> list[Job]:
        """Own critic and oracle, critics' prompts or only drawing again, two to four attempts; the map."""
        return jobs_of(tasks, seeds, quick=quick)

    def is_headline(self, row: dict[str, Any]) -> bool:
        """Of the main storyboards whatever has no critic, or the miniature's own; candidates are told once."""
        judged = row["critic"] is not None and OWN in row["critic"]
        shown = row["helps"] == 1 and (row["critic"] is None or judged)
        return row["preset"] == MAIN and (shown or (judged and row["arm"] in LOOPS))

    def parameters(self) -> dict[str, Any]:
        """The weights, and how prompts are padded."""
        return {
            "weights": studio(self.weights).backend.fingerprint,
            "critic": studio(self.weights).critic.fingerprint,
            "padded_to": {"prompts": TOKENS, "whole requests": MORE_TOKENS},
            "steps_by_kind": _kinds(self),
        }

    def notes(self, result: dict[str, Any]) -> list[str]:
        """As `notes`."""
        return notes(result)

    def draw(self, result: dict[str, Any], path: Path) -> None:
        """Arms, attempts and map."""
        from worth.miniature.figure import draw

        draw(result, path)


def jobs_of(tasks: int, seeds: int, *, quick: bool) -> list[Job]:
    """Every cell that is run."""
    attempts, errors, corners = ATTEMPTS, ERRORS, MAP
    if quick:
        attempts, errors, corners = (2,), (0.1,), (0.0, 1.0)
    some = max(2, tasks // 2)
    jobs = [
        Job(MAIN, 1.0, 1.0, None, UNJUDGED, tasks, seeds),
        # Without a critic nobody helps: the very same, for whoever is compared with it.
        Job(MAIN, 1.0, 0.0, None, (arms.PLAN_ONLY,), tasks, seeds),
    ]
    for helping in HELPS:
        # Candidates are drawn from the same prompt anyway.
        candidates = tuple(arms.CANDIDATES) if helping else (arms.BEST_OF_2, arms.BEST_OF_3)
        jobs.append(Job(MAIN, 1.0, helping, OWN, (*candidates, *LOOPS), tasks, seeds))
        jobs += [Job(MAIN, 1.0, helping, OWN, (arms.KEEP_BEST,), tasks, seeds, more) for more in attempts]
        jobs += [Job(MAIN, 1.0, helping, (error, error), (*candidates, *LOOPS), tasks, seeds) for error in errors]
        if not quick:
            sure = (0.0, 0.0)
            jobs += [Job(MAIN, 1.0, helping, sure, (arms.KEEP_BEST,), tasks, seeds, more) for more in attempts]
    for other in OTHERS:
        jobs.append(Job(other, 1.0, 1.0, None, UNJUDGED, some, seeds))
        jobs.append(Job(other, 1.0, 1.0, OWN, (arms.BEST_OF_2, arms.BEST_OF_3, *LOOPS), some, seeds))
    for helping, accept, reject in product(HELPS, corners, corners):
        jobs.append(Job(MAIN, 1.0, helping, (accept, reject), (arms.KEEP_BEST,), some, seeds))
    return jobs


def own_row(rows: Sequence[dict[str, Any]], arm: str, **wanted: Any) -> dict[str, Any] | None:
    """The row of an arm that the miniature's critic judges, three attempts with its prompts if nothing else is said.

    Args:
        rows: All of them.
        arm: Which.
        wanted: Other `preset`, `helps` or `attempts`.
    """
    fields = {"preset": MAIN, "helps": 1, "attempts": arms.ATTEMPTS, **wanted}
    fitting = (row for row in rows if row["arm"] == arm and row["critic"] == {OWN: True})
    return next((row for row in fitting if all(row[name] == value for name, value in fields.items())), None)


def notes(result: dict[str, Any]) -> list[str]:
    """What a reader might stumble over; each is said only where the figures say it."""
    rows = result["rows"]
    said = [
        "Right is what a second reader sees, trained apart from the critic's; it errs, too (benchmarks/readers.py).",
        "One-shot is low by construction: n pictures of one prompt are not n steps.",
    ]
    for name in (MAIN, *OTHERS):
        best = own_row(rows, arms.KEEP_BEST, preset=name)
        plan = [row for row in rows if (row["arm"], row["preset"], row["helps"]) == (arms.PLAN_ONLY, name, 1)]
        if best is not None and plan:
            said.append(_of_storyboards(name, plan[0], best))
    best = own_row(rows, arms.KEEP_BEST)
    words = best.get("step_over_resampling") if best is not None else None
    if words is not None:
        verdict = "help" if words["low"] > 0 else "harm" if words["high"] < 0 else "are not shown to help or harm"
        said.append(
            f"The critic's prompts {verdict}: {_points(words)} over drawing again from the same prompt, three attempts."
        )
    for row in rows:
        over = row["step_over_plan_only"]
        if row["arm"] == arms.REWRITE_ONLY and over["low"] > 0:
            said.append(
                f"Drawing each picture anew beats editing the one before by {_points(over)} ({row['preset']}): here "
                "words say everything, and the same words look the same, which they do with no larger generator."
            )
        elif row["arm"] == arms.REWRITE_ONLY and over["high"] < 0:
            said.append(f"Editing the one before beats drawing each anew by {_points(over, -1)} ({row['preset']}).")
    return said


def _of_storyboards(name: str, plan: dict[str, Any], best: dict[str, Any]) -> str:
    """What the loop makes of one sort of storyboards, and up to what price it pays."""
    crowd, measured, price = tasks.CROWDS[name], best["critic_measured"], best["critique_price"]
    rates = " and ".join(
        f"{words} {100 * measured[rate]['value']:.0f} %"
        for rate, words in (("false_accept", "passes wrong ones in"), ("false_reject", "sends right ones back in"))
        if measured[rate]["value"] is not None
    )
    said = (
        f"{crowd.low} to {crowd.most} things: {100 * plan['step']['value']:.0f} % of the steps right at once, "
        f"{_points(best['step_over_plan_only'])} more with the loop, for {best['drawings_per_step']:.2f} drawings a "
        f"step; against the measure the critic {rates}."
    )
    if price["value"] is None:
        return said
    if price["low"] is None:
        return f"{said} Re-running makes a right sequence too seldom to tell a price."
    if price["low"] > 0:
        return f"{said} Pays up to {price['value']:.2f} drawings a critique."
    verdict = "Loses to" if price["high"] < 0 else "Not shown to beat"
    return f"{said} {verdict} re-running, even with free critiques: break-even at {_range(price, 1, '+.2f')}."


def _points(interval: dict[str, float], sign: int = 1) -> str:
    return f"{_range(interval, 100 * sign, '.0f')} points"


def _range(interval: dict[str, float], factor: float, form: str) -> str:
    low, high = sorted((factor * interval["low"], factor * interval["high"]))
    return f"{factor * interval['value']:{form}} ({low:{form}} to {high:{form}})"


def _things(scene: Scene) -> Counter[tuple[str, str]]:
    return Counter((thing.kind, thing.color) for thing in scene.things)


def _kinds(world: MiniatureWorld) -> dict[str, int]:
    """How the steps of the first sixty main tasks are drawn."""
    steps = [step for task in world.tasks(60, MAIN) for step in world.planned(task.request).plan.steps]
    return dict(Counter(step.op for step in steps))
