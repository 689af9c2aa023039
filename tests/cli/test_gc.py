"""`langgraph-interleave gc`: what is counted, what is removed, what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.gc import in_words, seconds
from langgraph_interleave.cli.versions import Versions
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.garbage import Collected

SCRIPTED = ["--planner", "scripted", "--backend", "scripted", "--critic", "scripted"]
Captured = pytest.CaptureFixture[str]


def test_versions_stay_and_leftovers_go_when_told(working: Path, capsys: Captured) -> None:
    typed = ["run", "How to plant a bean", *SCRIPTED, "--no-open", "--out", "bean"]
    assert run_app(typed) == 0
    store = ArtifactStore.folder(working / "bean" / ".interleave")
    left = store.put(b"x" * 2000, mime="text/plain")
    capsys.readouterr()
    assert run_app(["gc", "bean"]) == 0 and capsys.readouterr().out.startswith("Nothing to remove: ")
    assert run_app(["gc", "bean", "--older-than", "0s"]) == 0
    said = capsys.readouterr().out
    assert (
        said.startswith("Would remove 1 artifact (2.0 kB); ") and said.endswith("add --remove.\n") and store.has(left)
    )
    assert run_app(["gc", "bean", "--older-than", "0s", "--remove"]) == 0
    assert capsys.readouterr().out.startswith("Removed 1 artifact (2.0 kB); ") and not store.has(left)
    kept = Versions.of(working / "bean")
    assert [kept.load(version, store).missing() for version in kept.all] == [()]
    capsys.readouterr()
    assert (
        run_app(typed) == 0
        and "7 calls (1 plan, 3 drawings, 3 critiques), 7 of them answered" in capsys.readouterr().out
    )


def test_where_there_is_no_store_it_says_so(working: Path, capsys: Captured) -> None:
    assert run_app(["gc", "."]) == 2
    assert "There are no artifacts in ." in capsys.readouterr().err
    (working / "artifacts").mkdir()
    assert run_app(["gc", ".", "--older-than", "soon"]) == 2
    assert "'soon' is no age" in capsys.readouterr().err


def test_ages_and_words() -> None:
    assert [seconds(age) for age in ("90", "90s", "2m", "0.5h", " 7d ")] == [90, 90, 120, 1800, 604_800]
    for wrong in ("", "-1d", "d", "1w", "1e3", "nan"):
        with pytest.raises(ConfigError, match="no age"):
            seconds(wrong)
    done = Collected(dry=False, artifacts=1200, calls=2, halves=1, bytes=10**9, kept=1, kept_bytes=100)
    assert in_words(done) == (
        "Removed 1,200 artifacts, 2 records of a call, 1 half-written file (1,000.0 MB); 1 file stays (0.1 kB)."
    )
