"""Nothing that waits for something outside waits for ever: threads, stores, locks, roles that never answer."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave import background, files
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.callable import CallableBackend
from langgraph_interleave.background import DaemonThreads, in_thread
from langgraph_interleave.cli import preflight
from langgraph_interleave.critics.chat import ChatCritic
from langgraph_interleave.errors import InterleaveError, Unavailable
from langgraph_interleave.files import FolderFiles, MemoryFiles
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits
from langgraph_interleave.planners.chat import ChatPlanner
from langgraph_interleave.testing import (
    FaultyBackend,
    FaultyChatModel,
    ScriptedBackend,
    ScriptedCritic,
    ScriptedPlanner,
    noise_card,
    simple_plan,
)
from langgraph_interleave.types import ImageBytes

ASK: Any = {"request": "things"}
PLAN = '<answer>{"steps": [{"op": "generate", "instruction": "A pot.", "prompt": "pot", "caption": "A pot."}]}</answer>'


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def landed() -> Any:
    async def wait(ledger: Ledger) -> None:
        until = time.monotonic() + 5
        while ledger.in_flight():
            assert time.monotonic() < until, f"still under way: {ledger.in_flight()}"
            await asyncio.sleep(0.01)

    return wait


def outcomes(result: dict[str, Any]) -> list[str]:
    return [step["outcome"] for step in result["document"]["steps"]]


# --- threads --------------------------------------------------------------------------------------


async def test_threads_that_are_stuck_and_left_are_stood_in_for(release: threading.Event) -> None:
    pool = DaemonThreads(3, "test-left")
    loop = asyncio.get_running_loop()
    for _ in range(4):  # more than the pool has
        stuck = [loop.run_in_executor(pool, release.wait) for _ in range(3)]
        await asyncio.sleep(0.02)
        for one in stuck:
            one.cancel()
    assert await asyncio.wait_for(loop.run_in_executor(pool, lambda: 42), 5) == 42
    release.set()
    until = time.monotonic() + 5
    while sum(thread.name == "test-left" for thread in threading.enumerate()) > 3:
        assert time.monotonic() < until, "those that were stood in for end when they come back"
        await asyncio.sleep(0.01)
    assert await asyncio.gather(*(loop.run_in_executor(pool, lambda n=n: n) for n in range(20))) == list(range(20))


async def test_nobody_stands_in_where_no_two_may_work_at_once(release: threading.Event) -> None:
    pool = DaemonThreads(1, "test-turn", stand_in=False)
    loop = asyncio.get_running_loop()
    stuck = loop.run_in_executor(pool, release.wait)
    await asyncio.sleep(0.02)
    stuck.cancel()
    after = loop.run_in_executor(pool, lambda: 42)
    done, _ = await asyncio.wait([after], timeout=0.05)
    assert not done
    release.set()
    assert await asyncio.wait_for(after, 5) == 42


async def test_work_that_is_waited_for_is_never_more_than_the_threads_there_are(release: threading.Event) -> None:
    pool = DaemonThreads(2, "test-busy")
    loop = asyncio.get_running_loop()
    busy = [loop.run_in_executor(pool, release.wait) for _ in range(5)]
    await asyncio.sleep(0.02)
    assert sum(thread.name == "test-busy" for thread in threading.enumerate()) == 2
    busy[4].cancel()  # it has not begun: no thread is stuck in it
    await asyncio.sleep(0.02)
    assert sum(thread.name == "test-busy" for thread in threading.enumerate()) == 2
    release.set()
    await asyncio.gather(*busy, return_exceptions=True)


@pytest.mark.slow
async def test_seventy_stuck_drawings_end_at_their_deadline_and_starve_nobody(
    tmp_path: Path, release: threading.Event
) -> None:
    """More than the pool has threads: those beyond wait for one, and end at the same deadline."""

    def draw(prompt: str) -> ImageBytes:
        if prompt.startswith("thing"):
            release.wait()
        return noise_card(prompt)

    backend = CallableBackend(draw, concurrency=200)
    ledger = Ledger(ArtifactStore.folder(tmp_path))

    def graph(plan: Any) -> Any:
        return create_interleave_graph(ScriptedPlanner(plan), backend, ScriptedCritic(), ledger=ledger, lookahead=False)

    limits = Limits(call_timeout_s=0.7, max_steps=70)
    stuck = graph(simple_plan(70, sources=[[]] * 70))
    began = time.monotonic()
    result = await stuck.ainvoke(ASK, {"configurable": {"limits": limits}})
    assert set(outcomes(result)) == {"backend_failed"} and time.monotonic() - began < 8
    assert "gave no answer within" in result["document"]["steps"][69]["mark"]
    good = simple_plan(1).steps[0].model_copy(update={"prompt": "a pot"})
    well = await graph(simple_plan(1).model_copy(update={"steps": (good,)})).ainvoke(ASK)
    assert well["outcome"] == "complete", "while all seventy are stuck still"
    assert ledger.in_flight() == []


# --- roles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "fault"),
    [("planner", "stuck"), ("backend", "stuck"), ("backend", "deaf"), ("critic", "stuck"), ("critic", "never_answers")],
)
def test_whoever_never_answers_ends_at_the_deadline(role: str, fault: str) -> None:
    def faults(of: str) -> dict[str, float]:
        return {fault: 1.0} if of == role else {}

    planner = FaultyChatModel(lambda _: PLAN, faults("planner"))
    backend = FaultyBackend(ScriptedBackend(), faults("backend"))
    critic = FaultyChatModel(lambda _: '{"verdict": "accept"}', faults("critic"))
    ledger = Ledger(ArtifactStore.memory())
    graph = create_interleave_graph(
        ChatPlanner(planner, output="tagged"), backend, ChatCritic(critic, output="tagged"),
        ledger=ledger, limits=Limits(call_timeout_s=0.3),
    )  # fmt: skip
    began = time.monotonic()
    result = graph.invoke(ASK)
    assert time.monotonic() - began < 0.3 + 0.5 + 2.0
    assert ledger.in_flight() == []
    for thing in (planner, backend, critic):
        thing.release()
    failed = {"planner": [], "backend": ["backend_failed"], "critic": ["critic_failed"]}
    assert outcomes(result) == failed[role]
    told = result["document"]["problem"]["message"] if role == "planner" else result["document"]["steps"][0]["mark"]
    assert f"The {role} gave no answer within 0.3 s." in told
    assert result["spend"]["ambiguous"] == (role != "backend"), "chat models are billed, and may have been at work"


@pytest.mark.parametrize("fault", ["endless_thinking", "endless_steps"])
async def test_what_never_ends_ends_at_the_deadline(fault: str) -> None:
    planner = FaultyChatModel(lambda _: PLAN, {fault: 1.0})
    graph = create_interleave_graph(
        ChatPlanner(planner, output="tagged"), ScriptedBackend(), ScriptedCritic(), limits=Limits(call_timeout_s=0.15)
    )
    result = await asyncio.wait_for(graph.ainvoke(ASK), 5)
    assert result["outcome"] == "failed" and result["spend"]["ambiguous"] == 1
    assert planner.tally.asked == 1, "what may have been billed, and took too long, is not asked again"


@pytest.mark.slow
def test_a_process_with_stuck_threads_ends(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import asyncio
        from langgraph_interleave import create_interleave_graph, Limits
        from langgraph_interleave.backends.callable import CallableBackend
        from langgraph_interleave.testing import FaultyBackend, ScriptedBackend, ScriptedCritic, ScriptedPlanner
        from langgraph_interleave.testing import simple_plan
        import threading

        def draw(prompt):
            threading.Event().wait()

        for backend in (CallableBackend(draw), FaultyBackend(ScriptedBackend(), {"deaf": 1.0})):
            graph = create_interleave_graph(
                ScriptedPlanner(simple_plan(2)), backend, ScriptedCritic(), limits=Limits(call_timeout_s=0.2)
            )
            print(graph.invoke({"request": "x"})["outcome"])
            print(asyncio.run(graph.ainvoke({"request": "x"}))["outcome"])
        """
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["failed"] * 4), done.stderr
    assert "Traceback" not in done.stderr and time.monotonic() - began < 20


