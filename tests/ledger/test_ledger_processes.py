"""Rule 9: a call recorded as started and not as finished, by this process or another."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave._sync import run_sync
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.budget import Budget
from langgraph_interleave.errors import CallTimeout, NoImage
from langgraph_interleave.ledger import CallRecord, Ledger, Produced, owner
from langgraph_interleave.limits import Limits
from langgraph_interleave.types.usage import Spend, Usage

ELSEWHERE = "000000000000-1-1-abcd"


@pytest.fixture
def store() -> ArtifactStore:
    return ArtifactStore.memory()


def started(call: Any, *, by: str = ELSEWHERE, lease_s: float = 60.0, **fields: Any) -> dict[str, Any]:
    now = time.time()
    record = CallRecord(
        scope=call.scope,
        key=call.key,
        role=call.role,
        billed=call.billed,
        images=call.images,
        status="started",
        owner=by,
        t_start=now,
        lease_until=now + lease_s,
        **fields,
    )
    return record.model_dump(mode="json", exclude_none=True)


async def test_rule_9_while_the_lease_lives_the_other_process_is_waited_for(
    store: ArtifactStore, maker: Any, call: Any
) -> None:
    record = started(call())
    store.write_call("run", call().key, record)
    make = maker(ready=True)
    budget = Budget(Limits())
    waiter = asyncio.create_task(Ledger(store).run(call(), make, budget=budget))
    await asyncio.sleep(0.08)
    assert not waiter.done()
    store.write_call("run", call().key, record | {"status": "finished", "result": {"by": "the other"}})
    finished = await waiter
    assert finished.replayed
    assert finished.result == {"by": "the other"}
    assert make.calls == 0
    assert budget.spend().replayed == 1


async def test_rule_9_when_the_other_fails_the_call_is_made_here(store: ArtifactStore, maker: Any, call: Any) -> None:
    record = started(call())
    store.write_call("run", call().key, record)
    waiter = asyncio.create_task(Ledger(store).run(call(), maker(ready=True)))
    await asyncio.sleep(0.03)
    store.write_call("run", call().key, record | {"status": "failed"})
    finished = await waiter
    assert not finished.replayed
    assert finished.took_over is None


@pytest.mark.parametrize(
    ("billed", "spend"),
    [
        (True, Spend(calls={"backend": 2}, images=2, ambiguous=1)),
        (False, Spend(calls={"backend": 1}, cost_usd=0.0, images=1, ambiguous=1, ambiguous_cost_usd=0.0)),
    ],
)
async def test_rule_9_an_expired_lease_is_taken_over_and_reported(
    store: ArtifactStore, maker: Any, call: Any, billed: bool, spend: Spend
) -> None:
    asked = call(billed=billed, images=1)
    store.write_call("run", asked.key, started(asked, lease_s=-1))
    budget = Budget(Limits())
    finished = await Ledger(store).run(asked, maker(ready=True), budget=budget)
    assert not finished.replayed
    assert finished.took_over is not None
    assert finished.took_over.owner == ELSEWHERE
    assert finished.record.ambiguous_before == 1
    assert budget.spend().model_copy(update={"seconds": 0.0}) == spend


async def test_rule_9_a_lease_that_ends_while_it_is_waited_for_is_taken_over(
    store: ArtifactStore, maker: Any, call: Any
) -> None:
    store.write_call("run", call().key, started(call(), lease_s=0.06))
    finished = await Ledger(store).run(call(), maker(ready=True))
    assert finished.took_over is not None


async def test_rule_9_a_lease_from_a_clock_that_runs_ahead_is_not_waited_for_for_ever(
    store: ArtifactStore, maker: Any, call: Any
) -> None:
    store.write_call("run", call().key, started(call(), lease_s=1e9))
    began = time.monotonic()
    finished = await Ledger(store, lease_s=0.1).run(call(), maker(ready=True))
    assert finished.took_over is not None
    assert 0.09 < time.monotonic() - began < 1


async def test_rule_9_a_sign_of_life_prolongs_the_wait(store: ArtifactStore, maker: Any, call: Any) -> None:
    record = started(call(), lease_s=1e9)
    store.write_call("run", call().key, record)
    waiter = asyncio.create_task(Ledger(store, lease_s=0.1).run(call(), maker(ready=True)))
    for beat in range(5):
        await asyncio.sleep(0.04)
        store.write_call("run", call().key, record | {"lease_until": 1e9 + time.time() + beat})
    assert not waiter.done()
    store.write_call("run", call().key, record | {"status": "finished", "result": {}})
    assert (await waiter).replayed


async def test_rule_9_waiting_for_another_process_has_the_deadline_of_the_call(
    store: ArtifactStore, maker: Any, call: Any
) -> None:
    store.write_call("run", call().key, started(call()))
    with pytest.raises(CallTimeout) as caught:
        await Ledger(store).run(call(billed=True, deadline_s=0.05), maker())
    assert not caught.value.ambiguous, "nothing was sent from here"


async def test_rule_9_who_stops_waiting_for_another_process_leaves_its_record_alone(
    store: ArtifactStore, maker: Any, call: Any, until: Any
) -> None:
    record = started(call())
    store.write_call("run", call().key, record)
    ledger = Ledger(store)
    waiter = asyncio.create_task(ledger.run(call(), maker()))
    await asyncio.sleep(0.03)
    waiter.cancel()
    await until(lambda: not ledger.in_flight())
    assert store.read_call("run", call().key) == record


async def test_rule_9_a_call_of_ones_own_that_is_not_under_way_is_ambiguous(
    store: ArtifactStore, maker: Any, call: Any
) -> None:
    ledger = Ledger(store)
    store.write_call("run", call().key, started(call(), by=ledger.journal.owner))
    finished = await ledger.run(call(), maker(ready=True))
    assert finished.took_over is not None


async def test_rule_9_ambiguous_calls_add_up(store: ArtifactStore, maker: Any, call: Any) -> None:
    store.write_call("run", call().key, started(call(), lease_s=-1, ambiguous_before=2))
    with pytest.raises(NoImage):
        await Ledger(store).run(call(), maker(ready=True, error=NoImage("no")))
    finished = await Ledger(store).run(call(), maker(ready=True))
    assert finished.record.ambiguous_before == 3
    assert finished.took_over is None, "the one just before it failed, and that is known"


async def test_rule_9_the_lease_is_renewed_while_the_call_lasts(store: ArtifactStore, maker: Any, call: Any) -> None:
    one, two = Ledger(store, lease_s=0.09), Ledger(store, lease_s=0.09)
    make, others = maker(), maker(ready=True)
    owner_ = asyncio.create_task(one.run(call(), make))
    await asyncio.to_thread(make.started.wait, 3)
    other = asyncio.create_task(two.run(call(), others))
    await asyncio.sleep(0.25)
    assert not other.done()
    make.let_go()
    assert (await owner_).result == (await other).result == {"number": 1}
    assert others.calls == 0


async def test_rule_9_a_lease_that_cannot_be_renewed_does_not_end_the_call(
    store: ArtifactStore, maker: Any, call: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger(store, lease_s=0.03)
    make = maker()
    waiter = asyncio.create_task(ledger.run(call(), make))
    await asyncio.to_thread(make.started.wait, 3)

    async def away(*_: Any) -> None:
        raise OSError("the network is down")

    monkeypatch.setattr(store, "aswap_call", away)
    await asyncio.sleep(0.05)
    make.let_go()
    assert (await waiter).result == {"number": 1}
    assert "could not be renewed" in caplog.text


async def test_rule_9_who_was_taken_over_still_records_a_result_but_no_failure(
    store: ArtifactStore, maker: Any, call: Any
) -> None:
    for error, status in ((None, "finished"), (NoImage("no"), "started")):
        make = maker(error=error)
        waiter = asyncio.create_task(Ledger(store, lease_s=0.03).run(call(), make))
        await asyncio.to_thread(make.started.wait, 3)
        store.write_call("run", call().key, started(call()))
        await asyncio.sleep(0.02)
        make.let_go()
        await asyncio.gather(waiter, return_exceptions=True)
        record = store.read_call("run", call().key)
        assert record is not None
        assert record["status"] == status
        store.write_call("run", call().key, record | {"status": "failed"})


async def test_rule_9_of_two_ledgers_that_ask_at_once_one_calls(tmp_path: Path, maker: Any, call: Any) -> None:
    make = maker(ready=True)
    ledgers = [Ledger(ArtifactStore.folder(tmp_path)) for _ in range(6)]
    results = await asyncio.gather(*(ledger.run(call(), make) for ledger in ledgers))
    assert make.calls == 1
    assert {str(result.result) for result in results} == {"{'number': 1}"}


async def test_rule_9_a_claim_lost_to_a_record_that_was_damaged_meanwhile_is_tried_again(
    tmp_path: Path, maker: Any, call: Any
) -> None:
    class Damaged(ArtifactStore):
        reads = 0

        async def aread_call(self, scope: str, key: str) -> dict[str, Any] | None:
            found = await super().aread_call(scope, key)
            self.reads += 1
            if self.reads == 1:
                self._files.write(f"calls/{scope}/{key}.json", b"damaged")
            return found

    finished = await Ledger(Damaged.memory()).run(call(), maker(ready=True))
    assert finished.took_over is not None


# -- other processes -------------------------------------------------------------------------------

PROGRAM = """
import asyncio, sys, time
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.ledger import Call, Ledger, Produced, call_key

