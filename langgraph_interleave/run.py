"""One run while it is alive: what is known of it, the calls in flight, and who is told.

Nodes ask a run to take a step as far as its drawing or its judgement and wait for that; the run
starts what follows as soon as its input exists, without waiting for the graph. Nothing here is
durable: after a crash a run is built again from the graph's state, the artifacts and the ledger.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any

from langgraph_interleave import routing
from langgraph_interleave.ahead import Ahead
from langgraph_interleave.background import background_loop
from langgraph_interleave.budget import Budget
from langgraph_interleave.calls import RunCalls, read_critique, read_plan_result
from langgraph_interleave.context import Settings
from langgraph_interleave.emitter import Emitter, Writer
from langgraph_interleave.errors import Cancelled, InterleaveError, LimitReached
from langgraph_interleave.ledger import Call, Finished
from langgraph_interleave.roles import Roles
from langgraph_interleave.routing import Draw, Judge, NextCall, RunView
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    CheckResult,
    Plan,
    PlanDelta,
    PlanFinished,
    PlanRecord,
    Problem,
    ReasoningDelta,
    Request,
    Step,
    StepDelta,
    StepRecord,
    StyleDelta,
    StyleGuide,
)


#: Seconds without any node at work after which a run counts as abandoned. Between two super-steps
#: there are milliseconds; an invocation cancelled just then tells no node of it.
IDLE_S = 5.0


class Run:
    """A live run. Its view changes only under its lock, from whichever thread brings the news."""

    def __init__(
        self,
        run_id: str,
        request: Request,
        settings: Settings,
        roles: Roles,
        *,
        writer: Writer | None = None,
        on_abandoned: Callable[[Run], None] | None = None,
    ) -> None:
        self.run_id = run_id
        self.request = request
        self.settings = settings
        self.roles = roles
        self.emitter = Emitter(run_id, publish=settings.publish, writer=writer)
        self.budget = Budget(settings.limits)
        self.plan: Plan | None = None
        self._style = StyleGuide()
        self.plan_record: PlanRecord | None = None
        self.plan_digest: str | None = None
        #: The first error that is a fault of ours or of a role's code, not a model's.
        self.fault: BaseException | None = None
        self.stopped = False
        self.closed = False
        #: Whether the view holds everything the graph has committed.
        self.knows_all = True
        self._lock = threading.RLock()
        self._active = 0
        self._visits = 0
        self._on_abandoned = on_abandoned
        rules = routing.Rules(
            max_steps=settings.limits.max_steps,
            max_attempts=settings.limits.max_attempts,
            on_exhausted=settings.on_exhausted,
            lookahead=settings.lookahead,
        )
        self.view = RunView(request=request, rules=rules)
        self.scope = roles.ledger.scope(run_id, self.budget)
        self.calls = RunCalls(run_id, request, settings, roles, self.scope)
        self._ahead = Ahead(self.scope)
        self._waiting: dict[NextCall, Future[None]] = {}

    # --- nodes --------------------------------------------------------------------------------

    @contextmanager
    def active(self) -> Iterator[None]:
        """While a node works on the run; work is started ahead only then.

        A node that is cancelled takes the run's calls with it: our nodes never raise, so a
        cancellation always means that the whole invocation is being stopped.
        """
        with self._lock:
            self._active += 1
            self._visits += 1
        try:
            yield
        except asyncio.CancelledError:
            self.close()
            raise
        finally:
            with self._lock:
                self._active -= 1
                idle = self._active == 0
            if idle:
                loop = background_loop()
                loop.call_soon_threadsafe(loop.call_later, IDLE_S, self._abandon, self._visits)

    def _abandon(self, visits: int) -> None:
        with self._lock:
            if self._active or self._visits != visits:
                return
        self.close()
        if self._on_abandoned is not None:
            self._on_abandoned(self)

    async def make_plan(self) -> PlanRecord:
        """Have the request planned; never raises an error of ours, the record says what went wrong."""
        self.emitter.run_started()
        call, produce = self.calls.plan(self._on_delta)
        problem: Problem | None = None
        finished: PlanFinished | None = None
        try:
            done = await self.scope.run(call, produce)
            finished = read_plan_result(await self.roles.artifacts.aget_json(done.record.result["plan"]))
        except InterleaveError as error:
            problem = self._problem(error)
        except Exception as error:
            problem = self._problem(error)
        if finished is not None:
            self._adopt_plan(finished.plan)
            self.emitter.reasoning_finished(None, finished.reasoning)
            self.emitter.planned(finished.plan)
            for warning in finished.warnings:
                self.emitter.warning(warning.code, warning.message, warning.step)
        else:
            with self._lock:
                self.view = RunView(request=self.request, rules=self.view.rules)
            self._ahead.bet({})
        self.plan_record = PlanRecord(
            run_id=self.run_id,
            request=self.request,
            settings=self.settings.model_dump(mode="json"),
            plan=finished.plan if finished else None,
            warnings=tuple(w.message for w in finished.warnings) if finished else (),
            problem=problem,
            calls=(call.key,),
        )
        self.plan_digest = await self.roles.artifacts.aput_json(self.plan_record.model_dump(mode="json"))
        self.advance()
        return self.plan_record

    def restore(self, record: PlanRecord, digest: str) -> None:
        """Take over the plan an earlier invocation committed."""
        self.plan_record, self.plan_digest, self.plan = record, digest, record.plan
        self._style = record.plan.style_guide if record.plan else StyleGuide()
        steps = record.plan.steps if record.plan else ()
        self.view = RunView(self.request, steps, record.plan is not None, {}, self.view.rules)
        self.knows_all = False

    def restore_steps(self, records: Iterable[StepRecord]) -> None:
        """Take over every step an earlier invocation committed; only then work is started ahead."""
        for record in records:
            self.adopt(record)
        self.knows_all = True

    def adopt(self, record: StepRecord) -> None:
        """Take over a step's record from a task, unless the run is further already."""
        with self._lock:
            known = self.view.records.get(record.index)
            if known is None or (known.outcome is None and _further(record, known)):
                self._put(record)

    async def until(self, step: int, attempt: int, *, judged: bool) -> StepRecord:
        """Take a step as far as the drawing, or the judgement, of an attempt.

        Returns:
            The step's record as it was at that moment, even when the run has gone further since.
        """
        while True:
            with self._lock:
                record = self.view.records.get(step)
                if record is not None and routing.reached(record, attempt, judged=judged):
                    return routing.trim(record, attempt, judged=judged)
                call = routing.next_of_step(self.view, self.view.steps[step])
                if call is None:
                    raise RuntimeError(f"step {step} attempt {attempt} was asked for and is not next")
                future = self._begin(call)
            self.advance()
            try:
                await asyncio.wrap_future(_copy(future))
            except _GivenUp:
                if self.closed:
                    raise asyncio.CancelledError from None

    def broken(self, step: int, error: Exception) -> StepRecord:
        """Conclude a step that cannot go on; a fault of ours is kept, and raised by `compose`."""
        with self._lock:
            record = self.view.records.get(step) or StepRecord(index=step)
            if record.outcome is None:
                record = routing.broken(record, self.view.rules, self._problem(error))
                self._put(record)
                self._tell_concluded(record)
            return record

    def settle(self, view: RunView) -> dict[int, StepRecord]:
        """Conclude every step of `view` that is never drawn, and tell of it."""
        new = routing.settle(view)
        for record in new.values():
            with self._lock:
                known = self.view.records.get(record.index)
                if known is None or known.outcome is None:
                    self._put(record)
                    self._tell_concluded(record)
        return new

    # --- ahead of the graph -------------------------------------------------------------------

    def advance(self) -> None:
        """Start whatever can start now, while a node of the run is at work."""
        with self._lock:
            if self._active == 0 or self.stopped or not self.knows_all:
                return
            if not self.view.complete and not self.view.rules.lookahead:
                return
            self.settle(self.view)
            following = routing.next_calls(self.view)
            for call in following.certain:
                self._begin(call)
            bets = {}
            for bet in following.likely:
                if isinstance(bet, Draw):
                    call, produce = self._draw_call(bet)
                    bets[call.key] = (call, produce)
            self._ahead.bet(bets)

    def _begin(self, following: NextCall) -> Future[None]:
        """Start a call that is certain, once; the future ends when its result is in the view."""
        known = self._waiting.get(following)
        if known is not None and not known.done():
            return known
        future: Future[None] = Future()
        self._waiting[following] = future
        step = self.view.steps[following.step]
        if isinstance(following, Draw):
            seed = self.settings.attempt_seed(following.step, following.attempt)
            self.emitter.step_started(step)
            self.emitter.attempt_started(following.step, following.attempt, seed, following.prompt)
            call, produce = self._draw_call(following)
        else:
            record = self.view.records[following.step]
            call, produce = self.calls.judge(
                step,
                record,
                record.attempts[following.attempt],
                self._style,
                partial(self._on_critic_text, following),
            )
        on_done = partial(self._done, following, future)
        if self.stopped:
            on_done(call, Cancelled("The run was stopped."))
        elif not self._ahead.start(call, produce, certain=self.view.complete, on_done=on_done):
            if self.view.complete:
                on_done(call, self._refusal(call))
            else:
                # Nothing is left for speculation; it is asked for again once the plan is validated.
                self._waiting.pop(following, None)
        return future

    def _refusal(self, call: Call) -> BaseException:
        """Why a certain call was not started: its limit, or else the run is over."""
        try:
            self.budget.reserve(images=call.images, role=call.role).release()
        except LimitReached as limit:
            return limit
        return Cancelled("The run is over.")

    def _draw_call(self, draw: Draw) -> tuple[Call, Any]:
        step = self.view.steps[draw.step]
        return self.calls.draw(step, draw, self.settings.attempt_seed(draw.step, draw.attempt))

    def _done(self, following: NextCall, future: Future[None], call: Call, result: Finished | BaseException) -> None:
        """A call finished: bring the view up to date, tell of it, start what follows."""
        if isinstance(result, (asyncio.CancelledError, Cancelled)) and not self.stopped:
            # Given up: a bet that was lost, or the end of the run. Whoever still needs it asks again.
            with self._lock:
                if self._waiting.get(following) is future:
                    del self._waiting[following]
            future.set_exception(_GivenUp())
            return
        if isinstance(result, asyncio.CancelledError):
            result = Cancelled("The run was stopped.")
        try:
            with self._lock:
                if self._waiting.get(following) is future:
                    del self._waiting[following]
                    if isinstance(following, Draw):
                        self._drawn(following, call, result)
                    else:
                        self._judged(following, call, result)
            self.advance()
        except Exception as error:
            # Whoever waits must hear of it: a future that never ends would hang the graph.
            self.fault = self.fault or error
            future.set_exception(error)
        else:
            future.set_result(None)

    def _drawn(self, draw: Draw, call: Call, result: Finished | BaseException) -> None:
        record = self.view.records.get(draw.step) or StepRecord(index=draw.step)
        if self._ended_early(record, result):
            return
        attempt = Attempt(
            number=draw.attempt,
            prompt=draw.prompt,
            seed=self.settings.attempt_seed(draw.step, draw.attempt),
            references=draw.references,
            calls=(call.key,),
        )
        if isinstance(result, Finished):
            body = result.record.result or {}
            attempt = attempt.model_copy(
                update={
                    "prompt": body["prompt"],
                    "image": ArtifactRef.model_validate(body["image"]),
                    "checks": tuple(CheckResult.model_validate(check) for check in body["checks"]),
                    "warnings": tuple(body["warnings"]),
                    "seed": body["seed"],
                }
            )
        else:
            attempt = attempt.model_copy(update={"problem": self._problem(result)})
        self.emitter.drawn(draw.step, attempt)
        if attempt.image is not None and not routing.critic_wanted(attempt, self.view.rules):
            attempt = attempt.model_copy(update={"critique": routing.check_critique(attempt)})
        if attempt.image is None or attempt.critique is not None:
            self.emitter.judged(draw.step, attempt)
        self._extend(record, attempt)

    def _judged(self, judge: Judge, call: Call, result: Finished | BaseException) -> None:
        record = self.view.records[judge.step]
        if self._ended_early(record, result):
            return
        attempt = record.attempts[judge.attempt]
        attempt = attempt.model_copy(update={"calls": (*attempt.calls, call.key)})
        if isinstance(result, Finished):
            critique = routing.binding(read_critique(result.record.result or {}), attempt)
            attempt = attempt.model_copy(update={"critique": critique})
        else:
            attempt = attempt.model_copy(update={"problem": self._problem(result)})
        self.emitter.judged(judge.step, attempt)
        self._extend(record, attempt)

    def _ended_early(self, record: StepRecord, result: Finished | BaseException) -> bool:
        """Conclude a step that a limit or a stop ended before its next call was made."""
        if isinstance(result, LimitReached):
            self.emitter.limit(result.limit, result.used, result.cap)
            ended = routing.limited(record, self.view.rules, result.limit, _as_problem(result))
        elif isinstance(result, Cancelled):
            ended = routing.stopped(record, self.view.rules)
        else:
            return False
        self._put(ended)
        self._tell_concluded(ended)
        return True

    def _extend(self, record: StepRecord, attempt: Attempt) -> None:
        attempts = (*record.attempts[: attempt.number], attempt)
        extended = routing.conclude(record.model_copy(update={"attempts": attempts}), self.view.rules)
        self._put(extended)
        if extended.outcome is not None:
            self._tell_concluded(extended)

    def _put(self, record: StepRecord) -> None:
        records = {**self.view.records, record.index: record}
        self.view = RunView(self.request, self.view.steps, self.view.complete, records, self.view.rules)

    def _tell_concluded(self, record: StepRecord) -> None:
        self.emitter.concluded(self.view.steps[record.index], record)

    # --- planner deltas -----------------------------------------------------------------------

    def _on_delta(self, delta: PlanDelta) -> None:
        if isinstance(delta, ReasoningDelta):
            self.emitter.reasoning(None, delta.text)
        elif isinstance(delta, StyleDelta):
            self._style = delta.style_guide
        elif isinstance(delta, StepDelta):
            with self._lock:
                if self.view.complete or delta.step.index != len(self.view.steps):
                    return
                steps = (*self.view.steps, delta.step)
                self.view = RunView(self.request, steps, False, self.view.records, self.view.rules)
            self.advance()

    def _adopt_plan(self, plan: Plan) -> None:
        """The plan is validated: drop what was started for steps that came out differently."""
        with self._lock:
            stale = changed_steps(self.view.steps, plan.steps)
            records = {i: record for i, record in self.view.records.items() if i not in stale}
            for call in [call for call in self._waiting if call.step in stale]:
                del self._waiting[call]
            self.plan, self._style = plan, plan.style_guide
            self.view = RunView(self.request, plan.steps, True, records, self.view.rules)
            self._ahead.promote()

    def _on_critic_text(self, judge: Judge, text: str) -> None:
        self.emitter.reasoning(judge.step, text, attempt=judge.attempt)

    # --- ending -------------------------------------------------------------------------------

    def _problem(self, error: BaseException) -> Problem:
        if not isinstance(error, InterleaveError):
            self.fault = self.fault or error
        return _as_problem(error)

    def stop(self) -> None:
        """Stop the run in good order: calls in flight are cancelled, the document is composed of what exists."""
        self.stopped = True
        self.scope.close(cancelled=True)

    def close(self) -> None:
        """Let go of every call; safe to call twice, from any thread."""
        self.closed = True
        self.scope.close(cancelled=True)


