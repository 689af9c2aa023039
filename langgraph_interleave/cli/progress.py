"""What a person is shown of a run, as a pure function of its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from langgraph_interleave.cli.recorded import Recorded
from langgraph_interleave.events import (
    AttemptEvent,
    Event,
    LimitEvent,
    RunEvent,
    SegmentEvent,
    SegmentImage,
    StepEvent,
    WarningEvent,
)
from langgraph_interleave.types import Critique, Plan, RunOutcome, RunReason, Spend, StepOutcome

Phase = Literal["waiting", "drawing", "judging", "judged", "rewritten", "done"]


@dataclass(slots=True)
class StepProgress:
    """Where one step is. `number` is what people call it; `attempt` is 0-based; `critique` is that of the
    latest judged attempt, `fault` what the critic said of the latest rejected one, `faults` what it said of each.
    `rewritten` means: being drawn again, by the `refined_prompt` of attempt `refined_for`; `prompt`
    is the one before it. `begun` are the attempts whose drawing was asked for, `own` the one that is a
    reviewer's own picture; `plan` says of which plan of the run all this was told, from 0. `recalled` is
    a state, `fresh` a step of which something was not recorded before this process made the run.
    """

    index: int
    number: int = 0
    title: str = ""
    text_only: bool = False
    phase: Phase = "waiting"
    attempt: int = 0
    critique: Critique | None = None
    #: Which picture of its attempt that is of; 0 where there is one.
    candidate: int = 0
    fault: str = ""
    faults: dict[int, str] = field(default_factory=dict[int, str])
    prompt: str = ""
    refined_prompt: str | None = None
    refined_for: int | None = None
    image: SegmentImage | None = None
    kept: int | None = None
    outcome: StepOutcome | None = None
    attempts: int | None = None
    reason: str = ""
    begun: set[int] = field(default_factory=set[int])
    own: int | None = None
    plan: int = 0
    recalled: bool = False
    fresh: bool = False
    #: Whether there is a critic.
    judges: bool = True

    @property
    def is_own(self) -> bool:
        """Whether the picture that is kept is a reviewer's own."""
        return self.outcome == "accepted" and self.own is not None and self.own == self.kept


