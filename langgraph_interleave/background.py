"""The event loop that outlives every run, and the threads blocking work runs in.

All paid calls of a process run on one long-lived loop: a caller's own loop may close while others
still wait, and clients that cache connections break on a second loop.

Code on that loop may call the synchronous interface of a graph, which blocks the loop until the
graph is done. Work of such a re-entered call therefore goes to another loop: loop 1 for calls made
from loop 0, loop 2 for calls made from loop 1, and so on. A loop only ever waits for a loop with a
higher number, so they cannot wait for each other in a circle.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import os
import queue
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from langgraph_interleave import ending

P = ParamSpec("P")
T = TypeVar("T")

#: Which of the loops the running code belongs to; -1 outside all of them.
_level: contextvars.ContextVar[int] = contextvars.ContextVar("langgraph_interleave_level", default=-1)

#: An idle thread ends after this many seconds.
_IDLE_S = 10.0
#: Threads of a pool that are stuck in work nobody waits for any more, and that others stand in for, at most.
_MOST_LEFT = 512
#: A store that has not answered by then is taken for gone, in seconds.
STORE_S = 60.0

_Job = tuple["_Asked[Any]", Callable[[], Any]]


class _Asked(concurrent.futures.Future[T]):
    """A future that tells when it is given up although its work is under way: that cannot be stopped."""

    def __init__(self, on_left: Callable[[_Asked[T]], None]) -> None:
        super().__init__()
        self._on_left = on_left
        self.left = False

    def cancel(self) -> bool:
        if super().cancel():
            return True
        self._on_left(self)
        return False


class DaemonThreads(concurrent.futures.ThreadPoolExecutor):
    """A thread pool that holds up the end of the process for a moment at most.

    The threads of the standard pool are joined when the interpreter exits, so one that is stuck in
    a model or a socket keeps the process alive for ever. These are daemons: work under way is waited
    for as `ending` says, then left behind.
    A thread whose work nobody waits for any more (the deadline passed, the run was cancelled) may be stuck
    for good: another stands in for it, so that stuck threads do not starve the work of others.
    Guaranteed: at most `max_workers` threads at once, and 512 that are stuck so; after these, work waits for
    its own deadline. Not guaranteed: that submitted work runs when the process ends first.

    Args:
        max_workers: Most threads at once.
        name: Prefix of the threads' names.
        stand_in: Whether another thread stands in for a stuck one. Not where no two may ever work at once.
    """

    def __init__(self, max_workers: int, name: str, *, stand_in: bool = True) -> None:
        # asyncio accepts nothing but a ThreadPoolExecutor as a loop's default executor.
        super().__init__(max_workers, name)
        self._most = max_workers
        self._name = name
        self._stand_in = stand_in
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._alive = 0
        self._left = 0  # of those: in work that nobody waits for any more
        self._waiting = 0  # jobs handed over that no thread has finished yet
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> concurrent.futures.Future[T]:
        future: _Asked[T] = _Asked(self._is_left)
        with self._guard:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._jobs.put((future, functools.partial(fn, *args, **kwargs)))
            self._waiting += 1
            self._hire()
        return future

    def _hire(self) -> None:
        if self._waiting > self._alive and self._alive - min(self._left, _MOST_LEFT) < self._most:
            self._alive += 1
            threading.Thread(target=self._work, name=self._name, daemon=True).start()

    def _is_left(self, future: _Asked[Any]) -> None:
        with self._guard:
            if self._stand_in and future.running() and not future.left:
                future.left = True
                self._left += 1
                self._hire()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work. Never waits: a stuck thread is left behind, whatever `wait` says."""
        with self._guard:
            self._closed = True

    def _work(self) -> None:
        while True:
            try:
                future, call = self._jobs.get(timeout=_IDLE_S)
            except queue.Empty:
                with self._guard:
                    # A job may have come in between; then this thread is counted on.
                    if not self._jobs.empty():
                        continue
                    self._alive -= 1
                    return
            if future.set_running_or_notify_cancel():
                _settle(future, call)
            with self._guard:
                self._waiting -= 1
                self._left -= future.left
                too_many = self._alive - min(self._left, _MOST_LEFT) > self._most
                self._alive -= too_many
            # No reference may keep a result alive while the thread waits for its next job.
            del future, call
            if too_many:
                return  # another stood in for this one


def _settle(future: concurrent.futures.Future[T], call: Callable[[], T]) -> None:
    try:
        with ending.computing():
            result = call()
    except BaseException as error:  # noqa: BLE001 - belongs to whoever waits for the future
        future.set_exception(error)
    else:
        future.set_result(result)


