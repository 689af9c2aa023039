"""A server on 127.0.0.1 that speaks the OpenAI API for images and chat, as scripted, and keeps count.

    with serving() as server:
        server.script("generations", [rate_limited("1"), Pictures()])
        server.script("chat", lambda request: Chat(text="Hello."))
        ...
        assert server.violations == []

Routes: `generations`, `edits`, `chat`, `models`. A list of replies is used up in order, then the
default answers (a picture drawn from the prompt; the text "Hello."); a callable answers every time.
What else is asked for by GET is looked up in `files`, without a key (route `files`).
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from loopback_answers import Count, Recorded, chat_of, count_chat, events_of, image_events_of, pictures_of
from loopback_bodies import read_body, violations
from loopback_replies import (
    Chat,
    Failure,
    Hang,
    ImageStream,
    Pictures,
    Raw,
    Reply,
    Reset,
    bad_request,
    no_such_model,
    wrong_key,
)
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

ROUTES = {
    ("POST", "/v1/images/generations"): "generations",
    ("POST", "/v1/images/edits"): "edits",
    ("POST", "/v1/chat/completions"): "chat",
    ("GET", "/v1/models"): "models",
}


Script = Sequence[Reply] | Callable[[Recorded], Reply]


class LoopbackServer:
    """The server; use it through `serving`.

    Attributes:
        base_url: What the SDK takes, with `/v1`.
        requests: Every request, in order of arrival.
        violations: What was wrong with requests; each was answered 400.
        counts: Per route.
        key: The only key taken; `None`: any.
        models: The models there are; `None`: any.
        allowed: Body fields taken though the SDK does not know them.
        lenient: Bodies are not held against the API's rules: a server of another make.
        missing: Routes this server does not have.
        files: What is found at other paths.
        chunk: Characters of a piece of streamed text.
        chunk_delay_s: Before each piece.
    """

    def __init__(self, *, key: str | None = None, models: set[str] | None = None) -> None:
        self.requests: list[Recorded] = []
        self.violations: list[str] = []
        self.counts: dict[str, Count] = {route: Count() for route in (*ROUTES.values(), "files")}
        self.key = key
        self.models = models
        self.allowed: frozenset[str] = frozenset()
        self.lenient = False
        self.missing: frozenset[str] = frozenset()
        self.files: dict[str, Raw] = {}
        self.chunk = 7
        self.chunk_delay_s = 0.0
        self.base_url = ""
        self._scripts: dict[str, Script] = {}
        self._used: dict[str, int] = {}
        self._stopping: asyncio.Event | None = None

    def script(self, route: str, replies: Script) -> None:
        """Say what a route answers from now on."""
        assert route in self.counts, route
        self._scripts[route], self._used[route] = replies, 0

    def reset(self) -> None:
        """Forget scripts, requests, violations, counts and files; the server goes on, for the next test."""
        self.files.clear()
        self.lenient, self.missing = False, frozenset()
        self.requests.clear()
        self.violations.clear()
        self._scripts.clear()
        self.counts.update({route: Count() for route in self.counts})

    @property
    def total(self) -> Count:
        """The counts of all routes together."""
        return sum(self.counts.values(), Count())

    def arrived(self, count: int = 1, *, timeout_s: float = 5.0) -> bool:
        """Wait until so many requests have come; call it in a thread where a loop is running."""
        until = time.monotonic() + timeout_s
        while len(self.requests) < count and time.monotonic() < until:
            time.sleep(0.002)
        return len(self.requests) >= count

    def on(self, route: str) -> list[Recorded]:
        """The requests of one route."""
        return [request for request in self.requests if request.route == route]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._stopping is None:
            self._stopping = asyncio.Event()
        request = Request(scope, receive)
        path = request.url.path
        route = ROUTES.get((request.method, path)) or ("models" if path.startswith("/v1/models/") else None)
        if route is None and path in self.files:
            route = "files"
        if route is None or route in self.missing:
            await Response("Not found", 404)(scope, receive, send)
            return
        recorded = Recorded(route, path, dict(request.headers), query=request.url.query)
        self.requests.append(recorded)
        count = self.counts[route]
        count.requests += 1
        if route == "files":
            found = self.files[path]
            headers = {"location": str(found.body)} if 300 <= found.status < 400 else {}
            content = b"" if headers else found.body
            closing = _Closing(send)
            await Response(content, found.status, headers, media_type=found.content_type)(scope, receive, closing)
            return
        reply = self._refused(recorded) or await self._read(request, recorded) or self._next(recorded)
        await self._answer(reply, recorded, count, scope, receive, _Closing(send))

    def _refused(self, recorded: Recorded) -> Failure | None:
        scheme, _, key = recorded.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or not key or (self.key is not None and key != self.key):
            return wrong_key(key)
        return None

    async def _read(self, request: Request, recorded: Recorded) -> Failure | None:
        if recorded.route == "models":
            return None
        try:
            content_type = recorded.headers.get("content-type", "")
            recorded.body, recorded.files = read_body(content_type, await request.body())
        except ValueError as error:
            wrong = [str(error)]
        else:
            wrong = [] if self.lenient else violations(
                recorded.route, recorded.body, recorded.files, allowed=self.allowed
            )  # fmt: skip
        if wrong:
            self.violations += [f"{recorded.route}: {words}" for words in wrong]
            return bad_request("; ".join(wrong), code="invalid_value")
        model = str(recorded.body.get("model"))
        return no_such_model(model) if self.models is not None and model not in self.models else None

    def _next(self, recorded: Recorded) -> Reply:
        script = self._scripts.get(recorded.route, ())
        if callable(script):
            return script(recorded)
        used = self._used.get(recorded.route, 0)
        if used < len(script):
            self._used[recorded.route] = used + 1
            return script[used]
        if recorded.route == "models":
            return self._models(recorded)
        return Chat("Hello.") if recorded.route == "chat" else Pictures()

    def _models(self, recorded: Recorded) -> Reply:
        name = recorded.path.removeprefix("/v1/models").strip("/")
        if name and self.models is not None and name not in self.models:
            return no_such_model(name)
        known = [
            {"id": each, "object": "model", "created": 1, "owned_by": "loopback"} for each in self.models or {name}
        ]
        mine = next((each for each in known if each["id"] == name), None)
        return Raw(json.dumps(mine if name else {"object": "list", "data": known}))

    async def _answer(
        self, reply: Reply, recorded: Recorded, count: Count, scope: Scope, receive: Receive, send: _Closing
    ) -> None:
        match reply:
            case Hang():
                await self._hang(recorded, receive)
            case Reset():
                send.reset()
            case Failure():
                error = {"error": dict(reply.error) if isinstance(reply.error, Mapping) else reply.error}
                headers = {"x-request-id": f"req_{len(self.requests)}", **reply.headers}
                await JSONResponse(error, reply.status, headers)(scope, receive, send)
            case Raw():
                count.answered += reply.status == 200
                await Response(reply.body, reply.status, media_type=reply.content_type)(scope, receive, send)
            case Pictures():
                await asyncio.sleep(reply.delay_s)
                payload = pictures_of(reply, recorded, count)
                await JSONResponse(payload)(scope, receive, send)
            case ImageStream():
                await self._stream_image(reply, recorded, count, send)
            case Chat():
                await asyncio.sleep(reply.delay_s)
                if recorded.body.get("stream"):
                    await self._stream(reply, recorded, count, send)
                else:
                    await _whole(reply, recorded, count, scope, receive, send)

    async def _hang(self, recorded: Recorded, receive: Receive) -> None:
        assert self._stopping is not None
        gone, stopped = asyncio.ensure_future(receive()), asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait({gone, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if gone.done():
            recorded.abandoned.set()
        for task in (gone, stopped):
            task.cancel()
        await asyncio.gather(gone, stopped, return_exceptions=True)

    async def _stream_image(self, reply: ImageStream, recorded: Recorded, count: Count, send: _Closing) -> None:
        headers = [(b"content-type", reply.content_type.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for piece in image_events_of(reply, recorded, count):
            await send({"type": "http.response.body", "body": piece.encode(), "more_body": True})
        if reply.end == "cut":
            await asyncio.sleep(0.02)
            send.reset()
            return
        await send({"type": "http.response.body", "body": b""})

    async def _stream(self, reply: Chat, recorded: Recorded, count: Count, send: _Closing) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        delay = self.chunk_delay_s if reply.chunk_delay_s is None else reply.chunk_delay_s
        size = reply.chunk or self.chunk
        events = list(events_of(reply, recorded, size))
        for sent, data in enumerate(events):
            if reply.cut_after is not None and sent >= reply.cut_after:
                # What was written must reach the client before the connection goes.
                await asyncio.sleep(0.02)
                send.reset()
                return
            if reply.error_after is not None and sent >= reply.error_after:
                await send(_piece(json.dumps({"error": dict(reply.error)})))
                await send({"type": "http.response.body", "body": b""})
                return
            if delay:
                await asyncio.sleep(delay)
            if sent == len(events) - 1:
                # Before the client can know that it was the last.
                count_chat(reply, recorded, count)
            await send(_piece(data))
        await send({"type": "http.response.body", "body": b""})


class _Closing:
    """The way to the client, closed after each answer: no connection outlives the loop of a test."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await self._send(message)

    def reset(self) -> None:
        """Cut the connection. ASGI has no word for it: uvicorn's own bound method leads to its transport."""
        cycle: Any = getattr(self._send, "__self__")  # noqa: B009
        cycle.transport.abort()


