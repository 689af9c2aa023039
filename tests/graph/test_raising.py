"""What is asked at a limit, and what an answer changes: the pure decisions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave import Limits, outcomes, routing
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.estimate import estimate_run
from langgraph_interleave.limits import RUN_LIMITS
from langgraph_interleave.raising import (
    COUNTED,
    Reached,
    goes_on,
    limit_example,
    limit_question,
    raised,
    reached_by,
    read_limit_answer,
    side_by_side,
    undone,
)
from langgraph_interleave.runview import Rules, RunView
from langgraph_interleave.testing import simple_plan
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    Critique,
    LimitReview,
    Problem,
    RaisedLimits,
    Request,
    Spend,
    StepRecord,
    TextPart,
)

PICTURE = ArtifactRef(sha256="a" * 64, mime="image/png", size=70, width=4, height=4)
REVISE = Critique(verdict="revise", reasoning="no")
AT = Problem(error="LimitReached", message="Limit max_images reached: 2 of 2 used.")
ASKING = Rules(ask_at_limit=True)
SPEND = Spend(calls={"backend": 2, "critic": 2, "planner": 1}, images=2, cost_usd=0.25, seconds=61.0)
LIMITS = Limits(max_images=2, max_calls=9, max_seconds=60, max_cost_usd=0.5)
PICTURES = (Reached("max_images", 2, 2),)


def drawn(count: int, *, judged: bool = True) -> StepRecord:
    attempts = [Attempt(number=n, prompt="p", image=PICTURE, critique=REVISE) for n in range(count)]
    if not judged:
        attempts[-1] = attempts[-1].model_copy(update={"critique": None})
    return StepRecord(index=0, attempts=tuple(attempts))


def view(records: dict[int, StepRecord], steps: int = 3, **rules: Any) -> RunView:
    plan = simple_plan(steps, sources=[[], [0], []][:steps])
    return RunView(
        request=Request(parts=(TextPart(text="x"),)), steps=plan.steps, complete=True, records=records,
        rules=Rules(ask_at_limit=True, **rules),
    )  # fmt: skip


# --- records ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("attempts", "proposed"), [(0, "skipped"), (2, "exhausted")])
def test_a_limit_of_the_run_only_proposes_the_end(attempts: int, proposed: str) -> None:
    record = outcomes.limited(drawn(attempts), ASKING, "max_images", AT)
    assert (record.outcome, record.proposed, record.limit) == (None, proposed, "max_images")
    assert outcomes.at_limit(record, ASKING)
    assert routing.next_of_step(view({0: record}), view({}).steps[0]) == ()
    assert outcomes.reopened(record) == drawn(attempts)


@pytest.mark.parametrize("limit", ["step_max_images", "step_max_calls", "max_steps"])
def test_what_only_ends_a_step_is_not_asked_about(limit: str) -> None:
    record = outcomes.limited(drawn(1), ASKING, limit, AT)
    assert (record.outcome, record.proposed) == ("exhausted", None)


def test_without_asking_a_limit_ends_the_step() -> None:
    assert outcomes.limited(drawn(0), Rules(), "max_images", AT).outcome == "skipped"
    ended = Rules(ended_at="max_images")
    assert outcomes.ended(3, ended).outcome == "skipped" and outcomes.ended(3, ended).limit == "max_images"


@pytest.mark.parametrize("review", [False, True])
def test_finish_is_what_was_proposed_and_a_reviewer_sees_its_picture(review: bool) -> None:
    rules = Rules(ask_at_limit=True, review=review)
    kept = outcomes.finished_at_limit(outcomes.limited(drawn(2), rules, "max_images", AT), rules)
    assert (kept.outcome, kept.proposed) == ((None, "exhausted") if review else ("exhausted", None))
    never = outcomes.finished_at_limit(outcomes.limited(drawn(0), rules, "max_images", AT), rules)
    assert never.outcome == "skipped"


def test_a_run_that_finishes_draws_nothing_more() -> None:
    seen = view({0: drawn(1).model_copy(update={"outcome": "accepted", "kept": 0})}, ended_at="max_seconds")
    assert routing.next_calls(seen).certain == ()


# --- the question -------------------------------------------------------------------------------


def test_the_question_names_what_is_undone() -> None:
    at_limit = outcomes.limited(drawn(2), ASKING, "max_images", AT)
    seen = view({0: at_limit, 2: drawn(1).model_copy(update={"index": 2, "proposed": "accepted"})})
    assert [step.index for step in undone(seen)] == [0, 1], "a reviewer is asked about the third"
    assert not side_by_side(seen, undone(seen)) and side_by_side(seen, (seen.steps[0], seen.steps[2]))
    estimate = estimate_run(2, limits=Limits(max_attempts=2, max_repeats=0))
    asked = limit_question(seen, PICTURES, spend=SPEND, estimate=estimate, limits=LIMITS)
    assert asked["says"] == "2 of 2 pictures used; 2 steps are not done."
    assert [(one["number"], one["state"]) for one in asked["undone"]] == [(1, "not accepted"), (2, "not drawn")]
    assert asked["suggested"] == {"max_images": 6} and asked["spend"]["cost_usd"] == 0.25
    assert asked["limits"] == {"max_images": 2, "max_calls": 9, "max_seconds": 60.0, "max_cost_usd": 0.5}
    several = (*PICTURES, Reached("max_cost_usd", None, 0.5), Reached("max_seconds", 60, 60))
    asked = limit_question(seen, several, spend=SPEND, estimate=None, limits=LIMITS)
    assert asked["says"] == (
        "2 of 2 pictures, an unknown number of 0.50 US dollars, 60 of 60 seconds used; 2 steps are not done."
    )
    assert [one["limit"] for one in asked["also"]] == ["max_cost_usd", "max_seconds"] and "suggested" not in asked


def test_what_is_reached_is_read_from_the_steps() -> None:
    records = [drawn(0).model_copy(update={"limit": limit}) for limit in ("max_calls", "max_images", "max_calls")]
    assert reached_by(records, LIMITS, SPEND) == (Reached("max_calls", 5, 9), Reached("max_images", 2, 2))
    assert reached_by(records[:0], LIMITS, SPEND) == ()
    assert set(COUNTED) == set(RUN_LIMITS) == set(RaisedLimits.model_fields) <= set(Limits.model_fields)


def test_at_the_ceiling_the_question_says_that_it_can_only_finish() -> None:
    seen = view({0: outcomes.limited(drawn(2), ASKING, "max_images", AT)})
    asked = limit_question(seen, PICTURES, spend=SPEND, estimate=None, limits=LIMITS, ceiling=Limits(max_images=2))
    assert asked["says"].endswith("not done. At the ceiling: it can only finish.") and list(asked["answers"]) == [
        "finish"
    ]
    assert limit_example(asked) == 'It is at its ceiling, so the only answer is {"decision": "finish"}.'
    higher = limit_question(seen, PICTURES, spend=SPEND, estimate=None, limits=LIMITS, ceiling=Limits(max_images=3))
    assert "ceiling" not in higher["says"] and '{"max_images": 3}' in limit_example(higher)


# --- answers ------------------------------------------------------------------------------------


def read(answer: object, reached: tuple[Reached, ...] = PICTURES) -> LimitReview:
    return read_limit_answer(answer, reached, LIMITS, SPEND)


def test_answers_that_can_be_used() -> None:
    review = read({"decision": "raise", "limits": {"max_images": 5, "max_seconds": 5}})
    assert raised(LIMITS, review) == LIMITS.model_copy(update={"max_images": 5, "max_seconds": 5.0})
    assert read("finish").decision == "finish" and raised(LIMITS, read("finish")) == LIMITS
    time = (Reached("max_seconds", 60, 60),)
    assert raised(LIMITS, read("raise", time)) == LIMITS
    ended = {limit: drawn(0).model_copy(update={"limit": limit}) for limit in ("max_seconds", "max_images")}
    assert goes_on(ended["max_seconds"], read("raise", time)) and not goes_on(ended["max_images"], read("raise", time))
    assert goes_on(ended["max_images"], review) and not goes_on(ended["max_images"], read("finish"))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"max_images": 2}, "max_images=2 is not above what is used, 2"),
        ({"max_images": 3, "max_calls": 9}, "max_calls=9 is not above the cap there is, 9"),
        ({"max_images": 3, "max_cost_usd": 0.25}, "max_cost_usd=0.25 is not above what is used, 0.25"),
        ({"max_calls": 12}, "The run has reached max_images of 2, and that is not raised"),
        ({"max_images": 0}, "limits.max_images"),
        ({"max_images": 3, "max_cost_usd": float("inf")}, "limits.max_cost_usd"),
    ],
)
def test_answers_that_cannot(answer: dict[str, float], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read({"decision": "raise", "limits": answer})
    assert says in str(caught.value) and "nswer" in str(caught.value)


def test_a_limit_that_there_is_not_is_named() -> None:
    with pytest.raises(ConfigError, match="max_calls is no limit of this run. Raise max_images."):
        read_limit_answer(
            {"decision": "raise", "limits": {"max_calls": 3}}, PICTURES, Limits(max_images=2), SPEND
        )  # fmt: skip


_VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
_CAPS = st.dictionaries(st.sampled_from([*RUN_LIMITS, "max_steps"]) | st.text(max_size=4), _VALUES, max_size=4)


@given(
    _VALUES
    | st.lists(_VALUES, max_size=2)
    | st.fixed_dictionaries({"decision": st.sampled_from(["raise", "finish"]) | _VALUES}, optional={"limits": _CAPS})
)
def test_whatever_is_answered_raises_what_was_reached_or_is_refused_in_words(answer: object) -> None:
    try:
        review = read(answer)
    except ConfigError:
        return
    after = raised(LIMITS, review)
    if review.decision == "raise":
        assert after.max_images is not None and after.max_images > SPEND.images
    else:
        assert after == LIMITS
