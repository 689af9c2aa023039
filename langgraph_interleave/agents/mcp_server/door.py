"""The door of the HTTP server: who may come in, under which name, how often, and how much they may bring."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from langgraph_interleave.agents.mcp_server.patience import network_of
from langgraph_interleave.agents.mcp_server.pictures import MOST_CHARACTERS
from langgraph_interleave.agents.mcp_server.rate import Rate, retry_after
from langgraph_interleave.errors import ConfigError

PATH = "/mcp"
#: Bytes of a request, at most: two pictures as large as they may be, or several smaller ones.
MOST_BODY = 2 * MOST_CHARACTERS + 100_000
#: A key must not be guessed.
_SHORTEST_KEY = 16
#: A request with a wrong key counts as this many.
_GUESS = 10.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Door:
    """Lets through who knows the key and calls the server by one of its names.

    A page in somebody's browser that made its own name point here ("DNS rebinding") is turned away by
    `Host` and `Origin`, with or without a key: an address in numbers is no such name.

    Args:
        app: What is behind it.
        key: What must be sent as `Authorization: Bearer …`; nothing is asked for without.
        names: Host names of the server, besides those of the loopback.
        rate: How often one peer may ask. Peers of the loopback may as often as they like: they are this machine's
            own users, or a proxy that speaks for many.
    """

    def __init__(self, app: ASGIApp, *, key: str | None, names: Sequence[str] = (), rate: Rate | None = None) -> None:
        self._app = app
        self._key = None if key is None else _digest(key)
        self._rate = rate or Rate()
        self._names = {*_LOOPBACK, *(name.strip("[]").lower() for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            peer = scope["client"][0] if scope.get("client") else "127.0.0.1"
            refused = self._too_often(peer) or self._refused(Headers(scope=scope))
            if refused is not None:
                if refused.status_code == 401:
                    self._rate.punish(network_of(peer), _GUESS)
                await refused(scope, receive, send)
                return
        elif scope["type"] != "lifespan":
            return
        await self._app(scope, receive, send)

    def _too_often(self, peer: str) -> PlainTextResponse | None:
        if is_loopback(peer):
            return None
        wait = self._rate.wait_s(network_of(peer))
        if not wait:
            return None
        return PlainTextResponse("Too often.", status_code=429, headers={"Retry-After": retry_after(wait)})

    def _refused(self, headers: Headers) -> PlainTextResponse | None:
        host = _host(f"//{headers.get('host', '')}")
        if host is None or not (host in self._names or _is_address(host)):
            return PlainTextResponse("This server is not called that; see --allow-host.", status_code=421)
        origin = headers.get("origin")
        # Another page than one of this very server: only with a name that is known.
        if origin is not None and _host(origin) not in self._names:
            return PlainTextResponse("Not from this page.", status_code=403)
        if self._key is not None:
            scheme, _, sent = headers.get("authorization", "").partition(" ")
            # Digests, so that neither the length nor the beginning of the key shows in the time it takes.
            if not hmac.compare_digest(_digest(sent.strip()), self._key) or scheme.lower() != "bearer":
                return PlainTextResponse(
                    "The key is missing or wrong; send it as Authorization: Bearer …",
                    status_code=401,
                    headers={"WWW-Authenticate": "Bearer"},
                )
        return None


def make_app(server: MCPServer[Any], *, key: str | None, host: str, names: Sequence[str]) -> ASGIApp:
    """The server behind its door.

    Raises:
        ConfigError: There is no key where there must be one, or it is too short.
    """
    if key is not None and (len(key) < _SHORTEST_KEY or not key.isascii()):
        raise ConfigError(
            f"The key has {len(key)} characters.", remedy=f"Use at least {_SHORTEST_KEY}, random ones, all of ASCII."
        )
    if key is None and not is_loopback(host):
        raise ConfigError(
            f"On {host} others than this machine's users reach the server, and it has no key.",
            remedy="Set a key in the environment variable INTERLEAVE_MCP_KEY (or the one --key-env names), "
            "or serve on 127.0.0.1.",
        )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MOST_BODY,
        # The door looks at both headers itself, and is stricter about addresses.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        host=host,
    )
    return Door(app, key=key, names=(host, *names))


def is_loopback(host: str) -> bool:
    """Whether an address or name is that of this machine alone.

    Example:
        >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback("localhost")
        (True, False, True)
    """
    host = host.strip("[]").lower()
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
