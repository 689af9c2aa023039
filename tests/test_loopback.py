"""The loopback server itself: it refuses wrong bodies, plays every failure, and counts what it gave."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import openai
import pytest
from loopback import LoopbackServer, serving
from loopback_replies import Chat, Hang, Pictures, Reset, ToolCall, html, picture_of, rate_limited

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackServer]:
    with serving() as server:
        yield server


@pytest.fixture
def server(running: LoopbackServer) -> LoopbackServer:
    running.reset()
    return running


@pytest.fixture
def client(server: LoopbackServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="sk-test", base_url=server.base_url, max_retries=0, timeout=5) as client:
        yield client


def test_a_picture_of_the_size_asked_for(client: openai.OpenAI, server: LoopbackServer) -> None:
    answer = client.images.generate(model="gpt-image-2.6-flare", prompt="a cat", size="64x32", n=2)
    assert answer.data is not None and answer.usage is not None
    pictures = [base64.b64decode(item.b64_json or "") for item in answer.data]
    assert pictures == [picture_of("a cat", 64, 32), picture_of("a cat", 64, 32, index=1)]
    assert pictures[0] != picture_of("a dog", 64, 32)
    count = server.counts["generations"]
    assert (count.requests, count.answered, count.images) == (1, 1, 2)
    assert (count.input_tokens, count.output_tokens) == (answer.usage.input_tokens, answer.usage.output_tokens)
    assert server.violations == []


def test_an_edit_records_its_files_in_order(client: openai.OpenAI, server: LoopbackServer) -> None:
    files = [(f"ref{i}.png", picture_of(str(i), 16, 16), "image/png") for i in range(2)]
    client.images.edit(model="gpt-image-2.6-flare", prompt="1", image=files, size="64x64", n=1)
    [request] = server.on("edits")
    assert [(file.name, file.data, file.mime) for file in request.files] == files
    assert request.body["prompt"] == "1" and request.body["n"] == 1
    client.images.edit(model="gpt-image-2.6-flare", prompt="one", image=files[0])
    assert [file.field for file in server.on("edits")[1].files] == ["image"]
    assert server.violations == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"quality": "finest"},
        {"response_format": "b64_json"},
        {"extra_body": {"seed": 1}},
        {"size": "70x50"},
        {"size": "160x16"},
        {"n": 11},
    ],
)
def test_a_wrong_image_request_is_refused(client: openai.OpenAI, server: LoopbackServer, wrong: dict) -> None:
    with pytest.raises(openai.BadRequestError):
        client.images.generate(model="gpt-image-2.6-flare", prompt="a cat", **wrong)
    assert len(server.violations) == 1
    assert server.counts["generations"].answered == 0


def test_bytes_without_a_type_are_refused(client: openai.OpenAI, server: LoopbackServer) -> None:
    with pytest.raises(openai.BadRequestError):
        client.images.edit(model="m", prompt="x", image=picture_of("x", 16, 16))
    assert "octet-stream" in server.violations[0]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [{"type": "image", "base64": "x"}]},
        {"role": "user", "content": "x", "extra": 1},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x", "detail": "huge"}}]},
        {"role": "wizard", "content": "x"},
    ],
)
def test_a_wrong_chat_request_is_refused(client: openai.OpenAI, server: LoopbackServer, message: dict) -> None:
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="m", messages=[message])  # type: ignore[list-item]
    assert server.violations


def test_chat_whole_and_streamed_say_the_same(client: openai.OpenAI, server: LoopbackServer) -> None:
    text = "Grüße, a longer answer than one piece."
    calls = (ToolCall("plan", '{"steps": [1, 2, 3]}'),)
    server.script("chat", lambda _: Chat(text, tool_calls=calls, cached_tokens=3))
    asked: list = [{"role": "user", "content": "How?"}]
    whole = client.chat.completions.create(model="m", messages=asked)
    assert whole.choices[0].message.content == text and whole.choices[0].finish_reason == "tool_calls"
    streamed, arguments, usage = "", "", None
    pieces = 0
    for piece in client.chat.completions.create(
        model="m", messages=asked, stream=True, stream_options={"include_usage": True}
    ):
        usage = piece.usage or usage
        for choice in piece.choices:
            streamed += choice.delta.content or ""
            pieces += bool(choice.delta.content)
            for call in choice.delta.tool_calls or ():
                arguments += (call.function and call.function.arguments) or ""
    assert streamed == text and arguments == calls[0].arguments and pieces == 6
    assert usage == whole.usage
    assert usage is not None
    count = server.counts["chat"]
    assert (count.requests, count.answered) == (2, 2)
    assert count.input_tokens == 2 * usage.prompt_tokens and count.output_tokens == 2 * usage.completion_tokens
    assert count.cached_tokens == 6
    assert server.violations == []


def test_failures_in_the_order_of_the_script(client: openai.OpenAI, server: LoopbackServer) -> None:
    server.script("generations", [rate_limited("2"), Reset(), html(), Hang()])

    def draw(**options: float) -> object:
        return client.images.generate(model="m", prompt="x", size="16x16", **options)  # type: ignore[arg-type]

    with pytest.raises(openai.RateLimitError) as caught:
        draw()
    assert caught.value.response.headers["retry-after"] == "2"
    with pytest.raises(openai.APIConnectionError):
        draw()
    assert isinstance(draw(), str)
    with pytest.raises(openai.APITimeoutError):
        draw(timeout=0.1)
    assert server.on("generations")[3].abandoned.wait(2)
    draw()
    assert (server.total.requests, server.total.answered) == (5, 2)


def test_a_stream_that_breaks_off(client: openai.OpenAI, server: LoopbackServer) -> None:
    server.script("chat", [Chat("0123456789" * 5, cut_after=3), Chat("0123456789" * 5, error_after=3)])
    for _ in range(2):
        with pytest.raises(openai.APIError):
            list(client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], stream=True))
    assert server.counts["chat"].answered == 0


def test_keys_and_models() -> None:
    with serving(key="sk-right", models={"gpt-image-2.6-flare"}) as server:
        wrong = openai.OpenAI(api_key="sk-wrong", base_url=server.base_url, max_retries=0)
        with wrong as client, pytest.raises(openai.AuthenticationError):
            client.models.list()
        with openai.OpenAI(api_key="sk-right", base_url=server.base_url, max_retries=0) as client:
            assert [model.id for model in client.models.list()] == ["gpt-image-2.6-flare"]
            assert client.models.retrieve("gpt-image-2.6-flare").id == "gpt-image-2.6-flare"
            with pytest.raises(openai.NotFoundError):
                client.models.retrieve("gone")
            with pytest.raises(openai.NotFoundError):
                client.images.generate(model="gone", prompt="x")


def test_pictures_by_script(client: openai.OpenAI, server: LoopbackServer) -> None:
    server.script("generations", [Pictures(images=[b"not a picture"]), Pictures(size=(48, 16), data_url=True)])
    first = client.images.generate(model="m", prompt="x")
    assert first.data and base64.b64decode(first.data[0].b64_json or "") == b"not a picture"
    second = client.images.generate(model="m", prompt="x", size="64x64")
    assert second.data and (second.data[0].b64_json or "").startswith("data:image/png;base64,")
    assert second.size == "48x16"
