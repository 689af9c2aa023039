"""Answers given before, answers in files, and pictures for whoever is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from rich.color import Color

from langgraph_interleave import ArtifactStore
from langgraph_interleave.cli.answers import Given, Kept, read_review
from langgraph_interleave.cli.pictures import half_blocks
from langgraph_interleave.errors import ConfigError, InterleaveError
from langgraph_interleave.imaging import load_image
from langgraph_interleave.testing import noise_card

PLAN: dict[str, Any] = {
    "ask": "plan",
    "title": "T",
    "steps": [{"step": 0, "number": 1}],
    "estimate": "a",
    "answers": {},
}
STEP: dict[str, Any] = {"ask": "step", "step": 1, "number": 2, "attempts": []}
ACCEPT = {"decision": "accept"}
REVISE = {"decision": "revise", "remark": "Shorter"}


def test_an_answer_is_there_for_whoever_comes_to_the_same_question_again(tmp_path: Path) -> None:
    path = tmp_path / "a" / "answers.jsonl"
    kept = Kept(path, "r")
    assert kept.take(PLAN) is None
    kept.put(PLAN, REVISE)
    # The planner answered with the same plan: that is asked about anew.
    assert kept.take(PLAN) is None
    kept.put(PLAN, ACCEPT)
    again = Kept(path, "r")
    assert again.take({**PLAN, "estimate": "dearer now"}) == REVISE
    assert again.take(PLAN) == ACCEPT
    assert again.take(PLAN) is None
    assert again.take(STEP) is None
    assert Kept(path, "another").take(PLAN) is None


def test_an_answer_that_was_of_no_use_is_replaced(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "answers.jsonl", "r")
    kept.take(STEP)
    kept.put(STEP, {"decision": "accept", "attempt": 7})
    wrong = {"error": "Attempt 7 has no picture.", **STEP}
    assert kept.take(wrong) is None
    kept.put(wrong, ACCEPT)
    assert Kept(tmp_path / "answers.jsonl", "r").take(STEP) == ACCEPT


def test_a_line_that_was_cut_off_loses_one_answer_only(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    kept = Kept(path, "r")
    kept.take(PLAN)
    kept.put(PLAN, ACCEPT)
    with path.open("a") as file:
        file.write('{"run": "r", "quest')
    kept = Kept(path, "r")
    assert kept.take(PLAN) == ACCEPT
    kept.take(STEP)
    kept.put(STEP, ACCEPT)
    assert Kept(path, "r").take(STEP) == ACCEPT


def test_a_plan_that_was_given_up_is_asked_about_again(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "answers.jsonl", "r")
    kept.take(PLAN)
    kept.put(PLAN, {"decision": "cancel"})
    assert Kept(tmp_path / "answers.jsonl", "r").take(PLAN) is None


def test_a_file_answers_in_order_or_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(["accept", {"decision": "skip"}]), encoding="utf-8")
    given = Given(Path("a.json"), tmp_path)
    assert [given.take(PLAN), given.take(STEP), given.take(STEP)] == ["accept", {"decision": "skip"}, None]
    path.write_text(json.dumps({"2": ["revise", "accept"], "plan": "accept"}), encoding="utf-8")
    given = Given(path, tmp_path)
    assert [given.take(STEP), given.take(PLAN), given.take(STEP), given.take(PLAN)] == [
        "revise", "accept", "accept", None,
    ]  # fmt: skip


def test_what_nothing_asks_for_is_known(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"2": ["revise", "accept"], "plan": "accept", "7": "skip"}), encoding="utf-8")
    given = Given(path, tmp_path)
    assert given.peek(STEP) == "revise" and given.take(STEP) == "revise"
    assert given.peek(PLAN) == given.take(PLAN) == "accept" and given.peek(PLAN) is None
    assert given.unused == ("step 2", "step 7")
    given.take(STEP)
    assert given.unused == ("step 7",)
    path.write_text('["accept", "skip"]', encoding="utf-8")
    given = Given(path, tmp_path)
    given.take(PLAN)
    assert given.unused == ("1 answer",) and given.peek(STEP) is None
    given.take(STEP)
    assert given.unused == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("3", "neither a list nor"),
        (None, "cannot be read"),
        ('{"paln": "accept"}', "nothing that is asked is called 'paln'. Did you mean plan"),
        ('{"plan": "accept", "step 2": "accept"}', "is called 'step 2'. Name plan, limit, or the number of a step"),
    ],
)
def test_a_file_that_holds_no_answers_is_named(tmp_path: Path, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=f"--answer a.json.* {says}"):
        Given(Path("a.json"), tmp_path)


def test_a_picture_is_named_by_its_path(tmp_path: Path) -> None:
    store = ArtifactStore.memory()
    (tmp_path / "mine.png").write_bytes(noise_card("mine").data)
    answer = read_review(STEP, {"decision": "replace", "image": "mine.png"}, store, tmp_path)
    assert store.get(answer["image"]["url"]) == load_image(tmp_path / "mine.png").data
    with pytest.raises(InterleaveError, match=r"none\.png"):
        read_review(STEP, {"decision": "replace", "image": "none.png"}, store, tmp_path)
    with pytest.raises(ConfigError, match="needs a remark"):
        read_review(PLAN, "revise", store, tmp_path)


def test_a_picture_is_drawn_in_characters_of_two_pixels(tmp_path: Path) -> None:
    image = Image.new("RGB", (4, 4), (255, 0, 0))
    image.paste((0, 0, 255), (0, 1, 4, 4))
    image.save(tmp_path / "a.png")
    text = half_blocks((tmp_path / "a.png").read_bytes(), columns=4, lines=10)
    assert text is not None
    assert text.plain == "▀▀▀▀\n▀▀▀▀"
    first = text.spans[0].style
    assert not isinstance(first, str)
    assert (first.color, first.bgcolor) == (Color.from_rgb(255, 0, 0), Color.from_rgb(0, 0, 255))
    wide = half_blocks((tmp_path / "a.png").read_bytes(), columns=80, lines=3)
    assert wide is not None and len(wide.plain.splitlines()) == 3
    assert half_blocks(b"no picture", columns=4, lines=4) is None
