"""`langgraph-interleave run`, from the words typed to the files written and the exit code."""

from __future__ import annotations

import importlib
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from PIL import Image

from langgraph_interleave.cli.app import run as command
from langgraph_interleave.cli.app import run_app
from langgraph_interleave.references import References

REQUEST = "How to plant a bean"
SCRIPTED = ["--planner", "scripted", "--backend", "scripted", "--critic", "scripted"]
#: Ctrl-C ends within 2 s on a machine that is not busy; tests share theirs.
PATIENCE_S = 5.0
Captured = pytest.CaptureFixture[str]


def run(*arguments: str, roles: list[str] = SCRIPTED) -> int:
    return run_app(["run", REQUEST, *roles, "--no-open", *arguments])


def roles(**chosen: str) -> list[str]:
    """The scripted roles, with some replaced."""
    names = {"planner": "scripted", "backend": "scripted", "critic": "scripted"} | chosen
    return [word for role, name in names.items() for word in (f"--{role}", name)]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@contextmanager
def started(*arguments: str, roles: list[str] = SCRIPTED) -> Generator[subprocess.Popen[str]]:
    """The program as a process of its own, which ends with the test whatever happens."""
    command = [sys.executable, "-m", "langgraph_interleave.cli", "run", REQUEST, *roles, "--no-open", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(process: subprocess.Popen[str], words: str) -> list[str]:
    """Read lines until one holds `words`."""
    assert process.stdout is not None
    seen: list[str] = []
    for line in process.stdout:
        seen.append(line)
        if words in line:
            return seen
    raise AssertionError(f"{words!r} never came; got {seen}, {process.stderr.read() if process.stderr else ''}")


def test_a_complete_run_writes_the_document_and_says_so(working: Path, capsys: Captured) -> None:
    assert run() == 0
    folder = working / "how-to-plant-a-bean"
    assert sorted(path.name for path in folder.iterdir() if path.name[0] != ".") == [
        "document.md",
        "images",
        "index.html",
        "trajectory.jsonl",
    ]
    assert len(list((folder / "images").iterdir())) == 2
    assert "Caption of step 1." in (folder / "index.html").read_text(encoding="utf-8")
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "plan: A plan"
    assert "step 2: judged: revise - The seed is [b]missing[/b]." in out
    assert "step 2: rewritten, drawing, attempt 2 - thing 1, with a seed" in out
    assert out[-3] == "complete · 3 of 3 steps as planned, 1 of them after a correction"
    assert re.fullmatch(r"\d\.\d s · 7 calls \(1 plan, 3 drawings, 3 critiques\) · no cost", out[-2])
    assert out[-1] == "how-to-plant-a-bean/index.html"


def test_the_trajectory_holds_events_and_ledger_records(working: Path) -> None:
    run("--out", "bean")
    records = lines(working / "bean" / "trajectory.jsonl")
    assert records[0]["type"] == "interleave.run"
    assert records[0]["phase"] == "start"
    assert len({record["run_id"] for record in records}) == 1
    calls = [record for record in records if record["type"] == "interleave.call"]
    assert sorted(call["role"] for call in calls) == ["backend"] * 3 + ["critic"] * 3 + ["planner"]
    assert {call["status"] for call in calls} == {"finished"}


def test_events_are_one_json_object_a_line_and_nothing_else_on_stdout(working: Path, capsys: Captured) -> None:
    assert run("--events", "--out", "bean") == 0
    captured = capsys.readouterr()
    events = [json.loads(line) for line in captured.out.splitlines()]
    assert all(event["type"].startswith("interleave.") for event in events)
    assert (events[0]["type"], events[0]["phase"]) == ("interleave.run", "start")
    assert (events[-1]["type"], events[-1]["outcome"]) == ("interleave.run", "complete")
    assert "\x1b" not in captured.out
    assert "bean/index.html" in captured.err
    assert [r for r in lines(working / "bean" / "trajectory.jsonl") if r["type"] != "interleave.call"] == events


def test_the_same_run_again_draws_nothing_again(working: Path, capsys: Captured) -> None:
    run("--out", "bean")
    page = (working / "bean" / "document.md").read_text(encoding="utf-8")
    capsys.readouterr()
    assert run("--out", "bean") == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "bean holds this run already; what was drawn is not drawn again"
    assert "7 of them answered from the ledger" in out[-2]
    assert page.partition("## How")[0] == (working / "bean" / "document.md").read_text("utf-8").partition("## How")[0]


def test_a_capped_run_goes_on_when_the_cap_is_raised(working: Path, capsys: Captured) -> None:
    assert run("--out", "bean", "--max-images", "1", "--lookahead", "never") == 3
    out = capsys.readouterr().out
    assert "partial (limit" in out
    assert "note: limit max_images reached: 1 of 1" in out
    assert run("--out", "bean", "--lookahead", "never") == 0
    assert "3 of them answered from the ledger" in capsys.readouterr().out


def test_another_document_is_never_written_over(working: Path, capsys: Captured) -> None:
    run("--out", "bean")
    before = {path: path.read_bytes() for path in (working / "bean").rglob("*") if path.is_file()}
    capsys.readouterr()
    assert run("--out", "bean", "--seed", "9") == 0
    assert capsys.readouterr().out.startswith("bean holds something else; writing to bean-2\n")
    assert {path: path.read_bytes() for path in (working / "bean").rglob("*") if path.is_file()} == before
    assert (working / "bean-2" / "index.html").exists()


@pytest.mark.parametrize(
    ("arguments", "chosen", "code", "says"),
    [
        (["--max-attempts", "1"], {"critic": "never"}, 3, "partial (exhausted)"),
        (["--on-exhausted", "fail"], {"critic": "never"}, 1, "failed"),
    ],
)
def test_exit_codes_follow_the_outcome(
    working: Path, capsys: Captured, arguments: list[str], chosen: dict[str, str], code: int, says: str
) -> None:
    assert run(*arguments, roles=roles(**chosen)) == code
    assert says in capsys.readouterr().out
    assert (working / "how-to-plant-a-bean" / "index.html").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--backend", "other"], r"Error: --backend 'scripted' has no name, and there are several\. .*\n"),
        (["--image", "nope.png"], r"Error: nope\.png is not there .*\n"),
        (["--size", "3"], r"Error: size '3' is not WIDTHxHEIGHT\. Write for example 512x512\.\n"),
        (["--out", "a-file"], r"Error: --out a-file is a file\. Name a folder\.\n"),
        (["--steps", "0"], r"(?s)Usage: .*Invalid value for '--steps'.*"),
        (["--on-exhausted", "never"], r"(?s)Usage: .*Invalid value for '--on-exhausted'.*"),
        (
            ["--references", "next"],
            r"(?s)Usage: .*Invalid value for '--references': .*'next' is not one of 'explicit', 'previous'.*",
        ),
        (["--reanchor-every", "0"], r"(?s)Usage: .*Invalid value for '--reanchor-every'.*"),
        (["--reanchor-every", "often"], r"(?s)Usage: .*Invalid value for '--reanchor-every'.*"),
        (["--no-such-option"], r"(?s)Usage: .*No such option.*"),
    ],
)
def test_what_is_typed_wrong_is_said_in_a_line_and_leaves_nothing(
    working: Path, capsys: Captured, arguments: list[str], says: str
) -> None:
    (working / "a-file").write_text("mine", encoding="utf-8")
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert re.fullmatch(says, captured.err)
    assert captured.out == ""
    assert sorted(path.name for path in working.iterdir()) == ["a-file"]


