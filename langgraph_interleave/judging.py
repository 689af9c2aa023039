"""Having attempts judged: the critic is asked, and asked again where its answer cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from langgraph_interleave import candidates
from langgraph_interleave.asking import Asking, remedy_of
from langgraph_interleave.calls import RunCalls
from langgraph_interleave.errors import CritiqueError
from langgraph_interleave.ledger import Call, Finished
from langgraph_interleave.results import read_unusable
from langgraph_interleave.routing import Judge
from langgraph_interleave.standing import Result, Standing
from langgraph_interleave.types import StyleGuide


class Judging:
    """The judgements of one run that are under way.

    Args:
        calls: Makes the run's calls.
        standing: Where the run stands.
        on_text: Told what the critic says, as it comes.
    """

    def __init__(self, calls: RunCalls, standing: Standing, on_text: Callable[[Judge, str], None]) -> None:
        self._calls = calls
        self._standing = standing
        self._on_text = on_text
        #: How each was asked for.
        self._asking: dict[Judge, Asking] = {}

    def call(self, judge: Judge) -> tuple[Call, Any]:
        """The call that judges an attempt, with what the critic said before that could not be used."""
        view = self._standing.view
        record = view.records[judge.step]
        attempt = candidates.alone(record.attempts[judge.attempt], judge.candidate)
        asking = self._asking.setdefault(judge, Asking(self._standing.settings.limits.max_repeats))
        self._standing.emitter.judging(judge.step, attempt, candidate=judge.candidate)
        return self._calls.judge(
            view.steps[judge.step],
            record,
            attempt,
            self._standing.style or StyleGuide(),
            lambda text: self._on_text(judge, text),
            candidate=judge.candidate,
            unusable=asking.unusable,
            repeats=asking.repeats,
        )

    def again(self, judge: Judge, call: Call, result: Result, *, stopped: bool) -> bool:
        """Whether the critic is to be asked once more, because its answer cannot be used.

        Args:
            judge: What was judged.
            call: The call that ended.
            result: What came of it.
            stopped: The run was stopped, so nothing is asked any more.
        """
        asking = self._asking[judge]
        asking.calls += (call.key,)
        bad = read_unusable(result.result) if isinstance(result, Finished) else None
        if bad is None or asking.unusable or stopped or not asking.again(bad):
            return False
        emitter = self._standing.emitter
        emitter.warning("asked_again", f"The critic is asked again. {bad.reason}", judge.step)
        emitter.reasoning_restarted(judge.step, attempt=judge.attempt, candidate=judge.candidate)
        return True

    def conclude(self, judge: Judge, result: Result) -> None:
        """What came of the last asking: a critique, or why there is none."""
        asking = self._asking.pop(judge)
        bad = read_unusable(result.result) if isinstance(result, Finished) else None
        if bad is not None:
            remedy = f"The picture is kept, not judged. {remedy_of('critic', bad, 'Use another critic model.')}"
            result = CritiqueError(bad.reason, remedy=remedy, raw=bad.raw, truncated=bad.truncated)
        self._standing.judged(judge, asking.calls, result)

    def forget(self, steps: Collection[int] | None = None) -> None:
        """What was under way is void: of these steps, or of all."""
        self._asking = {j: asked for j, asked in self._asking.items() if steps is not None and j.step not in steps}
