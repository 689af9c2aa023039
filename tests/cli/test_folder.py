"""Where a document goes: never over another, and back into its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langgraph_interleave.cli.folder import STORE, TRAJECTORY, Place, choose_folder, run_id
from langgraph_interleave.errors import ConfigError

REQUEST = "How to plant a bean, in 5 steps"
NAME = "how-to-plant-a-bean-in-5-steps"


def choose(working: Path, wanted: str | None = None, run: str = "r1") -> Place:
    return choose_folder(Path(wanted) if wanted else None, request=REQUEST, run=run, working=working)


def holding(folder: Path, run: str) -> None:
    folder.mkdir(parents=True)
    (folder / TRAJECTORY).write_text(json.dumps({"type": "interleave.run", "run_id": run}) + "\n", encoding="utf-8")


def test_a_folder_is_named_after_the_request(tmp_path: Path) -> None:
    assert choose(tmp_path) == Place(tmp_path / NAME)
    assert (tmp_path / NAME).is_dir()


def test_an_empty_folder_is_used_and_a_deep_one_made(tmp_path: Path) -> None:
    (tmp_path / "bean").mkdir()
    assert choose(tmp_path, "bean") == Place(tmp_path / "bean")
    assert choose(tmp_path, "a/b/c").folder == tmp_path / "a" / "b" / "c"
    assert choose(tmp_path, str(tmp_path / "absolute")).page == tmp_path / "absolute" / "index.html"


def test_the_same_run_goes_back_to_its_folder(tmp_path: Path) -> None:
    holding(tmp_path / "bean", "r1")
    place = choose(tmp_path, "bean")
    assert place.folder == tmp_path / "bean"
    assert place.note == "bean holds this run already; what was drawn is not drawn again"
    assert not place.fresh


def test_another_run_gets_the_next_number_and_finds_it_again(tmp_path: Path) -> None:
    holding(tmp_path / "bean", "other")
    holding(tmp_path / "bean-2", "third")
    place = choose(tmp_path, "bean")
    assert place.folder == tmp_path / "bean-3"
    assert place.note == "bean holds something else; writing to bean-3"
    (tmp_path / "bean-3" / TRAJECTORY).write_text('{"run_id": "r1"}\n', encoding="utf-8")
    assert choose(tmp_path, "bean").folder == tmp_path / "bean-3"


@pytest.mark.parametrize("content", ["", "not json\n", "[1]\n", '{"run_id": 7}\n', '{"no": "id"}\n'])
def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path, content: str) -> None:
    (tmp_path / "bean").mkdir()
    (tmp_path / "bean" / TRAJECTORY).write_text(content, encoding="utf-8")
    assert choose(tmp_path, "bean").folder == tmp_path / "bean-2"
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "mine.jpg").write_bytes(b"x")
    assert choose(tmp_path, "photos").folder == tmp_path / "photos-2"


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "bean").write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="--out bean is a file"):
        choose(tmp_path, "bean")
    with pytest.raises(ConfigError, match="cannot be made"):
        choose(tmp_path, "bean/below")
    (tmp_path / NAME).write_text("mine", encoding="utf-8")
    assert choose(tmp_path).folder == tmp_path / f"{NAME}-2"


def test_here_is_a_folder_like_any_other(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    assert choose(here, ".").folder == here
    (here / "mine.txt").write_text("x", encoding="utf-8")
    assert choose(here, ".").folder == here
    assert choose(here, ".", "r2").folder == tmp_path / "here-2"


def test_a_refused_run_leaves_no_trace_but_an_earlier_one_stays(tmp_path: Path) -> None:
    place = choose(tmp_path, "bean")
    (place.folder / STORE / "artifacts").mkdir(parents=True)
    (place.folder / TRAJECTORY).touch()
    place.clear()
    assert not place.folder.exists()
    holding(tmp_path / "bean", "r1")
    choose(tmp_path, "bean").clear()
    assert (tmp_path / "bean" / TRAJECTORY).exists()


def test_a_folder_somebody_put_a_file_into_meanwhile_is_not_removed(tmp_path: Path) -> None:
    place = choose(tmp_path, "bean")
    (place.folder / "mine.txt").write_text("x", encoding="utf-8")
    place.clear()
    assert (place.folder / "mine.txt").exists()


def test_the_id_of_a_run_follows_what_its_document_depends_on() -> None:
    assert run_id({"request": "a", "seed": 0}) != run_id({"request": "a", "seed": 1})
    assert len(run_id({"request": "豆\ud800"})) == 16
