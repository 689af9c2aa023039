"""Every decision of the state machine, as pure functions over what is known of a run.

The nodes follow these functions, and `ahead` asks the same ones, so that work started ahead of the
graph is exactly the work the graph will ask for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from langgraph_interleave import candidates
from langgraph_interleave.odds import Stakes, kind_of, worth_a_bet
from langgraph_interleave.outcomes import attempts_allowed, critic_wanted, stopped
from langgraph_interleave.prompts.drawing import Wording, unstyled_prompt
from langgraph_interleave.references import Basis, Chosen, basis, choose, shows_a_character
from langgraph_interleave.runview import Draw, Judge, NextCall, NextCalls, RunView
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    Problem,
    RunOutcome,
    RunReason,
    Step,
    StepRecord,
    parse_source,
)

# --- what a step waits for ------------------------------------------------------------------


def concluded(view: RunView, index: int) -> bool:
    """Whether the step has its outcome."""
    record = view.records.get(index)
    return record is not None and record.outcome is not None


def basis_of(view: RunView, step: Step) -> Basis:
    """What a step is drawn from, under the run's policy."""
    shows = view.sheet is not None and view.style is not None and shows_a_character(step, view.style, view.steps)
    inputs = len(view.request.images)
    return basis(step, view.steps, view.rules.policy, inputs=inputs, sheet=view.sheet if shows else None)


def waits_for(view: RunView, step: Step) -> tuple[int, ...]:
    """The steps that must have their outcome before this one is drawn, each once."""
    return basis_of(view, step).steps


def ready(view: RunView, step: Step) -> bool:
    """Whether every step this one builds on has its outcome."""
    return all(concluded(view, source) for source in waits_for(view, step))


def can_be_worded(view: RunView) -> bool:
    """Whether all that goes into a drawing beside its step is known, while the plan is still written."""
    if view.complete:
        return True
    return view.rules.policy.references != "sheet" and (view.style is not None or not view.rules.style_in_prompts)


def settled_without_drawing(view: RunView, step: Step) -> StepRecord | None:
    """The record of a ready step that is never drawn, or `None` when it is to be drawn.

    A text step is done as it is; a step past `max_steps`, or one whose source has no picture, is
    skipped.
    """
    if step.op == "text":
        return StepRecord(index=step.index, outcome="text_only")
    if step.index >= view.rules.max_steps and step.index != view.sheet:
        return StepRecord(index=step.index, outcome="skipped", limit="max_steps")
    found = basis_of(view, step)
    for source in replace(found, added=()).steps:
        record = view.records.get(source)
        if record is not None and record.outcome == "cancelled":
            return stopped(StepRecord(index=step.index), view.rules)
        if record is not None and record.picture is None:
            problem = Problem(
                error="Skipped",
                message=f"It builds on step {source + 1}, which has no picture.",
                remedy="Mend that step and run again.",
            )
            # Skipped for the same reason: where a limit took the source's picture, it took this one too.
            return StepRecord(index=step.index, outcome="skipped", problem=problem, limit=record.limit)
    return None


def pictures(view: RunView, step: Step, *, bets: Mapping[int, ArtifactRef] | None = None) -> Chosen | None:
    """The pictures the step builds on, in order.

    Args:
        view: What is known.
        step: The step.
        bets: Pictures taken for those of sources that have no outcome yet.

    Returns:
        The pictures, or `None` while one of them is not there.
    """

    def picture(source: str) -> ArtifactRef | None:
        kind, number = parse_source(source)
        if kind == "input":
            # A plan still being written may name one that is not there; a validated one does not.
            return view.request.images[number] if number < len(view.request.images) else None
        record = view.records.get(number)
        picture = None if record is None else record.picture
        return picture if picture is not None or bets is None else bets.get(number)

    found = basis_of(view, step)
    if any(not concluded(view, number) and picture(f"step:{number}") is None for number in found.steps):
        return None  # what is only added is waited for as well
    return choose(found, picture, at_most=view.rules.max_references, first_number=view.first_number)


def changed_steps(view: RunView, final: tuple[Step, ...], also: Collection[int] = ()) -> set[int]:
    """Steps of a provisional plan that are not in the final one as they were, and all that build on them."""
    known = view.steps
    stale = {step.index for step in known if step.index >= len(final) or final[step.index] != step}.union(also)
    for step in known:
        if stale.intersection(waits_for(view, step)):
            stale.add(step.index)
    return stale


# --- one step -------------------------------------------------------------------------------


def awaiting_verdict(record: StepRecord) -> bool:
    """Whether the last attempt is drawn and not yet judged."""
    if record.outcome is not None or not record.attempts:
        return False
    last = record.attempts[-1]
    if last.review is not None and (last.review.refined_prompt or not last.review.reasoning):
        return False  # a reviewer's remark is put to the critic, who finds words for it; nothing else is
    return last.image is not None and last.critique is None and last.problem is None


