"""The nodes that ask somebody: they hold an `interrupt()`, and what its answer changes in the state.

Nothing is paid for here, so a node that LangGraph runs again after an answer does nothing twice. An answer
that cannot be used is asked for again, with what was wrong; everything else stays as it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, TypeVar

from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel

from langgraph_interleave import outcomes, routing
from langgraph_interleave.background import in_thread
from langgraph_interleave.base import Base, asked_of, read_records
from langgraph_interleave.changes import apply_changes
from langgraph_interleave.content import read_request
from langgraph_interleave.errors import ConfigError, InterleaveError
from langgraph_interleave.estimate import CallProfile, Estimate, estimate_plan, estimate_run, in_a_line
from langgraph_interleave.limits import Limits
from langgraph_interleave.raising import (
    goes_on,
    limit_example,
    limit_question,
    raised,
    reached_by,
    read_limit_answer,
    side_by_side,
    undone,
)
from langgraph_interleave.references import Policy
from langgraph_interleave.results import check_inputs
from langgraph_interleave.reviewing import (
    answer_step,
    plan_question,
    read_answer,
    read_plan_answer,
    step_question,
    waits_for_words,
)
from langgraph_interleave.run import Run
from langgraph_interleave.runs import settings_of
from langgraph_interleave.state import (
    InterleaveState,
    Progress,
    StepProgress,
    Task,
    own_task,
    record_digests,
    review_task,
    same_plan,
    state_progress,
)
from langgraph_interleave.stored import aread_plan, aread_step
from langgraph_interleave.types import (
    ArtifactRef,
    Critique,
    LimitDecision,
    LimitReview,
    PlanRecord,
    PlanReview,
    Request,
    StepRecord,
    StepReview,
    TextPart,
    Usage,
    parse_source,
)
from langgraph_interleave.work import Work

M = TypeVar("M", bound=BaseModel)


class Reviews:
    """The nodes that ask, over the roles and live runs of one graph."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.roles = work.roles
        self.runs = work.runs

    async def review_plan(self, state: InterleaveState) -> Command[Any]:
        """Ask about a plan: it is drawn, as it is or changed by hand; made anew; or given up."""
        progress = state_progress(state)
        record = await aread_plan(self.roles.artifacts, progress["plan"])
        assert record.plan is not None, "a plan that is none is not put before anybody"
        plan = record.plan
        question = plan_question(
            plan, estimate=await self._estimate(record), sketches=record.sketches, link=self.roles.artifacts.linker()
        )
        pictures = await self._drawn(progress, record)
        complaint = None if record.problem is None else f"{record.problem.message} {record.problem.remedy}".strip()
        while True:
            answer = ask(question, PlanReview, complaint)
            try:
                review = read_plan_answer(answer, plan)
                if review.changes is not None:
                    changed = apply_changes(plan, review.changes, pictures=pictures)
                    check_inputs(changed.plan, len(record.request.images) + len(pictures))
                break
            except InterleaveError as error:
                complaint = str(error)
        said = Critique(
            verdict="accept" if review.decision == "accept" and review.changes is None else "revise",
            reasoning=(review.remark or "").strip(),
            judge="human",
        )
        reviewed = record.model_copy(update={"review": said, "problem": None})
        digest = await self.roles.artifacts.aput_json(reviewed.model_dump(mode="json"))
        after: Progress = {**progress, "plan": digest, "plans": progress.get("plans", 0) + 1, "unapproved": False}
        if review.decision == "cancel":
            return Command(update={"progress": {**after, "cancelled": True}}, goto="compose")
        if review.decision == "accept" and review.changes is None:
            return Command(update={"progress": after}, goto="dispatch")
        wanted: dict[str, Any] = {"remark": (review.remark or "").strip()}
        if review.decision == "accept" and review.changes is not None:
            wanted = {"changes": review.changes.model_dump(mode="json")}
        after["again"] = await self.roles.artifacts.aput_json(wanted)
        return Command(update={"progress": after}, goto="planner")

    async def _drawn(self, progress: Progress, record: PlanRecord) -> Mapping[int, int]:
        """Which input each picture is that was drawn already, where a plan that is changed is asked about."""
        digests = record_digests(progress["steps"])
        base = Base(record, progress["plan"], await read_records(digests, self.roles.artifacts), digests)
        return asked_of(base, Request(parts=(TextPart(text="Changed by hand."),)))[1].pictures

    async def _estimate(self, record: PlanRecord) -> str:
        assert record.plan is not None
        settings, roles = settings_of(record), self.roles
        policy = Policy(settings.references, settings.anchor_inputs, settings.reanchor_every)
        estimate = await asyncio.to_thread(
            estimate_plan, record.plan, limits=settings.limits, planner=roles.planner, backend=roles.backend,
            critic=roles.critic, policy=policy, candidates=settings.candidates,
        )  # fmt: skip
        return in_a_line(estimate)

    async def review_step(self, state: Task) -> Command[Any]:
        """Ask about a step: its picture counts, another attempt is made, the reviewer's own counts, or none does."""
        state = own_task(state)
        assert state["record"] is not None, "only a step with a record is put before anybody"
        artifacts = self.roles.artifacts
        run = await self.runs.find(state["run_id"], state["plan"])
        record = await aread_step(artifacts, state["record"])
        step = run.view.steps[state["step"]]
        before = await self._before(run, state)
        number = step.index + run.view.first_number
        question = step_question(step, record, number=number, before=before, link=artifacts.linker())
        complaint: str | None = None
        while True:
            answer = ask(question, StepReview, complaint)
            try:
                review = read_answer(StepReview, answer)
                own = await self._own_picture(review)
                reviewed = answer_step(record, review, own=own, prompt=step.prompt or "")
                break
            except InterleaveError as error:
                complaint = str(error)
        run.standing.adopt([record])
        run.standing.reviewed(reviewed)
        digest = await artifacts.aput_json(reviewed.model_dump(mode="json"))
        if reviewed.outcome is not None:
            done = StepProgress(outcome=reviewed.outcome, attempt=reviewed.kept or 0, record=digest)
            return Command(update={"progress": _of_step(state, done)}, goto="dispatch")
        last = reviewed.attempts[-1].number
        sent_back = state.get("round", 0) + 1
        following: Task = {**state, "attempt": last, "round": sent_back, "record": digest}
        begun = StepProgress(outcome="started", attempt=last + 1, record=digest, round=sent_back)
        node = "critique" if waits_for_words(reviewed) else "retry"
        return Command(update={"progress": _of_step(state, begun)}, goto=Send(node, following))

    async def review_limit(self, state: InterleaveState) -> Command[Any]:
        """Ask about a run that has reached a limit: it goes on under a higher one, or ends with what is there.

        Steps that the limit would have ended go on where they were: with the judgement of a picture that is
        drawn, with the next attempt, or with the first.
        """
        progress = state_progress(state)
        run = await self.runs.find(progress["run_id"], progress["plan"], progress, tells=False)
        settings, rules, spend = run.settings, run.view.rules, run.budget.spend()
        ending = [record for record in run.view.records.values() if outcomes.at_limit(record, rules)]
        ending.sort(key=lambda record: record.index)
        reached = reached_by(ending, settings.limits, spend)
        question = limit_question(
            run.view, reached, spend=spend, estimate=await self._left(run), limits=settings.limits,
            ceiling=settings.ceiling,
        )  # fmt: skip
        complaint: str | None = None
        while True:
            try:
                answer = ask(question, LimitReview, complaint)
                review = read_limit_answer(
                    answer, reached, settings.limits, spend, settings.ceiling, example=limit_example(question)
                )
                break
            except InterleaveError as error:
                complaint = str(error)
        first = reached[0]
        decision = LimitDecision(limit=first.limit, used=first.used, cap=first.cap, review=review)
        ended = first.limit if review.decision == "finish" else None
        after = settings.model_copy(update={"limits": raised(settings.limits, review), "ended_at": ended})
        record = run.plan_record.model_copy(
            update={
                "settings": after.model_dump(mode="json"),
                "limit_decisions": (*run.plan_record.limit_decisions, decision),
            }
        )
        digest = await self.roles.artifacts.aput_json(record.model_dump(mode="json"))
        steps = dict(progress["steps"])
        goes: Progress = {**progress, "plan": digest, "plans": progress.get("plans", 0) + 1, "steps": steps}
        tasks: list[Send] = []
        for one in ending:
            known = steps[str(one.index)]
            if review.decision == "finish":
                steps[str(one.index)] = await self.work.commit(run.standing.finish(one.index), known.get("round", 0))
            elif goes_on(one, review):
                tasks += await self._reopen(run, goes, outcomes.reopened(one))
        # The next node makes the run anew, under the limits there are now, with a clock that begins now.
        run.close()
        self.runs.end(run)
        return Command(update={"progress": goes}, goto=["dispatch", *tasks])

    async def _reopen(self, run: Run, progress: Progress, record: StepRecord) -> list[Send]:
        """Put a step back to where it was in the progress; what goes on with it, where it was begun."""
        name = str(record.index)
        if not record.attempts:
            del progress["steps"][name]  # `dispatch` sends it out as one that was never begun
            return []
        digest = await self.work.store(record)
        judged = routing.awaiting_verdict(record)
        last = record.attempts[-1].number
        begun = StepProgress(outcome="started", attempt=last + (not judged), record=digest)
        if sent_back := progress["steps"][name].get("round", 0):
            begun["round"] = sent_back
        progress["steps"][name] = begun
        sources = routing.waits_for(run.view, run.view.steps[record.index])
        task: Task = {**review_task(progress, record.index, sources), "attempt": last}
        return [Send("critique" if judged else "retry", task)]

    async def _left(self, run: Run) -> Estimate | None:
        """What the steps that a limit would end may take, without any cap on the whole and without repeats."""
        left, roles = undone(run.view), self.roles
        if not left:
            return None
        own = run.settings.limits
        limits = Limits(max_attempts=own.max_attempts, max_repeats=0, max_steps=len(left))
        made = CallProfile((("", Usage()),), billed=False, seconds=0.0, repeatable=False)
        return await asyncio.to_thread(
            estimate_run, len(left), limits=limits, planner=made, backend=roles.backend, critic=roles.critic,
            independent=side_by_side(run.view, left), candidates=run.settings.candidates,
        )  # fmt: skip

    async def _before(self, run: Run, task: Task) -> ArtifactRef | None:
        """The picture a step's own is compared with: of its first source."""
        found = routing.basis_of(run.view, run.view.steps[task["step"]])
        source = found.before or next(iter(found.drawn_from), None)
        if source is None:
            return None
        kind, number = parse_source(source)
        if kind == "input":
            return run.view.request.images[number]
        digest = task["sources"].get(str(number))
        if not digest:
            return None
        return (await aread_step(self.roles.artifacts, digest)).picture

    async def _own_picture(self, review: StepReview) -> ArtifactRef | None:
        if review.image is None:
            return None
        block = {"type": "image", "url": review.image} if isinstance(review.image, str) else review.image
        try:
            request = await in_thread(read_request, [block], self.roles.artifacts)
        except InterleaveError as error:
            raise ConfigError(f"The reviewer's picture cannot be used. {error.message}", remedy=error.remedy) from error
        if not request.images:
            raise ConfigError("The reviewer's picture is no picture.", remedy="Pass what image_part returns.")
        return request.images[0]


def ask(question: dict[str, Any], model: type[BaseModel], complaint: str | None) -> object:
    """Put a question before whoever runs the graph; with what was wrong with the answer before, if there was one."""
    shown = question if complaint is None else {"error": complaint, **question}
    return interrupt(shown, response_schema=model.model_json_schema())


def _of_step(task: Task, step: StepProgress) -> Progress:
    return {**same_plan(task), "steps": {str(task["step"]): step}}
