"""`langgraph-interleave check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langgraph_interleave.cli.app import run_app
from langgraph_interleave.testing.conformance import ITEMS


def test_the_report_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["check", "sketch"]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert len(lines) == len(ITEMS) + 1
    for item in ITEMS:
        assert any(f" {item.name} " in line for line in lines), item.name
    assert " 0 failed" in lines[-1] and lines[-1].endswith("no cost")
    assert said.err.startswith("Up to ") and said.err.rstrip().endswith("calls, free of charge.")


def test_the_report_as_json_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["check", "simulator:hard", "--json", "--size", "96x64"]) == 0
    said = capsys.readouterr()
    report = json.loads(said.out)
    assert report["ok"] and report["backend"] == "simulator"
    assert next(one for one in report["findings"] if one["item"] == "draws")["says"].startswith("Drew 96x64")


def test_what_fails_is_exit_code_1(working: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["check", "scripted"]) == 1
    said = capsys.readouterr().out
    assert "\nfailed " in said


def test_money_is_asked_for(working: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["check", "billed"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "billed, and the check makes up to " in said.err and "Say --yes" in said.err
    assert run_app(["check", "billed", "--yes", "--max-calls", "2"]) == 1
    said = capsys.readouterr()
    assert said.err == "Up to 2 calls, each of them billed.\n"
    assert "· 2 calls," in said.out.splitlines()[-1]


@pytest.mark.parametrize(("words", "says"), [
    (["check", "nothing"], "No backend 'nothing' is installed."),
    (["check", "sketch", "--size", "large"], "--size 'large' is not a size. Write WIDTHxHEIGHT"),
    (["check", "sketch", "--size", "0x5"], "is not a size"),
])  # fmt: skip
def test_usage(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(words) == 2
    assert says in capsys.readouterr().err
