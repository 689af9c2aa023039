"""A store that takes nothing any more, or lost something: nothing dangling is committed, and a run can be resumed."""

from __future__ import annotations

import errno
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.errors import ArtifactMissing, ConfigError, InternalError
from langgraph_interleave.files import MemoryFiles
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.testing import ScriptedCritic

ASK: Any = {"request": "things"}
THREAD: Any = {"configurable": {"thread_id": "t"}}
Make = Callable[..., Any]
Complaints = Callable[..., list[str]]
Landed = Callable[..., Awaitable[None]]


class Faulty(MemoryFiles):
    """Fails at every write, read or listing once it did `good` of them; `None`: never."""

    def __init__(self) -> None:
        super().__init__()
        self.good: dict[str, int] = {}

    def _count(self, what: str) -> None:
        if what in self.good:
            self.good[what] -= 1
            if self.good[what] < 0:
                raise OSError(errno.ENOSPC, "No space left on device")

    def write(self, name: str, data: bytes) -> None:
        self._count("write")
        super().write(name, data)

    def read(self, name: str) -> bytes | None:
        self._count("read")
        return super().read(name)

    def names(self, folder: str) -> list[str]:
        self._count("names")
        return super().names(folder)

    def swap(self, name: str, unchanged: Callable[[bytes | None], bool], data: bytes) -> bool:
        self._count("swap")
        return super().swap(name, unchanged, data)


@pytest.mark.parametrize("what", ["write", "read"])
@pytest.mark.parametrize("good", range(0, 18, 2))
async def test_a_run_whose_store_failed_is_resumed_without_paying_twice(
    make: Make, complaints: Complaints, what: str, good: int
) -> None:
    files = Faulty()
    graph, planner, backend, critic = make(3, artifacts=ArtifactStore(files), checkpointer=InMemorySaver())
    files.good = {what: good}
    events: list[dict[str, Any]] = []
    failed: InternalError | None = None

    async def listen() -> None:
        async for part in graph.astream(ASK, THREAD, stream_mode=["custom"], version="v2", subgraphs=True):
            events.append(part["data"])  # noqa: PERF401 - those before the error count

    try:
        await listen()
    except InternalError as error:
        failed = error
    assert complaints(events) == []
    files.good = {}
    if failed is None:
        assert good > 10, "it went well to the end"
        return
    assert isinstance(failed.__cause__, OSError) and failed.document is not None
    kept = [step for step in failed.document["steps"] if step["outcome"] == "accepted"]
    assert all(files.read(f"artifacts/{s['image']['sha256'][:2]}/{s['image']['sha256']}") for s in kept)
    result = await graph.ainvoke(None, THREAD)
    assert result["outcome"] == "complete"
    assert len(planner.requests) <= 2 and len(backend.requests) <= 4 and len(critic.requests) <= 4, (
        "at most what was under way is asked for again"
    )


async def test_a_store_without_room_for_records_says_so_in_the_document(make: Make) -> None:
    files = Faulty()
    graph, *_ = make(2, artifacts=ArtifactStore(files))
    files.good = {"swap": 4}  # the planner's call and the first drawing, started and finished
    result = await graph.ainvoke(ASK)
    assert result["outcome"] == "partial"
    assert "cannot be written" in result["document"]["steps"][0]["mark"] and result["document"]["steps"][0]["image"]


async def test_a_store_that_cannot_be_read_is_told_before_anything_is_spent(make: Make) -> None:
    files = Faulty()
    graph, planner, *_ = make(1, artifacts=ArtifactStore(files))
    files.good = {"names": 0}
    with pytest.raises(ConfigError, match="cannot be read"):
        await graph.ainvoke(ASK)
    assert planner.requests == []


async def test_a_lost_picture_is_a_mark_and_a_lost_record_an_error(make: Make, landed: Landed) -> None:
    files = MemoryFiles()
    ledger = Ledger(ArtifactStore(files))
    slow = ScriptedCritic(delay_s=0.1)
    graph, *_ = make(2, verdicts=slow, artifacts=None, ledger=ledger, checkpointer=InMemorySaver(), lookahead=False)
    await graph.ainvoke(ASK, THREAD, interrupt_after=["generate"])
    await landed(ledger)  # else a judgement that has the picture already

    def lose(mark: bytes) -> None:
        for name in [name for name, data in files._files.items() if name.startswith("artifacts/") and mark in data]:
            del files._files[name]

    lose(b"PNG")
    result = await graph.ainvoke(None, THREAD)
    assert [step["outcome"] for step in result["document"]["steps"]] == ["critic_failed", "backend_failed"]
    assert "is not in the store" in result["document"]["steps"][0]["mark"]
    assert (await graph.ainvoke(ASK, THREAD))["outcome"] == "complete", "the next turn needs nothing of this one"

    await graph.ainvoke(ASK, THREAD, interrupt_after=["critique"])
    lose(b'"attempts":[{')
    with pytest.raises(ArtifactMissing, match="run again"):
        await graph.ainvoke(None, THREAD)
    files._files.clear()
    assert (await graph.ainvoke(ASK, THREAD))["outcome"] == "complete"
