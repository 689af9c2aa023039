"""What the loop is worth in the built-in world, and where it is worth nothing: prints JSON.

    python benchmarks/ablation.py --json [--quick] [--figure ablation.png]

The world. Requests are storyboards whose lines say in full what each picture must show, half of them
from the book of procedures, half made at random (`worth/tasks.py`). The simulator draws with the
faults of a preset that was fixed beforehand (`world/presets.toml`, every rate chosen by us), scaled.
The critic is an oracle with errors: it knows the truth and flips a coin, so that its rates of false
accepts and false rejects are exact; one row has the built-in critic, which sees pixels only. Nothing
here is a statement about any real image model; it says how a loop behaves as its parts get better.

The arms.
  one-shot         the request as it is, as one prompt, one picture for each asked step
  rewrite-only     each step drawn alone from its own prompt as the planner wrote it, no references
  plan-only        the planned steps, each building on the picture before; no critic
  plan, best of n  the same, n candidates a step from the same prompt, ranked by the critic
  plan+critic      the loop of this package, at most three attempts a step, keeping the last or the
                   best attempt where none was accepted
The last three run on the real graph; the first two have none.

When is a step right? Its picture must show what its line asks for (each thing with number, colour,
state and place, on the backdrop), what had to stay must have stayed, and nothing else may be there.
The measure is the line, which every arm was given, not the plan: things are told apart by their looks
and not by names or order, and the place of a new thing is free where the line leaves it open. For
arms with a plan this is the simulator's own list of faults being empty. A sequence is right when every
step is. Beside it stands a lenient rule, under which it is enough that all things asked for are
somewhere in the picture: it forgives an arm that draws the whole request into every picture.

What helps an arm here that would not elsewhere. In this world a word always looks the same: a red ball
drawn anew is the same red ball. So drawing each step alone (rewrite-only) loses no identity, which
real generators do lose; it pays only by putting the whole scene at risk again in every picture. One
prompt for n pictures cannot be n different steps, and the simulated artist draws the last line of a
list: one-shot can be right in one step of each sequence, a floor by construction. The planner never
errs here: storyboards it misreads are left out, and listed. Who re-runs a sequence until it is right
is granted a free and infallible judge.

Where retries lose (`break_even`).
  price  the loop pays for critiques; re-running plan-only until a whole sequence is right pays only for
         drawings. `critique_price` is the highest price of a critique, in drawings, at which the loop
         still makes a right sequence for no more: (drawings per right sequence of plan-only x right
         share of the loop - its drawings) / its critiques. Below 0 the loop loses even if critiques are free.
  error  `map`: right steps of the loop less those of plan-only over the critic's two errors. Where an
         attempt's chances are always the same (pure resampling, unlimited attempts) a loop gains while
         false accepts + false rejects < 1, that is while the critic is better than a coin.
  best of n  `equal_drawings`: the loop against best-of-n mixed so that both draw as many pictures.

Intervals are 95 %, from a bootstrap over tasks, paired: every arm meets the same tasks and the same luck.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from worth import arms
from worth.bootstrap import RESAMPLES, Sums, interval, total
from worth.jobs import PIXEL, Job, Measured, run_jobs
from worth.tasks import misread

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


def report(jobs: Sequence[Job], measured: Sequence[Measured]) -> dict[str, Any]:
    """Rows of the grid and the break-even figures."""
    plans = {
        (job.preset, job.scale, job.helps): found[arms.PLAN_ONLY]
        for job, found in zip(jobs, measured, strict=True)
        if arms.PLAN_ONLY in found
    }
    rows: list[dict[str, Any]] = []
    corners: list[dict[str, Any]] = []
    for job, found in zip(jobs, measured, strict=True):
        plan = plans[job.preset, job.scale, job.helps]
        for arm, sums in found.items():
            beside = plan[: len(sums)]
            if job.tasks < len(plan):
                if arm == arms.KEEP_BEST:
                    corners.append({**_where(job), "step_over_plan_only": interval([sums, beside], _more_steps)})
                continue
            rows.append({"arm": arm, **_where(job), **_row(sums, beside)})
            if arm == arms.KEEP_BEST and arms.BEST_OF_3 in found:
                several = [beside, found[arms.BEST_OF_2], found[arms.BEST_OF_3], sums]
                rows[-1]["equal_drawings"] = {
                    "step_over_best_of_n": interval(several, _over_candidates),
                    "critiques_per_step_of_best_of_n": _short(_critiques_of_mix([total(arm) for arm in several])),
                }
    return {"rows": rows, "break_even": {"map": corners, "resampling_line": "false_accept + false_reject = 1"}}


def _where(job: Job) -> dict[str, Any]:
    error = None if job.error is None else {"false_accept": job.error[0], "false_reject": job.error[1]}
    return {"preset": job.preset, "scale": job.scale, "helps": job.helps, "critic": error}


def _row(sums: Sequence[Sums], plan: Sequence[Sums]) -> dict[str, Any]:
    whole = total(sums)
    row: dict[str, Any] = {
        "step": interval([sums], lambda totals: totals[0].right / totals[0].steps),
        "sequence": interval([sums], lambda totals: totals[0].whole / totals[0].sequences),
        "lenient_step": _short(whole.contained / whole.steps),
        "drawings_per_step": _short(whole.drawings / whole.steps),
        "critiques_per_step": _short(whole.critiques / whole.steps),
        "exhausted_per_step": _short(whole.exhausted / whole.steps),
        "step_over_plan_only": interval([sums, plan], _more_steps),
        "sequence_over_plan_only": interval([sums, plan], _more_sequences),
    }
    if whole.critiques:
        row["critique_price"] = interval([sums, plan], critique_price)
    return row


def critique_price(totals: Sequence[Sums]) -> float | None:
    """Highest price of a critique, in drawings, at which the loop makes a right sequence for no more.

    Args:
        totals: The loop's, and plan-only's.

    Returns:
        `None` where plan-only never made a right sequence: then any price pays.
    """
    loop, plan = totals
    if not plan.whole or not loop.critiques:
        return None
    return (plan.drawings / plan.whole * loop.whole - loop.drawings) / loop.critiques


def _more_steps(totals: Sequence[Sums]) -> float:
    return totals[0].right / totals[0].steps - totals[1].right / totals[1].steps


def _more_sequences(totals: Sequence[Sums]) -> float:
    return totals[0].whole / totals[0].sequences - totals[1].whole / totals[1].sequences


def _over_candidates(totals: Sequence[Sums]) -> float:
    """Right steps of the loop less those of a mix of one, two or three candidates that draws as much."""
    few, many, share = _mix(totals)
    loop = totals[3]
    return loop.right / loop.steps - ((1 - share) * few.right + share * many.right) / few.steps


def _critiques_of_mix(totals: Sequence[Sums]) -> float:
    few, many, share = _mix(totals)
    return ((1 - share) * few.critiques + share * many.critiques) / few.steps


def _mix(totals: Sequence[Sums]) -> tuple[Sums, Sums, float]:
    """The two numbers of candidates around the loop's drawings per step, and the share of the larger."""
    drawn = min(3.0, max(1.0, totals[3].drawings / totals[3].steps))
    low = min(1, int(drawn) - 1)
    return totals[low], totals[low + 1], drawn - 1 - low


