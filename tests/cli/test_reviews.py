"""People asked by the command line: in a terminal, and where nobody can answer."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from langgraph_interleave.cli.app import run_app
from tests.cli.terminal import terminal

REQUEST = "How to plant a bean"
SCRIPTED = ["--planner", "apart", "--backend", "scripted", "--critic", "scripted"]
NEVER = ["--planner", "apart", "--backend", "scripted", "--critic", "never"]
SIMULATED = ["--size", "64x64"]
Captured = pytest.CaptureFixture[str]


def words(*arguments: str, roles: list[str] = SCRIPTED) -> list[str]:
    return ["run", REQUEST, *roles, "--no-open", "--out", "bean", *arguments]


def run(*arguments: str, roles: list[str] = SCRIPTED) -> int:
    return run_app(words(*arguments, roles=roles))


def calls(folder: Path) -> list[str]:
    """The roles of all calls that were ever made in a folder."""
    records = (folder / ".interleave" / "calls").rglob("*.json")
    return sorted(json.loads(path.read_text(encoding="utf-8"))["role"] for path in records)


def outcome_of(folder: Path) -> str:
    listed = json.loads((folder / ".interleave" / "versions.json").read_text(encoding="utf-8"))
    return listed["versions"][-1]["outcome"]


# --- where nobody can answer --------------------------------------------------------------------


def test_nobody_is_waited_for_and_the_run_goes_on_with_the_same_command(working: Path, capsys: Captured) -> None:
    assert run("--approve", "plan", "--approve", "steps") == 3
    out = capsys.readouterr().out
    assert "waiting for 1 answer:\n  The plan: A plan\n    it may take 2.8 drawings (at most 6) and " in out
    assert "\nto go on, langgraph-interleave run --resume bean; " in out
    assert "waiting · 0 of 3 steps" in out
    page = (working / "bean" / "index.html").read_text(encoding="utf-8")
    assert "Waiting for a reviewer" in page
    assert calls(working / "bean") == ["planner"]

    (working / "a.json").write_text('["accept"]', encoding="utf-8")
    assert run("--approve", "plan,steps", "--answer", "a.json") == 3
    assert capsys.readouterr().out.startswith("bean holds this run already")
    made = calls(working / "bean")

    assert run("--approve", "plan,steps") == 3
    out = capsys.readouterr().out
    assert "waiting for 2 answers" in out, "the plan is not asked about again"
    assert "  Step 2: Step 1\n    accepted by the critic\n    bean/review/step-02-attempt-2.png\n" in out
    assert (working / "bean" / "review" / "step-02-attempt-2.png").read_bytes()[:4] == b"\x89PNG"
    assert calls(working / "bean") == made, "nothing is paid twice"

    assert run("--approve", "plan,steps", "--yes") == 0
    assert calls(working / "bean") == made
    assert not (working / "bean" / "review").exists()
    assert outcome_of(working / "bean") == "complete"
    # Asked once and for all: nobody is asked by the same command again.
    assert run("--approve", "plan,steps") == 0


def test_questions_are_json_lines_for_programs(working: Path, capsys: Captured) -> None:
    assert run("--approve", "steps", "--events") == 3
    captured = capsys.readouterr()
    lines = [json.loads(line) for line in captured.out.splitlines()]
    asked = [line for line in lines if line["type"] == "question"]
    assert lines[-2:] == asked and lines[-3]["phase"] == "waiting"
    assert [(one["ask"], one["number"], one["proposed"]) for one in asked] == [
        ("step", 1, "accepted"),
        ("step", 2, "accepted"),
    ]
    assert asked[1]["file"] == "bean/review/step-02-attempt-2.png"
    assert [attempt["verdict"] for attempt in asked[1]["attempts"]] == ["revise", "accept"]
    assert "to go on, langgraph-interleave run --resume bean; " in captured.err


def test_answers_from_a_file_decide_about_steps(working: Path, capsys: Captured) -> None:
    assert run("--approve", "steps", "--out", "other") == 3
    answers: dict[str, Any] = {
        "1": {"decision": "replace", "image": "other/review/step-02-attempt-1.png"},
        "2": [{"decision": "revise", "remark": "Darker."}, {"decision": "accept", "attempt": 0}],
    }
    (working / "a.json").write_text(json.dumps(answers), encoding="utf-8")
    capsys.readouterr()
    assert run("--approve", "steps", "--answer", "a.json") == 0
    out = capsys.readouterr().out
    assert (
        "step 1: kept: a reviewer's own picture\n" in out and "3 of 3 steps as planned, 1 of them a reviewer's" in out
    )
    told = [json.loads(line) for line in (working / "bean" / "trajectory.jsonl").read_text("utf-8").splitlines()]
    seconds = [line["spend"]["seconds"] for line in told if line["type"] == "interleave.run" and "spend" in line]
    assert len(seconds) == 3 and 0 < seconds[0] < seconds[1] < seconds[2], "time goes on over the answers"
    assert f"\n{seconds[-1]:.1f} s · " in out
    first, second, other = (
        Image.open(path).convert("RGB").tobytes()
        for path in (
            working / "bean" / "images" / "step-01.png",
            working / "bean" / "images" / "step-02.png",
            working / "other" / "review" / "step-02-attempt-1.png",
        )
    )
    assert first == second == other
    text = (working / "bean" / "index.html").read_text(encoding="utf-8")
    assert "by a reviewer" in text and "Darker." in text


@pytest.mark.parametrize(
    ("answers", "code", "says"),
    [
        ('{"plan": "perhaps"}', 2, r"Error: --answer a.json, about the plan: That answer cannot be used"),
        ("nothing", 2, "Error: --answer a.json is not JSON"),
        ('{"paln": "accept"}', 2, "Error: --answer a.json: nothing that is asked is called 'paln'."),
        ('[{"decision": "accept", "steps": [{"change": "keep", "step": 9}]}]', 3, "could not be used"),
    ],
)
def test_an_answer_that_cannot_be_used_is_said(
    working: Path, capsys: Captured, answers: str, code: int, says: str
) -> None:
    (working / "a.json").write_text(answers, encoding="utf-8")
    assert run("--approve", "plan", "--answer", "a.json") == code
    captured = capsys.readouterr()
    assert says in captured.err + captured.out
    if "paln" in answers:
        assert not (working / "bean").exists(), "nothing was spent"
    # Whatever it was, the next answer counts.
    (working / "a.json").write_text('["accept"]', encoding="utf-8")
    assert run("--approve", "plan", "--answer", "a.json") == 0


def test_answers_that_nothing_asked_for_are_told(working: Path, capsys: Captured) -> None:
    (working / "a.json").write_text('{"plan": "accept", "7": "accept"}', encoding="utf-8")
    assert run("--approve", "plan", "--answer", "a.json") == 0
    assert "\nnote: --answer a.json: not used: step 7\n" in capsys.readouterr().out
    # The plan was answered by this file before.
    assert run("--approve", "plan,steps", "--answer", "a.json") == 3
    assert "\nnote: --answer a.json: not used so far: step 7\n" in capsys.readouterr().out


def test_what_nobody_accepted_is_asked_about(working: Path, capsys: Captured) -> None:
    assert run("--on-exhausted", "ask", "--max-attempts", "1", roles=NEVER) == 3
    assert "rejected by the critic - no" in capsys.readouterr().out
    assert run("--on-exhausted", "ask", "--max-attempts", "1", "--yes", roles=NEVER) == 0
    assert outcome_of(working / "bean") == "complete"


def test_a_draft_asks_with_sketches(working: Path, capsys: Captured) -> None:
    assert run("--draft", roles=[*SIMULATED, "--steps", "2"]) == 3
    out = capsys.readouterr().out
    assert sorted(path.name for path in (working / "bean" / "review").iterdir()) == ["sketch-01.png", "sketch-02.png"]
    assert "being judged" not in out, "a sketch is no attempt"
    assert "    sketches: bean/review/sketch-01.png to sketch-02.png\n" in out
    page = (working / "bean" / "index.html").read_text(encoding="utf-8")
    assert page.count("<img ") == 2 and "sketch" in page.lower() and "No picture" not in page
    assert "1 call (1 plan)" in out
    assert run("--draft", "--yes", roles=[*SIMULATED, "--steps", "2"]) == 0


def test_a_plan_is_sent_back_as_it_was_shown(working: Path, capsys: Captured) -> None:
    roles = [*SIMULATED, "--steps", "3"]
    assert run("--draft", "--events", roles=roles) == 3
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    steps = next(line for line in lines if line["type"] == "question")["steps"]
    assert steps[0]["file"] == "bean/review/sketch-01.png"
    answer = {"plan": {"decision": "accept", "steps": [{**steps[0], "caption": "My own words."}, steps[1]]}}
    (working / "a.json").write_text(json.dumps(answer), encoding="utf-8")
    assert run("--draft", "--answer", "a.json", roles=roles) == 0, capsys.readouterr().out
    assert "complete · 2 of 2 steps" in capsys.readouterr().out
    assert "My own words." in (working / "bean" / "document.md").read_text(encoding="utf-8")


def test_what_may_be_approved_is_said(working: Path, capsys: Captured) -> None:
    assert run("--approve", "pictures") == 2
    assert (
        capsys.readouterr().err
        == "Error: --approve 'pictures' is neither plan nor steps. Write --approve plan,steps.\n"
    )
    assert list(working.iterdir()) == []


# --- in a terminal ------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
def test_a_person_is_asked_about_plan_and_steps(working: Path) -> None:
    script = working / "editor.py"
    script.write_text(
        "import sys\npath = sys.argv[1]\ntext = open(path).read()\n"
        "open(path, 'w').write(text.replace('Caption of step 1.', 'Edited words.'))\n"
    )
    editor = {"EDITOR": f"{sys.executable} {script}"}
    with terminal(*words("--approve", "plan,steps"), environment=editor) as screen:
        shown = screen.answer("plan: a accept", "never mind")
        assert "Caption of step 1." in shown and "drawing" in shown
        assert "There is no command 'never'" in screen.answer("plan: a accept", "d 8")
        assert "There is no step 8. There are 1 to 3." in screen.answer("plan: a accept", "d 3")
        assert "Words of step 2." not in screen.answer("plan: a accept", "w 1 My words")
        assert "1. Step 0  changed\n     My words" in screen.answer("plan: a accept", "r Shorter")
        assert "You have changed the plan by hand" in screen.answer("plan: a accept", "e")
        assert "Edited words." in screen.answer("plan: a accept", "a")
        shown = screen.answer("step 1: a accept", "a 2")
        assert "(1 of 2)" in shown and "bean/review/step-01-attempt-1.png" in shown and "▀▀▀▀" in shown
        assert "Attempt 2 has no picture. There are pictures of 1." in screen.answer("step 1: a accept", "a")
        assert "Step 2: Step 1  (2 of 2)" in screen.answer("step 2: a accept", "r Too dark")
        shown = screen.answer("step 2: a accept", "v 1")
        assert "attempt 2: rejected by a reviewer - Too dark" in shown
        assert "step-02-attempt-1.png" in screen.answer("step 2: a accept", "o none.png")
        assert "none.png is not there" in screen.answer("step 2: a accept", "a")
        assert screen.end() == 0, screen.text
    assert "complete · 2 of 2 steps" in screen.text
    document = (working / "bean" / "document.md").read_text(encoding="utf-8")
    assert "My words" in document and "Edited words." in document and "Words of step 2." not in document


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
@pytest.mark.parametrize(
    "leave", ["interrupt", pytest.param("q", marks=pytest.mark.slow), pytest.param("kill", marks=pytest.mark.slow)]
)
def test_who_leaves_finds_everything_as_it_was(working: Path, leave: str) -> None:
    with terminal(*words("--approve", "steps")) as screen:
        screen.answer("step 1: a accept", "a")
        screen.until("step 2: a accept")
        if leave == "interrupt":
            screen.interrupt()
        elif leave == "q":
            screen.type("q")
        else:
            os.kill(screen.process.pid, signal.SIGKILL)
        code = screen.end()
    assert code == (-signal.SIGKILL if leave == "kill" else 3)
    assert "Waiting for a reviewer" in (working / "bean" / "index.html").read_text(encoding="utf-8")
    if leave != "kill":
        assert "waiting for 1 answer:\n  Step 2: Step 1" in screen.text
    made = calls(working / "bean")
    with terminal(*words("--approve", "steps")) as screen:
        shown = screen.answer("step 2: a accept", "a")
        assert "step 1: a accept" not in shown, "that was answered"
        assert screen.end() == 0, screen.text
    assert calls(working / "bean") == made


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
def test_a_plan_that_is_given_up_in_a_terminal(working: Path) -> None:
    with terminal(*words("--approve", "plan"), environment={"TERM": "dumb"}) as screen:
        screen.answer("plan: a accept", "x")
        assert screen.end() == 130
    assert "▀" not in screen.text
    assert calls(working / "bean") == ["planner"]
