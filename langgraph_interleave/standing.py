"""Where a run stands: its view, brought up to date by whoever has news, and told as it changes.

Every method is safe from any thread. Decisions are `routing`'s; this module only applies them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable
from dataclasses import replace

from langgraph_interleave import candidates, outcomes, routing
from langgraph_interleave.context import Settings
from langgraph_interleave.emitter import Emitter
from langgraph_interleave.errors import InterleaveError, LimitReached
from langgraph_interleave.ledger import Finished
from langgraph_interleave.references import Policy, sheet_step
from langgraph_interleave.results import read_critique, read_drawing, read_pictures
from langgraph_interleave.routing import Draw, Judge, NextCall, RunView
from langgraph_interleave.runview import Rules
from langgraph_interleave.secrecy import public
from langgraph_interleave.types import (
    Attempt,
    Capabilities,
    Plan,
    Problem,
    Request,
    Step,
    StepRecord,
    StyleGuide,
)

log = logging.getLogger(__name__)

Result = Finished | BaseException

#: Outcomes that leave a step without its picture, or its picture without a judgement, though nobody stopped it.
_FAILED = ("backend_failed", "blocked", "critic_failed", "skipped")


class Standing:
    """What is known of one run. Hold `lock` to read the view and act on it in one go."""

    def __init__(
        self,
        request: Request,
        settings: Settings,
        emitter: Emitter,
        capabilities: Capabilities | None = None,
        *,
        whole_prompts: bool = False,
    ) -> None:
        self.settings = settings
        self.emitter = emitter
        self.lock = threading.RLock()
        #: The first error that is a fault of ours or of a role's code, not a model's.
        self.fault: BaseException | None = None
        rules = Rules(
            max_steps=settings.limits.max_steps,
            max_attempts=settings.limits.max_attempts,
            on_exhausted=settings.on_exhausted,
            # Nothing is drawn past a step that nobody has reviewed, and nothing before the plan is approved.
            lookahead="never" if "steps" in settings.approve else settings.lookahead,
            candidates=settings.candidates,
            images_per_call=capabilities.max_images if capabilities else 1,
            early_start=(settings.lookahead != "never" if settings.early_start is None else settings.early_start)
            and not settings.plan_approved,
            review="steps" in settings.approve,
            ask=settings.on_exhausted in ("ask", "replan"),
            ask_at_limit=settings.on_limit == "ask" and settings.ended_at is None,
            ended_at=settings.ended_at,
            policy=Policy(settings.references, settings.anchor_inputs, settings.reanchor_every),
            style_in_prompts=settings.style_in_prompts,
            whole_prompts=whole_prompts,
            max_references=capabilities.max_references if capabilities else None,
            max_prompt_tokens=capabilities.max_prompt_tokens if capabilities else None,
        )
        self.view = RunView(request=request, rules=rules)
        #: The limit that left no room for a candidate, by step and attempt, until all of them have ended.
        self._limits: dict[tuple[int, int], LimitReached] = {}

    @property
    def style(self) -> StyleGuide | None:
        """What the sequence shares; `None` until the planner has said it; nothing is judged before."""
        return self.view.style

    @style.setter
    def style(self, style: StyleGuide | None) -> None:
        with self.lock:
            self.view = replace(self.view, style=style)

    # --- the plan -----------------------------------------------------------------------------

    def add_step(self, step: Step) -> bool:
        """A step of a plan still being written; whether it is the next one."""
        with self.lock:
            if self.view.complete or step.index != len(self.view.steps):
                return False
            self.view = replace(self.view, steps=(*self.view.steps, step))
            return True

    def adopt_plan(self, plan: Plan) -> set[int]:
        """The plan is validated.

        Returns:
            The steps that came out differently than they were known; what was done for them is dropped.
        """
        with self.lock:
            # What was judged against another style guide is judged anew; its drawing is not paid for again.
            misjudged: Collection[int] = ()
            if self.style not in (None, plan.style_guide):
                # Where the style is in the prompts, what is still being drawn is stale as well.
                misjudged = range(len(self.view.steps)) if self.view.rules.style_in_prompts else self.view.records
            stale = routing.changed_steps(self.view, plan.steps, misjudged)
            records = {index: record for index, record in self.view.records.items() if index not in stale}
            sheet = None
            if self.view.rules.policy.references == "sheet":
                told = self.view.rules.style_in_prompts
                style = plan.style_guide if told else plan.style_guide.model_copy(update={"look": ""})
                sheet = sheet_step(len(plan.steps), style)
                self.emitter.hide(() if sheet is None else (sheet.index,))
                if sheet is None:
                    self.emitter.warning("no_sheet", "The plan names no characters, so no sheet of them is drawn.")
            self.view = replace(
                self.view,
                steps=plan.steps if sheet is None else (*plan.steps, sheet),
                complete=True,
                records=records,
                style=plan.style_guide,
                sheet=None if sheet is None else sheet.index,
                first_number=plan.first_number,
            )
            return stale

    def unplanned(self, error: BaseException) -> Problem:
        """There will be no plan; why, as data."""
        problem = self.problem(error)
        log.warning("no plan: %s", _said(problem))
        return problem

    def drop_plan(self) -> None:
        """There is no plan after all."""
        with self.lock:
            self.view = replace(self.view, steps=(), complete=False, records={}, style=None, sheet=None)

    # --- the steps ----------------------------------------------------------------------------

    def take_over(self, records: Iterable[StepRecord]) -> None:
        """Steps that are kept from what was changed: they are told as if they had just come to this."""
        with self.lock:
            for record in records:
                self._conclude(record)

    def reviewed(self, record: StepRecord) -> None:
        """A reviewer decided about a step: it has its outcome now, or goes on with another attempt."""
        with self.lock:
            known = self.view.records.get(record.index)
            before = {one.number: (one.review, one.overruled) for one in (known.attempts if known else ())}
            for attempt in record.attempts:
                if attempt.review is not None and before.get(attempt.number) != (attempt.review, attempt.overruled):
                    self.emitter.reviewed(self.view.steps[record.index], attempt)
            self._conclude(record)

    def settle_proposed(self, index: int) -> StepRecord:
        """Nobody is left to ask: the step comes to what was proposed."""
        with self.lock:
            record = self.view.records[index]
            record = record.model_copy(update={"outcome": record.proposed, "proposed": None})
            self._conclude(record)
            return record

    def finish(self, index: int) -> StepRecord:
        """At a limit it was said to finish: a step comes to what was proposed, or goes before a reviewer.

        One that was never come to is skipped.
        """
        with self.lock:
            known, rules = self.view.records.get(index), self.view.rules
            if known is None or known.proposed is None:
                record = outcomes.ended(index, rules)
            else:
                record = outcomes.finished_at_limit(known, rules)
            self._conclude(record)
            return record

    def adopt(self, records: Iterable[StepRecord]) -> None:
        """Take over records an earlier invocation committed, where they are further than what is known."""
        with self.lock:
            for record in records:
                known = self.view.records.get(record.index)
                if known is None or (known.outcome is None and _further(record, known)):
                    self._put(record)

    def settle(self, view: RunView | None = None) -> dict[int, StepRecord]:
        """Conclude every step of a view (default: all that is known) that is never drawn."""
        with self.lock:
            new = routing.settle(view or self.view)
            for record in new.values():
                known = self.view.records.get(record.index)
                if known is None or known.outcome is None:
                    self._conclude(record)
            return new

    def begun(self, following: NextCall) -> None:
        """A call was asked for; in a resumed run a judgement may be the first that is told of its attempt."""
        step, number = following.step, following.attempt
        self.emitter.step_started(self.view.steps[step])
        if isinstance(following, Draw):
            seed, prompt = self.settings.attempt_seed(step, number), following.prompt
        else:
            attempt = self.view.records[step].attempts[number]
            seed, prompt = attempt.seed, attempt.prompt
        self.emitter.attempt_started(step, number, seed, prompt)

    def drawn(self, draw: Draw, key: str, result: Result) -> None:
        """A drawing ended: a picture, or an error that becomes the attempt's problem."""
        with self.lock:
            if not isinstance(result, LimitReached):
                self.begun(draw)  # it was never sent where nothing more can be drawn
            record = self.view.records.get(draw.step) or StepRecord(index=draw.step)
            attempt = Attempt(
                number=draw.attempt,
                prompt=draw.prompt,
                seed=self.settings.attempt_seed(draw.step, draw.attempt),
                references=draw.references,
                before=draw.before,
            )
            if self.view.rules.candidates > 1:
                begun = record.attempts[draw.attempt] if len(record.attempts) > draw.attempt else attempt
                self._candidates_drawn(record, begun, draw, key, result)
                return
            if isinstance(result, LimitReached):
                self._limited(record, result)
                return
            attempt = attempt.model_copy(update={"calls": (key,)})
            if isinstance(result, Finished):
                attempt = attempt.model_copy(update=read_drawing(result.result))
            else:
                attempt = attempt.model_copy(update={"problem": self.problem(result)})
            self.emitter.drawn(draw.step, attempt)
            if attempt.image is not None and not outcomes.critic_wanted(attempt, record, self.view.rules):
                attempt = attempt.model_copy(update={"critique": outcomes.check_critique(attempt)})
            if attempt.image is None or attempt.critique is not None:
                self.emitter.judged(draw.step, attempt)
            self._extend(record, attempt)

    def judged(self, judge: Judge, keys: tuple[str, ...], result: Result) -> None:
        """A judgement ended: a critique, or an error that leaves the picture unjudged.

        Args:
            judge: Which attempt was judged.
            keys: The calls it took.
            result: What came of the last.
        """
        with self.lock:
            record = self.view.records[judge.step]
            attempt = record.attempts[judge.attempt]
            if attempt.candidates and attempt.review is None:
                self._candidate_judged(record, attempt, judge, keys, result)
                return
            if isinstance(result, LimitReached):
                self._limited(record, result)
                return
            attempt = attempt.model_copy(update={"calls": (*attempt.calls, *keys)})
            if isinstance(result, Finished):
                critique = outcomes.binding(read_critique(result.result), attempt)
                attempt = attempt.model_copy(update={"critique": critique})
            else:
                attempt = attempt.model_copy(update={"problem": self.problem(result)})
            self.emitter.judged(judge.step, attempt)
            self._extend(record, attempt)

    def stopped(self, step: int) -> None:
        """The run was stopped while a call of this step was under way, or about to be made."""
        with self.lock:
            record = candidates.settled(self.view.records.get(step) or StepRecord(index=step))
            self._conclude(outcomes.stopped(record, self.view.rules))

    def broken(self, step: int, error: Exception) -> StepRecord:
        """Conclude a step that cannot go on; a fault of ours is kept, and raised by `compose`."""
        with self.lock:
            record = self.view.records.get(step) or StepRecord(index=step)
            if record.outcome is None:
                record = outcomes.broken(candidates.settled(record), self.view.rules, self.problem(error))
                self._conclude(record)
            return record

    def problem(self, error: BaseException) -> Problem:
        """An error as data; what is no error of a model's is kept as a fault."""
        if isinstance(error, InterleaveError):
            return Problem(error=type(error).__name__, message=public(error.message), remedy=public(error.remedy))
        with self.lock:
            self.fault = self.fault or error
        # The words of a foreign error may carry a key or bytes; its class is enough for the record.
        return Problem(
            error="InternalError",
            message=f"An unexpected {type(error).__name__} ended this.",
            remedy="The exception is raised, chained, once the document is composed.",
        )

    # --- several pictures of one attempt, with the lock held ----------------------------------

    def _candidates_drawn(self, record: StepRecord, begun: Attempt, draw: Draw, key: str, result: Result) -> None:
        found = read_pictures(result.result) if isinstance(result, Finished) else []
        problem = None if isinstance(result, Finished) else self.problem(result)
        if isinstance(result, LimitReached):
            self._limits.setdefault((draw.step, draw.attempt), result)
        limit = result.limit if isinstance(result, LimitReached) else None
        seeds = [self.settings.candidate_seed(draw.step, draw.attempt, number) for number in draw.numbers]
        new = candidates.made_of(draw, key, found, seeds, problem=problem, limit=limit)
        attempt = candidates.put(begun, new)
        if isinstance(result, Finished):
            told = (*begun.warnings, *result.result["warnings"])
            attempt = attempt.model_copy(update={"warnings": tuple(sorted(set(told)))})
        for one in new:
            if one.image is not None:
                self.emitter.drawn(draw.step, candidates.alone(attempt, one.number), candidate=one.number)
        if candidates.undrawn(attempt, self.view.rules):
            self._put(_with(record, attempt))
            return
        attempt = candidates.led(attempt)
        limit = self._limits.pop((draw.step, draw.attempt), None)
        if attempt.image is None and limit is not None:
            self._limited(record.model_copy(update={"attempts": record.attempts[: draw.attempt]}), limit)
        elif attempt.image is None:
            self.emitter.judged(draw.step, attempt)
            self._extend(record, attempt)
        else:
            for problem in dict.fromkeys(one.problem for one in attempt.candidates if one.problem is not None):
                self.emitter.warning("candidates", f"One picture less to choose from: {problem.message}", draw.step)
            self._weigh(record, candidates.screened(attempt, record, self.view.rules))

    def _candidate_judged(
        self, record: StepRecord, attempt: Attempt, judge: Judge, keys: tuple[str, ...], result: Result
    ) -> None:
        one = attempt.candidates[judge.candidate]
        update: dict[str, object] = {"calls": (*one.calls, *keys)}
        if isinstance(result, Finished):
            critique = read_critique(result.result)
            update["critique"] = outcomes.binding(critique, candidates.alone(attempt, one.number))
        else:
            update["problem"] = self.problem(result)
        if isinstance(result, LimitReached):
            self._limits.setdefault((judge.step, judge.attempt), result)
            update["limit"] = result.limit
        attempt = candidates.put(attempt, [one.model_copy(update=update)])
        self.emitter.candidate_judged(judge.step, candidates.alone(attempt, one.number), one.number)
        self._weigh(record, attempt)

    def _weigh(self, record: StepRecord, attempt: Attempt) -> None:
        """Once every picture of an attempt is judged, the best of them stands for it."""
        if candidates.unjudged(attempt):
            self._put(_with(record, attempt))
            return
        limit = self._limits.pop((record.index, attempt.number), None)
        if limit is not None and not any(one.critique is not None for one in attempt.candidates):
            # With a higher limit it can still be judged.
            self._limited(_with(record, candidates.without_judgement(attempt)), limit)
            return
        attempt = candidates.choose(attempt)
        self.emitter.judged(record.index, attempt)
        self._extend(record, attempt)

    # --- with the lock held -------------------------------------------------------------------

    def _limited(self, record: StepRecord, limit: LimitReached) -> None:
        self.emitter.limit(limit.limit, limit.used, limit.cap)
        self._conclude(outcomes.limited(candidates.settled(record), self.view.rules, limit.limit, self.problem(limit)))

    def _extend(self, record: StepRecord, attempt: Attempt) -> None:
        attempts = (*record.attempts[: attempt.number], attempt)
        extended = outcomes.conclude(record.model_copy(update={"attempts": attempts}), self.view.rules)
        self._conclude(extended)

    def _conclude(self, record: StepRecord) -> None:
        self._put(record)
        if record.outcome is None:
            return  # it goes on, or somebody is asked first
        self.emitter.concluded(self.view.steps[record.index], record)
        if record.outcome in _FAILED and record.problem is not None:
            number = record.index + (self.view.first_number if self.view.complete else 1)
            log.warning("step %d: %s: %s", number, record.outcome, _said(record.problem))

    def _put(self, record: StepRecord) -> None:
        self.view = replace(self.view, records={**self.view.records, record.index: record})


def _said(problem: Problem) -> str:
    return f"{problem.error}: {problem.message} {problem.remedy}".strip()


def _with(record: StepRecord, attempt: Attempt) -> StepRecord:
    return record.model_copy(update={"attempts": (*record.attempts[: attempt.number], attempt)})


def _further(record: StepRecord, known: StepRecord) -> bool:
    return record.outcome is not None or len(record.attempts) > len(known.attempts)
