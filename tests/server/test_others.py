"""The server's other doors: `/mcp`, and a graph of somebody else's that calls it as a `RemoteGraph`."""

from __future__ import annotations

import ast
from typing import Any

import httpx
import pytest
from langgraph.pregel.remote import RemoteGraph

from langgraph_interleave.segments import stream_segments

pytestmark = pytest.mark.server
BEAN = "How to plant a bean, in 2 steps"


def mcp(server: httpx.Client, method: str, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = server.post("/mcp", json=body, headers={"Accept": "application/json"}).json()
    assert "error" not in answer, answer
    return answer["result"]


def test_every_graph_is_a_tool_with_what_it_takes(server: httpx.Client) -> None:
    tools = {tool["name"]: tool for tool in mcp(server, "tools/list")["tools"]}
    assert set(tools) >= {"interleave", "illustrator", "agent"}
    for name in ("interleave", "illustrator", "agent"):
        assert len(tools[name]["description"]) > 40
    assert list(tools["interleave"]["inputSchema"]["properties"]) == ["request", "base"]


def test_a_tool_call_makes_a_document(server: httpx.Client) -> None:
    answer = mcp(server, "tools/call", name="interleave", arguments={"request": BEAN})
    assert not answer.get("isError")
    result = ast.literal_eval(answer["content"][0]["text"])
    assert result["outcome"] == "complete"
    assert len(result["document"]["steps"]) == 2


def test_a_tool_call_that_cannot_be_says_what_is_wrong(server: httpx.Client) -> None:
    answer = mcp(server, "tools/call", name="interleave", arguments={"request": ""})
    assert answer["isError"]
    assert "ConfigError" in answer["content"][0]["text"]


def test_a_remote_graph_streams_the_same_segments(address: str, sdk: Any) -> None:
    remote = RemoteGraph("interleave", sync_client=sdk)
    config: Any = {"configurable": {"size": "64x64", "seed": 7}}
    segments = list(stream_segments(remote, {"request": BEAN}, config))
    pictures = [segment.image for segment in segments if segment.kind == "image"]
    assert [picture.width for picture in pictures if picture] == [64, 64]
    assert all(picture and picture.url and picture.url.startswith(address) for picture in pictures)
