"""An invocation that ends between two of its nodes, whatever ended it, lets go of its calls at once."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.testing import ScriptedBackend, noise_card
from langgraph_interleave.types import ImageBytes, ImageRequest

ASK: Any = {"request": "things"}
THREAD: Any = {"configurable": {"thread_id": "t"}}
Make = Callable[..., Any]
Landed = Callable[..., Awaitable[None]]


class Slow(InMemorySaver):
    """Says when it is asked to store what the planner has made, and takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        if metadata.get("step", -1) >= 1 and not self.reached.is_set():
            self.reached.set()
            await asyncio.sleep(5)
        return await super().aput(config, checkpoint, metadata, new_versions)


async def for_ever(asked: ImageRequest) -> ImageBytes:
    await asyncio.sleep(30)
    return noise_card(asked.prompt)


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """Nothing here may depend on when the collector runs."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(ArtifactStore.memory(), grace_s=0)


async def reached(ledger: Ledger) -> None:
    until = time.monotonic() + 5
    while not any(call.role == "backend" for call in ledger.in_flight()):
        assert time.monotonic() < until
        await asyncio.sleep(0.005)


async def test_cancelled_while_a_checkpoint_is_stored(make: Make, ledger: Ledger, landed: Landed) -> None:
    saver = Slow()
    graph, *_ = make(2, ScriptedBackend(for_ever), ledger=ledger, artifacts=None, checkpointer=saver, early_start=True)
    cut = asyncio.create_task(graph.ainvoke(ASK, THREAD, durability="sync"))
    await saver.reached.wait()
    await reached(ledger)
    cut.cancel()
    with pytest.raises(asyncio.CancelledError) as held:
        await cut
    await landed(ledger, 1.0)
    assert held.value is not None, "whoever holds the error holds every frame of the invocation"


async def test_a_node_beside_it_raises(make: Make, ledger: Ledger, landed: Landed) -> None:
    """As a part of another graph, whose own node fails while this one is between two nodes."""
    from langgraph.graph import START, StateGraph
    from typing_extensions import TypedDict

    class State(TypedDict, total=False):
        request: str
        outcome: str

    saver = Slow()
    graph, *_ = make(2, ScriptedBackend(for_ever), ledger=ledger, artifacts=None, early_start=True)

    async def fails(state: State) -> State:
        await saver.reached.wait()
        await reached(ledger)
        raise ValueError("of somebody else")

    parent = StateGraph(State)
    parent.add_node("drawn", graph)
    parent.add_node("fails", fails)
    parent.add_edge(START, "drawn")
    parent.add_edge(START, "fails")
    with pytest.raises(ValueError, match="of somebody else") as held:
        await parent.compile(checkpointer=saver).ainvoke(ASK, THREAD, durability="sync")
    await landed(ledger, 1.0)
    assert held.value is not None


@pytest.mark.parametrize("closed", [True, False])
async def test_a_stream_that_is_left(make: Make, ledger: Ledger, landed: Landed, closed: bool) -> None:
    graph, *_ = make(2, ScriptedBackend(for_ever), ledger=ledger, artifacts=None, early_start=True)
    stream: AsyncIterator[Any] = graph.astream(ASK, stream_mode="updates")
    async for _ in stream:
        await reached(ledger)
        break  # after the planner, before `dispatch`
    if closed:
        await stream.aclose()  # pyright: ignore[reportAttributeAccessIssue]
        await landed(ledger, 1.0)
        return
    await asyncio.sleep(0.1)
    assert ledger.in_flight(), "it may go on; a slow consumer costs no calls"
    await stream.aclose()  # pyright: ignore[reportAttributeAccessIssue]
    await landed(ledger, 1.0)


async def test_ctrl_c_in_a_stream_of_synchronous_code(make: Make, ledger: Ledger, landed: Landed) -> None:
    class Interrupted(InMemorySaver):
        def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
            if metadata.get("step", -1) >= 1:
                until = time.monotonic() + 5
                while not any(call.role == "backend" for call in ledger.in_flight()) and time.monotonic() < until:
                    time.sleep(0.005)
                raise KeyboardInterrupt
            return super().put(config, checkpoint, metadata, new_versions)

    graph, *_ = make(
        2, ScriptedBackend(for_ever), ledger=ledger, artifacts=None, checkpointer=Interrupted(), early_start=True
    )
    with pytest.raises(KeyboardInterrupt) as held:
        list(graph.stream(ASK, THREAD, durability="sync"))
    await landed(ledger, 1.0)
    assert held.value is not None


async def test_paused_between_two_nodes_what_is_certain_is_made_and_recorded(
    make: Make, ledger: Ledger, landed: Landed
) -> None:
    graph, _, backend, _ = make(
        2, ScriptedBackend(delay_s=0.2), ledger=ledger, artifacts=None, checkpointer=InMemorySaver(), early_start=True
    )
    await graph.ainvoke(ASK, THREAD, interrupt_after=["planner"])
    assert ledger.in_flight()
    await landed(ledger, 2.0)
    assert len(backend.requests) == 1
    assert (await graph.ainvoke(None, THREAD))["outcome"] == "complete"
    assert len(backend.requests) == 2, "what was drawn meanwhile is not drawn again"