def prompt_of(step: Step, record: StepRecord | None, attempt: int) -> str:
    """The prompt of an attempt: the step's own, then the last refined prompt a reviewer or the critic gave."""
    prompt = step.prompt or ""
    for earlier in (record.attempts if record else ())[:attempt]:
        decided = (earlier.review, earlier.critique)
        refined = next((said.refined_prompt for said in decided if said is not None and said.refined_prompt), None)
        if refined is not None:
            prompt = refined
        elif earlier.review is not None and earlier.review.reasoning:
            # Nobody had better words for the remark, so it is said as it is.
            prompt = f"{unstyled_prompt(prompt)}\nTo be mended, as a reviewer said: {earlier.review.reasoning}"
    # A critic that repeats the style must not have it said twice.
    return unstyled_prompt(prompt)


def wording_of(view: RunView, step: Step) -> Wording:
    """What is said around the prompts of a step."""
    rules = view.rules
    style = view.style if rules.style_in_prompts and step.index != view.sheet else None  # the sheet's prompt says it
    if rules.whole_prompts:
        return Wording(style, max_tokens=rules.max_prompt_tokens)  # nothing of earlier steps needs saying again
    found = basis_of(view, step)
    # "Image 2" of an earlier prompt would be another picture here.
    alone = all(len(view.steps[index].sources) <= 1 for index in (*found.again, step.index))
    again = tuple(_last_prompt(view, view.steps[index]) for index in found.again) if alone else ()
    return Wording(style, again, from_first=bool(found.again), max_tokens=rules.max_prompt_tokens)


def _last_prompt(view: RunView, step: Step) -> str:
    """The prompt that made a step's picture; the step's own where there is none yet."""
    record = view.records.get(step.index)
    drawn = [attempt for attempt in (record.attempts if record else ()) if attempt.image is not None]
    if record is None or not drawn:
        return step.prompt or ""
    return (record.attempts[record.kept] if record.kept is not None else drawn[-1]).prompt


def _draws(
    view: RunView,
    step: Step,
    record: StepRecord | None,
    attempt: int,
    *,
    bets: Mapping[int, ArtifactRef] | None = None,
) -> tuple[Draw, ...]:
    """The calls that draw what there is not yet of an attempt; none while something of their input is not there."""
    chosen = pictures(view, step, bets=bets)
    if chosen is None or not can_be_worded(view):
        return ()
    begun = record.attempts[attempt] if record is not None and len(record.attempts) > attempt else None
    prompt, wording = prompt_of(step, record, attempt), wording_of(view, step)
    return tuple(
        Draw(
            step.index, attempt, prompt, chosen.references, chosen.before, wording,
            (chosen.left_out,) if chosen.left_out and attempt == 0 and first == 0 else (), first, n,
        )
        for first, n in candidates.undrawn(begun, view.rules)
    )  # fmt: skip


def reached(record: StepRecord | None, attempt: int, *, judged: bool) -> bool:
    """Whether the step has been taken as far as the drawing, or the judgement, of `attempt`."""
    if record is None:
        return False
    if record.outcome is not None or record.proposed is not None or len(record.attempts) > attempt + 1:
        return True
    if len(record.attempts) <= attempt or not candidates.is_drawn(record.attempts[attempt]):
        return False
    last = record.attempts[attempt]
    return not judged or last.critique is not None or last.problem is not None


def trim(record: StepRecord, attempt: int, *, judged: bool) -> StepRecord:
    """The record as it was right after `attempt` was drawn, or judged.

    Work ahead of the graph may have taken the step further than the node that commits it; what is
    committed must not depend on that.
    """
    attempts = list(record.attempts[: attempt + 1])
    further = len(record.attempts) > len(attempts)
    if not judged and attempts:
        before = _before_judgement(attempts[-1])
        further = further or before != attempts[-1]
        attempts[-1] = before
    return StepRecord(index=record.index, attempts=tuple(attempts)) if further else record


def _before_judgement(attempt: Attempt) -> Attempt:
    if attempt.candidates:
        return candidates.without_judgement(attempt)
    if not judged_later(attempt):
        return attempt
    return attempt.model_copy(update={"critique": None, "problem": None, "calls": attempt.calls[:1]})


def judged_later(attempt: Attempt) -> bool:
    """Whether a call of its own has judged the picture, or tried to; a failed check does so at once."""
    by_check = attempt.critique is not None and attempt.critique.judge == "check"
    return attempt.image is not None and not by_check and (attempt.critique or attempt.problem) is not None


# --- the whole run --------------------------------------------------------------------------


def next_of_step(view: RunView, step: Step) -> tuple[NextCall, ...]:
    """The certain next calls of one step; none when it waits, or has its outcome. Several where it has candidates."""
    record = view.records.get(step.index)
    if record is None or not record.attempts:
        if record is not None and (record.outcome is not None or record.proposed is not None):
            return ()
        if view.rules.ended_at is not None:
            return ()  # it was said to finish
        if not ready(view, step) or settled_without_drawing(view, step) is not None:
            return ()
        return _draws(view, step, record, 0)
    if record.outcome is not None or record.proposed is not None:
        return ()
    last = record.attempts[-1]
    if not candidates.is_drawn(last):
        return _draws(view, step, record, last.number)
    if awaiting_verdict(record):
        if not last.candidates and not critic_wanted(last, record, view.rules):
            return ()
        return tuple(Judge(step.index, last.number, number) for number in candidates.unjudged(last))
    decided = last.decided
    if decided is not None and decided.verdict == "revise":
        attempt = last.number + 1
        if attempt < attempts_allowed(record, view.rules):
            return _draws(view, step, record, attempt)
    return ()


