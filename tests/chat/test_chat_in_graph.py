"""`ChatInterleave` as a node of somebody's graph: what each kind of stream shows."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from langgraph_interleave import ChatInterleave, InterleaveContext, astream_segments
from langgraph_interleave.testing import ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import ImageBytes, ImageRequest

ASK: Any = {"messages": [("user", "three things")]}
Chat = Callable[..., ChatInterleave]
#: Three steps: the first was revised once.
SHAPE = ["reasoning", *("text", "reasoning", "reasoning", "image"), *("text", "reasoning", "image") * 2]
CAPTIONS = [f"Caption of step {step}." for step in range(3)]


def around(model: ChatInterleave, *, sync: bool = False, **options: Any) -> Any:
    """A plain `MessagesState` graph that calls the model in a node."""

    def call(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    async def acall(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState, context_schema=options.pop("context_schema", None))
    node: Any = call if sync else acall
    return graph.add_node("chat", node).add_edge(START, "chat").add_edge("chat", END).compile(**options)


def check(chunks: list[Any]) -> None:
    assert all(isinstance(chunk, AIMessageChunk) for chunk in chunks)
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    assert [block["type"] for block in whole.content_blocks] == SHAPE
    assert [block["text"].strip() for block in whole.content_blocks if block["type"] == "text"] == CAPTIONS
    assert [block["extras"]["step"] for block in whole.content_blocks if block["type"] == "image"] == [0, 1, 2]
    assert len({chunk.id for chunk in chunks}) == 1
    assert whole.usage_metadata


async def test_messages_mode_shows_blocks_in_document_order(in_reverse: Chat) -> None:
    graph = around(in_reverse())
    check([chunk async for chunk, _ in graph.astream(ASK, stream_mode="messages")])
    parts = [part async for part in graph.astream(ASK, stream_mode="messages", version="v2")]
    assert {part["type"] for part in parts} == {"messages"}
    assert {part["data"][1]["langgraph_node"] for part in parts} == {"chat"}
    check([part["data"][0] for part in parts])


def test_so_it_does_under_sync_calls(in_reverse: Chat) -> None:
    graph = around(in_reverse(), sync=True)
    check([chunk for chunk, _ in graph.stream(ASK, stream_mode="messages")])
    check([part["data"][0] for part in graph.stream(ASK, stream_mode="messages", version="v2")])


def check_events(events: list[Any]) -> None:
    data: list[Any] = [event["params"]["data"] for event in events if event["method"] == "messages"]
    data = [item[0] if isinstance(item, (list, tuple)) else item for item in data]
    assert data[0]["event"] == "message-start" and data[-1]["event"] == "message-finish"
    finished = [item["content"]["type"] for item in data if item["event"] == "content-block-finish"]
    started = [item["content"]["type"] for item in data if item["event"] == "content-block-start"]
    assert started == finished == SHAPE


async def test_events_v3_show_the_same_blocks(in_reverse: Chat) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # v3 is beta
        run = await around(in_reverse()).astream_events(ASK, version="v3")
        check_events([event async for event in run])
        check_events(list(around(in_reverse(), sync=True).stream_events(ASK, version="v3")))


@pytest.mark.parametrize("sync", [False, True])
async def test_the_runs_own_events_are_passed_on(in_reverse: Chat, sync: bool) -> None:
    graph = around(in_reverse(), sync=sync)
    if sync:
        parts = list(graph.stream(ASK, stream_mode=["custom"], version="v2", subgraphs=True))
    else:
        parts = [part async for part in graph.astream(ASK, stream_mode=["custom"], version="v2", subgraphs=True)]
    told = [part["data"] for part in parts]
    assert told[0]["type"] == told[-1]["type"] == "interleave.run"
    assert [event["step"] for event in told if event.get("kind") == "image"] == [2, 1, 0], "each once, in reverse"


async def test_typed_segments_are_read_from_the_outer_graph(in_reverse: Chat) -> None:
    kinds = [segment.kind async for segment in astream_segments(around(in_reverse()), ASK)]
    assert kinds.count("image") == 3 and kinds.count("rejected_image") == 1


async def test_the_surrounding_context_counts_where_it_is_ours(chat: Chat) -> None:
    planner = ScriptedPlanner(simple_plan(1))
    graph = around(chat(planner), context_schema=InterleaveContext)
    await graph.ainvoke(ASK, context=InterleaveContext(language="German"))
    await around(chat(planner), context_schema=dict).ainvoke(ASK, context={"language": "French"})
    assert [request.language for request in planner.requests] == ["German", None]


async def test_a_look_from_a_system_message_leaves_the_surrounding_values_alone(chat: Chat) -> None:
    planner = ScriptedPlanner(simple_plan(1))
    asked: Any = {"messages": [("system", "Thick outlines."), ("user", "x")]}
    await around(chat(planner), context_schema=InterleaveContext).ainvoke(asked, context=InterleaveContext(seed=7))
    await around(chat(planner)).ainvoke(asked, {"configurable": {"seed": 8, "interleave_run_id": "mine"}})
    assert [(request.seed, request.style) for request in planner.requests] == [
        (7, "Thick outlines."),
        (8, "Thick outlines."),
    ]


async def test_turns_of_a_conversation_are_documents_of_their_own(chat: Chat) -> None:
    planner = ScriptedPlanner(simple_plan(1))
    graph = around(chat(planner), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke({"messages": [("user", "a cat")]}, config)
    result = await graph.ainvoke({"messages": [("user", "a dog")]}, config)
    assert [request.request.text for request in planner.requests] == ["a cat", "a dog"]
    runs = [message.response_metadata["run_id"] for message in result["messages"][1::2]]
    assert len(set(runs)) == 2


async def test_a_node_that_is_run_again_pays_nothing_twice(chat: Chat) -> None:
    model = chat(2)
    failed: list[str] = []

    async def call(state: MessagesState) -> Any:
        answer = await model.ainvoke(state["messages"])
        if not failed:
            failed.append(answer.response_metadata["run_id"])
            raise RuntimeError("after the run")
        return {"messages": [answer]}

    graph: Any = StateGraph(MessagesState).add_node("chat", call).add_edge(START, "chat").add_edge("chat", END)
    graph = graph.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    with pytest.raises(RuntimeError, match="after the run"):
        await graph.ainvoke(ASK, config)
    result = await graph.ainvoke(None, config)
    answer = result["messages"][-1]
    assert [block["type"] for block in answer.content if block["type"] != "reasoning"] == ["text", "image"] * 2
    assert answer.response_metadata["run_id"] == failed[0]


async def test_several_calls_in_one_node_do_not_mix(chat: Chat) -> None:
    model = chat(2)

    async def call(state: MessagesState) -> Any:
        return {"messages": await asyncio.gather(*(model.ainvoke(f"thing {number}") for number in range(3)))}

    graph: Any = StateGraph(MessagesState).add_node("chat", call).add_edge(START, "chat").add_edge("chat", END)
    graph = graph.compile(checkpointer=InMemorySaver())
    result = await graph.ainvoke(ASK, {"configurable": {"thread_id": "t"}})
    answers = result["messages"][1:]
    assert len({answer.response_metadata["run_id"] for answer in answers}) == 3
    for answer in answers:
        assert [block["type"] for block in answer.content if block["type"] != "reasoning"] == ["text", "image"] * 2


async def test_who_stops_reading_the_graph_stops_the_run(chat: Chat) -> None:
    stopped = asyncio.Event()

    async def draw(request: ImageRequest) -> ImageBytes:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            loop.call_soon_threadsafe(stopped.set)
            raise
        return noise_card(request.prompt)

    loop = asyncio.get_running_loop()
    stream = around(chat(1, draw)).astream(ASK, stream_mode="messages")
    async for chunk, _ in stream:
        if any(block["type"] == "text" for block in chunk.content):
            break
    await stream.aclose()
    await asyncio.wait_for(stopped.wait(), 5)


async def test_it_is_the_model_of_an_agent_without_tools(chat: Chat) -> None:
    planner = ScriptedPlanner(simple_plan(1))
    agent: Any = create_agent(chat(planner), [], system_prompt="Thick outlines.")
    result = await agent.ainvoke(ASK)
    assert [block["type"] for block in result["messages"][-1].content][-2:] == ["reasoning", "image"]
    assert planner.requests[0].style == "Thick outlines."
