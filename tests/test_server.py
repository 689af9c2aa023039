"""The graph under `langgraph dev`: it loads, describes itself, runs and streams."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.server
REPOSITORY = Path(__file__).resolve().parent.parent
_BOOT_S = 60.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx.Client]:
    """A `langgraph dev` of its own on a free loopback port, in a copy of what it needs."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(REPOSITORY / "langgraph.json", folder)
    shutil.copytree(REPOSITORY / "graphs", folder / "graphs", ignore=shutil.ignore_patterns("__pycache__"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("langgraph")
    command = [str(program), "dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(port)]
    environment = os.environ | {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGSMITH_TRACING": "false"}
    log = (folder / "log.txt").open("w+", encoding="utf-8")
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as process:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
                _wait(client, process, folder / "log.txt")
                yield client
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
            log.close()


def _wait(client: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _BOOT_S
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text(encoding="utf-8")[-3000:]
        try:
            if client.get("/ok").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError(f"no answer within {_BOOT_S} s: {log.read_text(encoding='utf-8')[-3000:]}")


def events_of(response: httpx.Response) -> Iterator[tuple[str, Any]]:
    name = ""
    for line in response.iter_lines():
        if line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            yield name, json.loads(line.removeprefix("data:"))


def test_it_draws_itself_with_labelled_edges(server: httpx.Client) -> None:
    graph = server.get("/assistants/interleave/graph").json()
    assert {node["id"] for node in graph["nodes"]} >= {
        "planner",
        "dispatch",
        "generate",
        "critique",
        "retry",
        "compose",
    }
    labels = {(edge["source"], edge["target"]): edge.get("data") for edge in graph["edges"]}
    assert labels["critique", "retry"] == "revise"
    assert labels["dispatch", "generate"] == "ready step"


def test_it_says_what_goes_in_and_comes_out(server: httpx.Client) -> None:
    (assistant,) = server.post("/assistants/search", json={}).json()
    assert assistant["description"]
    schemas = server.get(f"/assistants/{assistant['assistant_id']}/schemas").json()
    assert list(schemas["input_schema"]["properties"]) == ["request"]
    assert set(schemas["output_schema"]["properties"]) == {"document", "outcome", "spend"}
    assert "seed" in schemas["context_schema"]["properties"]


def test_it_streams_events_and_ends_with_a_document(server: httpx.Client) -> None:
    body = {
        "assistant_id": "interleave",
        "input": {"request": "How to plant a bean, in 3 steps"},
        "context": {"seed": 7},
        "stream_mode": ["custom", "values"],
        "stream_subgraphs": True,
    }
    with server.stream("POST", "/runs/stream", json=body) as response:
        parts = list(events_of(response))
    assert not [data for name, data in parts if name == "error"]
    events = [data for name, data in parts if name == "custom"]
    assert events[0]["type"] == "interleave.run"
    assert sum(1 for event in events if event.get("kind") == "image") == 3
    final = [data for name, data in parts if name == "values"][-1]
    assert final["outcome"] == "complete"
    assert len(final["document"]["steps"]) == 3
