"""Pictures by their address: public ones where the program's owner asks for it, and nothing else."""

from __future__ import annotations

import asyncio
import gzip
import socket
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import hostile
import pytest
from hypothesis import given
from hypothesis import strategies as st
from witness import watched

from langgraph_interleave import urls
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.job import load_pictures
from langgraph_interleave.cli.typed import Options
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging import aimage_part, fetch_image, image_part, is_web_address
from langgraph_interleave.testing import noise_card
from langgraph_interleave.urls import NotFetched, fetch, is_public, origin_of

PUBLIC = "93.184.216.34"


def resolving(*answers: Sequence[str] | str) -> urls.Resolver:
    """A resolver that answers one after the other; the last again and again."""
    left = list(answers)

    async def resolve(host: str, port: int) -> Sequence[str]:
        found = left.pop(0) if len(left) > 1 else left[0]
        return [found] if isinstance(found, str) else found

    return resolve


async def numbers_only(host: str, port: int) -> Sequence[str]:
    """The system's own reading of numbers; a name is one of the inside."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except OSError:
        return ["10.0.0.7"]
    return [str(entry[4][0]) for entry in found]


@pytest.fixture
def unsent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Requests that were sent; nothing is."""
    sent: list[str] = []

    async def once(client: Any, place: Any, addresses: Sequence[str], headers: Any, max_bytes: int) -> bytes:
        sent.append(addresses[0])
        return b"sent"

    monkeypatch.setattr(urls, "_once", once)
    return sent


async def refused(address: str, resolve: urls.Resolver | None = None, **options: Any) -> NotFetched:
    settings: dict[str, Any] = {"max_bytes": 1000, "timeout_s": 5.0, **options}
    with pytest.raises(NotFetched) as caught:
        await fetch(address, policy="typed", resolve=resolve, **settings)
    assert caught.value.remedy == "Download the file and pass its path or bytes."
    return caught.value


@pytest.mark.parametrize("number", hostile.INSIDE.values(), ids=hostile.INSIDE.keys())
async def test_no_number_of_the_inside(number: str, unsent: list[str]) -> None:
    assert not is_public(number.replace("%25", "%"))
    host = f"[{number}]" if ":" in number else number
    await refused(f"http://{host}/a.png", numbers_only)
    # Nor by a name, alone or beside a public one, and not at a redirect.
    plain = number.replace("%25", "%")
    assert "not public" in (await refused("https://pictures.example/a.png", resolving(plain))).reason
    assert "not public" in (await refused("https://pictures.example/a.png", resolving([PUBLIC, plain]))).reason
    assert unsent == []


@pytest.mark.parametrize("address", hostile.SPELLINGS.values(), ids=hostile.SPELLINGS.keys())
async def test_no_spelling_leads_inside(address: str, unsent: list[str]) -> None:
    await refused(address, numbers_only)
    assert unsent == []


@pytest.mark.parametrize("address", [*hostile.SPELLINGS.values(), "https://example.org/a.png", f"http://{PUBLIC}/"])
async def test_nothing_that_was_given_is_fetched(address: str, unsent: list[str]) -> None:
    with pytest.raises(NotFetched):
        await fetch(address, policy="given", max_bytes=1000, timeout_s=5, resolve=resolving(PUBLIC))
    assert unsent == []


async def test_a_public_one_is_fetched_by_the_address_that_was_judged(unsent: list[str]) -> None:
    # The name is looked up once: the second answer, which leads inside, is never asked for.
    resolve = resolving(PUBLIC, "127.0.0.1")
    for address in ("https://pictures.example/a.png", "http://pictures.example:8080/a.png"):
        assert await fetch(address, policy="typed", max_bytes=9, timeout_s=5, resolve=resolve) == b"sent"
        resolve = resolving(PUBLIC, "127.0.0.1")
    assert unsent == [PUBLIC, PUBLIC]


def test_a_name_that_looks_like_another_is_told_as_it_is() -> None:
    assert origin_of("https://аррӏе.com/") == ("https", "xn--80ak6aa92e.com", 443)


@given(st.ip_addresses())
def test_an_address_is_public_or_it_is_not(ip: Any) -> None:
    assert is_public(str(ip)) in (True, False)
    if ip.is_private or ip.is_loopback or ip.is_link_local or ip.is_multicast:
        assert not is_public(str(ip))


@given(st.ip_addresses(v=4))
def test_what_is_carried_inside_is_judged(ip: Any) -> None:
    number = int(ip)
    hexadecimal = f"{number >> 16:x}:{number & 0xFFFF:x}"
    for outer in (f"::ffff:{ip}", f"64:ff9b::{hexadecimal}", f"2002:{hexadecimal}::1"):
        assert is_public(outer) == is_public(str(ip))


