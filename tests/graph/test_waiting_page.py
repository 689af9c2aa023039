"""What docs/waiting.md shows is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.odds import PRIOR, chance_of_each

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "waiting.md").read_text(encoding="utf-8")


def test_its_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [code] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(compile(code, "waiting.md", "exec"), names)
    assert names["document"]["outcome"] == "complete"
    assert names["document"]["spend"]["images"] >= 6, "two for each of three steps"


def test_its_figures_are_those_of_the_code() -> None:
    assert PRIOR[0] / sum(PRIOR) == pytest.approx(0.7) and sum(PRIOR) == pytest.approx(2)
    assert 2 * chance_of_each(0.7, 2) == pytest.approx(0.91)
