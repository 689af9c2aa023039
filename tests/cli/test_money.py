"""Servers of one's own, which may cost nothing."""

from __future__ import annotations

import pytest

from langgraph_interleave.cli.money import free_perhaps, own_server


@pytest.mark.parametrize(("name", "host"), [
    ("openai:flux?base_url=http://127.0.0.1:8000/v1", "127.0.0.1"),
    ("openai:flux?base_url=http://[::1]:8000/v1&quality=low", "::1"),
    ("svg:openai:qwen?base_url=http://localhost:8000/v1", "localhost"),
    ("openai:flux?base_url=http://192.168.1.7/v1", "192.168.1.7"),
    ("openai:flux?base_url=http://gpu.local/v1", "gpu.local"),
    ("openai:flux?base_url=http://127.0.0.1:8000/v1&billed=true", None),
    ("openai:flux?base_url=http://127.0.0.1:8000/v1&billed=false", None),
    ("openai:flux?base_url=https://api.example.org/v1", None),
    ("openai:flux?base_url=http://8.8.8.8/v1", None),
    ("openai:flux?base_url=http://[broken/v1", None),
    ("openai", None), ("sketch", None), ("", None),
])  # fmt: skip
def test_which_servers_are_ones_own(name: str, host: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert own_server(name) == host


def test_the_address_may_be_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:4000/v1")
    assert own_server("openai:gpt-image-2") == "127.0.0.1"
    assert own_server("sketch") is None
    assert free_perhaps(["openai:gpt-image-2"]).endswith('add "?billed=false" to openai:gpt-image-2.')
