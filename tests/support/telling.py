"""A server on a loopback address that answers everything with what it is told, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One request; names of headers in small letters."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """The body, which is JSON."""
        return json.loads(self.body)


class Telling:
    """The server.

    Attributes:
        reply: The body of every answer: bytes, JSON, or a function that makes it from the request's body.
        status: Of every answer.
        kind: Its content type.
        headers: More of its headers.
        delay_s: Before it.
        asked: The requests so far.
    """

    def __init__(self, reply: bytes | dict[str, Any] | Callable[[bytes], bytes] = b"") -> None:
        self.reply = reply
        self.status = 200
        self.kind = "application/json"
        self.headers: dict[str, str] = {}
        self.delay_s = 0.0
        self.asked: list[Asked] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.base_url = f"http://127.0.0.1:{self._server.server_port}"

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.02)

    def close(self, *, serving: bool = True) -> None:
        if serving:
            self._server.shutdown()
        self._server.server_close()

    def _answer(self, asked: Asked) -> bytes:
        if isinstance(self.reply, dict):
            return json.dumps(self.reply).encode()
        return self.reply(asked.body) if callable(self.reply) else self.reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        telling = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.path, headers, self.rfile.read(length))
                telling.asked.append(asked)
                time.sleep(telling.delay_s)
                body = telling._answer(asked)
                try:
                    self.send_response(telling.status)
                    self.send_header("content-type", telling.kind)
                    self.send_header("content-length", str(len(body)))
                    for name, value in telling.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)
                except (BrokenPipeError, ConnectionResetError):
                    return  # the client did not wait

            def do_GET(self) -> None:
                self.do_POST()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                return

        return Handler


@contextmanager
def telling(reply: bytes | dict[str, Any] | Callable[[bytes], bytes] = b"") -> Generator[Telling]:
    """Serve in a thread of its own."""
    server = Telling(reply)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()
