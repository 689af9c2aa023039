"""`langgraph-interleave check`."""

from __future__ import annotations

import io
import json
import sys
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


@pytest.mark.parametrize(("backend", "code", "says"), [
    ("unplugged", 1, "Error: Nobody is there. Start the server."),
    ("unset", 2, "Error: There is no such model. Fetch it."),
])  # fmt: skip
def test_what_is_missing_is_one_line_with_the_remedy(
    working: Path, capsys: pytest.CaptureFixture[str], backend: str, code: int, says: str
) -> None:
    assert run_app(["check", backend]) == code
    said = capsys.readouterr()
    assert said.err.splitlines()[-1] == says
    assert said.out.startswith("passed ") and len(said.out.splitlines()) == 1, "the item before: what it says of itself"
    assert run_app(["check", backend, "--json"]) == code
    said = capsys.readouterr()
    report = json.loads(said.out)
    assert [one["item"] for one in report["findings"]] == ["contract", "draws"]
    assert report["ok"] is False and f"{report['problem']['message']} {report['problem']['remedy']}" == says[7:]
    assert report["findings"][1]["says"] == f"{report['problem']['error']}: {says[7:]}"


def test_a_server_of_ones_own_may_cost_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    name = "openai:flux?base_url=http://127.0.0.1:9/v1"
    assert run_app(["check", name]) == 2
    assert '127.0.0.1 may be a proxy to a paid service; if it costs nothing, add "&billed=false"' in (
        capsys.readouterr().err
    )
    assert run_app(["check", f"{name}&billed=false"]) == 1
    assert "openai:flux cannot be reached at 127.0.0.1:9" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("json_wanted", [False, True])
def test_a_terminal_is_told_which_item_runs(
    json_wanted: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    assert run_app(["check", "sketch", "--max-calls", "3", *(["--json"] if json_wanted else [])]) == 0
    told = screen.getvalue()
    assert ("… draws: Draws a whole picture" in told) is not json_wanted
    if json_wanted:
        assert "\x1b" not in told and json.loads(capsys.readouterr().out)["ok"]
    else:
        assert told.endswith("\r\x1b[K"), "and it is taken back"
        assert all(len(line) <= 80 for line in told.replace("\x1b[K", "").split("\r"))
