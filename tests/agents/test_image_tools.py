"""`create_image_tools`: an image backend in the hands of an agent."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from langgraph.checkpoint.memory import InMemorySaver
from PIL import Image
from pydantic import Field

from langgraph_interleave import ArtifactStore, Limits, image_part
from langgraph_interleave.agents import create_image_tools
from langgraph_interleave.errors import ConfigError, ContentBlocked
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.prices import Prices
from langgraph_interleave.testing import ScriptedBackend, noise_card
from langgraph_interleave.types import Capabilities, ImageResult, Usage


def call(tool: BaseTool, **arguments: Any) -> ToolMessage:
    return tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})


def url(message: ToolMessage) -> str:
    return message.artifact["images"][0]["url"]


STORE = ArtifactStore.memory()


class _Generating:
    @property
    def tool_constructor(self) -> BaseTool:
        return create_image_tools(ScriptedBackend())[0]

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"prompt": "a cat", "size": "64x64", "seed": 3, "quality": "draft"}


class _Editing:
    @property
    def tool_constructor(self) -> BaseTool:
        return create_image_tools(ScriptedBackend(), artifacts=STORE)[1]

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"prompt": "make it blue", "references": [STORE.put_image(noise_card("a cat")).uri]}


class TestGenerateUnit(_Generating, ToolsUnitTests):
    pass


class TestGenerateIntegration(_Generating, ToolsIntegrationTests):
    pass


class TestEditUnit(_Editing, ToolsUnitTests):
    pass


class TestEditIntegration(_Editing, ToolsIntegrationTests):
    pass


def test_words_and_an_id_and_no_bytes() -> None:
    store = ArtifactStore.memory()
    generate, edit = create_image_tools(ScriptedBackend(), artifacts=store)
    drawn = call(generate, prompt="a cat")
    assert isinstance(drawn.content, str) and url(drawn) in drawn.content and drawn.status == "success"
    assert drawn.artifact["images"][0]["extras"]["alt"] == "a cat"
    changed = call(edit, prompt="make it blue", references=[url(drawn)])
    assert url(changed) != url(drawn)
    assert changed.artifact["references"] == [url(drawn)]
    assert store.get(url(changed)) == noise_card("make it blue").data
    for message in (drawn, changed):
        assert len(json.dumps(message.model_dump(), default=str)) < 2000


async def test_the_async_form_and_what_reaches_the_backend() -> None:
    backend = ScriptedBackend()
    store = ArtifactStore.memory()
    generate, edit = create_image_tools(backend, artifacts=store, size="640x480", quality="draft")
    drawn = await generate.ainvoke(
        {"type": "tool_call", "id": "1", "name": "generate_image", "args": {"prompt": "a cat", "seed": 5}}
    )
    photo = image_part(noise_card("photo").data, store)
    arguments = {"prompt": "both", "references": [url(drawn), photo["url"]], "size": "64x32", "quality": "high"}
    await edit.ainvoke({"type": "tool_call", "id": "2", "name": "edit_image", "args": arguments})
    first, second = backend.requests
    assert (first.prompt, first.width, first.height, first.seed, first.quality) == ("a cat", 640, 480, 5, "draft")
    assert (second.width, second.height, second.seed, second.quality) == (64, 32, None, "high")
    assert [len(one.references) for one in backend.requests] == [0, 2]
    assert second.references[0].data == noise_card("a cat", seed=5).data
    assert second.timeout_s == 600 and not second.extra


def test_the_schema_shows_what_a_model_may_set_and_nothing_else() -> None:
    generate, edit = create_image_tools(ScriptedBackend())
    shown = [convert_to_openai_tool(tool)["function"]["parameters"] for tool in (generate, edit)]
    assert list(shown[0]["properties"]) == ["prompt", "size", "seed", "quality"]
    assert list(shown[1]["properties"]) == ["prompt", "references", "size", "seed", "quality"]
    assert shown[1]["required"] == ["prompt", "references"]
    assert all(one["description"] for schema in shown for one in schema["properties"].values())
    assert "Up to 16 references" in edit.description


def test_the_same_call_is_made_once_and_says_so() -> None:
    backend = ScriptedBackend()
    generate, _ = create_image_tools(backend)
    first, second = call(generate, prompt="a cat"), call(generate, prompt="a cat")
    assert len(backend.requests) == 1
    assert url(first) == url(second) and second.artifact["replayed"] is True
    assert "was drawn before" in second.content and "change the words or the seed" in second.content
    assert url(call(generate, prompt="a cat", seed=2)) != url(first)


async def test_calls_at_the_same_time_are_one_call() -> None:
    backend = ScriptedBackend(delay_s=0.05)
    generate, _ = create_image_tools(backend)
    drawn = await asyncio.gather(*[generate.ainvoke({"prompt": "a cat"}) for _ in range(4)])
    assert len(backend.requests) == 1 and len(drawn) == 4


def test_a_loop_of_pictures_ends_at_the_limit() -> None:
    backend = ScriptedBackend()
    generate, _ = create_image_tools(backend, limits=Limits(max_images=2))
    statuses = [call(generate, prompt=f"cat {index}").status for index in range(4)]
    assert statuses == ["success", "success", "error", "error"]
    refused = call(generate, prompt="cat 9")
    assert refused.content == "No more pictures can be drawn here: max_images is 2. Go on with those there are."
    assert call(generate, prompt="cat 0").status == "success", "what is there costs nothing"
    generate, _ = create_image_tools(backend)
    assert [call(generate, prompt=f"dog {index}").status for index in range(21)][-2:] == ["success", "error"]


def test_money_has_a_cap_where_the_price_is_known() -> None:
    backend = ScriptedBackend(
        lambda asked: ImageResult((noise_card(asked.prompt),), usage=Usage(images=1, cost_usd=0.1)),
        capabilities=Capabilities(billed=True),
    )
    with pytest.raises(ConfigError, match="max_cost_usd cannot be kept"):
        create_image_tools(backend, limits=Limits(max_cost_usd=0.25))
    backend.prices = Prices().merged({"tenth": {"picture": 0.1}})  # pyright: ignore[reportAttributeAccessIssue]
    backend.model_name = "tenth"  # pyright: ignore[reportAttributeAccessIssue]
    generate, *_ = create_image_tools(backend, limits=Limits(max_cost_usd=0.25))
    assert [call(generate, prompt=f"cat {index}").status for index in range(3)] == ["success", "success", "error"]
    assert len(backend.requests) == 2


def failing(error: BaseException) -> BaseTool:
    return create_image_tools(ScriptedBackend(lambda request: error))[0]


def test_what_is_refused_is_an_error_with_a_remedy() -> None:
    message = call(failing(ContentBlocked("It was refused.", remedy="Say it differently.")), prompt="a cat")
    assert message.status == "error" and message.artifact is None
    assert message.content == "Nothing was drawn. It was refused. Say it differently."


def test_what_only_the_operator_can_mend_is_raised() -> None:
    with pytest.raises(ConfigError, match="The key is refused"):
        call(failing(ConfigError("The key is refused.")), prompt="a cat")
    with pytest.raises(ZeroDivisionError):
        call(failing(ZeroDivisionError("a bug")), prompt="a cat")


@pytest.mark.parametrize(("arguments", "says"), [
    ({"prompt": " ", "references": ["x"]}, "The prompt is empty."),
    ({"prompt": "blue", "references": []}, "No picture to start from."),
    ({"prompt": "blue", "references": ["the last one"]}, "'the last one' is not the id of a picture."),
    ({"prompt": "blue", "references": ["artifact://" + "0" * 64]}, "There is no picture artifact://000"),
    ({"prompt": "blue", "references": ["../../etc/passwd"]}, "is not the id of a picture."),
    ({"prompt": "blue", "references": ["https://example.org/x.png"]}, "is not the id of a picture."),
    ({"prompt": "blue", "references": ["x"], "size": "huge"}, "size 'huge' is not WIDTHxHEIGHT."),
    ({"prompt": "blue", "references": ["x"], "size": "1x9"}, "out of range"),
    ({"references": ["x"]}, "prompt: Field required"),
    ({"prompt": "blue", "references": ["x"], "quality": "best"}, "quality: Input should be 'draft'"),
    ({"prompt": "blue", "references": ["x"], "seed": "many"}, "seed: Input should be a valid integer"),
])  # fmt: skip
def test_what_a_model_gets_wrong_is_said_to_it(arguments: dict[str, Any], says: str) -> None:
    backend = ScriptedBackend()
    _, edit = create_image_tools(backend)
    message = call(edit, **arguments)
    assert message.status == "error" and says in message.content
    assert not backend.requests


def test_what_is_stored_and_no_picture_is_refused() -> None:
    store = ArtifactStore.memory()
    _, edit = create_image_tools(ScriptedBackend(), artifacts=store)
    message = call(edit, prompt="blue", references=[store.put(b"hello", mime="text/plain").uri])
    assert "is not a picture" in message.content


def test_an_id_may_be_shortened_where_it_is_clear() -> None:
    generate, edit = create_image_tools(ScriptedBackend())
    drawn = url(call(generate, prompt="a cat"))
    digest = drawn.removeprefix("artifact://")
    written = (f"`{drawn}`", f"<{drawn}>", f"{drawn}.", f"({drawn})", drawn.upper(), f'"{digest}"')
    for text in (digest, digest[:8], f" {drawn[:25]} ", digest.upper(), *written):
        assert call(edit, prompt="blue", references=[text]).artifact["references"] == [drawn]
    assert f"Pictures drawn here: {drawn}" in call(edit, prompt="blue", references=[digest[:7]]).content


def test_warnings_of_the_backend_are_told() -> None:
    told = ImageResult((noise_card("x"),), usage=Usage(images=1), warnings=("Drawn smaller.",))
    message = call(create_image_tools(ScriptedBackend([told]))[0], prompt="a cat")
    assert str(message.content).endswith("Note: Drawn smaller.") and message.artifact["warnings"] == ["Drawn smaller."]


class Sighted(GenericFakeChatModel):
    profile: Any = Field(default_factory=lambda: {"image_tool_message": True})


def test_pictures_are_shown_on_request_or_where_the_model_takes_them() -> None:
    large = noise_card("large", side=1500)
    showing: list[dict[str, Any]] = [{"images": "blocks"}, {"model": Sighted(messages=iter([]))}]
    for options in showing:
        generate, _ = create_image_tools(ScriptedBackend([large]), **options)
        content: Any = call(generate, prompt="a cat").content
        words, picture = content
        assert words["type"] == "text" and picture["type"] == "image" and picture["mime_type"] == "image/png"
        shown = base64.b64decode(picture["base64"])
        assert int.from_bytes(shown[16:20]) == 1024, "as large as is of use, and no larger"
    blind = GenericFakeChatModel(messages=iter([]))
    telling: list[dict[str, Any]] = [{}, {"model": blind}, {"images": "reference", **showing[1]}]
    for options in telling:
        generate, _ = create_image_tools(ScriptedBackend(), **options)
        assert isinstance(call(generate, prompt="a cat").content, str)


def test_only_the_tools_a_backend_can_be() -> None:
    def names(capabilities: Capabilities) -> list[str]:
        return [tool.name for tool in create_image_tools(ScriptedBackend(capabilities=capabilities))]

    assert names(Capabilities()) == ["generate_image"]
    assert names(Capabilities(generate=False, edit="img2img", max_references=1)) == ["edit_image"]
    with pytest.raises(ConfigError, match="draws nothing"):
        names(Capabilities(generate=False))


def test_options_are_held_against_what_there_is() -> None:
    with pytest.raises(ConfigError, match="images='bytes' is unknown"):
        create_image_tools("sketch", images="bytes")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="quality='superb' is unknown. Say 'draft', 'standard', 'high'"):
        create_image_tools("sketch", quality="superb")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="another store"):
        create_image_tools("sketch", artifacts=ArtifactStore.memory(), ledger=Ledger(ArtifactStore.memory()))
    with pytest.raises(ConfigError, match="not WIDTHxHEIGHT"):
        create_image_tools("sketch", size="huge")
    with pytest.raises(ConfigError, match="No backend"):
        create_image_tools("nothing")

    def red(prompt: str, references: Any) -> Any:
        return Image.new("RGB", (32, 32), "red")

    assert call(create_image_tools(red)[0], prompt="red").status == "success"


class Calling(GenericFakeChatModel):
    """A model that calls tools as its script says."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


