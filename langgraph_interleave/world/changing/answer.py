"""The answer to a change: the changed plan, with what was understood, decided and not understood."""

from __future__ import annotations

from langgraph_interleave.changes import apply_changes
from langgraph_interleave.errors import PlanError
from langgraph_interleave.planner import Existing, PlanRequest
from langgraph_interleave.types import (
    Change,
    Changes,
    PlanDelta,
    PlanFinished,
    PlanWarning,
    ReasoningDelta,
    StepDelta,
    StyleDelta,
)
from langgraph_interleave.world.changing.bench import Bench
from langgraph_interleave.world.changing.carpenter import Carpenter
from langgraph_interleave.world.changing.observing import observe, with_its_place
from langgraph_interleave.world.changing.orders import orders_of
from langgraph_interleave.world.changing.row import rows_of
from langgraph_interleave.world.grammar.languages import language_of
from langgraph_interleave.world.planning.amount import read_text


def changed_deltas(request: PlanRequest, existing: Existing) -> list[PlanDelta]:
    """All deltas of the plan that comes of a change, in order. Never raises because of words or pictures.

    Args:
        request: What a planner is given.
        existing: Its plan that is there already, and what is wanted otherwise.
    """
    bench = bench_of(request, existing)
    changes = changes_of(bench, request, existing)
    try:
        changed = apply_changes(existing.plan, changes, pictures=existing.pictures)
    except PlanError as error:
        # A plan of somebody else's may be built in ways that the rules here do not foresee.
        bench.thoughts.clear()
        bench.warn("other", f"The change could not be made, so the plan stays as it is: {error.message}")
        changed = apply_changes(existing.plan, unchanged(existing), pictures=existing.pictures)
    if not bench.thoughts:
        bench.think("Nothing of the plan changes.")
    spoken = [f"{thought} " for thought in bench.thoughts[:-1]] + bench.thoughts[-1:]
    deltas: list[PlanDelta] = [ReasoningDelta(thought) for thought in spoken]
    deltas.append(StyleDelta(changed.plan.style_guide))
    deltas.extend(StepDelta(step) for step in changed.plan.steps)
    deltas.append(
        PlanFinished(
            plan=changed.plan,
            reasoning="".join(spoken),
            warnings=tuple(bench.warnings),
            origins=changed.origins,
        )
    )
    return deltas


def changes_of(bench: Bench, request: PlanRequest, existing: Existing) -> Changes:
    """What becomes of each step, by the user's words and pictures."""
    words = {step.index: (step.instruction or "", step.prompt or "") for step in existing.plan.steps}
    drawn = [row.old for row in bench.rows if row.scene is not None and row.old is not None]
    text, cut = read_text(existing.change.text)
    if cut is not None:
        bench.warn(cut.code, cut.message)
    text = with_its_place(text) if existing.given else text
    orders = orders_of(text, drawn, len(bench.rows), first=existing.plan.first_number)
    captions = " ".join(row.caption or "" for row in bench.rows)
    if existing.given:
        orders = observe(bench, orders, existing, request.images)
    Carpenter(bench, language_of(captions)).carry_out(orders)
    bench.settle()
    return bench.changes(words)


def bench_of(request: PlanRequest, existing: Existing) -> Bench:
    """The bench with a plan on it, as it is."""
    plan = existing.plan
    return Bench(
        rows=rows_of(plan.steps, existing.pictures),
        style=plan.style_guide,
        capabilities=request.capabilities,
        most=max(request.limits.max_steps, len(plan.steps)),
        first=plan.first_number,
        warnings=[
            PlanWarning("step_count", f"{request.steps} steps were asked for; a changed plan keeps those it has.")
        ]
        if request.steps is not None and request.steps != len(plan.steps)
        else [],
    )


def unchanged(existing: Existing) -> Changes:
    """Every step as it is."""
    return Changes(steps=tuple(Change(change="keep", step=step.index) for step in existing.plan.steps))
