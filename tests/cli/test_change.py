"""Documents changed from the command line, their versions, and the way back; on the simulator."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.typed import Options

REQUEST = "How to plant a bean, in 3 steps"
NIGHT = "make step 2 night-time"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document that is copied for each test."""
    folder = tmp_path_factory.mktemp("made") / "bean"
    assert run_app(["run", REQUEST, "--size", "64x64", "--no-open", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def bean(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    return Path(shutil.copytree(made, tmp_path / "bean"))


def change(*arguments: str, words: str = NIGHT, folder: str = "bean") -> int:
    return run_app(["change", folder, words, "--no-open", *arguments])


def listed(capsys: Captured, folder: str = "bean") -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run_app(["versions", folder, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def files(folder: Path) -> dict[str, bytes]:
    """What a reader sees of a folder."""
    found = {path.name: path.read_bytes() for path in (folder / "images").iterdir()}
    return found | {name: (folder / name).read_bytes() for name in ("document.md", "trajectory.jsonl")}


def calls(folder: Path) -> int:
    return len(list((folder / ".interleave" / "calls").rglob("*.json")))


def test_a_change_draws_what_depends_on_it_and_keeps_the_version_before(bean: Path, capsys: Captured) -> None:
    before = files(bean)
    assert change() == 0
    out = capsys.readouterr().out
    assert out.startswith("bean: changing version 1\n")
    assert "kept: step 1\ndrawn again: steps 2, 3\nversion 2, from 1: bean/index.html\n" in out
    assert "step 1: drawing" not in out and "step 1: kept" in out
    after = files(bean)
    assert [after[f"step-0{n}.png"] == before[f"step-0{n}.png"] for n in (1, 2, 3)] == [True, False, False]
    old = (bean / "versions" / "1" / "index.html").read_text(encoding="utf-8")
    assert old != (bean / "index.html").read_text(encoding="utf-8")
    assert (bean / "versions" / "1" / "trajectory.jsonl").read_bytes() == before["trajectory.jsonl"]
    assert [(one["number"], one["before"], one["current"], one["asked"]) for one in listed(capsys)] == [
        (1, None, False, REQUEST),
        (2, 1, True, NIGHT),
    ]


def test_going_back_calls_nothing_and_loses_nothing(bean: Path, capsys: Captured) -> None:
    before = files(bean)
    assert change() == 0
    after, made = files(bean), calls(bean)
    assert run_app(["restore", "bean", "1"]) == 0
    assert capsys.readouterr().out.endswith(f"version 1: {REQUEST}\nbean/index.html\n")
    assert files(bean) == before
    assert run_app(["restore", "bean", "2"]) == 0
    assert files(bean) == after
    assert calls(bean) == made
    assert run_app(["restore", "bean", "7"]) == 2
    assert capsys.readouterr().err == "Error: There is no version 7. There are: 1, 2.\n"
    assert run_app(["versions", "bean"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("   1  ") and shown[1].startswith("*  2  ") and shown[1].endswith(f"from 1   {NIGHT}")


def test_the_same_command_again_goes_on_and_pays_nothing(bean: Path, capsys: Captured) -> None:
    assert change() == 0
    made = calls(bean)
    assert change("--version", "1") == 0
    assert calls(bean) == made
    assert [one["number"] for one in listed(capsys)] == [1, 2], "it is the same version"
    # The command that made the document goes back to it, and says what stays.
    assert run_app(["run", REQUEST, "--size", "64x64", "--no-open", "--out", "bean"]) == 0
    out = capsys.readouterr().out
    assert "version 2 stays; langgraph-interleave restore bean 2 goes back to it" in out
    assert [one["current"] for one in listed(capsys)] == [True, False]
    assert calls(bean) == made


def test_a_version_is_forked_into_a_folder_of_its_own(bean: Path, capsys: Captured) -> None:
    before = files(bean)
    assert change() == 0
    second = files(bean)
    assert change("--version", "1", "--out", "sun", words="add a step after 2: put it in the sun") == 0
    out = capsys.readouterr().out
    assert "new: step 3\nversion 3, from 1: sun/index.html" in out
    assert files(bean) == second
    assert files(bean.with_name("sun"))["step-02.png"] == before["step-02.png"]
    assert [one["before"] for one in listed(capsys, "sun")] == [None, 1, 1]
    assert len(listed(capsys)) == 2
    bean.with_name("other").mkdir()
    (bean.with_name("other") / "mine").touch()
    assert change("--out", "other") == 2
    assert "--out other holds something else" in capsys.readouterr().err
    assert change("--out", "bean/inside") == 2
    assert "is inside the document's folder" in capsys.readouterr().err


def test_a_change_that_waits_leaves_the_document_as_it_was(bean: Path, capsys: Captured) -> None:
    before = files(bean)
    assert change("--approve", "plan") == 3
    assert capsys.readouterr().out.endswith("what waits: bean/review/index.html\nbean is as it was: version 1\n")
    assert files(bean) == before and len(listed(capsys)) == 1
    assert "Waiting for a reviewer" in (bean / "review" / "index.html").read_text(encoding="utf-8")
    made = calls(bean)
    assert change("--approve", "plan", "--yes") == 0
    assert calls(bean) > made
    assert [one["number"] for one in listed(capsys)] == [1, 2]
    assert not (bean / "review").exists()


@pytest.mark.parametrize("left", ["waiting", "cancelled", "damaged"])
def test_what_was_delivered_stays_until_the_same_run_delivers_again(bean: Path, capsys: Captured, left: str) -> None:
    typed = ["run", REQUEST, "--size", "64x64", "--no-open", "--out", "bean", "--draft", "--approve", "steps"]
    before = files(bean) | {"index.html": (bean / "index.html").read_bytes()}
    if left == "cancelled":
        (bean.parent / "x.json").write_text('["cancel"]', encoding="utf-8")
    elif left == "damaged":
        (bean.parent / "x.json").write_text('["perhaps"]', encoding="utf-8")
    answers = [] if left == "waiting" else ["--answer", "x.json"]
    assert run_app([*typed, *answers]) == {"waiting": 3, "cancelled": 130, "damaged": 2}[left]
    out = capsys.readouterr().out
    if left != "damaged":
        assert out.endswith("bean is as it was: version 1\n")
    assert files(bean) | {"index.html": (bean / "index.html").read_bytes()} == before
    assert [(one["number"], one["outcome"]) for one in listed(capsys)] == [(1, "complete")]
    if left != "waiting":
        return
    assert (bean / "review" / "index.html").exists()
    # A run that was cut off has left its trajectory; the document's own is not lost.
    first = (bean / "trajectory.jsonl").read_text(encoding="utf-8").partition("\n")[0]
    (bean / "trajectory.jsonl").write_text(f"{first}\n", encoding="utf-8")

    # With a reviewer it becomes the next version; the same command again is the same one.
    assert run_app([*typed, "--yes"]) == 0
    made = calls(bean)
    assert "version 1 stays; langgraph-interleave restore bean 1 goes back to it" in capsys.readouterr().out
    assert run_app(typed) == 0
    assert calls(bean) == made, "nothing is drawn again"
    assert [(one["number"], one["outcome"], one["current"]) for one in listed(capsys)] == [
        (1, "complete", False),
        (2, "complete", True),
    ]
    assert run_app(["restore", "bean", "1"]) == 0
    assert files(bean)["trajectory.jsonl"] == before["trajectory.jsonl"]
    assert change() == 0, "it can be changed"


def test_a_document_that_waits_is_not_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    typed = ["run", REQUEST, "--size", "64x64", "--no-open", "--out", "bean", "--approve", "plan"]
    (tmp_path / "a.json").write_text(json.dumps([{"decision": "revise", "remark": NIGHT}]), encoding="utf-8")
    assert run_app([*typed, "--answer", "a.json"]) == 3
    made = calls(tmp_path / "bean")
    assert change() == 2
    assert "Version 1 waits for answers" in capsys.readouterr().err
    # The remark is not made again, nor the planner asked for it.
    assert run_app(typed) == 3
    assert calls(tmp_path / "bean") == made == 2
    assert run_app([*typed, "--yes"]) == 0
    assert "at night" in (tmp_path / "bean" / "document.md").read_text(encoding="utf-8")
    assert [one["outcome"] for one in listed(capsys)] == ["complete"]


def test_a_change_that_cannot_be_made_leaves_the_document_as_it_was(bean: Path, capsys: Captured) -> None:
    before = files(bean)
    assert change("--backend", "nobody") == 2
    assert change("--image", "none.png") == 2
    assert change("--version", "4") == 2
    assert change("--max-calls", "1", "--max-seconds", "0.001") in (1, 3, 130)
    if len(listed(capsys)) == 1:
        assert files(bean) == before


def test_a_change_is_made_with_what_the_document_was_made_with(working: Path, capsys: Captured) -> None:
    scripted = ["--planner", "scene", "--backend", "scripted", "--critic", "scripted"]
    assert run_app(["run", REQUEST, *scripted, "--out", "bean", "--seed", "7", "--no-open"]) == 0
    kept = listed(capsys)[0]["made_with"]
    assert kept == {"seed": 7, "planner": "scene", "backend": "scripted", "critic": "scripted"}
    assert change() == 0
    assert listed(capsys)[1]["made_with"] == kept


@pytest.mark.parametrize(
    ("words", "why"),
    [("gibberish flurb", "flurb"), ("make step 9 blue", "no step 9"), ("make it in German", "German")],
)
def test_a_change_that_changes_nothing_is_no_version(bean: Path, capsys: Captured, words: str, why: str) -> None:
    before = files(bean)
    assert change(words=words) == 1
    out = capsys.readouterr().out
    assert why in "".join(line for line in out.splitlines() if line.startswith("note: ")), out
    assert "complete" not in out and "\nnothing was changed\n" in out
    assert out.endswith("bean is as it was: version 1\n")
    assert files(bean) == before and len(listed(capsys)) == 1


@pytest.mark.parametrize(("folder", "says"), [("nothing", "is no folder"), ("empty", "can be changed")])
def test_a_folder_without_a_document_is_said(bean: Path, capsys: Captured, folder: str, says: str) -> None:
    bean.with_name("empty").mkdir()
    for command in (["change", folder, "x"], ["versions", folder], ["restore", folder, "1"]):
        assert run_app(command) == 2
        assert says in capsys.readouterr().err


def test_a_list_that_is_damaged_is_named_and_made_again(bean: Path, capsys: Captured) -> None:
    (bean / ".interleave" / "versions.json").write_text("{", encoding="utf-8")
    assert change() == 2
    assert "bean/.interleave/versions.json cannot be read" in capsys.readouterr().err
    (bean / ".interleave" / "versions.json").unlink()
    assert run_app(["run", REQUEST, "--size", "64x64", "--no-open", "--out", "bean"]) == 0
    assert change() == 0


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (
            "openai:m?base_url=http://me:secret@127.0.0.1/v1&quality=low",
            "openai:m?base_url=http://127.0.0.1/v1&quality=low",
        ),
        ("mine?api_key=sk-1&a=b", "mine?a=b"),
        ("mine?token=t", "mine"),
        ("mine?api_key_env=KEY", "mine?api_key_env=KEY"),
    ],
)
def test_secrets_are_not_kept(typed: str, kept: str) -> None:
    assert Options("x", backend=typed, planner=typed).kept() == {"backend": kept, "planner": kept}
    several = Options("x", backend=(f"a={typed}", "b=sketch")).kept()
    assert several == {"backend": [f"a={kept}", "b=sketch"]}
    assert Options("y").made_with(several).backend == (f"a={kept}", "b=sketch")
