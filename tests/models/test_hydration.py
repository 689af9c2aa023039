from __future__ import annotations

import asyncio
import base64
import copy
import json
import random
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import openai
import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForLLMRun
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.schemas import Run
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, PrivateAttr

from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.models.hydration import hydrated, hydrating, showing
from langgraph_interleave.types.artifact import ImageBytes

PICTURES = [ImageBytes(random.Random(i).randbytes(1_000_000), "image/png", 640, 480) for i in range(3)]
SMALL = ImageBytes(b"not much", "image/webp", 2, 2)


def reference(picture: ImageBytes, **more: Any) -> dict[str, Any]:
    return {"type": "image", "url": f"artifact://{picture.sha256}", "mime_type": "image/x", **more}


def question(*pictures: ImageBytes) -> HumanMessage:
    return HumanMessage([{"type": "text", "text": "Compare."}, *(reference(picture) for picture in pictures)])


# The server: what it was sent, and an answer in the API's own form.

_CHAT = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5-mini"}
_USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
_MESSAGE = {
    "type": "message", "id": "m", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "Accept.", "annotations": []}],
}  # fmt: skip
_RESPONSE = {
    "id": "r", "object": "response", "created_at": 1, "model": "gpt-5-mini", "status": "completed",
    "output": [_MESSAGE],
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
    "instructions": None, "metadata": {}, "temperature": 1, "top_p": 1,
}  # fmt: skip


def _events(*data: dict[str, Any]) -> httpx2.Response:
    lines = [f"data: {json.dumps(one)}\n\n" for one in data]
    return httpx2.Response(
        200, text="".join([*lines, "data: [DONE]\n\n"]), headers={"content-type": "text/event-stream"}
    )


