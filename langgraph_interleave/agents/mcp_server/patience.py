"""How long a connection may dawdle, and how many one peer may hold: nobody keeps the others out by doing nothing.

uvicorn counts connections and refuses those beyond a number, but waits for ever on one that says nothing, or says
it a byte at a time. `Patience` is told of every connection by a protocol of ours, and of every request by standing
before the app; in between it holds a clock.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

if TYPE_CHECKING:
    from uvicorn import Config
    from uvicorn.protocols.http.h11_impl import H11Protocol

Peer = tuple[str, int]


@dataclass(slots=True)
class _Connection:
    transport: asyncio.Transport
    peer: str
    clock: asyncio.TimerHandle | None = None
    requests: int = 0


@dataclass(slots=True)
class Patience:
    """The limits of a connection, and the connections there are. Belongs to one event loop.

    Loopback peers are this machine's own users, or a proxy in front that speaks for many and has limits of its own:
    their number is not limited, their time is.

    Attributes:
        head_s: Seconds until a request has begun: from the connection, or from the end of the request before.
        body_s: Seconds until all of a request is here.
        send_s: Seconds until a piece of an answer is taken.
        per_peer: Connections of one peer at a time.
    """

    head_s: float = 10.0
    body_s: float = 60.0
    send_s: float = 60.0
    per_peer: int = 32
    _open: dict[Peer, _Connection] = field(default_factory=dict[Peer, _Connection], init=False)
    _held: Counter[str] = field(default_factory=Counter[str], init=False)

    @property
    def held(self) -> int:
        """Connections that are open."""
        return len(self._open)

    def opened(self, transport: asyncio.Transport) -> bool:
        """A connection was made; return whether it may stay."""
        found = _peer(transport)
        if found is None:
            return True  # a socket of this machine, behind permissions of its own
        peer = network_of(found[0])
        connection = _Connection(transport, peer)
        if self._held[peer] >= self.per_peer and not _is_loopback(found[0]):
            transport.abort()
            return False
        self._held[peer] += 1
        self._open[found] = connection
        self._wait(connection)
        return True

    def closed(self, transport: asyncio.Transport) -> None:
        """A connection has ended."""
        found = _peer(transport)
        connection = self._open.get(found) if found is not None else None
        if found is None or connection is None or connection.transport is not transport:
            return
        del self._open[found]
        self._held[connection.peer] -= 1
        if not self._held[connection.peer]:
            del self._held[connection.peer]
        _stop(connection)

    def before(self, app: ASGIApp) -> ASGIApp:
        """The app, with the limits on each of its requests."""

        async def patient(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            client = scope.get("client")
            connection = self._open.get(tuple(client)) if client else None
            if connection is not None:
                connection.requests += 1
                _stop(connection)
            try:
                await app(scope, self._hurried(receive, connection), self._taken(send, connection))
            finally:
                if connection is not None:
                    connection.requests -= 1
                    if not connection.requests and not connection.transport.is_closing():
                        self._wait(connection)

        return patient

    def _hurried(self, receive: Receive, connection: _Connection | None) -> Receive:
        end: float | None = asyncio.get_running_loop().time() + self.body_s

        async def hurried() -> Message:
            nonlocal end
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                _drop(connection)
                return {"type": "http.disconnect"}
            if not message.get("more_body", False):
                end = None  # what is waited for now is that the client goes away
            return message

        return hurried

    def _taken(self, send: Send, connection: _Connection | None) -> Send:
        async def taken(message: Message) -> None:
            try:
                async with asyncio.timeout(self.send_s):
                    await send(message)
            except TimeoutError:
                _drop(connection)
                raise OSError("the client takes no answer") from None

        return taken

    def _wait(self, connection: _Connection) -> None:
        _stop(connection)
        loop = asyncio.get_running_loop()
        connection.clock = loop.call_later(self.head_s, connection.transport.abort)


def make_config(app: ASGIApp, *, patience: Patience | None = None, **options: Any) -> Config:
    """What uvicorn serves the app with: within the limits of `Patience`, by its strictest reader of HTTP.

    Args:
        app: From `http_app`.
        patience: The limits.
        options: Further ones of `uvicorn.Config`.
    """
    import uvicorn

    patience = patience or Patience()
    # Who a peer is says the connection, not a header that anybody writes.
    return uvicorn.Config(patience.before(app), http=make_protocol(patience), ws="none", proxy_headers=False, **options)


def make_protocol(patience: Patience) -> type[H11Protocol]:
    """The protocol for `uvicorn.Config(http=…)`: uvicorn's own, which tells of its connections."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Patient(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            patience.opened(transport)

        def connection_lost(self, exc: Exception | None) -> None:
            patience.closed(self.transport)
            super().connection_lost(exc)

    return Patient


def network_of(address: str) -> str:
    """Whose an address is: with IPv6 one customer has a whole /64.

    Example:
        >>> network_of("203.0.113.7"), network_of("::ffff:203.0.113.7"), network_of("2001:db8:1:2:3:4:5:6")
        ('203.0.113.7', '203.0.113.7', '2001:db8:1:2::')
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(ip) >> 64 << 64))


def _is_loopback(address: str) -> bool:
    network = network_of(address)
    return network == "::" or network.startswith("127.")


def _peer(transport: asyncio.Transport) -> Peer | None:
    found = transport.get_extra_info("peername")
    return (str(found[0]), int(found[1])) if isinstance(found, tuple) and len(found) >= 2 else None


def _stop(connection: _Connection) -> None:
    if connection.clock is not None:
        connection.clock.cancel()
        connection.clock = None


def _drop(connection: _Connection | None) -> None:
    if connection is not None:
        connection.transport.abort()
