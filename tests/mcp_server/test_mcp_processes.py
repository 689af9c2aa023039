"""The server as a process of its own, with the official client, over both transports; and killed."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_parts
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_bench import id_of, links_of, pictures_of, text_of
from mcp_parts import noted, wait_until
from PIL import Image

pytestmark = pytest.mark.slow

ENTRIES = """
[langgraph_interleave.planners]
mcp-parts = mcp_parts:Planner

[langgraph_interleave.backends]
mcp-parts = mcp_parts:backend

[langgraph_interleave.critics]
mcp-parts = mcp_parts:critic
"""
ROLES = ["--planner", "mcp-parts", "--backend", "mcp-parts", "--critic", "mcp-parts"]
KEY = "a-key-of-enough-characters"
SUPPORT = Path(__file__).parents[1] / "support"


class Place:
    """The scripted roles as an installed distribution, a data folder, and the file of calls."""

    def __init__(self, folder: Path) -> None:
        self.data, self.calls = folder / "data", folder / "calls.txt"
        site = folder / "site"
        info = site / "mcp_parts-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mcp-parts\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(ENTRIES, encoding="utf-8")
        path = os.pathsep.join([str(site), str(SUPPORT)])
        self.env = {**os.environ, "PYTHONPATH": path, mcp_parts.CALLS: str(self.calls)}

    def command(self, *more: str) -> list[str]:
        return [sys.executable, "-m", "langgraph_interleave", "mcp", *ROLES, "--out", str(self.data), *more]

    def slow(self, seconds: float) -> None:
        self.env[mcp_parts.DELAY] = str(seconds)

    @property
    def drawn(self) -> list[str]:
        return [call for call in noted(self.calls) if call.startswith("draw")]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@asynccontextmanager
async def stdio(place: Place, mode: str = "auto", seconds: float = 60.0) -> AsyncGenerator[Client]:
    program, *arguments = place.command()
    client = Client(StdioServerParameters(command=program, args=arguments, env=place.env), mode=mode)
    with anyio.fail_after(seconds):
        async with client:
            yield client


@contextmanager
def served(place: Place, *more: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """The HTTP server: its address, and its process."""
    command = place.command("--http", "--port", "0", *more)
    with subprocess.Popen(command, env=place.env, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.fullmatch(r"Serving (http://\S+/mcp)\n", line)
            assert found is not None, line + process.stderr.read()
            yield found[1], process
        finally:
            process.kill()


@asynccontextmanager
async def connected(url: str, key: str | None = None, mode: str = "auto") -> AsyncGenerator[Client]:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    with anyio.fail_after(60):
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            yield client


@asynccontextmanager
async def http(place: Place, mode: str = "auto") -> AsyncGenerator[Client]:
    with served(place) as (url, _):
        async with connected(url, mode=mode) as client:
            yield client


Opened = Callable[[Place, str], AbstractAsyncContextManager[Client]]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("opened", [stdio, http])
async def test_the_whole_conversation_over_a_transport(place: Place, opened: Opened, mode: str) -> None:
    told: list[float] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with opened(place, mode) as client:
        assert len((await client.list_tools()).tools) == 6
        made = await client.call_tool("create_document", {"request": "3 things apart"}, progress_callback=tell)
        assert text_of(made).startswith("A plan\ncomplete; 3 steps")
        assert len(pictures_of(made)) == 3
        assert told == sorted(set(told)) and told[-1] >= 4
        blob: Any = (await client.read_resource(links_of(made)[0].uri)).contents[0]
        assert Image.open(io.BytesIO(base64.b64decode(blob.blob))).size == (16, 16)
        changed = await client.call_tool("revise_document", {"document_id": id_of(made), "request": "darker 3"})
        assert "version 2 (changed from version 1)" in text_of(changed)
        assert sorted(place.drawn) == ["draw thing 0", "draw thing 1", "draw thing 2", "draw thing 2, darker"]
        mule = await client.call_tool("generate_image", {"prompt": "a stubborn mule"})
        hat = await client.call_tool("edit_image", {"image": f"{id_of(mule)}.step_1", "prompt": "a hat"})
        assert not hat.is_error, text_of(hat)
        refused = await client.call_tool("edit_image", {"image": "/etc/passwd", "prompt": "a hat"})
        assert refused.is_error and "data:image/png" in text_of(refused)
        assert len((await client.list_resources()).resources) == 6


async def test_a_server_that_is_killed_in_the_middle_repeats_nothing_that_was_finished(place: Place) -> None:
    place.slow(0.6)
    with served(place) as (url, process):
        async with connected(url) as client:
            begun = await client.call_tool("create_document", {"request": "4 things", "wait_seconds": 0})
        document = id_of(begun)
        # Whatever the client says of a server that is gone while it waits for it.
        with contextlib.suppress(Exception):
            async with connected(url) as client, anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "get_document", {"document_id": document})
                await anyio.to_thread.run_sync(wait_until, place.calls, "begin thing 2")
                os.kill(process.pid, signal.SIGKILL)
        assert process.wait(10) == -signal.SIGKILL
    before = noted(place.calls)
    assert before.count("draw thing 1") == 1 and "draw thing 2" not in before
    # Over the other transport, on the same folder; nobody has to ask.
    place.slow(0)
    async with stdio(place) as client:
        done = await client.call_tool("get_document", {"document_id": document, "wait_seconds": 30})
    assert text_of(done).startswith("A plan\ncomplete; 4 steps")
    calls = noted(place.calls)
    assert calls.count("plan") == 1
    assert place.drawn == ["draw thing 0", "draw thing 1", "draw thing 2", "draw thing 3"]
    assert [call for call in calls if call.startswith("judge")] == [f"judge Show thing {step}." for step in range(4)]
    assert calls.count("begin thing 2") == 2, "only what was cut off was begun again"


async def test_the_work_goes_on_while_nobody_is_connected(place: Place) -> None:
    place.slow(0.3)
    with served(place) as (url, _):
        async with connected(url) as client:
            begun = await client.call_tool("create_document", {"request": "3 things", "wait_seconds": 0})
        # Nobody is there.
        await anyio.to_thread.run_sync(wait_until, place.calls, "judge Show thing 2.")
        # One that goes away in the middle of a call.
        with anyio.move_on_after(0.5):
            async with connected(url) as client:
                await client.call_tool("create_document", {"request": "4 things"})
        async with connected(url, mode="legacy") as client:
            done = await client.call_tool("get_document", {"document_id": id_of(begun)})
            assert text_of(done).startswith("A plan\ncomplete; 3 steps")
            again = await client.call_tool("create_document", {"request": "4 things"})
            assert text_of(again).startswith("A plan\ncomplete; 4 steps")
    assert len(place.drawn) == 7, "the same call joined what was under way"


async def test_a_stdio_client_that_leaves_ends_the_server_but_not_the_job(place: Place) -> None:
    place.slow(0.5)
    async with stdio(place) as client:
        begun = await client.call_tool("create_document", {"request": "3 things", "wait_seconds": 0})
        await anyio.to_thread.run_sync(wait_until, place.calls, "begin thing 1")
        left = time.monotonic()
    assert time.monotonic() - left < 3.5, "no client has to kill it"
    place.slow(0)
    async with stdio(place, "legacy") as client:
        done = await client.call_tool("get_document", {"document_id": id_of(begun)})
        assert text_of(done).startswith("A plan\ncomplete; 3 steps")
    assert noted(place.calls).count("plan") == 1
    assert place.drawn == ["draw thing 0", "draw thing 1", "draw thing 2"]


async def test_the_key_is_asked_for(place: Place) -> None:
    place.env["INTERLEAVE_MCP_KEY"] = KEY
    with served(place, "--host", "0.0.0.0") as (url, process):
        url = url.replace("0.0.0.0", "127.0.0.1")
        async with httpx2.AsyncClient(trust_env=False) as plain:
            assert (await plain.post(url, json={})).status_code == 401
            rebound = await plain.post(url, json={}, headers={"Host": "evil.example", "Authorization": f"Bearer {KEY}"})
            assert rebound.status_code == 421
        with pytest.raises(Exception):  # noqa: B017 - the client's own words for a refused connection
            async with connected(url, "another-key-of-this-length"):
                pass
        async with connected(url, KEY) as client:
            assert len((await client.list_tools()).tools) == 6
        process.terminate()
        assert process.wait(10) in (0, -signal.SIGTERM)