@dataclass(slots=True)
class RunProgress:
    """Where a run is: feed it every event, in the order they come.

    Events may come more than once (a resumed run tells again); segments are known by their id.
    `calls` counts per role what the events show; once the run has finished, `spend` is exact. `miscounted`
    says that the plan has another number of steps than was asked for; `unchanged`, that a change came to the
    document there was. `recorded` is what was known before this process made the run, `judges` whether there
    is a critic.
    """

    plan: Plan | None = None
    steps: dict[int, StepProgress] = field(default_factory=dict[int, StepProgress])
    calls: dict[str, int] = field(default_factory=lambda: {"planner": 0, "backend": 0, "critic": 0})
    warnings: list[str] = field(default_factory=list[str])
    miscounted: str = ""
    unchanged: bool = False
    limits: list[LimitEvent] = field(default_factory=list[LimitEvent])
    thinking: str = ""
    seconds: float = 0.0
    outcome: RunOutcome | None = None
    reasons: tuple[RunReason, ...] = ()
    spend: Spend | None = None
    run_id: str | None = None
    recorded: Recorded = field(default_factory=Recorded)
    judges: bool = True
    #: What a call of each role is expected to cost, in US dollars; `None` where nobody knows.
    call_usd: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    _seen: set[str] = field(default_factory=set[str])
    _replaced: int = 0
    #: The plans of the run in which an attempt was begun, by step and attempt.
    _tried: dict[tuple[int, int], set[int]] = field(default_factory=dict[tuple[int, int], set[int]])
    #: Seconds until somebody was asked; events tell the time since the answer.
    _earlier: float = 0.0

    def update(self, event: Event) -> None:
        """Take in one event."""
        self.seconds = max(self.seconds, self._earlier + event.t)
        self.run_id = event.run_id
        if isinstance(event, SegmentEvent):
            self._segment(event)
        elif isinstance(event, StepEvent):
            self._step_event(event)
        elif isinstance(event, AttemptEvent):
            self._attempt_event(event)
        elif isinstance(event, RunEvent):
            self._run_event(event)
        elif isinstance(event, LimitEvent):
            self.limits.append(event)
        else:
            self._warning(event)

    def go_on(self) -> None:
        """What waited for an answer is under way again."""
        self._earlier = self.seconds = self.spend.seconds if self.spend else self.seconds
        self.outcome, self.spend = None, None

    def in_order(self) -> list[StepProgress]:
        """The steps by index."""
        return [self.steps[index] for index in sorted(self.steps)]

    def _step(self, index: int) -> StepProgress:
        new = StepProgress(index=index, number=index + 1, plan=self._replaced, judges=self.judges)
        return self.steps.setdefault(index, new)

    def _recall(self, step: StepProgress, attempt: int, *, judged: bool) -> None:
        """A step has come to where its attempt is drawn, or judged: whether that was known before."""
        earlier = sum(plan < step.plan for plan in self._tried.get((step.index, attempt), ()))
        known = self.recorded.judged if judged else self.recorded.drew
        step.recalled = known(step.index, attempt, earlier=earlier)
        step.fresh = step.fresh or not step.recalled

    def _begun(self, index: int) -> StepProgress:
        """A step that is being drawn; what was told of it by a plan that another took the place of is over."""
        known = self._step(index)
        if known.plan == self._replaced:
            return known
        known = StepProgress(index, known.number, known.title, known.text_only, plan=self._replaced, judges=self.judges)
        if self.plan is not None:
            known.prompt = next((step.prompt or "" for step in self.plan.steps if step.index == index), "")
        self.steps[index] = known
        return known

    def _new(self, event: SegmentEvent) -> bool:
        if event.segment_id in self._seen:
            return False
        self._seen.add(event.segment_id)
        return True

    def _segment(self, event: SegmentEvent) -> None:
        if event.step is None:
            self._plan_segment(event)
            return
        step = self._step(event.step)
        if event.phase != "finish":
            return
        if event.kind == "caption" and not step.title:
            step.title = event.text or ""
        elif event.kind == "preview" and (step.phase == "waiting" or step.plan != self._replaced):
            return  # a sketch, from before the plan was approved
        elif event.kind == "preview" and step.outcome is None and event.attempt >= step.attempt:
            step.phase, step.attempt = "judging", event.attempt
            self._recall(step, event.attempt, judged=self.judges)
            self.calls["backend"] += self._new(event)
        elif event.kind == "critique" and event.critique is not None:
            step.critique, step.candidate = event.critique, event.candidate or 0
            if event.critique.judge == "human" and event.attempt not in step.begun:
                step.own = event.attempt  # nothing was asked to draw it
            if event.critique.verdict == "revise":
                step.fault = event.critique.reasoning
                step.faults[event.attempt] = event.critique.reasoning
            if step.outcome is None and event.attempt >= step.attempt:
                step.phase = "judged"
                # What a check says of a picture is known with it, and what a person says is news.
                self._recall(step, event.attempt, judged=self.judges and event.critique.judge == "critic")
                if event.critique.judge == "human":
                    step.recalled, step.fresh = False, True
            self.calls["critic"] += event.critique.judge == "critic" and self._new(event)
        elif event.kind == "refined_prompt" and event.attempt >= step.attempt:
            if step.refined_for is not None and step.refined_for < event.attempt:
                step.prompt = step.refined_prompt or step.prompt
            step.refined_prompt, step.refined_for = event.text, event.attempt
            if step.outcome is None:
                step.phase, step.attempt = "rewritten", event.attempt
        elif event.kind == "image":
            step.kept, step.image = event.attempt, event.image
        elif event.kind == "placeholder":
            step.reason = event.text or ""

    def _plan_segment(self, event: SegmentEvent) -> None:
        if event.kind == "reasoning":
            text = event.text or ""
            self.thinking = text if event.phase != "delta" else self.thinking + text
        elif event.kind == "plan" and event.plan is not None:
            if self._new(event):
                self.calls["planner"] += 1
                self._replaced += self.plan is not None
            self._drop_changed(event.plan)
            self.plan = event.plan
            for step in event.plan.steps:
                known = self._step(step.index)
                known.number = step.index + event.plan.first_number
                known.title = step.title or step.caption or step.instruction or ""
                known.prompt = step.prompt or ""
                known.text_only = step.op == "text"

    def _drop_changed(self, plan: Plan) -> None:
        """Of steps that a new plan has not, or otherwise, nothing is shown any more."""
        if self.plan is None or self.plan == plan:
            return
        before = {step.index: step for step in self.plan.steps}
        now = {step.index: step for step in plan.steps}
        self.steps = {index: step for index, step in self.steps.items() if now.get(index) == before.get(index)}

    def _step_event(self, event: StepEvent) -> None:
        step = self._step(event.step)
        if event.phase == "start":
            return  # perhaps it is only taken over from an earlier version; its first attempt says
        step.phase, step.outcome, step.attempts = "done", event.outcome, event.attempts
        step.recalled = bool(step.begun) and not step.fresh and event.outcome not in ("cancelled", "skipped")

    def _attempt_event(self, event: AttemptEvent) -> None:
        step = self._begun(event.step) if event.phase == "start" else self._step(event.step)
        if event.phase == "start":
            step.begun.add(event.attempt)
            self._tried.setdefault((event.step, event.attempt), set()).add(step.plan)
        if step.outcome is not None or event.attempt < step.attempt:
            return
        if event.phase == "start":
            # From the second attempt on, the refined prompt is told right after this.
            step.phase, step.attempt = ("rewritten" if event.attempt else "drawing"), event.attempt
            self._recall(step, event.attempt, judged=False)
        elif event.verdict is not None:
            step.phase = "judged"

    def _run_event(self, event: RunEvent) -> None:
        if event.phase == "start":
            self.outcome = None
            return
        self.outcome, self.reasons, self.spend = event.outcome or self.outcome, event.reasons, event.spend
        if event.phase == "waiting":
            self.outcome = "waiting"
            self.calls |= event.spend.calls if event.spend else {}

    def _warning(self, event: WarningEvent) -> None:
        if event.code == "nothing_changed":
            self.unchanged = True  # that is the outcome, rather than a note beside it
            return
        where = "" if event.step is None else f"step {self._step(event.step).number}: "
        message = where + event.message
        if event.code == "step_count":
            self.miscounted = event.message
        if message not in self.warnings:
            self.warnings.append(message)


