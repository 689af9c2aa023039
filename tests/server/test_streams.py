"""What the server streams of a run: its events, at any depth, in the forms that front ends read."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from langgraph_interleave.events import from_dict

pytestmark = pytest.mark.server
SMALL: dict[str, Any] = {"seed": 7, "size": "64x64"}
BEAN = "How to plant a bean, in 3 steps"


def events_of(parts: list[Any]) -> list[dict[str, Any]]:
    return [part.data for part in parts if part.event.split("|")[0] == "custom"]


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["kind"] for event in events if event.get("phase") == "finish" and "kind" in event]


def unbroken(parts: Any) -> list[Any]:
    """The parts of a stream in which nothing went wrong."""
    parts = list(parts)
    assert [part.data for part in parts if part.event == "error"] == []
    return parts


def test_it_streams_events_and_ends_with_a_document(sdk: Any) -> None:
    stream = sdk.runs.stream(
        None, "interleave", input={"request": BEAN}, context=SMALL, stream_mode=["custom", "values"]
    )
    parts = unbroken(stream)
    events = events_of(parts)
    assert events[0]["type"] == "interleave.run"
    assert kinds(events).count("image") == 3
    final = [part.data for part in parts if part.event == "values"][-1]
    assert final["outcome"] == "complete"
    assert len(final["document"]["steps"]) == 3


def test_pictures_in_events_can_be_fetched_at_once(sdk: Any) -> None:
    fetched: dict[str, bytes] = {}
    for part in sdk.runs.stream(
        None, "interleave", input={"request": BEAN}, context=SMALL | {"seed": 8}, stream_mode="custom"
    ):
        image = part.data.get("image") if part.event == "custom" else None
        if image:
            answer = httpx.get(image["url"], trust_env=False)
            assert answer.status_code == 200
            assert answer.headers["content-type"] == image["mime"]
            fetched[image["sha256"]] = answer.content
    assert len(fetched) >= 3


def test_the_illustrator_streams_blocks_in_document_order(sdk: Any) -> None:
    given = {"messages": [{"role": "user", "content": BEAN}]}
    modes: Any = ["messages-tuple", "custom", "values"]
    parts = unbroken(
        sdk.runs.stream(None, "illustrator", input=given, context=SMALL, stream_mode=modes, stream_subgraphs=True)
    )
    messages = [part.data[0] for part in parts if part.event.startswith("messages")]
    chunks = [message for message in messages if message["type"] == "AIMessageChunk"]
    blocks = {block["index"]: block["type"] for chunk in chunks for block in chunk["content"]}
    assert list(blocks) == list(range(len(blocks))), "each begins when the one before is told"
    assert [kind for kind in blocks.values() if kind != "reasoning"] == ["text", "image"] * 3
    answer = [part.data for part in parts if part.event == "values"][-1]["messages"][-1]
    assert [block["type"] for block in answer["content"]] == list(blocks.values())
    assert answer["response_metadata"]["outcome"] == "complete"
    told = [event for event in events_of(parts) if event.get("phase") == "finish"]
    captions = {event["step"]: event["text"] for event in told if event.get("kind") == "caption"}
    pictures = {event["step"]: event["image"]["sha256"] for event in told if event.get("kind") == "image"}
    shown = [
        block["text"].strip() if block["type"] == "text" else block["url"].partition("?")[0].rpartition("/")[2]
        for block in answer["content"]
        if block["type"] != "reasoning"
    ]
    assert shown == [value for step in range(3) for value in (captions[step], pictures[step])]


@pytest.mark.parametrize("subgraphs", [False, True])
def test_an_agents_tool_passes_every_event_on(sdk: Any, subgraphs: bool) -> None:
    given = {"messages": [{"role": "user", "content": BEAN}]}
    parts = unbroken(
        sdk.runs.stream(
            None, "agent", input=given, context=SMALL, stream_mode=["custom", "values"], stream_subgraphs=subgraphs
        )
    )
    events = events_of(parts)
    assert {event["tool_call_id"] for event in events} == {"call_2"}
    finished = [event["segment_id"] for event in events if event.get("phase") == "finish" and "segment_id" in event]
    assert len(finished) == len(set(finished)), "each is told once, whether or not subgraphs are streamed"
    assert kinds(events).count("image") == 3
    inner = [part.event for part in parts if part.event.startswith("values|tools:")]
    assert bool(inner) is subgraphs


@pytest.mark.parametrize(
    ("graph", "given"),
    [
        ("interleave", {"request": BEAN}),
        ("illustrator", {"messages": [{"role": "user", "content": BEAN}]}),
        ("agent", {"messages": [{"role": "user", "content": BEAN}]}),
    ],
)
def test_segments_are_a_channel_of_version_3(sdk: Any, graph: str, given: dict[str, Any]) -> None:
    with sdk.threads.stream(assistant_id=graph) as stream:
        stream.run.start(input=given, config={"configurable": SMALL})
        segments = [pushed["payload"] for pushed in stream.extensions["segments"]]
        assert kinds(segments).count("image") == 3
        ids = [segment["segment_id"] for segment in segments]
        assert len(ids) == len(set(ids))
        assert all(from_dict(segment) is not None for segment in segments)
        assert stream.output


def test_events_are_a_channel_of_version_3_as_well(sdk: Any) -> None:
    with sdk.threads.stream(assistant_id="interleave") as stream:
        stream.run.start(input={"request": BEAN}, config={"configurable": SMALL})
        told: list[Any] = [event["params"]["data"] for event in stream.subscribe(["custom"])]
    payloads = [data.get("payload", data) for data in told]
    assert sum(1 for event in payloads if event.get("type") == "interleave.attempt") >= 6
