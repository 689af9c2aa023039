"""`langgraph-interleave run --resume`: a run goes on without its command being typed again."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.begun import BegunRuns
from langgraph_interleave.cli.folder import choose_folder
from langgraph_interleave.cli.typed import Options
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.testing import noise_card
from tests.cli.makers import being_made

REQUEST = "How to plant a bean"
SCRIPTED = ["--planner", "scripted", "--backend", "scripted", "--critic", "scripted"]
Captured = pytest.CaptureFixture[str]


def begin(*arguments: str, roles: list[str] = SCRIPTED) -> int:
    return run_app(["run", REQUEST, *roles, "--no-open", "--out", "bean", *arguments])


def resume(what: str = "bean", *arguments: str) -> int:
    return run_app(["run", "--resume", what, "--no-open", *arguments])


def records(folder: Path) -> dict[str, dict[str, Any]]:
    found = (json.loads(path.read_text("utf-8")) for path in (folder / ".interleave" / "calls").rglob("*.json"))
    return {one["key"]: one for one in found}


def the_run(folder: Path) -> str:
    (path,) = (folder / ".interleave" / "runs").glob("*.json")
    return path.stem


def test_a_capped_run_goes_on_with_another_cap_from_anywhere(
    working: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert begin("--max-images", "1", "--lookahead", "never") == 3
    out = capsys.readouterr().out
    assert "to go on with more: langgraph-interleave run --resume bean --max-images …\n" in out
    before = records(working / "bean")
    monkeypatch.chdir(working.parent)
    assert resume(the_run(working / "bean")[:6], "--max-images", "9") == 0
    out = capsys.readouterr().out
    assert f"work/bean: going on with run {the_run(working / 'bean')[:8]} (2 of 3 steps done, 3 calls made)" in out
    assert "3 of them answered from the ledger" in out
    assert "step 1: kept, from before\n" in out and "step 1: drawing" not in out
    after = records(working / "bean")
    assert {key: after[key] for key in before} == before, "no finished call is made again"
    assert sorted(path.name for path in working.iterdir()) == ["bean"]


def test_a_complete_run_is_only_written_again(working: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    assert begin() == 0
    page = working / "bean" / "index.html"
    written = page.read_bytes()
    page.unlink()
    before = records(working / "bean")
    monkeypatch.setattr("langgraph_interleave.cli.job.Parts.of", lambda _: pytest.fail("nothing is made"))
    capsys.readouterr()
    assert resume() == 0
    assert capsys.readouterr().out == (
        f"bean: run {the_run(working / 'bean')[:8]} is complete; nothing is called\nbean/index.html\n"
    )
    assert page.read_bytes() == written
    assert records(working / "bean") == before
    assert resume("bean", "--events") == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert (json.loads(line)["outcome"], json.loads(line)["steps"]) == ("complete", 3)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--seed", "4"], "--seed: that is another document"),
        (["--seed", "0", "--steps", "3", "--size", "64x64"], "--size, --steps: that is another document"),
        (["--backend", "sketch"], "--backend: that is another document"),
        (["--references", "all"], "--references: that is another document"),
        (["--out", "other"], "--out: that is another document"),
        (["--estimate"], "--estimate is of a run that is not begun."),
        (["How to make tea"], "other words: that is another document"),
        (["--image", "photo.png"], "--image: that is another document"),
    ],
)
def test_what_would_make_another_document_is_refused(
    working: Path, capsys: Captured, arguments: list[str], says: str
) -> None:
    (working / "photo.png").write_bytes(noise_card("a photo").data)
    assert begin("--max-images", "1") == 3
    before = {path: path.read_bytes() for path in working.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert resume("bean", *arguments) == 2
    assert capsys.readouterr().err.startswith(f"Error: {says}")
    assert {path: path.read_bytes() for path in working.rglob("*") if path.is_file()} == before


def test_what_is_the_same_may_be_said_again_and_a_seed_of_its_own_is_kept(working: Path) -> None:
    assert begin("--max-images", "1", "--seed", "7") == 3
    assert (
        run_app(
            [
                "run",
                REQUEST,
                *SCRIPTED,
                "--seed",
                "7",
                "--out",
                "bean",
                "--no-open",
                "--resume",
                "bean",
                "--max-images",
                "9",
            ]
        )
        == 0
    )
    assert resume("bean", "--seed", "0") == 2, "the default is another seed"


def test_a_picture_that_was_given_need_not_be_there_any_more(working: Path, capsys: Captured) -> None:
    (working / "photo.png").write_bytes(noise_card("a photo").data)
    chained = ["--planner", "chained", "--backend", "scripted", "--critic", "yes"]
    assert begin("--image", "photo.png", "--max-images", "1", "--lookahead", "never", roles=chained) == 3
    shutil.move(working / "photo.png", working / "elsewhere.png")
    assert resume("bean", "--image", "elsewhere.png", "--max-images", "9") == 0, capsys.readouterr().err
    assert begin("--max-images", "1", "--image", "elsewhere.png", "--seed", "2", roles=chained) == 3
    (given,) = BegunRuns(working / "bean-2").all()[0].pictures
    (stored,) = (working / "bean-2" / ".interleave" / "artifacts").rglob(given.ref.sha256)
    stored.unlink()
    capsys.readouterr()
    assert resume("bean-2") == 1
    assert "A picture of the request is not in bean-2 any more" in capsys.readouterr().err


def test_a_run_that_waits_asks_the_same_and_takes_answers(working: Path, capsys: Captured) -> None:
    assert begin("--approve", "plan,steps", roles=["--planner", "apart", *SCRIPTED[2:]]) == 3
    capsys.readouterr()
    assert resume() == 3
    out = capsys.readouterr().out
    assert "waiting for 1 answer:\n  The plan: A plan\n    it may take 2.8 drawings " in out
    assert "\nto go on, langgraph-interleave run --resume bean; --answer" in out
    (working / "a.json").write_text('{"plan": "accept"}', encoding="utf-8")
    assert resume("bean", "--answer", "a.json") == 3
    assert "waiting for 2 answers" in capsys.readouterr().out
    assert resume("bean", "--yes") == 0
    assert resume("bean", "--approve", "steps") == 0, "who is asked otherwise is asked, and that was answered"


def test_a_change_goes_on_as_a_change(
    working: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run_app(["run", "How to plant a bean, in 2 steps", "--size", "64x64", "--no-open", "--out", "bean"]) == 0
    assert run_app(["change", "bean", "make step 2 night-time", "--approve", "plan", "--no-open"]) == 3
    assert "to go on, langgraph-interleave run --resume bean;" in capsys.readouterr().out
    shutil.move(working / "bean", working / "moved")
    assert resume("moved", "--yes") == 0
    out = capsys.readouterr().out
    assert "kept: step 1\ndrawn again: step 2\nversion 2, from 1: moved/index.html\n" in out
    # Of both runs of the folder the last is meant; the first one by its id.
    assert resume("moved") == 0
    assert "it made version" not in capsys.readouterr().out
    first = json.loads((working / "moved/.interleave/versions.json").read_text("utf-8"))["versions"][0]["run"]
    page = (working / "moved" / "index.html").read_bytes()
    assert resume(first) == 2, "where it was is gone"
    capsys.readouterr()
    assert run_app(["runs", "list", "moved"]) == 0
    assert f"{first[:8]}  " in capsys.readouterr().out
    assert (working / "moved" / "index.html").read_bytes() == page


def test_without_anything_to_go_on_with_it_is_said_what_there_is(working: Path, capsys: Captured) -> None:
    assert resume("nowhere") == 2
    assert "is neither a folder nor the id of a run. Nothing was begun yet:" in capsys.readouterr().err
    begin("--max-images", "1")
    begin("--max-images", "1", "--seed", "1")
    (working / "empty").mkdir()
    capsys.readouterr()
    assert resume("empty") == 2
    err = capsys.readouterr().err
    assert err.startswith("Error: No run was begun in empty. There are: ")
    assert "partial in bean (How to plant a bean)" in err and "partial in bean-2" in err
    shutil.copytree(working / "bean", working / "copy")
    resume("copy")
    capsys.readouterr()
    assert resume(the_run(working / "bean")) == 2
    assert re_several(capsys.readouterr().err)
    shutil.rmtree(working / "bean-2" / ".interleave" / "runs")
    assert resume("bean-2") == 2
    assert "An earlier release made bean-2" in capsys.readouterr().err
    assert run_app(["run"]) == 2
    assert capsys.readouterr().err.startswith("Error: Nothing is asked.")


def re_several(text: str) -> bool:
    return "may be several runs: " in text and "in bean" in text and "in copy" in text


def test_a_record_of_a_later_release_is_said_to_be_one(working: Path, capsys: Captured) -> None:
    begin("--max-images", "1")
    (path,) = (working / "bean" / ".interleave" / "runs").glob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"v": 2}), encoding="utf-8")
    with pytest.raises(ConfigError, match="was written by a newer release: it is a run of form 2"):
        BegunRuns(working / "bean").read(path.stem)
    assert resume(path.stem) == 2
    capsys.readouterr()
    assert resume("bean") == 2
    assert f"bean/.interleave/runs/{path.name} was written by a newer release" in capsys.readouterr().err
    path.write_text("{", encoding="utf-8")
    assert resume("bean") == 2
    assert "what the run was begun with, is damaged. Type the run's command again" in capsys.readouterr().err
    # The whole command does not need it.
    assert begin() == 0
    assert resume("bean") == 0


def test_what_was_begun_once_is_gone_on_with_for_ever(working: Path) -> None:
    golden = Path(__file__).parent.parent / "golden" / "stored" / "run.v1.json"
    (working / "bean/.interleave/runs").mkdir(parents=True)
    shutil.copyfile(golden, working / "bean/.interleave/runs/fc854642f16224a4.json")
    assert resume("bean") == 0
    assert begin("--max-images", "1") == 0, "the same run, as its command begins it"
    (one,) = BegunRuns(working / "bean").all()
    assert one.options.keys() == json.loads(golden.read_text(encoding="utf-8"))["options"].keys() | {"max_images"}


def test_no_secret_and_no_path_is_kept(working: Path, capsys: Captured) -> None:
    options = Options("a bean? key=value", backend="openai:flux?api_key=sk-canary&size=9", out=Path("secret-place"))
    assert "canary" not in json.dumps(options.begun()) and "secret-place" not in json.dumps(options.begun())
    assert options.begun()["request"] == "a bean? key=value"
    assert options.withheld == ("backend",)
    assert Options("a", backend=("a=x", "b=y?token=t")).withheld == ("backend",)
    assert Options("a", backend=("a=x", "b=y"), planner="p?a=b").withheld == ()
    begin("--max-images", "1")
    runs = BegunRuns(working / "bean")
    (one,) = runs.all()
    runs.write(one.model_copy(update={"withheld": ("backend",)}))
    capsys.readouterr()
    assert resume() == 2
    assert capsys.readouterr().err == (
        "Error: --backend held a key or a password, and that is not kept. Give --backend again, as it was.\n"
    )
    assert resume("bean", "--backend", "scripted", "--max-images", "9") == 0


def test_another_process_that_makes_the_run_is_named(working: Path, capsys: Captured, other: int) -> None:
    begin("--max-images", "1")
    being_made(working / "bean", other)
    capsys.readouterr()
    assert resume() == 3
    said = f"note: process {other} makes this run, too: its calls are waited for, and none is made twice\n"
    assert said in capsys.readouterr().out
    being_made(working / "bean", other)
    assert begin() == 0
    assert said in capsys.readouterr().out


def test_a_run_that_was_killed_before_it_told_anything_goes_on_in_its_folder(working: Path) -> None:
    begin("--max-images", "1")
    run = the_run(working / "bean")
    for path in (working / "bean").iterdir():
        if path.name != ".interleave":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (working / "bean" / ".interleave" / "versions.json").unlink()
    assert choose_folder(Path("bean"), request=REQUEST, run=run, working=working).folder == working / "bean"
    assert choose_folder(Path("bean"), request=REQUEST, run="other", working=working).folder == working / "bean-2"


def test_what_is_refused_leaves_no_trace_of_a_run(working: Path, capsys: Captured) -> None:
    assert begin(roles=["--planner", "scripted", "--backend", "nobody"]) == 2
    assert begin("--answer", "none.json", "--approve", "plan", "--seed", "3") == 2
    capsys.readouterr()
    assert run_app(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert list(working.iterdir()) == []
    begin("--approve", "plan", "--seed", "5")
    (working / "bad.json").write_text('["perhaps"]', encoding="utf-8")
    assert begin("--approve", "plan", "--seed", "5", "--answer", "bad.json") == 2
    capsys.readouterr()
    run_app(["runs", "--json"])
    assert json.loads(capsys.readouterr().out)[0]["state"] == "waiting"


def test_an_index_that_cannot_be_written_is_no_reason_to_fail(
    working: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (working / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("INTERLEAVE_HOME", str(working / "file"))
    assert begin("--max-images", "1") == 3
    assert resume("bean", "--max-images", "9") == 0
    capsys.readouterr()
    assert run_app(["runs"]) == 0
    assert capsys.readouterr().out == "No run was begun yet.\n"


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_what_was_asked_is_nobody_elses_business(working: Path) -> None:
    begin("--max-images", "1")
    assert (working.parent / "home" / "runs").stat().st_mode & 0o077 == 0
