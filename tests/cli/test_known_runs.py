"""`langgraph-interleave runs`: which runs there are, what became of each, and how to be rid of one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.begun import BegunRuns
from langgraph_interleave.cli.deleting import delete_runs
from langgraph_interleave.cli.home import home
from langgraph_interleave.cli.known import in_folder
from langgraph_interleave.cli.managing import completed
from langgraph_interleave.cli.versions import Versions
from tests.cli.makers import being_made

REQUEST = "How to plant a bean"
SCRIPTED = ["--planner", "scripted", "--backend", "scripted", "--critic", "scripted"]
Captured = pytest.CaptureFixture[str]


def begin(*arguments: str, out: str = "bean") -> int:
    return run_app(["run", REQUEST, *SCRIPTED, "--no-open", "--out", out, *arguments])


def listed(capsys: Captured, *arguments: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run_app(["runs", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_runs_are_listed_with_what_became_of_them(working: Path, capsys: Captured) -> None:
    begin()
    begin("--seed", "1", "--max-images", "1", "--lookahead", "never", out="other")
    begin("--seed", "2", "--approve", "plan", out="third")
    found = listed(capsys)
    assert {(one["state"], one["done"], one["steps"], Path(one["folder"]).name) for one in found} == {
        ("complete", 3, 3, "bean"),
        ("partial", 2, 3, "other"),
        ("waiting", 0, 3, "third"),
    }
    assert {one["state"]: sum(one["spend"]["calls"].values()) for one in found} == {
        "complete": 7,
        "partial": 3,
        "waiting": 1,
    }
    assert all(one["spend"]["ambiguous"] == 0 and one["spend"]["cost_usd"] == 0 for one in found)
    complete = next(one for one in found if one["state"] == "complete")
    assert complete["resume"] is None and complete["asked"] == REQUEST
    assert run_app(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert f"{complete['run'][:8]}  {complete['begun'][:16].replace('T', ' ')}  complete    3 of 3 steps  7 calls" in (
        " ".join(line for line in lines if "complete" in line)
    )
    assert [run for run, _ in completed(complete["run"][:7])] == [complete["run"]]


def test_a_run_that_was_cut_off_shows_what_is_ambiguous(working: Path, capsys: Captured) -> None:
    begin("--max-images", "1", "--lookahead", "never")
    folder = working / "bean"
    (one,) = BegunRuns(folder).all()
    gone = f"{'0' * 12}-1-1-aa"  # on another machine, and its lease is over
    BegunRuns(folder).write(one.model_copy(update={"outcome": None, "owner": gone, "steps": None}))
    store = ArtifactStore.folder(folder / ".interleave")
    call = store.list_calls(one.run)[-1]
    cut = {**call, "status": "started", "owner": gone, "lease_until": 1.0, "result": None, "t_end": None}
    store.write_call(one.run, call["key"], cut)
    (found,) = listed(capsys)
    assert (found["state"], found["done"], found["steps"], found["spend"]["ambiguous"]) == ("unfinished", 3, 3, 1)
    assert run_app(["runs", "show", one.run[:5]]) == 0
    out = capsys.readouterr().out
    assert f"run {one.run}: unfinished\n  asked: {REQUEST}\n" in out
    assert "    1. Step 0: kept (1 attempt)\n" in out
    assert "critic   · step 1, attempt 1 · ambiguous\n" in out
    assert "  ambiguous: 1 call cut off" in out
    assert out.endswith("  to go on: langgraph-interleave run --resume bean\n")
    assert run_app(["runs", "show", "bean", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert [one["status"] for one in shown["calls"]] == ["finished", "finished", "ambiguous"]
    assert run_app(["run", "--resume", "bean", "--max-images", "9", "--no-open"]) == 0
    out = capsys.readouterr().out
    assert "1 cut off)" in out and "1 cut off (ambiguous: nobody knows whether the work was done)" in out
    run_app(["runs", "show", "bean"])
    assert "· made again, after 1 cut off\n" in capsys.readouterr().out


def test_a_run_that_is_being_made_is_said_to_be_and_stays(working: Path, capsys: Captured, other: int) -> None:
    begin("--max-images", "1")
    being_made(working / "bean", other)
    (found,) = listed(capsys)
    assert found["state"] == "running"
    assert run_app(["runs", "delete", "bean", "--yes"]) == 2
    assert f"is being made by process {other}." in capsys.readouterr().err
    assert (working / "bean" / "index.html").exists()


def test_a_folder_is_deleted_but_not_what_somebody_else_put_there(working: Path, capsys: Captured) -> None:
    begin()
    assert run_app(["runs", "delete", "bean"]) == 2
    assert "Say --yes to have it done without being asked." in capsys.readouterr().err
    (working / "bean" / "notes.txt").write_text("mine", encoding="utf-8")
    (working / "bean" / "images" / "mine.png").write_bytes(b"mine")
    assert run_app(["runs", "delete", "bean", "--yes"]) == 0
    assert capsys.readouterr().out.startswith("deleted the document in bean (1 version), and its calls: ")
    assert sorted(path.relative_to(working / "bean").as_posix() for path in (working / "bean").rglob("*")) == [
        "images",
        "images/mine.png",
        "notes.txt",
    ]
    assert listed(capsys) == []
    begin(out="other")
    run_app(["runs", "delete", "other", "--yes"])
    assert not (working / "other").exists()


def test_a_record_that_names_another_place_deletes_nothing_there(working: Path, capsys: Captured) -> None:
    """A folder may come from anybody."""
    begin("--max-images", "1")
    (working / "precious").mkdir()
    (path,) = (working / "bean" / ".interleave" / "runs").glob("*.json")
    for run in ("../../../precious", "precious", "0123456789abcdef"):
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"run": run}), encoding="utf-8")
        capsys.readouterr()
        assert run_app(["runs", "delete", "bean", "--yes"]) == 2
        assert "is damaged" in capsys.readouterr().err
    (entry,) = (working.parent / "home" / "runs").iterdir()
    data = json.loads(entry.read_text("utf-8")) | {"run": "../../work/precious"}
    entry.write_text(json.dumps(data), encoding="utf-8")
    assert listed(capsys) == []
    assert (working / "precious").exists() and (working / "bean" / "index.html").exists()


def test_the_question_can_be_answered_with_no(working: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    begin()
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    asked: list[str] = []
    monkeypatch.setattr("typer.confirm", lambda text: asked.append(text))
    assert run_app(["runs", "delete", "bean"]) == 1
    assert asked == ["Delete the document in bean (1 version), and its calls?"]
    assert (working / "bean" / "index.html").exists()


def test_a_folder_that_is_gone_is_shown_and_forgotten(working: Path, capsys: Captured) -> None:
    begin()
    (found,) = listed(capsys)
    shutil.rmtree(working / "bean")
    (gone,) = listed(capsys)
    assert (gone["state"], gone["asked"], gone["spend"]) == ("gone", REQUEST, None)
    assert run_app(["runs"]) == 0
    assert "  gone        bean  How to plant a bean\n" in capsys.readouterr().out
    assert run_app(["run", "--resume", found["run"]]) == 2
    assert "is gone. If it was moved, name where it is" in capsys.readouterr().err
    assert run_app(["runs", "show", found["run"]]) == 0
    assert "the folder is gone" in capsys.readouterr().out
    assert run_app(["runs", "delete", found["run"], "--yes"]) == 0
    assert "deleted what is known of bean, which is gone: 0 files" in capsys.readouterr().out
    assert listed(capsys) == []


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document that was changed, copied for each test."""
    folder = tmp_path_factory.mktemp("changed") / "bean"
    words = ["run", "How to plant a bean, in 2 steps", "--size", "64x64", "--no-open", "--out", str(folder)]
    assert run_app(words) == 0
    assert run_app(["change", str(folder), "make step 2 night-time", "--no-open"]) == 0
    return folder