@pytest.mark.slow
def test_a_process_whose_local_model_is_stuck_ends() -> None:
    program = textwrap.dedent(
        """
        import threading
        from langgraph_interleave.models.transformers.loaded import Loaded, Wanted

        wanted = Wanted("nowhere", None, "identity", "cpu", "float32", None, 1)
        Loaded(wanted, "cpu", "float32", None).submit(threading.Event().wait)
        print("end")
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


# --- stores ---------------------------------------------------------------------------------------


class Gone(MemoryFiles):
    """A network store that answers no more, from the n-th operation on."""

    blocking = True

    def __init__(self, good: int, release: threading.Event) -> None:
        super().__init__()
        self.good, self._release = good, release

    def _go(self) -> None:
        self.good -= 1
        if self.good < 0:
            self._release.wait()

    def read(self, name: str) -> bytes | None:
        self._go()
        return super().read(name)

    def write(self, name: str, data: bytes) -> None:
        self._go()
        super().write(name, data)

    def swap(self, name: str, unchanged: Any, data: bytes) -> bool:
        self._go()
        return super().swap(name, unchanged, data)


async def test_a_store_that_does_not_answer_is_given_up(
    release: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "STORE_S", 0.1)
    with pytest.raises(TimeoutError, match=r"The store gave no answer within 0\.1 s"):
        await in_thread(release.wait)

    def own() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await in_thread(own)


@pytest.mark.parametrize("good", [0, 3, 8, 15])
async def test_a_run_whose_store_hangs_ends_typed(
    good: int, release: threading.Event, monkeypatch: pytest.MonkeyPatch, landed: Any
) -> None:
    monkeypatch.setattr(background, "STORE_S", 0.1)
    ledger = Ledger(ArtifactStore(Gone(good, release)))
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(2)), ScriptedBackend(), ScriptedCritic(), ledger=ledger)
    with pytest.raises(InterleaveError) as caught:
        await asyncio.wait_for(graph.ainvoke(ASK), 10)
    told = f"{caught.value} {caught.value.__cause__}"
    assert "The store gave no answer within 0.1 s" in told
    await landed(ledger)


@pytest.mark.skipif(os.name != "posix", reason="locks of Windows are others")
def test_a_folder_that_stays_locked_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    store = FolderFiles(tmp_path)
    (tmp_path / "calls").mkdir()
    holder = os.open(tmp_path / "calls" / ".lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(holder, fcntl.LOCK_EX)
    try:
        monkeypatch.setattr(files, "LOCK_S", 0.05)
        with pytest.raises(TimeoutError, match="is locked by another process"):
            store.swap("calls/a", lambda _: True, b"1")
        monkeypatch.setattr(files, "LOCK_S", 5.0)
        threading.Timer(0.05, os.close, [holder]).start()
        assert store.swap("calls/a", lambda _: True, b"1"), "and waited for while it is held for a moment"
    finally:
        if store.read("calls/a") is None:
            os.close(holder)


def test_a_role_that_does_not_say_whether_it_is_ready_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        async def aready(self) -> None:
            await asyncio.sleep(1.0)

    monkeypatch.setattr(preflight, "READY_S", 0.05)
    with pytest.raises(Unavailable, match="nobody said whether"):
        preflight.check_roles([Silent()])


async def test_a_plan_made_anew_gets_no_time_anew() -> None:
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(3)),
        ScriptedBackend(delay_s=0.12),
        ScriptedCritic(lambda _: "revise"),
        on_exhausted="replan",
        limits=Limits(max_attempts=1, max_seconds=0.3, max_replans=5),
    )
    result = await graph.ainvoke(ASK)
    assert result["spend"]["images"] <= 3, "what fits into 0.3 s, however often it is planned"


async def test_the_time_told_is_that_of_every_plan() -> None:
    planner = ScriptedPlanner(simple_plan(1), pace_s=0.1)
    graph = create_interleave_graph(
        planner,
        ScriptedBackend(),
        ScriptedCritic(lambda _: "revise"),
        on_exhausted="replan",
        limits=Limits(max_attempts=1, max_replans=2),
    )
    result = await graph.ainvoke(ASK)
    assert len(planner.requests) == 2 and 0.2 <= result["spend"]["seconds"] < 1.5, "the same plan again is the last"
