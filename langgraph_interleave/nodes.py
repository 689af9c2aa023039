"""What each node does. Wiring is in `graph`, decisions are in `routing`.

Nodes do not raise once anything was paid for: a raising `Send` task would cancel its siblings with
their calls. Every error becomes the outcome of a step; `compose` raises what was a fault of ours.
The one exception is a store that takes nothing any more: nothing is committed then that is not
stored, so the thread can be resumed; the document made so far is attached to the error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from langgraph.types import Command, Send

from langgraph_interleave import routing
from langgraph_interleave.choose import check_references, check_size
from langgraph_interleave.compose import compose_document, measure_drift
from langgraph_interleave.content import read_request
from langgraph_interleave.errors import ConfigError, InternalError
from langgraph_interleave.roles import Roles
from langgraph_interleave.run import Run
from langgraph_interleave.runs import Runs, this_run
from langgraph_interleave.state import InterleaveState, Progress, StepProgress, Task
from langgraph_interleave.tracing import tool_run
from langgraph_interleave.types import Attempt, DocumentData, Drift, StepRecord


class Nodes:
    """The six nodes of one graph, as methods over its live runs."""

    def __init__(self, roles: Roles) -> None:
        self.roles = roles
        self.runs = Runs(roles)

    async def planner(self, state: InterleaveState) -> dict[str, Any]:
        """Read the request, have it planned, and begin the turn.

        Raises:
            ConfigError: The request or a per-run value is not valid; nothing was spent.
            InternalError: The plan cannot be stored.
        """
        if "request" not in state:
            raise ConfigError("There is no request.", remedy='Pass {"request": "what to make"}.')
        run_id, settings = this_run(self.roles.settings)
        check_size(settings, self.roles.backend)
        check_references(settings, self.roles.backend)
        request = await asyncio.to_thread(read_request, state["request"], self.roles.artifacts)
        run = await self.runs.start(run_id, request, settings)
        run.emitter.run_started()
        for note in self.roles.notes:
            run.emitter.warning("note", note)
        with self._work(run):
            async with tool_run("plan", {"run_id": run_id, "request": request.text}) as traced:
                record = await run.make_plan()
                traced.problem = record.problem
                traced.output = {"plan": run.plan_digest, "steps": len(record.plan.steps) if record.plan else 0}
        assert run.plan_digest is not None
        return {"progress": next_turn(state.get("progress"), run_id, run.plan_digest)}

    async def dispatch(self, state: InterleaveState) -> Command[Any]:
        """Send out what is ready, or go on to `compose` when every step has its outcome.

        Raises:
            InternalError: A step's record cannot be stored.
        """
        progress = state_progress(state)
        run = await self.runs.find(progress["run_id"], progress["plan"], progress)
        with self._work(run):
            view = committed_view(run, progress)
            settled = run.standing.settle(view)
            view = replace(view, records={**view.records, **settled})
            steps = progress["steps"]
            changes = {str(record.index): await self._commit(record) for record in settled.values()}
            if not view.complete or routing.all_concluded(view):
                return Command(update=self._update(progress, changes), goto="compose")
            new = [
                step
                for step in view.steps
                if str(step.index) not in steps and step.index not in settled and routing.ready(view, step)
            ]
            known: Progress = {**progress, "steps": {**steps, **changes}}
            changes |= {str(step.index): StepProgress(outcome="started") for step in new}
            tasks = [Send("generate", first_task(known, step.index, routing.waits_for(view, step))) for step in new]
            return Command(update=self._update(progress, changes), goto=tasks)

    async def generate(self, state: Task) -> Command[Any]:
        """Draw one attempt of a step."""
        return await self._take(state, judged=False, following="critique")

    async def critique(self, state: Task) -> Command[Any]:
        """Have the drawn attempt judged against the step's instruction."""
        return await self._take(state, judged=True, following="retry")

    async def retry(self, state: Task) -> Command[Any]:
        """Begin the next attempt: from the step's references, with the refined prompt and a new seed."""
        following: Task = {**state, "attempt": state["attempt"] + 1}
        return Command(goto=Send("generate", following))

    async def compose(self, state: InterleaveState) -> dict[str, Any]:
        """Finish the document, say so, and let go of the run.

        Raises:
            InternalError: Something of ours, or of a role's code, failed on the way; the document is
                attached and the cause chained.
        """
        progress = state_progress(state)
        run = await self.runs.find(progress["run_id"], progress["plan"], progress)
        with self._work(run):
            view = committed_view(run, progress)
            await run.scope.aclose()
            digests = {int(i): step["record"] for i, step in progress["steps"].items() if "record" in step}
            drifts = await measure_drift(view, self.roles.artifacts)
            document = self._document(run, view, cancelled=run.stopped, record_digests=digests, drifts=drifts)
            data = document.model_dump(mode="json", exclude_none=True)
            digest = await self.roles.artifacts.aput_json(data)
            run.emitter.run_finished(document.outcome, document.reasons, len(view.planned), document.spend)
        self.runs.end(run)
        if run.standing.fault is not None:
            raise InternalError(
                f"An unexpected {type(run.standing.fault).__name__} happened during the run; its document is attached.",
                remedy="See the chained exception; the document is in `.document`.",
                document=data,
            ) from run.standing.fault
        return {
            "document": data,
            "outcome": document.outcome,
            "spend": document.spend.model_dump(mode="json"),
            "progress": finished_turn(progress, digest),
        }

    # --- shared by the nodes --------------------------------------------------------------------

    @contextmanager
    def _work(self, run: Run) -> Generator[None]:
        """While a node works on a run. What goes wrong here is of no step: the run is over."""
        with run.active():
            try:
                yield
            except ConfigError:
                raise  # nothing was spent
            except Exception as error:
                # Not by the view of the graph: what was drawn and is not committed is paid for.
                document = self._document(run, run.view, cancelled=True)
                run.emitter.run_finished(document.outcome, document.reasons, len(run.view.planned), document.spend)
                self.runs.end(run)
                where = f" in {self.roles.artifacts!r}" if isinstance(error, OSError) else ""
                raise InternalError(
                    f"The run was ended by an unexpected {type(error).__name__}{where}.",
                    remedy="See the chained exception; what was made so far is in `.document`. With a checkpointer the "
                    "run can be resumed, and finished calls are not made again.",
                    document=document.model_dump(mode="json", exclude_none=True),
                ) from error

    def _document(
        self,
        run: Run,
        view: routing.RunView,
        *,
        cancelled: bool,
        record_digests: dict[int, str] | None = None,
        drifts: dict[int, Drift] | None = None,
    ) -> DocumentData:
        outcome, reasons = routing.run_outcome(view, cancelled=cancelled)
        return compose_document(
            run.plan_record,
            view,
            plan_digest=run.plan_digest,
            record_digests=record_digests or {},
            outcome=outcome,
            reasons=reasons,
            spend=run.budget.spend(),
            notes=self.roles.notes,
            drifts=drifts,
        )

    async def _take(self, task: Task, *, judged: bool, following: str) -> Command[Any]:
        run = await self.runs.find(task["run_id"], task["plan"])
        with self._work(run):
            try:
                await self._restore(run, task)
                record = await self._until(run, task, judged=judged)
            except Exception as error:  # noqa: BLE001 - a raising node would cancel its siblings' paid calls
                record = run.standing.broken(task["step"], error)
            if record.outcome is None:
                further: Task = {**task, "record": await self._store(record)}
                return Command(goto=Send(following, further))
            steps = {str(record.index): await self._commit(record)}
            return Command(
                update={"progress": Progress(turn=task["turn"], run_id=run.run_id, plan=task["plan"], steps=steps)},
                goto="dispatch",
            )

    async def _restore(self, run: Run, task: Task) -> None:
        """Take over what an earlier invocation committed for this task; a live run knows it already."""
        digests = {**task["sources"], str(task["step"]): task["record"]}
        for index, digest in digests.items():
            if digest is not None and int(index) not in run.view.records:
                run.standing.adopt([StepRecord.model_validate(await self.roles.artifacts.aget_json(digest))])

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

    async def _store(self, record: StepRecord) -> str:
        # With its nulls: a check that does not apply has passed=None, and that is to be read back.
        return await self.roles.artifacts.aput_json(record.model_dump(mode="json"))

    async def _commit(self, record: StepRecord) -> StepProgress:
        assert record.outcome is not None
        return StepProgress(outcome=record.outcome, attempt=record.kept or 0, record=await self._store(record))

    @staticmethod
    def _update(progress: Progress, changes: dict[str, StepProgress]) -> dict[str, Any]:
        if not changes:
            return {}
        return {
            "progress": Progress(turn=progress["turn"], run_id=progress["run_id"], plan=progress["plan"], steps=changes)
        }


