"""What is removed from a store, and what never is, whatever goes on in it meanwhile."""

from __future__ import annotations

import asyncio
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.document import Document
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.garbage import collect_garbage
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan

ASK: Any = {"request": "things"}


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


class World:
    """A store in a folder, and graphs over it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = ArtifactStore.folder(folder)
        self.saver = InMemorySaver()

    def graph(self, tag: str, *, delay_s: float = 0.0, steps: int = 2) -> Any:
        prompts = [f"{tag} thing {number}" for number in range(steps)]
        plan = simple_plan(steps)
        plan = plan.model_copy(
            update={
                "steps": tuple(
                    step.model_copy(update={"prompt": prompt, "instruction": prompt})
                    for step, prompt in zip(plan.steps, prompts, strict=True)
                )
            }
        )
        verdicts = ScriptedCritic(lambda asked: "revise" if asked.attempt == 0 and tag.endswith("r") else "accept")
        self.backend = ScriptedBackend(delay_s=delay_s)
        return create_interleave_graph(
            ScriptedPlanner(plan), self.backend, verdicts, ledger=Ledger(self.store), checkpointer=self.saver,
            lookahead=False,
        )  # fmt: skip

    async def made(self, tag: str) -> Any:
        result = await self.graph(tag).ainvoke(ASK, thread(tag), context=InterleaveContext(run_id=tag))
        assert result["outcome"] == "complete"
        return result["document"]

    def age(self) -> None:
        """Everything there is was written long ago."""
        for path in self.folder.rglob("*"):
            if path.is_file():
                os.utime(path, (1e9, 1e9))

    def content(self, document: Any) -> dict[str, bytes]:
        """All a document names, with its records' own."""
        loaded = Document.load(document, self.store)
        assert loaded.missing() == ()
        records = [record for record in loaded.records() if record is not None]
        images = [attempt.image.sha256 for record in records for attempt in record.attempts if attempt.image]
        shown = [step.image.sha256 for step in loaded.steps if step.image]
        return {digest: self.store.get(digest) for digest in (*images, *shown, document["plan"])}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_what_is_kept_stays_and_what_nobody_names_goes(world: World) -> None:
    kept, other = await world.made("one-r"), await world.made("two-r")
    orphan = world.store.put(b"nobody names this", mime="text/plain")
    half = world.folder / "artifacts" / "ab" / ".ab.12345678.tmp"
    half.parent.mkdir(exist_ok=True)
    half.write_bytes(b"ha")
    world.age()
    before, gone = world.content(kept), world.content(other)
    everything = collect_garbage(world.store)
    assert (everything.dry, everything.artifacts, everything.calls, everything.halves) == (True, 1, 0, 1)
    planned = collect_garbage(world.store, keep=[kept])
    assert planned.runs == ("two-r",) and world.content(other) == gone, "nothing is removed that was only asked about"
    done = collect_garbage(world.store, keep=[kept], dry_run=False)
    assert (done.runs, done.calls, done.bytes) == (planned.runs, planned.calls, planned.bytes)
    assert (done.artifacts, done.kept, done.kept_bytes) == (planned.artifacts, planned.kept, planned.kept_bytes)
    assert world.content(kept) == before and not world.store.has(orphan) and not half.exists()
    assert not [digest for digest in gone if digest not in before and world.store.has(digest)]
    assert world.store.list_calls("two-r") == [] and world.store.list_calls("one-r")
    files = [path for path in world.folder.rglob("*") if path.is_file() and path.name != ".lock"]
    assert (len(files), sum(path.stat().st_size for path in files)) == (done.kept, done.kept_bytes)
    again = await world.graph("one-r").ainvoke(ASK, thread("again"), context=InterleaveContext(run_id="one-r"))
    assert again["outcome"] == "complete" and world.backend.requests == [], "nor is anything of it paid for again"


async def test_every_version_a_kept_document_was_changed_from_stays(world: World) -> None:
    first = await world.made("one")
    graph = world.graph("two")
    changed = await graph.ainvoke({"request": "otherwise", "base": first}, thread("c"))
    world.age()
    before = world.content(first) | world.content(changed["document"])
    collect_garbage(world.store, keep=[changed["document"]], dry_run=False)
    assert world.content(first) | world.content(changed["document"]) == before
    assert len(Document.load(changed["document"], world.store).versions()) == 2


