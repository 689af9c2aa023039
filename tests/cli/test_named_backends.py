"""`--backend`, once and several times."""

from __future__ import annotations

from pathlib import Path

import pytest

from langgraph_interleave.backends.several import SeveralBackends
from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.drawing import choose_backend
from langgraph_interleave.errors import ConfigError


@pytest.mark.parametrize(("text", "name"), [
    (None, "simulator"), ("sketch", "sketch"), ("openai?quality=low&base_url=http://127.0.0.1:9/v1", "openai"),
])  # fmt: skip
def test_one_without_a_name_is_itself(text: str | None, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    assert choose_backend(text).name == name


@pytest.mark.parametrize(("texts", "choices"), [
    (("photo=sketch",), {"photo": ""}),
    (("photo=sketch", "diagram (circuits, charts)=simulator:hard"), {"photo": "", "diagram": "circuits, charts; "}),
    (("a (x)=openai:m?base_url=http://127.0.0.1:9/v1&quality=low", " b = sketch"), {"a": "x; ", "b": ""}),
])  # fmt: skip
def test_several_have_names_and_perhaps_what_they_are_for(texts: tuple[str, ...], choices: dict[str, str]) -> None:
    several = choose_backend(texts)
    assert isinstance(several, SeveralBackends)
    told = dict(several.capabilities.choices)
    assert list(told) == list(choices)
    assert all(told[name].startswith(purpose) for name, purpose in choices.items())


@pytest.mark.parametrize(("texts", "says"), [
    (("sketch", "photo=sketch"), "--backend 'sketch' has no name, and there are several. Name each of them: --backend"),
    (("a=sketch", "a=simulator"), "Two backends are called 'a'"),
    (("a=skech", "b=sketch"), "Did you mean sketch"),
])  # fmt: skip
def test_what_cannot_be_read_is_told(texts: tuple[str, ...], says: str) -> None:
    with pytest.raises(ConfigError) as told:
        choose_backend(texts)
    assert says in str(told.value)


def test_a_run_with_two_of_them(working: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = ["-b", "photo (photographs)=scripted", "-b", "other=scripted"]
    roles = ["--planner", "scripted", "--critic", "scripted"]
    assert run_app(["run", "How to plant a bean", *roles, *both, "--no-open", "--out", "bean"]) == 0
    assert "Caption of step 1." in (working / "bean" / "document.md").read_text(encoding="utf-8")
    assert run_app(["run", "How to plant a bean", *roles, "-b", "scripted", "-b", "sketch", "--no-open"]) == 2
    assert "has no name" in capsys.readouterr().err
