"""`langgraph-interleave run` with real models on all three sides, over loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from loopback import LoopbackServer, serving
from loopback_answers import Recorded
from loopback_replies import Chat, Reply

from langgraph_interleave.cli.app import run_app
from langgraph_interleave.prices import ENVIRONMENT

STEP = {"title": "Pot", "op": "generate", "instruction": "A pot.", "prompt": "A pot", "caption": "Take.", "sources": []}
BEAN = {**STEP, "title": "Bean", "op": "edit", "prompt": "Add a bean", "sources": ["step:0"]}
STYLE = {"look": "ink", "palette": "", "characters": "", "keep": ""}
PLAN = {"reasoning": "x", "title": "A bean", "style_guide": STYLE, "first_number": 1, "steps": [STEP, BEAN]}
SCORES = {"semantics": 9, "quality": 9, "consistency": None}
ACCEPT = {"reasoning": "All there.", "scores": SCORES, "verdict": "accept", "refined_prompt": None}


def models(request: Recorded) -> Reply:
    plans = str(request.body["messages"][0]["content"]).startswith("You plan")
    return Chat(text=json.dumps(PLAN if plans else ACCEPT))


def command(url: str, folder: Path, *more: str, image: str = "gpt-image-2.6-flare") -> list[str]:
    chat = f"openai:gpt-5-mini?base_url={url}"
    roles = ["--backend", f"openai:{image}?base_url={url}", "--planner", chat, "--critic", chat]
    return ["run", "Plant a bean", *roles, "--out", str(folder), "--size", "256x256", "--no-open", *more]


def test_a_complete_run(loopback: LoopbackServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loopback.script("chat", models)
    assert run_app(command(loopback.base_url, tmp_path / "bean")) == 0
    said = capsys.readouterr().out
    assert "complete" in said
    assert "$0." in said, "the table knows what both models cost"
    assert "A bean" in (tmp_path / "bean" / "index.html").read_text(encoding="utf-8")
    assert len(list((tmp_path / "bean" / "images").iterdir())) >= 2
    before = loopback.total
    assert run_app(command(loopback.base_url, tmp_path / "bean")) == 0
    assert loopback.total == before, "the same command pays nothing twice"


def test_a_wrong_key_is_one_line_before_anything_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-0000000000")
    with serving(key="sk-right-0000000000") as server:
        assert run_app(command(server.base_url, tmp_path / "bean")) == 2
        assert server.total.requests == server.counts["models"].requests > 0
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert "OPENAI_API_KEY" in told.err
    assert "sk-wrong" not in told.err + told.out
    assert not (tmp_path / "bean").exists()


@pytest.mark.parametrize("role", ["backend", "planner"])
def test_a_missing_key_is_one_line(role: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roles = ["--planner", "openai:gpt-5", "--critic", "openai:gpt-5"]
    roles += ["--backend", "openai"] if role == "backend" else []
    assert run_app(["run", "x", *roles, "--out", str(tmp_path / "x")]) == 2
    told = capsys.readouterr().err
    assert "OPENAI_API_KEY is not set" in told
    assert told.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_nobody_there_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(command("http://127.0.0.1:9/v1", tmp_path / "bean")) == 1
    told = capsys.readouterr().err
    assert "127.0.0.1" in told
    assert told.count("\n") == 1
    assert not (tmp_path / "bean").exists()


def test_an_estimate_spends_and_writes_nothing(
    loopback: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    asked = command(loopback.base_url, tmp_path / "bean", "--estimate", "--steps", "4", "--max-attempts", "2")
    assert run_app(asked) == 0
    said = capsys.readouterr().out
    rows = {line.split("  ")[0]: line.split() for line in said.splitlines()}
    assert rows["drawing"][1:3] == ["4", "5.2"]
    assert "nothing was spent" in said
    assert "$" in said
    assert loopback.total.requests == 0
    assert list(tmp_path.iterdir()) == []


def test_how_to_ask_can_be_said_in_the_name(loopback: LoopbackServer, tmp_path: Path) -> None:
    tagged: dict[str, Any] = {
        "step_number": 1, "step_name": "Pot", "instruction": "A pot", "prompt": "A pot", "auxiliary_text": "Take.",
    }  # fmt: skip
    plan = f"<think>x</think><answer>{{'execution_plan': [{tagged!r}]}}</answer>"
    verdict = "<think>A pot.</think><answer>{'previous_step_success': True, 'refine_prompt': 'A pot'}</answer>"

    def answer(request: Recorded) -> Reply:
        assert "response_format" not in request.body
        return Chat(text=plan if str(request.body["messages"][0]["content"]).startswith("You plan") else verdict)

    loopback.script("chat", answer)
    url = loopback.base_url
    roles = [
        "--planner", f"openai:InterleaveThinker-Planner-8B?base_url={url}&output=tagged&billed=false",
        "--critic", f"huggingface:InterleaveThinker-Critic-8B?base_url={url}&output=tagged&billed=false",
    ]  # fmt: skip
    assert run_app(["run", "A pot", "--backend", "sketch", *roles, "--out", str(tmp_path / "pot"), "--no-open"]) == 0
