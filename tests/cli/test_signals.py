"""Ctrl-C, SIGTERM, SIGHUP, a closed terminal, kill -9: what exists is kept, and the run goes on."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.begun import BegunRuns
from langgraph_interleave.document import Document

if sys.platform == "win32":
    pytest.skip("signals of Unix", allow_module_level=True)

from tests.cli.terminal import terminal

REQUEST = "How to plant a bean"
SIGNALLED = ["--planner", "signalled", "--backend", "signalled", "--critic", "signalled"]
COUNTED = ["--planner", "counted", "--backend", "counted", "--critic", "counted"]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
Captured = pytest.CaptureFixture[str]


def words(*arguments: str, roles: list[str] = SIGNALLED) -> list[str]:
    return ["run", REQUEST, *roles, "--no-open", "--out", "bean", *arguments]


def begin(*arguments: str) -> int:
    return run_app(words(*arguments))


def resume(*arguments: str) -> int:
    return run_app(["run", "--resume", "bean", "--no-open", *arguments])


def records(folder: Path) -> dict[str, dict[str, Any]]:
    found = (json.loads(path.read_text("utf-8")) for path in (folder / ".interleave" / "calls").rglob("*.json"))
    return {one["key"]: one for one in found}


def ambiguous_of(finished: dict[str, dict[str, Any]]) -> int:
    """How many makings before those are said to be ambiguous."""
    return sum(one.get("ambiguous_before", 0) for one in finished.values())


@pytest.fixture(autouse=True)
def survived() -> Iterator[None]:
    """A signal that nobody takes is an error of the test, and not its end."""

    def missed(number: int, frame: object) -> None:
        raise AssertionError(f"nobody took signal {number}")

    before = {number: signal.signal(number, missed) for number in SIGNALS}
    yield
    for number, handler in before.items():
        assert signal.getsignal(number) is missed, "the handlers are given back"
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(("where", "calls"), [("planner", 0), ("backend", 3), ("critic", 4)])
def test_a_signal_in_any_call_keeps_what_exists(
    working: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, number: signal.Signals, where: str, calls: int
) -> None:
    if number is signal.SIGHUP and where != "backend":
        pytest.skip("as SIGTERM")
    monkeypatch.setenv("SIGNAL", str(int(number)))
    monkeypatch.setenv("SIGNAL_AT", where)
    assert begin("--lookahead", "never") == 130
    out = capsys.readouterr().out
    assert "stopping; what exists is kept\n" in out
    assert out.endswith("\nto go on: langgraph-interleave run --resume bean\nbean/index.html\n")
    finished = {key: one for key, one in records(working / "bean").items() if one["status"] == "finished"}
    assert len(finished) == calls
    assert (working / "bean" / "images" / "step-01.png").exists() == (where != "planner")
    (begun,) = BegunRuns(working / "bean").all()
    assert (begun.outcome, begun.owner) == ("cancelled", "")
    monkeypatch.delenv("SIGNAL_AT")
    assert resume() == 0
    after = records(working / "bean")
    assert {key: after[key] for key in finished} == finished, "no finished call is made again"
    assert f"{calls} of them answered from the ledger" in capsys.readouterr().out or not calls


@pytest.mark.parametrize("number", SIGNALS)
def test_what_is_being_written_is_written(
    working: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    save = Document.save

    def interrupted(self: Document, folder: str | Path) -> Path:
        os.kill(os.getpid(), number)
        return save(self, folder)

    monkeypatch.setattr(Document, "save", interrupted)
    assert begin() == 0
    assert (working / "bean" / "index.html").exists()
    assert BegunRuns(working / "bean").all()[0].outcome == "complete"


def test_who_insists_while_it_is_written_finds_it_with_resume(
    working: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def interrupted(self: Document, folder: str | Path) -> Path:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("unreachable")

    with monkeypatch.context() as patch:
        patch.setattr(Document, "save", interrupted)
        assert begin() == 130
    assert "`run --resume`, goes on with what was begun." in capsys.readouterr().err
    before = records(working / "bean")
    assert resume() == 0
    assert records(working / "bean") == before


@pytest.mark.parametrize("number", SIGNALS)
def test_before_anything_is_made_nothing_is_left(
    working: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, number: signal.Signals
) -> None:
    monkeypatch.setattr(
        "langgraph_interleave.cli.job.check_roles", lambda _: os.kill(os.getpid(), number) or time.sleep(5)
    )
    assert begin() == 130
    assert list(working.iterdir()) == []
    assert "Traceback" not in capsys.readouterr().err


def test_a_second_ctrl_c_ends_it_at_once(working: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr("langgraph_interleave.cli.following._STOP_S", 60.0)
    monkeypatch.setattr("langgraph_interleave.runs.stop_run", lambda _: True)  # as if it could not be stopped
    monkeypatch.setenv("SIGNAL", str(int(signal.SIGINT)))
    monkeypatch.setenv("SIGNAL_AT", "backend")
    again = threading.Timer(0.6, lambda: os.kill(os.getpid(), signal.SIGINT))
    again.start()
    began = time.monotonic()
    assert begin("--lookahead", "never", "--events") == 130
    again.join()
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (last["type"], last["phase"], last["outcome"]) == ("interleave.run", "finish", "cancelled")
    assert time.monotonic() - began < 20
    assert (working / "bean" / "images" / "step-01.png").exists()


def test_a_signal_that_is_ignored_stays_ignored(working: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `nohup` has it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        monkeypatch.setattr("langgraph_interleave.cli.job.check_roles", lambda _: os.kill(os.getpid(), signal.SIGHUP))
        assert begin() == 0
    finally:
        signal.signal(signal.SIGHUP, before)


# --- whole processes ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_terminal_that_is_closed_stops_the_run(working: Path) -> None:
    with terminal(*words(roles=["--planner", "scripted", "--backend", "slow", "--critic", "yes"])) as screen:
        screen.until("drawing")
        screen.close()
        assert screen.process.wait(timeout=20) == 130
    assert "Caption of step 1." in (working / "bean" / "document.md").read_text(encoding="utf-8")
    assert BegunRuns(working / "bean").all()[0].outcome == "cancelled"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["close", "term"])
def test_a_question_is_left_waiting(working: Path, how: str) -> None:
    roles = ["--planner", "apart", "--backend", "scripted", "--critic", "yes"]
    with terminal(*words("--approve", "plan", roles=roles)) as screen:
        screen.until("plan: a accept")
        screen.close() if how == "close" else screen.process.send_signal(signal.SIGTERM)
        assert screen.process.wait(timeout=20) == 3
    assert BegunRuns(working / "bean").all()[0].outcome == "waiting"
    assert resume("--yes") == 0


@pytest.mark.slow
def test_two_processes_share_a_run_and_make_no_call_twice(
    working: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counted = tmp_path / "counted"
    monkeypatch.setenv("COUNTED", str(counted))
    program = [sys.executable, "-m", "langgraph_interleave.cli"]
    first = subprocess.Popen(
        [*program, *words("--lookahead", "never", roles=COUNTED)], stdout=subprocess.PIPE, text=True
    )
    with first:
        assert first.stdout is not None
        first.stdout.readline()
        second = subprocess.run(
            [*program, "run", "--resume", "bean", "--no-open"], capture_output=True, text=True, timeout=60, check=True
        )
        out, _ = first.communicate(timeout=60)
    assert first.returncode == 0
    assert "complete · 6 of 6 steps" in out and "complete" in second.stdout
    assert len(counted.read_text(encoding="utf-8").splitlines()) == len(records(working / "bean")) == 25
    assert "ambiguous" not in out + second.stdout
    lines = (working / "bean" / "trajectory.jsonl").read_text(encoding="utf-8").splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)
    assert BegunRuns(working / "bean").all()[0].outcome == "complete"


@pytest.mark.slow
def test_ten_times_kill_9_and_no_finished_call_is_made_again(
    working: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    chance = random.Random(7)
    kills = cut_off = 0
    for document in range(20):
        if kills >= 10:
            break
        counted = tmp_path / f"counted-{document}"
        counted.touch()
        monkeypatch.setenv("COUNTED", str(counted))
        folder = working / f"bean-{document}"
        words = ["run", REQUEST, *COUNTED, "--lookahead", "never", "--out", folder.name, "--seed", str(document)]
        finished: dict[str, dict[str, Any]] = {}
        said, code = "", 0
        for _ in range(20):
            told = ["run", "--resume", folder.name] if BegunRuns(folder).all() else words
            command = [sys.executable, "-m", "langgraph_interleave.cli", *told, "--no-open"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                if kills < 10:
                    said += process.stdout.readline()
                    time.sleep(chance.uniform(0, 0.9))
                    process.kill()
                rest, errors = process.communicate(timeout=60)
                said += rest
            now = records(folder)
            assert {key: now[key] for key in finished} == finished, "no finished call is made again"
            finished = {key: one for key, one in now.items() if one["status"] == "finished"}
            code = process.returncode
            if code == 0:
                break
            assert code == -signal.SIGKILL, errors
            kills += 1
        assert code == 0
        cut_off += ambiguous_of(finished)
        ambiguous = ambiguous_of(finished)
        made = len(counted.read_text(encoding="utf-8").splitlines())
        assert len(finished) == 1 + 6 * 2 * 2
        assert made <= len(finished) + ambiguous, "what was made twice is said to be ambiguous"
        # Killed between the end of the run and its last lines, it is only written again.
        before, ends, last = said.rpartition("\ncomplete")
        found = re.search(r"(\d+) cut off \(ambiguous", last)
        whole = ends and "index.html" in last
        assert not whole or (int(found[1]) if found else 0) == ambiguous, before[-200:]
    assert kills == 10
    assert cut_off > 0, "some of them were in flight"
