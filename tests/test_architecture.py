"""House rules that no linter knows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import langgraph_interleave

PACKAGE = Path(langgraph_interleave.__file__).parent
REPOSITORY = Path(__file__).resolve().parent.parent
MODULES = sorted(PACKAGE.rglob("*.py"))
SOURCES = [*MODULES, *sorted((REPOSITORY / "tests").rglob("*.py")), *sorted((REPOSITORY / "graphs").rglob("*.py"))]
MOST_LINES = 400


def name_of(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return found


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_is_readable_in_one_sitting(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{lines} lines; split it by noun"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_what_it_is(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) or not tree.body
    assert path.stem not in {"utils", "util", "helpers", "helper", "common", "misc"}


def test_only_public_interfaces_of_langgraph() -> None:
    private = re.compile(r"^lang(graph|chain|smith)(?!_interleave)\w*(\.\w+)*\._")
    found = {f"{name_of(path)}: {name}" for path in SOURCES for name in imports(path) if private.match(name)}
    assert not found


def test_nothing_unfinished() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX|raise NotImplementedError)\b")
    found = [name_of(path) for path in MODULES if marks.search(path.read_text(encoding="utf-8"))]
    assert not found


def test_test_files_have_unique_names() -> None:
    names = [path.name for path in (REPOSITORY / "tests").rglob("test_*.py")]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("folder", ["trajectory", "rewards"])
def test_training_records_and_rewards_need_neither_langgraph_nor_torch(folder: str) -> None:
    unwanted = ("langgraph", "langchain", "torch")
    for path in (PACKAGE / folder).rglob("*.py"):
        tops = {name.partition(".")[0] for name in imports(path)}
        assert not tops.intersection(unwanted), name_of(path)
