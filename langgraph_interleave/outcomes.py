"""What a step comes to, as pure functions of its record: how many attempts it may take, which one is kept."""

from __future__ import annotations

from dataclasses import replace

from langgraph_interleave.limits import RUN_LIMITS
from langgraph_interleave.runview import Rules
from langgraph_interleave.types import Attempt, Critique, Problem, StepOutcome, StepRecord


def attempts_allowed(record: StepRecord | None, rules: Rules) -> int:
    """How many attempts a step may take: as many as the limit says, and one more whenever a reviewer asks for one."""
    asked = [
        attempt.number + 2
        for attempt in (record.attempts if record else ())
        if attempt.review is not None and attempt.review.verdict == "revise"
    ]
    return max([rules.max_attempts, *asked])


def critic_wanted(attempt: Attempt, record: StepRecord, rules: Rules) -> bool:
    """Whether the critic is asked: always, but for a failed check on the last attempt.

    A failed check already says revise; the critic is asked all the same while an attempt is left,
    because it writes the refined prompt.
    """
    return not attempt.failed_checks or attempt.number + 1 < attempts_allowed(record, rules)


def check_critique(attempt: Attempt) -> Critique:
    """The critique of an attempt that a check failed and no critic is asked about."""
    reasons = " ".join(check.reason or f"Check {check.name} failed." for check in attempt.failed_checks)
    return Critique(verdict="revise", reasoning=reasons, judge="check")


def binding(critique: Critique, attempt: Attempt) -> Critique:
    """The critique as it counts: a failed check, or a reviewer's remark, overrules an accept."""
    if critique.verdict == "accept" and attempt.review is not None and attempt.review.verdict == "revise":
        return critique.model_copy(update={"verdict": "revise"})
    if critique.verdict == "accept" and attempt.failed_checks:
        note = "A check failed: " + " ".join(check.reason for check in attempt.failed_checks)
        return critique.model_copy(update={"verdict": "revise", "warnings": (*critique.warnings, note.strip())})
    return critique


def best_attempt(record: StepRecord) -> int | None:
    """The attempt with the highest mean of its scores; the later on a tie or without scores.

    Attempts without any score come after every scored one; `None` when nothing was drawn. An
    attempt whose check failed is taken only when there is no other, and so is what a reviewer sent back,
    with everything before it.
    """
    sent_back = max(
        (a.number for a in record.attempts if a.review is not None and a.review.verdict == "revise"), default=-1
    )

    def key(attempt: Attempt) -> tuple[bool, bool, bool, float, int]:
        mean = attempt.critique.scores.mean if attempt.critique else None
        return (
            attempt.number > sent_back, not attempt.failed_checks, mean is not None, mean or 0.0, attempt.number,
        )  # fmt: skip

    drawn = [attempt for attempt in record.attempts if attempt.image is not None]
    return max(drawn, key=key).number if drawn else None


def kept_attempt(record: StepRecord, rules: Rules) -> int | None:
    """The attempt that stands for a step no attempt of which was accepted."""
    drawn = [attempt.number for attempt in record.attempts if attempt.image is not None]
    if rules.on_exhausted == "last":
        return drawn[-1] if drawn else None
    return best_attempt(record)


def _without_picture(problem: Problem) -> StepOutcome:
    return "blocked" if problem.error == "ContentBlocked" else "backend_failed"


def conclude(record: StepRecord, rules: Rules) -> StepRecord:
    """Give the record its outcome if it has one now; else return it as it is.

    A step ends when an attempt is accepted, when the attempts are used up, when the critic cannot
    be read (the picture is kept and marked), or when a drawing fails: then an earlier picture is
    kept if there is one.
    """
    if record.outcome is not None or record.proposed is not None or not record.attempts:
        return record
    return proposed(_ended(record, rules), rules)


def proposed(record: StepRecord, rules: Rules) -> StepRecord:
    """The record with its outcome only proposed, where a reviewer, or the planner, is to be asked first."""
    if record.outcome is None or not is_asked(record, rules):
        return record
    return record.model_copy(update={"outcome": None, "proposed": record.outcome})


