"""Rows of the results: shares, costs, differences and break-even figures, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from worth import arms
from worth.bootstrap import Sums, interval, total
from worth.jobs import Measured
from worth.world import OWN, Job


def report(jobs: Sequence[Job], measured: Sequence[Measured]) -> dict[str, Any]:
    """Rows of the grid and the break-even figures."""
    plans = {
        (job.preset, job.scale, job.helps): found[arms.PLAN_ONLY]
        for job, found in zip(jobs, measured, strict=True)
        if arms.PLAN_ONLY in found
    }
    # Jobs that differ in `helps` alone need not run the same arms.
    loops = {
        (replace(job, arms=()), arm): sums
        for job, found in zip(jobs, measured, strict=True)
        for arm, sums in found.items()
        if arm in (arms.KEEP_LAST, arms.KEEP_BEST)
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
            resampled = loops.get((replace(job, arms=(), helps=0.0), arm))
            if job.helps and resampled is not None:
                rows[-1]["step_over_resampling"] = interval([sums, resampled], _more_steps)
            if arm == arms.KEEP_BEST and arms.BEST_OF_3 in found:
                several = [beside, found[arms.BEST_OF_2], found[arms.BEST_OF_3], sums]
                rows[-1]["equal_drawings"] = {
                    "step_over_best_of_n": interval(several, over_candidates),
                    "critiques_per_step_of_best_of_n": _short(_critiques_of_mix([total(arm) for arm in several])),
                }
    return {"rows": rows, "break_even": {"map": corners, "resampling_line": "false_accept + false_reject = 1"}}


def _where(job: Job) -> dict[str, Any]:
    error: dict[str, Any] | None
    if job.error is None or job.error == OWN:
        error = None if job.error is None else {OWN: True}
    else:
        error = {"false_accept": job.error[0], "false_reject": job.error[1]}
    place = {"preset": job.preset, "scale": job.scale, "helps": job.helps, "critic": error}
    return {**place, "attempts": job.attempts} if error is not None else place


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
        row["critic_measured"] = {
            "false_accept": interval([sums], false_accepts),
            "false_reject": interval([sums], false_rejects),
        }
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


def false_accepts(totals: Sequence[Sums]) -> float | None:
    """Share of the wrong pictures it judged that a critic passed; `None` where it saw none."""
    [sums] = totals
    wrong = sums.critiques - sums.of_right
    return sums.false_accepts / wrong if wrong else None


def false_rejects(totals: Sequence[Sums]) -> float | None:
    """Share of the right pictures it judged that a critic sent back; `None` where it saw none."""
    [sums] = totals
    return sums.false_rejects / sums.of_right if sums.of_right else None


def _more_steps(totals: Sequence[Sums]) -> float:
    return totals[0].right / totals[0].steps - totals[1].right / totals[1].steps


def _more_sequences(totals: Sequence[Sums]) -> float:
    return totals[0].whole / totals[0].sequences - totals[1].whole / totals[1].sequences


def over_candidates(totals: Sequence[Sums]) -> float:
    """Right steps of the loop less those of a mix of one, two or three candidates that draws as much.

    Args:
        totals: Of one candidate, of two, of three, and of the loop.
    """
    few, many, share = mix(totals)
    loop = totals[3]
    return loop.right / loop.steps - ((1 - share) * few.right + share * many.right) / few.steps


def _critiques_of_mix(totals: Sequence[Sums]) -> float:
    few, many, share = mix(totals)
    return ((1 - share) * few.critiques + share * many.critiques) / few.steps


def mix(totals: Sequence[Sums]) -> tuple[Sums, Sums, float]:
    """The two numbers of candidates around the loop's drawings per step, and the share of the larger."""
    drawn = min(3.0, max(1.0, totals[3].drawings / totals[3].steps))
    low = min(1, int(drawn) - 1)
    return totals[low], totals[low + 1], drawn - 1 - low


def _short(value: float) -> float:
    return round(value, 4)