@pytest.mark.parametrize("paused", ["planner", "generate", "critique"])
async def test_a_run_without_its_document_stays_until_it_is_called_abandoned(world: World, paused: str) -> None:
    graph = world.graph("run-r")
    await graph.ainvoke(ASK, thread("t"), interrupt_after=[paused], context=InterleaveContext(run_id="run-r"))
    deadline, quiet = time.monotonic() + 5, 0
    while quiet < 10:  # what was certain at the pause is let finish, and may only just begin
        assert time.monotonic() < deadline
        quiet = 0 if any(call["status"] == "started" for call in world.store.list_calls("run-r")) else quiet + 1
        await asyncio.sleep(0.02)
    world.age()
    collect_garbage(world.store, keep=[], grace_s=60, dry_run=False)
    drawn = len(world.backend.requests)
    result = await graph.ainvoke(None, thread("t"))
    assert result["outcome"] == "complete" and len(world.backend.requests) == 4 and drawn >= 0
    world.age()
    assert collect_garbage(world.store, keep=[], dry_run=False).runs == ("run-r",)
    await graph.ainvoke(ASK, thread("u"), interrupt_after=[paused], context=InterleaveContext(run_id="other"))
    await asyncio.sleep(0.1)
    world.age()
    assert collect_garbage(world.store, keep=[], abandoned_s=3600).runs == ("other",)
    state = (await graph.aget_state(thread("u"))).values
    assert collect_garbage(world.store, keep=[state], abandoned_s=3600).runs == (), "a thread may go on any time"


async def test_lists_beside_the_artifacts_are_roots(world: World) -> None:
    kept, other = await world.made("one"), await world.made("two")
    (world.folder / "versions.json").write_text(f'{{"document": "{world.store.put_json(kept)}"}}', encoding="utf-8")
    world.age()
    done = collect_garbage(world.store, keep=(), dry_run=False)
    assert done.runs == ("two",) and world.content(kept)
    assert Document.load(other, world.store).missing()


@pytest.mark.parametrize("kind", ["memory", "folder", "fsspec"])
def test_what_is_young_or_stored_again_stays(tmp_path: Path, kind: str) -> None:
    stores = {
        "memory": ArtifactStore.memory,
        "folder": lambda: ArtifactStore.folder(tmp_path),
        "fsspec": lambda: ArtifactStore(f"memory://{tmp_path.name}"),
    }
    store = stores[kind]()
    young = store.put(b"young", mime="text/plain")
    assert collect_garbage(store, grace_s=60, dry_run=False).artifacts == 0 and store.get(young) == b"young"
    old = store.put(b"old", mime="text/plain")
    now = time.time()
    name = f"artifacts/{old.sha256[:2]}/{old.sha256}"
    # Whoever clears up has made up its mind; then somebody stores the same bytes.
    time.sleep(0.02)
    store.put(b"old", mime="text/plain")
    if kind != "fsspec":
        assert store.files.remove([name], before=now) == [] and store.get(old) == b"old"
    assert store.files.remove([name], before=time.time() + 1) == [name] and not store.has(old)
    assert store.files.remove([name], before=time.time() + 1) == []


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(ConfigError, match="grace_s=-1"):
        collect_garbage(ArtifactStore.memory(), grace_s=-1)
    with pytest.raises(ConfigError, match="no JSON"):
        collect_garbage(ArtifactStore.memory(), keep=[object()])


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
async def test_beside_runs_that_go_on(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Old documents, half of them kept; then new runs, replays of old ones and changes, and gc at random moments."""
    rng = random.Random(seed)
    world = World(tmp_path_factory.mktemp("store"))
    tags = [f"old{number}{rng.choice(['', '-r'])}" for number in range(rng.randint(1, 3))]
    documents = {tag: await world.made(tag) for tag in tags}
    kept = [tag for tag in tags if rng.random() < 0.6]
    paused = world.graph("paused-r", delay_s=0.002)
    await paused.ainvoke(ASK, thread("p"), interrupt_after=[rng.choice(["planner", "generate", "critique"])])
    before = {tag: world.content(documents[tag]) for tag in kept}
    world.age()
    results: list[Any] = []

    async def run(how: str, number: int) -> None:
        await asyncio.sleep(rng.random() * 0.05)
        tag, at = rng.choice(tags), thread(f"{how}{number}")
        graph = world.graph(tag, delay_s=0.003)
        if how == "again":  # kept or not: it is needed from now on
            results.append(await graph.ainvoke(ASK, at, context=InterleaveContext(run_id=tag)))
        elif how == "change" and kept:
            base = documents[rng.choice(kept)]
            results.append(await graph.ainvoke({"request": "otherwise", "base": base}, at))
        else:
            results.append(await graph.ainvoke(ASK, at, context=InterleaveContext(run_id=f"new{number}")))

    async def collect() -> None:
        for _ in range(3):
            await asyncio.sleep(rng.random() * 0.05)
            keep = [documents[tag] for tag in kept]
            await asyncio.to_thread(collect_garbage, world.store, keep=keep, grace_s=60, dry_run=False)

    resumed = paused.ainvoke(None, thread("p"))
    runs = [run(rng.choice(["again", "change", "new"]), number) for number in range(3)]
    gathered: Any = await asyncio.gather(collect(), collect(), *runs, resumed)
    for result in (*results, gathered[-1]):
        assert result["outcome"] == "complete", result["document"]
        assert world.content(result["document"])
    assert {tag: world.content(documents[tag]) for tag in kept} == before
