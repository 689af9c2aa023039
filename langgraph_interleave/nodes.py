"""What each node does. Wiring is in `graph`, decisions are in `routing`.

Nodes do not raise once anything was paid for: a raising `Send` task would cancel its siblings with
their calls. Every error becomes the outcome of a step; `compose` raises what was a fault of ours.
The one exception is a store that takes nothing any more: nothing is committed then that is not
stored, so the thread can be resumed; the document made so far is attached to the error.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langgraph.types import Command, Send

from langgraph_interleave import outcomes, routing
from langgraph_interleave.compose import measure_drift
from langgraph_interleave.errors import InternalError
from langgraph_interleave.run import Run
from langgraph_interleave.state import (
    InterleaveState,
    Progress,
    StepProgress,
    Task,
    finished_turn,
    first_task,
    latest_document,
    own_task,
    record_digests,
    review_task,
    same_plan,
    state_progress,
)
from langgraph_interleave.stored import aread_document, aread_plan, aread_step
from langgraph_interleave.tracing import tool_run
from langgraph_interleave.types import Attempt, DocumentData, StepRecord
from langgraph_interleave.work import Work


class Nodes:
    """The nodes that carry out a plan, over the live runs of one graph."""

    def __init__(self, work: Work) -> None:
        self.work = work

    async def dispatch(self, state: InterleaveState) -> Command[Any]:
        """Send out what is ready; when nothing is under way, ask what is to be asked, or go on to `compose`.

        Raises:
            InternalError: A step's record cannot be stored.
        """
        progress = state_progress(state)
        run = await self.work.runs.find(progress["run_id"], progress["plan"], progress)
        with self.work.at_work(run):
            if progress.get("unapproved"):
                run.held = True
                took: Progress = {**same_plan(progress), "seconds": run.budget.spend().seconds}
                return Command(
                    update={"progress": took, **self.work.wait(run, run.view, progress["steps"])}, goto="review_plan"
                )
            view = committed_view(run, progress)
            settled = run.standing.settle(view)
            view = replace(view, records={**view.records, **settled})
            steps = progress["steps"]
            changes = {str(record.index): await self.work.commit(record) for record in settled.values()}
            if not view.complete or routing.all_concluded(view):
                return Command(update=self.work.update(progress, changes), goto="compose")
            new = [
                step
                for step in view.steps
                if str(step.index) not in steps and step.index not in settled and routing.ready(view, step)
            ]
            if new and view.rules.ended_at is not None:
                changes |= {str(step.index): await self.work.commit(run.standing.finish(step.index)) for step in new}
                return Command(update=self.work.update(progress, changes), goto="dispatch")
            known: Progress = {**progress, "steps": {**steps, **changes}}
            waiting = [int(index) for index, step in steps.items() if step.get("outcome") == "waiting"]
            if waiting and not new and not any(step.get("outcome") == "started" for step in steps.values()):
                return await self._ask(run, view, known, sorted(waiting), changes)
            changes |= {str(step.index): StepProgress(outcome="started") for step in new}
            tasks = [Send("generate", first_task(known, step.index, routing.waits_for(view, step))) for step in new]
            return Command(update=self.work.update(progress, changes), goto=tasks)

    async def _ask(
        self, run: Run, view: routing.RunView, progress: Progress, waiting: list[int], changes: dict[str, StepProgress]
    ) -> Command[Any]:
        """Nothing is under way: what waits is planned anew, or put before somebody, all of it together.

        A limit goes first, and alone: what is answered there decides what can be said of the steps.
        """
        records = run.view.records
        seen = replace(view, records={**view.records, **{index: records[index] for index in waiting}})
        took: Progress = {**same_plan(progress), "steps": changes, "seconds": run.budget.spend().seconds}
        if any(outcomes.at_limit(records[index], run.view.rules) for index in waiting):
            update = {"progress": took, **self.work.wait(run, seen, progress["steps"])}
            return Command(update=update, goto="review_limit")
        exhausted = [i for i in waiting if records[i].proposed == "exhausted" and records[i].limit is None]
        if run.settings.on_exhausted == "replan" and exhausted:
            if run.plan_record.replans < run.settings.limits.max_replans and run.settings.ended_at is None:
                wanted = {"remark": cannot_be_drawn(run.view, exhausted), "cannot": exhausted}
                again = await self.work.roles.artifacts.aput_json(wanted)
                after: Progress = {**progress, "again": again, "plans": progress.get("plans", 0) + 1}
                return Command(update={"progress": after}, goto="planner")
            if not run.view.rules.review:
                done = {str(index): await self.work.commit(run.standing.settle_proposed(index)) for index in exhausted}
                return Command(update=self.work.update(progress, {**changes, **done}), goto="dispatch")
        update = {"progress": took, **self.work.wait(run, seen, progress["steps"])}
        tasks = [
            Send("review_step", review_task(progress, index, routing.waits_for(view, view.steps[index])))
            for index in waiting
        ]
        return Command(update=update, goto=tasks)

    async def generate(self, state: Task) -> Command[Any]:
        """Draw one attempt of a step."""
        return await self._take(state, judged=False, following="critique")

    async def critique(self, state: Task) -> Command[Any]:
        """Have the drawn attempt judged against the step's instruction."""
        return await self._take(state, judged=True, following="retry")

    async def retry(self, state: Task) -> Command[Any]:
        """Begin the next attempt: from the step's references, with the refined prompt and a new seed."""
        task = own_task(state)
        following: Task = {**task, "attempt": task["attempt"] + 1}
        return Command(goto=Send("generate", following))

    async def compose(self, state: InterleaveState) -> dict[str, Any]:
        """Finish the document, say so, and let go of the run.

        Raises:
            InternalError: Something of ours, or of a role's code, failed on the way; the document is
                attached and the cause chained.
        """
        progress = state_progress(state)
        run = await self.work.runs.find(progress["run_id"], progress["plan"], progress)
        with self.work.at_work(run):
            view = committed_view(run, progress)
            await run.scope.aclose()
            await run.scope.recount()
            digests = record_digests(progress["steps"])
            drifts = await measure_drift(view, self.work.roles.artifacts)
            cancelled = run.stopped or progress.get("cancelled", False)
            document = self.work.document(run, view, cancelled=cancelled, record_digests=digests, drifts=drifts)
            spend = document.spend
            same = None if cancelled else await self._unchanged(run, view)
            if same is not None:
                document = same
                run.emitter.warning("nothing_changed", "Nothing was changed: the document is as it was.")
            data = document.model_dump(mode="json", exclude_none=True)
            digest = await self.work.roles.artifacts.aput_json(data)
            run.emitter.run_finished(document.outcome, document.reasons, len(view.planned), spend)
        self.work.runs.end(run)
        if run.standing.fault is not None:
            raise InternalError(
                f"An unexpected {type(run.standing.fault).__name__} happened during the run; its document is attached.",
                remedy="See the chained exception; the document is in `.document`.",
                document=data,
            ) from run.standing.fault
        return {
            "document": data,
            "outcome": document.outcome,
            "spend": spend.model_dump(mode="json"),
            "progress": finished_turn(progress, self._latest(run, progress, document, digest)),
        }

    @staticmethod
    def _latest(run: Run, progress: Progress, document: DocumentData, digest: str) -> str:
        """What a later turn means by the latest: not what came to nothing, where there was something before."""
        before = run.plan_record.parent or latest_document(progress)
        return digest if before is None or document.outcome in ("complete", "partial") else before

    async def _unchanged(self, run: Run, view: routing.RunView) -> DocumentData | None:
        """The document a change was about, where nothing of it was changed."""
        parent = run.plan_record.parent
        drawn = [step.index for step in view.planned if step.op != "text"]
        taken = all((record := view.records.get(index)) is not None and record.origin for index in drawn)
        if parent is None or not taken or run.plan_record.plan is None:
            return None
        base = await aread_document(self.work.roles.artifacts, parent)
        if base.plan is None or len(base.steps) != len(view.planned):
            return None
        before = (await aread_plan(self.work.roles.artifacts, base.plan)).plan
        return base if before == run.plan_record.plan else None

    async def _take(self, task: Task, *, judged: bool, following: str) -> Command[Any]:
        task = own_task(task)
        run = await self.work.runs.find(task["run_id"], task["plan"])
        with self.work.at_work(run):
            try:
                await self._restore(run, task)
                record = await self._until(run, task, judged=judged)
            except Exception as error:  # noqa: BLE001 - a raising node would cancel its siblings' paid calls
                record = run.standing.broken(task["step"], error)
            if record.outcome is None and record.proposed is None:
                further: Task = {**task, "record": await self.work.store(record)}
                return Command(goto=Send(following, further))
            steps = {str(record.index): await self.work.commit(record, task.get("round", 0))}
            return Command(update={"progress": {**same_plan(task), "steps": steps}}, goto="dispatch")

    async def _restore(self, run: Run, task: Task) -> None:
        """Take over what an earlier invocation committed for this task; a live run knows it already."""
        digests = {**task["sources"], str(task["step"]): task["record"]}
        for index, digest in digests.items():
            if digest is not None and int(index) not in run.view.records:
                run.standing.adopt([await aread_step(self.work.roles.artifacts, digest)])

    async def _until(self, run: Run, task: Task, *, judged: bool) -> StepRecord:
        step, number = task["step"], task["attempt"]
        name = "critique_image" if judged else "generate_image"
        async with tool_run(name, {"run_id": run.run_id, "step": step, "attempt": number}) as traced:
            record = await run.until(step, number, judged=judged)
            if number < len(record.attempts):
                attempt = record.attempts[number]
                traced.problem = attempt.problem
                traced.output = trace_of(attempt, judged=judged)
            else:
                traced.problem = record.problem
        return record


