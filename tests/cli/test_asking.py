"""A person's commands, without a terminal: what each answers, and what is said of those that cannot be."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from langgraph_interleave import ArtifactStore
from langgraph_interleave.cli import making
from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.asking import Person, edit_text
from langgraph_interleave.cli.pictures import Shown
from langgraph_interleave.cli.reviewing import Left
from langgraph_interleave.content import image_block
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.testing import noise_card

Captured = pytest.CaptureFixture[str]


class Sitting:
    """A person with lines to type, and what they saw."""

    def __init__(self, folder: Path, *lines: str, edit: Any = None, store: ArtifactStore | None = None) -> None:
        self._lines: Iterator[str] = iter(lines)
        self.out = io.StringIO()
        console = Console(file=self.out, width=100, force_terminal=True, color_system="truecolor")
        shown = Shown(folder, store or ArtifactStore.memory(), folder)
        self.person = Person(console, shown, read=self._read, edit=edit)

    def _read(self, prompt: str) -> str:
        self.out.write(prompt)
        try:
            return next(self._lines)
        except StopIteration:
            raise EOFError from None

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        return self.person.ask(question, place=1, many=1)

    @property
    def left(self) -> list[str]:
        return list(self._lines)


PLAN: dict[str, Any] = {
    "ask": "plan",
    "title": "T",
    "steps": [
        {"step": n, "number": n + 1, "title": f"Step {n}", "caption": f"Words {n}.", "sources": []} for n in (0, 1)
    ],
    "estimate": "plan 1\ndrawing 2",
}
STEP: dict[str, Any] = {
    "ask": "step",
    "step": 0,
    "number": 1,
    "attempts": [{"attempt": 0, "image": {}}, {"attempt": 1, "problem": "It fell over."}],
    "attempt": 0,
}


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("a", {"decision": "accept"}),
        ("Accept", {"decision": "accept"}),
        ("a 1", {"decision": "accept", "attempt": 0}),
        ("r  too dark ", {"decision": "revise", "remark": "too dark"}),
        ("g", {"decision": "revise"}),
        ("p a cat", {"decision": "revise", "prompt": "a cat"}),
        ("o 'my photo.png'", {"decision": "replace", "image": "my photo.png"}),
        ("skip", {"decision": "skip"}),
        ("s not needed", {"decision": "skip", "remark": "not needed"}),
    ],
)
def test_commands_about_a_step(tmp_path: Path, typed: str, answer: dict[str, Any]) -> None:
    assert Sitting(tmp_path, typed).ask(STEP) == answer


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("", "Nothing was typed."),
        ("too dark", "There is no command 'too'."),
        ("r", "The words are missing. Write for example: r the seed is missing"),
        ("a 2", "Attempt 2 has no picture. There are pictures of 1."),
        ("a x", "'x' is no number"),
        ("\x1b[2Jx", "There is no command"),
        ("x", "There is no command 'x'"),
    ],
)
def test_what_is_typed_wrong_is_asked_again_with_why(tmp_path: Path, typed: str, says: str) -> None:
    sitting = Sitting(tmp_path, typed, "a", "never read")
    assert sitting.ask(STEP) == {"decision": "accept"}
    assert says in sitting.out.getvalue()
    assert sitting.left == ["never read"]


@pytest.mark.parametrize("lines", [["q"], []])
def test_who_leaves_gives_no_answer(tmp_path: Path, lines: list[str]) -> None:
    with pytest.raises(Left):
        Sitting(tmp_path, *lines).ask(STEP)


def test_words_of_models_are_no_commands_to_the_terminal(tmp_path: Path) -> None:
    hijack = "\x1b[2J\x1b]0;title\x07[b]bold[/b]"
    attempts = [{"attempt": 0, "image": {}, "verdict": "revise", "judge": "critic", "reasoning": hijack}]
    sitting = Sitting(tmp_path, "a", "a")
    sitting.ask({**STEP, "title": hijack, "caption": hijack, "error": hijack, "attempts": attempts})
    steps = [{**step, "caption": hijack, "title": hijack, "instruction": hijack} for step in PLAN["steps"]]
    sitting.ask({**PLAN, "title": hijack, "steps": steps, "estimate": hijack})
    out = sitting.out.getvalue()
    assert "\x1b[2J" not in out and "\x1b]" not in out and "[b]bold[/b]" in out


def test_an_attempt_is_viewed(tmp_path: Path) -> None:
    store = ArtifactStore.memory()
    block = image_block(store.put_image(noise_card("a")))
    attempts = [{"attempt": 0, "image": block}, {"attempt": 1, "image": block, "file": "review/b.png"}]
    sitting = Sitting(tmp_path, "v 2", "a", store=store)
    sitting.ask({**STEP, "attempts": attempts})
    first, second = sitting.out.getvalue().split("> ")[:2]
    assert "▀" in first and "▀" in second and "review/b.png" in second


def test_a_plan_in_an_editor_is_edited_until_it_can_be_read(tmp_path: Path) -> None:
    seen: list[str] = []

    def edit(text: str) -> str:
        seen.append(text)
        return (
            text.replace("[2]", "[7]") if len(seen) == 1 else text.replace("[7]", "[new]").replace("Words 1.", "New.")
        )

    sitting = Sitting(tmp_path, "e", "", "a", edit=edit)
    answer = sitting.ask(PLAN)
    assert [(change["change"], change.get("caption")) for change in answer["steps"]] == [
        ("keep", None),
        ("insert", "New."),
        ("delete", None),
    ]
    assert "There is no step [7]." in sitting.out.getvalue()
    assert "[7]" in seen[1], "nothing that was typed is lost"


def test_what_the_graph_refuses_is_changed_further(
    working: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit of a later step's picture: the graph says so, and what else was changed by hand stays."""
    texts = iter([("from: nothing", "from: step 2"), ("from: step 2", "from: nothing")])

    def edit(text: str) -> str:
        old, new = next(texts)
        return text.replace(old, new, 1)

    sitting = Sitting(working, "w 1 My words", "e", "a", "e", "a", edit=edit)
    monkeypatch.setattr(making, "_person", lambda _: lambda _: sitting.person)
    typed = ["run", "x", "--planner", "apart", "--backend", "scripted", "--critic", "yes", "--no-open", "--out", "bean"]
    assert run_app([*typed, "--approve", "plan"]) == 0
    assert "That could not be used" in sitting.out.getvalue()
    assert "My words" in (working / "bean" / "document.md").read_text(encoding="utf-8")
    # The answer that counted in the end is the one that is given again.
    assert run_app([*typed, "--approve", "plan"]) == 0
    assert sitting.left == []


def test_an_editor_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "no-such-editor-anywhere")
    with pytest.raises(ConfigError, match="'no-such-editor-anywhere' cannot be started"):
        edit_text("x")
    monkeypatch.setenv("EDITOR", "false")
    with pytest.raises(ConfigError, match="failed"):
        edit_text("x")
    monkeypatch.setenv("EDITOR", "true")
    assert edit_text("x\ny") == "x\ny"
