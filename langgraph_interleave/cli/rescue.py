"""A document from what was told of a run, for a run that ended without delivering one."""

from __future__ import annotations

from typing import Literal

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.progress import RunProgress, StepProgress
from langgraph_interleave.errors import ArtifactMissing
from langgraph_interleave.types import ArtifactRef, DocumentData, DocumentStep, Request, Spend, Step, StyleGuide

_MARK = "The run was stopped before this picture was kept."


def rescue(
    progress: RunProgress,
    request: Request,
    artifacts: ArtifactStore,
    *,
    run_id: str,
    outcome: Literal["cancelled", "failed"] = "cancelled",
) -> DocumentData:
    """Put together what exists: every kept picture, every caption, a mark where there is none.

    Args:
        progress: What the events told.
        request: The request of the run.
        artifacts: The store its pictures are in.
        run_id: Its id.
        outcome: What the run came to: stopped, or ended by a fault.

    Returns:
        A document; when there was no plan yet, of the steps that had been started.
    """
    plan = progress.plan
    if plan is not None:
        steps = [_step(step, progress.steps.get(step.index), artifacts) for step in plan.steps]
    else:
        steps = [_early_step(known, artifacts) for known in progress.in_order()]
    return DocumentData(
        run_id=run_id,
        request=request,
        outcome=outcome,
        title=plan.title if plan else None,
        style_guide=plan.style_guide if plan else StyleGuide(),
        steps=tuple(steps),
        warnings=tuple(progress.warnings),
        spend=progress.spend or Spend(calls=dict(progress.calls), seconds=progress.seconds),
    )


def _step(step: Step, known: StepProgress | None, artifacts: ArtifactStore) -> DocumentStep:
    image = _picture(known, artifacts) if known else None
    outcome = known.outcome if known and known.outcome else "cancelled"
    if step.op == "text":
        outcome = "text_only"
    elif image is None and outcome in ("accepted", "exhausted", "critic_failed"):
        outcome = "cancelled"
    return DocumentStep(
        index=step.index,
        op=step.op,
        outcome=outcome,
        title=step.title,
        caption=step.caption,
        image=image,
        alt="" if step.op == "text" else (step.caption or step.instruction or ""),
        mark=None if image or step.op == "text" else ((known.reason if known else "") or _MARK),
        attempts=(known.attempts if known else None) or 0,
        kept=known.kept if known and image else None,
        sources=step.sources,
    )


def _early_step(known: StepProgress, artifacts: ArtifactStore) -> DocumentStep:
    """A step that was started while the plan was still being written: only its caption is known."""
    title = known.title or None
    image = _picture(known, artifacts)
    return DocumentStep(
        index=known.index,
        op="generate",
        outcome="accepted" if image and known.outcome == "accepted" else "cancelled",
        caption=title,
        image=image,
        alt=known.title,
        mark=None if image else _MARK,
        attempts=known.attempts or 0,
        kept=known.kept if image else None,
    )


def _picture(known: StepProgress, artifacts: ArtifactStore) -> ArtifactRef | None:
    image = known.image
    if image is None:
        return None
    try:
        size = len(artifacts.get(image.sha256))
    except ArtifactMissing:
        return None
    return ArtifactRef(sha256=image.sha256, mime=image.mime, size=size, width=image.width, height=image.height)
