"""Tools that are called by nodes of a graph, without an agent: each thread has documents of its own."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_interleave.agents import create_image_tools, create_interleave_tools
from langgraph_interleave.agents.gallery import KnownVersion
from langgraph_interleave.agents.shelves import Shelves
from langgraph_interleave.limits import Limits
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan

Asked = TypedDict("Asked", {"tool": int, "args": Any, "said": str}, total=False)  # noqa: UP013


def graph_of(tools: Any, *, checkpointer: Any = None) -> Any:
    def node(state: Asked) -> Any:
        tool = tools[state.get("tool", 0)]
        said = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": state.get("args")})
        return {"said": said.text}

    async def anode(state: Asked) -> Any:
        tool = tools[state.get("tool", 0)]
        said = await tool.ainvoke({"type": "tool_call", "id": "1", "name": tool.name, "args": state.get("args")})
        return {"said": said.text}

    from langchain_core.runnables import RunnableLambda

    graph = StateGraph(Asked)
    graph.add_node("node", RunnableLambda(node, anode))
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    return graph.compile(checkpointer=checkpointer)


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_nobody_changes_the_document_of_another_thread(way: str) -> None:
    planner = ScriptedPlanner(lambda request: simple_plan(3 if request.existing else 2))
    tools = create_interleave_tools(planner=planner, backend=ScriptedBackend(), critic=ScriptedCritic())
    graph = graph_of(tools, checkpointer=InMemorySaver())

    async def say(name: str, tool: int, **args: Any) -> str:
        given: Any = {"tool": tool, "args": args}
        result = graph.invoke(given, thread(name)) if way == "sync" else await graph.ainvoke(given, thread(name))
        return result["said"]

    assert (await say("alice", 0, request="two things")).startswith("doc_1, version 1:")
    refused = await say("bob", 1, document="doc_1", request="longer")
    assert refused.startswith("There is no document 'doc_1'. There are no pictures and no documents")
    assert (await say("bob", 0, request="two things")).startswith("doc_1, version 1:")
    assert (await say("alice", 1, document="doc_1", request="longer")).startswith("doc_1, version 2, from version 1:")
    assert "has no version 2" in await say("bob", 2, document="doc_1", version=2)
    assert (await say("alice", 2, document="doc_1", version=1)).startswith("doc_1 is as it was in version 1 again")
    # Called by hand they are on no thread.
    assert tools[0].invoke({"request": "two things"}).startswith("doc_1, version 1:")
    assert tools[0].invoke({"request": "two things"}, thread("alice")).startswith("doc_2, version 1:")


def test_image_tools_count_for_each_thread() -> None:
    backend = ScriptedBackend()
    graph = graph_of(create_image_tools(backend, limits=Limits(max_images=1)))

    def draw(name: str, prompt: str) -> str:
        return graph.invoke({"args": {"prompt": prompt}}, thread(name))["said"]

    first = draw("alice", "a cat")
    assert first.startswith("The picture is drawn")
    assert draw("alice", "a dog").startswith("No more pictures can be drawn here")
    assert draw("bob", "a dog").startswith("The picture is drawn")
    assert draw("alice", "a cat").startswith("This very picture was drawn before")
    assert len(backend.requests) == 2


def test_threads_that_were_not_used_for_longest_are_forgotten() -> None:
    shelves = Shelves()

    def made(number: int) -> KnownVersion:
        return KnownVersion(version=number, digest="a" * 64, outcome="complete", steps=1)

    shelves.add("first", None, "A", made)
    shelves.add("second", None, "B", made)
    for number in range(999):
        assert shelves.gallery("first").documents
        shelves.add(str(number), None, "C", made)
    assert shelves.gallery("first").documents and not shelves.gallery("second").documents
