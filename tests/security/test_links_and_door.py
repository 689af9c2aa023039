"""Links to pictures that were tampered with, and requests that should not come in."""

from __future__ import annotations

import inspect
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_bench import outfit
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from langgraph_interleave.agents.mcp_server import Shelf, Workshop, create_mcp_server, door, http_app
from langgraph_interleave.agents.mcp_server.door import Door, is_loopback
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.serving import Links, create_app, links
from langgraph_interleave.testing import noise_card

SECRET, KEY = "0123456789abcdef", "a-key-of-enough-characters"
NOW = 1_800_000_000.0


class Served:
    """Two pictures, a plan and a drawing behind links; `after` seconds later."""

    def __init__(self, after: float = 0.0, secret: str = SECRET) -> None:
        self.store = ArtifactStore.memory()
        self.mine = self.store.put_image(noise_card("mine"))
        self.other = self.store.put_image(noise_card("other"))
        self.plan = self.store.put_json({"plan": "secret"})
        self.drawing = self.store.put(b"<svg xmlns='http://www.w3.org/2000/svg' onload='x'/>", mime="image/png").sha256
        self.made = Links(SECRET, lifetime_s=3600, clock=lambda: NOW)
        self.app: Starlette = create_app(self.store, Links(secret, lifetime_s=3600, clock=lambda: NOW + after))

    def link(self, digest: str | None = None, subject: str | None = None) -> str:
        return self.made.url(digest or self.mine.sha256, subject=subject)

    async def get(self, path: str, method: str = "GET") -> httpx.Response:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://pictures.example") as client:
            return await client.request(method, path)


def without(url: str, name: str) -> str:
    path, _, query = url.partition("?")
    return f"{path}?{'&'.join(part for part in query.split('&') if not part.startswith(name))}"


def signed(served: Served, signature: str) -> str:
    return f"{without(served.link(), 'sig')}&sig={signature}"


def other_end(url: str, end: str) -> str:
    kept = url.partition("&sig=")[2]
    return f"{url.partition('?')[0]}?exp={end}&sig={kept}"


TAMPERED: dict[str, Any] = {
    "another digest": lambda served: served.link().replace(served.mine.sha256, served.other.sha256),
    "no signature": lambda served: without(served.link(), "sig"),
    "an empty signature": lambda served: signed(served, ""),
    "no end": lambda served: without(served.link(), "exp"),
    "a later end": lambda served: other_end(served.link(), str(int(NOW) + 10**7)),
    "an end with a sign": lambda served: other_end(served.link(), f"+{int(NOW) + 10**7}"),
    "an end with a nought": lambda served: served.link().replace("exp=", "exp=0"),
    "an end with a space": lambda served: served.link().replace("exp=", "exp=%20"),
    "an end with a dot": lambda served: served.link().replace("&sig", ".0&sig"),
    "an end in wide digits": lambda served: other_end(served.link(), "\uff11\uff18" * 5),
    "no end at all": lambda served: other_end(served.link(), "inf"),
    "an end beyond numbers": lambda served: other_end(served.link(), "9" * 400),
    "two ends": lambda served: f"{served.link()}&exp={int(NOW) + 10**7}",
    "a signature cut short": lambda served: served.link()[:-1],
    "a signature with more": lambda served: f"{served.link()}A",
    "a signature padded": lambda served: f"{served.link()}=",
    "a signature in capitals": lambda served: signed(served, served.link()[-43:].swapcase()),
    "a signature of noughts": lambda served: signed(served, "A" * 43),
    "the signature of another": lambda served: signed(served, served.link(served.other.sha256)[-43:]),
    "somebody's own": lambda served: served.link(subject="alice"),
    "a digest in capitals": lambda served: served.link().replace(served.mine.sha256, served.mine.sha256.upper()),
    "a digest cut short": lambda served: served.link().replace(served.mine.sha256, served.mine.sha256[:-1]),
    "a digest and more": lambda served: served.link().replace("?", "/../x?"),
    "a digest and a line": lambda served: served.link().replace("?", "%0a?"),
    "up": lambda served: served.link().replace(served.mine.sha256, "..%2f..%2fetc%2fpasswd"),
    "a plan": lambda served: served.link(served.plan),
    "a drawing that says it is a picture": lambda served: served.link(served.drawing),
    "what is not there": lambda served: served.link("ab" * 32),
    "the list": lambda served: "/artifacts/",
    "the root": lambda served: "/",
    "the calls": lambda served: "/calls/run/",
    "the secret": lambda served: "/artifacts/link-secret",
    "not a character": lambda served: f"{served.link()}%ff%fe",
}


