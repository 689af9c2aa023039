"""The chat model of a few rules: which tool it calls for what is said, and how it shows what came of it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langgraph_interleave import image_part
from langgraph_interleave.agents import InterleaveMiddleware, create_interleave_tools
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.serving import Links
from langgraph_interleave.testing import (
    RuleBasedChatModel,
    ScriptedBackend,
    ScriptedCritic,
    ScriptedPlanner,
    noise_card,
    simple_plan,
)

HERE = "\n\n(Documents here: doc_1 (“Tea”, version 2 of 2, doc_1.step_1, doc_1.step_2), doc_2 (“A cat”, version 1).)"


def bound() -> Any:
    return RuleBasedChatModel().bind_tools(create_interleave_tools(size="64x64"))


@pytest.mark.parametrize(
    ("said", "tool", "args"),
    [
        ("How to make tea", "create", {"request": "How to make tea", "images": []}),
        ("make it darker" + HERE, "change", {"document": "doc_2", "request": "make it darker", "images": []}),
        ("Back to version 1, please" + HERE, "restore", {"document": "doc_2", "version": 1}),
        ("Draw a dog" + HERE, "create", {"request": "Draw a dog", "images": []}),
        ("another version 2 of the story", "create", {"request": "another version 2 of the story", "images": []}),
    ],
)
def test_what_is_said_decides_the_tool(said: str, tool: str, args: dict[str, Any]) -> None:
    [call] = bound().invoke([HumanMessage(said)]).tool_calls
    assert (call["name"], call["args"]) == (f"{tool}_illustrated_document", args)


@pytest.mark.parametrize("said", ["Hello!", "thanks", "", "OK."])
def test_small_talk_is_answered_in_words(said: str) -> None:
    answer = bound().invoke([HumanMessage(said)])
    assert not answer.tool_calls
    assert "INTERLEAVE_AGENT_MODEL" in answer.text


@pytest.mark.parametrize("given", [{}, {"messages": []}])
def test_where_nobody_said_anything_it_asks_what_to_show(given: Any) -> None:
    rules = "You help people with illustrated documents."
    agent = create_agent(RuleBasedChatModel(), middleware=[InterleaveMiddleware(size="64x64")], system_prompt=rules)
    [answer] = agent.invoke(given)["messages"]
    assert not answer.tool_calls and "Ask me how to do something" in answer.text


def test_without_the_tools_it_calls_none() -> None:
    assert not RuleBasedChatModel().invoke("How to make tea").tool_calls


def test_what_a_tool_could_not_do_is_passed_on() -> None:
    answer = ToolMessage("There is no picture 'img_9'." + HERE, tool_call_id="1", status="error")
    said = RuleBasedChatModel().invoke([HumanMessage("x"), AIMessage(""), answer])
    assert said.text == "There is no picture 'img_9'."


def test_an_agent_with_it_starts_from_a_picture_and_shows_the_document() -> None:
    store = ArtifactStore.memory(links=Links("a secret of enough bytes", base_url="https://example.org"))
    planner, backend = ScriptedPlanner(simple_plan(2)), ScriptedBackend()
    graph = create_interleave_graph(planner, backend, ScriptedCritic(), artifacts=store)
    agent = create_agent(
        RuleBasedChatModel(),
        middleware=[InterleaveMiddleware(graph, artifacts=store)],
    )
    photo: Any = image_part(noise_card("a leaf").data, store)
    said: Any = agent.invoke({"messages": [HumanMessage([{"type": "text", "text": "How to press this leaf"}, photo])]})
    [call] = said["messages"][1].tool_calls
    assert call["args"] == {"request": "How to press this leaf", "images": ["img_1"]}
    assert [part.sha256 for part in planner.requests[0].request.images] == [photo["url"].removeprefix("artifact://")]
    lines = said["messages"][-1].text.split("\n\n")
    assert lines[:2] == ["**A plan** (doc_1, version 1)", "1. Caption of step 0."]
    assert lines[2].startswith("![Picture 1](https://example.org/artifacts/")
    assert len(lines) == 5