def asking(*calls: dict[str, Any]) -> Calling:
    messages = [AIMessage("", tool_calls=[{**one, "type": "tool_call"}]) for one in calls]
    return Calling(messages=iter([*messages, AIMessage("Here it is.")]))


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def test_in_an_agent_each_thread_has_its_budget_and_a_resumed_one_pays_nothing_twice() -> None:
    store, backend = ArtifactStore.memory(), ScriptedBackend()
    draw = {"name": "generate_image", "args": {"prompt": "a cat"}, "id": "1"}
    more = {"name": "generate_image", "args": {"prompt": "a dog"}, "id": "2"}

    def turn(name: str, *calls: dict[str, Any]) -> list[ToolMessage]:
        tools = create_image_tools(backend, artifacts=store, limits=Limits(max_images=1))
        agent: Any = create_agent(asking(*calls), tools=tools, checkpointer=InMemorySaver())
        messages = agent.invoke({"messages": [("user", "a cat, please")]}, thread(name))["messages"]
        assert messages[-1].content == "Here it is."
        return [message for message in messages if isinstance(message, ToolMessage)]

    assert [message.status for message in turn("one", draw, more)] == ["success", "error"]
    # Tools made anew, as after a restart: the ledger remembers what the conversation had.
    assert [message.status for message in turn("one", draw, {**draw, "id": "3"}, more)] == ["success"] * 2 + ["error"]
    assert len(backend.requests) == 1
    assert [message.status for message in turn("two", more)] == ["success"]
    assert len(backend.requests) == 2


def test_checkpoints_hold_no_bytes() -> None:
    saver = InMemorySaver()
    tools = create_image_tools(ScriptedBackend([noise_card("large", side=600)]))
    agent: Any = create_agent(
        asking({"name": "generate_image", "args": {"prompt": "a cat"}, "id": "1"}), tools=tools, checkpointer=saver
    )
    agent.invoke({"messages": [("user", "a cat")]}, thread("one"))
    assert sum(len(repr(each)) for each in saver.list(thread("one"))) < 60_000


def test_progress_of_a_real_backend_from_words_to_a_change() -> None:
    generate, edit = create_image_tools("sketch", size="128x128")
    drawn = call(generate, prompt="a red ball")
    changed = call(edit, prompt="make the ball blue", references=[url(drawn)])
    assert changed.artifact["model"].startswith("sketch/") and url(changed) != url(drawn)