def _piece(data: str) -> dict[str, Any]:
    return {"type": "http.response.body", "body": f"data: {data}\n\n".encode(), "more_body": True}


async def _whole(reply: Chat, recorded: Recorded, count: Count, scope: Scope, receive: Receive, send: _Closing) -> None:
    payload = chat_of(reply, recorded)
    if reply.cut_after is None:
        count_chat(reply, recorded, count)
        await JSONResponse(payload)(scope, receive, send)
        return
    whole = json.dumps(payload).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(whole)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": whole[: len(whole) // 2], "more_body": True})
    await asyncio.sleep(0.02)
    send.reset()


@contextmanager
def serving(*, key: str | None = None, models: set[str] | None = None) -> Generator[LoopbackServer]:
    """Run a server on a free port of 127.0.0.1 while the block runs."""
    server = LoopbackServer(key=key, models=models)
    listening = socket.create_server(("127.0.0.1", 0))
    server.base_url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    config = uvicorn.Config(
        server, log_config=None, log_level="critical", access_log=False, lifespan="off", ws="none", http="h11",
        loop="asyncio", proxy_headers=False, interface="asgi3", timeout_graceful_shutdown=2,
    )  # fmt: skip
    running = uvicorn.Server(config)
    loops: list[asyncio.AbstractEventLoop] = []

    async def run() -> None:
        loops.append(asyncio.get_running_loop())
        server._stopping = asyncio.Event()
        await running.serve(sockets=[listening])

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="loopback", daemon=True)
    thread.start()
    try:
        until = time.monotonic() + 10
        while not running.started:
            assert thread.is_alive() and time.monotonic() < until, "the loopback server did not start"
            time.sleep(0.002)
        yield server
    finally:
        running.should_exit = True
        if loops and server._stopping is not None and thread.is_alive():
            loops[0].call_soon_threadsafe(server._stopping.set)
        thread.join(10)
        listening.close()
        assert not thread.is_alive(), "the loopback server did not stop"
