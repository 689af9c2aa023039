"""The backend `chat_model` with Gemini as LangChain really speaks to it: its own client, over loopback."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

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


class Gemini:
    """Answers `generateContent` with what it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.status, self.reply = 200, answer(part(FINAL))
        self.asked: list[tuple[str, dict[str, Any]]] = []
        gemini = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                gemini.asked.append((self.path, body))
                data = json.dumps(gemini.reply).encode()
                self.send_response(gemini.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def gemini(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gemini]:
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-example")
    made = Gemini()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def drawn(gemini: Gemini, request: ImageRequest | None = None) -> ImageResult:
    address = f"http://127.0.0.1:{gemini.server.server_port}"
    backend = ChatModelImageBackend.from_string(f"google_genai:gemini-3.1-flash-image?base_url={address}")
    return asyncio.run(backend.agenerate(request or ImageRequest("a pot")))


def test_what_is_asked_and_what_comes(gemini: Gemini) -> None:
    gemini.reply = answer(part(DRAFT, thought=True), part(DRAFT), part(FINAL), {"text": "There."})
    result = drawn(gemini, ImageRequest("a pot", references=[DRAFT], width=1600, height=900))
    assert result.images[0].data == FINAL.data
    assert result.text == "There."
    assert result.model == "gemini-3.1-flash-image"
    assert result.usage.cost_usd == pytest.approx((270 * 0.5 + 1300 * 60) / 1e6)
    [(path, body)] = gemini.asked
    assert path.endswith("gemini-3.1-flash-image:generateContent")
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
def test_no_exception_of_its_own_on_a_refusal(gemini: Gemini, reply: Any, error: type[CallError]) -> None:
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
def test_failures_are_named_and_sent_once(gemini: Gemini, status: int, message: str, error: type[Exception]) -> None:
    gemini.status = status
    gemini.reply = {"error": {"code": status, "message": message, "status": "X", "details": []}}
    with pytest.raises(error):
        drawn(gemini)
    assert len(gemini.asked) == 1
