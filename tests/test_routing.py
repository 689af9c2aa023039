"""Decisions of the state machine, as tables."""

from __future__ import annotations

import random

import pytest

from langgraph_interleave import outcomes, routing
from langgraph_interleave.references import Chosen
from langgraph_interleave.routing import Draw, Judge, RunView
from langgraph_interleave.runview import Rules
from langgraph_interleave.testing import simple_plan
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    CheckResult,
    Critique,
    ImagePart,
    Problem,
    Request,
    Scores,
    Step,
    StepRecord,
    TextPart,
)

ASKED = Request(parts=(TextPart(text="a thing"),))


def ref(number: int) -> ArtifactRef:
    return ArtifactRef(sha256=f"{number:064x}", mime="image/png", size=1, width=8, height=8)


def attempt(
    number: int,
    verdict: str | None = None,
    *,
    score: float | None = None,
    refined: str | None = None,
    drawn: bool = True,
    problem: str | None = None,
    failed_check: bool = False,
) -> Attempt:
    critique = None
    if verdict is not None:
        critique = Critique(verdict=verdict, scores=Scores(quality=score), refined_prompt=refined)  # type: ignore[arg-type]
    return Attempt(
        number=number,
        prompt="p",
        image=ref(number) if drawn else None,
        critique=critique,
        problem=Problem(error=problem, message="m") if problem else None,
        checks=(CheckResult(name="c", passed=False, reason="Blank."),) if failed_check else (),
        calls=("draw", "judge") if verdict else ("draw",),
    )


def record(index: int, *attempts: Attempt, **fields: object) -> StepRecord:
    return StepRecord(index=index, attempts=attempts, **fields)  # type: ignore[arg-type]


def accepted(index: int) -> StepRecord:
    return record(index, attempt(0, "accept"), outcome="accepted", kept=0)


def view(plan_steps: tuple[Step, ...], records: list[StepRecord] | None = None, **rules: object) -> RunView:
    return RunView(ASKED, plan_steps, True, {r.index: r for r in records or []}, Rules(**rules))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("attempts", "max_attempts", "outcome", "kept"),
    [
        ([attempt(0, "accept")], 3, "accepted", 0),
        ([attempt(0, "revise")], 3, None, None),
        ([attempt(0, "revise"), attempt(1, "accept")], 3, "accepted", 1),
        ([attempt(0, "revise"), attempt(1, "revise")], 2, "exhausted", 1),
        ([attempt(0, "revise", score=7), attempt(1, "revise", score=3)], 2, "exhausted", 0),
        ([attempt(0, "revise", score=5), attempt(1, "revise", score=5)], 2, "exhausted", 1),
        ([attempt(0, "revise", score=1), attempt(1, "revise")], 2, "exhausted", 0),
        ([attempt(0)], 3, None, None),
        ([attempt(0, problem="CritiqueError")], 3, "critic_failed", 0),
        ([attempt(0, drawn=False, problem="Unavailable")], 3, "backend_failed", None),
        ([attempt(0, drawn=False, problem="ContentBlocked")], 3, "blocked", None),
        ([attempt(0, "revise"), attempt(1, drawn=False, problem="Unavailable")], 3, "exhausted", 0),
        ([], 3, None, None),
    ],
)
def test_conclude(attempts: list[Attempt], max_attempts: int, outcome: str | None, kept: int | None) -> None:
    concluded = outcomes.conclude(record(0, *attempts), Rules(max_attempts=max_attempts))
    assert (concluded.outcome, concluded.kept) == (outcome, kept)


def test_keep_last_takes_the_last_drawn() -> None:
    tried = record(0, attempt(0, "revise", score=9), attempt(1, "revise", score=1))
    assert outcomes.conclude(tried, Rules(max_attempts=2, on_exhausted="last")).kept == 1


def test_a_picture_whose_check_failed_is_kept_only_when_there_is_no_other() -> None:
    blank = attempt(1, "revise", score=9, failed_check=True)
    assert outcomes.best_attempt(record(0, attempt(0, "revise", score=2), blank)) == 0
    assert outcomes.best_attempt(record(0, attempt(0, "revise", failed_check=True))) == 0
    assert outcomes.best_attempt(record(0)) is None


def test_a_failed_check_overrules_an_accept() -> None:
    said = Critique(verdict="accept", reasoning="Fine.")
    assert outcomes.binding(said, attempt(0, failed_check=True)).verdict == "revise"
    assert outcomes.binding(said, attempt(0)) is said


def test_the_critic_is_skipped_only_for_a_failed_check_on_the_last_attempt() -> None:
    rules = Rules(max_attempts=2)
    of = record(0)
    assert outcomes.critic_wanted(attempt(0, failed_check=True), of, rules)
    assert not outcomes.critic_wanted(attempt(1, failed_check=True), of, rules)
    assert outcomes.critic_wanted(attempt(1), of, rules)
    assert outcomes.check_critique(attempt(1, failed_check=True)).reasoning == "Blank."


