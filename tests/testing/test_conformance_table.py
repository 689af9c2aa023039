"""docs/backends.md says of each built-in backend what the conformance suite says today; README.md sums it up."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from painter import Painter

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def maker() -> Any:
    if str(BENCHMARKS) not in sys.path:
        sys.path.insert(0, str(BENCHMARKS))
    return importlib.import_module("conformance_table")


TEXT = (BENCHMARKS.parent / "docs" / "backends.md").read_text(encoding="utf-8")
QUICK, SLOW = list(maker().QUICK), list(maker().SLOW)


#: What must be installed beside the package.
NEEDS = {
    "hf_inference": "huggingface_hub",
    "diffusers": "diffusers",
    "miniature": "langgraph_interleave_miniature",
}


def is_current(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    made = maker()
    report = made.report(name)
    assert [finding.says for finding in report.failed] == []
    text = made.DOCUMENT.read_text(encoding="utf-8")
    remedy = "run: python benchmarks/conformance_table.py --write"
    assert made.columns(text)[name] == [made.mark(report, finding.item) for finding in report.findings], remedy
    fresh = f"{made.BEGIN}\n{made.table({name: report})}\n{made.END}"
    assert made.said(text, name) == made.said(fresh, name), remedy


@pytest.mark.parametrize("name", QUICK)
def test_the_document_is_current(name: str) -> None:
    is_current(name)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", SLOW)
def test_the_document_is_current_about_what_takes_long(name: str) -> None:
    is_current(name)


def test_the_table_has_a_row_for_each_item_and_a_column_for_each_backend() -> None:
    made = maker()
    columns = made.columns(made.DOCUMENT.read_text(encoding="utf-8"))
    assert list(columns) == [*QUICK, *SLOW]
    assert {len(marks) for marks in columns.values()} == {len(made.ITEMS)}


def test_the_readme_sums_up_the_document() -> None:
    """The document is held against the suite above, this against the document."""
    made = maker()
    inside = made.README.read_text(encoding="utf-8").partition(f"{made.BEGIN}\n")[2].partition(f"\n{made.END}")[0]
    assert inside == made.summary(made.columns(TEXT)), "run: python benchmarks/conformance_table.py --write"


def test_the_summary_counts_every_item_once() -> None:
    made = maker()
    assert sorted(name for group in made.GROUPS.values() for name in group) == sorted(item.name for item in made.ITEMS)


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        (["yes", "yes"], "2 of 2"), (["yes", "–"], "1 of 1"), (["–", "–"], "–"), (["yes", "**no**"], "1 of 2"),
        (["yes", "?", "–"], "1 of 2, 1 ?"),
    ],
)  # fmt: skip
def test_what_a_cell_of_the_summary_says(marks: list[str], says: str) -> None:
    assert maker().counted(marks) == says


def test_the_python_of_the_document_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    # The header of a file of weights is all that is read before something is drawn.
    header = b'{"single_stream_modulation.lin.weight": {"dtype": "BF16", "shape": [1, 1], "data_offsets": [0, 2]}}'
    Path("flux-2-klein-4b.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0\0")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-sent")
    names: dict[str, Any] = {"__name__": "document", "MyBackend": Painter}
    for text in re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE):
        exec(compile(text, "docs/backends.md", "exec"), names)
    assert names["report"].ok and names["agent"].get_graph()
