"""What docs/durability.md shows is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "durability.md").read_text(encoding="utf-8")


def test_its_python_runs_and_sent_again_pays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [code] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    first: dict[str, Any] = {}
    exec(compile(code, "durability.md", "exec"), first)
    records = sorted((tmp_path / "store" / "calls" / "bean").iterdir())
    before = [path.stat().st_mtime_ns for path in records]
    again: dict[str, Any] = {}
    exec(compile(code, "durability.md", "exec"), again)
    assert first["document"]["outcome"] == "complete"
    assert again["document"] == first["document"]
    assert before and [path.stat().st_mtime_ns for path in records] == before