def cannot_be_drawn(view: routing.RunView, exhausted: list[int]) -> str:
    """What a planner is told of steps no attempt of which was accepted."""
    said: list[str] = []
    for index in exhausted:
        record = view.records[index]
        judged = [attempt.critique for attempt in record.attempts if attempt.critique is not None]
        why = f" What was said of the last: {judged[-1].reasoning}" if judged and judged[-1].reasoning else ""
        tries = len(record.attempts)
        times = "in one attempt" if tries == 1 else f"in {tries} attempts"
        said.append(f"Step {index + view.first_number} could not be drawn as instructed {times}.{why}")
    return "\n".join([*said, "Plan it otherwise, so that it can be drawn; keep what was accepted."])


def committed_view(run: Run, progress: Progress) -> routing.RunView:
    """The run as the graph has committed it: only steps whose outcome is in the state."""
    under_way = ("started", "waiting")
    done = {int(index) for index, step in progress["steps"].items() if step.get("outcome") not in under_way}
    return replace(run.view, records={index: record for index, record in run.view.records.items() if index in done})


def trace_of(attempt: Attempt, *, judged: bool) -> dict[str, Any]:
    """What a trace shows of an attempt: references and words."""
    if judged and attempt.critique is not None:
        return attempt.critique.model_dump(mode="json", exclude_none=True)
    return {
        "image": attempt.image.uri if attempt.image else None,
        "prompt": attempt.prompt,
        "references": [ref.uri for ref in attempt.references],
        "seed": attempt.seed,
    }
