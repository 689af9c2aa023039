"""The long-lived loop and its threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import os
import queue
import subprocess
import sys
import threading
import time
import warnings
from typing import Any

import pytest

from langgraph_interleave import background
from langgraph_interleave.background import DaemonThreads, background_loop, in_thread, submit

marker: contextvars.ContextVar[str | None] = contextvars.ContextVar("marker", default=None)


async def where() -> str:
    return threading.current_thread().name


def test_there_is_one_loop_and_it_runs_in_a_daemon_thread() -> None:
    loop = background_loop()
    assert loop is background_loop()
    assert loop.is_running()
    assert submit(where).result(5) == "interleave-loop-0"
    thread = next(thread for thread in threading.enumerate() if thread.name == "interleave-loop-0")
    assert thread.daemon


def test_of_many_threads_that_ask_first_all_get_the_same_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_state", background._State())
    start = threading.Barrier(8)
    loops: list[asyncio.AbstractEventLoop] = []

    def ask() -> None:
        start.wait()
        loops.append(background_loop())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, loops))) == 1
    loops[0].call_soon_threadsafe(loops[0].stop)


def test_submitted_work_begins_in_an_empty_context() -> None:
    marker.set("the caller's")

    async def read() -> str | None:
        return marker.get()

    assert submit(read).result(5) is None


def test_errors_come_back() -> None:
    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        submit(fail).result(5)


def test_a_factory_that_fails_is_reported() -> None:
    async def work(number: int) -> None: ...

    with pytest.raises(TypeError, match="argument"):
        submit(lambda: work()).result(5)  # pyright: ignore[reportCallIssue]


def test_a_task_that_was_cancelled_says_so() -> None:
    async def cancel_itself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    with pytest.raises(concurrent.futures.CancelledError):
        submit(cancel_itself).result(5)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_nothing_a_task_raises_stops_the_loop(error: type[BaseException]) -> None:
    async def leave() -> None:
        raise error

    with pytest.raises(error):
        submit(leave).result(5)
    assert submit(where).result(5) == "interleave-loop-0"


def test_work_on_the_loop_stays_on_it() -> None:
    async def inner() -> bool:
        return asyncio.get_running_loop() is background_loop()

    async def outer() -> bool:
        return await asyncio.wrap_future(submit(inner))

    assert submit(outer).result(5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_a_loop_of_its_own() -> None:
    assert submit(where).result(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of a fork beside threads: that is the point
        child = os.fork()
    if child == 0:
        try:
            ok = submit(where).result(5) == "interleave-loop-0"
        except BaseException:  # noqa: BLE001 - the child must end here in any case
            ok = False
        os._exit(0 if ok else 1)
    deadline = time.monotonic() + 20
    while (status := os.waitpid(child, os.WNOHANG)) == (0, 0):
        assert time.monotonic() < deadline, "the child hangs"
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(status[1]) == 0
    assert submit(where).result(5), "the parent's loop lives on"


def test_a_stuck_thread_does_not_keep_the_process_alive() -> None:
    program = (
        "import asyncio, time\n"
        "from langgraph_interleave.background import submit\n"
        "async def stuck(): await asyncio.to_thread(time.sleep, 60)\n"
        "submit(stuck); time.sleep(0.1); print('done')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("done\n", "", 0)


async def test_store_threads_are_not_those_of_models() -> None:
    release = threading.Event()

    async def stuck_models() -> str:
        for _ in range(70):
            _ = asyncio.get_running_loop().run_in_executor(None, release.wait)
        return await in_thread(lambda: threading.current_thread().name)

    try:
        assert await asyncio.wait_for(asyncio.wrap_future(submit(stuck_models)), 5) == "interleave-store"
    finally:
        release.set()


# -- the pool --------------------------------------------------------------------------------------


def test_threads_are_used_again_and_limited() -> None:
    pool = DaemonThreads(2, "pool-test")
    release = threading.Event()
    running = [pool.submit(release.wait) for _ in range(5)]
    alive = [thread for thread in threading.enumerate() if thread.name == "pool-test"]
    assert len(alive) == 2
    assert all(thread.daemon for thread in alive)
    release.set()
    assert all(future.result(5) for future in running)
    assert pool.submit(lambda: threading.current_thread().name).result(5) == "pool-test"


def test_one_after_the_other_needs_one_thread() -> None:
    pool = DaemonThreads(8, "pool-single")
    idents: set[int] = set()
    for _ in range(5):
        idents.add(pool.submit(threading.get_ident).result(5))
        time.sleep(0.005)
    assert len(idents) == 1


def test_an_idle_thread_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_IDLE_S", 0.01)
    pool = DaemonThreads(2, "pool-idle")
    assert pool.submit(int).result(5) == 0
    deadline = time.monotonic() + 5
    while any(thread.name == "pool-idle" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    assert pool.submit(int).result(5) == 0, "and another takes its place"


def test_a_job_that_comes_just_as_a_thread_would_end_is_done() -> None:
    class Late(queue.SimpleQueue[Any]):
        late = True

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            if self.late:
                self.late = False
                raise queue.Empty
            return super().get(block, timeout)

    pool = DaemonThreads(1, "pool-late")
    pool._jobs = Late()
    assert pool.submit(int).result(5) == 0


def test_a_job_cancelled_before_it_starts_is_not_done() -> None:
    pool = DaemonThreads(1, "pool-cancel")
    release = threading.Event()
    first = pool.submit(release.wait)
    second = pool.submit(pytest.fail, "ran")
    assert second.cancel()
    release.set()
    assert first.result(5)
    assert pool.submit(int).result(5) == 0


def test_errors_of_jobs_belong_to_who_waits() -> None:
    pool = DaemonThreads(1, "pool-error")
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 / 0).result(5)
    with pytest.raises(SystemExit):
        pool.submit(sys.exit, 3).result(5)
    assert pool.submit(int).result(5) == 0


def test_after_shutdown_nothing_is_taken_and_nothing_is_waited_for() -> None:
    pool = DaemonThreads(1, "pool-shutdown")
    release = threading.Event()
    running = pool.submit(release.wait)
    pool.shutdown(wait=True)
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(int)
    release.set()
    assert running.result(5)
