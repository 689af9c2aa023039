"""The names people import: sorted, few, importable, and nothing heavy behind the bare import."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import langgraph_interleave

PACKAGE = Path(langgraph_interleave.__file__).parent
#: What no bare import may load: models, the graph, the terminal, and what is slow of our own.
HEAVY = (
    "diffusers",
    "fsspec", "jinja2", "langchain", "langchain_core", "langchain_openai", "langgraph", "numpy", "openai", "PIL",
    "pydantic", "resvg_py", "rich", "rough", "torch", "transformers", "typer",
)  # fmt: skip


def loaded_after(code: str) -> set[str]:
    """Top-level modules of a fresh interpreter after `code`."""
    program = f"{code}\nimport json, sys\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return set(json.loads(done.stdout))


def test_names_are_sorted_and_few() -> None:
    names = list(langgraph_interleave.__all__)
    assert names == sorted(names)
    assert len(names) <= 25
    assert names == list(langgraph_interleave._HOMES)


def test_type_checkers_see_the_same_names_from_the_same_modules() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    seen: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("langgraph_interleave."):
            for alias in node.names:
                assert alias.asname == alias.name, f"{alias.name} must be re-exported as itself"
                seen[alias.name] = str(node.module).removeprefix("langgraph_interleave.")
    assert seen == langgraph_interleave._HOMES


@pytest.mark.parametrize("name", langgraph_interleave.__all__)
def test_each_name_comes_from_its_module_and_is_described(name: str) -> None:
    home = importlib.import_module(f"langgraph_interleave.{langgraph_interleave._HOMES[name]}")
    value = getattr(langgraph_interleave, name)
    assert value is getattr(home, name)
    assert (inspect.getdoc(value) or "").strip(), f"{name} has no docstring"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = langgraph_interleave.nothing
    assert set(langgraph_interleave.__all__) <= set(dir(langgraph_interleave))
    from langgraph_interleave import testing

    assert set(testing.__all__) <= set(dir(testing)), "what is loaded late is listed, too"


def test_the_bare_import_loads_nothing_else() -> None:
    assert not loaded_after("import langgraph_interleave") & set(HEAVY)


def test_the_command_line_package_is_light() -> None:
    assert not loaded_after("import langgraph_interleave.cli") & set(HEAVY)


def test_the_graph_loads_no_model_library() -> None:
    # What LangGraph loads itself is not ours to mend.
    base = loaded_after("import langgraph.graph, langchain_core.messages")
    loaded = loaded_after("from langgraph_interleave import create_interleave_graph") - base
    assert not loaded & {"diffusers", "numpy", "openai", "PIL", "rich", "rough", "torch", "transformers", "typer"}


def test_types_errors_and_events_need_no_langgraph() -> None:
    loaded = loaded_after("from langgraph_interleave import Plan, Limits\nimport langgraph_interleave.events")
    assert not loaded & {"langgraph", "langchain_core", "openai", "rich", "torch"}
