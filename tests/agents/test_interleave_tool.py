"""The interleave graph as an agent's tools: what they return, forward, refuse, and how they are named."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_interleave import (
    ArtifactStore,
    Document,
    InterleaveContext,
    Ledger,
    create_interleave_graph,
    image_part,
    stream_segments,
)
from langgraph_interleave.agents import create_interleave_tool, create_interleave_tools
from langgraph_interleave.agents.illustrator import Illustrator
from langgraph_interleave.agents.options import GraphOptions
from langgraph_interleave.errors import ConfigError, PlanError
from langgraph_interleave.serving import Links
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import ImageBytes, ImageRequest

CREATE = "create_illustrated_document"


class Scripted(FakeMessagesListChatModel):
    """Says what its script says; tools may be bound to it."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def calling(name: str, id: str = "call-1", **arguments: Any) -> dict[str, Any]:  # noqa: A002
    return {"name": name, "args": arguments, "id": id, "type": "tool_call"}


def call(tool: BaseTool, **arguments: Any) -> ToolMessage:
    return tool.invoke(calling(tool.name, **arguments))


def make(planner: Any = None, backend: Any = None, **options: Any) -> list[BaseTool]:
    options |= {"planner": planner or ScriptedPlanner(simple_plan(2)), "backend": backend or ScriptedBackend()}
    return create_interleave_tools(critic=options.pop("critic", ScriptedCritic()), **options)


def agent_of(tools: Any, *calls: dict[str, Any], **options: Any) -> Any:
    said: Any = [AIMessage("", tool_calls=list(calls)), AIMessage("There you are.")]
    return create_agent(Scripted(responses=said), tools, **options)


ASK: Any = {"messages": [("user", "Show me two things")]}


class _Creating:
    @property
    def tool_constructor(self) -> BaseTool:
        return make()[0]

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"request": "two things", "images": []}


class _Changing:
    @property
    def tool_constructor(self) -> BaseTool:
        create, change, _ = make()
        create.invoke({"request": "two things"})
        return change

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"document": "doc_1", "request": "darker"}


class _Restoring:
    @property
    def tool_constructor(self) -> BaseTool:
        create, _, restore = make()
        create.invoke({"request": "two things"})
        return restore

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"document": "doc_1", "version": 1}


class TestCreateUnit(_Creating, ToolsUnitTests):
    pass


class TestCreateIntegration(_Creating, ToolsIntegrationTests):
    pass


class TestChangeUnit(_Changing, ToolsUnitTests):
    pass


class TestChangeIntegration(_Changing, ToolsIntegrationTests):
    pass


class TestRestoreUnit(_Restoring, ToolsUnitTests):
    pass


class TestRestoreIntegration(_Restoring, ToolsIntegrationTests):
    pass


def test_words_ids_and_an_artifact_without_bytes() -> None:
    store = ArtifactStore.memory()
    message = call(make(artifacts=store)[0], request="two things")
    assert message.status == "success"
    assert message.content == (
        "doc_1, version 1: “A plan”, 2 steps, complete.\n"
        "1. Caption of step 0. [picture doc_1.step_1]\n"
        "2. Caption of step 1. [picture doc_1.step_2]"
    )
    artifact = message.artifact
    assert json.loads(json.dumps(artifact)) == artifact and len(json.dumps(artifact)) < 2500
    assert (artifact["document"], artifact["version"], artifact["outcome"]) == ("doc_1", 1, "complete")
    assert artifact["spend"]["images"] == 2
    kinds = [(segment["number"], segment["kind"]) for segment in artifact["segments"]]
    assert kinds == [(1, "caption"), (1, "image"), (2, "caption"), (2, "image")]
    document = Document.load(store.get_json(artifact["digest"]), store)
    assert [image.sha256 for _, image in document.images()] == [
        segment["image"]["sha256"] for segment in artifact["segments"] if segment["kind"] == "image"
    ]


def test_the_schema_shows_what_a_model_may_set_and_nothing_else() -> None:
    shown = [convert_to_openai_tool(tool)["function"] for tool in make()]
    assert [tool["name"] for tool in shown] == [
        CREATE,
        "change_illustrated_document",
        "restore_illustrated_document",
    ]
    assert [list(tool["parameters"]["properties"]) for tool in shown] == [
        ["request", "images"],
        ["document", "request", "images"],
        ["document", "version"],
    ]
    assert [tool["parameters"]["required"] for tool in shown] == [
        ["request"],
        ["document", "request"],
        ["document", "version"],
    ]
    assert all(one["description"] for tool in shown for one in tool["parameters"]["properties"].values())
    assert create_interleave_tool().name == CREATE


def test_the_options_are_those_of_the_graph() -> None:
    of_the_graph = set(inspect.signature(create_interleave_graph).parameters)
    assert set(get_type_hints(GraphOptions)) == of_the_graph - {"artifacts", "checkpointer", "store", "name"}