class _LoopThread:
    """One event loop, running for ever in a daemon thread of its own."""

    def __init__(self, level: int) -> None:
        self.level = level
        # A loop keeps the context it was made in for good, and with it all that the caller's graph holds.
        self.loop = contextvars.Context().run(asyncio.new_event_loop)
        self.loop.set_default_executor(DaemonThreads(64, f"interleave-work-{level}"))
        self.thread = threading.Thread(target=self._run, name=f"interleave-loop-{level}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        while not self.loop.is_closed():
            try:
                self.loop.run_forever()
            except (KeyboardInterrupt, SystemExit):
                # asyncio keeps it in the task and lets it through as well; whoever waits for the
                # task gets it from there, and the loop belongs to everybody else too.
                continue


class _State:
    """What this process has started. A forked child begins with a new one: threads do not survive."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loops: list[_LoopThread] = []
        self.store_threads: DaemonThreads | None = None


_state = _State()
_hooked = False


def _forget() -> None:
    global _state
    _state = _State()


def _hook_fork() -> None:
    global _hooked
    if not _hooked and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget)
    _hooked = True


def current_level() -> int:
    """Number of the loop the running code belongs to, -1 outside all of them.

    The context says so, and where it was replaced by an empty one, the thread does.
    """
    here = threading.get_ident()
    on_thread = next((entry.level for entry in _state.loops if entry.thread.ident == here), -1)
    return max(_level.get(), on_thread)


def loop_at(level: int) -> asyncio.AbstractEventLoop:
    """The loop with this number, started when it is first asked for."""
    state = _state
    if level < len(state.loops):
        return state.loops[level].loop
    with state.lock:
        _hook_fork()
        while len(state.loops) <= level:
            state.loops.append(_LoopThread(len(state.loops)))
        return state.loops[level].loop


def background_loop() -> asyncio.AbstractEventLoop:
    """The long-lived loop of this process, running in a daemon thread.

    Started at first use; after a fork the child has one of its own. Code that runs on one of the
    loops for re-entered calls (see the module) gets that one.

    Example:
        >>> background_loop() is background_loop()
        True
    """
    return loop_at(max(current_level(), 0))


def context_at(level: int, base: contextvars.Context | None = None) -> contextvars.Context:
    """A context that knows which loop it belongs to.

    Args:
        level: Number of the loop.
        base: Context to add this to; an empty one by default.
    """
    context = contextvars.Context() if base is None else base
    context.run(_level.set, level)
    return context


def start_on(
    level: int,
    coro_factory: Callable[[], Coroutine[Any, Any, T]],
    context: contextvars.Context,
) -> tuple[concurrent.futures.Future[T], Callable[[], None]]:
    """Run an async function as a task of a loop, from any thread.

    Args:
        level: Number of the loop.
        coro_factory: Called on the loop, inside `context`.
        context: Context of the task.

    Returns:
        A future for the result, and a function that cancels the task from any thread.
        A cancelled task gives the future a `concurrent.futures.CancelledError`.
    """
    loop = loop_at(level)
    future: concurrent.futures.Future[T] = concurrent.futures.Future()
    future.set_running_or_notify_cancel()
    tasks: list[asyncio.Task[T]] = []

    def finish(task: asyncio.Task[T]) -> None:
        if task.cancelled():
            future.set_exception(concurrent.futures.CancelledError())
        elif (error := task.exception()) is not None:
            future.set_exception(error)
        else:
            future.set_result(task.result())

    def start() -> None:
        try:
            task = loop.create_task(context.run(coro_factory), context=context)
        except BaseException as error:  # noqa: BLE001 - the factory itself failed; its caller is told
            future.set_exception(error)
            return
        tasks.append(task)
        task.add_done_callback(finish)

    def cancel() -> None:
        # Runs on the loop, hence after `start`.
        for task in tasks:
            task.cancel()

    loop.call_soon_threadsafe(start)
    return future, lambda: _call_soon(loop, cancel)


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    loop.call_soon_threadsafe(call)


def submit(coro_factory: Callable[[], Coroutine[Any, Any, T]]) -> concurrent.futures.Future[T]:
    """Start an async function on the background loop, in an empty context, and do not wait for it.

    Args:
        coro_factory: Called without arguments on the loop.

    Returns:
        A future for its result; wait for it in another thread, or wrap it with `asyncio.wrap_future`.

    Example:
        >>> async def answer() -> int:
        ...     return 42
        >>> submit(answer).result(timeout=5)
        42
    """
    level = max(current_level(), 0)
    future, _ = start_on(level, coro_factory, context_at(level))
    return future


async def in_thread(call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work of a store in a thread reserved for that.

    Unlike `asyncio.to_thread` it does not share its threads with anything else, so a model that is
    stuck in every other thread cannot keep a record from being written.

    Raises:
        TimeoutError: It took longer than a minute: the disk or the network is gone. Whether it is done
            yet nobody knows.
    """
    state = _state
    with state.lock:
        _hook_fork()
        if state.store_threads is None:
            state.store_threads = DaemonThreads(16, "interleave-store")
        threads = state.store_threads
    deadline = asyncio.timeout(STORE_S)
    try:
        async with deadline:
            return await asyncio.get_running_loop().run_in_executor(threads, functools.partial(call, *args, **kwargs))
    except TimeoutError as error:
        if not deadline.expired():
            raise
        raise TimeoutError(f"The store gave no answer within {STORE_S:g} s.") from error
