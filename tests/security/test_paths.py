"""A file of this machine, or an address, that stands in a request is opened by nobody, whichever door it came in by."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hostile
import pytest
from langchain_core.messages import HumanMessage
from mcp_bench import open_bench
from witness import watched

from langgraph_interleave import ChatInterleave, create_interleave_agent, create_interleave_graph
from langgraph_interleave.agents.image_tools import create_image_tools
from langgraph_interleave.agents.mcp_server import Shelf
from langgraph_interleave.agents.mcp_server.pictures import picture_blocks
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.chat.conversation import keep_pictures
from langgraph_interleave.content import read_request
from langgraph_interleave.errors import ConfigError, InterleaveError
from langgraph_interleave.imaging import load_image
from langgraph_interleave.reviewing import read_answer
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import StepReview

Door = Callable[[str], object]


def block_of(path: str) -> list[Any]:
    return [{"type": "text", "text": "x"}, {"type": "image", "url": path}]


def by_request(path: str) -> object:
    return read_request(block_of(path), ArtifactStore.memory())


def by_older_block(path: str) -> object:
    return read_request([{"type": "image_url", "image_url": {"url": path}}], ArtifactStore.memory())


def by_message(path: str) -> object:
    artifacts = ArtifactStore.memory()
    (message,) = keep_pictures([HumanMessage(block_of(path))], artifacts)
    return read_request(message.content, artifacts)  # pyright: ignore[reportArgumentType]


def by_source_block(path: str) -> object:
    artifacts = ArtifactStore.memory()
    block: dict[str, Any] = {"type": "image", "source": {"type": "url", "url": path}}
    (message,) = keep_pictures([HumanMessage([block])], artifacts)
    return read_request(message.content, artifacts)  # pyright: ignore[reportArgumentType]


def by_mcp(path: str) -> object:
    return picture_blocks([path], Shelf.memory())


def by_reviewer(path: str) -> object:
    review = read_answer(StepReview, {"decision": "replace", "image": path})
    assert isinstance(review, StepReview)
    return read_request([{"type": "image", "url": str(review.image)}], ArtifactStore.memory())


DOORS: dict[str, Door] = {
    "request": by_request,
    "older block": by_older_block,
    "message": by_message,
    "source block": by_source_block,
    "MCP": by_mcp,
    "reviewer": by_reviewer,
}


@pytest.fixture(autouse=True)
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture in the working folder and at home, which a path would find."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "canary.png"
    path.write_bytes(noise_card("canary").data)
    assert load_image("canary.png").width == 16, "for the owner of the program it is there"


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
@pytest.mark.parametrize("path", hostile.sampled(hostile.PATHS))
def test_nothing_is_opened(path: str, door: Door) -> None:
    with watched() as seen, pytest.raises(InterleaveError) as caught:
        door(path)
    assert caught.value.remedy
    assert len(str(caught.value)) < 600
    assert not [one for one in seen.read if "canary" in one or one.startswith(("/etc", "/dev", "/proc"))]
    assert seen.hosts == [] and seen.changed == [] and seen.started == []


@pytest.mark.parametrize("path", ["canary.png", "file:///etc/passwd", "https://example.org/a.png", "artifact://../x"])
async def test_whole_doors_are_shut_too(path: str, tmp_path: Path) -> None:
    roles = ScriptedPlanner(simple_plan(1)), ScriptedBackend(), ScriptedCritic()
    content: Any = block_of(path)
    graph = create_interleave_graph(*roles)
    agent: Any = create_interleave_agent(*roles)
    store = ArtifactStore.memory()
    chat = ChatInterleave(graph=create_interleave_graph(*roles, artifacts=store), artifacts=store)
    edit = create_image_tools(ScriptedBackend(), size="16x16")[1]
    with watched() as seen:
        with pytest.raises(ConfigError):
            await graph.ainvoke({"request": content})
        with pytest.raises(ConfigError):
            await agent.ainvoke({"messages": [HumanMessage(content)]})
        with pytest.raises(ConfigError):
            await chat.ainvoke([HumanMessage(content)])
        call: Any = {
            "type": "tool_call",
            "id": "1",
            "name": "edit_image",
            "args": {"prompt": "x", "references": [path]},
        }
        assert (await edit.ainvoke(call)).status == "error"
        async with open_bench(Shelf.memory()) as bench:
            assert (await bench.call("create_document", request="x", images=[path])).is_error
            assert (await bench.call("edit_image", image=path, prompt="x")).is_error
    assert not [one for one in seen.read if "canary" in os.path.basename(one) or one == "/etc/passwd"]  # noqa: PTH119
    assert not [host for host in seen.hosts if "example" in host]