@pytest.mark.parametrize("tampered", TAMPERED.values(), ids=TAMPERED.keys())
async def test_a_link_that_was_not_made_here_shows_nothing(tampered: Any) -> None:
    served = Served()
    assert (await served.get(served.link())).status_code == 200
    answer = await served.get(tampered(served))
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/plain") and b"PNG" not in answer.content


async def test_a_link_ends_and_one_of_another_secret_is_none() -> None:
    served = Served()
    assert (await Served(after=3 * 3600).get(served.link())).status_code == 410
    assert (await Served(after=3 * 3600).get(other_end(served.link(), str(int(NOW) + 10**7)))).status_code == 404
    assert (await Served(secret="f" * 16).get(served.link())).status_code == 404
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert (await served.get(served.link(), method)).status_code == 405


async def test_what_is_served_runs_nowhere() -> None:
    served = Served()
    headers = (await served.get(served.link())).headers
    assert headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert headers["x-content-type-options"] == "nosniff" and headers["content-type"] == "image/png"


@given(digest=st.text(max_size=80), end=st.text(max_size=14), signature=st.text(max_size=50))
def test_nobody_guesses_a_link(digest: str, end: str, signature: str) -> None:
    assert Links(SECRET, clock=lambda: NOW).check(digest, end, signature) == "bad"


@pytest.mark.parametrize("module", [door, links])
def test_secrets_are_compared_in_constant_time(module: Any) -> None:
    source = inspect.getsource(module)
    assert "compare_digest" in source
    assert "== self._key" not in source and "== self._secret" not in source and "== signature" not in source


async def inside(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("inside")(scope, receive, send)


async def knock(*headers: tuple[str, str], key: str | None = KEY) -> int:
    here = Door(inside, key=key, names=("pictures.example",))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(here), base_url="http://pictures.example") as client:
        return (await client.post("/mcp", headers=list(headers))).status_code


HOSTS = (
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil-localhost",
    "pictures.example.evil.example",
    "xpictures.example",
    "pictures.example@evil.example",
    "evil.example#pictures.example",
    "evil.example/pictures.example",
    "[::1",
    "127.0.0.1.nip.io",
    "0x7f000001",
    "2130706433",
    "127.1",
    "",
    "*",
    "null",
    "pictures.example\\evil.example",
)
ORIGINS = (
    "https://evil.example",
    "null",
    "http://192.0.2.7",
    "http://127.0.0.1.evil.example",
    "file://",
    "data:text/html,x",
    "https://pictures.example.evil.example",
    "https://pictures.example@evil.example",
    "chrome-extension://abc",
    "http://[::1",
    "",
    "https://evil.example#pictures.example",
    "*",
    "http://0.0.0.0",
)
KEYS = (
    "",
    "Bearer",
    "Bearer ",
    KEY,
    f"Basic {KEY}",
    f"Bearer {KEY[:-1]}",
    f"Bearer {KEY}x",
    f"Bearer {KEY.upper()}",
    f"Bearer  {KEY[1:]}",
    "Bearer null",
    "Bearer undefined",
    f"Bearer {KEY}, Bearer {KEY}",
    f"Bearer{KEY}",
    f"Token {KEY}",
    f"Bearer {KEY}\t{KEY}",
    "Bearer *",
)


@pytest.mark.parametrize("host", HOSTS)
async def test_no_other_name_opens(host: str) -> None:
    assert await knock(("authorization", f"Bearer {KEY}")) == 200
    assert await knock(("host", host), ("authorization", f"Bearer {KEY}")) == 421
    assert await knock(("host", host), key=None) == 421


@pytest.mark.parametrize("origin", ORIGINS)
async def test_no_other_page_opens(origin: str) -> None:
    assert await knock(("origin", origin), ("authorization", f"Bearer {KEY}")) == 403
    assert await knock(("origin", origin), key=None) == 403


@pytest.mark.parametrize("key", KEYS)
async def test_no_other_key_opens(key: str) -> None:
    assert await knock(("authorization", key)) == 401


@pytest.fixture(scope="module")
def server() -> Any:
    return create_mcp_server(Workshop(Shelf.memory(), outfit()))


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.0.2.7", "10.0.0.1", "pictures.example", "", "127.0.0.1.example", "::ffff:0:0"]
)
@pytest.mark.parametrize("key", [None, "", "short", "ünicode-key-of-length"])
def test_elsewhere_than_on_the_loopback_there_is_a_key(server: Any, host: str, key: str | None) -> None:
    assert not is_loopback(host)
    with pytest.raises(ConfigError):
        http_app(server, host=host, key=key)
