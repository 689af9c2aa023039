"""The backend `chat_model`: pictures from chat models, by the messages their packages really make."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import re
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel, FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from loopback_replies import Hang, Raw, bad_request, insufficient_quota, moderation_blocked, rate_limited
from PIL import Image
from pydantic import PrivateAttr

from langgraph_interleave import create_interleave_graph
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.chat_model import ChatModelImageBackend
from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.errors import (
    BadResponse,
    CallError,
    CallTimeout,
    ConfigError,
    ContentBlocked,
    InvalidRequest,
    NoImage,
    QuotaExhausted,
    RateLimited,
    Unavailable,
)
from langgraph_interleave.testing import ScriptedCritic, ScriptedPlanner, check_backend, noise_card, simple_plan
from langgraph_interleave.types import ImageBytes, ImageRequest, ImageResult

DRAFT, FINAL = noise_card("draft", side=24), noise_card("final", side=32)


def encoded(image: ImageBytes) -> str:
    return base64.b64encode(image.data).decode()


def data_url(image: ImageBytes) -> str:
    return f"data:{image.mime};base64,{encoded(image)}"


def gemini(*images: ImageBytes, text: str = "", finish: str = "STOP", **more: Any) -> AIMessage:
    """As ChatGoogleGenerativeAI answers."""
    content: list[Any] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "image_url", "image_url": {"url": data_url(image)}, "extras": {"signature": "c2ln"}}
        for image in images
    ]
    return AIMessage(
        content,
        usage_metadata={
            "input_tokens": 270, "output_tokens": 1300, "total_tokens": 1570,
            "output_token_details": {"image": 1290},  # type: ignore[typeddict-unknown-key]
        },
        response_metadata={
            "finish_reason": finish, "model_name": "gemini-3.1-flash-image", "model_provider": "google_genai",
        },
        **more,
    )  # fmt: skip


def responses(*items: dict[str, Any], **metadata: Any) -> AIMessage:
    """As ChatOpenAI answers over the Responses API."""
    return AIMessage(list(items), response_metadata={"model_provider": "openai", "model_name": "gpt-5", **metadata})


class Painter(BaseChatModel):
    """Returns the messages it is given, and remembers what it was sent, pictures included."""

    answers: list[AIMessage]
    _sent: list[list[BaseMessage]] = PrivateAttr(default_factory=list[list[BaseMessage]])

    @property
    def _llm_type(self) -> str:
        return "painter"

    @property
    def sent(self) -> list[list[BaseMessage]]:
        return self._sent

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self._sent.append(messages)
        message = self.answers[(len(self._sent) - 1) % len(self.answers)]
        return ChatResult(generations=[ChatGeneration(message=message)])


def drawn(message: AIMessage, request: ImageRequest | None = None, **options: Any) -> ImageResult:
    backend = ChatModelImageBackend(Painter(answers=[message]), **options)
    assert isinstance(backend, ImageBackend)
    return asyncio.run(backend.agenerate(request or ImageRequest("a pot")))


OPENAI_CALL = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": encoded(FINAL)}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (gemini(FINAL), None),
        (gemini(DRAFT, FINAL), None),
        (gemini(DRAFT, DRAFT, FINAL, text="Here you are."), "Here you are."),
        (AIMessage([{"type": "image", "base64": encoded(FINAL), "mime_type": "image/png"}, "Done."]), "Done."),
        (AIMessage([{"type": "image", "url": data_url(FINAL)}]), None),
        (
            AIMessage(
                [
                    {"type": "image", "base64": encoded(FINAL), "mime_type": "image/png"},
                    {"type": "image", "base64": encoded(DRAFT), "mime_type": "image/png", "extras": {"thought": True}},
                ]
            ),
            None,
        ),
        (responses(OPENAI_CALL), None),
        (responses({"type": "text", "text": "A pot."}, {**OPENAI_CALL, "output_format": "webp"}), "A pot."),
        (AIMessage([{"type": "media", "mime_type": "image/png", "data": encoded(FINAL)}]), None),
        (
            AIMessage(
                [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded(FINAL)}}]
            ),
            None,
        ),
        (
            AIMessage(
                "Here", additional_kwargs={"images": [{"type": "image_url", "image_url": {"url": data_url(FINAL)}}]}
            ),
            "Here",
        ),
        (AIMessage("", additional_kwargs={"tool_outputs": [OPENAI_CALL]}), None),
        (AIMessage([{"type": "image", "base64": encoded(FINAL).rstrip("="), "mime_type": "image/png"}]), None),
        (AIMessage([{"type": "image", "base64": urlsafe_b64encode(FINAL.data).decode()}]), None),
        (AIMessage([{"type": "media", "mime_type": "image/png", "data": FINAL.data}]), None),
        (AIMessage([{"inlineData": {"mimeType": "image/png", "data": encoded(FINAL)}}]), None),
        (
            AIMessage(
                [{"type": "image_url", "image_url": {"url": data_url(FINAL).replace(";", ";charset=utf-8;", 1)}}]
            ),
            None,
        ),
    ],
)
def test_the_last_picture_wins_in_whatever_form_it_comes(message: AIMessage, words: str | None) -> None:
    result = drawn(message)
    assert result.images[0].data == FINAL.data, "the bytes as they came"
    assert result.text == words


def test_usage_and_price() -> None:
    result = drawn(gemini(FINAL))
    assert result.model == "gemini-3.1-flash-image"
    assert result.usage.image_output_tokens == 1290
    assert result.usage.images == 1
    assert result.usage.cost_usd == pytest.approx((270 * 0.5 + 10 * 3.0 + 1290 * 60.0) / 1e6)
    assert drawn(gemini(FINAL), billed=False).usage.cost_usd == 0.0
    assert drawn(AIMessage([{"type": "image", "base64": encoded(FINAL)}])).usage.cost_usd is None


FAILED = {
    "type": "image_generation_call", "id": "ig_1", "status": "failed", "result": None,
    "error": {
        "code": "moderation_blocked", "message": "Rejected by the safety system.",
        "moderation_details": {"categories": ["violence"], "moderation_stage": "output"},
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("message", "error", "says"),
    [
        (gemini(finish="IMAGE_SAFETY"), ContentBlocked, "IMAGE_SAFETY"),
        (gemini(finish="IMAGE_PROHIBITED_CONTENT"), ContentBlocked, "IMAGE_PROHIBITED_CONTENT"),
        (gemini(finish="IMAGE_RECITATION"), ContentBlocked, "IMAGE_RECITATION"),
        (gemini(finish="PROHIBITED_CONTENT"), ContentBlocked, "PROHIBITED_CONTENT"),
        (gemini(finish="NO_IMAGE", text="Which pot?"), NoImage, r"\(NO_IMAGE\): Which pot\?"),
        (gemini(finish="IMAGE_OTHER"), NoImage, "IMAGE_OTHER"),
        (
            AIMessage([{"type": "refusal", "extras": {"block_reason": "PROHIBITED_CONTENT"}}]),
            ContentBlocked,
            "PROHIBITED_CONTENT",
        ),
        (AIMessage([{"type": "refusal", "refusal": "I cannot draw that."}]), ContentBlocked, "I cannot draw that"),
        (AIMessage("I can't create that image: it would violate our content policy."), ContentBlocked, "can't create"),
        (AIMessage("A pot is a vessel."), NoImage, "A pot is a vessel"),
        (AIMessage("", response_metadata={"finish_reason": "length"}), NoImage, "tokens ran out"),
        (AIMessage(""), NoImage, "without a picture"),
        (responses(FAILED), ContentBlocked, "violence"),
        (AIMessage([{"type": "non_standard", "value": FAILED}]), ContentBlocked, "violence"),
        (responses({**FAILED, "error": {"code": "server_error", "message": "Oops."}}), Unavailable, "Oops"),
        (responses({**FAILED, "error": None}), CallError, "ended as failed"),
        (AIMessage([{"type": "image", "url": "https://example.org/a.png?sig=secret"}]), BadResponse, "address"),
        (AIMessage([{"type": "image", "file_id": "file-1"}]), BadResponse, "address"),
        (AIMessage([{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]), BadResponse, "address"),
        (AIMessage([{"type": "image", "base64": "!!!!", "mime_type": "image/png"}]), BadResponse, "not base64"),
        (AIMessage([{"type": "image", "base64": "PGh0bWw+", "mime_type": "image/png"}]), BadResponse, "HTML page"),
    ],
)
def test_what_is_no_picture(message: AIMessage, error: type[CallError], says: str) -> None:
    message = message.model_copy(update={"usage_metadata": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}})
    with pytest.raises(error, match=says) as raised:
        drawn(message)
    assert raised.value.usage is not None, "it was answered, so it was paid for"
    assert raised.value.usage.input_tokens == 9
    assert "secret" not in str(raised.value)
    if error is NoImage:
        assert isinstance(raised.value.detail["text"], str)


def test_every_request_stands_alone_with_its_references_in_order() -> None:
    references = [noise_card("one", side=16), noise_card("two", side=16)]
    backend = ChatModelImageBackend(Painter(answers=[gemini(FINAL)]))
    for prompt in ("a pot", "a lid"):
        request = ImageRequest(prompt, references=references, width=1024, height=768, negative_prompt="people")
        result = asyncio.run(backend.agenerate(request))
        assert any("1024x768 was asked for" in warning and "32x32" in warning for warning in result.warnings)
    sent = backend._asked.sent
    assert [len(messages) for messages in sent] == [1, 1]
    parts: list[Any] = sent[1][0].content  # type: ignore[assignment]
    assert parts[0]["text"].startswith("a lid")
    assert "must not show: people" in parts[0]["text"]
    assert "1024 by 768" in parts[0]["text"]
    assert [part["base64"] for part in parts if part["type"] == "image"] == [encoded(one) for one in references]
    assert [part["text"] for part in parts[1:] if part["type"] == "text"] == ["Image 1:", "Image 2:"]


def test_callbacks_see_no_picture_in_either_direction() -> None:
    seen: list[str] = []

    class Watcher(BaseCallbackHandler):
        def on_chat_model_start(self, serialized: Any, messages: Any, **_: Any) -> None:
            seen.append(repr(messages))

        def on_llm_new_token(self, token: Any, **_: Any) -> None:
            seen.append(str(token))

        def on_llm_end(self, response: Any, **_: Any) -> None:
            seen.append(repr(response))

    model = Painter(answers=[gemini(FINAL, text="There.")], callbacks=[Watcher()])
    request = ImageRequest("a pot", references=[noise_card("one")])
    assert asyncio.run(ChatModelImageBackend(model).agenerate(request)).images[0].data == FINAL.data
    assert len(seen) == 2
    assert sum(map(len, seen)) < 4000
    assert FINAL.sha256 in seen[1]
    assert "There." in seen[1]
    assert encoded(FINAL)[:80] not in seen[1]


def test_a_model_known_to_write_only_is_refused() -> None:
    for outputs in (True, None):
        profile: Any = {"image_outputs": outputs} if outputs is not None else {}
        ChatModelImageBackend(FakeMessagesListChatModel(responses=[], profile=profile))
    with pytest.raises(ConfigError, match="returns no pictures") as raised:
        ChatModelImageBackend(FakeMessagesListChatModel(responses=[], profile={"image_outputs": False}))
    assert "svg" in raised.value.remedy


@pytest.mark.parametrize(
    "request_",
    [
        ImageRequest("x", n=2),
        ImageRequest(" "),
        ImageRequest("x", mask=noise_card("m")),
        ImageRequest("x", references=[noise_card("m")] * 3),
        ImageRequest("x", width=0),
    ],
)
def test_what_cannot_be_asked_is_refused_before_it_is(request_: ImageRequest) -> None:
    backend = ChatModelImageBackend(Painter(answers=[gemini(FINAL)]), max_references=2)
    with pytest.raises(InvalidRequest):
        asyncio.run(backend.agenerate(request_))
    assert backend._asked.sent == []


def test_fallbacks_and_bound_options_go_along() -> None:
    class Broken(Painter):
        def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
            raise ConnectionRefusedError(111, "refused")

    model = Broken(answers=[]).with_fallbacks([Painter(answers=[gemini(FINAL)])]).with_retry()
    assert asyncio.run(ChatModelImageBackend(model).agenerate(ImageRequest("x"))).images[0].data == FINAL.data
    with pytest.raises(Unavailable):
        asyncio.run(ChatModelImageBackend(Broken(answers=[])).agenerate(ImageRequest("x")))


# --- over HTTP, with ChatOpenAI ------------------------------------------------------------------


def router(*images: ImageBytes) -> Raw:
    """As OpenRouter answers: pictures beside the content."""
    message = {
        "role": "assistant", "content": "Here",
        "images": [{"type": "image_url", "image_url": {"url": data_url(image)}} for image in images],
    }  # fmt: skip
    return Raw(
        json.dumps(
            {
                "id": "c1", "object": "chat.completion", "created": 1, "model": "google/gemini-3-pro-image",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 1290, "total_tokens": 1300, "cost": 0.04},
            }
        )
    )  # fmt: skip


def by_name(loopback: Any, **options: Any) -> ChatModelImageBackend:
    body = '{"modalities":["image","text"]}'.replace("&", "%26")
    backend = init_image_backend(
        f"chat_model:openai:google/gemini-3-pro-image?base_url={loopback.base_url}&extra_body={body}", **options
    )
    assert isinstance(backend, ChatModelImageBackend)
    return backend


def test_a_routers_pictures_are_not_lost(loopback: Any) -> None:
    loopback.allowed = frozenset({"modalities"})
    loopback.script("chat", [router(DRAFT, FINAL)])
    result = asyncio.run(by_name(loopback).agenerate(ImageRequest("a pot", references=[DRAFT])))
    assert result.images[0].data == FINAL.data
    assert result.text == "Here"
    assert result.usage.cost_usd == 0.04, "as the router bills it"
    [request] = loopback.requests
    assert not request.body.get("stream")
    assert encoded(DRAFT) in json.dumps(request.body)
    loopback.allowed = frozenset()


@pytest.mark.parametrize(
    ("reply", "error", "requests"),
    [
        (rate_limited("1"), RateLimited, 1),
        (insufficient_quota(), QuotaExhausted, 1),
        (moderation_blocked(), ContentBlocked, 1),
        (bad_request("too many images"), InvalidRequest, 1),
        (Hang(), CallTimeout, 1),
    ],
)
def test_nothing_is_sent_twice(loopback: Any, reply: Any, error: type[Exception], requests: int) -> None:
    loopback.allowed = frozenset({"modalities"})
    loopback.script("chat", [reply])
    with pytest.raises(error):
        asyncio.run(by_name(loopback).agenerate(ImageRequest("a pot", timeout_s=0.5)))
    assert loopback.counts["chat"].requests == requests
    loopback.allowed = frozenset()


def test_openais_own_models_get_the_tool_that_draws() -> None:
    """What is put into the request; the service itself is not asked."""
    from langgraph_interleave.backends.chat_options import told_to_draw

    model = ChatOpenAI(model="gpt-5", api_key="sk-example")  # type: ignore[arg-type]
    backend = ChatModelImageBackend(model)
    request = ImageRequest("a pot", width=1000, height=700, quality="draft", transparent=True)
    bound, unsaid = told_to_draw(backend._asked, request, bound=False)
    assert unsaid == ()
    assert bound.kwargs["tools"] == [
        {"type": "image_generation", "size": "992x704", "quality": "low", "background": "transparent"}
    ]
    payload = bound.bound._get_request_payload([], **bound.kwargs)
    assert payload["tools"] == bound.kwargs["tools"]
    assert "input" in payload, "the Responses API"
    own = ChatModelImageBackend(model.bind_tools([{"type": "image_generation", "quality": "high"}]))
    same, unsaid = told_to_draw(own._asked, request, bound=True)
    assert same.kwargs["tools"] == [{"type": "image_generation", "quality": "high"}]
    assert len(unsaid) == 2


def test_the_name_says_what_is_asked_and_what_it_is() -> None:
    name = "openai:m?base_url=http://127.0.0.1:9/v1"
    one, two = (ChatModelImageBackend.from_string(name) for _ in range(2))
    assert one.fingerprint == two.fingerprint
    assert ChatModelImageBackend.from_string(f"{name}&temperature=0").fingerprint != one.fingerprint
    with pytest.raises(ConfigError, match="max_references"):
        ChatModelImageBackend.from_string(f"{name}&max_references=99")


async def test_in_a_graph() -> None:
    backend = ChatModelImageBackend(Painter(answers=[gemini(DRAFT), gemini(FINAL)]), billed=False)
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(2)), backend, ScriptedCritic(), checks=())
    result = await graph.ainvoke({"request": "two pots"})
    assert result["outcome"] == "complete"
    assert len(json.dumps(result["document"])) < 20_000


class Artist(Painter):
    """Draws by a rule: as large as it is told, in colours that all of what it is shown decides."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        parts: list[Any] = messages[0].content  # type: ignore[assignment]
        text = parts[0]["text"]
        seen = [base64.b64decode(part["base64"]) for part in parts if part["type"] == "image"]
        told = re.search(r"(\d+) by (\d+) pixels", text)
        size = (int(told[1]), int(told[2])) if told else (64, 64)
        if seen and not told:
            size = Image.open(io.BytesIO(seen[0])).size
        digest = hashlib.sha256(text.encode() + b"".join(hashlib.sha256(one).digest() for one in seen)).digest()
        buffer = io.BytesIO()
        Image.frombytes("RGB", (3, 3), digest[:27]).resize(size).save(buffer, "PNG")
        block = {"type": "image", "base64": base64.b64encode(buffer.getvalue()).decode(), "mime_type": "image/png"}
        return ChatResult(generations=[ChatGeneration(message=AIMessage([block]))])


def test_it_conforms() -> None:
    report = check_backend(lambda: ChatModelImageBackend(Artist(answers=[]), billed=False))
    assert report.ok, str(report)
    for item in ("edits", "references_arrive", "references_order", "every_reference", "negative_prompt"):
        assert report[item].status == "passed", str(report)