def state_progress(state: InterleaveState) -> Progress:
    """The progress of the turn; the planner has begun it before any other node runs."""
    assert "progress" in state, "the planner runs first"
    return state["progress"]


def next_turn(before: Progress | None, run_id: str, plan: str) -> Progress:
    """The progress a new turn begins with; of the turn before only the document's digest stays."""
    if not before:
        return Progress(turn=1, run_id=run_id, plan=plan, steps={})
    progress = Progress(turn=before["turn"] + 1, run_id=run_id, plan=plan, steps={})
    history = dict(before.get("history") or {})
    if "document" in before:
        history[before["run_id"]] = before["document"]
    if history:
        progress["history"] = history
    return progress


def finished_turn(progress: Progress, document: str) -> Progress:
    """The progress a turn ends with."""
    return {**progress, "steps": {}, "document": document}


def committed_view(run: Run, progress: Progress) -> routing.RunView:
    """The run as the graph has committed it: only steps whose outcome is in the state."""
    done = {int(index) for index, step in progress["steps"].items() if step.get("outcome") != "started"}
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


def first_task(progress: Progress, step: int, sources: tuple[int, ...]) -> Task:
    """The task that begins a step."""
    records = {str(source): progress["steps"][str(source)].get("record", "") for source in sources}
    return Task(
        turn=progress["turn"],
        run_id=progress["run_id"],
        plan=progress["plan"],
        step=step,
        attempt=0,
        record=None,
        sources=records,
    )
