"""Limits are reserved before a call and settled after it."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.budget import Budget
from langgraph_interleave.errors import LimitReached
from langgraph_interleave.limits import Limits
from langgraph_interleave.reservation import Reservation
from langgraph_interleave.types.usage import Spend, Usage


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def budget(**limits: Any) -> Budget:
    return Budget(Limits(**limits), clock=Clock())


def test_without_limits_everything_fits() -> None:
    b = budget()
    for _ in range(50):
        b.reserve(images=4)
    assert b.remaining_seconds() is None


def test_a_limit_is_named_with_what_was_used() -> None:
    b = budget(max_images=2)
    b.reserve(images=2).settle(Usage(images=2), "backend")
    with pytest.raises(LimitReached) as caught:
        b.reserve(images=1)
    assert (caught.value.limit, caught.value.used, caught.value.cap) == ("max_images", 2, 2)
    b.reserve(images=0, role="critic")


def test_what_is_reserved_counts_before_it_is_used() -> None:
    b = budget(max_calls=2)
    b.reserve()
    b.reserve()
    with pytest.raises(LimitReached, match="max_calls reached: 2 of 2"):
        b.reserve()


def test_a_call_for_more_than_is_left_does_not_start() -> None:
    b = budget(max_images=3)
    b.reserve(images=2)
    with pytest.raises(LimitReached, match="max_images"):
        b.reserve(images=2)
    b.reserve(images=1)


def test_released_room_is_free_again() -> None:
    b = budget(max_calls=1)
    b.reserve().release()
    b.reserve()
    assert b.spend().calls == {}


def test_settling_counts_what_was_used() -> None:
    b = budget()
    b.reserve(images=1, role="backend").settle(Usage(images=1, cost_usd=0.25), "backend")
    b.reserve(role="critic").settle(Usage(input_tokens=10, output_tokens=3, cached_tokens=2, cost_usd=0.5), "critic")
    assert b.spend() == Spend(
        calls={"backend": 1, "critic": 1},
        images=1,
        input_tokens=10,
        output_tokens=3,
        cached_tokens=2,
        cost_usd=0.75,
    )


def test_a_backend_that_reports_no_pictures_is_counted_as_reserved() -> None:
    b = budget(max_images=2)
    b.reserve(images=2).settle(Usage(), "backend")
    assert b.spend().images == 2


def test_fewer_pictures_than_reserved_leave_room() -> None:
    b = budget(max_images=2)
    b.reserve(images=2).settle(Usage(images=1), "backend")
    b.reserve(images=1)


def test_only_the_first_ending_counts() -> None:
    b = budget()
    reservation = b.reserve(images=1)
    reservation.settle(Usage(images=1), "backend")
    reservation.settle(Usage(images=1), "backend")
    reservation.release()
    reservation.ambiguous()
    reservation.failed()
    assert b.spend() == Spend(calls={"backend": 1}, images=1)


def test_a_role_named_late_counts() -> None:
    b = budget()
    b.reserve().settle(Usage(), "planner")
    b.reserve(role="critic").settle(Usage())
    assert b.spend().calls == {"critic": 1, "planner": 1}


def test_an_ambiguous_call_counts_in_full_and_its_cost_stays_open() -> None:
    b = budget(max_images=2)
    b.reserve(images=1).settle(Usage(images=1, cost_usd=0.1), "backend")
    b.reserve(images=1).ambiguous()
    assert b.spend() == Spend(calls={"backend": 2}, images=2, cost_usd=0.1, ambiguous=1, ambiguous_cost_usd=0.1)
    with pytest.raises(LimitReached):
        b.reserve(images=1)


def test_a_failed_call_counts_without_pictures() -> None:
    b = budget(max_calls=1)
    b.reserve(images=1).failed(Usage(cost_usd=0.0))
    assert b.spend() == Spend(calls={"backend": 1}, cost_usd=0.0)
    with pytest.raises(LimitReached, match="max_calls"):
        b.reserve()


def test_the_cost_is_unknown_as_soon_as_one_call_does_not_report_it() -> None:
    b = budget()
    assert b.spend().cost_usd is None
    b.reserve().settle(Usage(cost_usd=0.5), "backend")
    assert b.spend().cost_usd == 0.5
    b.reserve().settle(Usage(), "critic")
    assert b.spend().cost_usd is None


def test_time_is_a_limit() -> None:
    clock = Clock()
    b = Budget(Limits(max_seconds=10), clock=clock)
    assert b.remaining_seconds() == 10
    clock.now += 4
    b.reserve()
    assert b.remaining_seconds() == 6
    assert b.spend().seconds == 4
    clock.now += 7
    assert b.remaining_seconds() == 0
    with pytest.raises(LimitReached) as caught:
        b.reserve()
    assert (caught.value.limit, caught.value.used, caught.value.cap) == ("max_seconds", 11, 10)


# -- replays ---------------------------------------------------------------------------------------


def test_a_replayed_call_counts_once_per_key() -> None:
    b = budget()
    for _ in range(3):
        b.count_replay("k", "backend", Usage(images=1, cost_usd=0.1))
    b.count_replay("l", "critic", Usage(cost_usd=0.2))
    spend = b.spend()
    assert (spend.calls, spend.images, spend.replayed) == ({"backend": 1, "critic": 1}, 1, 2)
    assert spend.cost_usd == pytest.approx(0.3)


def test_replays_count_against_the_limits_and_are_never_refused_themselves() -> None:
    b = budget(max_images=1)
    b.count_replay("k", "backend", Usage(images=1))
    b.count_replay("l", "backend", Usage(images=1))
    with pytest.raises(LimitReached, match="2 of 1"):
        b.reserve(images=1)


def test_a_call_of_this_run_is_no_replay_when_it_is_asked_for_again() -> None:
    b = budget()
    b.reserve(key="k").settle(Usage(), "critic")
    b.count_replay("k", "critic", Usage())
    assert b.spend() == Spend(calls={"critic": 1})


def test_calls_of_an_earlier_invocation_count_and_are_replays_once_they_are_asked_for() -> None:
    b = budget()
    b.count_prior("k", "critic", Usage(input_tokens=5))
    b.count_prior("k", "critic", Usage(input_tokens=5))
    assert b.spend() == Spend(calls={"critic": 1}, input_tokens=5)
    b.count_replay("k", "critic", Usage(input_tokens=5))
    assert b.spend() == Spend(calls={"critic": 1}, input_tokens=5, replayed=1)


def test_earlier_ambiguous_calls_are_counted_where_they_cost_money() -> None:
    b = budget()
    b.count_ambiguous("critic", billed=False)
    assert b.spend() == Spend(ambiguous=1, ambiguous_cost_usd=0.0)
    b.count_ambiguous("backend", images=1)
    assert b.spend() == Spend(calls={"backend": 1}, images=1, ambiguous=2)


def test_one_making_of_a_call_is_ambiguous_once() -> None:
    b = budget()
    makings = ["k/0", "k/0", "k/1"]
    assert [b.count_ambiguous("backend", images=1, making=making) for making in makings] == [True, False, True]
    assert b.spend() == Spend(calls={"backend": 2}, images=2, ambiguous=2)


def test_what_counts_already_takes_no_room_when_it_is_asked_for_again() -> None:
    b = budget(max_images=1)
    b.count_prior("k", "backend", Usage(images=1))
    again = b.reserve(images=1, key="k")
    with pytest.raises(LimitReached, match="1 of 1"):
        b.reserve(images=1, key="other")
    again.release()
    assert b.spend().images == 1
    # Its record was lost, and it was made once more.
    b.reserve(images=1, key="k").settle(Usage(images=1))
    assert b.spend().images == 2 and b.spend().calls == {"backend": 2}


@pytest.mark.parametrize("became", ["finished", "ambiguous", "asked for", "nothing yet"])
def test_a_call_under_way_elsewhere_holds_its_room(became: str) -> None:
    b = budget(max_images=2)
    b.expect("k", "backend", images=1)
    b.expect("k", "backend", images=1)
    assert b.spend() == Spend(), "nothing is used yet"
    b.reserve(images=1, key="other")
    with pytest.raises(LimitReached):
        b.reserve(images=1, key="third")
    if became == "finished":
        b.count_replay("k", "backend", Usage(images=1))
        assert b.spend().images == 1
    elif became == "ambiguous":
        b.count_ambiguous("backend", images=1, making="k/0")
    elif became == "asked for":
        b.reserve(images=1, key="k").settle(Usage(images=1))
    with pytest.raises(LimitReached):
        b.reserve(images=1, key="third")


# -- speculation -----------------------------------------------------------------------------------


def stoppable(b: Budget, log: list[str], name: str, *, possible: bool = True) -> Reservation:
    def stop() -> bool:
        log.append(name)
        return possible

    return b.reserve(images=1, certain=False, key=name, on_preempt=stop)


def test_speculation_gets_only_what_is_left() -> None:
    b = budget(max_images=2)
    b.reserve(images=1)
    b.reserve(images=1, certain=False)
    with pytest.raises(LimitReached):
        b.reserve(images=1, certain=False)


def test_a_certain_call_takes_the_room_of_the_newest_bet() -> None:
    b = budget(max_images=2)
    log: list[str] = []
    old, new = stoppable(b, log, "old"), stoppable(b, log, "new")
    b.reserve(images=1)
    assert log == ["new"]
    new.settle(Usage(images=1), "backend")
    assert b.spend().images == 0, "its room has gone to another"
    old.settle(Usage(images=1), "backend")
    assert b.spend().images == 1


def test_bets_are_stopped_until_the_certain_call_fits() -> None:
    b = budget(max_images=3)
    log: list[str] = []
    for name in "abc":
        stoppable(b, log, name)
    b.reserve(images=2)
    assert log == ["c", "b"]


def test_a_bet_that_cannot_be_stopped_any_more_keeps_its_room() -> None:
    b = budget(max_images=2)
    log: list[str] = []
    stoppable(b, log, "old")
    sent = stoppable(b, log, "sent", possible=False)
    b.reserve(images=1)
    assert log == ["sent", "old"]
    sent.settle(Usage(images=1), "backend")
    assert b.spend().images == 1


def test_when_no_bet_can_be_stopped_the_limit_is_reached() -> None:
    b = budget(max_images=1)
    log: list[str] = []
    stoppable(b, log, "sent", possible=False)
    with pytest.raises(LimitReached):
        b.reserve(images=1)
    b_without_callback = budget(max_calls=1)
    b_without_callback.reserve(certain=False)
    with pytest.raises(LimitReached):
        b_without_callback.reserve()


def test_a_bet_that_holds_no_picture_is_not_stopped_for_one() -> None:
    b = budget(max_images=1)
    b.reserve(role="critic", certain=False, on_preempt=lambda: pytest.fail("stopped for nothing"))
    b.reserve(images=1)
    with pytest.raises(LimitReached, match="max_images"):
        b.reserve(images=1)


def test_time_cannot_be_won_by_stopping_bets() -> None:
    clock = Clock()
    b = Budget(Limits(max_seconds=1), clock=clock)
    b.reserve(certain=False, on_preempt=lambda: pytest.fail("stopped for nothing"))
    clock.now += 2
    with pytest.raises(LimitReached, match="max_seconds"):
        b.reserve()


def test_a_promoted_bet_is_not_stopped() -> None:
    b = budget(max_images=1)
    log: list[str] = []
    stoppable(b, log, "bet").promote()
    with pytest.raises(LimitReached):
        b.reserve(images=1)
    assert log == []


def test_waste_is_what_a_bet_produced_and_nothing_used() -> None:
    b = budget()
    used, unused, stopped, promoted = (b.reserve(certain=False, key=key) for key in "abcd")
    promoted.promote()
    for reservation in (used, unused, promoted):
        reservation.settle(Usage(), "backend")
    stopped.release()
    assert b.spend().wasted == 2
    b.use("a")
    assert b.spend().wasted == 1
    b.count_replay("b", "backend", Usage())
    assert b.spend().wasted == 0


def test_the_callback_may_use_the_budget() -> None:
    b = budget(max_calls=1)
    spends: list[Spend] = []

    def stop() -> bool:
        spends.append(b.spend())
        return True

    b.reserve(certain=False, on_preempt=stop)
    b.reserve()
    assert len(spends) == 1


# -- threads, properties ---------------------------------------------------------------------------


def test_threads_never_pass_a_limit_together() -> None:
    b = budget(max_calls=25)
    start = threading.Barrier(8)
    refused: list[int] = []

    def work() -> None:
        start.wait()
        for _ in range(10):
            try:
                b.reserve(role="critic").settle(Usage(), "critic")
            except LimitReached:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert b.spend().calls == {"critic": 25}
    assert len(refused) == 80 - 25


@given(
    st.integers(1, 6),
    st.integers(1, 6),
    st.lists(
        st.tuples(
            st.sampled_from(["reserve", "bet", "settle", "release", "failed", "ambiguous", "promote"]),
            st.integers(0, 3),
        ),
        max_size=30,
    ),
)
def test_used_and_reserved_never_pass_a_cap(max_calls: int, max_images: int, moves: list[tuple[str, int]]) -> None:
    b = budget(max_calls=max_calls, max_images=max_images)
    open_: list[Reservation] = []
    for move, number in moves:
        if move in ("reserve", "bet"):
            try:
                open_.append(b.reserve(images=number, certain=move == "reserve", on_preempt=lambda: True))
            except LimitReached:
                continue
        elif open_:
            reservation = open_[number % len(open_)]
            if move == "settle":
                reservation.settle(Usage(images=min(1, reservation.images)), "backend")
            else:
                getattr(reservation, move)()
        spend = b.spend()
        held = b._open
        assert sum(spend.calls.values()) + sum(r.calls for r in held) <= max_calls
        assert spend.images + sum(r.images for r in held) <= max_images
