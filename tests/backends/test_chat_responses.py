"""The backend `chat_model` with OpenAI's Responses API as LangChain really speaks it: over loopback."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from telling import Telling, telling

from langgraph_interleave.backends.chat_model import ChatModelImageBackend
from langgraph_interleave.errors import BadResponse, CallError, ContentBlocked, NoImage, Unavailable
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import ImageBytes, ImageRequest, ImageResult

DRAFT, FINAL = noise_card("draft", side=24), noise_card("final", side=32)


def call(image: ImageBytes | None, **more: Any) -> dict[str, Any]:
    result = None if image is None else base64.b64encode(image.data).decode()
    return {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": result, **more}


def words(text: str, kind: str = "output_text") -> dict[str, Any]:
    held = {"type": kind, "text": text, "annotations": []} if kind == "output_text" else {"type": kind, "refusal": text}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [held]}


def response(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5-mini", "status": "completed",
        "output": list(output), "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None,
        "usage": {
            "input_tokens": 300, "input_tokens_details": {"cached_tokens": 100}, "output_tokens": 60,
            "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 360,
        },
        **more,
    }  # fmt: skip


@pytest.fixture
def openai() -> Iterator[Telling]:
    with telling(response(call(FINAL))) as server:
        yield server


def drawn(openai: Telling, request: ImageRequest | None = None, **options: Any) -> ImageResult:
    model = ChatOpenAI(
        model="gpt-5-mini",
        base_url=f"{openai.base_url}/v1",
        api_key="sk-loop",  # type: ignore[arg-type]
        use_responses_api=True,
        **options,
    )
    return asyncio.run(ChatModelImageBackend(model).agenerate(request or ImageRequest("a pot")))


@pytest.mark.parametrize("version", [None, "v0", "responses/v1", "v1"])
def test_a_picture_in_every_version_of_the_output(openai: Telling, version: str | None) -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    openai.reply = response(reasoning, call(DRAFT), call(FINAL, revised_prompt="A clay pot."), words("Done."))
    options: dict[str, Any] = {"output_version": version} if version else {}
    result = drawn(openai, ImageRequest("a pot", references=[DRAFT], width=1536, height=1024), **options)
    assert result.images[0].data == FINAL.data
    assert result.text == "Done."
    assert result.usage.input_tokens == 300
    assert result.usage.cached_tokens == 100
    assert result.usage.cost_usd is not None
    if version != "v0":
        assert any("another prompt: A clay pot." in warning for warning in result.warnings)
    [asked] = openai.asked
    assert asked.path == "/v1/responses"
    assert asked.data["tools"] == [{"type": "image_generation", "size": "1536x1024"}]
    assert asked.data["tool_choice"] == {"type": "image_generation"}
    [message] = asked.data["input"]
    pictures = [block["image_url"] for block in message["content"] if block["type"] == "input_image"]
    assert pictures == [f"data:image/png;base64,{base64.b64encode(DRAFT.data).decode()}"]


MODERATION = {"categories": ["violence"], "moderation_stage": "output"}


@pytest.mark.parametrize(
    ("output", "error", "says"),
    [
        (
            call(None, status="failed", error={"code": "moderation_blocked", "moderation_details": MODERATION}),
            ContentBlocked,
            "violence",
        ),
        (call(None, status="failed", error={"code": "server_error", "message": "Oops."}), Unavailable, "Oops"),
        (call(None, status="failed"), CallError, "ended as failed"),
        (words("I cannot draw that.", "refusal"), ContentBlocked, "I cannot draw that"),
        (words("A pot is a vessel."), NoImage, "A pot is a vessel"),
        ({**call(None), "result": "PGh0bWw+"}, BadResponse, "HTML page"),
    ],
)
@pytest.mark.parametrize("version", [None, "v1"])
def test_what_is_no_picture(
    openai: Telling, output: dict[str, Any], error: type[CallError], says: str, version: str | None
) -> None:
    openai.reply = response(output)
    with pytest.raises(error, match=says) as raised:
        drawn(openai, output_version=version)
    assert raised.value.usage is not None
    assert raised.value.usage.input_tokens == 300
    assert len(openai.asked) == 1