@pytest.mark.parametrize("which", [0, 1])
def test_of_two_versions_the_other_one_keeps_all_it_needs(
    working: Path, capsys: Captured, changed: Path, which: int
) -> None:
    folder = Path(shutil.copytree(changed, working / "bean"))
    store = ArtifactStore.folder(folder / ".interleave")
    versions = Versions.of(folder)
    doomed, kept = versions.all[which], versions.all[1 - which]
    expected = versions.load(kept, store).to_html()
    files = sum(path.is_file() for path in folder.rglob("*"))
    said = delete_runs([one for one in in_folder(folder) if one.run == doomed.run], working)
    assert f"deleted version {doomed.number} of bean, with its calls; 1 other run of it stays: " in said
    assert sum(path.is_file() for path in folder.rglob("*")) < files
    now = Versions.of(folder)
    assert [one.number for one in now.all] == [kept.number]
    assert now.current == now.all[0]
    assert now.load(now.all[0], store).to_html() == expected
    assert (folder / "index.html").read_text(encoding="utf-8") == expected
    assert not (folder / ".interleave" / "calls" / doomed.run).exists()
    assert len(list((folder / ".interleave" / "calls" / kept.run).iterdir())) > 0
    # It goes on as if nothing had been.
    assert run_app(["change", "bean", "make step 2 night-time", "--no-open"]) == 0


def test_where_a_folder_has_two_runs_to_go_on_with_each_is_named(working: Path, capsys: Captured) -> None:
    begin("--max-images", "1", "--lookahead", "never")
    runs = BegunRuns(working / "bean")
    (first,) = runs.all()
    runs.write(first.model_copy(update={"run": "0123456789abcdef"}))
    capsys.readouterr()
    assert run_app(["runs", "show", "bean"]) == 0
    out = capsys.readouterr().out
    for run in (first.run, "0123456789abcdef"):
        assert f"  to go on: langgraph-interleave run --resume {run[:8]}\n" in out


def test_the_same_request_in_two_folders_is_one_id_and_the_folder_is_to_be_named(
    working: Path, capsys: Captured
) -> None:
    begin("--max-images", "1", out="bean")
    begin("--max-images", "1", out="copy")
    run = BegunRuns(working / "bean").all()[0].run
    capsys.readouterr()
    assert run_app(["run", "--resume", run[:6], "--no-open"]) == 2
    said = capsys.readouterr().err
    assert f"{run} in bean" in said and f"{run} in copy" in said and said.rstrip().endswith("Name the folder.")
    shutil.rmtree(working / "copy")
    assert run_app(["run", "--resume", run[:6], "--no-open", "--max-images", "9"]) == 0


@pytest.fixture(scope="module")
def kept_for_a_module() -> Path:
    return home()


def test_no_fixture_keeps_its_runs_with_the_users(
    kept_for_a_module: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert kept_for_a_module.is_relative_to(tmp_path_factory.getbasetemp())