def head(status: str = "200 OK", *lines: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


def sent_on(place: str) -> bytes:
    return head("302 Found", f"location: {place}", "content-length: 0")


@contextmanager
def answering(*pieces: bytes, drip_s: float = 0.0, again: bool = False) -> Generator[int]:
    """A server that says just that to everybody, a piece at a time; with `again` the last one for ever."""
    bound = socket.create_server(("127.0.0.1", 0))
    bound.settimeout(0.05)
    over: list[bool] = []

    def talk(wire: socket.socket) -> None:
        with wire:
            wire.settimeout(2)
            try:
                wire.recv(65536)
                for piece in pieces:
                    wire.sendall(piece)
                    time.sleep(drip_s)
                while again and not over:
                    wire.sendall(pieces[-1])
                    time.sleep(drip_s)
            except OSError:
                return

    def serve() -> None:
        talking: list[Thread] = []
        while not over:
            try:
                wire, _ = bound.accept()
            except TimeoutError:
                continue
            talking.append(Thread(target=talk, args=(wire,)))
            talking[-1].start()
        for thread in talking:
            thread.join()

    serving = Thread(target=serve)
    serving.start()
    try:
        yield bound.getsockname()[1]
    finally:
        over.append(True)
        serving.join()
        bound.close()


@pytest.fixture
def as_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server of a test stands for a public one; every other address is judged as ever."""
    judged = urls.is_public
    monkeypatch.setattr(urls, "is_public", lambda address: address == "127.0.0.1" or judged(address))
    monkeypatch.setattr(urls, "_WEB_PORTS", range(1, 65536))


ANSWERS: dict[str, tuple[tuple[bytes, ...], str]] = {
    "to metadata": ((sent_on("http://169.254.169.254/latest/meta-data/"),), "not public"),
    "to metadata, no scheme": ((sent_on("//169.254.169.254/latest/"),), "not public"),
    "to the private": ((sent_on("http://192.168.0.1/"),), "not public"),
    "to loopback 6": ((sent_on("http://[::1]/"),), "not public"),
    "to mapped": ((sent_on("http://[::ffff:10.0.0.1]/"),), "not public"),
    "to a file": ((sent_on("file:///etc/passwd"),), "no plain"),
    "to data": ((sent_on("data:image/png;base64,AAAA"),), "no plain"),
    "to ftp": ((sent_on("ftp://127.0.0.1/a"),), "no plain"),
    "to gopher": ((sent_on("gopher://127.0.0.1:6379/_x"),), "no plain"),
    "to javascript": ((sent_on("javascript:alert(1)"),), "no plain"),
    "with a user": ((sent_on("http://user:secret@127.0.0.1/"),), "no plain"),
    "to itself": ((sent_on("/a.png"),), "redirects more than 5"),
    "to nothing": ((sent_on(""),), "redirects more than 5"),
    "with a broken place": ((sent_on("http://[::1/"),), "broke off"),
    "with a space": ((sent_on("http://127.0.0.1 /"),), "no plain"),
    "compressed": ((head("200 OK", "content-encoding: gzip"), gzip.compress(bytes(10_000_000))), "compressed"),
    "compressed twice": ((head("200 OK", "content-encoding: gzip, br"), b"x"), "compressed"),
    "too long, and says so": ((head("200 OK", "content-length: 999999999"), b"x"), "more than"),
    "too long, and lies": ((head("200 OK"), b"x" * 5000), "more than"),
    "shorter than it says": ((head("200 OK", "content-length: 900"), b"x"), "broke off"),
    "two lengths": ((head("200 OK", "content-length: 1", "content-length: 2"), b"xx"), "broke off"),
    "a length that is none": ((head("200 OK", "content-length: -1"), b"x"), "broke off"),
    "chunks that are none": ((head("200 OK", "transfer-encoding: chunked"), b"zz\r\nx"), "broke off"),
    "a chunk too large": ((head("200 OK", "transfer-encoding: chunked"), b"2000\r\n" + b"x" * 0x2000), "more than"),
    "no HTTP": ((b"SSH-2.0-OpenSSH_9.6\r\n",), "broke off"),
    "nothing at all": ((b"",), "broke off"),
    "a head without end": ((head()[:-2] + b"x: y\r\n" * 100_000,), "broke off"),
    "not there": ((head("404 Not Found", "content-length: 0"),), "status 404"),
    "asks for a key": ((head("401 Unauthorized", "www-authenticate: Basic", "content-length: 0"),), "status 401"),
    "a part": ((head("206 Partial Content", "content-length: 1"), b"x"), "status 206"),
}


@pytest.mark.server
@pytest.mark.usefixtures("as_public")
class TestAnswers:
    @pytest.mark.parametrize(("pieces", "reason"), ANSWERS.values(), ids=ANSWERS.keys())
    async def test_no_answer_leads_astray(self, pieces: tuple[bytes, ...], reason: str) -> None:
        with answering(*pieces) as port:
            assert reason in (await refused(f"http://127.0.0.1:{port}/a.png")).reason

    @pytest.mark.parametrize(
        ("pieces", "cap"),
        [
            ((head("200 OK"), b"x"), 10**9),
            ((head()[:-2], b"x: y\r\n"), 10**9),
            ((b"HTTP/1.1 100 Continue\r\n\r\n",), 10**9),
            ((head("200 OK", "transfer-encoding: chunked"), b"1\r\nx\r\n"), 10**9),
        ],
        ids=["body", "head", "hold on", "chunks"],
    )
    async def test_what_drips_without_end_is_given_up(self, pieces: tuple[bytes, ...], cap: int) -> None:
        with answering(*pieces, drip_s=0.02, again=True) as port:
            begun = time.monotonic()
            error = await refused(f"http://127.0.0.1:{port}/", max_bytes=cap, timeout_s=0.4)
        assert error.late or "broke off" in error.reason
        assert time.monotonic() - begun < 5

    async def test_what_floods_without_end_is_cut_at_the_cap(self) -> None:
        with answering(head("200 OK"), b"x" * 65536, again=True) as port:
            assert "more than" in (await refused(f"http://127.0.0.1:{port}/", max_bytes=1_000_000)).reason

    async def test_never_from_https_on_to_http(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def once(*_: object) -> tuple[str]:
            return ("http://pictures.example/a.png",)

        monkeypatch.setattr(urls, "_once", once)
        assert "nothing is encrypted" in (await refused("https://pictures.example/a.png", resolving(PUBLIC))).reason

    async def test_nothing_but_the_address_is_sent(self) -> None:
        got: list[bytes] = []

        async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            got.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(head("200 OK", "content-length: 1", "set-cookie: a=b") + b"x")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(hear, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            for _ in range(2):
                assert await fetch(f"http://127.0.0.1:{port}/a?sig=1", policy="typed", max_bytes=9, timeout_s=5) == b"x"
        assert all(b"cookie" not in one.lower() and b"authorization" not in one.lower() for one in got)
        assert got[0].startswith(b"GET /a?sig=1 HTTP/1.1\r\n")

    @pytest.mark.parametrize(
        ("mime", "body"),
        [
            ("image/png", b"<svg xmlns='http://www.w3.org/2000/svg' onload='x'/>"),
            ("image/png", b"<html><script>x</script>"),
            ("image/png", b"\x89PNG\r\n\x1a\n" + b"x" * 50),
            ("image/jpeg", b""),
            ("image/png", b"%PDF-1.7"),
            ("image/svg+xml", b"<svg/>"),
        ],
        ids=["svg", "html", "broken", "empty", "pdf", "drawing"],
    )
    async def test_what_says_it_is_a_picture_and_is_none(self, mime: str, body: bytes) -> None:
        first = head("200 OK", f"content-type: {mime}", f"content-length: {len(body)}")
        with answering(first, body) as port, pytest.raises(ConfigError):
            await fetch_image(f"http://127.0.0.1:{port}/a.png")

    async def test_at_every_door_of_the_owner(self, tmp_path: Path) -> None:
        picture = noise_card("leaf", side=8).data
        artifacts = ArtifactStore.memory()
        lines = ("content-type: text/plain", f"content-length: {len(picture)}")
        with answering(head("200 OK", *lines), picture) as port:
            address = f"http://127.0.0.1:{port}/my%20leaf.png?sig=secret"
            block = await aimage_part(address, artifacts, fetch=True)
            assert block["mime_type"] == "image/png" and block["extras"]["name"] == "my leaf.png"
            assert image_part(address, artifacts, fetch=True)["url"] == block["url"]
            ((_, name),) = load_pictures(Options("x", images=(address,)), tmp_path)
            assert name == "my leaf.png"
        # Without the word it is refused, and nobody is asked.
        with watched() as seen, pytest.raises(ConfigError, match="fetch=True"):
            image_part(address, artifacts)
        assert seen.hosts == []


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://example.org/a/leaf.png?x=1#y", "leaf.png"),
        ("https://example.org/", "example.org"),
        ("https://example.org/..%2f..%2fetc%2fpasswd", "passwd"),
        ("https://example.org/a%5c..%5cx.png", "x.png"),
        ("https://example.org/%00%1b%5b2J%e2%80%ae.png", "[2J.png"),
        (f"https://example.org/{'a' * 900}", "a" * 80),
    ],
)
async def test_what_it_is_called_is_no_path(address: str, name: str) -> None:
    with pytest.raises(ConfigError, match="not public") as caught:
        await fetch_image(address, resolve=resolving("10.0.0.1"))
    assert repr(name) in str(caught.value)


def test_only_the_two_schemes_are_of_the_web() -> None:
    assert all(map(is_web_address, ("HTTPS://a", " http://a")))
    assert not any(map(is_web_address, ("httpx://a", "https:/a", "ftp://a", "a.png", "http/a")))
