"""Prompt templates: complete, checked, replaceable."""

from __future__ import annotations

from pathlib import Path

import pytest

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.prompts import Prompts


def test_a_folder_replaces_some_and_changes_the_version(tmp_path: Path) -> None:
    (tmp_path / "critic.txt").write_text("Judge, für $$5.", encoding="utf-8")
    own = Prompts.folder(tmp_path)
    assert own.fill("critic") == "Judge, für $5."
    assert own.fill("planner") == Prompts.builtin().fill("planner")
    assert own.version.startswith("v1")
    versions = {own.version, Prompts.builtin().version}
    (tmp_path / "critic.txt").write_text("Judge well.", encoding="utf-8")
    assert Prompts.folder(tmp_path).version not in versions
    assert len(versions) == 2


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("critic_step.txt", "Do $instructions", r"\$instructions, never filled.*\$instruction"),
        ("critic_step.txt", "It costs $ 5", "lone"),
        ("critic.txt", "For $style", "placeholder .* never filled"),
        ("critics.txt", "x", "critics.txt .* is no prompt template.*critic_step"),
    ],
)
def test_a_template_that_cannot_work_is_refused_at_once(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=says):
        Prompts.folder(tmp_path)


def test_a_folder_without_templates_is_refused(tmp_path: Path) -> None:
    for folder, says in ((tmp_path, "no template"), (tmp_path / "missing", "no prompt folder")):
        with pytest.raises(ConfigError, match=says):
            Prompts.folder(folder)
    (tmp_path / "critic.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        Prompts.folder(tmp_path)


def test_the_built_in_texts_speak_of_nothing_that_is_not_asked_for() -> None:
    prompts = Prompts.builtin()
    assert '"previous_step_success"' in prompts.fill("critic_tagged")
    assert '"execution_plan"' in prompts.fill("planner_tagged")
    assert '"changes"' in prompts.fill("planner_change_tagged")
    changing = ("planner_change", "planner_change_structured", "planner_change_tagged")
    for name in ("planner", "critic", "planner_structured", "critic_structured", *changing):
        assert "  " not in prompts.fill(name)
        assert "$" not in prompts.fill(name)
