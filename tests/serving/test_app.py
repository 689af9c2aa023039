"""Pictures over HTTP: the right ones, under the right type, and nothing else."""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator

import httpx
import pytest
from PIL import Image
from starlette.authentication import AuthCredentials, AuthenticationBackend, BaseUser, SimpleUser
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.serving import Links, create_app
from langgraph_interleave.testing import noise_card

CARD = noise_card("a leaf", side=32)


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def links(clock: Clock) -> Links:
    return Links("a secret of enough bytes", lifetime_s=3600, clock=clock)


@pytest.fixture
def store(tmp_path: object, links: Links) -> ArtifactStore:
    return ArtifactStore.folder(f"{tmp_path}/store", links=links)


@pytest.fixture
async def client(store: ArtifactStore, links: Links) -> AsyncGenerator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(store, links))
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        yield client


def encoded(form: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 6), "seagreen").save(out, form)
    return out.getvalue()


async def test_a_picture_comes_whole_and_may_be_kept(
    client: httpx.AsyncClient, store: ArtifactStore, clock: Clock
) -> None:
    ref = store.put_image(CARD)
    url = store.link(ref)
    answer = await client.get(url)
    assert (answer.status_code, answer.content) == (200, CARD.data)
    headers = answer.headers
    assert headers["content-type"] == "image/png"
    assert headers["content-length"] == str(len(CARD.data))
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-disposition"] == f'inline; filename="{ref.sha256[:12]}.png"'
    left = int(httpx.URL(url).params["exp"]) - int(clock.now)
    assert headers["cache-control"] == f"private, max-age={left}, immutable"
    assert "sandbox" in headers["content-security-policy"]


async def test_head_says_the_same_without_the_bytes(client: httpx.AsyncClient, store: ArtifactStore) -> None:
    url = store.link(store.put_image(CARD))
    got, headed = await client.get(url), await client.head(url)
    assert headed.status_code == 200
    assert dict(headed.headers) == dict(got.headers)


@pytest.mark.parametrize("given", ['"{}"', 'W/"{}"', '"other", "{}"', "*"])
async def test_who_has_it_is_told_so(client: httpx.AsyncClient, store: ArtifactStore, given: str) -> None:
    ref = store.put_image(CARD)
    answer = await client.get(store.link(ref), headers={"If-None-Match": given.format(ref.sha256)})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == f'"{ref.sha256}"'
    assert (await client.get(store.link(ref), headers={"If-None-Match": '"other"'})).status_code == 200


@pytest.mark.parametrize(("form", "mime"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp")])
async def test_the_type_is_measured_not_believed(
    client: httpx.AsyncClient, store: ArtifactStore, form: str, mime: str
) -> None:
    ref = store.put(encoded(form), mime="text/html")
    assert (await client.get(store.link(ref))).headers["content-type"] == mime


@pytest.mark.parametrize(
    "data",
    [
        b'{"plan": "secret"}',
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<html><script>alert(1)</script>",
        encoded("GIF"),
        b"",
    ],
    ids=["json", "svg", "html", "gif", "nothing"],
)
async def test_what_is_no_picture_is_not_served(client: httpx.AsyncClient, store: ArtifactStore, data: bytes) -> None:
    ref = store.put(data, mime="image/png")
    answer = await client.get(store.link(ref))
    assert (answer.status_code, answer.text) == (404, "There is nothing here.")


async def test_nothing_is_said_of_what_there_is(client: httpx.AsyncClient, store: ArtifactStore) -> None:
    there, missing = store.put_image(CARD), noise_card("elsewhere").sha256
    unsigned = await client.get(f"/artifacts/{there.sha256}?exp=9999999999&sig=AAAA")
    unknown = await client.get(f"/artifacts/{missing}?exp=9999999999&sig=AAAA")
    signed = await client.get(store.link(missing))
    bare = await client.get(f"/artifacts/{there.sha256}")
    assert {(each.status_code, each.text) for each in (unsigned, unknown, signed, bare)} == {
        (404, "There is nothing here.")
    }
    assert unsigned.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/artifacts", "/artifacts/", "/artifacts/..%2f..%2flink-secret?exp=1&sig=a", "/artifacts/%2e%2e/link-secret",
        "/artifacts/..", "/artifacts/\u00e9?exp=9&sig=\u00e9", "/calls", "/",
    ],
)  # fmt: skip
async def test_there_is_no_way_around_and_no_list(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(path)).status_code == 404


async def test_it_only_reads(client: httpx.AsyncClient, store: ArtifactStore) -> None:
    url = store.link(store.put_image(CARD))
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert (await client.request(method, url)).status_code == 405


async def test_an_ended_link_says_so(client: httpx.AsyncClient, store: ArtifactStore, clock: Clock) -> None:
    url = store.link(store.put_image(CARD))
    clock.now += 2 * 3600
    answer = await client.get(url)
    assert answer.status_code == 410
    assert "expired" in answer.text
    assert answer.headers["cache-control"] == "no-store"
    # Ended or made up, a link that was never good says nothing.
    forged = await client.get(url.replace("sig=", "sig=A"))
    assert forged.status_code == 404


async def test_a_damaged_picture_is_not_there(
    client: httpx.AsyncClient, store: ArtifactStore, tmp_path: object
) -> None:
    from pathlib import Path

    ref = store.put_image(CARD)
    (Path(str(tmp_path)) / "store" / "artifacts" / ref.sha256[:2] / ref.sha256).write_bytes(encoded("PNG"))
    assert (await client.get(store.link(ref))).status_code == 404


class ByHeader(AuthenticationBackend):
    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser] | None:
        name = conn.headers.get("authorization")
        return (AuthCredentials(), SimpleUser(name)) if name else None


async def test_where_users_are_known_a_link_is_for_one_of_them(clock: Clock) -> None:
    links = Links("a secret of enough bytes", subject=lambda: "alice", clock=clock)
    store = ArtifactStore.memory(links=links)
    app = create_app(store, links)
    app.user_middleware.append(Middleware(AuthenticationMiddleware, backend=ByHeader()))
    url = store.link(store.put_image(CARD))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        status = [
            (await client.get(url, headers={"Authorization": name} if name else {})).status_code
            for name in ("alice", "bob", "")
        ]
    assert status == [200, 404, 404]
