"""The ten rules of the ledger, each by what goes wrong without it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import gc
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from langgraph_interleave import background
from langgraph_interleave._sync import Node, run_sync
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.budget import Budget
from langgraph_interleave.errors import (
    BadResponse,
    CallTimeout,
    Cancelled,
    ConfigError,
    ContentBlocked,
    InternalError,
    LimitReached,
    NoImage,
    PlanError,
    RateLimited,
    Unavailable,
)
from langgraph_interleave.ledger import Call, Finished, Ledger, Produced
from langgraph_interleave.limits import Limits
from langgraph_interleave.types.usage import Spend, Usage

marker: contextvars.ContextVar[str | None] = contextvars.ContextVar("marker", default=None)


@pytest.fixture
def unretrieved() -> Iterator[list[Any]]:
    """What the background loop complains of."""
    complaints: list[Any] = []
    loop = background.background_loop()
    loop.call_soon_threadsafe(loop.set_exception_handler, lambda _, context: complaints.append(context))
    yield complaints
    loop.call_soon_threadsafe(loop.set_exception_handler, None)


def spent(budget: Budget) -> Spend:
    return budget.spend().model_copy(update={"seconds": 0.0})


# -- 1: every waiter waits on a future of its own --------------------------------------------------


async def test_rule_1_waiters_on_two_loops_share_one_call(ledger: Ledger, maker: Any, call: Any) -> None:
    make = maker()
    box: list[Finished] = []

    def other_loop() -> None:
        box.append(asyncio.run(ledger.run(call(), make)))

    thread = threading.Thread(target=other_loop)
    mine = asyncio.create_task(ledger.run(call(), make))
    await asyncio.to_thread(make.started.wait, 3)
    thread.start()
    await asyncio.sleep(0.02)
    make.let_go()
    finished = await mine
    await asyncio.to_thread(thread.join, 3)
    assert make.calls == 1
    assert finished.result == box[0].result == {"number": 1}


async def test_rule_1_a_cancelled_waiter_takes_nobody_along(ledger: Ledger, maker: Any, call: Any) -> None:
    make = maker()
    owner = asyncio.create_task(ledger.run(call(), make))
    await asyncio.to_thread(make.started.wait, 3)
    waiter = asyncio.create_task(ledger.run(call(), make))
    await asyncio.sleep(0.01)
    owner.cancel()
    with pytest.raises(asyncio.CancelledError):
        await owner
    make.let_go()
    assert (await waiter).result == {"number": 1}
    assert (make.calls, make.cancelled) == (1, 0)


def test_rule_1_many_threads_make_one_call(ledger: Ledger, maker: Any, call: Any) -> None:
    make = maker()
    start = threading.Barrier(12)
    results: list[Any] = []

    def work() -> None:
        start.wait()
        results.append(run_sync(lambda: ledger.run(call(), make)).result)

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    assert make.started.wait(3)
    make.let_go()
    for thread in threads:
        thread.join(3)
    assert make.calls == 1
    assert results == [{"number": 1}] * 12


# -- 2: the call is the ledger's own task, on one long-lived loop ----------------------------------


def test_rule_2_all_calls_of_a_process_run_on_one_loop(ledger: Ledger, maker: Any, call: Any) -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def make() -> Produced:
        loops.append(asyncio.get_running_loop())
        return Produced({})

    for name in "ab":
        asyncio.run(ledger.run(call(name), make))
    assert loops == [background.background_loop()] * 2


async def test_rule_2_a_waiter_survives_the_end_of_the_loop_that_asked_first(
    ledger: Ledger, maker: Any, call: Any
) -> None:
    make = maker()

    async def ask_and_end() -> None:
        task = asyncio.create_task(ledger.run(call(), make))
        await asyncio.to_thread(joined.wait, 3)
        asyncio.get_running_loop().call_soon(task.cancel)

    joined = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(ask_and_end()))
    thread.start()
    await asyncio.to_thread(make.started.wait, 3)
    waiter = asyncio.create_task(ledger.run(call(), make))
    await asyncio.sleep(0.01)
    joined.set()
    await asyncio.to_thread(thread.join, 3)
    make.let_go()
    assert (await waiter).result == {"number": 1}
    assert make.calls == 1


def test_rule_2_a_synchronous_graph_inside_a_call_does_not_wait_for_itself(
    ledger: Ledger, maker: Any, call: Any
) -> None:
    inner = maker(ready=True)

    async def outer() -> Produced:
        return Produced(run_sync(lambda: ledger.run(call("inner"), inner)).result)

    box: list[Any] = []
    thread = threading.Thread(
        target=lambda: box.append(run_sync(lambda: ledger.run(call("outer"), outer)).result), daemon=True
    )
    thread.start()
    thread.join(3)
    assert box == [{"number": 1}]


# -- 3: who leaves, and when the call is cancelled -------------------------------------------------


async def test_rule_3_the_sole_owner_cancelled_leaves_nothing_in_flight(
    ledger: Ledger, maker: Any, call: Any, until: Any
) -> None:
    make = maker()
    owner = asyncio.create_task(ledger.run(call(), make))
    await asyncio.to_thread(make.started.wait, 3)
    owner.cancel()
    with pytest.raises(asyncio.CancelledError):
        await owner
    await until(lambda: not ledger.in_flight())
    assert (make.cancelled, make.finished) == (1, 0)
    record = (await ledger.records("run"))[0]
    assert record.status == "failed"
    assert record.problem is not None
    assert record.problem.error == "Cancelled"


async def test_rule_3_a_call_is_cancelled_only_when_the_last_waiter_leaves(
    ledger: Ledger, maker: Any, call: Any, until: Any
) -> None:
    make = maker()
    waiters = [asyncio.create_task(ledger.run(call(), make)) for _ in range(3)]
    await asyncio.to_thread(make.started.wait, 3)
    for waiter in waiters[:2]:
        waiter.cancel()
    await asyncio.sleep(0.03)
    assert make.cancelled == 0
    waiters[2].cancel()
    await until(lambda: make.cancelled == 1)
    await asyncio.gather(*waiters, return_exceptions=True)


async def test_rule_3_a_billed_call_is_let_finish_and_recorded(
    ledger: Ledger, maker: Any, call: Any, until: Any
) -> None:
    ledger.grace_s = 2.0
    budget = Budget(Limits())
    make = maker(usage=Usage(images=1))
    owner = asyncio.create_task(ledger.run(call(billed=True, images=1), make, budget=budget))
    await asyncio.to_thread(make.started.wait, 3)
    owner.cancel()
    await asyncio.sleep(0.03)
    assert make.cancelled == 0
    make.let_go()
    await until(lambda: not ledger.in_flight())
    assert (await ledger.records("run"))[0].status == "finished"
    again = await ledger.run(call(billed=True, images=1), make, budget=budget)
    assert again.replayed
    assert make.calls == 1
    assert spent(budget) == Spend(calls={"backend": 1}, images=1)


async def test_rule_3_a_billed_call_that_outlasts_the_grace_is_recorded_as_ambiguous(
    ledger: Ledger, maker: Any, call: Any, until: Any
) -> None:
    ledger.grace_s = 0.05
    budget = Budget(Limits())
    make = maker()
    owner = asyncio.create_task(ledger.run(call(billed=True, images=1), make, budget=budget))
    await asyncio.to_thread(make.started.wait, 3)
    began = time.monotonic()
    owner.cancel()
    await until(lambda: not ledger.in_flight())
    assert 0.04 < time.monotonic() - began < 1
    assert make.cancelled == 1
    assert (await ledger.records("run"))[0].status == "ambiguous"
    assert spent(budget) == Spend(calls={"backend": 1}, images=1, ambiguous=1)


async def test_rule_3_whoever_joins_within_the_grace_keeps_the_call(ledger: Ledger, maker: Any, call: Any) -> None:
    ledger.grace_s = 0.15
    make = maker()
    owner = asyncio.create_task(ledger.run(call(billed=True), make))
    await asyncio.to_thread(make.started.wait, 3)
    owner.cancel()
    await asyncio.sleep(0.02)
    second = asyncio.create_task(ledger.run(call(billed=True), make))
    await asyncio.sleep(0.2)
    make.let_go()
    assert (await second).result == {"number": 1}
    assert (make.calls, make.cancelled) == (1, 0)


async def test_rule_3_asking_again_waits_until_the_cancelled_call_is_wound_up(
    ledger: Ledger, maker: Any, call: Any
) -> None:
    ended: list[str] = []

    async def slow_to_end() -> Produced:
        try:
            return await old()
        except asyncio.CancelledError:
            await asyncio.sleep(0.03)
            ended.append("old")
            raise

    old, new = maker(), maker(ready=True)
    owner = asyncio.create_task(ledger.run(call(), slow_to_end))
    await asyncio.to_thread(old.started.wait, 3)
    owner.cancel()
    await asyncio.sleep(0.01)
    finished = await ledger.run(call(), new)
    assert ended == ["old"]
    assert finished.result == {"number": 1}
    assert (await ledger.records("run"))[0].status == "finished", "not overwritten by the end of the old one"


async def test_rule_3_who_leaves_just_before_the_call_is_sent_is_not_billed(
    ledger: Ledger, maker: Any, call: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ledger.journal.claim

    async def claim_and_leave(*args: Any) -> Any:
        claim = await real(*args)
        loop.call_soon_threadsafe(owner.cancel)
        await until(lambda: not next(iter(ledger._flights.values())).asks)
        return claim

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(ledger.journal, "claim", claim_and_leave)
    make, budget = maker(ready=True), Budget(Limits())
    owner = asyncio.create_task(ledger.run(call(billed=True), make, budget=budget))
    with pytest.raises(asyncio.CancelledError):
        await owner
    await until(lambda: not ledger.in_flight())
    assert make.calls == 0
    assert spent(budget) == Spend()
    assert (await ledger.records("run"))[0].status == "failed"


async def test_rule_3_a_result_that_comes_in_spite_of_the_cancelling_is_kept(
    ledger: Ledger, maker: Any, call: Any, until: Any
) -> None:
    async def shielded() -> Produced:
        started.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return Produced({"made": True})
        return Produced({})

    started = threading.Event()
    owner = asyncio.create_task(ledger.run(call(), shielded))
    await asyncio.to_thread(started.wait, 3)
    owner.cancel()
    await until(lambda: not ledger.in_flight())
    assert (await ledger.run(call(), maker())).result == {"made": True}


async def test_rule_3_who_asks_while_an_unsent_call_is_given_up_gets_its_own(
    ledger: Ledger, maker: Any, call: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_claim, real_end = ledger.journal.claim, ledger.journal.end
    ending = threading.Event()

    async def claim_and_leave(*args: Any) -> Any:
        monkeypatch.setattr(ledger.journal, "claim", real_claim)
        claim = await real_claim(*args)
        loop.call_soon_threadsafe(owner.cancel)
        await until(lambda: not next(iter(ledger._flights.values())).asks)
        return claim

    async def slow_end(*args: Any) -> Any:
        ending.set()
        await asyncio.sleep(0.03)
        return await real_end(*args)

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(ledger.journal, "claim", claim_and_leave)
    monkeypatch.setattr(ledger.journal, "end", slow_end)
    owner = asyncio.create_task(ledger.run(call(), maker()))
    await until(ending.is_set)
    assert (await ledger.run(call(), maker(ready=True))).result == {"number": 1}
    await asyncio.gather(owner, return_exceptions=True)


async def test_rule_3_a_call_that_ignores_being_cancelled_is_left_behind(
    ledger: Ledger, maker: Any, call: Any, until: Any, monkeypatch: pytest.MonkeyPatch, unretrieved: list[Any]
) -> None:
    monkeypatch.setattr("langgraph_interleave.ledger.flight._STOP_S", 0.03)
    make = maker(stubborn=True, error=RuntimeError("nobody hears this"))
    owner = asyncio.create_task(ledger.run(call(), make))
    await asyncio.to_thread(make.started.wait, 3)
    owner.cancel()
    await until(lambda: not ledger.in_flight())
    assert make.cancelled == 1
    make.let_go()
    await until(lambda: not ledger._left_behind)
    gc.collect()
    await asyncio.sleep(0.01)
    assert unretrieved == []


async def test_rule_3_a_stuck_thread_does_not_hold_up_the_end(ledger: Ledger, call: Any, until: Any) -> None:
    release, started = threading.Event(), threading.Event()

    def stuck() -> None:
        started.set()
        release.wait(20)

    async def make() -> Produced:
        await asyncio.to_thread(stuck)
        return Produced({})

    try:
        scope = ledger.scope("run", Budget(Limits()))
        assert scope.start(call(), make, certain=True)
        await asyncio.to_thread(started.wait, 3)
        await asyncio.wait_for(scope.aclose(cancelled=True), 2)
        assert ledger.in_flight() == []
    finally:
        release.set()


# -- 4: exceptions ---------------------------------------------------------------------------------


async def test_rule_4_every_waiter_gets_the_exception(ledger: Ledger, maker: Any, call: Any) -> None:
    make = maker(error=RateLimited("slow down"))
    waiters = [asyncio.create_task(ledger.run(call(), make)) for _ in range(3)]
    await asyncio.to_thread(make.started.wait, 3)
    make.let_go()
    results = await asyncio.gather(*waiters, return_exceptions=True)
    assert [type(result) for result in results] == [RateLimited] * 3
    assert make.calls == 1


async def test_rule_4_an_exception_is_never_kept(ledger: Ledger, maker: Any, call: Any) -> None:
    with pytest.raises(RateLimited):
        await ledger.run(call(), maker(ready=True, error=RateLimited("slow down")))
    finished = await ledger.run(call(), maker(ready=True))
    assert finished.result == {"number": 1}
    assert not finished.replayed
    assert finished.took_over is None, "it was provably not produced"


async def test_rule_4_an_exception_nobody_waits_for_is_retrieved(
    ledger: Ledger, maker: Any, call: Any, until: Any, unretrieved: list[Any]
) -> None:
    scope = ledger.scope("run", Budget(Limits()))
    scope.start(call(), maker(ready=True, error=RuntimeError("nobody waits")), certain=False)
    await until(lambda: not ledger.in_flight())
    gc.collect()
    await asyncio.sleep(0.01)
    assert unretrieved == []


async def test_rule_4_a_foreign_exception_comes_as_it_is_and_is_recorded_without_its_secrets(
    ledger: Ledger, maker: Any, call: Any
) -> None:
    error = RuntimeError(
        "GET https://api.test/?api_key=abcdef123456 failed, sent Authorization: Bearer sk-abcdefgh1234"
    )
    with pytest.raises(RuntimeError) as caught:
        await ledger.run(call(), maker(ready=True, error=error))
    assert caught.value is error
    problem = (await ledger.records("run"))[0].problem
    assert problem is not None
    assert problem.error == "RuntimeError"
    assert "abcdef123456" not in problem.message
    assert "sk-abcdefgh1234" not in problem.message
    assert "https://api.test/" in problem.message


class Peculiar(BaseException):
    """Neither an Exception nor one of those that end a program."""


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), Peculiar()])
async def test_rule_4_what_would_stop_the_loop_becomes_an_error_of_ours(
    ledger: Ledger, maker: Any, call: Any, error: BaseException
) -> None:
    with pytest.raises(InternalError, match=type(error).__name__) as caught:
        await ledger.run(call(), maker(ready=True, error=error))
    assert caught.value.__cause__ is error
    assert (await ledger.run(call(), maker(ready=True))).result == {"number": 1}


async def test_rule_4_a_call_that_cancels_itself_does_not_cancel_who_waits(
    ledger: Ledger, maker: Any, call: Any
) -> None:
    with pytest.raises(BadResponse, match="backend cancelled the call itself"):
        await ledger.run(call(), maker(ready=True, error=asyncio.CancelledError()))


# -- 5: an empty context ---------------------------------------------------------------------------


class State(TypedDict, total=False):
    x: int


async def test_rule_5_the_call_sees_nothing_of_the_node_that_asked(ledger: Ledger, call: Any) -> None:
    seen: list[Any] = []

    async def make() -> Produced:
        seen.append(marker.get())
        try:
            get_stream_writer()
        except RuntimeError:
            seen.append("no runnable context")
        return Produced({})

    async def node(state: State) -> State:
        await ledger.run(call(), make)
        return {}

    marker.set("the caller's")
    builder: Any = StateGraph(State)
    builder.add_node("node", Node(node))
    builder.add_edge(START, "node")
    await builder.compile().ainvoke({"x": 1})
    assert seen == [None, "no runnable context"]


async def test_rule_5_what_a_call_sets_stays_in_it(ledger: Ledger, call: Any) -> None:
    seen: list[str | None] = []

    async def make() -> Produced:
        seen.append(marker.get())
        marker.set("the call's")
        return Produced({})

    def done(_: Call, __: Any) -> None:
        seen.append(marker.get())

    await ledger.run(call("a"), make, on_done=done)
    await ledger.run(call("b"), make, on_done=done)
    assert seen == [None] * 4


# -- 6: tracing belongs to who consumes the result -------------------------------------------------


async def test_rule_6_no_trace_is_opened_by_the_call_and_the_record_has_its_true_times(
    ledger: Ledger, call: Any
) -> None:
    class Trace(BaseCallbackHandler):
        def __init__(self) -> None:
            self.names: list[str] = []

        def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
            self.names.append(kwargs["name"])

    async def model(x: int) -> int:
        await asyncio.sleep(0.03)
        return x

    async def make() -> Produced:
        return Produced({"x": await RunnableLambda(model, name="model").ainvoke(1)})

    async def node(state: State) -> State:
        scope.start(call(), make, certain=True)
        await asyncio.sleep(0.05)
        finished.append(await scope.run(call(), make))
        return {}

    finished: list[Finished] = []
    scope = ledger.scope("run", Budget(Limits()))
    builder: Any = StateGraph(State)
    builder.add_node("node", Node(node))
    builder.add_edge(START, "node")
    trace = Trace()
    began = time.time()
    await builder.compile().ainvoke({"x": 1}, {"callbacks": [trace]})
    assert trace.names == ["LangGraph", "node"]
    record = finished[0].record
    assert record.t_end is not None
    assert began <= record.t_start <= record.t_end <= time.time()
    assert record.seconds is not None
    assert record.seconds >= 0.03


# -- 8: the budget (7 is in test_ledger_scope) -----------------------------------------------------


async def test_rule_8_what_does_not_fit_is_not_started(ledger: Ledger, maker: Any, call: Any) -> None:
    budget = Budget(Limits(max_images=1))
    await ledger.run(call("a", images=1), maker(ready=True), budget=budget)
    make = maker(ready=True)
    with pytest.raises(LimitReached, match="max_images"):
        await ledger.run(call("b", images=1), make, budget=budget)
    assert make.calls == 0
    assert len(await ledger.records("run")) == 1, "nothing was recorded either"


async def test_rule_8_room_is_reserved_before_the_start_not_after_the_end(
    ledger: Ledger, maker: Any, call: Any
) -> None:
    budget = Budget(Limits(max_images=2))
    makes = [maker() for _ in range(5)]
    tasks = [
        asyncio.create_task(ledger.run(call(str(n), images=1), make, budget=budget)) for n, make in enumerate(makes)
    ]
    await asyncio.sleep(0.05)
    assert sum(make.calls for make in makes) == 2
    for make in makes:
        make.let_go()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert sum(isinstance(result, LimitReached) for result in results) == 3


async def test_rule_8_a_replay_needs_no_room(ledger: Ledger, maker: Any, call: Any) -> None:
    first = Budget(Limits(max_calls=1))
    await ledger.run(call("a"), maker(ready=True), budget=first)
    await ledger.run(call("a"), maker(ready=True), budget=first)
    assert spent(first) == Spend(calls={"backend": 1}, cost_usd=0.0)
    second = Budget(Limits(max_calls=1))
    for _ in range(2):
        assert (await ledger.run(call("a"), maker(), budget=second)).replayed
    assert spent(second) == Spend(calls={"backend": 1}, cost_usd=0.0, replayed=1)


async def test_rule_8_a_call_that_is_certain_is_never_given_up_for_another(
    ledger: Ledger, maker: Any, call: Any
) -> None:
    make = maker()
    ask = ledger.ask(call(), make)
    assert ask.flight is not None
    assert not ask.flight.preempt()
    make.let_go()
    assert (await ledger.wait(ask)).result == {"number": 1}


@pytest.mark.parametrize(
    ("error", "billed", "calls", "images", "ambiguous", "status"),
    [
        (RateLimited("wait"), True, 0, 0, 0, "failed"),
        (Unavailable("refused"), True, 0, 0, 0, "failed"),
        (Unavailable("overloaded", ambiguous=True), True, 1, 1, 1, "ambiguous"),
        (ContentBlocked("no"), True, 1, 0, 0, "failed"),
        (NoImage("words only"), True, 1, 0, 0, "failed"),
        (PlanError("unreadable"), True, 1, 0, 0, "failed"),
        (BadResponse("html"), True, 1, 1, 1, "ambiguous"),
        (BadResponse("html"), False, 1, 0, 0, "failed"),
        (RuntimeError("?"), True, 1, 1, 1, "ambiguous"),
        (RuntimeError("?"), False, 1, 0, 0, "failed"),
        (ConfigError("no key"), True, 0, 0, 0, "failed"),
        (Cancelled("by itself"), True, 0, 0, 0, "failed"),
    ],
)
async def test_rule_8_a_failed_call_counts_for_what_it_may_have_used(
    ledger: Ledger,
    maker: Any,
    call: Any,
    error: Exception,
    billed: bool,
    calls: int,
    images: int,
    ambiguous: int,
    status: str,
) -> None:
    budget = Budget(Limits())
    with pytest.raises(type(error)):
        await ledger.run(call(billed=billed, images=1), maker(ready=True, error=error), budget=budget)
    spend = budget.spend()
    assert (sum(spend.calls.values()), spend.images, spend.ambiguous) == (calls, images, ambiguous)
    assert (await ledger.records("run"))[0].status == status


async def test_rule_8_the_limit_of_one_run_is_none_of_anothers(
    ledger: Ledger, maker: Any, call: Any, until: Any
) -> None:
    class Slow(ArtifactStore):
        async def aread_call(self, scope: str, key: str) -> Any:
            await until(lambda: [len(flight.asks) for flight in ledger._flights.values()] == [2])
            return await super().aread_call(scope, key)

    slow, real = Slow.memory(), ledger.journal.artifacts
    ledger.journal.artifacts = slow
    empty, full = Budget(Limits(max_calls=1)), Budget(Limits())
    empty.reserve()
    make = maker(ready=True)
    poor = asyncio.create_task(ledger.run(call(scope="shared"), make, budget=empty))
    await until(lambda: ledger.in_flight())
    rich = asyncio.create_task(ledger.run(call(scope="shared"), make, budget=full))
    await asyncio.sleep(0)
    ledger.journal.artifacts = real
    with pytest.raises(LimitReached):
        await poor
    assert (await rich).result == {"number": 1}


async def test_rule_8_who_shares_the_call_of_another_run_counts_it_as_replayed(
    ledger: Ledger, maker: Any, call: Any
) -> None:
    mine, others = Budget(Limits()), Budget(Limits())
    make = maker(usage=Usage(images=1))
    first = asyncio.create_task(ledger.run(call(scope="shared", images=1), make, budget=mine))
    await asyncio.to_thread(make.started.wait, 3)
    second = asyncio.create_task(ledger.run(call(scope="shared", images=1), make, budget=others))
    await asyncio.sleep(0.01)
    make.let_go()
    await asyncio.gather(first, second)
    assert spent(mine) == Spend(calls={"backend": 1}, cost_usd=0.0, images=1)
    assert spent(others) == Spend(calls={"backend": 1}, cost_usd=0.0, images=1, replayed=1)


# -- deadlines -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("billed", "status"), [(True, "ambiguous"), (False, "failed")])
async def test_a_call_that_takes_too_long_is_given_up(
    ledger: Ledger, maker: Any, call: Any, billed: bool, status: str
) -> None:
    make = maker()
    began = time.monotonic()
    with pytest.raises(CallTimeout, match=r"critic gave no answer within 0\.05 s.*limits\.call_timeout_s") as caught:
        await ledger.run(call(role="critic", billed=billed, deadline_s=0.05), make)
    assert time.monotonic() - began < 1
    assert (caught.value.role, caught.value.ambiguous) == ("critic", billed)
    assert make.cancelled == 1
    assert (await ledger.records("run"))[0].status == status


async def test_the_limits_give_the_deadline_where_the_call_has_none(ledger: Ledger, maker: Any, call: Any) -> None:
    with pytest.raises(CallTimeout, match=r"within 0\.05 s"):
        await ledger.run(call(), maker(), budget=Budget(Limits(call_timeout_s=0.05)))


async def test_the_end_of_the_runs_time_is_a_limit_not_a_timeout(ledger: Ledger, maker: Any, call: Any) -> None:
    budget = Budget(Limits(max_seconds=0.05))
    with pytest.raises(LimitReached, match="max_seconds"):
        await ledger.run(call(billed=True), maker(), budget=budget)
    assert budget.spend().ambiguous == 1, "it was sent"
    assert (await ledger.records("run"))[0].status == "ambiguous"


async def test_a_deadline_that_passed_does_not_spoil_the_next_ask(ledger: Ledger, maker: Any, call: Any) -> None:
    with pytest.raises(CallTimeout):
        await ledger.run(call(billed=True, deadline_s=0.03), maker())
    finished = await ledger.run(call(billed=True), maker(ready=True))
    assert finished.result == {"number": 1}
    assert finished.took_over is not None
    assert finished.took_over.status == "ambiguous"
    assert finished.record.ambiguous_before == 1


# -- on_done ---------------------------------------------------------------------------------------


class Told:
    def __init__(self) -> None:
        self.outcomes: list[Any] = []
        self.threads: list[str] = []

    def __call__(self, call: Call, outcome: Finished | BaseException) -> None:
        self.outcomes.append(outcome)
        self.threads.append(threading.current_thread().name)


async def test_on_done_is_told_once_per_ask_before_anybody_wakes(ledger: Ledger, maker: Any, call: Any) -> None:
    order: list[str] = []
    make = maker()

    async def ask(name: str) -> None:
        await ledger.run(call(), make, on_done=lambda *_: order.append(f"told {name}"))
        order.append("woken")

    tasks = [asyncio.create_task(ask(name)) for name in "ab"]
    await asyncio.to_thread(make.started.wait, 3)
    await asyncio.sleep(0.01)
    make.let_go()
    await asyncio.gather(*tasks)
    assert order == ["told a", "told b", "woken", "woken"]


async def test_on_done_is_told_on_the_background_loop(ledger: Ledger, maker: Any, call: Any) -> None:
    told = Told()
    await ledger.run(call(), maker(ready=True), on_done=told)
    await ledger.run(call(), maker(ready=True), on_done=told)
    assert told.threads == ["interleave-loop-0"] * 2
    assert [outcome.replayed for outcome in told.outcomes] == [False, True]


async def test_on_done_is_told_of_errors_and_limits(ledger: Ledger, maker: Any, call: Any) -> None:
    told = Told()
    with pytest.raises(NoImage):
        await ledger.run(call(), maker(ready=True, error=NoImage("no")), on_done=told)
    full = Budget(Limits(max_calls=1))
    full.reserve()
    with pytest.raises(LimitReached):
        await ledger.run(call(), maker(ready=True), budget=full, on_done=told)
    assert [type(outcome) for outcome in told.outcomes] == [NoImage, LimitReached]


async def test_on_done_of_who_left_is_told_that(ledger: Ledger, maker: Any, call: Any, until: Any) -> None:
    told, other = Told(), Told()
    make = maker()
    leaver = asyncio.create_task(ledger.run(call(), make, on_done=told))
    stayer = asyncio.create_task(ledger.run(call(), make, on_done=other))
    await asyncio.to_thread(make.started.wait, 3)
    leaver.cancel()
    await until(lambda: told.outcomes)
    make.let_go()
    await stayer
    assert [type(outcome) for outcome in told.outcomes] == [asyncio.CancelledError]
    assert told.threads == ["interleave-loop-0"]
    assert [type(outcome) for outcome in other.outcomes] == [Finished]


async def test_on_done_may_ask_for_the_next_call(ledger: Ledger, maker: Any, call: Any, until: Any) -> None:
    scope = ledger.scope("run", Budget(Limits()))
    following = maker(ready=True)

    def start_next(_: Call, __: Any) -> None:
        assert scope.start(call("next"), following, certain=True)

    await scope.run(call(), maker(ready=True), on_done=start_next)
    await until(lambda: following.finished == 1)
    await scope.aclose()


async def test_a_broken_on_done_harms_nobody(
    ledger: Ledger, maker: Any, call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: Call, __: Any) -> None:
        raise ValueError("broken")

    finished = await ledger.run(call(), maker(ready=True), on_done=broken)
    assert finished.result == {"number": 1}
    assert "on_done of a backend call failed" in caplog.text


def test_futures_of_asks_are_never_cancelled(ledger: Ledger, maker: Any, call: Any) -> None:
    ask = ledger.ask(call(), maker(ready=True))
    assert not ask.future.cancel()
    assert isinstance(ask.future.result(3), Finished)
    ledger.leave(ask)
    assert isinstance(ask.future, concurrent.futures.Future)
