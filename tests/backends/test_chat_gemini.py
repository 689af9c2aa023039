"""The backend `chat_model` with Gemini as LangChain really speaks to it: its own client, over loopback."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from typing import Any

import pytest
from telling import Telling, telling

from langgraph_interleave.backends.chat_model import ChatModelImageBackend
from langgraph_interleave.errors import (
    CallError,
    ConfigError,
    ContentBlocked,
    InvalidRequest,
    NoImage,
    RateLimited,
    Unavailable,
)
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import ImageBytes, ImageRequest, ImageResult

pytest.importorskip("langchain_google_genai")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
DRAFT, FINAL = noise_card("draft", side=24), noise_card("final", side=32)
USAGE = {
    "promptTokenCount": 270, "candidatesTokenCount": 1300, "totalTokenCount": 1570,
    "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 1290}, {"modality": "TEXT", "tokenCount": 10}],
}  # fmt: skip


def encoded(image: ImageBytes) -> str:
    return base64.b64encode(image.data).decode()


def part(image: ImageBytes, **more: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": encoded(image)}, "thoughtSignature": "c2ln", **more}


def answer(*parts: dict[str, Any], finish: str = "STOP") -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)} if parts else {}
    return {
        "candidates": [{"content": content, "finishReason": finish, "index": 0}],
        "usageMetadata": USAGE,
        "modelVersion": "gemini-3.1-flash-image",
    }


@pytest.fixture
def gemini(monkeypatch: pytest.MonkeyPatch) -> Iterator[Telling]:
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-example")
    with telling(answer(part(FINAL))) as server:
        yield server


def drawn(gemini: Telling, request: ImageRequest | None = None) -> ImageResult:
    name = f"google_genai:gemini-3.1-flash-image?base_url={gemini.base_url}"
    backend = ChatModelImageBackend.from_string(name)
    return asyncio.run(backend.agenerate(request or ImageRequest("a pot")))


def test_what_is_asked_and_what_comes(gemini: Telling) -> None:
    gemini.reply = answer(part(DRAFT, thought=True), part(DRAFT), part(FINAL), {"text": "There."})
    result = drawn(gemini, ImageRequest("a pot", references=[DRAFT], width=1600, height=900))
    assert result.images[0].data == FINAL.data
    assert result.text == "There."
    assert result.model == "gemini-3.1-flash-image"
    assert result.usage.cost_usd == pytest.approx((270 * 0.5 + 1300 * 60) / 1e6)
    [asked] = gemini.asked
    body = asked.data
    assert asked.path.endswith("gemini-3.1-flash-image:generateContent")
    assert sorted(body["generationConfig"]["responseModalities"]) == ["IMAGE", "TEXT"]
    assert body["generationConfig"]["imageConfig"] == {"aspectRatio": "16:9"}
    [content] = body["contents"]
    sent = [one["inlineData"]["data"] for one in content["parts"] if "inlineData" in one]
    assert [base64.urlsafe_b64decode(one) for one in sent] == [DRAFT.data]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (answer(finish="IMAGE_SAFETY"), ContentBlocked),
        (answer(finish="IMAGE_PROHIBITED_CONTENT"), ContentBlocked),
        (answer(finish="IMAGE_RECITATION"), ContentBlocked),
        (answer(finish="SAFETY"), ContentBlocked),
        (answer(finish="IMAGE_OTHER"), NoImage),
        (answer({"text": "Which pot?"}, finish="NO_IMAGE"), NoImage),
        (answer({"text": "A pot is a vessel."}), NoImage),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": USAGE}, ContentBlocked),
    ],
)
def test_no_exception_of_its_own_on_a_refusal(gemini: Telling, reply: Any, error: type[CallError]) -> None:
    gemini.reply = reply
    with pytest.raises(error) as raised:
        drawn(gemini)
    assert len(gemini.asked) == 1
    assert raised.value.usage is not None
    if error is NoImage:
        assert raised.value.detail["text"] in ("", "Which pot?", "A pot is a vessel.")
    if "promptFeedback" in reply:
        assert raised.value.detail["stage"] == "input"
        assert raised.value.detail["categories"] == ["PROHIBITED_CONTENT"]


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (429, "Quota exceeded for metric", RateLimited),
        (400, "Image part is missing a thought_signature", InvalidRequest),
        (400, "API key not valid. Please pass a valid API key.", ConfigError),
        (500, "Internal", Unavailable),
    ],
)
def test_failures_are_named_and_sent_once(gemini: Telling, status: int, message: str, error: type[Exception]) -> None:
    gemini.status = status
    gemini.reply = {"error": {"code": status, "message": message, "status": "X", "details": []}}
    with pytest.raises(error):
        drawn(gemini)
    assert len(gemini.asked) == 1
