"""Tells a run as it happens: what changed in the run becomes events on the graph's stream."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any

from langgraph_interleave import events
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    Plan,
    Publish,
    RunOutcome,
    RunReason,
    Spend,
    Step,
    StepRecord,
)

Writer = Callable[[Any], None]


class Emitter:
    """Writes a run's events through the writer that the first node of an invocation captured.

    Safe to call from any thread: calls finish on the ledger's loop, nodes run on the caller's.
    Events written after the invocation ended go nowhere.
    """

    def __init__(self, run_id: str, *, publish: Publish = "early", writer: Writer | None = None) -> None:
        self.run_id = run_id
        self._publish: Publish = publish
        self._writer = writer
        self._context: Context = copy_context()
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._lengths: dict[str, int] = {}
        self._limits: set[str] = set()
        self._told: set[str] = set()

    def emit(self, event: events.Event) -> None:
        """Stamp and write one event."""
        if self._writer is None:
            return
        stamped = event.model_copy(update={"t": round(time.monotonic() - self._began, 4)})
        with self._lock:
            # The writer reads the context it was made in; a context cannot be entered twice at once.
            self._context.copy().run(self._writer, events.to_dict(stamped))

    def _segment(self, step: int | None, kind: events.Kind, **fields: Any) -> None:
        self.emit(events.segment(self.run_id, step, kind, **fields))

    def _once(self, what: str) -> bool:
        with self._lock:
            if what in self._told:
                return False
            self._told.add(what)
            return True

    def run_started(self) -> None:
        """The run was accepted and planning begins."""
        self.emit(events.RunEvent(run_id=self.run_id, phase="start"))

    def warning(self, code: str, message: str, step: int | None = None) -> None:
        """Something the user should know."""
        if self._once(f"warning:{code}:{step}:{message}"):
            self.emit(events.WarningEvent(run_id=self.run_id, code=code, message=message, step=step))

    def limit(self, limit: str, used: float, cap: float) -> None:
        """A limit was reached; told once per limit."""
        with self._lock:
            known = limit in self._limits
            self._limits.add(limit)
        if not known:
            self.emit(events.LimitEvent(run_id=self.run_id, limit=limit, used=used, cap=cap))

    def reasoning(self, step: int | None, text: str, *, attempt: int = 0, kind: events.Kind = "reasoning") -> None:
        """More text of a reasoning segment."""
        name = events.segment_id(self.run_id, step, attempt, kind)
        with self._lock:
            offset = self._lengths.get(name)
            self._lengths[name] = (offset or 0) + len(text)
        if offset is None:
            self._segment(step, kind, attempt=attempt, phase="start")
        self._segment(step, kind, attempt=attempt, phase="delta", text=text, offset=offset or 0)

    def reasoning_finished(
        self, step: int | None, text: str, *, attempt: int = 0, kind: events.Kind = "reasoning"
    ) -> None:
        """The whole text of a reasoning segment."""
        with self._lock:
            self._lengths.pop(events.segment_id(self.run_id, step, attempt, kind), None)
        if text:
            self._segment(step, kind, attempt=attempt, text=text)

    def planned(self, plan: Plan) -> None:
        """The plan is validated: its outline is the first visible answer."""
        self._segment(None, "plan", text=outline(plan), plan=plan)

    def step_started(self, step: Step) -> None:
        """The first drawing of a step was asked for."""
        if not self._once(f"step:{step.index}"):
            return
        self.emit(events.StepEvent(run_id=self.run_id, step=step.index, phase="start"))
        if self._publish == "early":
            self._caption(step)

    def _caption(self, step: Step) -> None:
        if step.caption:
            self._segment(step.index, "caption", text=step.caption)

    def attempt_started(self, step: int, attempt: int, seed: int, prompt: str) -> None:
        """A drawing was asked for; from the second attempt on its refined prompt is told."""
        self.emit(events.AttemptEvent(run_id=self.run_id, step=step, attempt=attempt, phase="start", seed=seed))
        if attempt > 0:
            self._segment(step, "refined_prompt", attempt=attempt, text=prompt)

    def drawn(self, step: int, attempt: Attempt) -> None:
        """A picture exists; nobody has judged it yet."""
        if attempt.image is not None:
            self._picture(step, "preview", attempt.number, attempt.image, unchecked=True)
        for message in attempt.warnings:
            self.warning("backend", message, step)

    def judged(self, step: int, attempt: Attempt) -> None:
        """The critic's answer about a picture."""
        critique = attempt.critique
        if critique is not None:
            if critique.judge == "critic" and critique.reasoning:
                self.reasoning_finished(step, critique.reasoning, attempt=attempt.number)
            self._segment(step, "critique", attempt=attempt.number, critique=critique)
            if critique.verdict == "revise" and attempt.image is not None:
                self._picture(step, "rejected_image", attempt.number, attempt.image)
        self.emit(
            events.AttemptEvent(
                run_id=self.run_id,
                step=step,
                attempt=attempt.number,
                phase="finish",
                seed=attempt.seed,
                verdict=critique.verdict if critique else None,
                scores=critique.scores if critique else None,
            )
        )

    def concluded(self, step: Step, record: StepRecord) -> None:
        """The step has its outcome: its picture, or a placeholder that says why there is none."""
        self.step_started(step)
        if self._publish == "verified":
            self._caption(step)
        if record.picture is not None and record.kept is not None:
            self._picture(step.index, "image", record.kept, record.picture)
        elif step.op != "text":
            reason = record.problem.message if record.problem else "No picture."
            self._segment(step.index, "placeholder", attempt=max(len(record.attempts) - 1, 0), text=reason)
        self.emit(
            events.StepEvent(
                run_id=self.run_id,
                step=step.index,
                phase="finish",
                outcome=record.outcome,
                attempts=len(record.attempts),
            )
        )

    def run_finished(self, outcome: RunOutcome, reasons: tuple[RunReason, ...], steps: int, spend: Spend) -> None:
        """The last event of a run."""
        self.emit(
            events.RunEvent(
                run_id=self.run_id, phase="finish", outcome=outcome, reasons=reasons, steps=steps, spend=spend
            )
        )

    def _picture(
        self, step: int, kind: events.Kind, attempt: int, ref: ArtifactRef, *, unchecked: bool | None = None
    ) -> None:
        self._segment(step, kind, attempt=attempt, image=events.SegmentImage.of(ref, unchecked=unchecked))


def outline(plan: Plan) -> str:
    """The plan as numbered lines, for people."""
    titles = [plan.title] if plan.title else []
    steps = [f"{step.index + 1}. {step.title or step.instruction or step.caption}" for step in plan.steps]
    return "\n".join(titles + steps)
