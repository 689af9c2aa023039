"""Tells a run as it happens: what changed in the run becomes events on the graph's stream."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
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

log = logging.getLogger(__name__)

Writer = Callable[[Any], None]

#: The place of a sketch among the previews of a step: after those of a drawing that is not done.
_SKETCH = 99
#: The place of a finished picture among the previews of an attempt, where it is not the first candidate.
_CANDIDATES = 90
#: Each candidate has so many places for what is said of it.
_SAID_OF_EACH = 12


class Emitter:
    """Writes a run's events.

    Safe to call from any thread: calls finish on the ledger's loop, nodes run on the caller's.
    Guaranteed: what is started is finished before the run is, each step and attempt starts once,
    and nothing follows the run's own finish. While the plan is being written its steps may still
    change, so what is told of them is held back until it is validated.

    Args:
        run_id: The run.
        publish: When captions are told.
        writer: Takes the events; without one nothing is told. One that raises is not used again.
        link: Makes the URL under which a picture can be fetched.
        began: When the run began, by the monotonic clock; now, if left out.
    """

    def __init__(
        self,
        run_id: str,
        *,
        publish: Publish = "early",
        writer: Writer | None = None,
        link: Callable[[ArtifactRef], str] | None = None,
        began: float | None = None,
    ) -> None:
        self.run_id = run_id
        self._link = link
        self._publish: Publish = publish
        self._writer = writer
        self.began = time.monotonic() if began is None else began
        self._lock = threading.RLock()
        self._held: list[events.Event] | None = None
        #: What was streamed of each reasoning that is not over, by step, attempt and candidate.
        self._texts: dict[tuple[int | None, int, int], str] = {}
        #: Every step and every attempt that was told, and whether it is still open.
        self._steps: dict[int, bool] = {}
        self._attempts: dict[tuple[int, int], bool] = {}
        self._said: set[tuple[int | None, str]] = set()
        #: Steps that are no part of the document; nothing is told of them but warnings.
        self._hidden: frozenset[int] = frozenset()
        #: Which of the critic's answers about an attempt is told, where a reviewer's remark had it asked again.
        self._answer: dict[tuple[int | None, int, int], int] = {}
        #: How many plans of this run the one that is told took the place of.
        self.before = 0

    def emit(self, event: events.Event) -> None:
        """Stamp and write one event."""
        with self._lock:
            if _step_of(event) in self._hidden:
                if not isinstance(event, events.WarningEvent):
                    return
                # Whoever counts steps does not know this one.
                event = event.model_copy(update={"step": None, "message": f"Reference sheet: {event.message}"})
            event = event.model_copy(update={"t": round(time.monotonic() - self.began, 4)})
            # What may have been paid twice is told whatever becomes of the plan.
            paid = isinstance(event, events.WarningEvent) and event.code == "ambiguous"
            if self._held is not None and _step_of(event) is not None and not paid:
                self._held.append(event)
            else:
                self._write(event)

    def _write(self, event: events.Event) -> None:
        if self._writer is None:
            return
        try:
            self._writer(events.to_dict(event))
        except Exception:
            # A broken consumer must not cost a call that was paid for.
            log.exception("the stream of run %s cannot be written to any more", self.run_id)
            self._writer = None

    def _segment(self, step: int | None, kind: events.Kind, **fields: Any) -> None:
        self.emit(events.segment(self.run_id, step, kind, before=self.before, **fields))

    # --- the run ------------------------------------------------------------------------------

    def run_started(self) -> None:
        """The run was accepted and planning begins."""
        with self._lock:
            self.emit(events.RunEvent(run_id=self.run_id, phase="start"))
            self._held = []

    def hide(self, steps: Collection[int]) -> None:
        """Say nothing of these steps, but for warnings: they are no part of the document."""
        self._hidden = frozenset(steps)

    def planned(self, plan: Plan, changed: Collection[int] = ()) -> None:
        """The plan is validated: its outline is the first visible answer, then what was held back.

        Args:
            plan: The plan.
            changed: Steps that were begun otherwise; nothing is told of that.
        """
        with self._lock:
            before = self.before
            replaces = events.segment_id(self.run_id, None, before - 1, "plan") if before else None
            self._segment(None, "plan", attempt=before, text=plan.outline(), plan=plan, replaces=replaces)
            held, self._held = self._held or [], None
            for event in held:
                if _step_of(event) not in changed:
                    self._write(event)
            self._steps = {step: is_open for step, is_open in self._steps.items() if step not in changed}
            self._attempts = {name: is_open for name, is_open in self._attempts.items() if name[0] not in changed}
            self._texts = {name: text for name, text in self._texts.items() if name[0] not in changed}
            self._said = {(step, what) for step, what in self._said if step not in changed}

    def replanning(self) -> None:
        """The planner is asked again; nothing is told of steps that were begun."""
        with self._lock:
            self.reasoning_restarted(None)
            self._held = []
            self._steps, self._attempts = {}, {}
            self._texts = {name: text for name, text in self._texts.items() if name[0] is None}

    def unplanned(self) -> None:
        """There is no plan after all; nothing is told of steps that were begun."""
        with self._lock:
            self._finish_texts(None)
            self._held = None
            self._steps, self._attempts, self._texts = {}, {}, {}

    def warning(self, code: str, message: str, step: int | None = None) -> None:
        """Something the user should know; said once."""
        with self._lock:
            if self._once(step, f"{code}: {message}"):
                self.emit(events.WarningEvent(run_id=self.run_id, code=code, message=message, step=step))

    def limit(self, limit: str, used: float, cap: float) -> None:
        """A limit was reached; told once per limit."""
        with self._lock:
            if self._once(None, f"limit: {limit}"):
                self.emit(events.LimitEvent(run_id=self.run_id, limit=limit, used=used, cap=cap))

    def run_waiting(self, steps: int, spend: Spend) -> None:
        """Somebody is asked, and nothing goes on until there is an answer."""
        with self._lock:
            for step in [step for step, is_open in self._steps.items() if is_open]:
                self._close_attempts(step)
            self.emit(events.RunEvent(run_id=self.run_id, phase="waiting", outcome="waiting", steps=steps, spend=spend))
            self._writer = None

    def run_finished(self, outcome: RunOutcome, reasons: tuple[RunReason, ...], steps: int, spend: Spend) -> None:
        """The last event of a run."""
        with self._lock:
            for step in [step for step, is_open in self._steps.items() if is_open]:
                self._close_attempts(step)
                self.emit(events.StepEvent(run_id=self.run_id, step=step, phase="finish", outcome="cancelled"))
            self.emit(
                events.RunEvent(
                    run_id=self.run_id, phase="finish", outcome=outcome, reasons=reasons, steps=steps, spend=spend
                )
            )
            # A call that ignores being cancelled may still speak.
            self._writer = None

    # --- what planner and critic say ------------------------------------------------------------

    def reasoning(self, step: int | None, text: str, *, attempt: int = 0, candidate: int = 0) -> None:
        """More text of a reasoning segment."""
        with self._lock:
            name = (step, self.before if step is None else attempt, candidate)
            if name not in self._texts:
                self._texts[name] = ""
                self._reasoning(*name, phase="start")
            before = self._texts[name]
            self._reasoning(*name, phase="delta", text=text, offset=len(before))
            self._texts[name] = before + text

    def reasoning_finished(self, step: int | None, text: str, *, attempt: int = 0, candidate: int = 0) -> None:
        """The whole text of a reasoning segment; where none is given, what was told of it."""
        with self._lock:
            name = (step, self.before if step is None else attempt, candidate)
            streamed = self._texts.get(name)
            if streamed is not None and text and text != streamed:
                # Whoever adds up deltas has the whole as well, whatever was said on the way to it.
                if not text.startswith(streamed):
                    self.reasoning_restarted(step, attempt=attempt, candidate=candidate)
                further = text.removeprefix(self._texts[name])
                self.reasoning(step, further, attempt=attempt, candidate=candidate)
            self._texts.pop(name, None)
            if text or streamed is not None:
                self._reasoning(*name, text=text or streamed)

    def reasoning_restarted(self, step: int | None, *, attempt: int = 0, candidate: int = 0) -> None:
        """What was told of a reasoning segment is void: whoever speaks is asked again."""
        with self._lock:
            name = (step, self.before if step is None else attempt, candidate)
            if name in self._texts:
                self._texts[name] = ""
                self._reasoning(*name, phase="start")

    def judging(self, step: int, attempt: Attempt, *, candidate: int = 0) -> None:
        """The critic is asked about an attempt; again, where a reviewer had a remark about it."""
        self._answer[step, attempt.number, candidate] = len(attempt.overruled) + (attempt.review is not None)

    def _reasoning(self, step: int | None, attempt: int, candidate: int, **fields: Any) -> None:
        index = self._answer.get((step, attempt, candidate), 0) + _SAID_OF_EACH * candidate
        self._segment(step, "reasoning", attempt=attempt, index=index, candidate=candidate or None, **fields)

    def _finish_texts(self, step: int | None) -> None:
        for of, attempt, candidate in [name for name in self._texts if name[0] == step]:
            self.reasoning_finished(of, "", attempt=attempt, candidate=candidate)

    # --- the steps ----------------------------------------------------------------------------

    def step_started(self, step: Step) -> None:
        """The first drawing of a step was asked for; told once."""
        with self._lock:
            if step.index in self._steps:
                return
            self._steps[step.index] = True
            self.emit(events.StepEvent(run_id=self.run_id, step=step.index, phase="start"))
            if self._publish == "early":
                self._caption(step)

    def _caption(self, step: Step) -> None:
        if step.caption:
            self._segment(step.index, "caption", text=step.caption)

    def attempt_started(self, step: int, attempt: int, seed: int | None, prompt: str) -> None:
        """A drawing was asked for, told once; from the second attempt on with its refined prompt."""
        with self._lock:
            if (step, attempt) in self._attempts:
                return
            self._attempts[step, attempt] = True
            self.emit(events.AttemptEvent(run_id=self.run_id, step=step, attempt=attempt, phase="start", seed=seed))
            if attempt > 0:
                self._segment(step, "refined_prompt", attempt=attempt, text=prompt)

    def unfinished(self, step: int, attempt: int, image: ArtifactRef, number: int) -> None:
        """A picture of a drawing that is not done.

        Args:
            step: The step.
            attempt: The attempt.
            image: The picture.
            number: Which of the attempt's, from 1; the finished one is 0.
        """
        with self._lock:
            self._picture(step, "preview", attempt, image, unchecked=True, index=number)

    def drawn(self, step: int, attempt: Attempt, *, candidate: int = 0) -> None:
        """A picture exists; nobody has judged it yet."""
        with self._lock:
            if attempt.image is not None:
                self._picture(step, "preview", attempt.number, attempt.image, unchecked=True, candidate=candidate)
            for message in attempt.warnings:
                self.warning("backend", message, step)

    def judged(self, step: int, attempt: Attempt) -> None:
        """The attempt is over: the critic's answer about its picture, or why there is none."""
        with self._lock:
            critique = attempt.critique
            if not attempt.candidates or attempt.review is not None:
                self._judgement(step, attempt, attempt.chosen or 0)
            if critique is not None and critique.verdict == "revise" and attempt.image is not None:
                self._picture(step, "rejected_image", attempt.number, attempt.image, candidate=attempt.chosen or 0)
            for other in attempt.candidates if attempt.review is None else ():
                if other.image is not None and other.number != attempt.chosen:
                    self._picture(step, "rejected_image", attempt.number, other.image, candidate=other.number)
            self._attempts[step, attempt.number] = False
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

    def candidate_judged(self, step: int, attempt: Attempt, candidate: int) -> None:
        """The critic's answer about one of several pictures; `attempt` is as if it were the only one."""
        with self._lock:
            self._judgement(step, attempt, candidate)

    def _judgement(self, step: int, attempt: Attempt, candidate: int) -> None:
        critique = attempt.critique
        said = critique.reasoning if critique is not None and critique.judge == "critic" else ""
        self.judging(step, attempt, candidate=candidate)
        self.reasoning_finished(step, said, attempt=attempt.number, candidate=candidate)
        if attempt.image is not None and attempt.problem is not None:
            self.warning("critic_failed", attempt.problem.message, step)
        if critique is not None:
            index = self._answer[step, attempt.number, candidate] + _SAID_OF_EACH * candidate
            self._segment(
                step, "critique", attempt=attempt.number, index=index, critique=critique, candidate=candidate or None
            )

    def reviewed(self, step: Step, attempt: Attempt) -> None:
        """What a reviewer decided about an attempt."""
        with self._lock:
            assert attempt.review is not None, "told only where there is one"
            index = len(attempt.overruled) + (attempt.critique is not None)  # after all that was said before
            index += _SAID_OF_EACH * (attempt.chosen or 0)
            self._segment(step.index, "critique", attempt=attempt.number, index=index, critique=attempt.review)
            if attempt.review.verdict == "revise" and attempt.image is not None:
                self._picture(step.index, "rejected_image", attempt.number, attempt.image)

    def sketched(self, step: Step, image: ArtifactRef) -> None:
        """The sketch of a step in a draft; nothing of it will be in the document."""
        with self._lock:
            self._picture(step.index, "preview", 0, image, unchecked=True, index=_SKETCH)

    def concluded(self, step: Step, record: StepRecord) -> None:
        """The step has its outcome: its picture, or a placeholder that says why there is none."""
        with self._lock:
            self.step_started(step)
            self._steps[step.index] = False
            self._close_attempts(step.index)
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

    def _close_attempts(self, step: int) -> None:
        """Finish what a limit, a stop or a fault cut off: it was neither judged nor did it fail."""
        self._finish_texts(step)
        for of, attempt in [name for name, is_open in self._attempts.items() if is_open and name[0] == step]:
            self._attempts[of, attempt] = False
            self.emit(events.AttemptEvent(run_id=self.run_id, step=of, attempt=attempt, phase="finish"))

    def _picture(
        self,
        step: int,
        kind: events.Kind,
        attempt: int,
        ref: ArtifactRef,
        *,
        unchecked: bool | None = None,
        index: int = 0,
        candidate: int = 0,
    ) -> None:
        if candidate:
            index = _CANDIDATES + candidate
        url = self._link(ref) if self._link is not None else None
        image = events.SegmentImage.of(ref, unchecked=unchecked, url=url)
        self._segment(step, kind, attempt=attempt, image=image, index=index, candidate=candidate or None)

    def _once(self, step: int | None, what: str) -> bool:
        if (step, what) in self._said:
            return False
        self._said.add((step, what))
        return True


def _step_of(event: events.Event) -> int | None:
    return None if isinstance(event, (events.RunEvent, events.LimitEvent)) else event.step
