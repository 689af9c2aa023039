"""What can be said to each part: docs/options.md is current, and `backends NAME` says the same."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.cli.app import run_app
from langgraph_interleave.cli.options import Described, built_in, find, of_class
from langgraph_interleave.prices import Price, Prices

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENT = (REPOSITORY / "docs" / "options.md").read_text(encoding="utf-8")


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("options_page", REPOSITORY / "benchmarks" / "options_page.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules["options_page"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_document_is_current() -> None:
    """If not: python benchmarks/options_page.py --write."""
    made = generator()
    assert made.inserted(DOCUMENT, made.page()) == DOCUMENT


def parts() -> list[Described]:
    return [part for kind in ("backend", "planner", "critic", "check") for part in built_in(kind)]  # type: ignore[arg-type]


def test_every_option_is_explained() -> None:
    found = [*parts(), *find("transformers")]
    assert len(found) > 20
    lacking = [f"{part.name}: {option.name}" for part in found for option in part.options if len(option.meaning) < 5]
    assert lacking == []
    # What a name may carry is an argument, but for what diffusers passes to every drawing.
    apart = {option.name for part in found for option in part.options if not option.in_python}
    assert apart == {"guidance", "size", "steps", "strength"}


def test_the_place_is_where_python_finds_it() -> None:
    for part in parts():
        module, _, name = part.place.rpartition(".")
        assert hasattr(importlib.import_module(module), name), part.place


def test_an_entry_of_a_docstring_is_read_whole() -> None:
    def part(one: int, two: str = "b", *rest: str, three: bool | None = None) -> None:
        """Does it.

        Args:
            one: First,
                over two lines: with a colon.
            two: Second.
            three: Third.

        Raises:
            ValueError: Never.
        """

    told = of_class("backend", "part", part, "a.b:part", "part:…")
    assert [(one.name, one.meaning, one.default) for one in told.options] == [
        ("one", "First, over two lines: with a colon.", ""), ("two", "Second.", "'b'"), ("rest", "", "()"),
        ("three", "Third.", "None"),
    ]  # fmt: skip
    assert (told.place, told.written, told.summary) == ("a.b.part", "part:…", "Does it.")


def test_one_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["backends", "comfyui"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("backend comfyui: Draws by running a workflow of yours")
    for option in find("comfyui")[0].options:
        assert re.search(rf"^{option.name}( \?)?  ", said, re.MULTILINE), option.name
    assert "written   comfyui:WORKFLOW.json" in said and "ComfyUIBackend" in said
    assert run_app(["backends", "chat"]) == 0
    said = capsys.readouterr().out
    assert "planner chat:" in said and "critic chat:" in said
    assert run_app(["backends", "comfi"]) == 2
    assert "Nothing called 'comfi' is installed. There are callable, chat" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "written"), [
    ("comfyui", "Write comfyui:WORKFLOW.json"), ("svg", "Write svg:PROVIDER:MODEL"),
    ("diffusers", "Write diffusers:OWNER/MODEL (of the hub), diffusers:FOLDER"),
    ("chat_model", "Write chat_model:PROVIDER:MODEL"),
])  # fmt: skip
def test_what_needs_an_argument_says_how_it_is_written(
    name: str, written: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["check", name]) == 2
    said = capsys.readouterr().err
    assert written in said and f"`langgraph-interleave backends {name}` lists its options." in said


def test_the_examples_of_the_document_are_right() -> None:
    names: dict[str, Any] = {"__name__": "options"}
    for text in re.findall(r"^```python\n(.*?)^```$", DOCUMENT, re.DOTALL | re.MULTILINE):
        exec(compile(text, "options.md", "exec"), names)
    assert names["backend"].tries == 2
    (table,) = re.findall(r"^```toml\n(.*?)^```$", DOCUMENT, re.DOTALL | re.MULTILINE)
    prices = Prices().merged(tomllib.loads(table))
    assert prices.models == ("my-image-model", "gpt-5.4-mini")
    price = prices.of("my-image-model")
    assert price is not None and price.picture == 0.02
    told = DOCUMENT.partition("The fields of a price are")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", told)) == set(Price.model_fields)
