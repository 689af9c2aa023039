"""`invoke` and `ainvoke` return the same; `stream` and `astream` tell the same; inside a running loop too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.segments import Segments, astream_segments, in_order, read_event, stream_segments
from langgraph_interleave.testing import simple_plan

Make = Callable[..., Any]
ASK: Any = {"request": "things"}
PLAN = simple_plan(5, sources=[[], [0], [], [1, 2], []], text=[4])


def verdict(asked: Any) -> str:
    return "revise" if asked.attempt == 0 and "2" in asked.instruction else "accept"


def comparable(events: list[dict[str, Any]]) -> list[Any]:
    kept = []
    for event in events:
        event = {key: value for key, value in event.items() if key != "t"}
        if "spend" in event:
            event["spend"] = {k: v for k, v in event["spend"].items() if k != "seconds"}
        kept.append(event)
    return sorted(kept, key=lambda e: (e.get("step") if e.get("step") is not None else -1, e.get("seq", -1), str(e)))


def without_seconds(result: dict[str, Any]) -> dict[str, Any]:
    result["spend"].pop("seconds")
    result["document"]["spend"].pop("seconds")
    return result


def graph_of(make: Make) -> Any:
    return make(PLAN, verdicts=verdict, lookahead=False)[0]


async def test_invoke_and_ainvoke_return_the_same(make: Make) -> None:
    context = InterleaveContext(run_id="same")
    one = await graph_of(make).ainvoke(ASK, context=context)
    two = await asyncio.to_thread(lambda: graph_of(make).invoke(ASK, context=context))
    assert without_seconds(one) == without_seconds(two)
    assert one["document"]["run_id"] == "same"


async def test_stream_and_astream_tell_the_same(make: Make) -> None:
    options: dict[str, Any] = {
        "stream_mode": ["custom"],
        "version": "v2",
        "subgraphs": True,
        "context": InterleaveContext(run_id="same"),
    }
    one = [part["data"] async for part in graph_of(make).astream(ASK, **options)]
    two = await asyncio.to_thread(lambda: [part["data"] for part in graph_of(make).stream(ASK, **options)])
    assert comparable(one) == comparable(two)
    assert one[0]["type"] == "interleave.run" and one[-1]["phase"] == "finish"


async def test_sync_calls_work_inside_a_running_loop(make: Make) -> None:
    result = graph_of(make).invoke(ASK)
    assert result["outcome"] == "complete"


def test_segments_come_whole_and_once(make: Make) -> None:
    segments = in_order(stream_segments(graph_of(make), ASK))
    assert [s.kind for s in segments if s.track == "answer"] == [
        "plan", "caption", "image", "caption", "image", "caption", "image", "caption", "image", "caption",
    ]  # fmt: skip
    assert len({s.segment_id for s in segments}) == len(segments)
    assert segments[0].text is not None and segments[0].text.startswith("A plan\n1. Step 0")


async def test_deltas_add_up_to_the_whole(make: Make) -> None:
    texts: dict[str, str] = {}
    async for segment in astream_segments(graph_of(make), ASK, deltas=True):
        if segment.phase == "start":
            texts[segment.segment_id] = ""
        elif segment.phase == "delta":
            assert segment.offset == len(texts[segment.segment_id])
            texts[segment.segment_id] += segment.text or ""
        elif segment.segment_id in texts:
            assert texts[segment.segment_id] == segment.text
    assert len(texts) == 6, "the plan's reasoning and each critique's"


def test_other_events_are_passed_over() -> None:
    assert read_event({"type": "updates", "data": {}}) is None
    assert read_event({"type": "custom", "data": {"type": "progress"}}) is None
    assert read_event("values") is None
    assert Segments().pick(None) is None


class Recorder(BaseCallbackHandler):
    def __init__(self) -> None:
        self.bytes = 0
        self.names: list[str] = []

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        self.bytes += len(str(inputs))
        self.names.append(str(kwargs.get("name")))

    def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        self.bytes += len(str(outputs))

    def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:
        self.bytes += len(input_str)
        self.names.append(str(kwargs.get("name") or (serialized or {}).get("name")))

    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        self.bytes += len(str(output))


async def test_traces_show_each_node_once_and_no_bytes(make: Make) -> None:
    graph = make(1)[0]
    recorder = Recorder()
    result = await graph.ainvoke(ASK, {"callbacks": [recorder]})
    nodes = [name for name in recorder.names if name in graph.nodes]
    assert sorted(nodes) == ["compose", "critique", "dispatch", "dispatch", "generate", "planner"]
    assert recorder.bytes < 20_000 and "base64" not in str(result)
    assert {"generate_image", "critique_image"} <= set(recorder.names), "each paid call is a tool run of its own"
