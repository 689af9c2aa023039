"""A store that takes nothing any more, or lost something: nothing dangling is committed, and a run can be resumed."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.document import Document
from langgraph_interleave.errors import ArtifactMissing, ConfigError, InternalError, InvalidRequest
from langgraph_interleave.files import MemoryFiles
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic
from langgraph_interleave.types import Capabilities

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
    down = InvalidRequest("not now", role="critic")  # else there is a judgement already
    is_up = asyncio.Event()
    critic = ScriptedCritic(lambda asked: "accept" if is_up.is_set() else down)
    graph, *_ = make(2, verdicts=critic, artifacts=None, ledger=ledger, checkpointer=InMemorySaver(), lookahead=False)
    await graph.ainvoke(ASK, THREAD, interrupt_after=["generate"])
    await landed(ledger)

    def lose(mark: bytes) -> None:
        for name in [name for name, data in files._files.items() if name.startswith("artifacts/") and mark in data]:
            del files._files[name]

    lose(b"PNG")
    is_up.set()
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


@pytest.mark.parametrize("harm", ["gone", "damaged"])
async def test_a_paid_picture_that_is_lost_is_drawn_again_only_where_that_is_allowed(make: Make, harm: str) -> None:
    files = MemoryFiles()
    billed = ScriptedBackend(capabilities=Capabilities(edit="instruct", max_references=4, seed="exact", billed=True))
    graph, planner, backend, _ = make(3, billed, artifacts=ArtifactStore(files))
    once = InterleaveContext(run_id="same")
    first = await graph.ainvoke(ASK, context=once)
    document = Document.load(first["document"], ArtifactStore(files))
    assert document.missing() == ()
    lost = first["document"]["steps"][1]["image"]["sha256"]
    name = f"artifacts/{lost[:2]}/{lost}"
    if harm == "gone":
        del files._files[name]
    else:
        files._files[name] = files._files[name][:-1]
    assert [(one.sha256, one.steps) for one in document.missing()] == [(lost, (1,))]
    again = await graph.ainvoke(ASK, context=once)
    assert (len(planner.requests), len(backend.requests)) == (1, 3), "nothing was paid for"
    said = again["document"]["steps"][1]
    assert said["outcome"] == "backend_failed" and lost in said["mark"]
    record = Document.load(again["document"], ArtifactStore(files)).records()[1]
    assert record is not None and record.attempts[0].problem is not None
    assert "redraw_missing=True" in record.attempts[0].problem.remedy
    assert again["document"]["steps"][0]["outcome"] == "accepted"
    allowed = await graph.ainvoke(ASK, context=once.model_copy(update={"redraw_missing": True}))
    assert allowed["outcome"] == "complete" and len(planner.requests) == 1
    assert len(backend.requests) == 4, "that one alone: the picture came out the same"
    assert document.missing() == ()
    assert allowed["spend"]["images"] == 4