def test_prompt_is_the_last_refined_one() -> None:
    step = simple_plan(1).steps[0]
    tried = record(0, attempt(0, "revise", refined="better"), attempt(1, "revise"))
    assert routing.prompt_of(step, None, 0) == "thing 0"
    assert routing.prompt_of(step, tried, 1) == "better"
    assert routing.prompt_of(step, tried, 2) == "better", "a critic without better words leaves the prompt as it is"


def test_a_chain_is_taken_one_by_one() -> None:
    steps = simple_plan(3).steps
    assert routing.next_calls(view(steps)).certain == (Draw(0, 0, "thing 0"),)
    drawn = record(0, attempt(0))
    assert routing.next_calls(view(steps, [drawn])).certain == (Judge(0, 0),)
    assert routing.next_calls(view(steps, [accepted(0)])).certain == (Draw(1, 0, "thing 1", (ref(0),)),)


def test_independent_steps_are_taken_side_by_side() -> None:
    steps = simple_plan(3, sources=[[], [], [0, 1]]).steps
    assert routing.next_calls(view(steps)).certain == (Draw(0, 0, "thing 0"), Draw(1, 0, "thing 1"))
    both = routing.next_calls(view(steps, [accepted(0), accepted(1)])).certain
    assert both == (Draw(2, 0, "thing 2", (ref(0), ref(0))),)


def test_a_retry_starts_from_the_references_of_the_step() -> None:
    steps = simple_plan(2).steps
    rejected = record(1, attempt(0, "revise", refined="better"))
    assert routing.next_calls(view(steps, [accepted(0), rejected])).certain == (Draw(1, 1, "better", (ref(0),)),)


def test_lookahead_bets_one_step_ahead() -> None:
    steps = simple_plan(3).steps
    seen = view(steps, [record(0, attempt(0))], lookahead="always")
    assert routing.next_calls(seen).likely == (Draw(1, 0, "thing 1", (ref(0),)),)
    rejected = view(steps, [record(0, attempt(0, "revise"))], lookahead="always")
    assert routing.next_calls(rejected).likely == (), "a rejected picture is no bet"


def test_a_bet_that_is_won_is_the_same_call() -> None:
    steps = simple_plan(2).steps
    bet = routing.next_calls(view(steps, [record(0, attempt(0))], lookahead="always")).likely
    won = routing.next_calls(view(steps, [accepted(0)], lookahead="always")).certain
    assert bet == won


def test_text_steps_are_done_and_sourceless_steps_skipped() -> None:
    steps = simple_plan(3, text=[0]).steps
    settled = routing.settle(view(steps))
    assert settled[0].outcome == "text_only"
    failed = record(0, attempt(0, drawn=False, problem="Unavailable"), outcome="backend_failed")
    chain = simple_plan(3).steps
    settled = routing.settle(view(chain, [failed]))
    assert [settled[i].outcome for i in (1, 2)] == ["skipped", "skipped"], "skipping follows down the chain"
    assert settled[1].problem is not None and "step 1" in settled[1].problem.message


def test_steps_past_the_limit_are_skipped_and_marked() -> None:
    settled = routing.settle(view(simple_plan(3).steps, [accepted(0)], max_steps=1))
    assert settled[1].outcome == "skipped" and settled[1].limit == "max_steps"


def test_an_input_image_is_a_reference() -> None:
    request = Request(parts=(TextPart(text="t"), ImagePart(image=ref(7))))
    step = Step(index=0, op="edit", instruction="i", prompt="p", sources=("input:0",))
    seen = RunView(request, (step,), True)
    assert routing.pictures(seen, step) == Chosen((ref(7),))


def test_an_input_image_that_is_not_there_is_waited_for() -> None:
    step = Step(index=0, op="edit", instruction="i", prompt="p", sources=("input:5",))
    assert routing.pictures(RunView(ASKED, (step,)), step) is None
    assert routing.next_calls(RunView(ASKED, (step,))).certain == ()


def test_what_a_limit_took_from_a_source_it_took_from_all_that_build_on_it() -> None:
    settled = routing.settle(view(simple_plan(3).steps, [record(0, outcome="skipped", limit="max_images")]))
    assert [settled[index].limit for index in (1, 2)] == ["max_images"] * 2
    seen = view(simple_plan(3).steps, [record(0, outcome="skipped", limit="max_images"), *settled.values()])
    assert routing.run_outcome(seen)[1] == ("limit",)


