"""`InterleaveMiddleware`: what an agent has from one line, what is stored, and what its model is shown."""

from __future__ import annotations

import base64
import json
import warnings
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command
from loopback_replies import Chat, ToolCall
from pydantic import Field, SecretStr

from langgraph_interleave import ArtifactStore, create_interleave_agent, image_part
from langgraph_interleave.agents import InterleaveMiddleware, create_image_tools
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan

CREATE = "create_illustrated_document"
ENCODED = base64.b64encode(noise_card("mine", side=64).data).decode()
MINE: Any = {"type": "image", "base64": ENCODED, "mime_type": "image/png", "name": "mine.png"}
ASK: Any = {"messages": [HumanMessage([{"type": "text", "text": "Look"}, MINE])]}
CONFIG: Any = {"configurable": {"thread_id": "t"}}


class Scripted(FakeMessagesListChatModel):
    """Says what its script says, and keeps what it was shown."""

    shown: list[list[Any]] = Field(default_factory=list[list[Any]])

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.shown.append(list(messages))
        return super()._generate(messages, *args, **kwargs)


def calling(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}"}])


def middleware(planner: Any = None, **options: Any) -> InterleaveMiddleware:
    planner = planner or ScriptedPlanner(simple_plan(2))
    return InterleaveMiddleware(planner=planner, backend=ScriptedBackend(), critic=ScriptedCritic(), **options)


def agent_of(*said: AIMessage, profile: Any = None, tools: Any = (), more: Any = (), **options: Any) -> Any:
    """An agent, its model and its middleware."""
    model = Scripted(responses=list(said), profile=profile)
    ours = middleware(**options)
    return create_agent(model, list(tools), middleware=[ours, *more], checkpointer=InMemorySaver()), model, ours


def stored_text(agent: Any) -> str:
    """Everything that is kept of the thread after its input."""
    saver = agent.checkpointer
    return str(saver.blobs) + str(saver.storage)


async def test_one_line_gives_an_agent_all_of_it() -> None:
    planner = ScriptedPlanner(simple_plan(2))
    said = calling(CREATE, request="two things", images=["img_1"]), AIMessage("There.")
    agent, _, ours = agent_of(*said, planner=planner)
    result = await agent.ainvoke(ASK, CONFIG)
    assert result["messages"][-1].content == "There."
    made = result["messages"][-2]
    assert made.artifact["document"] == "doc_1"
    assert planner.requests[0].images[0].width == 64
    kept = result["messages"][0].content[1]
    assert kept["url"].startswith("artifact://") and kept["extras"]["name"] == "mine.png"
    gallery = result["interleave_gallery"]
    assert [one["id"] for one in gallery["pictures"]] == ["img_1"]
    assert gallery["documents"][0]["versions"][0]["digest"] == made.artifact["digest"]
    assert ours.artifacts.get(kept["url"])
    assert "interleave_gallery" not in agent.get_input_jsonschema()["properties"]


def test_sync_calls_do_the_same() -> None:
    said = calling(CREATE, request="two things", images=["img_1"]), AIMessage("There.")
    agent, model, _ = agent_of(*said)
    result = agent.invoke(ASK, CONFIG)
    assert result["messages"][-2].artifact["outcome"] == "complete"
    assert len(model.shown) == 2


async def test_bytes_are_shown_and_not_stored() -> None:
    agent, model, _ = agent_of(AIMessage("Nice."), AIMessage("Nicer."))
    result = await agent.ainvoke(ASK, CONFIG)
    [seen] = model.shown
    blocks = seen[0].content
    assert [block["type"] for block in blocks] == ["text", "text", "image", "text"]
    assert blocks[1]["text"] == "[img_1]" and base64.b64decode(blocks[2]["base64"])[:4] == b"\x89PNG"
    assert blocks[3]["text"] == "(Pictures here: img_1 (mine.png, 64x64).)"
    assert ENCODED not in json.dumps([message.model_dump() for message in result["messages"]])
    assert "base64" not in str(agent.get_state(CONFIG).values["messages"])
    # One copy is LangGraph's own: that of the input.
    await agent.ainvoke({"messages": [("user", "And now?")]}, CONFIG)
    assert model.shown[1][0].content == blocks[:3], "as it was shown before, so that a provider's cache holds"
    assert model.shown[1][-1].content.endswith("(Pictures here: img_1 (mine.png, 64x64).)")


