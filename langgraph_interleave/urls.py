"""Addresses that came from outside, fetched safely or not at all.

Three policies:

- `backend_result`: the address stands in the answer of a configured backend. Fetched when it has the
  backend's own origin (scheme, host, port), or when every address its host resolves to is public.
- `typed`: whoever runs this program typed it, or asked in so many words that it be fetched. Fetched when
  every address its host resolves to is public and its port is one of the web; never from https on to http.
- `given`: the address came in a request, from a user or a model. Refused; download the file and pass it instead.

Host names are resolved once, every address found is judged, and the connection goes to one of those:
a name that points elsewhere the next moment gains nothing. Redirects are followed by hand and judged
like the first address. Credentials go to the configured origin only, and never again once another
was visited. Proxies of the environment are not used: they would resolve the name anew.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    from httpx import AsyncClient, Request

Policy = Literal["backend_result", "typed", "given"]
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
Origin = tuple[str, str, int]

MAX_REDIRECTS = 5
_PORTS = {"http": 80, "https": 443}
#: Where pictures are served to the public. Behind other ports are services that take a request for something else.
_WEB_PORTS = frozenset({80, 443, 8080, 8443})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_IN_HOST = re.compile(r"[A-Za-z0-9._:-]+")
#: Public by its number, and yet the door to a cloud's inside (Azure's wire server).
_INSIDE = frozenset({ipaddress.ip_address("168.63.129.16")})
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
#: Nobody's in the public internet, whatever version of Python is asked: site-local, documentation, 6to4 relays,
#: NAT64 of a network's own, Teredo (which names a relay and a client, and serves nothing), protocol assignments.
_NOWHERE = tuple(
    map(
        ipaddress.ip_network,
        ("fec0::/10", "3fff::/20", "5f00::/16", "64:ff9b:1::/48", "2001::/23", "192.0.0.0/24", "192.88.99.0/24"),
    )
)


class NotFetched(Exception):
    """Why an address was not fetched: a clause for after "The address of the picture", and what to do.

    Attributes:
        reason: The clause. Never the path or the query, which may hold a signature.
        remedy: What to do.
        status: The status of an answer that was no success.
        late: The deadline passed.
    """

    def __init__(self, reason: str, remedy: str, *, status: int | None = None, late: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy
        self.status = status
        self.late = late


@dataclass(frozen=True, slots=True)
class _Place:
    origin: Origin
    address: str

    @property
    def shown(self) -> str:
        scheme, host, port = self.origin
        return host if port == _PORTS[scheme] else f"{host}:{port}"


def origin_of(address: str) -> Origin | None:
    r"""Scheme, host and port of an address; `None` for what is no plain HTTP address.

    Not plain are other schemes, a user or password in it, and characters that programs read differently.

    Example:
        >>> origin_of("https://Example.org/a.png"), origin_of("http://[::1]:8000/v1")
        (('https', 'example.org', 443), ('http', '::1', 8000))
        >>> origin_of("http://user@example.org/"), origin_of("file:///etc/passwd"), origin_of("http:\\\\example.org")
        (None, None, None)
    """
    if any(character <= " " or character in "\\\x7f" for character in address):
        return None
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not host or "@" in parts.netloc or port == 0:
        return None
    try:
        host = host.encode("idna").decode() if not host.isascii() else host
    except UnicodeError:
        return None
    if not _IN_HOST.fullmatch(host):
        return None
    return parts.scheme, host.lower().rstrip("."), port or _PORTS[parts.scheme]


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet.

    Loopback, private, link-local, shared, multicast and reserved ones are not, nor are those that
    carry such a one inside (IPv4 in IPv6, 6to4, NAT64), Teredo, and the metadata services of clouds.

    Example:
        >>> [is_public(ip) for ip in ("1.1.1.1", "169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::a00:1")]
        [True, False, False, False]
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    if ip in _INSIDE or any(ip in network for network in _NOWHERE):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


async def fetch(
    address: str,
    *,
    policy: Policy,
    base_url: str | None = None,
    headers: Mapping[str, str] | None = None,
    max_bytes: int,
    timeout_s: float,
    resolve: Resolver | None = None,
) -> bytes:
    """Fetch what an address names, once, completely, within a cap and a deadline.

    Args:
        address: Absolute, or relative to `base_url`.
        policy: Where the address came from.
        base_url: The configured address of the backend; its origin is trusted.
        headers: Credentials for that origin. No other host is sent them.
        max_bytes: Largest answer taken, in bytes.
        timeout_s: For all of it, redirects included, in seconds.
        resolve: Finds the addresses of a host; default: the system's.

    Raises:
        NotFetched: The policy forbids it, or it could not be fetched so.
    """
    if policy == "given":
        raise NotFetched("is not fetched: addresses given by users or models are not followed.", _DOWNLOAD)
    typed = policy == "typed"
    assert not typed or (base_url is None and headers is None), "an address that was typed is of nobody's backend"
    trusted = origin_of(base_url) if base_url else None
    try:
        target = _joined(_folder(base_url), address) if base_url else address
        async with asyncio.timeout(timeout_s):
            return await _fetched(
                target, trusted, dict(headers or {}), max_bytes, resolve or _resolve, timeout_s, typed=typed
            )
    except NotFetched as error:
        if typed:
            error.remedy = _DOWNLOAD
        raise
    except TimeoutError as error:
        remedy = _DOWNLOAD if typed else "Allow more time, or have pictures sent as base64."
        raise NotFetched(f"was not read within {timeout_s:g} s.", remedy, late=True) from error


def _folder(base_url: str) -> str:
    return base_url if base_url.endswith("/") else f"{base_url}/"


async def _fetched(
    target: str,
    trusted: Origin | None,
    headers: dict[str, str],
    max_bytes: int,
    resolve: Resolver,
    timeout_s: float,
    *,
    typed: bool,
) -> bytes:
    import httpx

    # Compressed answers could be small on the wire and huge in memory.
    plain = {"accept": "image/*", "accept-encoding": "identity", "user-agent": "langgraph-interleave"}
    for _ in range(MAX_REDIRECTS + 1):
        place = _placed(target)
        if place.origin != trusted:
            headers = {}
        if typed and place.origin[2] not in _WEB_PORTS:
            raise NotFetched(f"names the port {place.origin[2]} of {place.origin[1]}, which is none of the web.", _SENT)
        addresses = await _allowed(place, trusted, resolve)
        # Reading certificates takes a tenth of a second: once, off the loop, and only where they are needed.
        trust = await asyncio.to_thread(_certificates) if place.origin[0] == "https" else _NO_CERTIFICATES
        async with httpx.AsyncClient(
            verify=trust, trust_env=False, follow_redirects=False, timeout=timeout_s
        ) as client:
            answer = await _once(client, place, addresses, {**plain, **headers}, max_bytes)
        if isinstance(answer, bytes):
            return answer
        target = _joined(target, answer[0])
        if typed and place.origin[0] == "https" and not target.lower().startswith("https:"):
            raise NotFetched(f"is sent on by {place.shown} to where nothing is encrypted, or to no web address.", _SENT)
    raise NotFetched(f"redirects more than {MAX_REDIRECTS} times.", _SENT)


_DOWNLOAD = "Download the file and pass its path or bytes."
_SENT = "Have the server send pictures as base64 (response_format=b64_json)."


#: For plain HTTP: holds nobody's certificate, so that nothing passes it.
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@cache
def _certificates() -> ssl.SSLContext:
    """Those of the system's settings (SSL_CERT_FILE), else those that come along."""
    import httpx

    return httpx.create_ssl_context()


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError as error:
        raise NotFetched("is no plain http or https address.", _SENT) from error


