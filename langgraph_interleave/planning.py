"""Having a request planned: the planner is asked, listened to, and asked again where that may help."""

from __future__ import annotations

from collections.abc import Callable

from langgraph_interleave.ambiguity import tell_ambiguous
from langgraph_interleave.asking import Asking, counts_wrong, remedy_of
from langgraph_interleave.calls import RunCalls
from langgraph_interleave.errors import InterleaveError, PlanError
from langgraph_interleave.ledger import RunScope
from langgraph_interleave.results import read_plan_result, read_unusable
from langgraph_interleave.standing import Standing
from langgraph_interleave.types import PlanDelta, PlanFinished, ReasoningDelta, StepDelta, StyleDelta


class Planning:
    """One plan that is wanted.

    Args:
        calls: Makes the run's calls.
        scope: Where they are made.
        standing: Where the run stands; steps are added as they come.
        on_news: Called when a step or the style guide is there.
        on_void: Called when what was said so far is void.

    Attributes:
        asking: How the plan was asked for.
    """

    def __init__(
        self,
        calls: RunCalls,
        scope: RunScope,
        standing: Standing,
        *,
        on_news: Callable[[], None],
        on_void: Callable[[], None],
    ) -> None:
        self.asking = Asking(standing.settings.limits.max_repeats)
        self._calls = calls
        self._scope = scope
        self._standing = standing
        self._emitter = standing.emitter
        self._on_news = on_news
        self._on_void = on_void
        self._listening = False

    async def ask(self) -> PlanFinished:
        """Ask for the plan; again when the answer cannot be used, and once when it counted wrong.

        Raises:
            PlanError: No answer could be used.
            Exception: Whatever the call raises.
        """
        self._listening = True
        try:
            return await self._ask()
        finally:
            with self._standing.lock:
                self._listening = False  # a planner that goes on after it was given up

    async def _ask(self) -> PlanFinished:
        asking, kept = self.asking, None
        while True:
            call, produce = self._calls.plan(
                self._on_delta, unusable=asking.unusable, repeats=asking.repeats, mending=kept is not None
            )
            asking.calls += (call.key,)
            try:
                done = await self._scope.run(call, produce)
            except InterleaveError:
                if kept is None:
                    raise
                return kept  # it has the wrong number of steps, and is a plan
            if done.took_over is not None:
                tell_ambiguous(self._emitter, [done.took_over])
            bad = read_unusable(done.result)
            if bad is not None and kept is not None:
                return kept
            if bad is None:
                finished = read_plan_result(await self._calls.artifacts.aget_json(done.result["plan"]))
                bad = counts_wrong(finished, self._standing.settings.steps) if kept is None else None
                if bad is None or not asking.again(bad):
                    return finished
                kept = finished
            elif not asking.again(bad):
                tries = len(asking.calls)
                times = "once" if tries == 1 else f"{tries} times"
                remedy = remedy_of("planner", bad, "Use another model, or ask for less.")
                raise PlanError(
                    bad.reason,
                    remedy=f"The planner was asked {times}. {remedy}",
                    raw=bad.raw,
                    truncated=bad.truncated,
                )
            self._again(bad.reason)

    def _again(self, reason: str) -> None:
        self._on_void()
        self._emitter.replanning()
        self._emitter.warning("asked_again", f"The planner is asked again. {reason}")

    def _on_delta(self, delta: PlanDelta) -> None:
        with self._standing.lock:
            if not self._listening:
                return
            if isinstance(delta, ReasoningDelta):
                self._emitter.reasoning(None, delta.text)
            elif isinstance(delta, StyleDelta):
                self._standing.style = self._standing.style or delta.style_guide
                self._on_news()
            elif isinstance(delta, StepDelta) and self._standing.add_step(delta.step):
                self._on_news()