@pytest.mark.parametrize(("profile", "show", "shown"), [
    (None, None, True),
    ({"image_inputs": True}, None, True),
    ({"image_inputs": False}, None, False),
    ({"image_inputs": False}, True, True),
    ({"image_inputs": True}, False, False),
])  # fmt: skip
def test_a_model_that_takes_no_pictures_reads_of_them(profile: Any, show: Any, shown: bool) -> None:
    agent, model, _ = agent_of(AIMessage("Nice."), profile=profile, show=show)
    agent.invoke(ASK, CONFIG)
    types = [block["type"] for block in model.shown[0][0].content]
    assert ("image" in types) == shown
    if not shown:
        assert model.shown[0][0].content[1]["text"] == "[picture img_1: mine.png]"


@tool(response_format="content_and_artifact")
def screenshot() -> Any:
    """Take a picture of the screen."""
    return [{"type": "text", "text": "taken"}, {"type": "image", "base64": ENCODED, "mime_type": "image/png"}], None


@pytest.mark.parametrize("profile", [{"image_tool_message": True}, {}])
async def test_pictures_of_other_tools_are_references_and_have_ids(profile: Any) -> None:
    said = calling("screenshot"), AIMessage("There.")
    agent, model, _ = agent_of(*said, tools=[screenshot], profile=profile)
    result = await agent.ainvoke({"messages": [("user", "Look")]}, CONFIG)
    assert result["messages"][2].content[1]["url"].startswith("artifact://")
    assert ENCODED not in stored_text(agent) + str(result)
    shown = model.shown[1][-1].content
    assert ("image" in [block["type"] for block in shown]) == bool(profile)
    assert shown[-1]["text"] == "(Pictures here: img_1 (64x64).)"
    assert [one["id"] for one in result["interleave_gallery"]["pictures"]] == ["img_1"]


def test_pictures_shown_in_results_are_not_stored_either() -> None:
    said = calling(CREATE, request="two things"), AIMessage("There.")
    agent, model, _ = agent_of(*said, images="blocks", profile={"image_tool_message": True})
    result = agent.invoke({"messages": [("user", "Two things")]}, CONFIG)
    assert [block["type"] for block in result["messages"][2].content] == ["text", "image", "image"]
    assert "base64" not in str(result["messages"])
    assert sum("base64" in block for block in model.shown[1][-1].content) == 2
    assert "pictures" not in result["interleave_gallery"] or not result["interleave_gallery"]["pictures"]


