"""`create_interleave_agent`: what goes in, what comes out, what its conversation holds."""

from __future__ import annotations

import asyncio
import base64
import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_interleave import InterleaveContext, create_interleave_agent
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import ImageBytes, ImageRequest

ASK: Any = {"messages": [("user", "two things")]}
ENCODED = base64.b64encode(noise_card("mine").data).decode()
MINE: Any = {"type": "image", "base64": ENCODED, "mime_type": "image/png"}


def make(planner: Any = None, **options: Any) -> Any:
    planner = planner or ScriptedPlanner(simple_plan(2))
    return create_interleave_agent(planner, ScriptedBackend(), ScriptedCritic(), **options)


def kinds(message: Any) -> list[str]:
    return [block["type"] for block in message.content_blocks if block["type"] != "reasoning"]


async def test_messages_in_and_out_alike_under_sync_and_async_calls() -> None:
    for result in (make().invoke(ASK), await make().ainvoke(ASK)):
        assert list(result) == ["messages"]
        asked, answer = result["messages"]
        assert asked.content == "two things"
        assert answer.type == "ai" and answer.name == "illustrator"
        assert kinds(answer) == ["text", "image", "text", "image"]
        assert answer.response_metadata["outcome"] == "complete"


async def test_messages_mode_streams_the_answer_and_nothing_else() -> None:
    parts = [part async for part in make().astream(ASK, stream_mode="messages", version="v2")]
    assert all(isinstance(part["data"][0], AIMessageChunk) for part in parts)
    assert {part["data"][1]["langgraph_node"] for part in parts} == {"illustrate"}
    whole = parts[0]["data"][0]
    for part in parts[1:]:
        whole = whole + part["data"][0]
    assert kinds(whole) == ["text", "image", "text", "image"]


def test_the_runs_events_are_on_its_custom_stream() -> None:
    parts = list(make().stream(ASK, stream_mode="custom", version="v2", subgraphs=True))
    assert [part["data"]["kind"] for part in parts if part["data"].get("kind") == "image"] == ["image", "image"]


def test_schemas_hold_the_conversation_and_nothing_else() -> None:
    agent = make()
    for schema in (agent.get_input_jsonschema(), agent.get_output_jsonschema()):
        assert list(schema["properties"]) == ["messages"]
        assert "request" in schema["properties"]["messages"]["description"]
    assert "seed" in agent.get_context_jsonschema()["properties"]


def test_its_drawing_shows_the_graph_inside() -> None:
    agent = make()
    assert set(agent.get_graph().nodes) == {"__start__", "receive", "illustrate", "__end__"}
    inside = agent.get_graph(xray=True)
    assert {"illustrate:planner", "illustrate:generate", "illustrate:critique"} <= set(inside.nodes)
    labels = {(edge.source, edge.target): edge.data for edge in inside.edges}
    assert labels["illustrate:critique", "illustrate:retry"] == "revise"
    assert [name for name, _ in agent.get_subgraphs()] == ["illustrate"]