class _GivenUp(Exception):
    """A call was let go of before it ended."""


def changed_steps(known: tuple[Step, ...], final: tuple[Step, ...]) -> set[int]:
    """Steps of a provisional plan that are not in the final one as they were, and all that build on them."""
    stale = {step.index for step in known if step.index >= len(final) or final[step.index] != step}
    for step in known:
        if stale.intersection(step.step_sources):
            stale.add(step.index)
    return stale


def _further(record: StepRecord, known: StepRecord) -> bool:
    return record.outcome is not None or len(record.attempts) > len(known.attempts)


def _as_problem(error: BaseException) -> Problem:
    if isinstance(error, InterleaveError):
        return Problem(error=type(error).__name__, message=error.message, remedy=error.remedy)
    # The words of a foreign error may carry a key or bytes; its class is enough for the record.
    return Problem(
        error="InternalError",
        message=f"An unexpected {type(error).__name__} ended this.",
        remedy="The exception is raised, chained, once the document is composed.",
    )


def _copy(future: Future[None]) -> Future[None]:
    """A future of one's own: cancelling it leaves the shared one alone."""
    mine: Future[None] = Future()

    def pass_on(done: Future[None]) -> None:
        if not mine.set_running_or_notify_cancel():
            return
        error = done.exception()
        if error is not None:
            mine.set_exception(error)
        else:
            mine.set_result(None)

    future.add_done_callback(pass_on)
    return mine