def is_asked(record: StepRecord, rules: Rules) -> bool:
    """Whether an outcome is put before somebody, who may want it otherwise."""
    if at_limit(record, rules):
        return True
    if rules.review:
        return record.outcome in ("accepted", "exhausted", "critic_failed", "backend_failed", "blocked")
    return rules.ask and record.outcome == "exhausted" and record.limit is None


def at_limit(record: StepRecord, rules: Rules) -> bool:
    """Whether a limit of the run ends the step, and somebody is asked about that first."""
    return rules.ask_at_limit and record.limit in RUN_LIMITS


def _ended(record: StepRecord, rules: Rules) -> StepRecord:
    last = record.attempts[-1]
    if last.review is not None and last.review.verdict == "revise":
        return record  # another attempt is asked for, whatever the critic had to say to it
    if last.image is None:
        if last.problem is None:
            return record
        kept = kept_attempt(record, rules)
        outcome = "exhausted" if kept is not None else _without_picture(last.problem)
        return record.model_copy(update={"outcome": outcome, "kept": kept, "problem": last.problem})
    if last.problem is not None:
        return record.model_copy(update={"outcome": "critic_failed", "kept": last.number, "problem": last.problem})
    if last.critique is None:
        return record
    if last.critique.verdict == "accept":
        return record.model_copy(update={"outcome": "accepted", "kept": last.number})
    if last.number + 1 >= attempts_allowed(record, rules):
        return record.model_copy(update={"outcome": "exhausted", "kept": kept_attempt(record, rules)})
    return record


def limited(record: StepRecord, rules: Rules, limit: str, problem: Problem) -> StepRecord:
    """The record of a step that a limit ended: what was drawn is kept and marked, else it is skipped."""
    kept = kept_attempt(record, rules)
    outcome: StepOutcome = "skipped" if kept is None else "exhausted"
    record = record.model_copy(update={"outcome": outcome, "kept": kept, "limit": limit, "problem": problem})
    return proposed(record, rules)


def reopened(record: StepRecord) -> StepRecord:
    """The record of a step that a limit would have ended, now that the limit is raised: it goes on where it was."""
    return record.model_copy(update=dict.fromkeys(("outcome", "proposed", "kept", "limit", "problem")))


def ended(index: int, rules: Rules) -> StepRecord:
    """The record of a step that a run which finishes at a limit never came to."""
    assert rules.ended_at is not None, "it was said to finish"
    problem = Problem(
        error="LimitReached",
        message=f"Limit {rules.ended_at} was reached, and it was said to finish with what is there.",
        remedy=f"Raise limits.{rules.ended_at}.",
    )
    return StepRecord(index=index, outcome="skipped", limit=rules.ended_at, problem=problem)


def finished_at_limit(record: StepRecord, rules: Rules) -> StepRecord:
    """The record of a step that a limit ends, where it was said to finish: what was proposed is its outcome.

    Where reviewers are asked about steps, its picture is put before one as any other is.
    """
    closed = record.model_copy(update={"outcome": record.proposed, "proposed": None})
    return proposed(closed, replace(rules, ask_at_limit=False))


def stopped(record: StepRecord, rules: Rules) -> StepRecord:
    """The record of a step that was stopped: what was drawn is kept and marked, else it is cancelled."""
    kept = kept_attempt(record, rules)
    outcome: StepOutcome = "cancelled" if kept is None else "exhausted"
    problem = Problem(error="Cancelled", message="The run was stopped before this step was finished.")
    return record.model_copy(update={"outcome": outcome, "kept": kept, "problem": problem})


def broken(record: StepRecord, rules: Rules, problem: Problem) -> StepRecord:
    """The record of a step that an error outside its calls ended: what was drawn is kept and marked."""
    kept = kept_attempt(record, rules)
    outcome: StepOutcome = "backend_failed" if kept is None else "critic_failed"
    return record.model_copy(update={"outcome": outcome, "kept": kept, "problem": problem})
