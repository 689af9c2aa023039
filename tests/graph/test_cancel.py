"""Invocations that end early, at any moment and in any way: nothing is left running, nothing is paid for twice."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import subprocess
import sys
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.background import background_loop
from langgraph_interleave.errors import InternalError
from langgraph_interleave.files import MemoryFiles
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.run import Run
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Capabilities, CritiqueRequest

ASK: Any = {"request": "things"}
Make = Callable[..., Any]
Complaints = Callable[..., list[str]]
Landed = Callable[..., Awaitable[None]]


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def flights() -> list[str]:
    """Calls on the background loop, whoever they belong to."""
    return [str(task) for task in asyncio.all_tasks(background_loop()) if "Flight" in str(task.get_coro())]


class Scene:
    """A random plan, random roles over one store, and a random way to end the first invocation."""

    def __init__(self, seed: int, saver: Any) -> None:
        self.rng = rng = random.Random(seed)
        self.saver = saver
        self.config = thread(f"t{seed}")
        self.files = MemoryFiles()
        self.ledger = Ledger(ArtifactStore(self.files), grace_s=0.1)
        self.count = rng.randint(1, 6)
        sources = [sorted(rng.sample(range(i), rng.randint(0, min(i, 2)))) for i in range(self.count)]
        self.text = [i for i in range(1, self.count) if rng.random() < 0.1]
        self.plan = simple_plan(self.count, sources=sources, text=self.text)
        self.revise = [rng.choice([0, 0, 1, 2]) for _ in range(self.count)]
        self.lookahead, self.billed, self.pace = rng.random() < 0.6, rng.random() < 0.3, rng.choice([0.0, 0.02])

    def graph(self) -> Any:
        def verdict(asked: CritiqueRequest) -> str:
            step = int(asked.instruction.split()[-1].rstrip("."))
            return "revise" if asked.attempt < self.revise[step] else "accept"

        does = Capabilities(edit="instruct", max_references=16, seed="exact", billed=self.billed)
        return create_interleave_graph(
            ScriptedPlanner(self.plan, pace_s=self.pace),
            ScriptedBackend(delay_s=lambda asked: (asked.seed or 0) % 7 / 1000, capabilities=does),
            ScriptedCritic(verdict, delay_s=lambda asked: len(asked.prompt) % 5 / 1000),
            ledger=self.ledger,
            lookahead=self.lookahead,
            checkpointer=self.saver,
        )

    async def cut_off(self) -> bool:
        """Whether it came to its end all the same."""
        graph, many = self.graph(), self.rng.randint(1, 50)
        durability: Any = self.rng.choice(["sync", "async"])

        async def listen() -> bool:
            seen = 0
            async for _ in graph.astream(ASK, self.config, stream_mode=["custom"], durability=durability):
                seen += 1
                if seen == many:
                    return False
            return True

        if self.rng.random() < 0.4:
            return await listen()
        task = asyncio.create_task(graph.ainvoke(ASK, self.config, durability=durability))
        await asyncio.sleep(self.rng.random() / 12)
        task.cancel()
        await asyncio.wait([task])
        return not task.cancelled()

    def finished(self) -> dict[str, bytes]:
        return {n: d for n, d in self.files._files.items() if n.startswith("calls/") and b'"status":"finished"' in d}


@pytest.mark.parametrize("saver", ["memory", "sqlite"])
@pytest.mark.parametrize("tenth", range(10))
async def test_cut_off_at_random_and_resumed(
    tenth: int, saver: str, tmp_path: Path, complaints: Complaints, landed: Landed
) -> None:
    if saver == "memory":
        for seed in range(8 * tenth, 8 * tenth + 8):
            await cut_off_and_resume(Scene(seed, InMemorySaver()), complaints, landed)
        return
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "c.sqlite")) as sqlite:
        for seed in range(1000 + 2 * tenth, 1000 + 2 * tenth + 2):
            await cut_off_and_resume(Scene(seed, sqlite), complaints, landed)


async def cut_off_and_resume(scene: Scene, complaints: Complaints, landed: Landed) -> None:
    ended = await scene.cut_off()
    await landed(scene.ledger)
    before = scene.finished()
    graph = scene.graph()
    state = await graph.aget_state(scene.config)
    if ended or (state.values and not state.next):
        return
    result: Any = None
    events: list[dict[str, Any]] = []
    ask = None if state.next else ASK  # it may have been cut off before its first checkpoint
    planned = bool(state.values.get("progress"))
    parts = graph.astream(ask, scene.config, stream_mode=["custom", "values"], version="v2", subgraphs=True)
    async for part in parts:
        if part["type"] == "custom":
            events.append(part["data"])
        else:
            result = part["data"]
    started = any(event["type"] == "interleave.run" and event["phase"] == "start" for event in events)
    assert not (planned and started)
    assert complaints(events, resumed=not started) == []
    assert [step["outcome"] for step in result["document"]["steps"]] == [
        "text_only" if index in scene.text else "accepted" for index in range(scene.count)
    ]
    assert all(scene.files._files[name] == data for name, data in before.items()), "no finished call is made again"


async def test_breaking_out_between_two_nodes_lets_go_at_once(make: Make, landed: Landed) -> None:
    """No node is at work just then, and so none is told."""
    ledger = Ledger(ArtifactStore.memory())
    backend = ScriptedBackend(delay_s=lambda asked: 30.0 if asked.prompt == "thing 1" else 0.0)
    graph, *_ = make(3, drawings=backend, ledger=ledger, artifacts=None)
    async for part in graph.astream(ASK, stream_mode=["custom"], version="v2"):
        if part["data"].get("kind") == "image":
            break
    await landed(ledger, within_s=4.0)
    assert len(backend.requests) == 2


async def test_a_slow_consumer_costs_no_calls(make: Make) -> None:
    """While it does something else, LangGraph goes no further; what was started ahead goes on."""
    drawn = asyncio.Event()
    loop = asyncio.get_running_loop()

    def draw(asked: Any) -> Any:
        if asked.prompt == "thing 1":
            loop.call_soon_threadsafe(drawn.set)
        return noise_card(asked.prompt)

    graph, _, backend, _ = make(3, drawings=ScriptedBackend(draw, delay_s=0.2), lookahead=True)
    async for part in graph.astream(ASK, stream_mode=["custom"], version="v2"):
        if part["data"].get("kind") == "image" and part["data"]["step"] == 0:
            gc.collect()
            await drawn.wait()
    assert [asked.prompt for asked in backend.requests] == ["thing 0", "thing 1", "thing 2"]


async def test_a_consumer_that_raises_ends_the_run(make: Make, landed: Landed) -> None:
    ledger = Ledger(ArtifactStore.memory())
    graph, *_ = make(3, drawings=ScriptedBackend(delay_s=0.05), ledger=ledger, artifacts=None)
    with pytest.raises(ZeroDivisionError):
        async for part in graph.astream(ASK, stream_mode=["custom"], version="v2"):
            if part["data"].get("kind") == "preview":
                raise ZeroDivisionError
    await landed(ledger)


def test_breaking_out_of_a_sync_stream(make: Make) -> None:
    ledger = Ledger(ArtifactStore.memory())
    graph, *_ = make(3, drawings=ScriptedBackend(delay_s=0.05), ledger=ledger, artifacts=None)
    for part in graph.stream(ASK, stream_mode=["custom"], version="v2", subgraphs=True):
        if part["data"].get("kind") == "preview":
            break
    done = threading.Event()
    background_loop().call_soon_threadsafe(background_loop().call_later, 0.5, done.set)
    assert done.wait(10) and ledger.in_flight() == []


async def test_nothing_of_a_run_outlives_it(make: Make, landed: Landed) -> None:
    """Whether it was finished, cut off, or broken off by an error."""
    alive: weakref.WeakSet[Run] = weakref.WeakSet()
    ledger = Ledger(ArtifactStore.memory())
    fine, *_ = make(3, ledger=ledger, artifacts=None)
    broken, *_ = make(
        2, drawings=lambda asked: KeyError() if asked.prompt == "thing 1" else noise_card("x"), ledger=ledger,
        artifacts=None,
    )  # fmt: skip
    made = Run.__init__

    def count(self: Run, *args: Any, **kwargs: Any) -> None:
        alive.add(self)
        made(self, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "__init__", count)
        for _ in range(10):
            await fine.ainvoke(ASK)
            with pytest.raises(InternalError):
                await broken.ainvoke(ASK)
            task = asyncio.create_task(fine.ainvoke(ASK))
            await asyncio.sleep(0.005)
            task.cancel()
            await asyncio.wait([task])
            del task
            async for _ in fine.astream(ASK, stream_mode="custom"):
                break
    await landed(ledger)
    for _ in range(50):
        gc.collect()
        if not alive:
            break
        await asyncio.sleep(0.05)
    assert len(alive) == 0


CTRL_C = """
import asyncio, os, signal, threading, time
from langgraph_interleave.background import background_loop
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan

def draw(asked):
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    return 60.0

graph = create_interleave_graph(ScriptedPlanner(simple_plan(2)), ScriptedBackend(delay_s=draw), ScriptedCritic())
try:
    if {asynchronous}:
        asyncio.run(graph.ainvoke({{"request": "x"}}))
    else:
        graph.invoke({{"request": "x"}})
except KeyboardInterrupt:
    for _ in range(100):
        left = [task for task in asyncio.all_tasks(background_loop()) if "Flight" in str(task.get_coro())]
        if not left:
            break
        time.sleep(0.05)
    print("interrupted", left)
"""


@pytest.mark.parametrize("asynchronous", [False, True])
def test_ctrl_c(asynchronous: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CTRL_C.format(asynchronous=asynchronous)],
        capture_output=True, text=True, check=False, timeout=30, env={**os.environ},
    )  # fmt: skip
    assert done.stdout == "interrupted []\n", done.stderr


async def test_a_planner_is_cut_off_too(make: Make, landed: Landed) -> None:
    ended: list[str] = []

    class Slow(ScriptedPlanner):
        async def aplan(self, request: Any) -> AsyncIterator[Any]:
            try:
                await asyncio.sleep(30)
                yield None
            finally:
                ended.append("planner")

    ledger = Ledger(ArtifactStore.memory())
    graph = create_interleave_graph(Slow(simple_plan(1)), ScriptedBackend(), ScriptedCritic(), ledger=ledger)
    task = asyncio.create_task(graph.ainvoke(ASK))
    await asyncio.sleep(0.1)
    task.cancel()
    await asyncio.wait([task])
    await landed(ledger)
    for _ in range(200):
        if not flights():
            break
        await asyncio.sleep(0.005)  # its last words are said on the other thread
    assert ended == ["planner"] and flights() == []


def test_no_node_but_the_first_is_followed_by_a_conditional_edge() -> None:
    """A cancellation while one is decided would keep what the node wrote and lose where it goes."""
    graph = create_interleave_graph()
    assert not {name: branches for name, branches in graph.builder.branches.items() if branches}
