"""The benchmark of kills, briefly."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow


def test_it_counts_and_says_so(load: Callable[[str], ModuleType], capsys: pytest.CaptureFixture[str]) -> None:
    chaos = load("chaos")
    assert chaos.main(["--kills", "3", "--checkpointer", "sqlite", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["runs"] == said["runs_finished"] == said["documents_equal"] == 3
    assert said["kills"] >= 3 and sum(said["kills_by_phase"].values()) == said["kills"]
    assert said["finished_repeated"] == 0
    assert said["repeated"] <= said["in_flight"] == said["ambiguous"]
    assert said["long"]["kills"] == 3 and said["long"]["drawings"] >= 25
    assert said["problems"] == []


def test_a_broken_promise_is_an_exit_code(
    load: Callable[[str], ModuleType], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chaos = load("chaos")
    broken = chaos.Account(kills=["steps"], finished=True, problems=["another document"])
    monkeypatch.setattr(chaos.Chaos, "runs", lambda *_: [broken])
    monkeypatch.setattr(chaos.Chaos, "long", lambda *_: (chaos.Case(1), chaos.Account()))
    assert chaos.main(["--kills", "1", "--checkpointer", "sqlite"]) == 1
    assert "broken: another document" in capsys.readouterr().out