async def test_what_an_illustrator_said_is_read_as_words_and_others_as_they_said_it() -> None:
    store = ArtifactStore.memory()
    picture = image_part(noise_card("a").data, store)
    ours = AIMessage([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Dig."}, picture])
    theirs = AIMessage([{"type": "reasoning", "reasoning": "hm", "id": "rs_1"}, {"type": "text", "text": "Yes."}])
    agent, model, _ = agent_of(AIMessage("Nice."), artifacts=store)
    messages: list[AnyMessage] = [HumanMessage("a"), ours, HumanMessage("b"), theirs, HumanMessage("c")]
    await agent.ainvoke({"messages": messages}, CONFIG)
    shown = model.shown[0]
    assert shown[1].content == "Dig.\n\n[picture]"
    assert shown[3].content == theirs.content


def test_what_an_illustrator_drew_may_be_named() -> None:
    store = ArtifactStore.memory()
    roles: Any = (ScriptedPlanner(simple_plan(1)), ScriptedBackend(), ScriptedCritic())
    answered = create_interleave_agent(*roles, artifacts=store).invoke({"messages": [HumanMessage("one thing")]})
    planner = ScriptedPlanner(simple_plan(1))
    said = calling(CREATE, request="like that", images=["img_1"]), AIMessage("There.")
    agent, _, _ = agent_of(*said, planner=planner, artifacts=store)
    agent.invoke({"messages": [*answered["messages"], HumanMessage("More like that")]}, CONFIG)
    assert len(planner.requests[0].images) == 1


async def test_ids_stay_when_messages_are_removed() -> None:
    said = [AIMessage(f"{n}") for n in range(3)]
    agent, model, _ = agent_of(*said)
    first = await agent.ainvoke(ASK, CONFIG)
    await agent.aupdate_state(CONFIG, {"messages": [RemoveMessage(id=first["messages"][0].id)]})
    other = {**MINE, "base64": base64.b64encode(noise_card("other").data).decode(), "name": "other.png"}
    result = await agent.ainvoke({"messages": [HumanMessage([other])]}, CONFIG)
    assert [one["id"] for one in result["interleave_gallery"]["pictures"]] == ["img_1", "img_2"]
    assert (
        model.shown[-1][-1].content[-1]["text"] == "(Pictures here: img_1 (mine.png, 64x64), img_2 (other.png, 16x16).)"
    )


def test_a_summary_loses_no_document() -> None:
    writer = Scripted(responses=[AIMessage("…")])
    summary = SummarizationMiddleware(writer, trigger=("messages", 3), keep=("messages", 1))
    said = calling(CREATE, request="two things"), AIMessage("There."), AIMessage("Yes.")
    agent, model, _ = agent_of(*said, more=[summary])
    agent.invoke({"messages": [("user", "Two things")]}, CONFIG)
    result = agent.invoke({"messages": [("user", "Is it there?")]}, CONFIG)
    assert not any(isinstance(message, ToolMessage) for message in result["messages"])
    assert result["interleave_gallery"]["documents"][0]["id"] == "doc_1"
    assert "doc_1 (“A plan”, version 1, doc_1.step_1, doc_1.step_2)" in model.shown[-1][-1].content


@pytest.mark.parametrize("broken", [
    {"base64": "AAAA", "mime_type": "image/png"},
    {"base64": "not base64", "mime_type": "image/png"},
    {"base64": base64.b64encode(b"no picture " * 99).decode(), "name": "mine.png"},
    {"base64": 7},
    {"base64": None, "mime_type": "image/png"},
    {"data": b"no picture"},
    {"url": 7},
    {},
])  # fmt: skip
async def test_a_picture_that_cannot_be_read_does_no_harm(broken: dict[str, Any]) -> None:
    agent, model, _ = agent_of(AIMessage("Nice."), AIMessage("Nicer."))
    result = await agent.ainvoke({"messages": [HumanMessage([MINE, {"type": "image", **broken}])]}, CONFIG)
    first, second = result["messages"][0].content
    called = " (mine.png)" if "name" in broken else ""
    assert first["url"].startswith("artifact://")
    assert second == {"type": "text", "text": f"[picture img_2{called}: it cannot be read]"}
    assert "cannot be used: it cannot be read)" in model.shown[0][0].content[-1]["text"]
    again = await agent.ainvoke({"messages": [("user", "And now?")]}, CONFIG)
    assert [one["id"] for one in again["interleave_gallery"]["pictures"]] == ["img_1", "img_2"]


def test_a_tools_picture_that_cannot_be_read_is_words_before_the_model_is_called() -> None:
    @tool
    def camera() -> Any:
        """Take a picture."""
        return [{"type": "image", "base64": "AAAA", "mime_type": "image/png"}]

    agent, model, _ = agent_of(calling("camera"), AIMessage("There."), tools=[camera])
    result = agent.invoke({"messages": [("user", "Look")]}, CONFIG)
    words = {"type": "text", "text": "[picture img_1: it cannot be read]"}
    assert result["messages"][2].content == [words] and model.shown[1][-1].content[0] == words


async def test_a_picture_that_is_gone_is_told_as_gone() -> None:
    gone = image_part(noise_card("a").data, ArtifactStore.memory(), name="a.png")
    agent, model, _ = agent_of(AIMessage("Nice."))
    await agent.ainvoke({"messages": [HumanMessage([gone])]}, CONFIG)
    assert model.shown[0][0].content[0]["text"] == "[picture img_1: a.png, which is not there any more]"


def test_a_conversation_without_pictures_is_as_it_was() -> None:
    agent, model, _ = agent_of(AIMessage("Hello."))
    result = agent.invoke({"messages": [("user", "Hello")]}, CONFIG)
    assert [message.content for message in model.shown[0]] == ["Hello"]
    assert "interleave_gallery" not in result


async def test_events_come_through_langgraphs_v3_stream() -> None:
    said = calling(CREATE, request="two things"), AIMessage("There.")
    agent, *_ = agent_of(*said)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LangGraph calls v3 experimental
        run = agent.stream_events(ASK, CONFIG, version="v3")
        segments = list(run.extensions["segments"])
        agent, *_ = agent_of(*said)
        other = await agent.astream_events(ASK, CONFIG, version="v3")
        custom = [event async for event in other.custom]
    pictures = [segment for segment in segments if segment["kind"] == "image"]
    assert len(pictures) == 2
    assert {segment["tool_call_id"] for segment in segments} == {f"call-{CREATE}"}
    assert [event["kind"] for event in custom if event.get("kind") == "image"] == ["image", "image"]
    assert {event["tool_call_id"] for event in custom} == {f"call-{CREATE}"}


async def test_what_a_model_drew_itself_stays_as_it_came() -> None:
    agent, model, _ = agent_of(AIMessage("Nice."))
    theirs = AIMessage([{"type": "text", "text": "Look"}, MINE])
    result = await agent.ainvoke({"messages": [HumanMessage("Draw"), theirs, HumanMessage("More")]}, CONFIG)
    assert model.shown[0][1].content == theirs.content == result["messages"][1].content
    assert [one["id"] for one in result["interleave_gallery"]["pictures"]] == ["img_1"]


def test_pictures_in_a_command_are_references_before_the_model_is_called() -> None:
    @tool
    def snap(runtime: ToolRuntime[Any, Any]) -> Any:
        """Take a picture."""
        return Command(update={"messages": [ToolMessage([MINE], tool_call_id=runtime.tool_call_id or "")]})

    agent, _, _ = agent_of(calling("snap"), AIMessage("There."), tools=[snap])
    result = agent.invoke({"messages": [("user", "Look")]}, CONFIG)
    assert result["messages"][2].content[0]["url"].startswith("artifact://")


async def test_image_tools_know_the_same_names() -> None:
    store, backend = ArtifactStore.memory(), ScriptedBackend()
    said = [
        calling(CREATE, request="two things"),
        calling("edit_image", prompt="bluer", references=["img_1", "doc_1.step_2"]),
        calling("edit_image", prompt="bluer", references=["img_7"]),
        AIMessage("There."),
    ]
    tools = create_image_tools(backend, artifacts=store)
    agent, _, _ = agent_of(*said, tools=tools, artifacts=store)
    result = await agent.ainvoke(ASK, CONFIG)
    made, drawn, refused = [message for message in result["messages"] if isinstance(message, ToolMessage)]
    assert [picture.width for picture in backend.requests[0].references] == [64, 16]
    assert drawn.artifact["references"][1] == made.artifact["segments"][3]["image"]["uri"]
    assert refused.status == "error" and refused.text.startswith("There is no picture 'img_7'. Pictures here: img_1")
    assert [one["id"] for one in result["interleave_gallery"]["pictures"]] == ["img_1", "img_2"]


async def test_what_a_real_client_sends_is_what_the_api_takes(loopback: Any) -> None:
    call = {"request": "two things", "images": ["img_1"]}
    answers = [Chat(text=None, tool_calls=[ToolCall(CREATE, json.dumps(call))]), Chat(text="There.")]
    loopback.script("chat", answers)
    model = ChatOpenAI(model="gpt-5", api_key=SecretStr("k"), base_url=loopback.base_url)
    agent: Any = create_agent(model, middleware=[middleware()])
    result = await agent.ainvoke(ASK)
    assert result["messages"][-1].text == "There."
    first, second = [request.body["messages"] for request in loopback.on("chat")]
    sent = first[0]["content"]
    assert [part["type"] for part in sent] == ["text", "text", "image_url", "text"]
    assert sent[2]["image_url"]["url"].startswith("data:image/png;base64,")
    assert second[0]["content"] == sent[:3], "the prefix a provider caches"
    answered = second[-1]
    assert answered["role"] == "tool" and "artifact://" not in str(answered["content"])
    assert "Documents here: doc_1" in str(answered["content"])
    tools = [one["function"]["name"] for one in loopback.on("chat")[0].body["tools"]]
    assert tools[0] == CREATE and len(tools) == 3


def test_what_cannot_be_is_refused_at_once() -> None:
    refused: Any = [({"show": "yes"}, "show='yes'"), ({"images": "all"}, "images='all'"), ({"size": "1"}, "size")]
    refused.append(({"aprove": {"plan"}}, "Did you mean approve"))
    for options, says in refused:
        with pytest.raises(ConfigError, match=says):
            InterleaveMiddleware(**options)
