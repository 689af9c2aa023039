"""Jobs outlive clients and servers: one owner at a time, and nothing is paid twice."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp import MCPError
from mcp_bench import Bench, eventually, id_of, open_bench, outfit, text_of
from mcp_parts import forget, noted, stuck

from langgraph_interleave.agents.mcp_server import Outfit, Shelf, Workshop
from langgraph_interleave.agents.mcp_server.answers import answer
from langgraph_interleave.agents.mcp_server.names import Name, new_document, read_name
from langgraph_interleave.agents.mcp_server.orders import Desk
from langgraph_interleave.agents.mcp_server.record import Job, Order
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.files import FolderFiles
from langgraph_interleave.ledger.owner import new_owner


def ordered(shelf: Shelf, made_with: Outfit, request: str = "3 things") -> Job:
    return Desk(shelf, made_with).document(request, (), {})


def owner_that_is_gone() -> str:
    """The name of a process of this machine that has ended."""
    code = "from langgraph_interleave.ledger.owner import new_owner; print(new_owner())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


async def test_a_server_that_ends_lays_its_jobs_down_and_the_next_takes_them_up(calls: Path, tmp_path: Path) -> None:
    shelf = Shelf.folder(tmp_path / "data")
    async with Workshop(shelf, outfit(stuck())) as first:
        job = await first.submit(ordered(shelf, first.outfit))
        await eventually(lambda: "begin thing 1" in noted(calls))
    left = shelf.find(job.name)
    assert (left.ended, left.owner) == (False, None)
    forget(calls)
    # It has the same fingerprints, but draws.
    async with Workshop(Shelf.folder(tmp_path / "data"), outfit()) as second:
        done = await second.wait(job.name, 10)
    assert done.outcome == "complete"
    assert sorted(noted(calls)) == [
        "begin thing 1", "begin thing 2", "draw thing 1", "draw thing 2", "judge Show thing 1.", "judge Show thing 2.",
    ]  # fmt: skip


async def test_the_job_of_a_server_that_was_killed_is_taken_up_at_once(calls: Path) -> None:
    shelf = Shelf.memory()
    made_with = outfit()
    left = ordered(shelf, made_with).model_copy(update={"owner": owner_that_is_gone(), "lease_until": time.time() + 99})
    job = shelf.add(left)
    async with Workshop(shelf, made_with) as workshop:
        assert workshop.busy == 1, "before anybody asks"
        assert (await workshop.wait(job.name, 10)).outcome == "complete"


async def test_a_job_that_another_server_makes_is_waited_for(calls: Path) -> None:
    shelf = Shelf.memory()
    made_with = outfit()
    # A live process of this machine: this one, under another name.
    other = ordered(shelf, made_with).model_copy(update={"owner": new_owner(), "lease_until": time.time() + 99})
    job = shelf.add(other)
    async with Workshop(shelf, made_with) as workshop:
        assert not (await workshop.wait(job.name, 0.3)).ended
        assert not noted(calls)
        # It gives no sign of life any more.
        shelf.update(job.name, lambda known: known.model_copy(update={"lease_until": time.time() - 1}))
        assert (await workshop.wait(job.name, 10)).outcome == "complete"


async def test_two_servers_on_one_folder_make_a_job_once(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_PARTS_DELAY", "0.05")
    async with (
        Workshop(Shelf.folder(tmp_path / "data"), outfit(), lease_s=0.3) as one,
        Workshop(Shelf.folder(tmp_path / "data"), outfit(), lease_s=0.3) as two,
    ):
        job = await one.submit(ordered(one.shelf, one.outfit, "4 things"))
        joined = await two.submit(ordered(two.shelf, two.outfit, "4 things"))
        assert joined.name == job.name
        ended = await asyncio.gather(one.wait(job.name, 10), two.wait(job.name, 10))
        assert [done.outcome for done in ended] == ["complete", "complete"]
        assert two.busy == 0
    assert len([call for call in noted(calls) if call.startswith("draw")]) == 4
    assert noted(calls).count("plan") == 1


async def test_one_server_stops_what_another_makes(calls: Path, tmp_path: Path) -> None:
    async with (
        Workshop(Shelf.folder(tmp_path / "data"), outfit(stuck()), lease_s=0.3) as one,
        Workshop(Shelf.folder(tmp_path / "data"), outfit(stuck()), lease_s=0.3) as two,
    ):
        job = await one.submit(ordered(one.shelf, one.outfit))
        await eventually(lambda: "begin thing 1" in noted(calls))
        await two.stop(job.name)
        done = await two.wait(job.name, 10)
        assert done.outcome == "cancelled"
        assert "cancelled; 3 steps" in text_of(answer(done, two.shelf, "none"))


async def test_what_was_made_with_other_roles_is_taken_up_only_for_who_asks(calls: Path) -> None:
    shelf = Shelf.memory()
    made_with = outfit()
    job = shelf.add(ordered(shelf, made_with).model_copy(update={"outfit": "another"}))
    async with Workshop(shelf, made_with) as workshop:
        assert workshop.busy == 0
        assert (await workshop.wait(job.name, 10)).outcome == "complete"


async def test_a_job_that_was_taken_up_too_often_waits_for_somebody_to_ask(calls: Path) -> None:
    shelf = Shelf.memory()
    made_with = outfit()
    job = shelf.add(ordered(shelf, made_with).model_copy(update={"taken_up": 5}))
    async with Workshop(shelf, made_with) as workshop:
        assert workshop.busy == 0, "it may be what ended the servers"
        assert (await workshop.wait(job.name, 10)).outcome == "complete"


async def test_no_more_jobs_at_once_than_there_are_places(calls: Path) -> None:
    shelf = Shelf.memory()
    async with Workshop(shelf, outfit(stuck()), most=1, most_waiting=2) as workshop:
        first = await workshop.submit(ordered(shelf, workshop.outfit, "2 things"))
        await eventually(lambda: "begin thing 1" in noted(calls))
        second = await workshop.submit(ordered(shelf, workshop.outfit, "3 things"))
        with pytest.raises(ConfigError, match="cancel_document"):
            await workshop.submit(ordered(shelf, workshop.outfit, "4 things"))
        assert (await workshop.wait(second.name, 0.05)).now == "waiting to begin"
        # One that has not begun leaves nothing behind.
        assert (await workshop.stop(second.name)).name == second.name
        stopped = await workshop.wait(second.name, 5)
        assert (stopped.outcome, stopped.data) == ("cancelled", None)
        assert "before anything was drawn" in text_of(answer(stopped, shelf, "none"))
        await workshop.stop(first.name)
        assert (await workshop.wait(first.name, 5)).outcome == "cancelled"
    assert noted(calls).count("plan") == 1


async def test_a_job_nobody_makes_is_stopped_where_it_lies(calls: Path) -> None:
    shelf = Shelf.memory()
    made_with = outfit()
    job = shelf.add(ordered(shelf, made_with).model_copy(update={"outfit": "another"}))
    async with Workshop(shelf, made_with) as workshop:
        stopped = await workshop.stop(job.name)
    assert (stopped.ended, stopped.outcome) == (True, "cancelled")
    assert not noted(calls)


async def test_a_job_that_was_to_stop_when_its_server_ended_is_not_begun_again(calls: Path) -> None:
    shelf = Shelf.memory()
    made_with = outfit()
    job = shelf.add(ordered(shelf, made_with).model_copy(update={"stop": True}))
    async with Workshop(shelf, made_with) as workshop:
        assert workshop.busy == 0
    assert shelf.find(job.name).outcome == "cancelled"
    assert not noted(calls)


async def test_a_version_that_came_to_nothing_does_not_hide_the_one_before(bench: Bench, calls: Path) -> None:
    document = id_of(await bench.call("create_document", request="2 things"))
    failed = bench.shelf.find(read_name(document)).model_copy(
        update={"state": "ended", "data": None, "outcome": "failed", "asked": "other"}
    )
    assert bench.shelf.add(failed).version == 2
    changed = await bench.call("revise_document", document_id=document, request="darker 1")
    assert "version 3 (changed from version 1)" in text_of(changed)
    async with bench.client() as client:
        assert (await client.read_resource(f"interleave://document/{document}")).contents
    said = await bench.call("revise_document", document_id=document, version=2, request="darker 1")
    assert said.is_error and "came to nothing" in text_of(said)


async def test_a_fault_ends_the_job_and_says_so(calls: Path) -> None:
    from langgraph_interleave.testing import ScriptedBackend

    broken = ScriptedBackend(lambda _: RuntimeError("secret words of a library"))
    async with open_bench(Shelf.memory(), backend=broken) as bench:
        result = await bench.call("create_document", request="2 things")
        assert "secret words" not in str(result)
        (job,) = bench.shelf.jobs()
        assert job.ended and job.problem is not None
        assert bench.workshop.busy == 0


def test_versions_are_counted_and_records_are_whole() -> None:
    shelf = Shelf.memory()
    document = new_document()
    order = Order(request=({"type": "text", "text": "a"},))
    job = Job(document=document, version=1, order=order, asked="a", outfit="b", created=1.0)
    assert [shelf.add(job).version for _ in range(3)] == [1, 2, 3]
    assert shelf.find(Name(document)).version == 3
    assert shelf.find(Name(document, 2)).run_id == f"{document}-v2"
    ended = shelf.update(Name(document, 2), lambda known: known.model_copy(update={"state": "ended"}))
    assert ended is not None and ended.ended
    # What has ended stays as it is.
    assert shelf.update(Name(document, 2), lambda known: known.model_copy(update={"done": 5})) is None
    assert [known.version for known in shelf.unfinished()] == [1, 3]
    with pytest.raises(ConfigError, match="no document"):
        shelf.find(Name(new_document()))


def test_a_damaged_record_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    shelf = Shelf.folder(tmp_path)
    order = Order(request=({"type": "text", "text": "a"},))
    whole = shelf.add(Job(document=new_document(), version=1, order=order, asked="a", outfit="b", created=1.0))
    (tmp_path / "jobs" / f"{new_document()}.v1.json").write_text("{", encoding="utf-8")
    (tmp_path / "jobs" / "notes.txt").write_text("mine", encoding="utf-8")
    assert [job.name for job in shelf.jobs()] == [whole.name]
    assert "cannot be read" in caplog.text


def test_a_record_under_the_name_of_another_is_damaged_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shelf = Shelf.folder(tmp_path)
    job = shelf.add(ordered(shelf, outfit()))
    record = tmp_path / "jobs" / f"{job.name}.json"
    (tmp_path / "jobs" / f"{job.document}.v7.json").write_bytes(record.read_bytes())
    for _ in range(3):
        assert [known.name for known in shelf.jobs()] == [job.name]
    assert caplog.text.count("v7.json cannot be read") == 1


def fill(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    """From now on there is no space for files of this folder."""
    write = FolderFiles._replace

    def full(path: Path, data: bytes) -> None:
        if folder in path.parts:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, data)

    monkeypatch.setattr(FolderFiles, "_replace", staticmethod(full))


async def test_a_full_disk_is_told_and_not_tried_again_and_again(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_bench(Shelf.folder(tmp_path / "data")) as bench:
        with monkeypatch.context() as patch:
            fill(patch, "artifacts")
            result = await bench.call("create_document", request="1 things", wait_seconds=5)
            assert result.is_error and "could not be gone on with. The server's log says why." in text_of(result)
            assert noted(calls).count("plan") == 1, "each time again is paid again"
        (job,) = bench.shelf.jobs()
        done = await bench.call("get_document", document_id=job.document)
        assert "complete; 1 step" in text_of(done)


async def test_a_folder_that_cannot_be_written_to_is_told_without_saying_where_it_is(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(monkeypatch, "jobs")
    async with open_bench(Shelf.folder(tmp_path / "data")) as bench:
        result = await bench.call("create_document", request="1 things")
    assert result.is_error and "No space left on device" in text_of(result) and str(tmp_path) not in text_of(result)
    assert noted(calls) == []


async def test_a_document_that_lost_a_part_is_told_without_saying_where_it_was(calls: Path, tmp_path: Path) -> None:
    async with open_bench(Shelf.folder(tmp_path / "data")) as bench:
        document = id_of(await bench.call("create_document", request="1 things"))
        job = bench.shelf.find(read_name(document))
        assert job.data is not None
        next((tmp_path / "data" / "artifacts").rglob(job.data)).unlink()
        result = await bench.call("get_document", document_id=document)
        async with bench.client() as client:
            with pytest.raises(MCPError, match="gone") as caught:
                await client.read_resource(f"interleave://document/{document}")
    assert result.is_error and "gone from the folder of the server" in text_of(result)
    assert str(tmp_path) not in text_of(result) + str(caught.value)
