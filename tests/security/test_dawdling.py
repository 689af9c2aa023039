"""A client that does nothing, or next to nothing, keeps nobody else out; one that asks too often is told to wait."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from langgraph_interleave.agents.mcp_server.door import Door
from langgraph_interleave.agents.mcp_server.patience import Patience, make_config
from langgraph_interleave.agents.mcp_server.rate import Rate

KEY = "a-key-of-enough-characters"
#: Short enough for a test, long enough for a machine that is busy.
SHORT = 0.4
HEAD = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n"


async def reads_all(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that reads the body, answers, and streams for a while where it is asked to."""
    if scope["type"] != "http":
        return
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        more = message.get("more_body", False)
    if scope["path"] == "/long":
        await asyncio.sleep(3 * SHORT)
    if scope["path"] == "/endless":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while True:
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
    await PlainTextResponse("here")(scope, receive, send)


@asynccontextmanager
async def serving(patience: Patience, **options: Any) -> AsyncGenerator[int]:
    import uvicorn

    server = uvicorn.Server(
        make_config(reads_all, patience=patience, log_level="critical", timeout_graceful_shutdown=1, **options)
    )
    bound = socket.create_server(("127.0.0.1", 0))
    task = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        await until(lambda: server.started)
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        await task
        bound.close()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110 - what is waited for is another's
            await asyncio.sleep(0.01)


@asynccontextmanager
async def connected(port: int, **options: Any) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, **options)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def until_closed(reader: asyncio.StreamReader, seconds: float = 10.0) -> float:
    """How long it took until the server hung up."""
    begun = time.monotonic()
    async with asyncio.timeout(seconds):
        with contextlib.suppress(ConnectionError):
            while await reader.read(65536):
                pass
    return time.monotonic() - begun


async def asked(port: int, path: str = "/") -> int:
    async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
        return (await client.get(f"http://127.0.0.1:{port}{path}")).status_code


