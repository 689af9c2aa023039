"""Resending: what was provably not produced is sent again, within one flat budget of repeats."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from langgraph_interleave.budget import Budget
from langgraph_interleave.errors import (
    BadResponse,
    CallError,
    CallTimeout,
    Cancelled,
    ContentBlocked,
    InvalidRequest,
    QuotaExhausted,
    RateLimited,
    Unavailable,
)
from langgraph_interleave.ledger import Ledger, Produced, Repeats, pause_before_resend, resend
from langgraph_interleave.limits import Limits
from langgraph_interleave.types.usage import Usage


class Failing:
    """Fails with each error in turn, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> Produced:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return Produced({"number": self.calls}, Usage(images=1, cost_usd=0.5))


async def test_a_call_that_was_refused_is_sent_again(ledger: Ledger, call: Any) -> None:
    make, budget = Failing(RateLimited("later", retry_after=0), Unavailable("nobody there")), Budget(Limits())
    finished = await ledger.run(call(billed=True, images=1, repeats=Repeats(3)), make, budget=budget)
    assert (make.calls, finished.result, finished.took_over) == (3, {"number": 3}, None)
    spend = budget.spend()
    assert (spend.calls, spend.images, spend.cost_usd, spend.ambiguous) == ({"backend": 1}, 1, 0.5, 0)
    [record] = await ledger.records("run")
    assert (record.status, record.ambiguous_before) == ("finished", 0)


async def test_without_repeats_nothing_is_sent_again(ledger: Ledger, call: Any) -> None:
    make = Failing(RateLimited("later", retry_after=0))
    with pytest.raises(RateLimited):
        await ledger.run(call(), make)
    with pytest.raises(RateLimited):
        await ledger.run(call(name="0", repeats=Repeats(0)), Failing(RateLimited("later", retry_after=0)))
    assert make.calls == 1


async def test_repeats_end(ledger: Ledger, call: Any) -> None:
    make = Failing(*[RateLimited("later") for _ in range(9)])
    with pytest.raises(RateLimited):
        await ledger.run(call(repeats=Repeats(3)), make)
    assert make.calls == 4


async def test_what_may_have_been_billed_is_sent_once_more_and_counted(ledger: Ledger, call: Any) -> None:
    make, budget = Failing(Unavailable("500", ambiguous=True)), Budget(Limits())
    finished = await ledger.run(call(billed=True, images=1, repeats=Repeats(3)), make, budget=budget)
    assert make.calls == 2
    assert finished.took_over is not None
    spend = budget.spend()
    assert (spend.calls, spend.images, spend.ambiguous) == ({"backend": 2}, 2, 1)
    [record] = await ledger.records("run")
    assert (record.status, record.ambiguous_before) == ("finished", 1)
    twice = Failing(*[Unavailable("500", ambiguous=True) for _ in range(5)])
    with pytest.raises(Unavailable):
        await ledger.run(call(name="other", billed=True, repeats=Repeats(3)), twice, budget=Budget(Limits()))
    assert twice.calls == 2
    free = Failing(*[Unavailable("500", ambiguous=True) for _ in range(2)])
    assert (await ledger.run(call(name="free", repeats=Repeats(3)), free)).result == {"number": 3}


async def test_a_cap_holds_between_sendings(ledger: Ledger, call: Any) -> None:
    # The first may have been billed and counts: no room is left for the second.
    make = Failing(Unavailable("500", ambiguous=True))
    with pytest.raises(Exception, match="max_images"):
        await ledger.run(call(billed=True, images=1, repeats=Repeats(3)), make, budget=Budget(Limits(max_images=1)))
    assert make.calls == 1


async def test_one_budget_for_all_calls_that_share_it(ledger: Ledger, call: Any) -> None:
    repeats = Repeats(3)
    await ledger.run(call(repeats=repeats), Failing(RateLimited("1"), RateLimited("2")))
    second = Failing(*[RateLimited("again") for _ in range(9)])
    with pytest.raises(RateLimited):
        await ledger.run(call(name="second", repeats=repeats), second)
    assert second.calls == 2
    assert repeats.left == 0


