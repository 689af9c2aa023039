from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from pydantic import AliasChoices, ConfigDict, Field, SecretStr, model_validator

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.models.naming import HUGGINGFACE_ROUTER, chat_model, named_model, split_options

KEY = "sk-very-secret-0123456789"
LOCAL = "http://127.0.0.1:8000/v1"


@pytest.fixture
def openai_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_BASE_URL", "HUGGINGFACEHUB_API_TOKEN", "DEEPSEEK_API_KEY", "MY_KEY"):
        monkeypatch.delenv(name, raising=False)


def openai(text: str, **options: Any) -> ChatOpenAI:
    model = chat_model(text, **options)
    assert isinstance(model, ChatOpenAI)
    return model


def key_of(model: ChatOpenAI) -> str:
    assert isinstance(model.openai_api_key, SecretStr)
    return model.openai_api_key.get_secret_value()


def refused(text: str, **options: Any) -> str:
    """The message of the `ConfigError`; a key is nowhere in it, nor in its traceback."""
    with pytest.raises(ConfigError) as caught:
        chat_model(text, **options)
    assert caught.value.remedy
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


# The name.


def test_split_options() -> None:
    assert split_options("openai:gpt-5-mini") == ("openai:gpt-5-mini", {})
    assert split_options(" openai:m?base_url=http://127.0.0.1:8000/v1&output=tagged&stop=a%26b%3D+c ") == (
        "openai:m",
        {"base_url": "http://127.0.0.1:8000/v1", "output": "tagged", "stop": "a&b=+c"},
    )
    assert split_options("ollama:qwen3-vl:8b?num_ctx=8192&&") == ("ollama:qwen3-vl:8b", {"num_ctx": "8192"})
    assert split_options("x?empty=") == ("x", {"empty": ""})


@pytest.mark.parametrize("text", ["m?temperature", "m?=1", "m?a b=1", "m?a=1&a=2", "m?1a=2", f"m?{KEY}"])
def test_options_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        split_options(text)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "option", ["api_key", "openai_api_key", "API_KEY", "token", "hf_token", "aws_secret_access_key", "api%5Fkey"]
)
def test_no_secret_in_a_name(option: str) -> None:
    message = refused(f"openai:gpt-5-mini?{option}={KEY}")
    assert "api_key_env" in message and "gpt-5-mini" in message


def test_words_that_look_like_secrets() -> None:
    assert split_options("m?prompt_cache_key=x&max_tokens=7")[1] == {"prompt_cache_key": "x", "max_tokens": "7"}


@pytest.mark.nightly
@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.text(max_size=10), max_size=4))
def test_percent_encoded_values_come_back(options: dict[str, str]) -> None:
    options = {key: value.strip() for key, value in options.items() if key not in ("token", "secret", "password")}
    try:
        text = "p:m?" + "&".join(f"{key}={quote(value, safe='')}" for key, value in options.items())
    except UnicodeEncodeError:  # a lone surrogate cannot be quoted
        return
    assert split_options(text) == ("p:m", options)


# OpenAI and servers like it.


def test_openai(openai_key: None) -> None:
    model = openai("openai:gpt-4.1?temperature=0.25&max_tokens=900&reasoning_effort=low&streaming=true&seed=7")
    assert (model.model_name, model.temperature, model.max_tokens) == ("gpt-4.1", 0.25, 900)
    assert (model.reasoning_effort, model.streaming, model.seed) == ("low", True, 7)
    assert model.max_retries == model.root_client.max_retries == 0
    assert key_of(model) == KEY and KEY not in repr(model)
    assert openai("gpt-4.1").model_name == openai(" OpenAI : gpt-4.1 ").model_name == "gpt-4.1"
    assert openai("openai:gpt-4.1?temperature=0", temperature=1).temperature == 1
    assert openai("openai:gpt-4.1?max_retries=2").max_retries == 2
    assert openai('openai:gpt-4.1?model_kwargs={"user": "7"}&extra_body={"k":[1]}').extra_body == {"k": [1]}


