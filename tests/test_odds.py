"""What a bet is worth, and what is learned for it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave import routing
from langgraph_interleave.ledger import CallRecord, Finished
from langgraph_interleave.odds import MEMORY, PRIOR, Odds, Stakes, chance_of_each, kind_of, worth_a_bet
from langgraph_interleave.routing import Draw, RunView
from langgraph_interleave.runview import Rules
from langgraph_interleave.testing import simple_plan
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    Candidate,
    Critique,
    Request,
    Step,
    StepRecord,
    TextPart,
    Usage,
)


@pytest.mark.parametrize(
    ("stakes", "chance", "worth"),
    [
        # 0.7 x 4 s x $0.01 = $0.028 against 0.3 x $0.04 = $0.012
        (Stakes(draw_s=10, judge_s=4, price_usd=0.04, second_usd=0.01), 0.7, True),
        # 0.3 x 4 s x $0.01 = $0.012 against 0.7 x $0.04 = $0.028
        (Stakes(draw_s=10, judge_s=4, price_usd=0.04, second_usd=0.01), 0.3, False),
        (Stakes(draw_s=10, judge_s=4, price_usd=None, second_usd=100.0), 0.99, False),
        (Stakes(draw_s=10, judge_s=4, price_usd=0.0), 0.01, True),
        # Free, but one at a time: 0.7 x 4 s saved against 0.3 x 6 s waited; 0.3 x 4 against 0.7 x 6.
        (Stakes(draw_s=10, judge_s=4, held=True), 0.7, True),
        (Stakes(draw_s=10, judge_s=4, held=True), 0.3, False),
        (Stakes(draw_s=3, judge_s=4, held=True), 0.01, True),
        # What is held costs money's time as well: 0.5 x 4 - 0.5 x 6 < 0.
        (Stakes(draw_s=10, judge_s=4, price_usd=0.001, second_usd=10.0, held=True), 0.5, False),
        (Stakes(draw_s=10, judge_s=4, price_usd=0.001, second_usd=0.0), 0.99, False),
    ],
)
def test_a_bet_is_made_where_it_wins_more_than_it_costs(stakes: Stakes, chance: float, worth: bool) -> None:
    sure = Stakes(stakes.draw_s, stakes.judge_s, stakes.price_usd, stakes.second_usd, stakes.held, {"edit": chance})
    assert worth_a_bet(sure, [("edit", 1)]) is worth


def test_several_sources_and_several_pictures_make_a_bet_less_likely() -> None:
    stakes = Stakes(10, 4, price_usd=0.02, second_usd=0.005, chances={"edit": 0.7})
    assert worth_a_bet(stakes, [("edit", 1)])
    assert not worth_a_bet(stakes, [("edit", 1), ("edit", 1)])
    assert not worth_a_bet(stakes, [("edit", 2)])
    assert not worth_a_bet(stakes, [("edit", 1)], n=3)


@given(st.floats(0, 1), st.integers(1, 8))
def test_chances_of_each_add_up_to_the_chance_of_any(chance: float, pictures: int) -> None:
    assert math.isclose(pictures * chance_of_each(chance, pictures), 1 - (1 - chance) ** pictures, abs_tol=1e-12)


def test_before_anything_was_seen_the_prior_is_believed() -> None:
    assert Odds().stakes(0.0).chance("edit") == pytest.approx(0.7)
    assert sum(PRIOR) == 2.0


def test_judgements_are_learned_by_kind_and_each_once() -> None:
    odds = Odds()
    for number in range(10):
        for _ in range(3):  # told again, as a replay would
            odds.judged(f"k{number}", "edit", accepted=number < 2)
    stakes = odds.stakes(0.0)
    assert stakes.chance("edit") == pytest.approx((PRIOR[0] + 2) / 12)
    assert stakes.chance("edit/refined") == pytest.approx(0.7), "another kind is not touched"


def test_what_is_long_past_fades() -> None:
    odds = Odds()
    for number in range(500):
        odds.judged(f"a{number}", "edit", accepted=False)
    for number in range(100):
        odds.judged(f"b{number}", "edit", accepted=True)
    assert odds.stakes(0).chance("edit") > 0.8, f"of {MEMORY:.0f} judgements nearly all are of the new kind"


def test_seconds_and_prices_come_from_records_and_replace_the_guess() -> None:
    odds = Odds(draw_s=99, judge_s=99, price_usd=None)
    assert odds.stakes(0).price_usd is None

    def finished(key: str, role: str, seconds: float, cost: float | None, images: int) -> Finished:
        record = CallRecord(
            scope="r", key=key * 16, role=role, status="finished", t_start=100, t_end=100 + seconds, images=images,  # type: ignore[arg-type]
            usage=Usage(cost_usd=cost, images=images), result={},
        )  # fmt: skip
        return Finished(record, replayed=False)

    odds.learn(finished("a", "backend", 4.0, 0.08, 2))
    odds.learn(finished("b", "backend", 8.0, 0.04, 1))
    odds.learn(finished("b", "backend", 8.0, 0.04, 1))
    odds.learn(finished("c", "critic", 3.0, 0.5, 0))
    odds.learn(finished("d", "planner", 60.0, 0.5, 0))
    stakes = odds.stakes(0.25)
    assert (stakes.draw_s, stakes.judge_s, stakes.price_usd) == pytest.approx((6.0, 3.0, 0.04))
    assert stakes.second_usd == 0.25


def test_a_critique_in_a_record_is_learned() -> None:
    odds = Odds()
    said = {"critique": Critique(verdict="revise").model_dump(mode="json")}
    record = CallRecord(scope="r", key="e" * 16, role="critic", status="finished", result=said)
    odds.learn(Finished(record, replayed=True), kind_of("generate", 0))
    assert odds.stakes(0).chance("generate") == pytest.approx(1.4 / 3)


def ref(number: int) -> ArtifactRef:
    return ArtifactRef(sha256=f"{number:064x}", mime="image/png", size=1, width=8, height=8)


def view(lookahead: str, *attempts: Attempt, count: int = 2) -> RunView:
    steps: tuple[Step, ...] = simple_plan(count).steps
    asked = Request(parts=(TextPart(text="a thing"),))
    rules = Rules(lookahead=lookahead)  # type: ignore[arg-type]
    return RunView(asked, steps, True, {0: StepRecord(index=0, attempts=attempts)}, rules)


def test_routing_makes_the_bets_that_are_worth_it() -> None:
    drawn = Attempt(number=0, prompt="p", image=ref(1))
    dear, cheap = Stakes(10, 4, price_usd=9.0, second_usd=0.002), Stakes(10, 4, price_usd=0.0)
    assert routing.next_calls(view("value", drawn), dear).likely == ()
    assert routing.next_calls(view("value", drawn), cheap).likely == (Draw(1, 0, "thing 1", (ref(1),)),)
    assert routing.next_calls(view("value", drawn)).likely == (), "nothing is known of what it may cost"
    assert routing.next_calls(view("always", drawn), dear).likely == (Draw(1, 0, "thing 1", (ref(1),)),)
    assert routing.next_calls(view("never", drawn), cheap).likely == ()


def test_there_is_no_bet_on_a_picture_that_was_turned_down() -> None:
    def one(number: int, verdict: str | None) -> Candidate:
        critique = None if verdict is None else Critique(verdict=verdict)  # type: ignore[arg-type]
        return Candidate(number=number, prompt="p", image=ref(number + 1), critique=critique)

    waiting = Attempt(
        number=0, prompt="p", image=ref(1), chosen=0, candidates=(one(0, "revise"), one(1, None), one(2, "accept"))
    )
    likely = routing.next_calls(view("always", waiting)).likely
    assert [call.references for call in likely if isinstance(call, Draw)] == [(ref(3),), (ref(2),)]
    lost = Attempt(number=0, prompt="p", image=ref(1), chosen=0, candidates=(one(0, "revise"), one(1, "revise")))
    assert routing.next_calls(view("always", lost)).likely == ()
