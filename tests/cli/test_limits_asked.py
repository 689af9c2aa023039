"""The command line asks whether to raise a limit: in a terminal, from a file, from what was answered before."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.answers import Given, Kept, read_review
from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.asked import left_lines
from langgraph_interleave.errors import ConfigError
from tests.cli.terminal import terminal
from tests.cli.test_asking import Sitting
from tests.cli.test_reviews import SCRIPTED, calls, outcome_of

Captured = pytest.CaptureFixture[str]
LIMIT: dict[str, Any] = {
    "ask": "limit",
    "says": "12 of 12 pictures used; 2 steps are not done.",
    "limit": "max_images",
    "used": 12,
    "cap": 12,
    "undone": [
        {"step": 3, "number": 4, "title": "The sprout", "state": "not drawn"},
        {"step": 4, "number": 5, "state": "not accepted", "attempts": 2},
    ],
    "spend": {"images": 12},
    "estimate": "2.8 drawings (at most 6), for what is left",
    "suggested": {"max_images": 18},
}


def run(*arguments: str) -> int:
    asks = ["--on-limit", "ask", "--max-images", "2"]
    return run_app(["run", "How to plant a bean", *SCRIPTED, *asks, "--no-open", "--out", "bean", *arguments])


def test_nobody_is_waited_for_and_a_later_answer_goes_on(working: Path, capsys: Captured) -> None:
    assert run() == 3
    out = capsys.readouterr().out
    assert "waiting for 1 answer:\n  2 of 2 pictures used; 1 step is not done.\n    step " in out
    assert " - not " in out
    made = calls(working / "bean")
    assert made.count("backend") == 2
    page = (working / "bean" / "index.html").read_text("utf-8")
    assert "Waiting at a limit" in page and "reviewer" not in page
    assert "Limit max_images reached: 2 of 2 used. It is asked whether to raise it, or to finish with what" in page

    (working / "a.json").write_text('{"limit": {"decision": "raise", "limits": {"max_images": 9}}}', encoding="utf-8")
    assert run("--answer", "a.json") == 0
    assert outcome_of(working / "bean") == "complete"
    drawn = calls(working / "bean")
    assert len(drawn) > len(made) and drawn.count("planner") == 1
    assert run() == 0, "it was answered once and for all"
    assert calls(working / "bean") == drawn


def test_consent_is_to_what_is_there(working: Path, capsys: Captured) -> None:
    assert run("--yes") == 3
    out = capsys.readouterr().out
    assert "partial" in out and "waiting for" not in out
    assert calls(working / "bean").count("backend") == 2


def test_a_higher_cap_that_is_typed_is_asked_about_anew(working: Path, capsys: Captured) -> None:
    (working / "a.json").write_text('["finish"]', encoding="utf-8")
    assert run("--answer", "a.json") == 3
    assert run("--max-images", "9") == 0
    assert "waiting for" not in capsys.readouterr().out


def test_the_question_is_a_json_line_for_programs(working: Path, capsys: Captured) -> None:
    assert run("--events") == 3
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (asked,) = [line for line in lines if line["type"] == "question"]
    assert (asked["ask"], asked["limit"], asked["used"], asked["cap"]) == ("limit", "max_images", 2, 2)


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ([""], {"decision": "raise", "limits": {"max_images": 18}}),
        (["yes"], {"decision": "raise", "limits": {"max_images": 18}}),
        (["foo", "Raise"], {"decision": "raise", "limits": {"max_images": 18}}),
        (["24"], {"decision": "raise", "limits": {"max_images": 24}}),
        (["raise 24"], {"decision": "raise", "limits": {"max_images": 24}}),
        (["lots", "-3", "nan", "f"], {"decision": "finish"}),
        (["no"], {"decision": "finish"}),
    ],
)
def test_a_person_raises_it_or_finishes(tmp_path: Path, lines: list[str], answer: Any) -> None:
    sitting = Sitting(tmp_path, *lines)
    assert sitting.ask(LIMIT) == answer
    told = sitting.out.getvalue()
    assert "12 of 12 pictures used; 2 steps are not done." in told and "raise to [18], or finish? " in told
    assert "step 4: The sprout - not drawn" in told and "step 5 - not accepted in 2 attempts" in told
    assert (
        told.count("is no number, and no answer. A number raises the limit to it; Enter, or raise,") == len(lines) - 1
    )
    assert ("raising max_images to" in told) == (answer["decision"] == "raise")


def test_at_the_ceiling_only_finish_is_asked_for(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, "", "raise 24", "24", "f")
    highest = {name: value for name, value in LIMIT.items() if name != "suggested"} | {"ceiling": {"max_images": 12}}
    assert sitting.ask(highest) == {"decision": "finish"}
    told = sitting.out.getvalue()
    assert told.count("The limit is at its ceiling. f finishes, q leaves it waiting.") == 3 and "raise to" not in told


def test_an_answer_of_no_use_is_told_by_the_limit_that_was_met(tmp_path: Path) -> None:
    asked = {"ask": "limit", "limit": "max_cost_usd", "used": 0.5, "cap": 0.5, "suggested": {"max_cost_usd": 1.25}}
    with pytest.raises(ConfigError) as caught:
        read_review(asked, "more", ArtifactStore.memory(), tmp_path)
    assert caught.value.remedy.startswith('Answer for example {"decision": "raise", "limits": {"max_cost_usd": 1.25}}')


def test_an_object_may_name_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"limit": "finish", "1": "accept"}', encoding="utf-8")
    given = Given(Path("a.json"), tmp_path)
    assert given.take(LIMIT) == "finish" and given.unused == ("step 1",)
    (tmp_path / "b.json").write_text('{"limits": "finish"}', encoding="utf-8")
    with pytest.raises(ConfigError, match="Did you mean limit"):
        Given(Path("b.json"), tmp_path)


def test_of_kept_answers_the_one_that_is_above_what_is_used_counts(tmp_path: Path) -> None:
    def raised(cap: int) -> dict[str, Any]:
        return {"decision": "raise", "limits": {"max_images": cap}}

    kept = Kept(tmp_path / "answers.jsonl", "run")
    for cap, answer in ((12, raised(24)), (24, raised(30)), (30, {"decision": "finish"})):
        asked = {**LIMIT, "cap": cap, "used": cap}
        assert kept.take(asked) is None
        kept.put(asked, answer)

    def again(used: int) -> Any:
        return Kept(tmp_path / "answers.jsonl", "run").take({**LIMIT, "used": used, "spend": {}, "undone": []})

    assert [again(used) for used in (12, 23, 24, 29, 30)] == [
        raised(24), raised(24), raised(30), raised(30), {"decision": "finish"},
    ]  # fmt: skip
    assert Kept(tmp_path / "answers.jsonl", "another").take(LIMIT) is None


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
def test_in_a_terminal(working: Path) -> None:
    typed = ["run", "How to plant a bean", *SCRIPTED, "--on-limit", "ask", "--max-images", "2", "--out", "bean"]
    with terminal(*typed, "--no-open") as screen:
        screen.until("2 of 2 pictures used; 1 step is not done.")
        screen.until("], or finish? ")
        screen.type("2")
        screen.until("not above what is used")
        screen.until("], or finish? ")
        screen.type("9")
        assert screen.end() == 0
    assert outcome_of(working / "bean") == "complete"


def test_what_waits_says_what_it_may_take() -> None:
    lines = left_lines([LIMIT], how="again")
    assert "    it may take 2.8 drawings (at most 6), for what is left" in lines