async def make():
    print("started", flush=True)
    await asyncio.sleep(float(sys.argv[2]))
    return Produced({"by": "the child"})

call = Call("run", call_key(scope="run", role="backend", fingerprint="f", name="k"), "backend", billed=True)
print(asyncio.run(Ledger(ArtifactStore.folder(sys.argv[1])).run(call, make)).result, flush=True)
"""


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    seconds = "0.3"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), seconds], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    yield process
    process.kill()
    process.communicate()


async def test_rule_9_another_living_process_is_waited_for(
    tmp_path: Path, maker: Any, call: Any, child: subprocess.Popen[str]
) -> None:
    make = maker(ready=True)
    finished = await Ledger(ArtifactStore.folder(tmp_path)).run(call(billed=True), make)
    assert finished.replayed
    assert finished.result == {"by": "the child"}
    assert make.calls == 0


async def test_rule_9_a_killed_process_is_not_waited_for(
    tmp_path: Path, maker: Any, call: Any, until: Any, child: subprocess.Popen[str]
) -> None:
    child.send_signal(signal.SIGKILL)
    await until(lambda: owner._started(child.pid) in ("gone", None))
    began = time.monotonic()
    finished = await Ledger(ArtifactStore.folder(tmp_path)).run(call(billed=True), maker(ready=True))
    assert time.monotonic() - began < 1, "though its lease lives for another minute"
    assert finished.took_over is not None
    assert finished.took_over.status == "started"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_uses_the_ledger_of_its_parent_as_its_own(maker: Any, call: Any, tmp_path: Path) -> None:
    ledger = Ledger(ArtifactStore.folder(tmp_path), lease_s=0.2)
    make = maker()
    ask = ledger.ask(call("parents"), make)
    assert make.started.wait(3)
    name = ledger.journal.owner
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        try:
            mine = run_sync(lambda: ledger.run(call("childs"), maker(ready=True)))
            ok = mine.result == {"number": 1} and ledger.journal.owner != name and not ledger.in_flight()
        except BaseException:  # noqa: BLE001 - the child must end here in any case
            ok = False
        os._exit(0 if ok else 1)
    deadline = time.monotonic() + 20
    while (status := os.waitpid(pid, os.WNOHANG)) == (0, 0):
        assert time.monotonic() < deadline, "the child hangs"
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(status[1]) == 0
    make.let_go()
    assert ask.future.result(3).result == {"number": 1}


def piped(program: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


STOPPED = """
import asyncio, sys
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.ledger import Call, Ledger, Produced, call_key
from langgraph_interleave.types.usage import Usage

