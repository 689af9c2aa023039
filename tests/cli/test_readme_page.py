"""The README's own command, to the page it promises, as a browser shows it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.run import EXIT

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def arguments() -> list[str]:
    """What the README's first command gives to `langgraph-interleave`."""
    found = re.search(r"^\.venv/bin/langgraph-interleave (run .*)$", README, re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


@pytest.mark.slow
def test_the_commands_under_resume_do_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTERLEAVE_HOME", str(tmp_path / "home"))
    section = README.split("\n## Resume\n", 1)[1].split("\n## ", 1)[0]
    block = re.findall(r"^```bash\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[0]
    said: list[str] = []
    codes: list[int] = []
    for line in block.splitlines():
        codes.append(run_app(shlex.split(line, comments=True)[1:]))
        said.append(capsys.readouterr().out)
    assert codes == [3, 0, 0, 0, 0]
    assert "to go on with more: langgraph-interleave run --resume beans --max-images …" in said[0]
    assert "  partial     " in said[1] and "  to go on: langgraph-interleave run --resume beans\n" in said[2]
    assert "complete · 4 of 4 steps" in said[3]
    assert said[4].startswith("deleted the document in beans (1 version), and its calls: ")
    assert not (tmp_path / "beans").exists()


def test_every_exit_code_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    told = re.findall(r"^\| (\d+) \|", README, re.MULTILINE)
    run_app(["run", "--help"])
    helped = re.search(r"Exit codes: (.*?)\(", " ".join(capsys.readouterr().out.split()))
    assert helped is not None
    assert sorted(map(int, told)) == sorted(map(int, re.findall(r"\d+", helped[1]))) == sorted({2, *EXIT.values()})


@pytest.mark.browser
def test_the_page_of_the_readme(opened: Callable[..., Any], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "langgraph_interleave.cli", *arguments()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"outcome complete: {done.stdout}{done.stderr}"
    folder = tmp_path / arguments()[arguments().index("--out") + 1]
    events = [json.loads(line) for line in (folder / "trajectory.jsonl").read_text(encoding="utf-8").splitlines()]
    finished = next(e for e in events if e["type"] == "interleave.run" and e["phase"] == "finish")
    assert finished["outcome"] == "complete" and finished["steps"] == 5
    rejected = [e for e in events if e["type"] == "interleave.attempt" and e.get("verdict") == "revise"]
    assert rejected, "a correction is to be seen"
    captions = [e["text"] for e in events if e.get("kind") == "caption"]
    assert len(captions) == 5
    page = opened(folder / "index.html")
    state = page.evaluate(
        "() => ({images: document.images.length,"
        " broken: [...document.images].filter(i => !(i.complete && i.naturalWidth > 0)).length,"
        " text: document.body.innerText})"
    )
    assert state["images"] >= 5 + len(rejected) and state["broken"] == 0
    assert all(caption in state["text"] for caption in captions)