def said(step: StepProgress) -> str:
    """The state of a step in words: drawing, judged, rewritten, kept.

    Example:
        >>> said(StepProgress(index=0, phase="done", outcome="accepted", kept=1, attempts=2))
        'kept at attempt 2'
    """
    if step.phase == "done":
        return _concluded(step) + (", from before" if step.recalled else "")
    if step.recalled:
        return "from before"
    again = f", attempt {step.attempt + 1}" if step.attempt else ""
    if not step.judges and step.phase in ("judging", "judged") and not step.fault:
        return f"drawn{again}"
    if step.phase == "judged":
        verdict = step.critique.verdict if step.critique else "no verdict"
        which = f", candidate {step.candidate + 1}" if step.candidate else ""
        return f"judged: {verdict}{again}{which}"
    return {
        "waiting": "waiting",
        "drawing": "drawing",
        "judging": "drawn, being judged",
        "rewritten": "rewritten, drawing",
    }[step.phase] + again


def _concluded(step: StepProgress) -> str:
    tries = step.attempts or 0
    if step.is_own:
        return "kept: a reviewer's own picture"
    if step.outcome == "accepted":
        return f"kept at attempt {step.kept + 1}" if step.kept else "kept"
    if step.outcome == "text_only":
        return "text only"
    if step.outcome == "exhausted":
        which = "" if step.kept is None or tries < 2 else f" ({step.kept + 1} of {tries})"
        return f"kept, not accepted{which}"
    if step.outcome == "critic_failed":
        return "kept, not judged"
    return {
        "backend_failed": "not drawn",
        "blocked": "blocked",
        "skipped": "skipped",
        "cancelled": "cancelled",
    }.get(step.outcome or "", "finished")