@pytest.mark.parametrize(("options", "says"), [
    ({"images": "base64"}, "images='base64' is unknown"),
    ({"backend": ScriptedBackend()}, "needs a planner"),
    ({"graph": object(), "seed": 2}, "A graph was given together with seed"),
    ({"graph": object()}, "without its artifact store"),
    ({"aprove": {"plan"}}, r"There is no option 'aprove'\. Did you mean approve\?"),
    ({"colour": "red"}, r"There is no option 'colour'\. Options: planner, backend,"),
    ({"graph": object(), "checkpointer": None}, "There is no option 'checkpointer'"),
])  # fmt: skip
def test_what_cannot_be_is_refused_at_once(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        create_interleave_tools(**options)


def test_a_given_graph_and_its_store() -> None:
    store = ArtifactStore.memory()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), ScriptedBackend(), ScriptedCritic(), artifacts=store
    )
    message = call(create_interleave_tool(graph, artifacts=store), request="one thing")
    assert store.get_json(message.artifact["digest"])["outcome"] == "complete"


# --- events -----------------------------------------------------------------------------------------


def pictures_of(events: list[Any]) -> list[Any]:
    return [event for event in events if event.get("kind") == "image"]


@pytest.mark.parametrize("subgraphs", [False, True])
async def test_every_event_reaches_the_caller_once_with_its_call(subgraphs: bool) -> None:
    options: Any = {"stream_mode": "custom", "version": "v2", "subgraphs": subgraphs}
    agent = agent_of(make(), calling(CREATE, request="two things"))
    events = [part["data"] for part in agent.stream(ASK, **options)]
    agent = agent_of(make(), calling(CREATE, request="two things"))
    others = [part["data"] async for part in agent.astream(ASK, **options)]
    for heard in (events, others):
        assert len(pictures_of(heard)) == 2
        assert {event["tool_call_id"] for event in heard} == {"call-1"}
        assert [event["phase"] for event in heard if event["type"] == "interleave.run"] == ["start", "finish"]


def test_segments_are_read_from_the_agent_as_from_the_graph() -> None:
    agent = agent_of(make(), calling(CREATE, "a", request="one"), calling(CREATE, "b", request="two"))
    segments = list(stream_segments(agent, ASK))
    pictures = [segment for segment in segments if segment.kind == "image"]
    assert sorted(segment.tool_call_id or "" for segment in pictures) == ["a", "a", "b", "b"]


async def test_calls_at_the_same_time_are_documents_of_their_own() -> None:
    agent = agent_of(make(), calling(CREATE, "a", request="one"), calling(CREATE, "b", request="two"))
    result = await agent.ainvoke(ASK)
    made = [message.artifact for message in result["messages"] if isinstance(message, ToolMessage)]
    assert [artifact["document"] for artifact in made] == ["doc_1", "doc_2"]
    assert made[0]["run_id"] != made[1]["run_id"]


async def test_one_run_id_of_the_caller_is_several_runs() -> None:
    tools = make()
    calls = [calling(CREATE, "a", request="one"), calling(CREATE, "b", request="two")]
    agent = agent_of(tools, *calls, context_schema=InterleaveContext)
    result = await agent.ainvoke(ASK, context=InterleaveContext(run_id="mine", seed=3))
    made = [message.artifact["run_id"] for message in result["messages"] if isinstance(message, ToolMessage)]
    assert len({*made, "mine"}) == 3


