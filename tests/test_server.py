"""The graphs under `langgraph dev`: they load, describe themselves, run, stream, and speak A2A."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from langgraph_interleave.imaging import measure_image
from langgraph_interleave.testing import noise_card

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


def test_the_agent_draws_itself_with_the_graph_inside(server: httpx.Client) -> None:
    graph = server.get("/assistants/illustrator/graph").json()
    assert {node["id"] for node in graph["nodes"]} == {"__start__", "receive", "illustrate", "__end__"}
    described = {node["id"]: (node.get("metadata") or {}).get("description") for node in graph["nodes"]}
    assert described["receive"] and described["illustrate"]
    inside = server.get("/assistants/illustrator/graph", params={"xray": True}).json()
    labels = {(edge["source"], edge["target"]): edge.get("data") for edge in inside["edges"]}
    assert labels["illustrate:critique", "illustrate:retry"] == "revise"


@pytest.fixture(scope="module")
def assistants(server: httpx.Client) -> dict[str, dict[str, Any]]:
    """The assistants by the name of their graph."""
    return {found["graph_id"]: found for found in server.post("/assistants/search", json={}).json()}


def schemas_of(server: httpx.Client, assistant: dict[str, Any]) -> dict[str, Any]:
    assert assistant["description"]
    return server.get(f"/assistants/{assistant['assistant_id']}/schemas").json()


def test_it_says_what_goes_in_and_comes_out(server: httpx.Client, assistants: dict[str, dict[str, Any]]) -> None:
    assert set(assistants) == {"interleave", "illustrator"}
    schemas = schemas_of(server, assistants["interleave"])
    assert list(schemas["input_schema"]["properties"]) == ["request"]
    assert set(schemas["output_schema"]["properties"]) == {"document", "outcome", "spend"}
    assert "seed" in schemas["context_schema"]["properties"]


def test_the_agent_takes_and_gives_messages(server: httpx.Client, assistants: dict[str, dict[str, Any]]) -> None:
    schemas = schemas_of(server, assistants["illustrator"])
    for way in ("input_schema", "output_schema"):
        assert list(schemas[way]["properties"]) == ["messages"]
        assert "request" in schemas[way]["properties"]["messages"]["description"]
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


def test_the_agent_streams_blocks_in_document_order(server: httpx.Client) -> None:
    body = {
        "assistant_id": "illustrator",
        "input": {"messages": [{"role": "user", "content": "How to plant a bean, in 3 steps"}]},
        "context": {"seed": 7, "size": "64x64"},
        "stream_mode": ["messages-tuple", "custom", "values"],
        "stream_subgraphs": True,
    }
    with server.stream("POST", "/runs/stream", json=body) as response:
        parts = list(events_of(response))
    assert not [data for name, data in parts if name == "error"]
    chunks = [data[0] for name, data in parts if name.startswith("messages") and data[0]["type"] == "AIMessageChunk"]
    blocks = {block["index"]: block["type"] for chunk in chunks for block in chunk["content"]}
    assert list(blocks) == list(range(len(blocks))), "each begins when the one before is told"
    assert [kind for kind in blocks.values() if kind != "reasoning"] == ["text", "image"] * 3
    final = [data for name, data in parts if name == "values"][-1]
    answer = final["messages"][-1]
    assert [block["type"] for block in answer["content"]] == list(blocks.values())
    assert answer["response_metadata"]["outcome"] == "complete"
    told = [data for name, data in parts if name.startswith("custom") and data.get("phase") == "finish"]
    captions = {event["step"]: event["text"] for event in told if event.get("kind") == "caption"}
    pictures = {event["step"]: event["image"]["sha256"] for event in told if event.get("kind") == "image"}
    assert shown(answer["content"]) == [value for step in range(3) for value in (captions[step], pictures[step])]


def shown(content: list[dict[str, Any]]) -> list[str]:
    """Words of the text blocks and digests of the pictures, in order."""
    return [
        block["text"].strip()
        if block["type"] == "text"
        else hashlib.sha256(base64.b64decode(block["base64"])).hexdigest()
        for block in content
        if block["type"] != "reasoning"
    ]


def send(server: httpx.Client, assistant: dict[str, Any], parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ask over A2A; the parts of the answer."""
    message = {"role": "user", "parts": parts, "messageId": str(uuid.uuid4())}
    body = {"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": {"message": message}}
    reply = server.post(f"/a2a/{assistant['assistant_id']}", json=body, headers={"Accept": "application/json"}).json()
    assert "error" not in reply, reply
    assert reply["result"]["status"]["state"] == "completed", reply
    return [part for artifact in reply["result"]["artifacts"] for part in artifact["parts"]]


def test_pictures_arrive_over_a2a_as_files(server: httpx.Client, assistants: dict[str, dict[str, Any]]) -> None:
    parts = send(server, assistants["illustrator"], [{"kind": "text", "text": "How to plant a bean, in 2 steps"}])
    assert [part["kind"] for part in parts] == ["text", "file", "text", "file"]
    for part in parts[1::2]:
        assert part["file"]["mimeType"] == "image/png"
        assert (measure_image(base64.b64decode(part["file"]["bytes"])) or ("",))[0] == "image/png"
    assert all(part["text"].strip() for part in parts[0::2])


def test_a_picture_may_be_sent_over_a2a_too(server: httpx.Client, assistants: dict[str, dict[str, Any]]) -> None:
    encoded = base64.b64encode(noise_card("a leaf", side=64).data).decode()
    file = {"kind": "file", "file": {"bytes": encoded, "mimeType": "image/png", "name": "leaf.png"}}
    parts = send(server, assistants["illustrator"], [{"kind": "text", "text": "Plant a tree here"}, file])
    (drawn,) = [part["file"] for part in parts if part["kind"] == "file"]
    # The given picture is what the step builds on, so the size is taken from it.
    assert measure_image(base64.b64decode(drawn["bytes"])) == ("image/png", 64, 64)
