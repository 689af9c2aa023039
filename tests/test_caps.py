"""Caps on money and on steps: whatever happens in whatever order, no cap is passed and all is counted once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.budget import Budget
from langgraph_interleave.errors import ConfigError, LimitReached, Role
from langgraph_interleave.limits import Limits
from langgraph_interleave.reservation import Reservation
from langgraph_interleave.types.usage import Spend, Usage


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def budget(**limits: Any) -> Budget:
    return Budget(Limits(**limits), clock=Clock())


# --- money ----------------------------------------------------------------------------------


def test_money_is_reserved_before_it_is_spent() -> None:
    b = budget(max_cost_usd=0.25)
    first = b.reserve(images=1, price_usd=0.1)
    b.reserve(images=1, price_usd=0.1)
    with pytest.raises(LimitReached) as caught:
        b.reserve(images=1, price_usd=0.1)
    assert (caught.value.limit, caught.value.used, caught.value.cap) == ("max_cost_usd", 0.2, 0.25)
    assert caught.value.message == ("Limit max_cost_usd reached: 0.2 of 0.25 used, and the next call may take 0.1.")
    first.settle(Usage(images=1, cost_usd=0.04))
    b.reserve(images=1, price_usd=0.1)


def test_a_cap_holds_exactly_as_much_as_it_says() -> None:
    b = budget(max_cost_usd=0.3)
    for _ in range(3):
        b.reserve(price_usd=0.1).settle(Usage(cost_usd=0.1))
    with pytest.raises(LimitReached):
        b.reserve(price_usd=0.001)
    b.reserve(price_usd=0.0, role="critic")


def test_without_a_price_a_cap_on_money_cannot_be_kept() -> None:
    with pytest.raises(ConfigError, match="max_cost_usd cannot be kept: nobody knows what a critic call costs"):
        budget(max_cost_usd=1).reserve(role="critic")
    with pytest.raises(ConfigError, match="step_max_cost_usd"):
        budget(step_max_cost_usd=1).reserve(role="critic", step=0)
    budget(max_images=1).reserve(role="critic")


def test_a_call_that_cost_more_is_counted_as_it_is_and_the_next_reserves_as_much() -> None:
    b = budget(max_cost_usd=1.0)
    b.reserve(images=1, price_usd=0.1).settle(Usage(images=1, cost_usd=0.4))
    assert b.spend().cost_usd == 0.4
    with pytest.raises(LimitReached) as caught:
        b.reserve(images=2, price_usd=0.2)
    assert caught.value.wanted == 0.8
    assert b.reserve(role="critic", price_usd=0.1).price_usd == 0.1, "what drawings cost says nothing of critiques"
    b.reserve(images=1, price_usd=0.1).settle(Usage(images=1, cost_usd=0.7))
    assert b.spend().cost_usd == pytest.approx(1.1), "over the cap, and not hidden"


def test_what_was_learned_stands_for_a_price() -> None:
    b = budget(max_cost_usd=1.0)
    b.count_prior("k", "backend", Usage(images=2, cost_usd=0.5))
    assert b.reserve(images=1).price_usd == 0.25


def test_a_call_without_a_reported_cost_counts_as_it_was_reserved() -> None:
    b = budget(max_cost_usd=1.0)
    b.reserve(price_usd=0.8).settle(Usage())
    assert b.spend().cost_usd is None
    with pytest.raises(LimitReached):
        b.reserve(price_usd=0.3)


def test_what_was_refused_costs_nothing_and_what_is_ambiguous_its_price() -> None:
    b = budget(max_cost_usd=1.0)
    b.reserve(price_usd=0.9).release()
    b.reserve(price_usd=0.6).ambiguous()
    b.count_ambiguous("critic", price_usd=0.3, making="k/0")
    b.count_ambiguous("critic", price_usd=0.3, making="k/0")
    spend = b.spend()
    assert (spend.cost_usd, spend.ambiguous, spend.ambiguous_cost_usd) == (None, 2, pytest.approx(0.9))
    with pytest.raises(LimitReached):
        b.reserve(price_usd=0.2)
    b.count_ambiguous("planner")
    assert b.spend().ambiguous_cost_usd is None, "nobody knows of one, so nobody knows of all"


def test_money_on_a_bet_gives_way() -> None:
    b = budget(max_cost_usd=0.5)
    free = b.reserve(price_usd=0.0, certain=False, on_preempt=lambda: True)
    b.reserve(price_usd=0.4, certain=False, on_preempt=lambda: True)
    b.reserve(price_usd=0.3)
    free.settle(Usage(cost_usd=0.0))
    assert b.spend().calls == {"backend": 1}


# --- steps ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "cap", "takes"),
    [
        ("step_max_images", 2, {"images": 1}),
        ("step_max_calls", 2, {}),
        ("step_max_cost_usd", 0.5, {"price_usd": 0.25}),
    ],
)
def test_the_cap_of_a_step_is_that_steps_own(limit: str, cap: float, takes: dict[str, Any]) -> None:
    b = budget(**{limit: cap})
    b.reserve(step=0, **takes).settle(Usage(cost_usd=0.25))
    b.reserve(step=0, **takes)
    with pytest.raises(LimitReached) as caught:
        b.reserve(step=0, **takes)
    assert (caught.value.limit, caught.value.cap) == (limit, cap)
    b.reserve(step=1, **takes)
    b.reserve(price_usd=9.0, role="planner")


def test_the_runs_cap_holds_beside_that_of_a_step() -> None:
    b = budget(max_images=3, step_max_images=2)
    for step in (0, 0, 1):
        b.reserve(images=1, step=step)
    with pytest.raises(LimitReached, match="^Limit max_images reached: 3 of 3"):
        b.reserve(images=1, step=1)


def test_only_a_bet_of_the_same_step_makes_room_in_it() -> None:
    b = budget(step_max_calls=1)
    other = b.reserve(step=1, certain=False, on_preempt=lambda: True)
    b.reserve(step=0, certain=False, on_preempt=lambda: True)
    b.reserve(step=0)
    other.settle(Usage())
    assert b.spend().calls == {"backend": 1}


def test_the_time_of_a_step_begins_with_its_first_call() -> None:
    b = Budget(Limits(max_seconds=100, step_max_seconds=10), clock=(clock := Clock()))
    clock.now += 50
    assert (b.remaining_seconds(), b.remaining_seconds(0)) == (50, 50)
    b.reserve(step=0)
    clock.now += 4
    assert (b.remaining_seconds(), b.remaining_seconds(0)) == (46, 6)
    clock.now += 6
    with pytest.raises(LimitReached, match="step_max_seconds reached: 10 of 10"):
        b.reserve(step=0)
    clock.now += 35
    b.reserve(step=1)
    clock.now += 5
    ended = b.out_of_time(1)
    assert ended is not None and (ended.limit, ended.used, ended.cap) == ("max_seconds", 100, 100)


def test_what_earlier_invocations_took_counts_for_its_step() -> None:
    b = budget(step_max_images=1, step_max_cost_usd=1.0)
    b.count_prior("a", "backend", Usage(images=1, cost_usd=0.2), step=0)
    b.count_ambiguous("backend", images=1, step=1, price_usd=0.2)
    b.expect("c", "backend", images=1, step=2, price_usd=0.2)
    b.count_replay("d", "backend", Usage(images=1, cost_usd=0.2), step=3)
    for step in range(4):
        with pytest.raises(LimitReached, match="step_max_images"):
            b.reserve(images=1, step=step, price_usd=0.2)


# --- whatever happens -----------------------------------------------------------------------


@dataclass
class Sheet:
    """The same, counted anew from a list of what happened."""

    ended: list[tuple[Reservation, str, Usage]] = field(default_factory=list)

    def used(self, step: int | None = None) -> tuple[int, int, float]:
        """Calls, pictures, dollars that count against a cap."""
        calls, images, dollars = 0, 0, 0.0
        for held, end, usage in self.ended:
            if end == "released" or (step is not None and held.step != step):
                continue
            calls += held.calls
            images += held.images if end == "ambiguous" or (end == "settled" and not usage.images) else usage.images
            cost = None if end == "ambiguous" else usage.cost_usd
            assert held.price_usd is not None
            dollars += held.price_usd if cost is None else cost
        return calls, images, dollars

    def spend(self) -> Spend:
        calls, costs = Counter[str](), [u.cost_usd for _, end, u in self.ended if end in ("settled", "failed")]
        maybe = [held.price_usd or 0.0 for held, end, _ in self.ended if end == "ambiguous"]
        for held, end, _ in self.ended:
            calls[held.role] += held.calls if end != "released" else 0
        return Spend(
            calls={role: calls[role] for role in sorted(calls) if calls[role]},
            images=self.used()[1],
            cost_usd=sum(c for c in costs if c is not None) if costs and None not in costs else None,
            wasted=sum(not held.certain and end in ("settled", "ambiguous") for held, end, _ in self.ended),
            ambiguous=len(maybe),
            ambiguous_cost_usd=sum(maybe) if maybe else None,
        )


ROLES: tuple[Role, ...] = ("planner", "backend", "critic")
#: Sixteenths of a dollar are exact.
dollars = st.integers(0, 8).map(lambda n: n / 16)
caps = st.fixed_dictionaries(
    {},
    optional={
        "max_calls": st.integers(1, 8),
        "max_images": st.integers(1, 8),
        "max_cost_usd": st.integers(0, 32).map(lambda n: n / 16),
        "step_max_calls": st.integers(1, 4),
        "step_max_images": st.integers(1, 4),
        "step_max_cost_usd": st.integers(0, 16).map(lambda n: n / 16),
    },
)
asked = st.tuples(
    st.just("reserve"),
    st.sampled_from(ROLES),
    st.integers(0, 3),
    st.sampled_from([None, 0, 1]),
    dollars,
    st.booleans(),
    st.booleans(),
)
ended = st.tuples(
    st.sampled_from(["settled", "failed", "released", "ambiguous", "promote"]),
    st.integers(0, 20),
    st.none() | st.integers(0, 16),
    st.booleans(),
)


@given(caps, st.lists(asked | ended, max_size=25), st.booleans())
def test_no_cap_is_passed_and_everything_is_counted_once(
    limits: dict[str, Any], events: list[tuple[Any, ...]], dearer: bool
) -> None:
    b, sheet = budget(**limits), Sheet()
    held: list[Reservation] = []
    over = False
    named: set[str] = set()

    def preempted(which: int, can: bool) -> bool:
        if can:
            sheet.ended.append((made[which], "released", Usage()))
            held.remove(made[which])
        return can

    made: dict[int, Reservation] = {}
    for number, (what, *rest) in enumerate(events):
        if what == "reserve":
            role, images, step, price, certain, can = rest
            try:
                made[number] = b.reserve(
                    role=role, images=images, step=step, price_usd=price, certain=certain, key=f"k{number}",
                    on_preempt=lambda number=number, can=can: preempted(number, can),
                )  # fmt: skip
            except LimitReached as reached:
                named.add(reached.limit)
            else:
                held.append(made[number])
        elif held:
            which, cost, reports = rest
            one = held[which % len(held)]
            if what == "promote":
                one.promote()
                continue
            assert one.price_usd is not None
            paid = None if cost is None else one.price_usd * cost / 16
            if dearer and cost == 16:
                paid, over = one.price_usd + 1.0, True
            usage = Usage(cost_usd=paid, images=one.images if reports and what == "settled" else 0)
            ends = {"released": one.release, "ambiguous": one.ambiguous}
            end = ends.get(what) or partial(one.settle if what == "settled" else one.failed, usage)
            end()
            end()  # once is all that counts
            one.release()
            held.remove(one)
            sheet.ended.append((one, what, usage))
        for step, prefix in ((None, ""), (0, "step_"), (1, "step_")):
            mine = [one for one in held if step is None or one.step == step]
            calls, images, money = sheet.used(step)
            assert calls + len(mine) <= limits.get(f"{prefix}max_calls", 99)
            assert images + sum(one.images for one in mine) <= limits.get(f"{prefix}max_images", 99)
            if not over:
                reserved = sum(one.price_usd or 0.0 for one in mine)
                assert money + reserved <= limits.get(f"{prefix}max_cost_usd", 99) + 1e-9
    assert named <= limits.keys()
    spent = b.spend()
    expected = sheet.spend()
    assert spent.model_copy(update={"cost_usd": None, "ambiguous_cost_usd": None}) == expected.model_copy(
        update={"cost_usd": None, "ambiguous_cost_usd": None}
    )
    for name in ("cost_usd", "ambiguous_cost_usd"):
        assert getattr(spent, name) == pytest.approx(getattr(expected, name))
    for one in held:
        one.release()
    assert b.spend() == spent, "what is released leaves nothing"
