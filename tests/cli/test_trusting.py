"""A folder that came from somebody else: where it says that servers are, and what it says of options."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.begun import BegunRuns
from langgraph_interleave.cli.index import Index
from langgraph_interleave.cli.trusting import has_address, refuse_addresses
from langgraph_interleave.cli.typed import Options, check_kept
from langgraph_interleave.errors import ConfigError

REQUEST = "How to plant a bean"
SCRIPTED = ["--planner", "scripted", "--backend", "scripted", "--critic", "scripted"]
THEIRS = "openai:flux?base_url=https://127.0.0.1:9/v1"
Captured = pytest.CaptureFixture[str]


def begin(*arguments: str) -> int:
    return run_app(["run", REQUEST, *SCRIPTED, "--no-open", "--out", "bean", *arguments])


def sent_by_somebody_else(folder: Path) -> None:
    """As the folder would be on another machine, whose user changed where it is drawn."""
    shutil.rmtree(folder.parent / "home", ignore_errors=True)
    runs = BegunRuns(folder)
    for one in runs.all():
        Index().remove(one.run, folder)
        runs.write(one.model_copy(update={"options": {**one.options, "backend": THEIRS}}))
    path = folder / ".interleave" / "versions.json"
    listed = json.loads(path.read_text(encoding="utf-8"))
    for version in listed["versions"]:
        version["made_with"]["backend"] = THEIRS
    path.write_text(json.dumps(listed), encoding="utf-8")


@pytest.mark.parametrize(
    "command", [["run", "--resume", "bean", "--max-images", "9"], ["change", "bean", "make it darker"]]
)
def test_no_key_goes_where_only_the_folder_says(
    working: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    begin("--max-images", "1")
    sent_by_somebody_else(working / "bean")
    before = sorted(path.name for path in (working / "bean").rglob("*"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    capsys.readouterr()
    assert run_app([*command, "--no-open"]) == 2
    said = capsys.readouterr().err
    assert "was not begun by you here: requests, and keys of yours, would go to it." in said
    assert f"--backend '{THEIRS}'" in said
    assert sorted(path.name for path in (working / "bean").rglob("*")) == before


def test_what_this_user_began_is_gone_on_with_wherever_its_folder_is(working: Path) -> None:
    Index().put("r1", working / "gone", asked="a", begun="")
    refuse_addresses({"backend": THEIRS}, (), run="r1")
    refuse_addresses({"backend": THEIRS}, ("backend",), run="other")
    refuse_addresses({"backend": ["a=sketch", "b=openai"], "planner": None}, (), run="other")
    for run in ("other", "r", "r1-", ""):
        with pytest.raises(ConfigError, match="not begun by you"):
            refuse_addresses({"critic": THEIRS}, (), run=run)


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("openai:m?base_url=127.0.0.1:9", True),
        ("openai:m?base_url%3Dx&a=https%3A%2F%2Fx", True),
        ("ollama:m?host=x", True),
        ("openai:m?openai_api_base=x", True),
        (["a=sketch", "b=svg:openai:m?base_url=http://x"], True),
        ("diffusers:owner/model?steps=4", False),
        ("svg:openai:m", False),
        (None, False),
        (7, False),
    ],
)
def test_what_says_where_a_server_is(name: object, has: bool) -> None:
    assert has_address(name) is has


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("approve", None),
        ("approve", "plan"),
        ("backend", [1]),
        ("candidates", "2"),
        ("critic", ["a", "b"]),
        ("lookahead", "sometimes"),
        ("max_images", {"a": 1}),
        ("planner", {"a": 1}),
        ("request", 7),
        ("seed", 1.5),
        ("yes", "no"),
    ],
)
def test_options_of_another_kind_are_damage(working: Path, capsys: Captured, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        check_kept({"request": "a", name: value})


def test_damaged_options_are_told(working: Path, capsys: Captured) -> None:
    begin("--max-images", "1")
    (path,) = (working / "bean" / ".interleave" / "runs").glob("*.json")
    kept = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**kept, "options": {**kept["options"], "critic": [1]}}), encoding="utf-8")
    capsys.readouterr()
    assert run_app(["run", "--resume", "bean", "--no-open"]) == 2
    assert "what the run was begun with, is damaged. Type the run's command again" in capsys.readouterr().err
    path.write_text(json.dumps({**kept, "begun": "\ud800"}), encoding="utf-8")
    assert run_app(["run", "--resume", "bean", "--no-open"]) == 2
    assert "is damaged" in capsys.readouterr().err
    assert begin() == 0


def test_everything_that_is_kept_is_of_its_kind() -> None:
    whole = Options(
        "a bean",
        steps=3,
        max_seconds=5,
        backend=("a=x", "b=y"),
        approve=("plan",),
        lookahead="value",
        candidates=2,
        on_limit="ask",
    )
    check_kept(json.loads(json.dumps(whole.begun())))
    check_kept(json.loads(json.dumps(whole.kept())))
    check_kept({**whole.begun(), "of a later release": object.__name__})


@pytest.mark.parametrize("option", [[], ["--style", "pl\udcff"]])
def test_bytes_that_are_no_text_are_refused_before_anything_is_made(
    working: Path, capsys: Captured, option: list[str]
) -> None:
    asked = REQUEST if option else "a b\udcffan"
    assert run_app(["run", asked, *SCRIPTED, "--no-open", "--out", "bean", *option]) == 2
    assert "has bytes that are no text here." in capsys.readouterr().err
    assert list(working.iterdir()) == []