def test_a_server_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    model, own = named_model(f"openai:Planner-8B?base_url={LOCAL}&output=tagged", own=["output"])
    assert isinstance(model, ChatOpenAI)
    assert own == {"output": "tagged"}
    assert model.openai_api_base == LOCAL
    assert key_of(model) == "not-needed"
    assert model.stream_usage is True
    assert openai(f"openai:m?base_url={LOCAL}&stream_usage=false").stream_usage is False
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert key_of(openai(f"openai:m?base_url={LOCAL}")) == KEY
    monkeypatch.setenv("MY_KEY", "another")
    assert key_of(openai(f"openai:m?base_url={LOCAL}&api_key_env=MY_KEY")) == "another"
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL)
    assert str(openai("openai:m").root_client.base_url) == f"{LOCAL}/"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8000",
        "ftp://127.0.0.1",
        "http://",
        "http://a:b:c",
        f"https://me:{KEY}@example.org/v1",
        "http://[::1",
        "",
    ],
)
def test_addresses_that_are_none(address: str) -> None:
    assert "base_url" in refused(f"openai:m?base_url={address}")


def test_an_address_that_goes_on() -> None:
    assert "too far" in refused(f"openai:m?base_url={LOCAL}/chat/completions")


# What is wrong.


def test_missing_keys() -> None:
    assert "OPENAI_API_KEY is not set" in refused("openai:gpt-5-mini")
    assert "OPENAI_API_KEY is not set" in refused("gpt-5-mini")
    assert "HF_TOKEN is not set" in refused("huggingface:Qwen/Qwen3-VL-8B-Instruct")
    assert "MY_KEY is not set" in refused("openai:gpt-5-mini?api_key_env=MY_KEY")
    assert "not the key" in refused(f"openai:gpt-5-mini?api_key_env={KEY}")


@pytest.mark.parametrize("text", ["google-genai:gemini-x", "gemini-3-flash"])
def test_a_missing_key_where_the_provider_was_guessed(text: str) -> None:
    pytest.importorskip("langchain_google_genai")
    assert "GOOGLE_API_KEY is not set" in refused(text)


def test_blank_keys_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    assert "OPENAI_API_KEY is not set" in refused("openai:gpt-5-mini")


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("groq:llama", "langchain-groq"),
        ("azure_ai:x", "langchain-azure-ai"),
        ("azure-ai:x", "langchain-azure-ai"),
        ("claude-sonnet-x", "langchain-anthropic"),
        ("ibm:granite", "langchain-ibm"),
    ],
)
def test_packages_that_are_not_installed(text: str, package: str) -> None:
    assert f"pip install {package}" in refused(text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("opnai:gpt-5", "Did you mean openai?"),
        ("antropic:claude", "Did you mean anthropic?"),
        ("gpt-oss:20b", "openai"),
        ("nobody-knows-this", "names no provider"),
        ("openai:", "names no model"),
        (":gpt-5", "names no model"),
        ("", "names no model"),
        ("?temperature=0", "names no model"),
    ],
)
def test_names_that_are_none(text: str, hint: str) -> None:
    assert hint in refused(text)


def test_options_that_are_wrong(openai_key: None) -> None:
    assert "Did you mean temperature?" in refused("openai:gpt-4.1?temprature=0")
    assert "extra_body" in refused("openai:gpt-4.1?guided_zzz=x")
    message = refused("openai:gpt-4.1?temperature=warm")
    assert "temperature" in message and "gpt-4.1" in message
    assert "temperature" in refused("openai:gpt-4.1?temperature=warm", api_key=KEY)


def test_errors_hold_no_key() -> None:
    assert "http_client" in refused("openai:gpt-4.1", api_key=SecretStr(KEY), http_client=f"odd {KEY}")


class Strict(FakeListChatModel):
    """Refuses what it does not know."""

    model_config = ConfigDict(extra="forbid")
    responses: list[str] = Field(default_factory=lambda: ["Yes."])


