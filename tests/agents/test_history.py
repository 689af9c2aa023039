"""A conversation with documents in it, as a real provider's client sends it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph_supervisor import create_supervisor
from loopback import serving
from loopback_replies import Chat, ToolCall
from pydantic import SecretStr

from langgraph_interleave import create_interleave_agent
from langgraph_interleave.agents import legible
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan


def test_pictures_and_reasoning_become_words() -> None:
    answer = AIMessage(
        [
            {"type": "reasoning", "reasoning": "hm", "index": 0},
            {"type": "text", "text": "Dig.", "index": 1},
            {"type": "image", "url": "artifact://" + "a" * 64, "extras": {"alt": "A hole."}, "index": 2},
            {"type": "text", "text": "\n\nSow.", "index": 3},
            {"type": "image", "base64": "AAAA", "mime_type": "image/png", "index": 4},
        ],
        id="1", name="illustrator",
    )  # fmt: skip
    (shown,) = legible([answer])
    assert shown.content == "Dig.\n\n[picture: A hole.]\n\nSow.\n\n[picture]"
    assert (shown.id, shown.name, shown.type) == ("1", "illustrator", "ai")
    assert isinstance(answer.content, list), "the conversation itself is as it was"


def test_references_of_human_messages_become_words_and_the_rest_stays() -> None:
    web = {"type": "image", "url": "https://example.org/a.png"}
    mine = {"type": "image", "url": "artifact://" + "a" * 64, "extras": {"name": "leaf.png"}}
    (shown,) = legible([HumanMessage(["Look", mine, web])])
    assert shown.content == ["Look", {"type": "text", "text": "[picture: leaf.png]"}, web]


def test_messages_without_pictures_are_the_same_objects() -> None:
    said = [
        SystemMessage("s"),
        HumanMessage([{"type": "text", "text": "h"}]),
        AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}]),
        ToolMessage("t", tool_call_id="1"),
        AIMessage([{"type": "text", "text": "a"}]),
    ]
    assert all(new is old for new, old in zip(legible(said), said, strict=True))


@pytest.mark.filterwarnings("ignore:.*(deprecated|moved)")
async def test_a_supervisor_on_a_real_client_sends_only_what_the_provider_takes() -> None:
    agent: Any = create_interleave_agent(ScriptedPlanner(simple_plan(2)), ScriptedBackend(), ScriptedCritic())
    with serving() as server:
        server.script("chat", [Chat(tool_calls=(ToolCall("transfer_to_illustrator", "{}"),)), Chat(text="There.")])
        model = ChatOpenAI(model="gpt-5.4-mini", base_url=server.base_url, api_key=SecretStr("sk-test"), max_retries=0)
        hook: Any = lambda state: {"llm_input_messages": legible(state["messages"])}  # noqa: E731
        team = create_supervisor([agent], model=model, pre_model_hook=hook).compile()
        result = await team.ainvoke({"messages": [("user", "Illustrate two things")]})
        sent = [request.body["messages"] for request in server.on("chat")]
        assert server.violations == []
    assert result["messages"][-1].content == "There."
    assert any(message.name == "illustrator" and isinstance(message.content, list) for message in result["messages"])
    answer = next(message for message in sent[1] if message.get("name") == "illustrator" and message.get("content"))
    assert answer["content"] == (
        "Caption of step 0.\n\n[picture: Caption of step 0.]\n\nCaption of step 1.\n\n[picture: Caption of step 1.]"
    )