def bets_on_step(view: RunView, step: Step, stakes: Stakes | None = None) -> tuple[Draw, ...]:
    """The drawings of a step on the bet that all its sources are accepted as they are now.

    Where one of its sources has several pictures under judgement, there is a bet on each of them that was not
    turned down.

    Args:
        view: What is known.
        step: The step.
        stakes: What can be won and lost; without them every bet is made.
    """
    if step.index in view.records or step.op == "text" or step.index >= view.rules.max_steps or ready(view, step):
        return ()
    if view.rules.ended_at is not None:
        return ()
    open_sources: dict[int, tuple[ArtifactRef, ...]] = {}
    for source in waits_for(view, step):
        record = view.records.get(source)
        if record is not None and record.outcome is not None:
            continue
        if record is None or record.proposed or not awaiting_verdict(record) or record.attempts[-1].review is not None:
            return ()  # nothing is drawn past a step somebody is asked about
        open_sources[source] = _open_pictures(record.attempts[-1])
        if not open_sources[source]:
            return ()
    if stakes is not None:
        at_stake = [
            (kind_of(view.steps[source].op, view.records[source].attempts[-1].number), len(found))
            for source, found in open_sources.items()
        ]
        if not worth_a_bet(stakes, at_stake, n=view.rules.candidates):
            return ()
    leading = {source: found[0] for source, found in open_sources.items()}
    ways = [leading]
    if len(open_sources) == 1:
        ways = [{source: picture} for source, found in open_sources.items() for picture in found]
    return tuple(draw for way in ways for draw in _draws(view, step, None, 0, bets=way))


def _open_pictures(attempt: Attempt) -> tuple[ArtifactRef, ...]:
    """The pictures of an attempt under judgement that may still come to be its own."""
    if not attempt.candidates:
        return () if attempt.image is None else (attempt.image,)
    accepted = [one for one in attempt.candidates if one.critique is not None and one.critique.verdict == "accept"]
    waiting = [one for one in attempt.candidates if one.critique is None and one.problem is None]
    return tuple(dict.fromkeys(one.image for one in (*accepted, *waiting) if one.image is not None))


def next_calls(view: RunView, stakes: Stakes | None = None) -> NextCalls:
    """What can be called now, in the order of the steps.

    While the plan is not complete, even `certain` calls rest on steps that may change; whoever
    starts them treats them as speculation.

    Args:
        view: What is known.
        stakes: What can be won and lost by a bet, where the rules weigh that.
    """
    certain = tuple(call for step in view.steps for call in next_of_step(view, step))
    if view.rules.lookahead == "never" or (view.rules.lookahead == "value" and stakes is None):
        return NextCalls(certain)
    weighed = stakes if view.rules.lookahead == "value" else None
    return NextCalls(certain, tuple(bet for step in view.steps for bet in bets_on_step(view, step, weighed)))


def settle(view: RunView) -> dict[int, StepRecord]:
    """Records of all steps that can be settled now without drawing, following one another."""
    records = dict(view.records)
    new: dict[int, StepRecord] = {}
    for step in view.steps:
        now = replace(view, records=records)
        if step.index in records or not ready(now, step):
            continue
        record = settled_without_drawing(now, step)
        if record is not None:
            records[step.index] = new[step.index] = record
    return new


def all_concluded(view: RunView) -> bool:
    """Whether every step has its outcome."""
    return view.complete and all(concluded(view, step.index) for step in view.steps)


def run_outcome(view: RunView, *, cancelled: bool = False) -> tuple[RunOutcome, tuple[RunReason, ...]]:
    """What the run came to, and why it is not complete.

    `failed` means: no plan, no step delivered, or an exhausted step under `on_exhausted="fail"`.
    """
    # Whatever came of the sheet, the document is what it is.
    records = [view.records[step.index] for step in view.planned if step.index in view.records]
    reasons: list[RunReason] = []
    if any(record.limit for record in records):
        reasons.append("limit")
    if any(record.outcome == "exhausted" and not record.limit for record in records):
        reasons.append("exhausted")
    failed = ("critic_failed", "backend_failed", "blocked")
    if any(r.outcome in failed or (r.outcome == "skipped" and not r.limit) for r in records):
        reasons.append("failed_step")
    if cancelled or any(record.outcome == "cancelled" for record in records):
        return "cancelled", tuple(reasons)
    delivered = any(record.outcome == "text_only" or record.picture is not None for record in records)
    if not view.complete or not delivered:
        return "failed", tuple(reasons)
    if view.rules.on_exhausted == "fail" and "exhausted" in reasons:
        return "failed", tuple(reasons)
    return ("partial" if reasons else "complete"), tuple(reasons)