@pytest.mark.server
class TestConnections:
    async def test_idle_ones_are_ended_and_others_come_in_again(self) -> None:
        patience = Patience(head_s=SHORT)
        async with serving(patience, limit_concurrency=20) as port, contextlib.AsyncExitStack() as stack:
            idle = [await stack.enter_async_context(connected(port)) for _ in range(40)]
            assert await asked(port) == 503, "they do keep others out, for a moment"
            await asyncio.gather(*(until_closed(reader) for reader, _ in idle))
            assert await asked(port) == 200
        assert patience.held == 0

    @pytest.mark.parametrize("sent", [b"", b"GET", HEAD, b"\x16\x03\x01\x02\x00\x01\x00"])
    async def test_a_head_that_does_not_end(self, sent: bytes) -> None:
        async with serving(Patience(head_s=SHORT)) as port, connected(port) as (reader, writer):
            writer.write(sent)
            assert await until_closed(reader) < 5

    async def test_a_head_that_drips(self) -> None:
        async with serving(Patience(head_s=SHORT)) as port, connected(port) as (reader, writer):
            writer.write(HEAD)

            async def drip() -> None:
                with contextlib.suppress(ConnectionError):
                    while True:
                        writer.write(b"x-a: b\r\n")
                        await writer.drain()
                        await asyncio.sleep(SHORT / 8)

            dripping = asyncio.create_task(drip())
            assert await until_closed(reader) < 5
            dripping.cancel()

    async def test_the_second_request_has_no_more_time_than_the_first(self) -> None:
        async with serving(Patience(head_s=SHORT), timeout_keep_alive=60) as port, connected(port) as (reader, writer):
            writer.write(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            assert (await reader.readuntil(b"here")).startswith(b"HTTP/1.1 200")
            writer.write(b"GET / HTTP/1.1\r\nho")
            assert await until_closed(reader) < 5

    async def test_a_body_that_drips(self) -> None:
        async with serving(Patience(head_s=30, body_s=SHORT)) as port, connected(port) as (reader, writer):
            writer.write(HEAD + b"\r\nonly this")
            assert await until_closed(reader) < 5

    async def test_an_answer_that_is_not_taken(self) -> None:
        patience = Patience(send_s=SHORT)
        async with serving(patience) as port, connected(port, limit=1024) as (_, writer):
            writer.write(b"GET /endless HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            await until(lambda: patience.held > 0)
            await until(lambda: patience.held == 0)

    async def test_who_waits_for_an_answer_is_left_in_peace(self) -> None:
        async with serving(Patience(head_s=SHORT, body_s=SHORT, send_s=SHORT)) as port:
            assert await asked(port, "/long") == 200

    @pytest.mark.parametrize(
        "bad",
        [
            b"GET / HTTP/1.1\r\nhost: a\r\nhost: 127.0.0.1\r\n\r\n",
            b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nabcd",
            b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: +4\r\n\r\nabcd",
            b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
            b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding : chunked\r\n\r\n0\r\n\r\n",
            b"GET / HTTP/1.1\r\nhost: a\r\nx: a\r\n b\x00\r\n\r\n",
            b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"a" * 2_000_000 + b"\r\n\r\n",
            b"GET / HTTP/1.1\r\nhost: a\r\n" + b"x: y\r\n" * 400_000 + b"\r\n",
            b"GET /" + b"a" * 2_000_000 + b" HTTP/1.1\r\nhost: a\r\n\r\n",
        ],
        ids=["two hosts", "two lengths", "a signed length", "an unknown coding", "a space", "a NUL", "a long header",
             "many headers", "a long path"],
    )  # fmt: skip
    async def test_http_that_is_read_in_two_ways_is_refused(self, bad: bytes) -> None:
        async with serving(Patience()) as port, connected(port) as (reader, writer):
            writer.write(bad)
            async with asyncio.timeout(10):
                try:
                    line = await reader.readline()
                except ConnectionError:
                    line = b""
            assert line == b"" or line.split()[1] in (b"400", b"431", b"501"), line


class Wire:
    """A transport with a peer."""

    def __init__(self, host: str, port: int) -> None:
        self.peer, self.aborted = (host, port), False

    def get_extra_info(self, name: str) -> Any:
        return self.peer if name == "peername" else None

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted


async def test_one_peer_holds_so_many_connections_and_no_more() -> None:
    patience = Patience(per_peer=3)
    wires: list[Any] = [Wire("203.0.113.7", port) for port in range(1, 6)]
    assert [patience.opened(wire) for wire in wires] == [True, True, True, False, False]
    assert [wire.aborted for wire in wires] == [False, False, False, True, True]
    other: Any = Wire("203.0.113.8", 1)
    assert patience.opened(other)
    patience.closed(wires[3])
    assert patience.held == 4, "one that was never in takes no place away"
    patience.closed(wires[0])
    again: Any = Wire("203.0.113.7", 9)
    assert patience.opened(again)
    # With IPv6 a customer has addresses without number.
    sixes: list[Any] = [Wire(f"2001:db8:1:2::{number}", 1) for number in range(1, 6)]
    assert sum(map(patience.opened, sixes)) == 3
    mine: list[Any] = [Wire("127.0.0.1", port) for port in range(100, 110)]
    assert all(map(patience.opened, mine))
    for wire in (*wires, other, again, *sixes, *mine):
        patience.closed(wire)
    assert patience.held == 0


async def test_a_peer_that_asks_too_often_waits() -> None:
    now = 0.0
    rate = Rate(per_s=1, burst=30, most=10, clock=lambda: now)

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("inside")(scope, receive, send)

    door = Door(inside, key=KEY, names=("pictures.example",), rate=rate)

    async def knock(peer: str, key: str = KEY) -> httpx.Response:
        transport = httpx.ASGITransport(door, client=(peer, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://pictures.example") as client:
            return await client.post("/mcp", headers={"authorization": f"Bearer {key}"})

    assert [(await knock("203.0.113.7")).status_code for _ in range(31)] == [200] * 30 + [429]
    refused = await knock("203.0.113.7")
    assert refused.headers["retry-after"] == "1"
    assert (await knock("203.0.113.8")).status_code == 200, "it is nobody else's fault"
    now = 2.0
    assert [(await knock("203.0.113.7")).status_code for _ in range(3)] == [200, 200, 429]
    # Whoever guesses at the key is out of breath sooner.
    assert [(await knock("203.0.113.9", "wrong" * 5)).status_code for _ in range(4)] == [401, 401, 401, 429]
    assert [(await knock("127.0.0.1")).status_code for _ in range(40)] == [200] * 40
    for number in range(100):
        await knock(f"198.51.100.{number}")
    assert len(rate._left) == 10
