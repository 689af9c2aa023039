"""What docs/studio.md says is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.serving import place

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "studio.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_table_names_every_variable_that_is_read() -> None:
    source = Path(place.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(INTERLEAVE_\w+)`", PAGE, re.MULTILINE)) == set(
        re.findall(r'"(INTERLEAVE_\w+)"', source)
    )


def test_an_app_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[0], "docs/studio.md", "exec"), {})
    assert capsys.readouterr().out == f"https://pictures.example.org/artifacts/{'0' * 64}\n"


@pytest.mark.server
def test_reviews_and_version_3_work_as_shown(sdk: Any, thread: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(BLOCKS) == 3
    names: dict[str, Any] = {"client": sdk, "thread": thread}
    exec(compile(BLOCKS[1], "docs/studio.md", "exec"), names)
    assert len(names["answers"]) == 1
    exec(compile(BLOCKS[2], "docs/studio.md", "exec"), names)
    assert capsys.readouterr().out.split().count("image") == 5
