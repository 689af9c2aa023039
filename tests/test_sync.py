"""Async nodes under `.invoke`: the bridge."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config, get_stream_writer
from langgraph.graph import START, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from langgraph_interleave import background
from langgraph_interleave._sync import Node, run_sync

marker: contextvars.ContextVar[str | None] = contextvars.ContextVar("marker", default=None)


class State(TypedDict, total=False):
    x: int


class Context(TypedDict, total=False):
    k: int


def compile_one(node: Node, **options: Any) -> Any:
    builder: Any = StateGraph(State, context_schema=Context)
    builder.add_node("only", node)
    builder.add_edge(START, "only")
    return builder.compile(**options)


# -- run_sync --------------------------------------------------------------------------------------


def test_the_result_comes_back() -> None:
    async def double(n: int) -> int:
        await asyncio.sleep(0)
        return 2 * n

    assert run_sync(lambda: double(21)) == 42


def test_it_runs_on_the_background_loop_with_the_callers_context() -> None:
    marker.set("the caller's")

    async def look() -> tuple[bool, str | None]:
        seen = marker.get()
        marker.set("the task's")
        return asyncio.get_running_loop() is background.background_loop(), seen

    assert run_sync(look) == (True, "the caller's")
    assert marker.get() == "the caller's", "a copy"


def test_errors_are_raised_as_they_are() -> None:
    error = LookupError("mine")

    async def fail() -> None:
        raise error

    with pytest.raises(LookupError) as caught:
        run_sync(fail)
    assert caught.value is error


async def test_it_works_inside_a_running_loop() -> None:
    async def answer() -> int:
        await asyncio.sleep(0.001)
        return 42

    assert run_sync(answer) == 42


def test_called_again_from_its_own_loop_it_does_not_wait_for_itself() -> None:
    async def inner() -> str:
        await asyncio.sleep(0.001)
        return threading.current_thread().name

    async def middle() -> list[str]:
        return [threading.current_thread().name, run_sync(inner)]

    async def outer() -> list[str]:
        return [threading.current_thread().name, *run_sync(middle)]

    result: list[list[str]] = []
    thread = threading.Thread(target=lambda: result.append(run_sync(outer)), daemon=True)
    thread.start()
    thread.join(5)
    assert result == [["interleave-loop-0", "interleave-loop-1", "interleave-loop-2"]]


def test_called_again_from_another_thread_that_the_loop_waits_for() -> None:
    async def inner() -> int:
        return 1

    async def outer() -> int:
        # As LangGraph does: its own threads run the nodes while this one waits.
        box: list[int] = []
        context = contextvars.copy_context()
        worker = threading.Thread(target=lambda: box.append(context.run(run_sync, inner)), daemon=True)
        worker.start()
        worker.join(5)
        return box[0]

    assert run_sync(outer) == 1


def test_the_thread_tells_where_the_context_does_not() -> None:
    async def inner() -> str:
        return threading.current_thread().name

    async def outer() -> str:
        return contextvars.Context().run(run_sync, inner)

    assert run_sync(outer) == "interleave-loop-1"


def test_ctrl_c_cancels_the_task() -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    began = time.monotonic()
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run_sync(slow)
    timer.join()
    assert ended == ["cancelled"]
    assert time.monotonic() - began < 2


def test_ctrl_c_does_not_wait_for_a_task_that_ignores_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_interleave._sync._TIDY_S", 0.05)
    release = threading.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_sync(stubborn)
    assert time.monotonic() - began < 2
    release.set()
    timer.join()


# -- Node ------------------------------------------------------------------------------------------


class Names(BaseCallbackHandler):
    def __init__(self) -> None:
        self.names: list[str] = []

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        self.names.append(kwargs["name"])


async def first(state: State) -> Command[Any]:
    await asyncio.sleep(0.001)
    runtime: Any = get_runtime()
    get_stream_writer()(
        {
            "node": get_config().get("metadata", {})["langgraph_node"],
            "context": runtime.context,
            "marker": marker.get(),
        }
    )
    return Command(goto=[Send("second", {"x": 1}), Send("second", {"x": 2})])


async def second(state: State) -> Command[Any]:
    get_stream_writer()({"x": state.get("x")})
    return Command(goto="third")


async def third(state: State) -> State:
    return {"x": 9}


def three() -> Any:
    builder: Any = StateGraph(State, context_schema=Context)
    builder.add_node("first", Node(first), destinations={"second": "both"})
    builder.add_node("second", Node(second), destinations=("third",))
    builder.add_node("third", Node(third, name="third"))
    builder.add_edge(START, "first")
    return builder.compile()


EVENTS = [{"node": "first", "context": {"k": 1}, "marker": "here"}, {"x": 1}, {"x": 2}]
TRACE = ["LangGraph", "first", "second", "second", "third"]


def by_x(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(events, key=lambda event: event.get("x", 0))


def test_runtime_writer_commands_and_traces_under_stream() -> None:
    marker.set("here")
    trace = Names()
    events = list(three().stream({"x": 0}, {"callbacks": [trace]}, stream_mode="custom", context={"k": 1}))
    assert by_x(events) == EVENTS
    assert trace.names == TRACE, "one trace run per node"


async def test_runtime_writer_commands_and_traces_under_astream() -> None:
    marker.set("here")
    trace = Names()
    stream = three().astream({"x": 0}, {"callbacks": [trace]}, stream_mode="custom", context={"k": 1})
    assert by_x([event async for event in stream]) == EVENTS
    assert trace.names == TRACE


async def test_invoke_and_ainvoke_agree() -> None:
    assert three().invoke({"x": 0}, context={"k": 1}) == await three().ainvoke({"x": 0}, context={"k": 1}) == {"x": 9}


def test_labels_of_edges_are_drawn() -> None:
    edges = {(edge.source, edge.target, edge.data) for edge in three().get_graph().edges}
    assert ("first", "second", "both") in edges


def test_a_node_is_named_after_its_function_or_as_told() -> None:
    class CallableObject:
        async def __call__(self, state: State) -> State:
            return state

    assert Node(first).name == "first"
    assert Node(first, name="other").name == "other"
    assert Node(CallableObject()).name == "CallableObject"


def test_a_graph_inside_a_node_of_a_graph() -> None:
    inner = three()

    async def outer(state: State) -> State:
        return {"x": inner.invoke({"x": 0}, context={"k": 1})["x"] + 1}

    result: list[Any] = []
    thread = threading.Thread(target=lambda: result.append(compile_one(Node(outer)).invoke({"x": 0})), daemon=True)
    thread.start()
    thread.join(10)
    assert result == [{"x": 10}]


def test_interrupts_and_resuming() -> None:
    async def ask(state: State) -> State:
        return {"x": interrupt("how many?")}

    graph = compile_one(Node(ask), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    assert graph.invoke({"x": 0}, config)["__interrupt__"][0].value == "how many?"
    assert graph.invoke(Command(resume=7), config) == {"x": 7}


def test_errors_of_a_node_reach_the_caller() -> None:
    async def fail(state: State) -> State:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        compile_one(Node(fail)).invoke({"x": 0})


def test_ctrl_c_while_a_graph_runs() -> None:
    ended: list[str] = []

    async def slow(state: State) -> State:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return {}

    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        compile_one(Node(slow)).invoke({"x": 0})
    timer.join()
    assert ended == ["cancelled"]


def test_a_cancelled_async_run_cancels_the_node() -> None:
    ended: list[str] = []

    async def slow(state: State) -> State:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return {}

    async def main() -> None:
        task = asyncio.create_task(compile_one(Node(slow)).ainvoke({"x": 0}))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended == ["cancelled"]


def test_importing_the_bridge_starts_nothing() -> None:
    program = "import langgraph_interleave._sync, threading; print(threading.active_count())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "1\n"
