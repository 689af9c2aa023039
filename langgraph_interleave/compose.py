"""From what is known of a run to the document that is delivered."""

from __future__ import annotations

from langgraph_interleave.routing import RunView
from langgraph_interleave.types import (
    DocumentData,
    DocumentStep,
    PlanRecord,
    RunOutcome,
    RunReason,
    Spend,
    Step,
    StepRecord,
    StyleGuide,
)


def compose_document(
    plan: PlanRecord,
    view: RunView,
    *,
    plan_digest: str | None,
    record_digests: dict[int, str],
    outcome: RunOutcome,
    reasons: tuple[RunReason, ...],
    spend: Spend,
    notes: tuple[str, ...] = (),
) -> DocumentData:
    """Put the document together. Pure; steps without a record appear as cancelled.

    Args:
        plan: The run's plan record.
        view: What is known of its steps.
        plan_digest: Digest of the plan record.
        record_digests: Digest of each step's record.
        outcome: What the run came to.
        reasons: Why it is not complete.
        spend: What it used.
        notes: What the reader must know about how it was made.
    """
    steps = [document_step(step, view.records.get(step.index), record_digests.get(step.index)) for step in view.steps]
    return DocumentData(
        run_id=plan.run_id,
        request=plan.request,
        outcome=outcome,
        reasons=reasons,
        title=plan.plan.title if plan.plan else None,
        first_number=plan.plan.first_number if plan.plan else 1,
        style_guide=plan.plan.style_guide if plan.plan else StyleGuide(),
        steps=tuple(steps),
        plan=plan_digest,
        problem=plan.problem,
        warnings=plan.warnings,
        notes=notes,
        spend=spend,
    )


def document_step(step: Step, record: StepRecord | None, digest: str | None) -> DocumentStep:
    """One step of the document; a step without a record was never begun, because the run was stopped."""
    record = record or StepRecord(index=step.index, outcome="cancelled")
    return DocumentStep(
        index=step.index,
        op=step.op,
        outcome=record.outcome or "cancelled",
        title=step.title,
        caption=step.caption,
        image=record.picture,
        alt="" if step.op == "text" or step.caption else step.instruction or "",
        mark=mark(record),
        attempts=len(record.attempts),
        kept=record.kept,
        sources=step.sources,
        record=digest,
    )


def mark(record: StepRecord) -> str | None:
    """The sentence that tells a reader what is not as it should be; `None` when all is well."""
    reason = record.problem.message if record.problem else ""
    if record.outcome == "exhausted":
        return f"{_unaccepted(record)} {reason}".strip()
    if record.outcome == "critic_failed":
        return f"This picture was not judged. {reason}".strip()
    if record.outcome == "backend_failed":
        return f"This picture could not be drawn. {reason}".strip()
    if record.outcome == "blocked":
        return f"The provider refused to draw this. {reason}".strip()
    if record.outcome == "skipped":
        return f"This step was skipped. {reason}".strip()
    if record.outcome == "cancelled":
        return "The run was stopped before this picture was drawn."
    return None


def _unaccepted(record: StepRecord) -> str:
    tries = len(record.attempts)
    if all(attempt.critique is None for attempt in record.attempts):
        return "This picture was not judged."  # a limit was reached, or the run was stopped, just then
    if tries == 1:
        return "The critic did not accept this picture."
    return f"The critic accepted none of {tries} attempts; attempt {(record.kept or 0) + 1} is shown."
