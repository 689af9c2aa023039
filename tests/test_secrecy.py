"""Secrets by their values: which there are, and text without them."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from langgraph_interleave.secrecy import (
    HIDDEN,
    is_secret_name,
    public,
    secrets_in,
    secrets_of_environment,
    secrets_of_headers,
    without,
)

keys = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=8, max_size=30)


@pytest.mark.nightly
@given(keys, st.text(max_size=10), st.text(max_size=10))
def test_no_writing_of_a_secret_is_left(key: str, before: str, after: str) -> None:
    for written in (key, quote(key, safe=""), quote_plus(key), json.dumps(key)[1:-1], repr(key)[1:-1]):
        assert without(written, [key]) == HIDDEN
    encoded = base64.b64encode((before + key + after).encode("utf-8", "surrogatepass")).decode()
    left = without(encoded, [key])
    whole = base64.b64encode(key.encode()[2:-2][: (len(key.encode()) - 4) // 3 * 3]).decode()
    assert left != encoded or len(key.encode()) < 10
    assert key not in left and (len(whole) < 8 or whole not in left)


def test_a_secret_that_ends_in_a_backslash_leaves_nothing_of_its_spelling_in_json() -> None:
    assert without(r"0000000\\", ["0000000\\"]) == HIDDEN


@pytest.mark.parametrize(
    "name", ["api_key", "OPENAI_API_KEY", "X-Api-Key", "Authorization", "hf_token", "client_secret", "password", "sig",
             "Cookie", "DATABASE_DSN", "ocp-apim-subscription-key", "aws_secret_access_key"],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["model", "max_tokens", "max_completion_tokens", "TOKENIZERS_PARALLELISM", "monkey", "keyboard", "size",
             "author", "stop", "n", "SSH_AUTH_SOCK", "AWS_WEB_IDENTITY_TOKEN_FILE", "temperature", "user"],
)  # fmt: skip
def test_names_of_no_secrets(name: str) -> None:
    assert not is_secret_name(name)


def test_holders() -> None:
    assert secrets_in({"headers": {"X-Gateway": "abcdefghijkl", "Accept": "application/json"}}) == {"abcdefghijkl"}
    assert secrets_in(SecretStr("hunter22"), {"a": [{"api_key": ["deep1234"]}]}) == {"hunter22", "deep1234"}
    assert secrets_in("https://tok12345@host/") == {"tok12345"}
    assert secrets_in({"model": "gpt-5", "max_tokens": 1000, "user": "somebody"}, None, "") == frozenset()
    basic = base64.b64encode(b"me:hunter22").decode()
    assert secrets_of_headers({"Authorization": f"Basic {basic}"}) >= {basic, "hunter22"}
    assert secrets_of_headers({"User-Agent": "x" * 40, "X-Stainless-Lang": "python-and-more"}) == frozenset()


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "abcd-efgh-1234")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:pass9999@proxy:1")
    assert secrets_of_environment() >= {"abcd-efgh-1234", "pass9999"}
    assert public("it said abcd-efgh-1234") == f"it said {HIDDEN}"
