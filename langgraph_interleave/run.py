"""One run while it is alive: its calls in flight, and what follows from each of them.

Nodes ask a run to take a step as far as its drawing or its judgement and wait for that; the run
starts what follows as soon as its input exists, without waiting for the graph. Nothing here is
durable: after a crash a run is built again from the graph's state, the artifacts and the ledger.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Generator, Iterable
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from langgraph_interleave import routing
from langgraph_interleave.ahead import Ahead
from langgraph_interleave.ambiguity import tell_ambiguous
from langgraph_interleave.base import Base, asked_of, settle_plan, taken_over
from langgraph_interleave.budget import Budget
from langgraph_interleave.calls import RunCalls
from langgraph_interleave.context import Settings
from langgraph_interleave.emitter import Emitter, Writer
from langgraph_interleave.errors import CallError, ContentBlocked, LimitReached
from langgraph_interleave.fatal import Fatal
from langgraph_interleave.judging import Judging
from langgraph_interleave.ledger import Call, Finished
from langgraph_interleave.odds import kind_of
from langgraph_interleave.planning import Planning
from langgraph_interleave.roles import Roles
from langgraph_interleave.routing import Draw, Judge, NextCall
from langgraph_interleave.standing import Result, Standing
from langgraph_interleave.types import (
    ArtifactRef,
    PlanFinished,
    PlanRecord,
    Problem,
    Request,
    StepRecord,
)
from langgraph_interleave.waiting import GivenUp, own_copy


class Run:
    """A live run of one invocation.

    Args:
        run_id: Its id.
        request: What was asked.
        settings: Its resolved values.
        roles: The live objects.
        writer: Where its events go.
        base: What it changes, where it does; then `request` is what is wanted otherwise.
        began: When the run began, by the monotonic clock; now, if left out.
    """

    def __init__(
        self,
        run_id: str,
        request: Request,
        settings: Settings,
        roles: Roles,
        *,
        writer: Writer | None = None,
        base: Base | None = None,
        began: float | None = None,
    ) -> None:
        self.run_id = run_id
        self.settings = settings
        self.roles = roles
        self.base = base
        asked, existing = (request, None) if base is None else asked_of(base, request)
        self._asked = asked
        self._change = request
        #: Which picture of the request is the one drawn for a step of the base.
        self.drawn_inputs = {} if existing is None else existing.pictures
        self.emitter = Emitter(run_id, publish=settings.publish, writer=writer, link=roles.artifacts.linker())
        self.standing = Standing(
            asked, settings, self.emitter, roles.backend.capabilities,
            whole_prompts=getattr(roles.planner, "whole_prompts", False),
        )  # fmt: skip
        self.budget = Budget(settings.limits)
        self.scope = roles.ledger.scope(run_id, self.budget, on_resend=self._on_resend)
        self.calls = RunCalls(run_id, asked, settings, roles, self.scope, existing=existing)
        self.plan_record = PlanRecord(
            run_id=run_id, request=request, settings=settings.model_dump(mode="json"), version=settings.version,
            parent=None if base is None else base.document,
        )  # fmt: skip
        self.plan_digest: str | None = None
        self.stopped = False
        self.closed = False
        #: Nothing is started: its plan is to be approved first.
        self.held = False
        self.knows_all = True  # whether the view holds everything the graph has committed
        #: Closes the run when its invocation is over.
        self.watch: weakref.finalize[Any, Any] | None = None
        self._lock = self.standing.lock
        self._active = 0
        self._advancing = False
        self._ahead = Ahead(self.scope)
        self._waiting: dict[NextCall, Future[None]] = {}
        self._judging = Judging(self.calls, self.standing, self._on_critic_text)
        self._fatal = Fatal()

    @property
    def view(self) -> routing.RunView:
        """What is known."""
        return self.standing.view

    # --- nodes --------------------------------------------------------------------------------

    @contextmanager
    def active(self) -> Generator[None]:
        """While a node works on the run; work is started ahead only then.

        A node that raises, or is cancelled, takes the run's calls with it: what is an error of a
        step never comes this far, so the whole invocation is ending.
        """
        with self._lock:
            self._active += 1
        try:
            yield
        except BaseException:
            self.close()
            raise
        finally:
            with self._lock:
                self._active -= 1

    async def make_plan(self) -> PlanRecord:
        """Have the request planned. The record says what went wrong, if anything did."""
        finished: PlanFinished | None = None
        problem: Problem | None = None
        planning = Planning(self.calls, self.scope, self.standing, on_news=self.advance, on_void=self._void_plan)
        try:
            finished = await planning.ask()
        except Exception as error:  # noqa: BLE001 - kept as a fault, and raised by compose
            problem = self.standing.unplanned(error)
            self._drop_plan(error)
        return await self.take_plan(finished, problem, calls=planning.asking.calls)

    async def take_plan(
        self, finished: PlanFinished | None, problem: Problem | None = None, *, calls: tuple[str, ...] = ()
    ) -> PlanRecord:
        """Go on with a plan: the planner's, or one that was changed by hand; what is kept of the base is taken over.

        Args:
            finished: The plan; `None` where there is none.
            problem: Why there is none.
            calls: Keys of the calls it took.
        """
        base, request = self.base, self._asked
        if finished is not None:
            if base is not None:
                finished, request = settle_plan(base, finished, request, self._change)
                self.standing.view = replace(self.standing.view, request=request)
            self._adopt_plan(finished)
        self.plan_record = self.plan_record.model_copy(
            update={
                "request": request,
                "plan": finished.plan if finished else None,
                "warnings": tuple(warning.message for warning in finished.warnings) if finished else (),
                "problem": problem,
                "calls": calls,
            }
        )
        self.plan_digest = await self.roles.artifacts.aput_json(self.plan_record.model_dump(mode="json"))
        self.advance()
        return self.plan_record

    def restore(self, record: PlanRecord, digest: str) -> None:
        """Take over the plan an earlier invocation committed."""
        self.plan_record, self.plan_digest = record, digest
        self.emitter.before = record.before
        if record.plan is not None:
            self.standing.adopt_plan(record.plan)
        self.knows_all = False

    def restore_steps(self, records: Iterable[StepRecord]) -> None:
        """Take over every step an earlier invocation committed; only then work is started ahead."""
        self.standing.adopt(records)
        self.knows_all = True

    async def until(self, step: int, attempt: int, *, judged: bool) -> StepRecord:
        """Take a step as far as the drawing, or the judgement, of an attempt.

        Returns:
            The step's record as it was at that moment, even when the run has gone further since.
        """
        self.advance()  # what ended between two nodes was heard by nobody
        while True:
            with self._lock:
                record = self.view.records.get(step)
                if record is not None and routing.reached(record, attempt, judged=judged):
                    return routing.trim(record, attempt, judged=judged)
                calls = routing.next_of_step(self.view, self.view.steps[step])
                if not calls:
                    raise RuntimeError(f"step {step} attempt {attempt} was asked for and is not next")
                futures = [self._begin(call) for call in calls]
            self.advance()
            try:
                for future in futures:
                    await asyncio.wrap_future(own_copy(future))
            except GivenUp:
                if self.closed:
                    raise asyncio.CancelledError from None

    # --- ahead of the graph -------------------------------------------------------------------

    def advance(self) -> None:
        """Start whatever can start now, while a node of the run is at work."""
        with self._lock:
            if self._advancing:
                return  # further up; it looks again when the view has changed
            self._advancing = True
            try:
                seen: routing.RunView | None = None
                while seen is not self.view:
                    seen = self.view
                    self._start_next()
            finally:
                self._advancing = False

    def _start_next(self) -> None:
        if self._active == 0 or self.stopped or self.held or not self.knows_all:
            return
        if self._fatal.any or (not self.view.complete and not self.view.rules.early_start):
            return
        self.standing.settle()
        following = routing.next_calls(self.view, self.roles.odds.stakes(self.settings.second_usd))
        for call in following.certain:
            if isinstance(call, Judge) and self.standing.style is None:
                continue
            self._begin(call)
            if call not in self._waiting and not self.view.complete:
                break  # a limit leaves nothing for speculation
        # Where the verdict is in the ledger there is nothing to bet on: what was not drawn then is not paid for now.
        bets = [
            self._draw_call(bet)
            for bet in following.likely
            if isinstance(bet, Draw)
            and self._ahead.decided.isdisjoint(routing.waits_for(self.view, self.view.steps[bet.step]))
        ]
        self._ahead.bet({call.key: (call, produce) for call, produce in bets})

    def _begin(self, following: NextCall) -> Future[None]:
        """Start a call that is certain, once; the future ends when its result is in the view."""
        known = self._waiting.get(following)
        if known is not None:
            return known
        future: Future[None] = Future()
        self._waiting[following] = future
        call, produce = self._draw_call(following) if isinstance(following, Draw) else self._judging.call(following)
        on_done = partial(self._done, following, future)
        if self.stopped:
            on_done(call, asyncio.CancelledError())
        elif (fatal := self._fatal.of(following)) is not None:
            on_done(call, fatal)
        elif self._ahead.start(call, produce, certain=self.view.complete, on_done=on_done):
            self.standing.begun(following)
        elif self.view.complete:
            on_done(call, self._refusal(call))
        else:
            # Nothing is left for speculation; it is asked for again once the plan is validated.
            del self._waiting[following]
        return future

    def _refusal(self, call: Call) -> Result:
        """Why a certain call was not started: its limit, or else the run is over."""
        try:
            self.budget.reserve(
                calls=call.calls, images=call.images, role=call.role, step=call.step,
                price_usd=call.price_usd if call.billed else 0.0,
            ).release()  # fmt: skip
        except LimitReached as limit:
            return limit
        return asyncio.CancelledError()

    def _draw_call(self, draw: Draw) -> tuple[Call, Any]:
        step = self.view.steps[draw.step]
        on_preview = partial(self._on_preview, draw)
        seed = self.settings.candidate_seed(draw.step, draw.attempt, draw.candidate)
        return self.calls.draw(step, draw, seed, on_preview if draw.candidate == 0 else None)

    def _done(self, following: NextCall, future: Future[None], call: Call, result: Result) -> None:
        """A call ended: bring the view up to date, start what follows, wake who waits."""
        try:
            with self._lock:
                # In one go: in between, the call would look as if it had not been started.
                wanted = self._waiting.get(following) is future
                if wanted:
                    del self._waiting[following]
                    # A resumed node may have brought a record that is further; then this is old news.
                    wanted = following in routing.next_of_step(self.view, self.view.steps[following.step])
                if isinstance(result, Finished):
                    op = self.view.steps[following.step].op if following.step < len(self.view.steps) else None
                    self.roles.odds.learn(result, op and kind_of(op, following.attempt))
                self._fatal.note(call.role, result)
                if isinstance(result, Finished) and result.took_over is not None:
                    tell_ambiguous(self.emitter, [result.took_over])
                if isinstance(result, asyncio.CancelledError):
                    if not self.stopped:
                        # A bet that was lost, or the end of the run. Whoever still needs it asks again.
                        raise GivenUp
                    if wanted:
                        self.standing.stopped(following.step)
                elif wanted and isinstance(following, Draw):
                    self.standing.drawn(following, call.key, result)
                elif wanted and isinstance(following, Judge):
                    if self._judging.again(following, call, result, stopped=self.stopped):
                        if self._start_again(following, future):
                            return
                        result = self._refusal(call)
                    self._judging.conclude(following, result)
            self.advance()
        except Exception as error:  # noqa: BLE001 - given to whoever waits
            # A future that never ends would hang the graph.
            future.set_exception(error)
        else:
            future.set_result(None)

    def _start_again(self, judge: Judge, future: Future[None]) -> bool:
        """Ask the critic once more; whether a limit leaves room for it."""
        self._waiting[judge] = future
        call, produce = self._judging.call(judge)
        on_done = partial(self._done, judge, future)
        if self._ahead.start(call, produce, certain=self.view.complete, on_done=on_done):
            return True
        del self._waiting[judge]
        return False

    # --- planner and critic as they speak -----------------------------------------------------

    def _void_plan(self) -> None:
        """What the planner said is void, and so is what was started on it; what was drawn is in the ledger."""
        with self._lock:
            self.standing.drop_plan()
            self._waiting.clear()
            self._judging.forget()
            self._ahead.give_up()

    def _on_resend(self, call: Call, error: CallError, pause: float) -> None:
        if call.role == "critic" or (call.role == "planner" and call.step is None):
            # What it had said when the answer broke off is void: it begins anew.
            self.emitter.reasoning_restarted(call.step, attempt=call.attempt, candidate=call.candidate)
        wait = f" in {pause:.0f} s" if pause >= 1 else ""
        words = " in other words" if isinstance(error, ContentBlocked) else ""
        self.emitter.warning("resent", f"{error.message} The {call.role} call is sent again{wait}{words}.", call.step)

    def _adopt_plan(self, finished: PlanFinished) -> None:
        with self._lock:
            stale = self.standing.adopt_plan(finished.plan)
            self._waiting = {call: future for call, future in self._waiting.items() if call.step not in stale}
            self._judging.forget(stale)
            self._ahead.promote(stale)
            self.emitter.reasoning_finished(None, finished.reasoning)
            self.emitter.planned(finished.plan, stale)
            if self.base is not None and finished.origins is not None:
                self.standing.take_over(taken_over(self.base, self.view, finished.origins).values())
            cap, steps = self.settings.limits.max_steps, finished.plan.steps
            if any(step.op != "text" for step in steps[cap:]):
                self.emitter.limit("max_steps", len(steps), cap)
        for warning in finished.warnings:
            self.emitter.warning(warning.code, warning.message, warning.step)

    def _drop_plan(self, error: Exception) -> None:
        with self._lock:
            self._void_plan()
            self.emitter.unplanned()
            if isinstance(error, LimitReached):
                self.emitter.limit(error.limit, error.used, error.cap)

    def _on_critic_text(self, judge: Judge, text: str) -> None:
        with self._lock:
            if judge in self._waiting:  # else it goes on after it was given up
                self.emitter.reasoning(judge.step, text, attempt=judge.attempt, candidate=judge.candidate)

    def _on_preview(self, draw: Draw, ref: ArtifactRef, number: int) -> None:
        with self._lock:
            if draw in self._waiting:  # else it is a bet, or goes on after it was given up
                self.emitter.unfinished(draw.step, draw.attempt, ref, number)

    # --- ending -------------------------------------------------------------------------------

    def stop(self) -> None:
        """Stop in good order: calls in flight are cancelled, the document is composed of what exists."""
        self.stopped = True
        self.scope.close(cancelled=True)

    def close(self, *, cancelled: bool = True) -> None:
        """Let go of every call; safe to call twice, from any thread.

        Args:
            cancelled: Also of what is certain; else that goes on, and is recorded for whoever goes on with the run.
        """
        self.closed = True
        self.scope.close(cancelled=cancelled)