@pytest.mark.parametrize(
    ("records", "rules", "expected"),
    [
        ([accepted(0), accepted(1)], {}, ("complete", ())),
        ([accepted(0), record(1, outcome="text_only")], {}, ("complete", ())),
        ([accepted(0), record(1, attempt(0), outcome="exhausted", kept=0)], {}, ("partial", ("exhausted",))),
        (
            [accepted(0), record(1, attempt(0), outcome="exhausted", kept=0)],
            {"on_exhausted": "fail"},
            ("failed", ("exhausted",)),
        ),
        ([accepted(0), record(1, attempt(0), outcome="critic_failed", kept=0)], {}, ("partial", ("failed_step",))),
        ([accepted(0), record(1, outcome="skipped", limit="max_images")], {}, ("partial", ("limit",))),
        ([accepted(0), record(1, outcome="cancelled")], {}, ("cancelled", ())),
        ([record(0, outcome="backend_failed"), record(1, outcome="skipped")], {}, ("failed", ("failed_step",))),
    ],
)
def test_run_outcome(
    records: list[StepRecord], rules: dict[str, object], expected: tuple[str, tuple[str, ...]]
) -> None:
    assert routing.run_outcome(view(simple_plan(2).steps, records, **rules)) == expected


def test_without_a_plan_the_run_failed() -> None:
    assert routing.run_outcome(RunView(ASKED)) == ("failed", ())


def test_trim_gives_the_record_as_it_was() -> None:
    far = record(0, attempt(0, "revise"), attempt(1, "accept"), outcome="accepted", kept=1)
    drawn = routing.trim(far, 0, judged=False)
    assert drawn.outcome is None and len(drawn.attempts) == 1
    assert drawn.attempts[0].critique is None and drawn.attempts[0].calls == ("draw",)
    judged = routing.trim(far, 0, judged=True)
    assert judged.attempts[0].critique is not None and judged.outcome is None
    assert routing.trim(far, 1, judged=True) == far
    assert routing.trim(far, 1, judged=False).outcome is None
    failed = record(0, attempt(0, drawn=False, problem="Unavailable"), outcome="backend_failed")
    assert routing.trim(failed, 0, judged=False) == failed


def test_trim_does_not_depend_on_how_far_work_ahead_has_come() -> None:
    drawn = record(0, attempt(0))
    for ahead in (
        record(0, attempt(0, "revise")),
        record(0, attempt(0, "accept"), outcome="accepted", kept=0),
        record(0, attempt(0, problem="CritiqueError"), outcome="critic_failed", kept=0),
        record(0, attempt(0, "revise"), attempt(1)),
    ):
        assert routing.trim(ahead, 0, judged=False) == drawn


def test_a_verdict_of_a_check_belongs_to_the_drawing() -> None:
    blank = attempt(0, failed_check=True)
    checked = blank.model_copy(update={"critique": outcomes.check_critique(blank)})
    ended = outcomes.conclude(record(0, checked), Rules(max_attempts=1))
    assert ended.outcome == "exhausted" and routing.trim(ended, 0, judged=False) == ended


def test_limits_and_stops_keep_what_was_drawn() -> None:
    problem = Problem(error="LimitReached", message="m")
    tried = record(0, attempt(0, "revise"))
    limited = outcomes.limited(tried, Rules(), "max_images", problem)
    assert (limited.outcome, limited.kept, limited.limit) == ("exhausted", 0, "max_images")
    assert outcomes.limited(record(0), Rules(), "max_images", problem).outcome == "skipped"
    assert outcomes.stopped(tried, Rules()).outcome == "exhausted"
    assert outcomes.stopped(record(0), Rules()).outcome == "cancelled"


def test_random_runs_always_end() -> None:
    """Playing any verdicts on any DAG, following `next_calls` alone, concludes every step."""
    rng = random.Random(5)
    for _ in range(200):
        count = rng.randint(1, 8)
        sources = [sorted(rng.sample(range(i), rng.randint(0, min(i, 2)))) for i in range(count)]
        steps = simple_plan(count, sources=sources, text=[i for i in range(count) if rng.random() < 0.2]).steps
        seen = view(steps, lookahead="always")
        for _ in range(200):
            records = {**seen.records, **routing.settle(seen)}
            seen = RunView(ASKED, steps, True, records, seen.rules)
            calls = routing.next_calls(seen).certain
            if not calls:
                break
            call = rng.choice(calls)
            known = records.get(call.step) or StepRecord(index=call.step)
            if isinstance(call, Draw):
                new = (
                    attempt(call.attempt)
                    if rng.random() < 0.9
                    else attempt(call.attempt, drawn=False, problem="NoImage")
                )
            else:
                new = attempt(call.attempt, rng.choice(["accept", "revise"]))
            known = known.model_copy(update={"attempts": (*known.attempts[: call.attempt], new)})
            seen = RunView(ASKED, steps, True, {**records, call.step: outcomes.conclude(known, seen.rules)}, seen.rules)
        assert routing.all_concluded(seen)
