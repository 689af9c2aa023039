"""Rule 7: every call started ahead belongs to a run scope, and its end leaves nothing running."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langgraph_interleave._sync import run_sync
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.budget import Budget
from langgraph_interleave.errors import BadResponse, Cancelled, ContentBlocked, LimitReached, RateLimited
from langgraph_interleave.ledger import Call, Finished, Ledger, Produced, Repeats, RunScope
from langgraph_interleave.limits import Limits
from langgraph_interleave.types.usage import Spend, Usage


def spent(budget: Budget) -> Spend:
    return budget.spend().model_copy(update={"seconds": 0.0})


@pytest.fixture
def scope(ledger: Ledger) -> RunScope:
    return ledger.scope("run", Budget(Limits()))


async def test_rule_7_closing_gives_up_bets_and_waits_for_what_is_certain(
    ledger: Ledger, scope: RunScope, maker: Any, call: Any
) -> None:
    certain, bet = maker(), maker()
    assert scope.start(call("certain"), certain, certain=True)
    assert scope.start(call("bet"), bet, certain=False)
    for make in (certain, bet):
        await asyncio.to_thread(make.started.wait, 3)
    closing = asyncio.create_task(scope.aclose())
    await asyncio.sleep(0.03)
    assert bet.cancelled == 1
    assert not closing.done()
    certain.let_go()
    await closing
    assert (certain.finished, certain.cancelled) == (1, 0)
    assert ledger.in_flight() == []
    assert scope.in_flight() == set()
    statuses = {record.key: record.status for record in await ledger.records("run")}
    assert statuses == {call("certain").key: "finished", call("bet").key: "failed"}


async def test_rule_7_a_cancelled_run_gives_up_everything(
    ledger: Ledger, scope: RunScope, maker: Any, call: Any
) -> None:
    certain, bet, asked = maker(), maker(), maker()
    scope.start(call("certain"), certain, certain=True)
    scope.start(call("bet"), bet, certain=False)
    waiter = asyncio.create_task(scope.run(call("asked"), asked))
    for make in (certain, bet, asked):
        await asyncio.to_thread(make.started.wait, 3)
    await scope.aclose(cancelled=True)
    assert [make.cancelled for make in (certain, bet, asked)] == [1, 1, 1]
    assert ledger.in_flight() == []
    with pytest.raises(Cancelled):
        await waiter


async def test_rule_7_a_cancelled_run_lets_a_billed_call_finish_within_the_grace(
    ledger: Ledger, scope: RunScope, maker: Any, call: Any
) -> None:
    ledger.grace_s = 2.0
    make = maker()
    scope.start(call(billed=True), make, certain=True)
    await asyncio.to_thread(make.started.wait, 3)
    closing = asyncio.create_task(scope.aclose(cancelled=True))
    await asyncio.sleep(0.03)
    make.let_go()
    await closing
    assert (await ledger.records("run"))[0].status == "finished"


async def test_rule_7_with_no_grace_a_cancelled_run_ends_at_once(ledger: Ledger, maker: Any, call: Any) -> None:
    ledger.grace_s = 0
    scope = ledger.scope("run", Budget(Limits()))
    make = maker()
    scope.start(call(billed=True, images=1), make, certain=True)
    await asyncio.to_thread(make.started.wait, 3)
    began = time.monotonic()
    await scope.aclose(cancelled=True)
    assert time.monotonic() - began < 0.5
    assert (await ledger.records("run"))[0].status == "ambiguous"
    assert spent(scope.budget) == Spend(calls={"backend": 1}, images=1, ambiguous=1)


async def test_rule_7_what_another_run_asked_for_as_well_goes_on(ledger: Ledger, maker: Any, call: Any) -> None:
    one, two = (ledger.scope(name, Budget(Limits())) for name in ("one", "two"))
    make = maker()
    for scope in (one, two):
        scope.start(call(scope="shared"), make, certain=True)
    await asyncio.to_thread(make.started.wait, 3)
    await asyncio.wait_for(one.aclose(cancelled=True), 1)
    assert one.in_flight() == set()
    assert two.in_flight() == {call(scope="shared").key}
    assert make.cancelled == 0
    make.let_go()
    await two.aclose()
    assert (make.calls, make.finished) == (1, 1)


async def test_rule_7_a_closed_scope_takes_nothing(scope: RunScope, maker: Any, call: Any) -> None:
    await scope.aclose()
    make = maker()
    assert not scope.start(call(), make, certain=True, on_done=lambda *_: pytest.fail("told"))
    with pytest.raises(Cancelled, match="run is over"):
        await scope.run(call(), make)
    await scope.aclose()
    assert make.calls == 0


async def test_rule_7_what_a_finishing_call_starts_is_waited_for_too(
    ledger: Ledger, scope: RunScope, maker: Any, call: Any
) -> None:
    first, late = maker(), maker(ready=True)

    def start_late(_: Call, __: object) -> None:
        scope.start(call("late"), late, certain=True)

    scope.start(call("first"), first, certain=True, on_done=start_late)
    await asyncio.to_thread(first.started.wait, 3)
    closing = asyncio.create_task(scope.aclose())
    await asyncio.sleep(0.01)
    first.let_go()
    await closing
    assert late.calls == 0, "the scope was closing"
    assert ledger.in_flight() == []


async def test_rule_7_cancelled_while_it_closes_it_has_given_up_what_is_to_be_given_up(
    ledger: Ledger, scope: RunScope, maker: Any, call: Any, until: Any
) -> None:
    certain, bet = maker(), maker()
    scope.start(call("certain"), certain, certain=True)
    scope.start(call("bet"), bet, certain=False)
    await asyncio.to_thread(bet.started.wait, 3)
    closing = asyncio.create_task(scope.aclose())
    await asyncio.sleep(0.01)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await until(lambda: bet.cancelled == 1)
    certain.let_go()
    await scope.aclose()
    assert certain.finished == 1


def test_rule_7_closing_from_synchronous_code(ledger: Ledger, scope: RunScope, maker: Any, call: Any) -> None:
    make = maker()
    assert scope.start(call(), make, certain=True)
    assert make.started.wait(3)
    done = scope.close()
    assert not scope.start(call("more"), make, certain=True)
    done.result(3)
    assert make.cancelled == 1
    assert ledger.in_flight() == []


def test_rule_7_closing_in_good_order_from_synchronous_code(scope: RunScope, maker: Any, call: Any) -> None:
    make = maker()
    scope.start(call(), make, certain=True)
    done = scope.close(cancelled=False)
    assert make.started.wait(3)
    make.let_go()
    done.result(3)
    assert make.finished == 1


def test_rule_7_closing_from_another_loop(ledger: Ledger, scope: RunScope, maker: Any, call: Any) -> None:
    make = maker()

    async def begin() -> None:
        scope.start(call(), make, certain=False)

    asyncio.run(begin())
    asyncio.run(scope.aclose())
    assert ledger.in_flight() == []


def test_rule_7_the_loop_of_a_closing_that_was_cancelled_is_not_missed(
    ledger: Ledger, scope: RunScope, maker: Any, call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    make = maker()

    async def begin_to_close() -> None:
        scope.start(call(), make, certain=True)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(scope.aclose(), 0.02)

    asyncio.run(begin_to_close())
    make.let_go()
    run_sync(scope.aclose)
    assert ledger.in_flight() == []
    assert caplog.text == ""


# -- starting --------------------------------------------------------------------------------------


async def test_a_node_joins_what_was_started_ahead(scope: RunScope, maker: Any, call: Any) -> None:
    make = maker()
    scope.start(call(), make, certain=False)
    await asyncio.to_thread(make.started.wait, 3)
    assert scope.in_flight() == {call().key}
    waiter = asyncio.create_task(scope.run(call(), make))
    await asyncio.sleep(0.01)
    scope.keep(set())
    await asyncio.sleep(0.01)
    make.let_go()
    assert (await waiter).result == {"number": 1}
    assert make.calls == 1
    assert spent(scope.budget) == Spend(calls={"backend": 1}, cost_usd=0.0)


async def test_what_was_started_ahead_and_ended_is_found_by_the_node(
    scope: RunScope, maker: Any, call: Any, until: Any
) -> None:
    make = maker(ready=True)
    scope.start(call(), make, certain=False)
    await until(lambda: not scope.in_flight())
    assert spent(scope.budget).wasted == 1
    finished = await scope.run(call(), make)
    assert finished.replayed
    assert make.calls == 1
    # Neither a replay of an earlier run nor waste.
    assert spent(scope.budget) == Spend(calls={"backend": 1}, cost_usd=0.0)


async def test_starting_again_tells_both(scope: RunScope, maker: Any, call: Any) -> None:
    make = maker()
    told: list[str] = []
    scope.start(call(), make, certain=False)
    scope.start(call(), make, certain=True, on_done=lambda *_: told.append("second"))
    scope.start(call(), make, certain=True, on_done=lambda *_: told.append("third"))
    make.let_go()
    await scope.aclose()
    assert told == ["second", "third"]
    assert make.calls == 1


async def test_started_again_as_certain_a_bet_is_one_no_more(scope: RunScope, maker: Any, call: Any) -> None:
    make = maker()
    scope.start(call(), make, certain=False)
    assert scope.start(call(), make, certain=True)
    scope.keep(set())
    make.let_go()
    await scope.aclose()
    assert make.finished == 1
    assert spent(scope.budget).wasted == 0


def test_starting_is_possible_from_any_thread(scope: RunScope, maker: Any, call: Any) -> None:
    makes = {name: maker(ready=True) for name in "abcdef"}
    threads = [
        threading.Thread(target=scope.start, args=(call(name), make), kwargs={"certain": True})
        for name, make in makes.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(3)
    run_sync(scope.aclose)
    assert all(make.finished == 1 for make in makes.values())


async def test_keep_gives_up_the_bets_that_are_not_named(
    ledger: Ledger, scope: RunScope, maker: Any, call: Any, until: Any
) -> None:
    makes = {name: maker() for name in ("kept", "lost", "certain", "promoted")}
    for name, make in makes.items():
        scope.start(call(name), make, certain=name == "certain")
        await asyncio.to_thread(make.started.wait, 3)
    scope.promote(call("promoted").key)
    scope.promote("unknown")
    scope.keep({call("kept").key})
    await until(lambda: makes["lost"].cancelled == 1)
    await asyncio.sleep(0.02)
    assert scope.in_flight() == {call(name).key for name in ("kept", "certain", "promoted")}
    for make in makes.values():
        make.let_go()
    await until(lambda: not scope.in_flight())
    assert [make.finished for make in makes.values()] == [1, 0, 1, 1]
    assert spent(scope.budget).wasted == 1


async def test_a_bet_that_was_given_up_can_be_started_again(scope: RunScope, maker: Any, call: Any, until: Any) -> None:
    first, second = maker(), maker(ready=True)
    scope.start(call(), first, certain=False)
    await asyncio.to_thread(first.started.wait, 3)
    scope.keep(set())
    await until(lambda: first.cancelled == 1)
    assert scope.start(call(), second, certain=True)
    await scope.aclose()
    assert second.finished == 1


# -- budget (rule 8) -------------------------------------------------------------------------------


async def test_rule_8_starting_beyond_a_limit_is_refused_without_an_error(
    ledger: Ledger, maker: Any, call: Any
) -> None:
    scope = ledger.scope("run", Budget(Limits(max_images=1)))
    one, two = maker(), maker()
    assert scope.start(call("a", images=1), one, certain=True)
    assert not scope.start(call("b", images=1), two, certain=False, on_done=lambda *_: pytest.fail("told"))
    assert not scope.start(call("b", images=1), two, certain=True, on_done=lambda *_: pytest.fail("told"))
    one.let_go()
    await scope.aclose()
    assert two.calls == 0


async def test_rule_8_room_for_a_start_is_taken_at_once(ledger: Ledger, maker: Any, call: Any) -> None:
    scope = ledger.scope("run", Budget(Limits(max_calls=3)))
    started = [scope.start(call(str(n)), maker(ready=True), certain=True) for n in range(6)]
    assert started == [True] * 3 + [False] * 3
    await scope.aclose()


async def test_rule_8_a_certain_call_takes_the_room_of_a_bet(ledger: Ledger, maker: Any, call: Any, until: Any) -> None:
    budget = Budget(Limits(max_images=1))
    scope = ledger.scope("run", budget)
    bet, certain = maker(), maker(ready=True)
    told: list[Any] = []
    assert scope.start(call("bet", images=1), bet, certain=False, on_done=lambda _, outcome: told.append(outcome))
    await asyncio.to_thread(bet.started.wait, 3)
    finished = await scope.run(call("certain", images=1), certain)
    assert finished.result == {"number": 1}
    await scope.aclose()
    assert bet.cancelled == 1
    assert [type(outcome) for outcome in told] == [asyncio.CancelledError]
    assert spent(budget) == Spend(calls={"backend": 1}, cost_usd=0.0, images=1)


async def test_rule_8_the_result_of_a_stopped_bet_does_not_count_though_it_comes(
    ledger: Ledger, call: Any, maker: Any
) -> None:
    started = threading.Event()

    async def unstoppable() -> Produced:
        started.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return Produced({"late": True}, Usage(images=1))
        return Produced({})

    budget = Budget(Limits(max_images=1))
    scope = ledger.scope("run", budget)
    scope.start(call("bet", images=1), unstoppable, certain=False)
    await asyncio.to_thread(started.wait, 3)
    await scope.run(call("certain", images=1), maker(ready=True))
    await scope.aclose()
    assert spent(budget) == Spend(calls={"backend": 1}, cost_usd=0.0, images=1), "the cap holds"
    assert {record.status for record in await ledger.records("run")} == {"failed", "finished"}


async def test_rule_8_a_billed_bet_that_was_sent_keeps_its_room(ledger: Ledger, maker: Any, call: Any) -> None:
    scope = ledger.scope("run", Budget(Limits(max_images=1)))
    bet = maker()
    scope.start(call("bet", images=1, billed=True), bet, certain=False)
    await asyncio.to_thread(bet.started.wait, 3)
    with pytest.raises(LimitReached):
        await scope.run(call("certain", images=1), maker(ready=True))
    assert bet.cancelled == 0
    await scope.aclose(cancelled=True)


async def test_rule_8_a_bet_that_has_just_been_made_keeps_its_room(
    ledger: Ledger, maker: Any, call: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, recording, record = ledger.journal.finish, asyncio.Event(), asyncio.Event()

    async def slow(*args: Any) -> Any:
        loop.call_soon_threadsafe(recording.set)
        await until(record.is_set)
        return await real(*args)

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(ledger.journal, "finish", slow)
    scope = ledger.scope("run", Budget(Limits(max_images=1)))
    scope.start(call("bet", images=1), maker(ready=True), certain=False)
    await recording.wait()
    with pytest.raises(LimitReached):
        await scope.run(call("certain", images=1), maker(ready=True))
    record.set()
    await scope.aclose()
    assert spent(scope.budget) == Spend(calls={"backend": 1}, cost_usd=0.0, images=1, wasted=1)


async def test_rule_8_a_bet_a_node_waits_for_keeps_its_room(ledger: Ledger, maker: Any, call: Any) -> None:
    scope = ledger.scope("run", Budget(Limits(max_images=1)))
    bet = maker()
    scope.start(call("bet", images=1), bet, certain=False)
    await asyncio.to_thread(bet.started.wait, 3)
    waiter = asyncio.create_task(scope.run(call("bet", images=1), bet))
    await asyncio.sleep(0.01)
    with pytest.raises(LimitReached):
        await scope.run(call("certain", images=1), maker(ready=True))
    bet.let_go()
    assert (await waiter).result == {"number": 1}


async def test_rule_8_a_start_that_turns_out_to_be_a_replay_gives_its_room_back(
    ledger: Ledger, maker: Any, call: Any
) -> None:
    await ledger.run(call("a"), maker(ready=True))
    budget = Budget(Limits(max_calls=2))
    scope = ledger.scope("run", budget)
    told: list[Any] = []
    scope.start(call("a"), maker(), certain=True, on_done=lambda _, outcome: told.append(outcome))
    await scope.aclose()
    assert told[0].replayed
    assert spent(budget) == Spend(calls={"backend": 1}, cost_usd=0.0, replayed=1)
    budget.reserve()


async def test_rule_8_the_caps_hold_over_a_resume(maker: Any, call: Any) -> None:
    store = ArtifactStore.memory()
    before = Ledger(store).scope("run", Budget(Limits(max_images=2)))
    for name in "ab":
        await before.run(call(name, images=1), maker(ready=True, usage=Usage(images=1, cost_usd=0.1)))
    with pytest.raises(ValueError):
        await before.run(call("c"), maker(ready=True, error=ValueError("no record of a result")))
    await before.aclose()

    after = Ledger(store).scope("run", Budget(Limits(max_images=2)))
    records = await after.resume()
    assert [record.status for record in records] == ["finished", "finished", "failed"]
    with pytest.raises(LimitReached):
        await after.run(call("d", images=1), maker(ready=True))
    assert (await after.run(call("a", images=1), maker())).replayed
    spend = spent(after.budget)
    assert (spend.calls, spend.images, spend.replayed) == ({"backend": 3}, 2, 1)
    assert spend.calls == spent(before.budget).calls, "the one without a result was made as well"


async def test_rule_8_what_was_answered_in_vain_counts_after_a_resume_whatever_came_of_it(call: Any) -> None:
    used = Usage(input_tokens=70, output_tokens=3, cost_usd=0.25)
    errors: list[Exception] = [
        BadResponse("cut", role="critic", usage=used, ambiguous=False),
        ContentBlocked("no", role="critic", usage=used),
        RateLimited("later", role="critic", retry_after=0),
    ]

    async def make() -> Produced:
        if errors:
            raise errors.pop(0)
        return Produced({"number": 1}, used)

    store = ArtifactStore.memory()
    spends: list[Spend] = []
    for failure in (BadResponse, ContentBlocked, None, None):
        scope = Ledger(store).scope("run", Budget(Limits()))
        await scope.resume()
        asked = scope.run(call(billed=True, role="critic", repeats=Repeats(1)), make)
        if failure is None:
            await asked
        else:
            with pytest.raises(failure):
                await asked
        await scope.aclose()
        spends.append(spent(scope.budget))
    assert [spend.calls["critic"] for spend in spends] == [1, 2, 3, 3], "what was turned away is no call"
    assert [(spend.input_tokens, spend.output_tokens, spend.cost_usd) for spend in spends] == [
        (70, 3, 0.25), (140, 6, 0.5), (210, 9, 0.75), (210, 9, 0.75),
    ]  # fmt: skip


async def test_rule_8_what_is_there_already_is_started_ahead_at_the_cap(maker: Any, call: Any) -> None:
    store = ArtifactStore.memory()
    before = Ledger(store).scope("run", Budget(Limits(max_images=1)))
    await before.run(call("a", images=1), maker(ready=True, usage=Usage(images=1)))

    after = Ledger(store).scope("run", Budget(Limits(max_images=1)))
    await after.resume()
    told: list[Any] = []
    assert after.start(call("a", images=1), maker(), certain=True, on_done=lambda _, result: told.append(result))
    assert not after.start(call("b", images=1), maker(), certain=True)
    await after.aclose()
    assert told[0].replayed and spent(after.budget).images == 1


async def test_rule_8_what_is_still_under_way_or_ambiguous_counts_after_a_resume(maker: Any, call: Any) -> None:
    ledger = Ledger(ArtifactStore.memory(), grace_s=0.0)
    before = ledger.scope("run", Budget(Limits(max_images=3)))
    cut, slow = maker(), maker(usage=Usage(images=1))
    before.start(call("cut", images=1, billed=True), cut, certain=True)
    await asyncio.to_thread(cut.started.wait, 5)
    await before.aclose(cancelled=True)
    elsewhere = asyncio.create_task(ledger.run(call("slow", images=1, billed=True), slow))
    await asyncio.to_thread(slow.started.wait, 5)

    after = ledger.scope("run", Budget(Limits(max_images=3)))
    assert sorted(record.status for record in await after.resume()) == ["ambiguous", "started"]
    after.budget.reserve(images=1).release()
    with pytest.raises(LimitReached, match="2 of 3"):
        after.budget.reserve(images=2)
    slow.let_go()
    await elsewhere
    assert (await after.run(call("slow", images=1, billed=True), maker())).replayed
    again = await after.run(call("cut", images=1, billed=True), maker(ready=True, usage=Usage(images=1)))
    assert again.took_over is not None
    spend = spent(after.budget)
    assert (spend.calls, spend.images, spend.ambiguous) == ({"backend": 3}, 3, 1)


async def test_rule_8_what_another_process_bet_on_meanwhile_counts_at_the_end(maker: Any, call: Any) -> None:
    store = ArtifactStore.memory()
    mine, theirs = (
        Ledger(store).scope("run", Budget(Limits())),
        Ledger(store, grace_s=0.0).scope("run", Budget(Limits())),
    )
    await asyncio.gather(mine.resume(), theirs.resume())
    paid = Usage(images=1, cost_usd=0.1)
    await mine.run(call("both", images=1, billed=True), maker(ready=True, usage=paid))
    await theirs.run(call("both", images=1, billed=True), maker())
    await theirs.run(call("bet", images=1, billed=True), maker(ready=True, usage=paid))
    cut = maker()
    theirs.start(call("cut", images=1, billed=True), cut, certain=False)
    await asyncio.to_thread(cut.started.wait, 5)
    await theirs.aclose(cancelled=True)
    for _ in range(2):  # counted once, however often it is looked up
        await mine.recount()
        await theirs.recount()
        for scope in (mine, theirs):
            spend = spent(scope.budget)
            assert (spend.calls, spend.images, spend.cost_usd, spend.ambiguous) == ({"backend": 3}, 3, 0.2, 1)


async def test_rule_8_a_call_whose_end_is_still_to_be_counted_is_not_counted_before(maker: Any, call: Any) -> None:
    store = ArtifactStore.memory()
    budget, paid = Budget(Limits()), Usage(images=1, cost_usd=0.1)
    bet = budget.reserve(images=1, key=call("bet").key, certain=False)
    await Ledger(store).run(call("bet", images=1, billed=True), maker(ready=True, usage=paid))
    await Ledger(store).scope("run", budget).recount()  # it is recorded, and its maker is about to settle it
    assert spent(budget).images == 0
    bet.settle(paid)
    await Ledger(store).scope("run", budget).recount()
    assert (spent(budget).images, spent(budget).cost_usd) == (1, 0.1)


async def test_rule_9_a_call_that_lands_while_another_run_looks_is_not_ambiguous(
    maker: Any, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, slow, records = Ledger(ArtifactStore.memory()), maker(usage=Usage(images=1)), []
    first = asyncio.create_task(ledger.run(call("slow", images=1, billed=True), slow))
    await asyncio.to_thread(slow.started.wait, 5)
    read = ledger.records

    async def late(scope: str) -> Any:
        found = await read(scope)
        records.append([record.status for record in found])
        slow.let_go()
        await first
        return found

    monkeypatch.setattr(ledger, "records", late)
    second = ledger.scope("run", Budget(Limits()))
    await second.resume()
    assert records == [["started"], ["finished"]] and second.lost == []
    assert (spent(second.budget).images, spent(second.budget).ambiguous) == (1, 0)


async def test_rule_8_a_making_that_becomes_ambiguous_meanwhile_takes_the_room(maker: Any, call: Any) -> None:
    ledger = Ledger(ArtifactStore.memory(), grace_s=0.3)
    before, cut = ledger.scope("run", Budget(Limits(max_images=1))), maker()
    before.start(call("a", images=1, billed=True), cut, certain=True)
    await asyncio.to_thread(cut.started.wait, 5)
    closing = asyncio.create_task(before.aclose(cancelled=True))
    await asyncio.sleep(0)

    after, again = ledger.scope("run", Budget(Limits(max_images=1))), maker(ready=True)
    await after.resume()
    await closing
    told: list[Any] = []
    assert after.start(call("a", images=1, billed=True), again, certain=True, on_done=lambda _, r: told.append(r))
    await after.aclose()
    assert isinstance(told[0], LimitReached) and again.calls == 0
    assert spent(after.budget).images == 1


# -- all together ----------------------------------------------------------------------------------


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["start", "bet", "run", "leave", "keep", "promote", "finish", "fail"]),
            st.integers(0, 3),
            st.booleans(),
        ),
        max_size=20,
    ),
    st.booleans(),
)
def test_whatever_happens_every_ask_is_told_once_and_nothing_is_left(
    maker: Any, call: Any, moves: list[tuple[str, int, bool]], cancelled: bool
) -> None:
    async def main() -> None:
        ledger = Ledger(ArtifactStore.memory(), grace_s=0.01)
        budget = Budget(Limits(max_images=3))
        scope = ledger.scope("run", budget)
        told: list[int] = []
        makes = {number: maker() for number in range(4)}
        waiters: list[asyncio.Task[Finished]] = []

        for move, number, billed in moves:
            asked = call(str(number), images=1, billed=billed)
            make = makes[number]
            number_of_ask = len(told)

            def on_done(_: Call, __: object, mine: int = number_of_ask) -> None:
                told[mine] += 1

            if move in ("start", "bet"):
                told.append(0)
                if not scope.start(asked, make, certain=move == "start", on_done=on_done):
                    told[-1] = 1
            elif move == "run":
                told.append(0)
                waiters.append(asyncio.create_task(scope.run(asked, make, on_done=on_done)))
            elif move == "leave" and waiters:
                waiters[number % len(waiters)].cancel()
            elif move == "keep":
                scope.keep({asked.key})
            elif move == "promote":
                scope.promote(asked.key)
            elif move in ("finish", "fail"):
                make.error = RuntimeError("failed") if move == "fail" else None
                make.let_go()
            await asyncio.sleep(0.001)
        for make in makes.values():
            make.let_go()
        await scope.aclose(cancelled=cancelled)
        await asyncio.gather(*waiters, return_exceptions=True)
        assert ledger.in_flight() == []
        assert scope.in_flight() == set()
        assert not budget._open
        await asyncio.sleep(0.002)
        assert set(told) <= {1}, "every ask is told exactly once"
        assert budget.spend().images <= 3
        assert all(record.status != "started" for record in await ledger.records("run"))

    asyncio.run(main())
