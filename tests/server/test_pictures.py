"""Pictures of the server: links in answers, over A2A, and what they do not give away."""

from __future__ import annotations

import base64
import json
import uuid
from typing import Any

import httpx
import pytest

from langgraph_interleave.imaging import measure_image
from langgraph_interleave.testing import noise_card

pytestmark = pytest.mark.server
SMALL: dict[str, Any] = {"seed": 7, "size": "64x64"}
ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "How to plant a bean, in 2 steps"}]}


def fetched(url: str) -> tuple[str, int, int] | None:
    answer = httpx.get(url, trust_env=False)
    assert answer.status_code == 200, url
    measured = measure_image(answer.content)
    assert measured is not None
    assert answer.headers["content-type"] == measured[0]
    return measured


def test_the_illustrator_answers_with_links_and_its_thread_holds_no_bytes(sdk: Any, thread: str) -> None:
    state: Any = sdk.runs.wait(thread, "illustrator", input=ASKED, context=SMALL)
    pictures = [block for block in state["messages"][-1]["content"] if block["type"] == "image"]
    assert [fetched(picture["url"]) for picture in pictures] == [("image/png", 64, 64)] * 2
    assert "base64" not in json.dumps(sdk.threads.get_history(thread, limit=50))


def test_a_link_holds_for_its_picture_alone(sdk: Any, thread: str) -> None:
    state: Any = sdk.runs.wait(thread, "illustrator", input=ASKED, context=SMALL)
    answer = state["messages"][-1]
    first, second = [httpx.URL(block["url"]) for block in answer["content"] if block["type"] == "image"]
    document = answer["response_metadata"]["document"].removeprefix("artifact://")
    for path in (second.path, f"/artifacts/{document}", "/artifacts", "/artifacts/"):
        assert httpx.get(first.copy_with(path=path), trust_env=False).status_code == 404, path
    later = first.copy_merge_params({"exp": str(int(first.params["exp"]) + 1)})
    assert httpx.get(later, trust_env=False).status_code == 404
    assert httpx.head(first, trust_env=False).status_code == 200
    held = httpx.get(first, headers={"If-None-Match": f'"{first.path.rpartition("/")[2]}"'}, trust_env=False)
    assert held.status_code == 304


def test_the_rule_based_agent_shows_pictures_in_markdown(sdk: Any) -> None:
    state: Any = sdk.runs.wait(None, "agent", input=ASKED, context=SMALL)
    said = state["messages"][-1]["content"]
    urls = [rest.partition(")")[0] for rest in said.split("](")[1:]]
    assert [fetched(url) for url in urls] == [("image/png", 64, 64)] * 2


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
        assert fetched(part["file"]["uri"])
    assert all(part["text"].strip() for part in parts[0::2])


def test_a_picture_may_be_sent_over_a2a_too(server: httpx.Client, assistants: dict[str, dict[str, Any]]) -> None:
    encoded = base64.b64encode(noise_card("a leaf", side=64).data).decode()
    file = {"kind": "file", "file": {"bytes": encoded, "mimeType": "image/png", "name": "leaf.png"}}
    parts = send(server, assistants["illustrator"], [{"kind": "text", "text": "Plant a tree here"}, file])
    (drawn,) = [part["file"] for part in parts if part["kind"] == "file"]
    # The given picture is what the step builds on, so the size is taken from it.
    assert fetched(drawn["uri"]) == ("image/png", 64, 64)
