"""Servers of one's own, which may cost nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.begun import BegunRuns
from langgraph_interleave.cli.job import Job, Parts
from langgraph_interleave.cli.keeping import tell_how
from langgraph_interleave.cli.money import free_perhaps, hint_of, own_server
from langgraph_interleave.cli.progress import RunProgress
from langgraph_interleave.cli.screen import PlainScreen
from langgraph_interleave.cli.summary import calls_line, status_line, trouble
from langgraph_interleave.cli.typed import Options
from langgraph_interleave.events import LimitEvent
from langgraph_interleave.limits import Limits
from langgraph_interleave.prices import ENVIRONMENT, Price, Prices
from langgraph_interleave.registry import init_critic
from langgraph_interleave.types import Spend


@pytest.mark.parametrize(("name", "host"), [
    ("openai:flux?base_url=http://127.0.0.1:8000/v1", "127.0.0.1"),
    ("openai:flux?base_url=http://[::1]:8000/v1&quality=low", "::1"),
    ("svg:openai:qwen?base_url=http://localhost:8000/v1", "localhost"),
    ("openai:flux?base_url=http://192.168.1.7/v1", "192.168.1.7"),
    ("openai:flux?base_url=http://gpu.local/v1", "gpu.local"),
    ("openai:flux?base_url=http://127.0.0.1:8000/v1&billed=true", None),
    ("openai:flux?base_url=http://127.0.0.1:8000/v1&billed=false", None),
    ("openai:flux?base_url=https://api.example.org/v1", None),
    ("openai:flux?base_url=http://8.8.8.8/v1", None),
    ("openai:flux?base_url=http://[broken/v1", None),
    ("openai", None), ("sketch", None), ("", None),
])  # fmt: skip
def test_which_servers_are_ones_own(name: str, host: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert own_server(name) == host


def test_the_address_may_be_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:4000/v1")
    assert own_server("openai:gpt-image-2") == "127.0.0.1"
    assert own_server("sketch") is None
    assert free_perhaps(["openai:gpt-image-2"]).endswith('add "?billed=false" to openai:gpt-image-2.')


def test_only_what_counts_as_billed_is_spoken_of() -> None:
    here = "?base_url=http://127.0.0.1:1234/v1"
    paid, free = (init_image_backend(f"openai:flux{here}{more}") for more in ("", "&profile=sdcpp"))
    assert hint_of((None, None), (f"openai:flux{here}&profile=sdcpp", free), ("pixel", init_critic("pixel"))) == ""
    assert hint_of((f"openai:flux{here}", paid)).endswith('add "&billed=false" to openai:flux?….')
    assert hint_of((("a=sketch", f"b=openai:flux{here}"), paid)).endswith("to b=openai:flux?….")


def test_a_run_says_so_before_it_begins(capsys: pytest.CaptureFixture[str]) -> None:
    planner = "openai:qwen?base_url=http://127.0.0.1:9/v1"
    words = ["run", "A cat", "--planner", planner, "--backend", "sketch", "--critic", "pixel", "--estimate"]
    assert run_app(words) == 0
    assert 'add "&billed=false" to openai:qwen?….' in capsys.readouterr().out


def test_a_file_of_prices_and_a_cap_on_money(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(ENVIRONMENT, "")
    monkeypatch.chdir(tmp_path)
    backend = "openai:my-flux?base_url=http://127.0.0.1:9/v1"
    words = ["run", "A bean, in 3 steps", "-b", backend, "--planner", "scene", "--critic", "none", "--no-open"]
    assert run_app([*words, "--max-cost", "2", "--estimate"]) == 0
    assert "Cost unknown: no price for my-flux." in capsys.readouterr().out
    (tmp_path / "mine.json").write_text('{"my-flux": {"picture": 0.5}}', encoding="utf-8")
    assert run_app([*words, "--prices", "mine.json", "--max-cost", "2", "--estimate"]) == 0
    out = capsys.readouterr().out
    assert "$2.00" in out and "May be ended sooner by max_cost_usd." in out
    assert run_app([*words, "--prices", "none.json", "--estimate"]) == 2
    assert "none.json cannot be read" in " ".join(capsys.readouterr().err.split())


def test_caps_of_steps_are_caps_of_the_run_as_typed() -> None:
    typed = Options("a bean", max_cost_usd=2.5, step_max_images=2, step_max_calls=5, step_max_seconds=9.0)
    assert typed.limits == Limits(max_cost_usd=2.5, step_max_images=2, step_max_calls=5, step_max_seconds=9.0)
    assert typed.begun()["max_cost_usd"] == 2.5


def test_what_was_cut_off_says_what_it_may_have_cost() -> None:
    progress = RunProgress()
    for cost, said in ((0.25, "; up to $0.2500 more)"), (None, "; what that cost is unknown)"), (0.0, "was done)")):
        progress.spend = Spend(calls={"backend": 1}, ambiguous=1, ambiguous_cost_usd=cost)
        assert calls_line(progress).endswith(said)


def test_while_a_run_goes_on_its_cost_is_said_by_what_calls_cost() -> None:
    progress = RunProgress(call_usd={"planner": 0.0, "backend": 0.04, "critic": None})
    progress.calls |= {"planner": 1, "backend": 3}
    assert status_line(progress, seconds=1, free=False).endswith(" · about $0.12")
    progress.calls["critic"] = 1
    assert status_line(progress, seconds=1, free=False).endswith(" · cost unknown"), "of the critic nobody knows"
    progress.spend = Spend(calls={"backend": 3, "critic": 1}, cost_usd=0.25)
    assert status_line(progress, seconds=1, free=False).endswith(" · $0.2500"), "what it cost in the end"
    assert status_line(RunProgress(), seconds=1, free=True).endswith(" · no cost")


def test_what_calls_cost_comes_from_the_prices_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, '{"my-flux": {"picture": 0.5}}')
    backend = "openai:my-flux?base_url=http://127.0.0.1:9/v1"
    parts = Parts.of(Options("a bean", backend=backend, planner="scene", critic="none"))
    assert parts.call_usd == {"planner": 0.0, "backend": 0.5, "critic": 0.0}
    assert Parts.of(Options("a bean")).call_usd == {"planner": 0.0, "backend": 0.0, "critic": 0.0}


def test_money_at_a_limit_is_not_rounded_away() -> None:
    progress = RunProgress()
    progress.limits.append(LimitEvent(run_id="r", limit="step_max_cost_usd", used=0.24, cap=0.25))
    assert trouble(progress) == ["limit step_max_cost_usd reached: $0.24 of $0.25"]


def test_a_cap_on_money_that_was_met_is_said_by_its_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    screen = PlainScreen(sys.stdout, free=False)
    for limit in ("max_cost_usd", "step_max_cost_usd", "max_cost_usd"):
        screen.progress.limits.append(LimitEvent(run_id="r", limit=limit, used=0.1, cap=0.12))
    job = cast("Job", SimpleNamespace(place=SimpleNamespace(folder=tmp_path / "bean"), run="r"))
    tell_how(job, screen, tmp_path, "partial")
    assert capsys.readouterr().out.endswith("run --resume bean --max-cost … --step-max-cost …\n")


def test_a_run_that_was_refused_is_not_called_cancelled(working: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roles = ["--planner", "scripted", "--backend", "billed", "--critic", "scripted"]
    assert run_app(["run", "A cat", *roles, "--no-open", "--max-cost", "1", "--out", "cat"]) == 2
    said = capsys.readouterr()
    assert "failed\n" in said.out and "cancelled" not in said.out
    assert "The cap max_cost_usd cannot be kept" in said.err and "--prices" in said.err
    assert not (working / "cat").exists()


def test_prices_typed_once_stay_with_the_run_and_those_typed_later_go_before(
    working: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(ENVIRONMENT, "")
    (working / "mine.toml").write_text('["the backend"]\npicture = 0.5\n[flux]\npicture = 0.25\naliases = ["f"]\n')
    (working / "later.json").write_text('{"the backend": {"picture": 0.125}}', encoding="utf-8")
    roles = ["--planner", "scripted", "--backend", "billed", "--critic", "scripted"]
    words = ["run", "A cat", *roles, "--no-open", "--out", "cat", "--max-images", "1", "--lookahead", "never"]
    assert run_app([*words, "--prices", "mine.toml"]) == 3
    (kept,) = BegunRuns(working / "cat").all()
    assert kept.prices is not None and kept.prices["flux"] == Price(picture=0.25, aliases=("f",))
    assert "mine.toml" not in kept.model_dump_json(), "the rows, not the path"
    (working / "mine.toml").unlink()
    again = ["run", "--resume", "cat", "--no-open", "--max-cost", "9"]
    monkeypatch.setenv(ENVIRONMENT, "")
    assert run_app(again) == 3, "a cap on money is not refused"
    assert Prices.default().of("the backend") == Price(picture=0.5)
    monkeypatch.setenv(ENVIRONMENT, "")
    assert run_app([*again, "--max-images", "9", "--prices", "later.json"]) == 0
    monkeypatch.setenv(ENVIRONMENT, "")
    assert run_app(["change", "cat", "Take the second thing away.", "--no-open", "--max-cost", "9"]) == 1, (
        "nothing changed"
    )
    found = {name: row.picture for name, row in (BegunRuns(working / "cat").all()[0].prices or {}).items()}
    assert found == {"the backend": 0.125, "flux": 0.25}
    # A folder that somebody else sent says nothing of money.
    monkeypatch.setenv(ENVIRONMENT, "")
    monkeypatch.setenv("INTERLEAVE_HOME", str(working / "another"))
    capsys.readouterr()
    assert run_app(["change", "cat", "Take the first thing away.", "--no-open", "--max-cost", "9"]) == 2
    assert "The cap max_cost_usd cannot be kept" in capsys.readouterr().err