def _placed(target: str) -> _Place:
    origin = origin_of(target)
    if origin is None:
        raise NotFetched("is no plain http or https address.", _SENT)
    return _Place(origin, target)


async def _allowed(place: _Place, trusted: Origin | None, resolve: Resolver) -> Sequence[str]:
    """The addresses of a host, if it may be asked."""
    _, host, port = place.origin
    try:
        addresses = [host] if _is_number(host) else list(dict.fromkeys(await resolve(host, port)))
    except (OSError, UnicodeError) as error:  # the latter of a name with an empty part, or one too long
        raise NotFetched(f"names the host {place.shown}, which is not known.", _SENT) from error
    if not addresses:
        raise NotFetched(f"names the host {place.shown}, which is not known.", _SENT)
    if place.origin != trusted and not all(is_public(address) for address in addresses):
        raise NotFetched(
            f"leads to {place.shown}, which is neither the backend's own origin nor public."
            if trusted
            else f"leads to {place.shown}, which is not public.",
            f"{_SENT[:-1]}, or make it name its pictures by the address in base_url.",
        )
    return addresses


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def _resolve(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


async def _once(
    client: AsyncClient, place: _Place, addresses: Sequence[str], headers: Mapping[str, str], max_bytes: int
) -> bytes | tuple[str]:
    """One request: the bytes, or where they are (in a tuple)."""
    import httpx

    for index, address in enumerate(addresses[:3]):
        request = _request(client, place, address, headers)
        try:
            response = await client.send(request, stream=True)
        except httpx.ConnectError as error:
            if index + 1 < len(addresses[:3]):
                continue
            untrusted = "CERTIFICATE_VERIFY_FAILED" in str(error)
            why = "whose certificate is not trusted" if untrusted else "which cannot be reached"
            raise NotFetched(f"leads to {place.shown}, {why}.", _SENT) from error
        except (httpx.HTTPError, UnicodeError) as error:
            raise NotFetched(f"leads to {place.shown}, which broke off the connection.", _SENT) from error
        except httpx.InvalidURL as error:
            # Where a redirect leads is read by httpx too, followed or not.
            raise NotFetched(
                f"is sent on by {place.shown} to what is no plain http or https address.", _SENT
            ) from error
        try:
            if response.status_code in _REDIRECTS and "location" in response.headers:
                return (response.headers["location"],)
            if response.status_code != 200:
                raise NotFetched(
                    f"was answered by {place.shown} with status {response.status_code}.",
                    "It may have expired. Draw the step again, or have pictures sent as base64.",
                    status=response.status_code,
                )
            return await _body(response, place, max_bytes)
        except httpx.HTTPError as error:
            raise NotFetched(f"leads to {place.shown}, which broke off the connection.", _SENT) from error
        finally:
            await response.aclose()
    raise AssertionError("every host has an address")


def _request(client: AsyncClient, place: _Place, address: str, headers: Mapping[str, str]) -> Request:
    """A request that goes to an address already judged, in the name of its host."""
    import httpx

    scheme, host, port = place.origin
    named = f"[{host}]" if ":" in host else host
    shown = named if port == _PORTS[scheme] else f"{named}:{port}"
    try:
        url = httpx.URL(place.address).copy_with(host=address.partition("%")[0], port=port)
    except httpx.InvalidURL as error:
        raise NotFetched("is no plain http or https address.", _SENT) from error
    return client.build_request(
        "GET", url, headers={"host": shown, **headers}, extensions={"sni_hostname": host} if scheme == "https" else {}
    )


async def _body(response: object, place: _Place, max_bytes: int) -> bytes:
    from httpx import Response

    assert isinstance(response, Response)
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise NotFetched(f"is answered by {place.shown} in a compressed form.", _SENT)
    whole = bytearray()
    length = response.headers.get("content-length", "")
    if not length.isdecimal() or int(length) <= max_bytes:
        async for piece in response.aiter_raw():
            whole += piece
            if len(whole) > max_bytes:
                break
        else:
            return bytes(whole)
    raise NotFetched(f"leads to more than {max_bytes / 1e6:g} MB.", "Ask for a smaller picture.")
