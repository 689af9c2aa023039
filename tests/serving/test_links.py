"""Links to artifacts: nobody makes them up, changes them, or uses them past their end."""

from __future__ import annotations

import string
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.serving import Links
from langgraph_interleave.testing import noise_card

SECRET = "a secret of enough bytes"
DIGEST = "ab" * 32
NOW = 1_800_000_000.0


def parts(url: str) -> tuple[str, str, str]:
    split = urlsplit(url)
    query = parse_qs(split.query)
    return split.path.rpartition("/")[2], query["exp"][0], query["sig"][0]


def links(now: float = NOW, **options: object) -> Links:
    return Links(SECRET, clock=lambda: now, **options)  # pyright: ignore[reportArgumentType]


def test_a_link_is_good_until_it_ends() -> None:
    digest, expires, signature = parts(links(lifetime_s=800).url(DIGEST))
    assert digest == DIGEST
    assert NOW + 800 <= int(expires) <= NOW + 900
    assert links(int(expires) - 1).check(digest, expires, signature) == "good"
    assert links(int(expires)).check(digest, expires, signature) == "expired"
    assert links(int(expires) - 30).left(expires) == 30
    assert links(int(expires) + 30).left(expires) == 0


def test_the_same_picture_keeps_its_address_for_a_while() -> None:
    assert links(NOW + 1, lifetime_s=8000).url(DIGEST) == links(NOW + 1000, lifetime_s=8000).url(DIGEST)
    assert links(NOW + 1, lifetime_s=8000).url(DIGEST) != links(NOW + 1001, lifetime_s=8000).url(DIGEST)


def test_another_secret_signs_otherwise() -> None:
    digest, expires, signature = parts(links().url(DIGEST))
    assert Links(SECRET + "!", clock=lambda: NOW).check(digest, expires, signature) == "bad"


def test_a_link_for_somebody_is_good_for_nobody_else() -> None:
    made = links()
    mine = parts(made.url(DIGEST, subject="alice"))
    assert made.check(*mine) == "bad"
    assert made.check(*mine, subjects=(None, "bob")) == "bad"
    assert made.check(*mine, subjects=(None, "alice")) == "good"
    anybody = parts(made.url(DIGEST))
    assert made.check(*anybody, subjects=(None, "bob")) == "good"
    assert made.check(*anybody, subjects=("bob",)) == "bad"


def test_who_a_link_is_for_is_asked_when_its_maker_is_made() -> None:
    asking = ["alice"]
    made = links(subject=lambda: asking[0])
    make = made.bound()
    asking[0] = "bob"
    assert made.check(*parts(make(DIGEST)), subjects=("alice",)) == "good"
    assert made.check(*parts(made.bound()(DIGEST)), subjects=("bob",)) == "good"


@pytest.mark.nightly
@given(st.text(), st.text(string.digits, max_size=14) | st.text(), st.text())
def test_nothing_made_up_is_good(digest: str, expires: str, signature: str) -> None:
    assert links().check(digest, expires, signature) == "bad"


@pytest.mark.nightly
@given(st.integers(0, 150), st.sampled_from(string.ascii_letters + string.digits + "-_"))
def test_any_change_of_a_letter_makes_it_bad(place: int, letter: str) -> None:
    original = "\n".join(parts(links().url(DIGEST)))
    place %= len(original)
    changed = original[:place] + letter + original[place + 1 :]
    fields = changed.split("\n")
    if changed == original or len(fields) != 3:
        return
    digest, expires, signature = fields
    # The last of 43 base64 letters holds two bits that are no part of the signature; those count, too.
    assert links().check(digest, expires, signature) == "bad"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"secret": "short"}, "16"),
        ({"base_url": "pictures.example.org"}, "not the address"),
        ({"base_url": "ftp://example.org"}, "not the address"),
        ({"base_url": "https://example.org/?a=1"}, "not the address"),
        ({"lifetime_s": 0.0}, "no use"),
    ],
)
def test_what_cannot_be_right_is_refused(options: dict[str, object], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        Links(**({"secret": SECRET} | options))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e12])
def test_a_lifetime_that_no_link_can_say_is_refused(seconds: float) -> None:
    with pytest.raises(ConfigError, match="a second to ten years"):
        Links(SECRET, lifetime_s=seconds)


@pytest.mark.parametrize(
    "url", ["http://[", "https://host:abc", "https://host:99999", "https://:80", "https://me:word@host"]
)
def test_an_address_that_no_link_may_begin_with_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="is not the address of a server") as caught:
        Links(SECRET, base_url=url)
    assert "word@" not in str(caught.value), "what is refused may hold a password"


def test_a_store_with_links_says_where_its_pictures_are() -> None:
    store = ArtifactStore.memory(links=links(base_url="https://example.org/lg/"))
    ref = store.put_image(noise_card("a leaf"))
    assert store.link(ref).startswith(f"https://example.org/lg/artifacts/{ref.sha256}?exp=")
    assert store.link(ref) == store.link(ref.uri) == store.link(ref.sha256)
    with pytest.raises(ConfigError, match="not a reference"):
        store.link("../secrets")


def test_a_store_without_links_says_how_to_have_them() -> None:
    with pytest.raises(ConfigError, match=r"links=Links"):
        ArtifactStore.memory().link(DIGEST)
    assert ArtifactStore.memory().linker() is None
