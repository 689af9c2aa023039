"""What the real ChatOpenAI raises for every failure a server can play, and what it becomes here."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import pytest
from langchain_openai import ChatOpenAI
from loopback import LoopbackServer, serving
from loopback_replies import (
    Chat,
    Failure,
    Hang,
    Raw,
    Reply,
    Reset,
    bad_request,
    error_in_200,
    html,
    insufficient_quota,
    moderation_blocked,
    no_such_model,
    rate_limited,
    server_error,
    wrong_key,
)
from pydantic import SecretStr

from langgraph_interleave.errors import (
    BadResponse,
    CallTimeout,
    ConfigError,
    ContentBlocked,
    InterleaveError,
    InvalidRequest,
    QuotaExhausted,
    RateLimited,
    Unavailable,
)
from langgraph_interleave.ledger.records import ending_of
from langgraph_interleave.models.faults import call_error

pytestmark = pytest.mark.server

SECRET = "sk-proj-abcdefghijklmnop0123456789"
CHOICES = '{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": '

ROWS: dict[str, tuple[Reply, type[InterleaveError], str]] = {
    "401": (wrong_key(SECRET), ConfigError, "released"),
    "403": (Failure(403, {"message": "No."}), ConfigError, "released"),
    "404": (no_such_model("m"), ConfigError, "released"),
    "400": (bad_request("Too long.", code="context_length_exceeded"), InvalidRequest, "released"),
    "moderation": (moderation_blocked(), ContentBlocked, "failed"),
    "quota": (insufficient_quota(), QuotaExhausted, "released"),
    "429": (rate_limited("3"), RateLimited, "released"),
    "500": (server_error(), Unavailable, "ambiguous"),
    "503": (server_error(503), Unavailable, "ambiguous"),
    "503 come back": (server_error(503, retry_after="1"), Unavailable, "released"),
    "hang": (Hang(), CallTimeout, "ambiguous"),
    "reset": (Reset(), Unavailable, "ambiguous"),
    "cut": (Chat("x" * 100, cut_after=3), Unavailable, "ambiguous"),
    "html": (html(), BadResponse, "ambiguous"),
    "text": (Raw("fine", "text/plain"), BadResponse, "ambiguous"),
    "half": (Raw('{"id":'), BadResponse, "ambiguous"),
    "empty": (Raw(""), BadResponse, "ambiguous"),
    "list": (Raw("[1]"), BadResponse, "ambiguous"),
    "error in 200": (error_in_200("Upstream failed."), BadResponse, "ambiguous"),
    "words in 200": (Raw('{"error": "bad"}'), BadResponse, "ambiguous"),
    "no choices": (Raw(CHOICES + "[]}"), BadResponse, "ambiguous"),
    "null choices": (Raw(CHOICES + "null}"), BadResponse, "ambiguous"),
    "no message": (Raw(CHOICES + '[{"index": 0}]}'), BadResponse, "ambiguous"),
}


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackServer]:
    with serving(key=SECRET) as server:
        yield server


@pytest.fixture
def server(running: LoopbackServer) -> LoopbackServer:
    running.reset()
    return running


async def failing(server: LoopbackServer, reply: Reply, *, stream: bool) -> tuple[Exception, InterleaveError]:
    """What is raised for a reply, and what it becomes."""
    server.script("chat", lambda _: reply)
    model = ChatOpenAI(
        model="m", api_key=SecretStr(SECRET), base_url=server.base_url, max_retries=0,
        timeout=0.5 if isinstance(reply, Hang) else 5,
    )  # fmt: skip
    with pytest.raises(Exception) as caught:
        if stream:
            async for _ in model.astream("How?"):
                pass
        else:
            await model.ainvoke("How?")
    found = call_error(caught.value, role="planner", what="openai:m")
    assert found is not None, "".join(traceback.format_exception(caught.value))
    return caught.value, found


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("row", ROWS)
async def test_every_failure_of_a_chat_model(server: LoopbackServer, row: str, stream: bool) -> None:
    reply, kind, ending = ROWS[row]
    error, found = await failing(server, reply, stream=stream)
    assert type(found) is kind, error
    assert ending_of(found, billed=True) == ending
    assert server.counts["chat"].requests == 1
    assert SECRET not in f"{found}{found!r}{vars(found)}" and found.remedy
    assert server.violations == []


async def test_an_error_event_in_a_stream(server: LoopbackServer) -> None:
    _, found = await failing(server, Chat("x" * 50, error_after=2), stream=True)
    assert isinstance(found, Unavailable) and found.ambiguous
    event = {"message": "Slow down.", "code": "rate_limit_exceeded"}
    _, found = await failing(server, Chat("x" * 50, error_after=2, error=event), stream=True)
    assert isinstance(found, RateLimited)


async def test_a_code_in_a_200_counts(server: LoopbackServer) -> None:
    _, found = await failing(server, error_in_200("Provider returned error", 429), stream=False)
    assert isinstance(found, RateLimited)


async def test_the_seconds_to_wait_are_kept(server: LoopbackServer) -> None:
    _, found = await failing(server, rate_limited("3"), stream=True)
    assert isinstance(found, RateLimited) and found.retry_after == 3.0