async def test_whoever_asks_meanwhile_waits_for_the_same_call(ledger: Ledger, call: Any, until: Any) -> None:
    make = Failing(RateLimited("later", retry_after=0.05))
    first = asyncio.create_task(ledger.run(call(repeats=Repeats(1)), make))
    await until(lambda: make.calls == 1 and ledger.in_flight())
    second = await ledger.run(call(repeats=Repeats(1)), make)
    assert (await first).record == second.record
    assert make.calls == 2


async def test_cancelled_while_it_pauses_nothing_is_left(ledger: Ledger, call: Any, until: Any) -> None:
    make = Failing(RateLimited("later", retry_after=60))
    scope = ledger.scope("run", Budget(Limits()))
    waiter = asyncio.create_task(scope.run(call(repeats=Repeats(1)), make))
    await until(lambda: make.calls == 1)
    began = time.monotonic()
    await scope.aclose(cancelled=True)
    with pytest.raises(Cancelled):
        await waiter
    assert time.monotonic() - began < 1
    assert (make.calls, ledger.in_flight()) == (1, [])


async def test_the_scope_is_told(ledger: Ledger, call: Any) -> None:
    told: list[tuple[str, str, float]] = []
    scope = ledger.scope(
        "run", Budget(Limits()), on_resend=lambda call, error, pause: told.append((call.role, str(error), pause))
    )
    await scope.run(call(repeats=Repeats(1)), Failing(RateLimited("slow down", retry_after=0.01)))
    assert told == [("backend", "slow down", 0.01)]


async def test_a_pause_that_outlasts_the_run_is_not_begun(ledger: Ledger, call: Any) -> None:
    make = Failing(RateLimited("later", retry_after=60))
    with pytest.raises(RateLimited):
        await ledger.run(call(repeats=Repeats(1)), make, budget=Budget(Limits(max_seconds=5)))


async def test_the_usage_of_a_failed_call_counts_now_and_after_a_resume(ledger: Ledger, call: Any) -> None:
    used = Usage(input_tokens=7, output_tokens=3, cost_usd=0.25)
    budget = Budget(Limits())
    with pytest.raises(BadResponse):
        await ledger.run(call(billed=True), Failing(BadResponse("empty", ambiguous=False, usage=used)), budget=budget)
    again = Budget(Limits())
    await ledger.scope("run", again).resume()
    for spend in (budget.spend(), again.spend()):
        assert (spend.calls, spend.input_tokens, spend.cost_usd) == ({"backend": 1}, 7, 0.25)


@pytest.mark.parametrize(
    ("error", "pause"),
    [
        (RateLimited("x", retry_after=7), 7.0),
        (RateLimited("x", retry_after=500), None),  # asks for more patience than anybody has
        (Unavailable("x", retry_after=0), 0.0),
        (CallTimeout("x"), None),
        (BadResponse("x"), None),
        (ContentBlocked("x"), None),
        (InvalidRequest("x"), None),
        (QuotaExhausted("x"), None),
        (ValueError("x"), None),
    ],
)
def test_what_is_sent_again(error: Exception, pause: float | None) -> None:
    assert pause_before_resend(error, billed=True, sent=1, ambiguous=0) == pause


def test_pauses_grow_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resend, "FIRST_PAUSE_S", 0.5)

    def pauses(sent: int) -> set[float]:
        error: CallError = RateLimited("x")
        return {pause_before_resend(error, billed=True, sent=sent, ambiguous=0) or 0 for _ in range(50)}

    assert 0.5 <= min(pauses(1)) < max(pauses(1)) <= 0.625
    assert 1.0 <= min(pauses(2)) <= max(pauses(2)) <= 1.25
    assert max(pauses(20)) <= 10.0