def test_a_backend_that_is_not_installed_leaves_nothing(working: Path, capsys: Captured) -> None:
    assert run(roles=roles(backend="nobody")) == 2
    said = capsys.readouterr().err
    assert re.fullmatch(r"Error: No backend 'nobody' is installed\. Installed: .*simulator, sketch.*\n", said)
    assert list(working.iterdir()) == []


def test_a_file_that_is_no_picture_is_named(working: Path, capsys: Captured) -> None:
    (working / "notes.txt").write_text("not a picture", encoding="utf-8")
    assert run("--image", "notes.txt") == 2
    assert "notes.txt" in capsys.readouterr().err


def test_pictures_go_in_in_order(working: Path) -> None:
    for name, color in (("red.png", "red"), ("blue.png", "blue")):
        Image.new("RGB", (20, 10), color).save(working / name)
    assert run("--image", "red.png", "--image", "blue.png", "--out", "bean") == 0
    text = (working / "bean" / "index.html").read_text(encoding="utf-8")
    assert 0 < text.find("red.png") < text.find("blue.png")


CHAINED = ["--planner", "chained", "--backend", "recalling", "--critic", "yes", "--no-style-in-prompts"]


def drawn(capsys: Captured) -> list[tuple[str, list[str]]]:
    """The prompts that were drawn, in order, each with the prompts its references were drawn with."""
    recalled = sys.modules["cli_test_parts"].RECALLED
    asked = [(prompt, list(shown)) for prompt, shown in recalled]
    recalled.clear()
    capsys.readouterr()
    return asked


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([], [("a pot", ["photo"]), ("a bean", ["a pot"]), ("a leaf", ["a bean"])]),
        (["--references", "all"],
         [("a pot", ["photo"]), ("a bean", ["a pot", "photo"]), ("a leaf", ["a bean", "photo", "a pot"])]),
        (["--anchor-inputs"],
         [("a pot", ["photo"]), ("a bean", ["a pot", "photo"]), ("a leaf", ["a bean", "photo"])]),
        (["--anchor-inputs", "--no-anchor-inputs"],
         [("a pot", ["photo"]), ("a bean", ["a pot"]), ("a leaf", ["a bean"])]),
    ],
)  # fmt: skip
def test_options_say_what_a_step_is_drawn_from(
    working: Path, capsys: Captured, arguments: list[str], asked: list[tuple[str, list[str]]]
) -> None:
    Image.new("RGB", (40, 40), "red").save(working / "photo.png")
    assert run("--image", "photo.png", "--lookahead", "never", *arguments, roles=CHAINED) == 0
    assert drawn(capsys) == asked


