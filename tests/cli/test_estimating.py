"""What a run may take is said without a key and without a call."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from langgraph_interleave.cli.app import run_app

KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "HF_TOKEN", "HUGGINGFACEHUB_API_TOKEN", "MINE")
Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("roles", "needs"),
    [
        (["--planner", "openai:gpt-5", "--critic", "openai:gpt-5", "-b", "openai"], "a key: set OPENAI_API_KEY first."),
        (
            ["--planner", "openai:gpt-5?api_key_env=MINE", "--critic", "none", "-b", "hf_inference:org/painter"],
            "keys: set HF_TOKEN and MINE first.",
        ),
        (["-b", "a=openai", "-b", "b=svg:openai:gpt-5", "--planner", "scene", "--critic", "none"], "OPENAI_API_KEY"),
        (["--planner", "huggingface:org/planner", "--critic", "pixel", "-b", "sketch"], "a key: set HF_TOKEN first."),
    ],
)
def test_an_estimate_needs_no_key_and_says_what_the_run_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, roles: list[str], needs: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    assert run_app(["run", "A bean, in 3 steps", "--estimate", *roles]) == 0
    out = capsys.readouterr().out
    assert out.startswith("3 steps, ") and "nothing was spent" in out
    assert out.splitlines()[-1].startswith("The run itself needs ") and needs in out.splitlines()[-1]
    assert not any(name in os.environ for name in KEYS), "no key is made up for the process"
    assert list(tmp_path.iterdir()) == []


def test_an_estimate_with_keys_says_nothing_of_them(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    assert (
        run_app(["run", "A bean", "--estimate", "--planner", "openai:gpt-5", "--critic", "none", "-b", "openai"]) == 0
    )
    assert "key" not in capsys.readouterr().out
    assert os.environ["OPENAI_API_KEY"] == "sk-mine"


def test_what_else_is_wrong_is_still_said(capsys: Captured) -> None:
    assert run_app(["run", "A bean", "--estimate", "-b", "nobody"]) == 2
    assert "No backend 'nobody' is installed." in capsys.readouterr().err