class Server:
    """Plays the API without a socket."""

    def __init__(self, *failures: httpx2.Response) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.failures = list(failures)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.bodies.append(body)
        if self.failures:
            return self.failures.pop(0)
        if request.url.path.endswith("/responses"):
            if not body.get("stream"):
                return httpx2.Response(200, json=_RESPONSE)
            delta = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0}
            return _events(
                {"type": "response.created", "sequence_number": 0, "response": {**_RESPONSE, "output": []}},
                {**delta, "sequence_number": 1, "delta": "Accept.", "logprobs": []},
                {"type": "response.completed", "sequence_number": 2, "response": _RESPONSE},
            )
        words = '{"accept": true}' if "response_format" in body else "Accept."
        if not body.get("stream"):
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": words}}
            return httpx2.Response(200, json={**_CHAT, "choices": [choice], "usage": _USAGE})
        chunk = {**_CHAT, "object": "chat.completion.chunk"}
        return _events(
            {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": words[:3]}}]},
            {**chunk, "choices": [{"index": 0, "delta": {"content": words[3:]}, "finish_reason": "stop"}]},
            {**chunk, "choices": [], "usage": _USAGE},
        )

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        return self(request)

    def model(self, **options: Any) -> ChatOpenAI:
        return ChatOpenAI(
            model="gpt-5-mini",
            api_key="sk-test",  # pyright: ignore[reportArgumentType]
            base_url="http://127.0.0.1:9/v1",
            http_client=httpx2.Client(transport=httpx2.MockTransport(self)),
            http_async_client=httpx2.AsyncClient(transport=httpx2.MockTransport(self.answer)),
            **options,
        )

    def pictures(self) -> list[str]:
        """The data URLs of the only request, in order."""
        [body] = self.bodies
        parts = body["messages"][-1]["content"] if "messages" in body else body["input"][-1]["content"]
        urls = [part["image_url"] for part in parts if part["type"] in ("image_url", "input_image")]
        return [url if isinstance(url, str) else url["url"] for url in urls]


def data_url(picture: ImageBytes) -> str:
    return f"data:{picture.mime};base64,{base64.b64encode(picture.data).decode()}"


class Recorder(BaseCallbackHandler):
    """Records everything that any callback is given."""

    run_inline = True

    def __init__(self) -> None:
        self.seen: list[str] = []
        for name in dir(BaseCallbackHandler):
            if name.startswith("on_"):
                setattr(self, name, self._taking(name))

    def _taking(self, name: str) -> Any:
        def take(*args: Any, **kwargs: Any) -> None:
            self.seen.append(dumps([name, *args, kwargs]) + repr(args))

        return take


class Tracer(BaseTracer):
    """Keeps runs as LangSmith's tracer sends them."""

    def __init__(self) -> None:
        super().__init__(_schema_format="original+chat")
        self.seen: list[str] = []

    def _persist_run(self, run: Run) -> None:
        self.seen.append(run.model_dump_json())


async def ask(model: Any, way: str, messages: list[BaseMessage], config: Any = None) -> str:
    if way == "invoke":
        return model.invoke(messages, config).text
    if way == "ainvoke":
        return (await model.ainvoke(messages, config)).text
    if way == "stream":
        return "".join(chunk.text for chunk in model.stream(messages, config))
    return "".join([chunk.text async for chunk in model.astream(messages, config)])


WAYS = ("invoke", "ainvoke", "stream", "astream")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("responses", [False, True])
async def test_records_hold_references_and_the_request_holds_bytes(way: str, responses: bool) -> None:
    server, own, given, tracer = Server(), Recorder(), Recorder(), Tracer()
    model = hydrating(server.model(callbacks=[own], use_responses_api=responses))
    messages: list[BaseMessage] = [question(*PICTURES)]
    before = copy.deepcopy(messages)
    with showing(PICTURES):
        assert await ask(model, way, messages, {"callbacks": [given, tracer]}) == "Accept."
    assert server.pictures() == [data_url(picture) for picture in PICTURES]
    assert messages == before
    for seen in (own.seen, given.seen, tracer.seen):
        assert seen
        assert sum(map(len, seen)) < 20_000
        assert all(picture.sha256 in "".join(seen) for picture in PICTURES)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # langchain-openai's own, for parsed streams
@pytest.mark.parametrize("way", WAYS)
async def test_bound_models(way: str) -> None:
    class Verdict(BaseModel):
        """A verdict."""

        accept: bool

    def judge(accept: bool) -> None:
        """Judge."""

    server = Server()
    plain = server.model()
    variants = [
        plain.bind(stop=["x"]),
        plain.bind_tools([judge]),
        plain.with_structured_output(Verdict).first,  # pyright: ignore[reportAttributeAccessIssue]
        plain.with_retry(),
        plain.bind(stop=["x"]).with_config(tags=["critic"]),
        plain.with_fallbacks([plain]),
    ]
    for made_before in variants:
        server.bodies.clear()
        with showing([SMALL]):
            await ask(hydrating(made_before), way, [question(SMALL)])
        assert server.pictures() == [data_url(SMALL)]
    hydrated_first = hydrating(plain)
    for made_after in (
        hydrated_first.bind(stop=["x"]),
        hydrated_first.bind_tools([judge]),
        hydrated_first.with_retry(),
    ):
        server.bodies.clear()
        with showing([SMALL]):
            await ask(made_after, way, [question(SMALL)])
        assert server.pictures() == [data_url(SMALL)]


def test_sequences_and_what_is_no_model() -> None:
    server = Server()
    chain = ChatPromptTemplate.from_messages([("placeholder", "{said}")]) | server.model() | StrOutputParser()
    with showing([SMALL]):
        assert hydrating(chain).invoke({"said": [question(SMALL)]}) == "Accept."
    assert server.pictures() == [data_url(SMALL)]
    for none in (RunnableLambda(str), StrOutputParser() | StrOutputParser(), StrOutputParser().with_retry()):
        with pytest.raises(ConfigError, match="no chat model"):
            hydrating(none)


@pytest.mark.parametrize("way", WAYS)
async def test_the_sdk_does_not_resend_and_the_users_model_still_does(way: str) -> None:
    busy = httpx2.Response(429, json={"error": {"message": "slow down"}}, headers={"retry-after-ms": "1"})
    server = Server(busy)
    mine = server.model(max_retries=3)
    fields, clients = dict(vars(mine)), (mine.root_client, mine.root_async_client)
    model = hydrating(mine)
    with pytest.raises(openai.RateLimitError):
        await ask(model, way, [HumanMessage("hello")])
    assert len(server.bodies) == 1
    assert vars(mine) == fields and type(mine) is ChatOpenAI
    assert [client.max_retries for client in clients] == [3, 3]
    server.failures = [busy]
    assert await ask(mine, way, [HumanMessage("hello")]) == "Accept."
    assert len(server.bodies) == 3


def test_looks_like_the_users_class() -> None:
    mine = Server().model()
    model = hydrating(mine)
    assert isinstance(model, ChatOpenAI)
    assert (type(model).__name__, type(model).__module__) == ("ChatOpenAI", "langchain_openai.chat_models.base")
    assert type(model).__qualname__ == "ChatOpenAI"
    assert model.lc_id() == mine.lc_id()
    assert repr(model)[:30] == repr(mine)[:30]
    assert model.profile == mine.profile
    assert type(hydrating(mine)) is type(model) is type(hydrating(model))


@pytest.mark.parametrize("way", WAYS)
async def test_errors_carry_no_base64(way: str) -> None:
    picture = PICTURES[0]
    echo = {
        "error": {"message": f"cannot read {data_url(picture)}", "code": "invalid_image", "param": data_url(picture)}
    }
    server, recorder = Server(httpx2.Response(400, json=echo, headers={"x-request-id": "req_7"})), Recorder()
    with pytest.raises(openai.BadRequestError) as caught, showing([picture]):
        await ask(hydrating(server.model()), way, [question(picture)], {"callbacks": [recorder]})
    error = caught.value
    chain: list[Any] = []
    link: BaseException | None = error
    while link is not None:
        chain.append([str(link), repr(link), vars(link)])
        link = link.__cause__ or link.__context__
    assert len(repr(chain)) < 20_000
    assert sum(map(len, recorder.seen)) < 20_000
    assert error.request.content == b"" and error.response.request.content == b""
    assert error.status_code == 400 and error.code == "invalid_image" and error.request_id == "req_7"
    assert error.response.json()["error"]["message"] == "cannot read data:image/png;base64,[base64 left out]"
    assert "cannot read data:image/png;base64,[base64 left out]" in error.message


async def test_an_unknown_reference() -> None:
    server = Server()
    for way in WAYS:
        with pytest.raises(ArtifactMissing, match=SMALL.sha256[:12]), showing(PICTURES):
            await ask(hydrating(server.model()), way, [question(SMALL)])
    assert server.bodies == []


def test_a_cache_is_keyed_by_references() -> None:
    cache, server = InMemoryCache(), Server()
    set_llm_cache(cache)
    try:
        model = hydrating(server.model())
        for _ in range(2):
            with showing([PICTURES[0]]):
                assert model.invoke([question(PICTURES[0])]).text == "Accept."
        with showing([PICTURES[1]]):
            model.invoke([question(PICTURES[1])])
    finally:
        set_llm_cache(None)
    assert len(server.bodies) == 2
    assert len(repr(vars(cache))) < 20_000


# Models of other kinds.


class OnlyGenerates(BaseChatModel):
    """Implements the least; keeps what it was sent."""

    max_retries: int = 5
    _sent: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "least"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self._sent.append(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage("ok"))])