def test_a_chain_starts_again_where_it_is_told_to(working: Path, capsys: Captured) -> None:
    assert run("--reanchor-every", "2", "--lookahead", "never", roles=[*CHAINED, "--style-in-prompts"]) == 0
    (pot, none), (bean, first), (leaf, second) = drawn(capsys)
    assert (none, first, second) == ([], [pot], [pot])
    assert bean.startswith("a bean\n")
    assert "\n1. a bean\n2. a leaf\n" in leaf, "what was changed since is asked for again"


def test_the_style_goes_into_prompts_unless_it_is_told_not_to(working: Path, capsys: Captured) -> None:
    assert run("--lookahead", "never", roles=[*CHAINED, "--style-in-prompts"]) == 0
    assert all("in watercolours" in prompt for prompt, _ in drawn(capsys))
    assert run("--lookahead", "never", roles=[*CHAINED, "--no-style-in-prompts"]) == 0
    assert not any("in watercolours" in prompt for prompt, _ in drawn(capsys))


def test_what_steps_are_drawn_from_makes_another_run_and_the_default_does_not(working: Path, capsys: Captured) -> None:
    assert run("--out", "bean") == 0
    capsys.readouterr()
    assert run("--out", "bean", "--references", "explicit", "--no-anchor-inputs") == 0
    assert capsys.readouterr().out.startswith("bean holds this run already")
    assert run("--out", "bean", "--references", "all") == 0
    assert capsys.readouterr().out.startswith("bean holds something else; writing to bean-2")


def test_the_command_line_knows_every_reference_policy() -> None:
    told = get_args(get_type_hints(command, include_extras=True)["references"])[0]
    assert get_args(told) == get_args(References)


def test_an_estimate_speaks_of_the_sheet(working: Path, capsys: Captured) -> None:
    assert run("--estimate", "--steps", "3", "--references", "sheet") == 0
    assert capsys.readouterr().out.endswith("Where the plan names characters, their sheet is one drawing more.\n")


def test_an_unexpected_error_is_one_line_with_the_document_written(working: Path, capsys: Captured) -> None:
    assert run(roles=roles(backend="failing")) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("Error: Unexpected RuntimeError: the backend fell over.")
    assert len(captured.err.splitlines()) == 1
    assert (working / "how-to-plant-a-bean" / "index.html").exists()
    assert run("--traceback", roles=roles(planner="exploding")) == 1
    captured = capsys.readouterr()
    assert "Traceback" in captured.err
    assert "the planner exploded" in captured.err


def test_the_cost_of_a_billed_backend_is_not_said_to_be_nothing(working: Path, capsys: Captured) -> None:
    assert run(roles=roles(backend="billed")) == 0
    assert "no cost" not in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_within_two_seconds_with_what_there_is(working: Path, number: int) -> None:
    with started("--out", "bean", roles=roles(backend="slow")) as process:
        wait_for(process, "step 2: drawing")
        began = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert time.monotonic() - began < PATIENCE_S
    assert process.returncode == 130
    assert err == ""
    assert "stopping; what exists is kept" in out
    assert "cancelled" in out
    text = (working / "bean" / "document.md").read_text(encoding="utf-8")
    assert "images/step-01.png" in text
    assert "Caption of step 1." in text
    records = lines(working / "bean" / "trajectory.jsonl")
    assert {"interleave.run", "interleave.call"} <= {record["type"] for record in records}


