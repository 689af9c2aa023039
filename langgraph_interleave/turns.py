"""The node that begins a turn: it reads what is asked for, has it planned, or has a plan made anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph_interleave.ambiguity import tell_ambiguous
from langgraph_interleave.background import in_thread
from langgraph_interleave.base import Base, base_of, read_records
from langgraph_interleave.changes import apply_changes
from langgraph_interleave.choose import check_references, check_size
from langgraph_interleave.content import read_request
from langgraph_interleave.context import Settings
from langgraph_interleave.drafting import sketch_plan
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.run import Run
from langgraph_interleave.runs import settings_of, this_run
from langgraph_interleave.state import (
    InterleaveState,
    Progress,
    StepProgress,
    known_progress,
    latest_document,
    next_turn,
    past_turns,
    record_digests,
    same_plan,
)
from langgraph_interleave.stored import aread_plan
from langgraph_interleave.tracing import tool_run
from langgraph_interleave.types import Changes, PlanFinished, Request, TextPart
from langgraph_interleave.work import Work


class Turns:
    """The planner's node."""

    def __init__(self, work: Work) -> None:
        self.work = work

    async def planner(self, state: InterleaveState) -> dict[str, Any]:
        """Read the request, have it planned, and begin the turn; or plan anew what somebody wants otherwise.

        Raises:
            ConfigError: The request or a per-run value is not valid; nothing was spent.
            ArtifactMissing: What is to be changed is not in the store.
            InternalError: The plan cannot be stored.
        """
        before = known_progress(state)
        if "request" not in state and before and "again" in before:
            return await self._plan_again(before)
        if "request" not in state:
            raise ConfigError("There is no request.", remedy='Pass {"request": "what to make"}.')
        run_id, settings = this_run(self.work.roles.settings)
        check_size(settings, self.work.roles.backend)
        check_references(settings, self.work.roles.backend)
        request = await in_thread(read_request, state["request"], self.work.roles.artifacts)
        base: Base | None = None
        if state.get("base") is not None:
            base = await base_of(state.get("base"), self.work.roles.artifacts, latest=latest_document(before))
            settings = settings_of_change(settings, base)
        run = await self.work.runs.start(run_id, request, settings, base)
        run.emitter.run_started()
        for note in self.work.roles.notes:
            run.emitter.warning("note", note)
        return await self._planned(run, lambda record: next_turn(before, run_id, record))

    async def _plan_again(self, before: Progress) -> dict[str, Any]:
        """The plan of this turn is made anew: for a reviewer's remark, by hand, or for a step that cannot be drawn."""
        artifacts = self.work.roles.artifacts
        wanted = await artifacts.aget_json(before.get("again", ""))
        record = await aread_plan(artifacts, before["plan"])
        digests = record_digests(before["steps"])
        # What a reviewer says is asked for; what the planner is told of steps that cannot be drawn is nobody's wish.
        unsaid = "changes" in wanted or "cannot" in wanted
        base = Base(record, before["plan"], await read_records(digests, artifacts), digests, unsaid=unsaid)
        settings = settings_of_change(settings_of(record), base, version=record.version)
        changes = Changes.model_validate(wanted["changes"]) if "changes" in wanted else None
        remark = Request(parts=(TextPart(text=wanted.get("remark") or "The plan was changed by hand."),))
        run = await self.work.runs.start(before["run_id"], remark, settings, base)
        run.budget.carry(before.get("seconds", 0.0))
        run.plan_record = run.plan_record.model_copy(
            update={
                "parent": record.parent,
                "replaces": before["plan"],
                "before": record.before + 1,
                "replans": record.replans + ("cannot" in wanted),
                "limit_decisions": record.limit_decisions,
            }
        )
        run.emitter.before = run.plan_record.before

        def progress(plan: str) -> Progress:
            return {
                **same_plan(before), "plans": before.get("plans", 0) + 1, "plan": plan, **past_turns(before),
                "seconds": before.get("seconds", 0.0),
            }  # fmt: skip

        return await self._planned(run, progress, changes=changes, steps=before["steps"], cannot="cannot" in wanted)

    async def _planned(
        self,
        run: Run,
        progress: Callable[[str], Progress],
        *,
        changes: Changes | None = None,
        steps: dict[str, StepProgress] | None = None,
        cannot: bool = False,
    ) -> dict[str, Any]:
        run.held = run.settings.plan_approved and changes is None
        tell_ambiguous(run.emitter, run.scope.lost)
        with self.work.at_work(run):
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
            # A fault of a planner's code is raised; but what was drawn is delivered first.
            ends = run.stopped or run.standing.fault is not None
            if record.plan is None and steps is not None and (cannot or not ends):
                return await self._as_it_was(run, progress, steps, cannot=cannot)
            asked = run.held and record.plan is not None
            if asked and run.settings.draft:
                await self._sketch(run)
            assert run.plan_digest is not None
            begun = progress(run.plan_digest)
            kept = {str(kept.index): await self.work.commit(kept) for kept in run.view.records.values() if kept.origin}
            if kept:
                begun["steps"] = kept
            return {"progress": _unapproved(begun) if asked else begun}

    async def _as_it_was(
        self, run: Run, progress: Callable[[str], Progress], steps: dict[str, StepProgress], *, cannot: bool
    ) -> dict[str, Any]:
        """No other plan could be made: the one there is stays, with what was drawn for it.

        Where a step could not be drawn, no planner is asked any more; a reviewer is told why, and asked again.
        """
        failed, base = run.plan_record, run.base
        assert base is not None
        assert failed.problem is not None
        said = f"Another plan could not be made. {failed.problem.message}"
        run.emitter.warning("plan_stays", said)
        update: dict[str, Any] = {"review": None, "problem": failed.problem}
        if cannot:
            update = {"warnings": (*base.plan.warnings, said), "replans": run.settings.limits.max_replans}
        kept = base.plan.model_copy(update=update)
        run.restore(kept, await self.work.roles.artifacts.aput_json(kept.model_dump(mode="json")))
        assert run.plan_digest is not None
        begun: Progress = {**progress(run.plan_digest), "steps": steps}
        if cannot:
            run.held = False
            return {"progress": begun}
        run.restore_steps(base.records.values())
        return {"progress": _unapproved(begun)}

    async def _sketch(self, run: Run) -> None:
        """In a draft: sketch what was planned, for nothing, and tell it."""
        record = run.plan_record
        assert record.plan is not None
        sketches = await sketch_plan(
            record.plan, record.request, run_id=run.run_id, ledger=self.work.roles.ledger, size=run.settings.pixels,
            deadline_s=run.settings.limits.call_timeout_s,
        )  # fmt: skip
        for step, sketch in zip(record.plan.steps, sketches, strict=True):
            if sketch is not None:
                run.emitter.sketched(step, sketch)
        run.plan_record = record.model_copy(update={"sketches": sketches})
        run.plan_digest = await self.work.roles.artifacts.aput_json(run.plan_record.model_dump(mode="json"))


def _unapproved(progress: Progress) -> Progress:
    """The progress of a plan that is to be put before a reviewer."""
    waiting = progress.copy()
    waiting["unapproved"] = True
    return waiting


def settings_of_change(settings: Settings, base: Base, *, version: int | None = None) -> Settings:
    """The values of a run that changes something: nothing is begun before it is known what is kept."""
    update = {"version": base.version + 1 if version is None else version, "early_start": False, "steps": None}
    return settings.model_copy(update=update)
