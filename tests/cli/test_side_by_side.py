"""Several that use one folder at the same moment, one that is refused, links laid in it: nothing is lost."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.begun import Begun, BegunRuns
from langgraph_interleave.cli.folder import Place, choose_folder, runs_in
from langgraph_interleave.cli.versions import Versions
from langgraph_interleave.document import Document
from tests.cli.makers import being_made

REQUEST = "How to plant a bean"
SCRIPTED = ["--planner", "scripted", "--backend", "scripted", "--critic", "scripted"]
Captured = pytest.CaptureFixture[str]


def begin(*arguments: str) -> int:
    return run_app(["run", REQUEST, *SCRIPTED, "--no-open", "--out", "bean", *arguments])


def the_run(folder: Path) -> Begun:
    (one,) = BegunRuns(folder).all()
    return one


def test_of_several_begun_at_the_same_moment_each_has_a_folder_of_its_own(tmp_path: Path) -> None:
    found: dict[str, Place] = {}
    together = threading.Barrier(6)

    def choose(run: str) -> None:
        together.wait()
        found[run] = choose_folder(Path("bean"), request=REQUEST, run=run, working=tmp_path)

    threads = [threading.Thread(target=choose, args=(f"run{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(place.folder.name for place in found.values()) == ["bean", *(f"bean-{n}" for n in range(2, 7))]
    assert all(place.fresh and runs_in(place.folder) == {run} for run, place in found.items())


def test_of_one_begun_twice_at_the_same_moment_one_is_the_first(tmp_path: Path) -> None:
    first, second = (choose_folder(Path("bean"), request=REQUEST, run="r1", working=tmp_path) for _ in range(2))
    assert first.folder == second.folder
    assert (first.fresh, second.fresh) == (True, False)


def test_a_claim_that_is_taken_back_leaves_nothing(tmp_path: Path) -> None:
    choose_folder(Path("bean"), request=REQUEST, run="r1", working=tmp_path).clear()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_somebody_only_looked_at_is_empty(tmp_path: Path) -> None:
    runs = tmp_path / "bean" / ".interleave" / "runs"
    runs.mkdir(parents=True)
    (runs / ".lock").touch()
    assert runs_in(tmp_path / "bean") == set()
    assert choose_folder(Path("bean"), request=REQUEST, run="r1", working=tmp_path).folder == tmp_path / "bean"


@pytest.mark.parametrize("how", [["run", "--resume", "bean"], None])
def test_an_answer_that_cannot_be_read_takes_nothing_from_a_run(
    working: Path, capsys: Captured, how: list[str] | None
) -> None:
    assert begin("--max-images", "1", "--lookahead", "never") == 3
    before = the_run(working / "bean")
    answer = ["--answer", "none.json"]
    assert (begin(*answer) if how is None else run_app([*how, *answer, "--no-open"])) == 2
    assert the_run(working / "bean") == before
    assert run_app(["run", "--resume", "bean", "--max-images", "9", "--no-open"]) == 0


def test_who_is_refused_takes_nothing_from_another_that_makes_the_run(
    working: Path, other: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin("--max-images", "1")
    being_made(working / "bean", other)
    kept = (working / "bean" / "trajectory.jsonl").read_text(encoding="utf-8")
    # As if nothing had been there when it was begun.
    place = Place(working / "bean", fresh=True)
    monkeypatch.setattr("langgraph_interleave.cli.job.choose_folder", lambda *_, **__: place)
    assert begin("--answer", "none.json") == 2
    assert the_run(working / "bean").maker == other
    assert (working / "bean" / "trajectory.jsonl").read_text(encoding="utf-8") == kept


def test_of_two_versions_made_at_the_same_moment_both_stay(working: Path) -> None:
    assert begin() == 0
    folder = working / "bean"
    artifacts = ArtifactStore.folder(folder / ".interleave")
    lists = [Versions.of(folder), Versions.of(folder)]
    data = lists[0].load(lists[0].all[0], artifacts).data.model_dump(mode="json", exclude_none=True)
    for run, versions in zip(("r1", "r2"), lists, strict=True):
        with versions.alone():
            versions.put({**data, "run_id": run}, asked=run, made_with={}, artifacts=artifacts, before=1)
    assert [(one.number, one.asked) for one in Versions.of(folder).all] == [(1, REQUEST), (2, "r1"), (3, "r2")]


def laid(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_file():
        link.unlink()
    link.symlink_to(target)


@pytest.mark.parametrize("name", ["index.html", "document.md", "trajectory.jsonl", "versions/1/index.html"])
def test_nothing_is_written_through_a_link(working: Path, name: str) -> None:
    assert begin() == 0
    folder, mine = working / "bean", working / "mine.txt"
    mine.write_text("mine", encoding="utf-8")
    (folder / "versions" / "1").mkdir(parents=True)
    (folder / "versions" / "1" / "trajectory.jsonl").write_text("theirs", encoding="utf-8")
    laid(folder / name, mine)
    assert run_app(["restore", "bean", "1"]) == 0
    assert begin() == 0
    assert mine.read_text(encoding="utf-8") == "mine"


def test_what_is_put_aside_is_not_fetched_through_a_link(working: Path) -> None:
    assert begin() == 0
    secret = working / "secret.txt"
    secret.write_text("mine", encoding="utf-8")
    laid(working / "bean" / "versions" / "1" / "trajectory.jsonl", secret)
    assert run_app(["restore", "bean", "1"]) == 0
    assert "mine" not in (working / "bean" / "trajectory.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["versions", ".interleave/answers.jsonl"])
def test_a_link_to_somewhere_else_is_refused(working: Path, capsys: Captured, name: str) -> None:
    assert begin() == 0
    elsewhere = working / "elsewhere"
    (elsewhere / "1").mkdir(parents=True)
    (elsewhere / "1" / "mine.txt").write_text("mine", encoding="utf-8")
    laid(working / "bean" / name, elsewhere)
    assert begin("--approve", "plan") == 2
    assert "is a link to somewhere else" in capsys.readouterr().err
    assert [path.relative_to(elsewhere).as_posix() for path in elsewhere.rglob("*")] == ["1", "1/mine.txt"]


def test_a_question_s_pictures_are_not_written_through_a_link(working: Path) -> None:
    assert begin("--approve", "steps") == 3
    (picture,) = (working / "bean" / "review").glob("step-01-*.png")
    mine = working / "mine.txt"
    mine.write_text("mine", encoding="utf-8")
    laid(picture, mine)
    assert begin("--approve", "steps") == 3
    assert mine.read_text(encoding="utf-8") == "mine"
    assert not picture.is_symlink()


def test_a_document_is_written_by_one_at_a_time(working: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert begin() == 0
    folder = working / "bean"
    artifacts = ArtifactStore.folder(folder / ".interleave")
    one = Versions.of(folder)
    document = one.load(one.all[0], artifacts)
    saved: list[str] = []
    monkeypatch.setattr(Document, "save", lambda self, path: saved.append(str(path)))
    with one.alone():
        thread = threading.Thread(target=lambda: run_app(["restore", "bean", "1"]))
        thread.start()
        thread.join(0.2)
        assert thread.is_alive() and not saved
        assert document.data.run_id
    thread.join(10)
    assert saved == [str(folder)]