async def test_a_cancelled_agent_stops_the_run_within() -> None:
    begun, stopped = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    async def draw(request: ImageRequest) -> ImageBytes:
        loop.call_soon_threadsafe(begun.set)
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped.set()
            raise
        return noise_card(request.prompt)

    ledger = Ledger(ArtifactStore.memory(), grace_s=0)
    agent = agent_of(make(backend=ScriptedBackend(draw), ledger=ledger), calling(CREATE, request="two things"))
    task = asyncio.create_task(agent.ainvoke(ASK))
    await asyncio.wait_for(begun.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(stopped.wait, 5)


async def test_an_agent_that_was_cut_off_goes_on_and_pays_nothing_twice() -> None:
    begun, again = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    async def draw(request: ImageRequest) -> ImageBytes:
        if "thing 1" in request.prompt and not again.is_set():
            loop.call_soon_threadsafe(begun.set)
            await asyncio.to_thread(again.wait, 30)
        return noise_card(request.prompt, seed=request.seed or 0)

    planner, backend = ScriptedPlanner(simple_plan(2)), ScriptedBackend(draw)
    tools = make(planner, backend, lookahead=False)
    agent = agent_of(tools, calling(CREATE, request="two things"), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    task = asyncio.create_task(agent.ainvoke(ASK, config))
    await asyncio.wait_for(begun.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    again.set()
    result = await agent.ainvoke(None, config)
    assert result["messages"][-2].artifact["outcome"] == "complete"
    assert len(planner.requests) == 1, "the plan was not made again"
    assert [request.prompt for request in backend.requests].count("thing 0") == 1


# --- people in the loop -----------------------------------------------------------------------------


def asked_in(result: Any) -> list[Any]:
    return [(one.id, one.value["ask"]) for one in result.get("__interrupt__", ())]


async def test_reviewers_are_asked_through_the_agent() -> None:
    planner, backend = ScriptedPlanner(simple_plan(2, sources=[[], []])), ScriptedBackend()
    tools = make(planner, backend, approve={"plan", "steps"})
    agent = agent_of(tools, calling(CREATE, request="two things"), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    result = await agent.ainvoke(ASK, config)
    [(_, ask)] = asked_in(result)
    assert ask == "plan" and not backend.requests
    result = await agent.ainvoke(Command(resume={"decision": "accept"}), config)
    assert [ask for _, ask in asked_in(result)] == ["step", "step"]
    first, second = [one for one, _ in asked_in(result)]
    answers = {first: {"decision": "accept"}, second: {"decision": "skip"}}
    result = await agent.ainvoke(Command(resume=answers), config)
    message = result["messages"][-2]
    assert not asked_in(result) and message.artifact["document"] == "doc_1"
    assert [segment["kind"] for segment in message.artifact["segments"]].count("image") == 1
    assert (len(planner.requests), len(backend.requests)) == (1, 2), "nothing was paid for twice"


async def test_plans_of_two_calls_are_asked_about_together() -> None:
    planner, backend = ScriptedPlanner(simple_plan(1)), ScriptedBackend()
    tools = make(planner, backend, approve={"plan"})
    calls = [calling(CREATE, "a", request="one"), calling(CREATE, "b", request="two")]
    agent = agent_of(tools, *calls, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    first, second = [one for one, _ in asked_in(await agent.ainvoke(ASK, config))]
    result = await agent.ainvoke(Command(resume={first: "cancel", second: "accept"}), config)
    told = [message for message in result["messages"] if isinstance(message, ToolMessage)]
    assert sorted(message.artifact["outcome"] for message in told) == ["cancelled", "complete"]
    [cancelled] = [message for message in told if message.artifact["outcome"] == "cancelled"]
    assert "1 step, stopped before it was finished." in cancelled.text
    assert len(backend.requests) == 1


def test_reviewers_are_asked_under_sync_calls() -> None:
    agent = agent_of(make(approve={"plan"}), calling(CREATE, request="two things"), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    assert [ask for _, ask in asked_in(agent.invoke(ASK, config))] == ["plan"]
    result = agent.invoke(Command(resume={"decision": "accept"}), config)
    assert result["messages"][-2].artifact["outcome"] == "complete"


# --- what goes wrong ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "says"), [
    ({"request": " "}, "The request is empty."),
    ({"request": "it", "images": ["img_1"]}, "There is no picture 'img_1'. There are no pictures and no documents"),
    ({"request": "it", "images": ["/etc/passwd"]}, "There is no picture '/etc/passwd'."),
    ({"request": "it", "images": ["doc_1.step_1"]}, "There is no document 'doc_1'."),
    ({"request": "it", "images": ["artifact://" + "0" * 64]}, "There is no picture 'artifact://000"),
    ({}, "request: Field required"),
    ({"request": "it", "images": "img_1"}, "images: Input should be a valid list"),
])  # fmt: skip
def test_what_a_model_gets_wrong_is_said_to_it(arguments: dict[str, Any], says: str) -> None:
    planner = ScriptedPlanner(simple_plan(1))
    message = call(make(planner)[0], **arguments)
    assert message.status == "error" and says in message.content
    assert not planner.requests


def test_a_failed_run_is_an_error_with_its_remedy() -> None:
    message = call(make(ScriptedPlanner([PlanError("No plan there.", remedy="Ask otherwise.")]))[0], request="it")
    assert message.status == "error" and message.artifact is None
    assert message.content == "No document was made. No plan there. Ask otherwise."


def test_what_only_the_operator_can_mend_is_raised() -> None:
    agent = agent_of(make(), calling(CREATE, request="it"))
    with pytest.raises(ConfigError, match="is out of range"):
        agent.invoke(ASK, {"configurable": {"size": "1x1"}})
    refused = make(ScriptedPlanner([ConfigError("The key is refused.")]))[0]
    with pytest.raises(ConfigError, match="The key is refused"):
        call(refused, request="it")


def test_what_is_not_all_as_asked_says_so() -> None:
    critic = ScriptedCritic(lambda request: "revise")
    message = call(make(critic=critic)[0], request="two things")
    assert message.status == "success" and message.artifact["outcome"] == "partial"
    assert message.text.startswith("doc_1, version 1: “A plan”, 2 steps, not all as asked.")
    marks = [segment["text"] for segment in message.artifact["segments"] if segment["kind"] == "placeholder"]
    assert len(marks) == 2 and marks[0] in message.content


def test_a_document_that_lost_a_part_is_an_error_and_not_the_end() -> None:
    store = ArtifactStore.memory()
    create, change, restore = make(artifacts=store)
    made = call(create, request="two things").artifact
    record = store.get_json(made["digest"])["steps"][0]["record"]
    files: Any = store._files
    del files._files[f"artifacts/{record[:2]}/{record}"]
    told = call(change, document="doc_1", request="darker")
    assert told.status == "error" and told.text.startswith("Nothing was changed: doc_1 is as it was, version 1. The ")
    digest = made["digest"]
    del files._files[f"artifacts/{digest[:2]}/{digest}"]
    for message in (call(change, document="doc_1", request="darker"), call(restore, document="doc_1", version=1)):
        assert message.content == "The document is not in the store any more. Make a new one."


def test_what_is_not_there_cannot_be_changed_or_restored() -> None:
    create, change, restore = make()
    assert "no documents in this conversation yet" in call(change, document="doc_1", request="darker").text
    call(create, request="two things")
    assert "There is no document 'the last one'." in call(change, document="the last one", request="darker").text
    assert call(restore, document="1", version=2).content == "doc_1 has no version 2. Its versions: 1."
    assert "version: Input should be" in call(restore, document="doc_1", version="first").text


def test_pictures_have_links_where_the_store_is_served() -> None:
    links = Links("0123456789abcdef", base_url="https://pictures.example.org")
    made = call(make(artifacts=ArtifactStore.memory(links=links))[0], request="two things").artifact
    shown = [segment["image"]["url"] for segment in made["segments"] if segment["kind"] == "image"]
    assert len(shown) == 2 and all(url.startswith("https://pictures.example.org/artifacts/") for url in shown)


# --- pictures in tool messages ------------------------------------------------------------------------


@pytest.mark.parametrize(("profile", "images", "shown"), [
    ({"image_tool_message": True}, None, True),
    ({}, None, False),
    ({"image_tool_message": True}, "reference", False),
    ({}, "blocks", True),
])  # fmt: skip
async def test_pictures_are_in_the_message_where_the_model_takes_them(profile: Any, images: Any, shown: bool) -> None:
    model = GenericFakeChatModel(messages=iter([]), profile=profile)
    tool = make(images=images, model=model)[0]
    message = await tool.ainvoke(calling(tool.name, request="two things"))
    if shown:
        assert [block["type"] for block in message.content] == ["text", "image", "image"]
        assert message.content[1]["base64"]
    else:
        assert isinstance(message.content, str)


# --- outside of any agent -----------------------------------------------------------------------------


async def test_calls_without_an_agent_are_a_conversation_of_their_own() -> None:
    tools = make()
    create = tools[0]
    calls = [create.ainvoke(calling(create.name, str(n), request=f"thing {n}")) for n in range(3)]
    made = await asyncio.gather(*calls)
    assert sorted(message.artifact["document"] for message in made) == ["doc_1", "doc_2", "doc_3"]
    again = call(create, request="more", images=["doc_2.step_1"])
    assert again.artifact["document"] == "doc_4"


async def test_pictures_may_be_named_by_their_address() -> None:
    store = ArtifactStore.memory()
    planner = ScriptedPlanner(simple_plan(1))
    photo = image_part(noise_card("photo").data, store)
    message = call(make(planner, artifacts=store)[0], request="it", images=[f"`{photo['url']}`."])
    assert message.status == "success"
    assert [image.sha256 for image in planner.requests[0].images] == [photo["url"].removeprefix("artifact://")]
    text = store.put(b"hello", mime="text/plain").uri
    assert "is not a picture" in call(make(artifacts=store)[0], request="it", images=[text]).content


async def test_messages_as_dicts_or_in_an_object_are_read() -> None:
    store = ArtifactStore.memory()
    block = image_part(noise_card("photo").data, store)
    planner = ScriptedPlanner(simple_plan(1))
    graph = create_interleave_graph(planner, ScriptedBackend(), ScriptedCritic(), artifacts=store)
    said = [{"role": "user", "content": [block]}]
    for state in ({"messages": said}, SimpleNamespace(messages=[HumanMessage([block])])):
        runtime: Any = SimpleNamespace(state=state, tool_call_id="1", stream_writer=None, context=None)
        _, artifact = await Illustrator(graph, store, shown=False).acreate("it", ["img_1"], runtime)
        assert artifact["pictures"]["img_1"]["url"] == block["url"]
