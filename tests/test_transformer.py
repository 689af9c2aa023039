"""LangGraph's v3 event stream: the segments of a run at its root, each once, however deep it runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.stream import CustomTransformer
from typing_extensions import TypedDict

from langgraph_interleave import events
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.serving import Links
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan
from langgraph_interleave.transformer import SegmentTransformer, stream_transformers

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")


def graph_of(artifacts: ArtifactStore | None = None) -> Any:
    return create_interleave_graph(
        ScriptedPlanner(simple_plan(2)),
        ScriptedBackend(),
        ScriptedCritic(["revise", "accept", "accept"]),
        artifacts=artifacts or ArtifactStore.memory(),
        lookahead=False,
    )


class Outer(TypedDict):
    request: str


def inside(graph: Any, *, twice: bool) -> Any:
    """The graph within a node of another; `twice`: the node passes every event on as well, as tools do."""
    from langgraph.config import get_stream_writer

    def node(state: Outer) -> dict[str, Any]:
        if not twice:
            graph.invoke({"request": state["request"]})
            return {}
        write = get_stream_writer()
        for part in graph.stream({"request": state["request"]}, stream_mode=["custom"], version="v2"):
            write({**part["data"], "tool_call_id": "call_1"})
        return {}

    outer = StateGraph(Outer)
    outer.add_node("draw", node)
    outer.add_edge(START, "draw")
    outer.add_edge("draw", END)
    return outer.compile()


def kinds(segments: list[dict[str, Any]]) -> list[str]:
    return [segment["kind"] for segment in segments]


@pytest.mark.parametrize("depth", ["itself", "inside", "inside and passed on"])
def test_segments_come_out_at_the_root_once(depth: str) -> None:
    graph = graph_of() if depth == "itself" else inside(graph_of(), twice=depth.endswith("on"))
    run = graph.stream_events({"request": "things"}, version="v3", transformers=stream_transformers())
    segments = list(run.extensions["segments"])
    ids = [segment["segment_id"] for segment in segments]
    assert len(ids) == len(set(ids))
    assert kinds(segments).count("image") == 2
    assert kinds(segments).count("rejected_image") == 1
    assert all(segment["phase"] == "finish" for segment in segments)
    assert all(events.from_dict(segment) is not None for segment in segments)


async def test_and_in_async_code() -> None:
    run = await graph_of().astream_events({"request": "things"}, version="v3", transformers=stream_transformers())
    async with asyncio.timeout(20):
        segments = [segment async for segment in run.extensions["segments"]]
    assert kinds(segments).count("image") == 2


def test_a_graph_can_be_compiled_with_it() -> None:
    outer = StateGraph(Outer)
    outer.add_node("draw", graph_of())
    outer.add_edge(START, "draw")
    compiled: Any = outer.compile(transformers=stream_transformers())
    run = compiled.stream_events({"request": "things"}, version="v3")
    assert kinds(list(run.extensions["segments"])).count("image") == 2


def test_what_is_not_ours_or_broken_passes_by(caplog: pytest.LogCaptureFixture) -> None:
    transformer = SegmentTransformer()
    pushed: list[Any] = []
    channel = transformer.init()["segments"]
    channel.push = pushed.append
    good = events.to_dict(events.segment("r", 0, "caption", text="Dig."))
    for data in ("progress 3", {"type": "ui"}, {"type": "interleave.segment"}, good, good):
        event: Any = {"type": "event", "method": "custom", "params": {"namespace": [], "timestamp": 0, "data": data}}
        assert transformer.process(event)
    assert pushed == [good]
    assert "passed over" in caplog.text


def test_both_are_named() -> None:
    assert stream_transformers() == [CustomTransformer, SegmentTransformer]


async def test_pictures_carry_a_link_where_the_store_has_one() -> None:
    store = ArtifactStore.memory(links=Links("a secret of enough bytes", base_url="https://example.org"))
    parts = graph_of(store).astream(
        {"request": "things"}, context=InterleaveContext(run_id="linked"), stream_mode="custom"
    )
    told = [events.from_dict(part) async for part in parts]
    pictures = [event.image for event in told if isinstance(event, events.SegmentEvent) and event.image]
    assert {picture.url for picture in pictures} == {store.link(picture.sha256) for picture in pictures}
    assert len(pictures) == 6
