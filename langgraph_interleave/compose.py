"""From what is known of a run to the document that is delivered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from langgraph_interleave import outcomes, routing
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.document.text import shorten
from langgraph_interleave.document.words import ASKED_AT_LIMIT
from langgraph_interleave.drift import Look, drift, look_of
from langgraph_interleave.errors import ArtifactMissing
from langgraph_interleave.imaging.formats import Unreadable
from langgraph_interleave.references import Basis
from langgraph_interleave.routing import RunView
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    DocumentData,
    DocumentStep,
    Drift,
    PlanRecord,
    RunOutcome,
    RunReason,
    Spend,
    Step,
    StepOutcome,
    StepRecord,
    StyleGuide,
    parse_source,
)

#: Said beside the sketch of a step, while its plan waits to be approved.
SKETCHED = "A sketch by code: the plan is to be approved before it is drawn."
#: Characters of a reason that are told beside a picture; the whole is in the record.
_REASON = 200


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
    drifts: Mapping[int, Drift] | None = None,
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
        drifts: How far each step's picture has come, as `measure_drift` says.
    """
    sketches = dict(enumerate(plan.sketches)) if outcome == "waiting" else {}
    missing: StepOutcome = "waiting" if outcome == "waiting" else "cancelled"
    steps = [
        document_step(
            step,
            view.records.get(step.index) or StepRecord(index=step.index, proposed=missing),
            record_digests.get(step.index),
            found=routing.basis_of(view, step),
            measured=(drifts or {}).get(step.index),
            sketch=sketches.get(step.index),
            at_limit=step.index in view.records and outcomes.at_limit(view.records[step.index], view.rules),
        )
        for step in view.steps
    ]
    planned = tuple(steps[: len(view.planned)])
    return DocumentData(
        run_id=plan.run_id,
        request=plan.request,
        outcome=outcome,
        reasons=reasons,
        title=plan.plan.title if plan.plan else None,
        first_number=plan.plan.first_number if plan.plan else 1,
        style_guide=plan.plan.style_guide if plan.plan else StyleGuide(),
        steps=planned,
        sheet=steps[view.sheet] if view.sheet is not None else None,
        plan=plan_digest,
        problem=plan.problem if plan.plan is None else None,
        warnings=plan.warnings,
        notes=notes,
        version=plan.version,
        parent=plan.parent,
        spend=spend,
    )


def document_step(
    step: Step,
    record: StepRecord | None,
    digest: str | None,
    *,
    found: Basis | None = None,
    measured: Drift | None = None,
    sketch: ArtifactRef | None = None,
    at_limit: bool = False,
) -> DocumentStep:
    """One step of the document; a step without a record was never begun, because the run was stopped.

    `at_limit`: a limit of the run ends it, and it is asked whether to raise that.
    """
    record = record or StepRecord(index=step.index, outcome="cancelled")
    return DocumentStep(
        index=step.index,
        op=step.op,
        outcome=_outcome(record),
        title=step.title,
        caption=step.caption,
        image=record.picture or (None if record.attempts else sketch),
        alt="" if step.op == "text" or step.caption else step.instruction or "",
        mark=SKETCHED if sketch is not None and not record.attempts else mark(record, at_limit=at_limit),
        attempts=len(record.attempts),
        kept=record.kept,
        sources=step.sources if found is None else found.drawn_from,
        record=digest,
        depth=found.depth if found is not None and record.picture is not None else None,
        drift=measured,
        signed=record.signed,
    )


async def measure_drift(view: RunView, artifacts: ArtifactStore) -> dict[int, Drift]:
    """How far each picture has come, by the measure of `drift`.

    `first` is against the picture its chain of edits began with; where it was drawn anew, against the first
    picture of the sequence. `previous` is against the picture it builds on, else the one before it in
    the sequence. The first picture of a sequence has neither. A picture that cannot be read any more
    is left out.
    """
    looks: dict[str, Look | None] = {}

    async def look(picture: ArtifactRef | None) -> Look | None:
        if picture is None:
            return None
        if picture.sha256 not in looks:
            try:
                looks[picture.sha256] = await asyncio.to_thread(look_of, await artifacts.aget_image(picture))
            except (ArtifactMissing, Unreadable, OSError):
                looks[picture.sha256] = None
        return looks[picture.sha256]

    async def between(one: ArtifactRef, other: ArtifactRef | None) -> float | None:
        first, second = await look(one), await look(other)
        return None if first is None or second is None else drift(first, second)

    measured: dict[int, Drift] = {}
    earlier: list[ArtifactRef] = []
    for step in view.planned:
        record = view.records.get(step.index)
        picture = record.picture if record is not None else None
        if picture is None:
            continue
        found = routing.basis_of(view, step)
        root = _picture(view, found.root) or (earlier[0] if earlier else None)
        before = _picture(view, found.before or next(iter(found.drawn_from), None)) or (
            earlier[-1] if earlier else None
        )
        if root is not None or before is not None:
            measured[step.index] = Drift(first=await between(picture, root), previous=await between(picture, before))
        earlier.append(picture)
    return measured


def _picture(view: RunView, source: str | None) -> ArtifactRef | None:
    if source is None:
        return None
    kind, number = parse_source(source)
    if kind == "input":
        return view.request.images[number]
    record = view.records.get(number)
    return None if record is None else record.picture


def _outcome(record: StepRecord) -> StepOutcome:
    """A step's outcome; of one without, whether it waits for a reviewer or was never come to."""
    if record.outcome is not None:
        return record.outcome
    return "waiting" if record.proposed not in (None, "cancelled") else "cancelled"


def mark(record: StepRecord, *, at_limit: bool = False) -> str | None:
    """The sentence that tells a reader what is not as it should be; `None` when all is well."""
    if _outcome(record) == "waiting" and at_limit and record.problem is not None:
        return f"{record.problem.message} {ASKED_AT_LIMIT}"
    if _outcome(record) == "waiting":
        return "A reviewer is asked about this picture." if record.attempts else None
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
    if _outcome(record) == "cancelled":
        return "The run was stopped before this picture was drawn."
    return None


def _unaccepted(record: StepRecord) -> str:
    tries = len(record.attempts)
    judged = [attempt for attempt in record.attempts if attempt.critique is not None]
    if not judged:
        return "This picture was not judged."  # a limit was reached, or the run was stopped, just then
    by, last = _judges(judged), _reason(judged[-1])
    if tries == 1:
        return f"{by} did not accept this picture{f': {last}' if last else '.'}"
    shown = f"attempt {(record.kept or 0) + 1} is shown"
    why = f" What was said of the last: {last}" if last else ""
    return f"{by} accepted none of {tries} attempts; {shown}.{why}"


def _judges(attempts: Sequence[Attempt]) -> str:
    """Who turned these pictures down: a check, which goes before whatever the critic said of it, or the critic."""
    checks = list(dict.fromkeys(check.name for attempt in attempts for check in attempt.failed_checks))
    named = f"check{'s' * (len(checks) > 1)} {' and '.join(checks)}"
    if not checks:
        return "The critic"
    return f"The {named}" if all(attempt.failed_checks for attempt in attempts) else f"The critic and the {named}"


def _reason(attempt: Attempt) -> str:
    """Why a picture was turned down, on one line, as a sentence."""
    said = "; ".join(check.reason for check in attempt.failed_checks if check.reason)
    said = said or (attempt.critique.reasoning if attempt.critique is not None else "")
    line = shorten(said, _REASON)
    return line if not line or line.endswith((".", "!", "?", "…")) else f"{line}."