async def test_pictures_that_came_as_bytes_are_references_in_the_conversation() -> None:
    planner = ScriptedPlanner(simple_plan(2))
    agent = make(planner, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    result = await agent.ainvoke({"messages": [HumanMessage([{"type": "text", "text": "Plant here"}, MINE])]}, config)
    asked, answer = result["messages"]
    assert asked.content[1]["url"].startswith("artifact://")
    assert ENCODED not in str(result["messages"])
    assert planner.requests[0].images[0].width == 16
    again = await agent.ainvoke({"messages": [("user", "and now a cat")]}, config)
    assert [message.type for message in again["messages"]] == ["human", "ai", "human", "ai"]
    assert ENCODED not in str(again["messages"])
    assert planner.requests[1].request.text == "and now a cat" and not planner.requests[1].images
    assert answer.response_metadata["run_id"] != again["messages"][-1].response_metadata["run_id"]


async def test_a_picture_that_was_put_into_the_store_is_not_streamed_as_an_answer() -> None:
    asked: Any = {"messages": [HumanMessage([{"type": "text", "text": "Plant here"}, MINE])]}
    chunks = [chunk async for chunk, _ in make().astream(asked, stream_mode="messages")]
    assert chunks and all(isinstance(chunk, AIMessageChunk) for chunk in chunks)


@pytest.mark.parametrize("images", ["reference", "base64"])
def test_bytes_of_pictures_are_in_checkpoints_only_where_chosen(images: Any) -> None:
    big = noise_card("big", side=128)
    agent = create_interleave_agent(
        ScriptedPlanner(simple_plan(2)), ScriptedBackend(lambda _: big), ScriptedCritic(), images=images,
        checkpointer=(saver := InMemorySaver()),
    )  # fmt: skip
    agent.invoke(ASK, {"configurable": {"thread_id": "t"}})
    size = len(str(saver.storage)) + len(str(saver.blobs)) + len(str(saver.writes))
    assert len(big.data) > 40_000
    assert (size < 60_000) == (images == "reference"), size


async def test_it_is_resumed_where_it_was_cut_off() -> None:
    reached, again = threading.Event(), threading.Event()

    async def draw(request: ImageRequest) -> ImageBytes:
        if "thing 1" in request.prompt and not again.is_set():
            reached.set()
            await asyncio.sleep(30)
        return noise_card(request.prompt, seed=request.seed or 0)

    planner, backend = ScriptedPlanner(simple_plan(2)), ScriptedBackend(draw)
    agent: Any = create_interleave_agent(
        planner, backend, ScriptedCritic(), checkpointer=InMemorySaver(), lookahead=False
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    cut = asyncio.create_task(agent.ainvoke(ASK, config))
    await asyncio.to_thread(reached.wait, 5)
    cut.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cut
    again.set()
    result = await agent.ainvoke(None, config)
    assert kinds(result["messages"][-1]) == ["text", "image", "text", "image"]
    assert len(planner.requests) == 1, "the plan was not made again"
    assert [request.prompt for request in backend.requests].count("thing 0") == 1


def test_a_runs_own_values_are_its_context() -> None:
    planner = ScriptedPlanner(simple_plan(2))
    make(planner).invoke(ASK, context=InterleaveContext(seed=7, style="ink"))
    assert (planner.requests[0].seed, planner.requests[0].style) == (7, "ink")


def test_errors_are_raised_and_not_said() -> None:
    with pytest.raises(ConfigError, match="not fetched from elsewhere"):
        make().invoke({"messages": [HumanMessage([{"type": "image", "url": "https://example.org/a.png"}])]})
    with pytest.raises(ConfigError, match="images='svg'"):
        make(images="svg")
    with pytest.raises(ConfigError, match="needs a planner"):
        create_interleave_agent(backend=ScriptedBackend())


@pytest.mark.parametrize("sync", [False, True])
async def test_an_agent_has_its_plan_and_steps_reviewed(sync: bool) -> None:
    backend = ScriptedBackend()
    planner = ScriptedPlanner(simple_plan(3, sources=[[], [], [0]]))
    saver = InMemorySaver()
    agent = create_interleave_agent(planner, backend, ScriptedCritic(), approve={"plan", "steps"}, checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t"}}
    given: Any = {"messages": [("user", "Illustrate three things")]}
    asked: list[list[Any]] = []
    while True:
        result: Any = agent.invoke(given, config) if sync else await agent.ainvoke(given, config)
        questions = result.get("__interrupt__", ())
        if not questions:
            break
        asked.append(sorted(question.value.get("step", "plan") for question in questions))
        given = Command(resume={question.id: {"decision": "accept"} for question in questions})
    assert asked == [["plan"], [0, 1], [2]]
    told = [block["type"] for block in result["messages"][-1].content if block["type"] != "reasoning"]
    assert told == ["text", "image"] * 3
    assert len(backend.requests) == 3