class Loose(FakeListChatModel):
    """Would send what it does not know to the provider."""

    responses: list[str] = Field(default_factory=lambda: ["Yes."])
    model_kwargs: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def gather(cls, values: dict[str, Any]) -> dict[str, Any]:
        strays = {key: values[key] for key in values if key not in cls.model_fields}
        return {**values, "model_kwargs": strays}


class Silent(FakeListChatModel):
    """Drops what it does not know, and has its key under a name of its own."""

    responses: list[str] = Field(default_factory=lambda: ["Yes."])
    its_key: SecretStr | None = Field(default=None, validation_alias=AliasChoices("key_a", "key_b"))


@pytest.mark.parametrize("cls", [Strict, Loose, Silent])
def test_classes_without_max_retries(cls: type[FakeListChatModel], monkeypatch: pytest.MonkeyPatch) -> None:
    def made(model: str, *, model_provider: str, **options: Any) -> FakeListChatModel:
        assert (model, model_provider) == ("m", "new")
        return cls(**options)

    monkeypatch.setattr("langchain.chat_models.init_chat_model", made)
    model = chat_model("new:m?sleep=2")
    assert isinstance(model, FakeListChatModel) and model.sleep == 2
    assert "max_retries" not in getattr(model, "model_kwargs", {})
    message = refused("new:m?slep=2")
    assert "slep" in message
    if cls is Silent:
        assert isinstance(chat_model("new:m", key_b=KEY), Silent)


# Hugging Face.


def test_hugging_face(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    model = openai("huggingface:Qwen/Qwen3-VL-8B-Instruct:fastest?temperature=0")
    assert model.openai_api_base == HUGGINGFACE_ROUTER
    assert model.model_name == "Qwen/Qwen3-VL-8B-Instruct:fastest"
    assert (key_of(model), model.max_retries, model.stream_usage) == (KEY, 0, True)
    assert KEY not in repr(model)
    assert "no model of the Hugging Face Hub" in refused("huggingface:Qwen3")
    assert "no model of the Hugging Face Hub" in refused("huggingface:a/b/c")
    assert "temprature" in refused("huggingface:a/b?temprature=0")


def test_an_endpoint_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert key_of(openai(f"huggingface:tgi?base_url={LOCAL}")) == "not-needed"
    monkeypatch.setenv("HF_BASE_URL", LOCAL)
    monkeypatch.setenv("HF_TOKEN", KEY)
    assert openai("huggingface:tgi").openai_api_base == LOCAL
    assert key_of(openai("huggingface:tgi")) == KEY
    monkeypatch.setenv("HF_BASE_URL", "127.0.0.1")
    assert "base_url" in refused("huggingface:tgi")


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}


def test_what_the_router_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json=_reply(json.loads(request.content)))

    monkeypatch.setenv("HF_TOKEN", KEY)
    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    assert chat_model("huggingface:a/b:cheapest", http_client=client).invoke("?").text == "Yes."
    [request] = seen
    assert str(request.url) == "https://router.huggingface.co/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(request.content)["model"] == "a/b:cheapest"


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[str, str | None, dict[str, Any]]]]]:
    seen: list[tuple[str, str | None, dict[str, Any]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            seen.append((self.path, self.headers.get("authorization"), body))
            data = json.dumps(_reply(body)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}/v1", seen
    served.shutdown()
    served.server_close()
    thread.join()


@pytest.mark.server
def test_over_loopback(server: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    address, seen = server
    monkeypatch.setattr("langgraph_interleave.models.naming.HUGGINGFACE_ROUTER", address)
    monkeypatch.setenv("HF_TOKEN", KEY)
    assert chat_model("huggingface:org/model:fastest?temperature=0").invoke("?").text == "Yes."
    assert chat_model(f"openai:local?base_url={address}").invoke("?").text == "Yes."
    (path, key, body), (_, no_key, other) = seen
    assert path == "/v1/chat/completions"
    assert (key, no_key) == (f"Bearer {KEY}", "Bearer not-needed")
    assert (body["model"], body["temperature"], other["model"]) == ("org/model:fastest", 0, "local")
