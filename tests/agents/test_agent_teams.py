"""The agent under a supervisor and in a swarm, with models that call the hand-off tools."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm

from langgraph_interleave import create_interleave_agent
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan

# Both packages still use names that LangGraph has moved.
pytestmark = pytest.mark.filterwarnings("ignore:.*(deprecated|moved)")

ASK: Any = {"messages": [("user", "Illustrate two things")]}
SHAPE = ["text", "image", "text", "image"]


class Scripted(FakeMessagesListChatModel):
    """Says what its script says; tools may be bound to it."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def handing_over(to: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": f"transfer_to_{to}", "args": {}, "id": "call-1"}])


def make(planner: ScriptedPlanner | None = None, **options: Any) -> Any:
    planner = planner or ScriptedPlanner(simple_plan(2))
    return create_interleave_agent(planner, ScriptedBackend(), ScriptedCritic(), **options)


def kinds(message: Any) -> list[str]:
    return [block["type"] for block in message.content_blocks if block["type"] != "reasoning"]


@pytest.mark.parametrize("output_mode", ["last_message", "full_history"])
async def test_a_supervisor_hands_over_and_takes_back(output_mode: Any) -> None:
    planner = ScriptedPlanner(simple_plan(2))
    model = Scripted(responses=[handing_over("illustrator"), AIMessage("There you are.")])
    team = create_supervisor([make(planner)], model=model, output_mode=output_mode).compile()
    result = await team.ainvoke(ASK)
    messages = result["messages"]
    answers = [message for message in messages if message.name == "illustrator" and "image" in kinds(message)]
    assert [kinds(message) for message in answers] == [SHAPE]
    assert messages[-1].content == "There you are."
    assert planner.requests[0].request.text == "Illustrate two things"


async def test_a_supervisors_stream_shows_the_blocks_and_the_events() -> None:
    model = Scripted(responses=[handing_over("illustrator"), AIMessage("There you are.")])
    team = create_supervisor([make()], model=model).compile()
    stream = team.astream(ASK, stream_mode=["messages", "custom"], subgraphs=True, version="v2")
    parts: list[Any] = [part async for part in stream]
    chunks = [part["data"][0] for part in parts if part["type"] == "messages" and part["ns"][:1] != ()]
    drawn = [chunk for chunk in chunks if isinstance(chunk, AIMessageChunk) and isinstance(chunk.content, list)]
    whole = drawn[0]
    for chunk in drawn[1:]:
        whole = whole + chunk
    assert kinds(whole) == SHAPE
    events = [part["data"] for part in parts if part["type"] == "custom"]
    assert sum(event.get("kind") == "image" for event in events) == 2


def test_a_supervisor_works_under_sync_calls_and_over_turns() -> None:
    planner = ScriptedPlanner(simple_plan(2))
    script: Any = [handing_over("illustrator"), AIMessage("One."), handing_over("illustrator"), AIMessage("Two.")]
    team = create_supervisor([make(planner)], model=Scripted(responses=script)).compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "0c7d1f2e-0000-4000-8000-000000000001"}}
    team.invoke(ASK, config)
    result: Any = team.invoke({"messages": [("user", "Now two others")]}, config)
    assert result["messages"][-1].content == "Two."
    assert [request.request.text for request in planner.requests] == ["Illustrate two things", "Now two others"]


async def test_in_a_swarm_another_agent_hands_over_to_it() -> None:
    planner = ScriptedPlanner(simple_plan(2))
    tools = [create_handoff_tool(agent_name="illustrator")]
    script: Any = [handing_over("illustrator"), AIMessage("Glad you like it.")]
    host: Any = create_agent(Scripted(responses=script), tools, name="host")
    swarm = create_swarm([host, make(planner)], default_active_agent="host").compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    result: Any = await swarm.ainvoke(ASK, config)
    assert kinds(result["messages"][-1]) == SHAPE
    assert result["active_agent"] == "illustrator"
    result = await swarm.ainvoke({"messages": [("user", "Now two others")]}, config)
    assert kinds(result["messages"][-1]) == SHAPE
    result = await swarm.ainvoke({"messages": [("user", "Thank you")], "active_agent": "host"}, config)
    assert (result["messages"][-1].content, result["active_agent"]) == ("Glad you like it.", "host")
    assert [request.request.text for request in planner.requests] == ["Illustrate two things", "Now two others"]


def test_a_swarm_works_under_sync_calls() -> None:
    tools = [create_handoff_tool(agent_name="illustrator")]
    host: Any = create_agent(Scripted(responses=[handing_over("illustrator")]), tools, name="host")
    swarm = create_swarm([host, make()], default_active_agent="host").compile()
    stream: Any = swarm.stream(ASK, stream_mode="messages", subgraphs=True)
    chunks = [chunk for _, (chunk, _) in stream]
    assert any(block.get("type") == "image" for chunk in chunks for block in chunk.content if isinstance(block, dict))