def _short(value: float) -> float:
    return round(value, 4)


def notes(result: dict[str, Any]) -> list[str]:
    """What a reader might stumble over; each is said only where the figures say it."""
    rows, corners = result["rows"], result["break_even"]["map"]
    picked = {row["arm"]: row for row in rows if _is_headline(row)}
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


def _is_headline(row: dict[str, Any]) -> bool:
    critic = row["critic"]
    return (
        (row["preset"], row["scale"], row["helps"]) == ("default", 1, 1)
        and (critic is None or critic["false_accept"] == 0.1)
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description="What the loop is worth in the built-in world.")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--quick", action="store_true", help="a few cells and tasks, in seconds")
    parser.add_argument("--tasks", type=int, help="how many requests (default 60; quick: 6)")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds for each")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="how many processes")
    parser.add_argument("--figure", type=Path, metavar="PATH", help="also draw the figure (needs the extra plots)")
    parser.add_argument("--from", type=Path, dest="saved", metavar="JSON", help="take these results, measure nothing")
    options = parser.parse_args(arguments)
    if options.saved is not None:
        result = json.loads(options.saved.read_text(encoding="utf-8"))
        result["notes"] = notes(result)
    else:
        result = run(options.tasks or (6 if options.quick else 60), options.seeds, options.workers, options.quick)
    if options.figure is not None:
        from worth.figure import draw

        draw(result, options.figure)
    sys.stdout.write(json.dumps(result, indent=1) + "\n" if options.json else table(result))
    return 0


def run(tasks: int, seeds: int, workers: int, quick: bool) -> dict[str, Any]:
    """Measure everything."""
    began = time.perf_counter()
    jobs = jobs_of(tasks, seeds, quick=quick)
    result = report(jobs, run_jobs(jobs, workers=workers))
    parameters = {
        "tasks": tasks,
        "seeds": seeds,
        "attempts": arms.ATTEMPTS,
        "resamples": RESAMPLES,
        "side": {"oracle": arms.SIDE, "pixel critic": arms.SEEN_SIDE},
        "left_out": misread(),
    }
    packages = ("langgraph-interleave", "langgraph", "langchain-core", "pillow")
    versions = {"python": sys.version.split()[0], **{name: version(name) for name in packages}}
    measured = {"seconds": round(time.perf_counter() - began, 1), "notes": notes(result)}
    return {"parameters": parameters, "versions": versions, **result, **measured}


def table(result: dict[str, Any]) -> str:
    """The rows of the headline cell, for people."""
    lines = [f"{'arm':<30}{'steps right':>24}{'sequences right':>24}{'drawings':>10}{'critiques':>10}"]
    for row in filter(_is_headline, result["rows"]):
        shares = "".join(
            f"{100 * row[name]['value']:>9.0f} % ({100 * row[name]['low']:3.0f}-{100 * row[name]['high']:3.0f})"
            for name in ("step", "sequence")
        )
        lines.append(f"{row['arm']:<30}{shares}{row['drawings_per_step']:>10.2f}{row['critiques_per_step']:>10.2f}")
    return "\n".join((*lines, *result["notes"], ""))


if __name__ == "__main__":
    raise SystemExit(main())
