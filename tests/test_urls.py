"""Addresses from outside: judged before and after the name is looked up, fetched with a cap and a deadline."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Sequence
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import LoopbackServer, serving
from loopback_replies import Raw

from langgraph_interleave import urls
from langgraph_interleave.urls import NotFetched, fetch, is_public, origin_of

KEY = {"authorization": "Bearer sk-secret"}


def resolving(*addresses: str) -> urls.Resolver:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return resolve


async def refused(address: str, *, base_url: str | None = None, **options: object) -> NotFetched:
    with pytest.raises(NotFetched) as caught:
        await fetch(address, policy="backend_result", base_url=base_url, max_bytes=100, timeout_s=5, **options)  # pyright: ignore[reportArgumentType]
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("http://Example.ORG", ("http", "example.org", 80)),
        ("https://example.org.:8443/a?b#c", ("https", "example.org", 8443)),
        ("http://[2001:db8::1]/x", ("http", "2001:db8::1", 80)),
        ("https://bücher.example/", ("https", "xn--bcher-kva.example", 443)),
        ("HTTP://a", ("http", "a", 80)),
    ],
)
def test_origins(address: str, origin: tuple[str, str, int]) -> None:
    assert origin_of(address) == origin


@pytest.mark.parametrize(
    "address",
    ["", "x", "/v1/x", "ftp://a/", "file:///etc/passwd", "http://", "http://u:p@a/", "http://a@b/", "http://a:0/",
     "http://a:99999/", "http://a\\@b/", "http:/\\a", "http://a b/", "http://a\n/", "http://[::1/", "javascript:1",
     "gopher://a", "http://a\u2100b/x y", "http://\x00a"],
)  # fmt: skip
def test_what_is_no_plain_address(address: str) -> None:
    assert origin_of(address) is None


@pytest.mark.nightly
@given(st.text(max_size=40))
def test_any_text_is_judged(text: str) -> None:
    origin = origin_of(text)
    assert origin is None or origin[0] in ("http", "https")


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2002:101:101::1"])
def test_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.8.9.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200",
     "100.64.0.1", "168.63.129.16", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1",
     "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
     "2002:7f00:1::", "2002:a9fe:a9fe::", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2001:db8::1", "localhost", "",
     "1.1", "fec0::1", "3fff::1", "5f00::1", "192.88.99.1", "64:ff9b:1::7f00:1", "::127.0.0.1"],
)  # fmt: skip
def test_not_public(address: str) -> None:
    assert not is_public(address)


async def test_given_addresses_are_refused_whatever_they_are() -> None:
    for address in ("https://example.org/a.png", "http://127.0.0.1/"):
        with pytest.raises(NotFetched, match="given by users or models"):
            await fetch(address, policy="given", max_bytes=1, timeout_s=1)


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:9/a", "http://169.254.169.254/latest/meta-data", "http://[::1]/a", "http://[::ffff:10.0.0.1]/a"],
)
async def test_numbers_that_lead_inside_are_refused(address: str) -> None:
    error = await refused(address, base_url="http://backend.example/v1")
    assert "neither the backend's own origin nor public" in error.reason
    assert "meta-data" not in error.reason


async def test_names_are_judged_by_all_they_resolve_to() -> None:
    error = await refused("https://cdn.example/a?sig=secret", resolve=resolving("1.1.1.1", "127.0.0.1"))
    assert "cdn.example" in error.reason and "secret" not in error.reason


async def test_numbers_in_other_forms_are_judged_by_what_they_resolve_to() -> None:
    # As the system's own resolver reads them.
    for address in ("http://2130706433/", "http://0x7f.1/", "http://127.1/"):
        assert "not public" in (await refused(address)).reason


async def test_a_host_that_is_not_known() -> None:
    async def unknown(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    assert "not known" in (await refused("https://nowhere.example/a", resolve=unknown)).reason
    assert "not known" in (await refused("https://nowhere.example/a", resolve=resolving())).reason


@pytest.mark.parametrize("address", ["ftp://a/b", "file:///etc/passwd", "http://u:p@a/", "images/1"])
async def test_what_is_no_address_is_not_asked(address: str) -> None:
    assert "no plain http" in (await refused(address)).reason


@pytest.mark.nightly
@given(st.text(max_size=60) | st.from_regex(r"(https?:)?//[a-z0-9.:@\\[\]/?#%-]{0,30}", fullmatch=True))
def test_any_text_is_refused_in_words(address: str) -> None:
    async def nothing(host: str, port: int) -> Sequence[str]:
        if host == "backend.invalid":
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return ["10.0.0.1"]

    async def ask() -> None:
        for base_url in ("http://backend.invalid/v1", None):
            with pytest.raises(NotFetched):
                await fetch(
                    address, policy="backend_result", base_url=base_url, max_bytes=9, timeout_s=1, resolve=nothing
                )

    with patch.object(urls, "is_public", return_value=False):
        asyncio.run(ask())


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackServer]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[LoopbackServer]:
    with serving() as server:
        yield server


@pytest.fixture
def server(running: LoopbackServer, elsewhere: LoopbackServer) -> LoopbackServer:
    running.reset()
    elsewhere.reset()
    return running


def file(body: bytes | str, status: int = 200, content_type: str = "image/png") -> Raw:
    return Raw(body, content_type, status)


async def fetched(server: LoopbackServer, address: str, **options: object) -> bytes:
    settings = {"max_bytes": 1000, "timeout_s": 5, "headers": KEY, **options}
    return await fetch(address, policy="backend_result", base_url=server.base_url, **settings)  # pyright: ignore[reportArgumentType]


@pytest.mark.server
class TestFetching:
    @pytest.mark.parametrize("relative", ["/v1/images/7/content", "images/7/content", "./images/7/content"])
    async def test_relative_and_of_the_own_origin(self, server: LoopbackServer, relative: str) -> None:
        server.files["/v1/images/7/content"] = file(b"picture")
        assert await fetched(server, relative) == b"picture"
        origin = server.base_url.removesuffix("/v1")
        assert await fetched(server, f"{origin}/v1/images/7/content?sig=a%2Fb") == b"picture"
        assert [request.headers.get("authorization") for request in server.on("files")] == [KEY["authorization"]] * 2

    async def test_another_port_of_the_same_machine_is_another_origin(
        self, server: LoopbackServer, elsewhere: LoopbackServer
    ) -> None:
        elsewhere.files["/a.png"] = file(b"secret")
        with pytest.raises(NotFetched, match="nor public"):
            await fetched(server, elsewhere.base_url.replace("/v1", "/a.png"))
        assert elsewhere.requests == []

    async def test_redirects_are_judged_like_the_first_address(
        self, server: LoopbackServer, elsewhere: LoopbackServer
    ) -> None:
        server.files["/inside"] = file(elsewhere.base_url.replace("/v1", "/a.png"), 302)
        server.files["/scheme"] = file("file:///etc/passwd", 302)
        server.files["/again"] = file("/again", 307)
        server.files["/b"] = file(b"picture")
        server.files["/fine"] = file("/b", 301)
        elsewhere.files["/a.png"] = file(b"secret")
        with pytest.raises(NotFetched, match="nor public"):
            await fetched(server, "/inside")
        with pytest.raises(NotFetched, match="no plain"):
            await fetched(server, "/scheme")
        with pytest.raises(NotFetched, match="redirects more than"):
            await fetched(server, "/again")
        assert await fetched(server, "/fine") == b"picture"
        assert elsewhere.requests == []

    async def test_no_other_host_is_sent_the_key(
        self, server: LoopbackServer, elsewhere: LoopbackServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(urls, "is_public", lambda address: True)
        other = elsewhere.base_url.replace("/v1", "")
        elsewhere.files["/a.png"] = file(b"picture")
        elsewhere.files["/back"] = file(server.base_url.replace("/v1", "/c.png"), 302)
        server.files["/out"] = file(f"{other}/a.png", 302)
        server.files["/c.png"] = file(b"own")
        assert await fetched(server, f"{other}/a.png") == b"picture"
        assert await fetched(server, "/out") == b"picture"
        assert await fetched(server, f"{other}/back") == b"own"
        assert all("authorization" not in request.headers for request in elsewhere.requests)
        # Whoever was sent back from elsewhere comes without it, too.
        keys = {request.path: request.headers.get("authorization") for request in server.requests}
        assert keys == {"/out": KEY["authorization"], "/c.png": None}

    async def test_the_connection_goes_to_the_address_that_was_judged(
        self, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(urls, "is_public", lambda address: True)
        asked: list[str] = []

        async def resolve(host: str, port: int) -> Sequence[str]:
            asked.append(host)
            return ["127.0.0.1"]

        port = server.base_url.rpartition(":")[2].removesuffix("/v1")
        server.files["/a"] = file(b"picture")
        assert await fetched(server, f"http://cdn.example:{port}/a", resolve=resolve) == b"picture"
        assert asked == ["cdn.example"]
        assert server.requests[0].headers["host"] == f"cdn.example:{port}"

    @pytest.mark.parametrize("status", [403, 404, 410, 500])
    async def test_an_expired_address(self, server: LoopbackServer, status: int) -> None:
        server.files["/a"] = file(b"gone", status)
        with pytest.raises(NotFetched, match=f"status {status}") as caught:
            await fetched(server, "/a")
        assert caught.value.status == status

    async def test_a_cap(self, server: LoopbackServer) -> None:
        server.files["/a"] = file(b"x" * 1000)
        assert len(await fetched(server, "/a")) == 1000
        with pytest.raises(NotFetched, match="more than"):
            await fetched(server, "/a", max_bytes=999)

    async def test_nobody_there_and_a_deadline(self, server: LoopbackServer) -> None:
        with serving() as gone:
            address = gone.base_url
        with pytest.raises(NotFetched, match="cannot be reached"):
            await fetch("/a", policy="backend_result", base_url=address, max_bytes=9, timeout_s=5)

        async def slow(host: str, port: int) -> Sequence[str]:
            await asyncio.sleep(5)
            return []

        with pytest.raises(NotFetched) as caught:
            await fetched(server, "http://slow.example/", resolve=slow, timeout_s=0.02)
        assert caught.value.late