async def make():
    print("started", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    return Produced({"by": "the child"}, Usage(cost_usd=0.5))

call = Call("run", call_key(scope="run", role="backend", fingerprint="f", name="k"), "backend", billed=True)
ledger = Ledger(ArtifactStore.folder(sys.argv[1]), lease_s=0.2)
print(asyncio.run(ledger.run(call, make)).result["by"], flush=True)
"""


@pytest.mark.parametrize("first", ["the child", "who took over"])
async def test_an_owner_that_was_stopped_beyond_its_lease_and_goes_on_is_recorded_and_overwrites_nothing(
    tmp_path: Path, maker: Any, call: Any, first: str
) -> None:
    child = piped(STOPPED, str(tmp_path))
    assert child.stdout is not None and child.stdin is not None
    try:
        assert await asyncio.to_thread(child.stdout.readline) == "started\n"
        child.send_signal(signal.SIGSTOP)
        make = maker(usage=Usage(cost_usd=0.25))
        ledger, budget = Ledger(ArtifactStore.folder(tmp_path), lease_s=0.2), Budget(Limits())
        taken = asyncio.create_task(ledger.run(call(billed=True), make, budget=budget))
        assert await asyncio.to_thread(make.started.wait, 5), "it is alive, but gives no sign of life"
        if first == "who took over":
            make.let_go()
            await taken
        child.send_signal(signal.SIGCONT)
        await asyncio.to_thread(child.communicate, "go on\n", 10)
        make.let_go()
        finished = await taken
    finally:
        child.kill()
        child.communicate()
    expected = {"by": "the child"} if first == "the child" else {"number": 1}
    assert finished.result == expected, "of two results the first counts, for both"
    (record,) = await ledger.records("run")
    assert (record.result, record.ambiguous_before) == (expected, 0), "nothing is unknown any more"
    later = Budget(Limits())
    await ledger.scope("run", later).resume()
    assert (later.spend().calls, later.spend().cost_usd) == ({"backend": 2}, 0.75), "and both were paid for"


RACING = """
import asyncio, sys
from pathlib import Path
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.ledger import Call, Ledger, Produced, call_key

async def main(folder, name):
    ledger = Ledger(ArtifactStore.folder(folder))
    async def one(number):
        async def make():
            with (Path(folder) / "made").open("a") as made:
                made.write(f"{number}\\n")
            await asyncio.sleep(0.002)
            return Produced({"by": name, "number": number})
        key = call_key(scope="run", role="backend", fingerprint="f", number=number)
        call = Call("run", key, "backend", billed=True)
        return (await ledger.run(call, make)).result["by"]
    sys.stdin.readline()
    order = range(50) if name != "b" else range(49, -1, -1)
    by = dict(zip(order, await asyncio.gather(*(one(number) for number in order))))
    print(" ".join(by[number] for number in range(50)))

asyncio.run(main(*sys.argv[1:]))
"""


def test_three_processes_that_race_for_fifty_calls_make_each_once_and_agree(tmp_path: Path) -> None:
    children = [piped(RACING, str(tmp_path), name) for name in "abc"]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    said = [child.communicate(timeout=60)[0] for child in children]
    assert sorted(map(int, (tmp_path / "made").read_text().split())) == list(range(50))
    assert len(set(said)) == 1 and len(said[0].split()) == 50, said


# -- owners ----------------------------------------------------------------------------------------


def test_an_owner_names_no_machine_and_no_two_are_alike() -> None:
    name = owner.new_owner()
    assert os.uname().nodename not in name
    assert name.split("-")[1] == str(os.getpid())
    assert name != owner.new_owner()
    assert not owner.is_gone(name)


def test_an_owner_elsewhere_cannot_be_known_to_be_gone() -> None:
    assert not owner.is_gone(ELSEWHERE)
    assert not owner.is_gone("")
    assert not owner.is_gone(f"{owner._machine()}-x-1-a")


def test_an_owner_whose_number_went_to_another_process_is_gone() -> None:
    machine, pid, _, rest = owner.new_owner().split("-")
    assert owner.is_gone(f"{machine}-{pid}-1-{rest}")
    assert not owner.is_gone(f"{machine}-{pid}-0-{rest}"), "when its start is not known, its number must do"


def test_an_owner_with_a_number_nobody_has_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert owner.is_gone(f"{owner._machine()}-{process.pid}-1-a")
    assert not owner.is_gone(f"{owner._machine()}-{10**30}-1-a")


def test_an_owner_of_another_user_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", denied)
    assert not owner.is_gone(f"{owner._machine()}-1-1-a")


def test_where_the_kernel_tells_nothing_names_are_made_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(self: Path, *_: Any, **__: Any) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", nothing)
    monkeypatch.setattr(Path, "readlink", nothing)
    name = owner.new_owner()
    assert name.split("-")[2] == "0"
    assert not owner.is_gone(name)


async def test_a_result_comes_back_from_another_ledger_on_the_same_store(
    store: ArtifactStore, maker: Any, call: Any
) -> None:
    async def make() -> Produced:
        return Produced({"number": 1})

    await Ledger(store).run(call(), make)
    assert (await Ledger(store).run(call(), maker())).replayed
