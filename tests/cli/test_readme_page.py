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

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def arguments() -> list[str]:
    """What the README's first command gives to `langgraph-interleave`."""
    found = re.search(r"^\.venv/bin/langgraph-interleave (run .*)$", README, re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


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