@pytest.mark.parametrize("words", ["interleave.run", "interleave.step"])
def test_ctrl_c_while_the_plan_is_written(working: Path, words: str) -> None:
    """Before any step, and while one is drawn whose plan is not finished."""
    with started("--out", "bean", "--events", roles=roles(planner="pacing", backend="slow")) as process:
        wait_for(process, words)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert "Error" not in err
    assert process.returncode == 130
    assert (working / "bean" / "index.html").exists()


def test_ctrl_c_ends_a_run_whose_calls_cannot_be_cancelled(working: Path) -> None:
    with started("--out", "bean", "--lookahead", "never", roles=roles(backend="stuck")) as process:
        wait_for(process, "step 2: drawing")
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    assert time.monotonic() - began < PATIENCE_S
    assert process.returncode == 130
    assert "cancelled" in out
    text = (working / "bean" / "document.md").read_text(encoding="utf-8")
    assert "images/step-01.png" in text
    assert "Caption of step 1." in text


@pytest.mark.parametrize("arguments", [[], ["--events"]])
def test_a_reader_that_goes_away_stops_the_run_quietly(working: Path, arguments: list[str]) -> None:
    with started("--out", "bean", *arguments, roles=roles(planner="pacing")) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=20) == 130
        assert "Traceback" not in process.stderr.read()
    assert (working / "bean" / "index.html").exists()


def test_a_reader_that_goes_away_at_the_end_changes_nothing(working: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = os.pipe()

    class Pipe(io.TextIOWrapper):
        def write(self, text: str) -> int:
            nonlocal here
            if here and text.startswith("complete"):
                os.close(here)
                here = 0
            return super().write(text)

    with Pipe(os.fdopen(there, "wb", 0), write_through=True) as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert run() == 0
    assert here == 0
    assert (working / "how-to-plant-a-bean" / "index.html").exists()


def test_in_a_terminal_the_view_is_redrawn_and_the_end_stays(working: Path) -> None:
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    command = [
        sys.executable,
        "-m",
        "langgraph_interleave.cli",
        "run",
        REQUEST,
        *SCRIPTED,
        "--no-open",
        "--out",
        "bean",
    ]
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    written = b""
    while select.select([master], [], [], 20)[0]:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        written += data
    os.close(master)
    assert process.wait(timeout=20) == 0
    text = written.decode()
    assert "\x1b[?25l" in text  # the cursor is hidden while it is redrawn
    assert text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l")  # and shown again
    end = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).splitlines()[-7:]
    assert "kept at attempt 2" in "".join(end)
    assert end[-2].strip().startswith("complete")
    assert end[-1] == "bean/index.html"


def test_the_program_says_its_version_and_helps(capsys: Captured) -> None:
    assert run_app(["--version"]) == 0
    assert re.fullmatch(r"langgraph-interleave \d+\.\d+\.\d+\n", capsys.readouterr().out)
    assert run_app(["run", "--help"]) == 0
    text = capsys.readouterr().out
    for option in ("--image", "--steps", "--out", "--max-attempts", "--seed", "--events", "--no-open", "--references"):
        assert option in text
    assert run_app([]) == 2


def test_the_package_is_a_program() -> None:
    command = [sys.executable, "-m", "langgraph_interleave", "--version"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.strip().endswith(version("langgraph-interleave")) and not ended.stderr


def test_the_list_of_backends(working: Path, capsys: Captured) -> None:
    """Names, origins, abilities; and for what is missing the command that brings it, on one line."""
    site = Path(os.environ["PYTHONPATH"].partition(os.pathsep)[0])
    with (site / "cli_test_parts-1.0.dist-info" / "METADATA").open("a", encoding="utf-8") as metadata:
        metadata.write("Requires-Dist: a-module-nobody-has>=3; extra == 'huge'\n")
    with (site / "cli_test_parts.py").open("a", encoding="utf-8") as module:
        module.write("\n\ndef huge():\n    import a_module_nobody_has\n")
    entries = site / "cli_test_parts-1.0.dist-info" / "entry_points.txt"
    text = entries.read_text(encoding="utf-8")
    entries.write_text(text.replace("slow = ", "huge = cli_test_parts:huge\nslow = "), encoding="utf-8")
    importlib.invalidate_caches()
    assert run_app(["backends"]) == 0
    out = capsys.readouterr().out
    for name in ("simulator", "sketch", "built in", "scripted", "cli-test-parts", "planners", "critics", "checks"):
        assert name in out
    assert "draws from text · edits as told, up to 9 references" in out
    assert "missing: backend 'huge' needs a_module_nobody_has, which is not installed." in out
    assert 'Run: pip install "cli-test-parts[huge]"\n' in re.sub(r" +\n", "\n", out)
