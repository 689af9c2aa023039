"""Closed streams, readers that go away, full disks, a terminal that is closed and says so twice."""

from __future__ import annotations

import errno
import io
import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.begun import BegunRuns
from langgraph_interleave.cli.stopping import Stopping
from langgraph_interleave.document import Document

REQUEST = "How to plant a bean"
SCRIPTED = ["--planner", "scripted", "--backend", "scripted", "--critic", "scripted"]
Captured = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def begin(*arguments: str) -> int:
    return run_app(["run", REQUEST, *SCRIPTED, "--no-open", "--out", "bean", *arguments])


@pytest.mark.parametrize(("name", "arguments"), [("stdin", ["--on-limit", "ask"]), ("stdout", []), ("stderr", [])])
@pytest.mark.parametrize("events", [[], ["--events"]])
def test_a_stream_that_was_closed_is_nobody_s_fault(
    working: Path, monkeypatch: Patch, name: str, arguments: list[str], events: list[str]
) -> None:
    monkeypatch.setattr(sys, name, None)
    code = begin(*arguments, *events)
    getattr(sys, name).close()
    assert code == 0
    assert (working / "bean" / "index.html").exists()


def test_a_stream_that_can_only_be_read_is_closed(working: Path, monkeypatch: Patch) -> None:
    (working / "script.sh").write_text("mine", encoding="utf-8")
    descriptor = os.open(working / "script.sh", os.O_RDONLY)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        code = begin("--events")
        assert sys.stderr is not stream
        sys.stderr.close()
    assert code == 0


class Gone(io.StringIO):
    """Nobody reads it; that is found out when it is flushed."""

    def flush(self) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


@pytest.mark.parametrize("command", [["versions", "bean"], ["gc", "bean"], ["runs"], ["runs", "show", "bean"]])
def test_who_stops_reading_hears_of_no_error(
    working: Path, monkeypatch: Patch, capsys: Captured, command: list[str]
) -> None:
    begin()
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Gone())
        patch.setattr("langgraph_interleave.cli.pipe.mute", lambda: None)
        patch.setattr("langgraph_interleave.cli.guard.mute", lambda: None)
        assert run_app(command) in (0, 130)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("change", [False, True])
@pytest.mark.parametrize("where", ["save", "list"])
def test_a_full_disk_at_the_end_is_no_wrong_option(
    working: Path, monkeypatch: Patch, capsys: Captured, change: bool, where: str
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    if change:
        assert run_app(["run", "How to plant a bean, in 2 steps", "--no-open", "--out", "bean"]) == 0
    with monkeypatch.context() as patch:
        what = "langgraph_interleave.document.folder._replace"
        patch.setattr(what if where == "save" else "langgraph_interleave.cli.versions.Versions._write", full)
        code = run_app(["change", "bean", "make step 2 night-time", "--no-open"]) if change else begin()
    assert code == 1
    said = capsys.readouterr().err
    assert said.startswith("Error: What was made could not all be written: ") and "No space left on device" in said
    assert said.endswith("run --resume bean goes on, and repeats no call that is recorded.\n")
    assert run_app(["run", "--resume", "bean", "--no-open"]) == 0
    assert BegunRuns(working / "bean").all()[0].outcome == "complete"


def test_what_is_logged_comes_in_lines_that_no_terminal_obeys(working: Path, capsys: Captured) -> None:
    begin()
    capsys.readouterr()
    (working / "bean/.interleave/runs/x\x1b[2J.json").write_text("{", encoding="utf-8")
    log = logging.getLogger("langgraph_interleave.ledger.journal")
    assert run_app(["runs", "show", "bean"]) == 0
    try:
        raise OSError(errno.ENOSPC, "No space left on device")
    except OSError:
        log.exception("a call could not be recorded")
    said = capsys.readouterr().err
    assert "what the run was begun with, is damaged." in said
    assert said.endswith("\na call could not be recorded\n")
    assert "\x1b" not in said and "Traceback" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_terminal_that_is_closed_and_says_so_twice_stops_a_run_once(working: Path, monkeypatch: Patch) -> None:
    save = Document.save

    def interrupted(self: Document, folder: str | Path) -> Path:
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGHUP)
        return save(self, folder)

    monkeypatch.setattr(Document, "save", interrupted)
    assert begin() == 0
    assert BegunRuns(working / "bean").all()[0].outcome == "complete"
    told: list[str] = []
    with Stopping() as stopping, stopping.by(lambda: told.append("stop")):
        for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM, signal.SIGTERM):
            os.kill(os.getpid(), number)
    assert told == ["stop"] * 3


def test_a_run_that_ended_before_its_plan_has_no_number_of_steps(working: Path) -> None:
    begin("--max-images", "1", "--lookahead", "never")
    runs = BegunRuns(working / "bean")
    (one,) = runs.all()
    runs.write(one.model_copy(update={"steps": None, "done": None}))
    runs.end(one.run, "cancelled", {"steps": []})
    assert [(found.steps, found.done, found.outcome) for found in runs.all()] == [(None, None, "cancelled")]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
def test_events_of_a_process_without_stderr_end_with_the_end(working: Path) -> None:
    program = f"{sys.executable} -m langgraph_interleave.cli run 'a bean' {' '.join(SCRIPTED)} --events --out bean 2>&-"
    done = subprocess.run(["/bin/sh", "-c", program], stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, lines[-1]["phase"], lines[-1]["outcome"]) == (0, "finish", "complete")
