"""Servers of one's own, which may cost nothing."""

from __future__ import annotations

import pytest

from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.money import free_perhaps, hint_of, own_server
from langgraph_interleave.registry import init_critic


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


def test_only_what_counts_as_billed_is_spoken_of() -> None:
    here = "?base_url=http://127.0.0.1:1234/v1"
    paid, free = (init_image_backend(f"openai:flux{here}{more}") for more in ("", "&profile=sdcpp"))
    assert hint_of((None, None), (f"openai:flux{here}&profile=sdcpp", free), ("pixel", init_critic("pixel"))) == ""
    assert hint_of((f"openai:flux{here}", paid)).endswith('add "&billed=false" to openai:flux?….')
    assert hint_of((("a=sketch", f"b=openai:flux{here}"), paid)).endswith("to b=openai:flux?….")


def test_a_run_says_so_before_it_begins(capsys: pytest.CaptureFixture[str]) -> None:
    planner = "openai:qwen?base_url=http://127.0.0.1:9/v1"
    words = ["run", "A cat", "--planner", planner, "--backend", "sketch", "--critic", "pixel", "--estimate"]
    assert run_app(words) == 0
    assert 'add "&billed=false" to openai:qwen?….' in capsys.readouterr().out