class OnlyStreams(OnlyGenerates):
    """Has a stream of its own in addition."""

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        self._sent.append(messages)
        for piece in "ok":
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))


class StreamsBothWays(OnlyStreams):
    """Has both, and a plain iterator for the asynchronous one."""

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for piece in self._stream(messages):
            yield piece


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cls", [OnlyGenerates, OnlyStreams, StreamsBothWays])
async def test_only_what_a_class_implements_is_overridden(cls: type[OnlyGenerates], way: str) -> None:
    mine = cls()
    model = hydrating(mine)
    for name in ("_generate", "_agenerate", "_stream", "_astream"):
        theirs = getattr(cls, name) is getattr(BaseChatModel, name)
        assert (getattr(type(model), name) is getattr(BaseChatModel, name)) == theirs
    assert model.max_retries == 0 and mine.max_retries == 5
    with showing([SMALL]):
        assert await ask(model, way, [question(SMALL)]) == "ok"
    assert model._sent is mine._sent
    [[message]] = mine._sent
    assert message.content[1]["base64"] == base64.b64encode(SMALL.data).decode()  # pyright: ignore[reportArgumentType, reportCallIssue]


async def test_streams_v3_of_the_model() -> None:
    server, recorder = Server(), Recorder()
    model = hydrating(server.model(callbacks=[recorder]))
    with showing([SMALL]):
        stream = model.stream_events([question(SMALL)], version="v3")
        assert str(stream.output.text) == "Accept."
    assert server.pictures() == [data_url(SMALL)]
    assert base64.b64encode(SMALL.data).decode() not in "".join(recorder.seen)


