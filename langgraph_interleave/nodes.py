"""What each node does. Wiring is in `graph`, decisions are in `routing`.

Nodes do not raise once anything was paid for: a raising `Send` task would cancel its siblings with
their calls. Every error becomes the outcome of a step; `compose` raises what was a fault of ours.
The one exception is a store that takes nothing any more: nothing is committed then that is not
stored, so the thread can be resumed; the document made so far is attached to the error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from langgraph.types import Command, Send

from langgraph_interleave import routing
from langgraph_interleave.base import Base, base_of, read_records
from langgraph_interleave.changes import apply_changes
from langgraph_interleave.choose import check_references, check_size
from langgraph_interleave.compose import compose_document, measure_drift
from langgraph_interleave.content import read_request
from langgraph_interleave.context import Settings
from langgraph_interleave.drafting import sketch_plan
from langgraph_interleave.errors import ConfigError, InternalError
from langgraph_interleave.roles import Roles
from langgraph_interleave.run import Run
from langgraph_interleave.runs import Runs, this_run
from langgraph_interleave.state import InterleaveState, Progress, StepProgress, Task
from langgraph_interleave.tracing import tool_run
from langgraph_interleave.types import (
    Attempt,
    Changes,
    DocumentData,
    Drift,
    PlanFinished,
    PlanRecord,
    Request,
    StepRecord,
    TextPart,
)


class Nodes:
    """The six nodes of one graph, as methods over its live runs."""

    def __init__(self, roles: Roles) -> None:
        self.roles = roles
        self.runs = Runs(roles)

    async def planner(self, state: InterleaveState) -> dict[str, Any]:
        """Read the request, have it planned, and begin the turn; or plan anew what somebody wants otherwise.

        Raises:
            ConfigError: The request or a per-run value is not valid; nothing was spent.
            ArtifactMissing: What is to be changed is not in the store.
            InternalError: The plan cannot be stored.
        """
        before = state.get("progress")
        if "request" not in state and before and "again" in before:
            return await self._plan_again(before)
        if "request" not in state:
            raise ConfigError("There is no request.", remedy='Pass {"request": "what to make"}.')
        run_id, settings = this_run(self.roles.settings)
        check_size(settings, self.roles.backend)
        check_references(settings, self.roles.backend)
        request = await asyncio.to_thread(read_request, state["request"], self.roles.artifacts)
        base: Base | None = None
        if state.get("base") is not None:
            latest = before.get("document") if before else None
            base = await base_of(state.get("base"), self.roles.artifacts, latest=latest)
            settings = settings_of_change(settings, base)
        run = await self.runs.start(run_id, request, settings, base)
        if base is not None:
            run.plan_record = run.plan_record.model_copy(update={"parent": base.document})
        run.emitter.run_started()
        for note in self.roles.notes:
            run.emitter.warning("note", note)
        return await self._planned(run, lambda record: next_turn(before, run_id, record))

    async def _plan_again(self, before: Progress) -> dict[str, Any]:
        """The plan of this turn is made anew: for a reviewer's remark, by hand, or for a step that cannot be drawn."""
        artifacts = self.roles.artifacts
        wanted = await artifacts.aget_json(before.get("again", ""))
        record = PlanRecord.model_validate(await artifacts.aget_json(before["plan"]))
        digests = {int(i): step["record"] for i, step in before["steps"].items() if "record" in step}
        base = Base(record, before["plan"], await read_records(digests, artifacts), digests)
        settings = settings_of_change(Settings.model_validate(record.settings), base, version=record.version)
        changes = Changes.model_validate(wanted["changes"]) if "changes" in wanted else None
        remark = Request(parts=(TextPart(text=wanted.get("remark") or "The plan was changed by hand."),))
        run = await self.runs.start(before["run_id"], remark, settings, base)
        run.plan_record = run.plan_record.model_copy(
            update={
                "parent": record.parent,
                "replaces": before["plan"],
                "before": record.before + 1,
                "replans": record.replans + ("cannot" in wanted),
            }
        )

        def progress(plan: str) -> Progress:
            return {**_of(before), "plans": before.get("plans", 0) + 1, "plan": plan, **_history(before)}

        return await self._planned(run, progress, changes=changes)

    async def _planned(
        self, run: Run, progress: Callable[[str], Progress], *, changes: Changes | None = None
    ) -> dict[str, Any]:
        run.held = run.settings.plan_approved and changes is None
        with self._work(run):
            if changes is not None:
                assert run.base is not None
                changed = apply_changes(run.base.steps, changes, pictures=run.drawn_inputs)
                record = await run.take_plan(PlanFinished(changed.plan, origins=changed.origins))
            else:
                traced_as = {"run_id": run.run_id, "request": run.plan_record.request.text}
                async with tool_run("plan", traced_as) as traced:
                    record = await run.make_plan()
                    traced.problem = record.problem
                    traced.output = {"plan": run.plan_digest, "steps": len(record.plan.steps) if record.plan else 0}
            asked = run.held and record.plan is not None
            if asked and run.settings.draft:
                await self._sketch(run)
            assert run.plan_digest is not None
            begun = progress(run.plan_digest)
            kept = {str(kept.index): await self._commit(kept) for kept in run.view.records.values() if kept.origin}
            if kept:
                begun = {**begun, "steps": kept}
            if not asked:
                return {"progress": begun}
            return {"progress": {**begun, "unapproved": True}, **self._wait(run, run.view)}

    async def _sketch(self, run: Run) -> None:
        """In a draft: sketch what was planned, for nothing, and tell it."""
        record = run.plan_record
        assert record.plan is not None
        sketches = await sketch_plan(
            record.plan, record.request, run_id=run.run_id, ledger=self.roles.ledger, size=run.settings.pixels,
            deadline_s=run.settings.limits.call_timeout_s,
        )  # fmt: skip
        for step, sketch in zip(record.plan.steps, sketches, strict=True):
            if sketch is not None:
                run.emitter.sketched(step, sketch)
        run.plan_record = record.model_copy(update={"sketches": sketches})
        run.plan_digest = await self.roles.artifacts.aput_json(run.plan_record.model_dump(mode="json"))

    def _wait(self, run: Run, view: routing.RunView) -> dict[str, Any]:
        """Nothing goes on until somebody answers: the run is let go of, and what exists is delivered meanwhile."""
        document = self._document(run, view, cancelled=False).model_copy(update={"outcome": "waiting", "reasons": ()})
        run.emitter.run_waiting(len(view.planned), document.spend)
        run.close()
        self.runs.end(run)
        return {
            "document": document.model_dump(mode="json", exclude_none=True),
            "outcome": "waiting",
            "spend": document.spend.model_dump(mode="json"),
        }

    async def dispatch(self, state: InterleaveState) -> Command[Any]:
        """Send out what is ready; when nothing is under way, ask what is to be asked, or go on to `compose`.

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
            waiting = [int(index) for index, step in steps.items() if step.get("outcome") == "waiting"]
            if waiting and not new and not any(step.get("outcome") == "started" for step in steps.values()):
                return await self._ask(run, view, known, sorted(waiting), changes)
            changes |= {str(step.index): StepProgress(outcome="started") for step in new}
            tasks = [Send("generate", first_task(known, step.index, routing.waits_for(view, step))) for step in new]
            return Command(update=self._update(progress, changes), goto=tasks)

    async def _ask(
        self, run: Run, view: routing.RunView, progress: Progress, waiting: list[int], changes: dict[str, StepProgress]
    ) -> Command[Any]:
        """Nothing is under way: what waits is planned anew, or put before a reviewer, all of it together."""
        exhausted = [index for index in waiting if run.view.records[index].proposed == "exhausted"]
        if run.settings.on_exhausted == "replan" and exhausted:
            if run.plan_record.replans < run.settings.limits.max_replans:
                wanted = {"remark": cannot_be_drawn(run.view, exhausted), "cannot": exhausted}
                again = await self.roles.artifacts.aput_json(wanted)
                after: Progress = {**progress, "again": again, "plans": progress.get("plans", 0) + 1}
                return Command(update={"progress": after}, goto="planner")
            if not run.view.rules.review:
                done = {str(index): await self._commit(run.standing.settle_proposed(index)) for index in exhausted}
                return Command(update=self._update(progress, {**changes, **done}), goto="dispatch")
        seen = replace(view, records={**view.records, **{index: run.view.records[index] for index in waiting}})
        update = {**self._update(progress, changes), **self._wait(run, seen)}
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
            cancelled = run.stopped or progress.get("cancelled", False)
            document = self._document(run, view, cancelled=cancelled, record_digests=digests, drifts=drifts)
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
            # A change that came to nothing leaves the document it was about the latest.
            "progress": finished_turn(progress, digest if run.plan_record.plan else run.plan_record.parent or digest),
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
            if record.outcome is None and record.proposed is None:
                further: Task = {**task, "record": await self._store(record)}
                return Command(goto=Send(following, further))
            steps = {str(record.index): await self._commit(record)}
            return Command(
                update={
                    "progress": Progress(
                        turn=task["turn"], plans=task.get("plans", 0), run_id=run.run_id, plan=task["plan"], steps=steps
                    )
                },
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
        digest = await self._store(record)
        if record.outcome is None:
            return StepProgress(outcome="waiting", attempt=record.attempts[-1].number, record=digest)
        return StepProgress(outcome=record.outcome, attempt=record.kept or 0, record=digest)

    @staticmethod
    def _update(progress: Progress, changes: dict[str, StepProgress]) -> dict[str, Any]:
        if not changes:
            return {}
        return {"progress": {**_of(progress), "steps": changes}}


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


def _history(progress: Progress) -> Progress:
    return cast("Progress", {"history": progress["history"]} if "history" in progress else {})


def _of(progress: Progress) -> Progress:
    """The progress of the same plan of the same turn, without any step."""
    return Progress(
        turn=progress["turn"], plans=progress.get("plans", 0), run_id=progress["run_id"], plan=progress["plan"],
        steps={},
    )  # fmt: skip


def settings_of_change(settings: Settings, base: Base, *, version: int | None = None) -> Settings:
    """The values of a run that changes something: nothing is begun before it is known what is kept."""
    update = {"version": base.version + 1 if version is None else version, "early_start": False, "steps": None}
    return settings.model_copy(update=update)


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


def after_planning(state: InterleaveState) -> str:
    """Where a plan goes: before a reviewer, or on to be drawn."""
    return "review_plan" if state_progress(state).get("unapproved") else "dispatch"


def first_task(progress: Progress, step: int, sources: tuple[int, ...]) -> Task:
    """The task that begins a step."""
    records = {str(source): progress["steps"][str(source)].get("record", "") for source in sources}
    return Task(
        turn=progress["turn"],
        plans=progress.get("plans", 0),
        run_id=progress["run_id"],
        plan=progress["plan"],
        step=step,
        attempt=0,
        record=None,
        sources=records,
    )


def review_task(progress: Progress, step: int, sources: tuple[int, ...]) -> Task:
    """The task that asks about a step."""
    known = progress["steps"][str(step)]
    return {
        **first_task(progress, step, sources),
        "attempt": known.get("attempt", 0),
        "record": known.get("record"),
    }
