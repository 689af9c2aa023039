"""From a conversation to a request, and its pictures into the store."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.chat.conversation import (
    as_messages,
    holds_bytes,
    keep_pictures,
    read_conversation,
    stored_messages,
)
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.testing import noise_card

PNG = noise_card("a leaf").data
BASE64 = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{BASE64}"


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_the_last_human_message_is_the_request() -> None:
    asked = read_conversation(
        [
            SystemMessage("Thick outlines."),
            HumanMessage("Draw a cat"),
            AIMessage("done"),
            HumanMessage(["Plant ", words("a bean")]),
            AIMessage("", tool_calls=[{"name": "transfer_to_illustrator", "args": {}, "id": "1"}]),
            ToolMessage("transferred", tool_call_id="1"),
        ]
    )
    assert asked.request == [words("Plant "), words("a bean")]
    assert asked.style == "Thick outlines."


def test_human_messages_in_a_row_belong_together() -> None:
    asked = read_conversation([AIMessage("hi"), HumanMessage("This is my garden."), HumanMessage("Plant a tree here")])
    assert asked.request == [words("This is my garden."), words("Plant a tree here")]
    assert asked.style is None


def test_somebody_must_ask_for_something() -> None:
    with pytest.raises(ConfigError, match="no human message"):
        read_conversation([SystemMessage("x"), AIMessage("y")])


@pytest.mark.parametrize(
    "given",
    ["hi", [("user", "hi")], [{"role": "user", "content": "hi"}], ChatPromptTemplate([("user", "hi")]).invoke({})],
)
def test_a_model_may_be_called_with_anything_langchain_takes(given: Any) -> None:
    assert [message.content for message in as_messages(given)] == ["hi"]


def test_anything_else_is_refused() -> None:
    with pytest.raises(ConfigError, match="not with a int"):
        as_messages(3)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "base64": BASE64, "mime_type": "image/png"},
        {"type": "image", "base64": BASE64, "mime_type": "image/png", "extras": {"filename": "leaf.png"}},
        {"type": "image", "source_type": "base64", "data": BASE64, "mime_type": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64}},
        {"type": "image", "url": URL},
        {"type": "image_url", "image_url": {"url": URL}},
        {"type": "image_url", "image_url": URL},
        {"type": "input_image", "image_url": URL},
    ],
)
def test_bytes_in_any_form_become_references(block: dict[str, Any]) -> None:
    artifacts = ArtifactStore.memory()
    given: list[BaseMessage] = [HumanMessage([words("Plant it"), block], id="h")]
    assert holds_bytes(given)
    kept = keep_pictures(given, artifacts)
    assert kept[0].id == "h" and not holds_bytes(kept)
    request = read_conversation(kept).request
    assert request[0] == words("Plant it")
    assert request[1]["url"].startswith("artifact://") and artifacts.has(request[1]["url"])
    assert BASE64 not in str(kept)
    assert request[1]["extras"].get("name") == block.get("extras", {}).get("filename")
    assert given[0].content[1] == block, "the caller's own message is as it was"


def test_messages_without_bytes_stay_the_same_objects() -> None:
    given = [HumanMessage("a"), AIMessage([{"type": "image", "url": "artifact://" + "a" * 64}])]
    assert all(new is old for new, old in zip(keep_pictures(given, ArtifactStore.memory()), given, strict=True))


def test_pictures_that_are_not_asked_about_are_not_stored() -> None:
    given = [
        HumanMessage([{"type": "image", "url": URL}]),
        AIMessage([{"type": "image", "base64": BASE64}]),
        HumanMessage("b"),
    ]
    kept = keep_pictures(given, ArtifactStore.memory())
    assert [message.content for message in kept] == [[words("[picture]")], [words("[picture]")], "b"]


def test_an_agent_stores_the_pictures_of_every_human_message() -> None:
    artifacts = ArtifactStore.memory()
    given = [HumanMessage([{"type": "image", "url": URL}], id="1"), AIMessage("x", id="2"), HumanMessage("b", id="3")]
    stored = stored_messages(given, artifacts)
    assert [message.id for message in stored] == ["1"]
    assert not holds_bytes(stored)


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ({"type": "image", "base64": "§", "mime_type": "image/png"}, "not valid base64"),
        ({"type": "image", "url": "data:image/png;base64,AAAA"}, "(?i)picture"),
        ({"type": "image", "url": "data:,hello"}, "(?i)picture"),
    ],
)
def test_what_is_no_picture_is_refused(block: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        keep_pictures([HumanMessage([block])], ArtifactStore.memory())