async def test_concurrent_calls_see_their_own_pictures() -> None:
    server = Server()
    model = hydrating(server.model())

    async def one(picture: ImageBytes) -> None:
        with showing([picture]):
            await asyncio.sleep(0)
            await model.ainvoke([question(picture)])

    other = ImageBytes(b"another", "image/png", 1, 1)
    await asyncio.gather(one(SMALL), one(other))
    sent = [body["messages"][0]["content"][1]["image_url"]["url"] for body in server.bodies]
    assert sorted(sent) == sorted([data_url(SMALL), data_url(other)])


def test_blocks() -> None:
    digest = f"artifact://{SMALL.sha256}"
    data = base64.b64encode(SMALL.data).decode()
    kept: list[Any] = ["words", {"type": "image", "url": "https://example.org/a.png"}, {"type": "text", "text": digest}]
    message = HumanMessage(
        [
            *kept,
            reference(SMALL, id="7", extras={"detail": "low"}),
            {"type": "image", "source_type": "url", "url": digest},
            {"type": "image_url", "image_url": {"url": digest, "detail": "high"}},
            {"type": "image_url", "image_url": digest},
        ],
        id="m1",
    )
    with showing([SMALL]), showing([PICTURES[0]]):
        [given, plain] = hydrated([message, HumanMessage(digest)])
    assert given.content == [
        *kept,
        {"type": "image", "base64": data, "mime_type": "image/webp", "id": "7", "extras": {"detail": "low"}},
        {"type": "image", "base64": data, "mime_type": "image/webp"},
        {"type": "image_url", "image_url": {"url": data_url(SMALL), "detail": "high"}},
        {"type": "image_url", "image_url": {"url": data_url(SMALL)}},
    ]
    assert given.id == "m1" and plain.content == digest
    with pytest.raises(ArtifactMissing):
        hydrated([message])


def test_fields_chosen_by_configuration() -> None:
    server = Server()
    model = hydrating(server.model().configurable_fields(max_tokens=ConfigurableField("length")))
    with showing([SMALL]):
        model.invoke([question(SMALL)], {"configurable": {"length": 7}})
    assert server.pictures() == [data_url(SMALL)]
    assert server.bodies[0]["max_completion_tokens"] == 7


def test_a_fake_of_langchain() -> None:
    fake = FakeListChatModel(responses=["one", "two"])
    assert [hydrating(fake).invoke("x").text for _ in range(2)] == ["one", "one"]
