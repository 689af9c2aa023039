"""What the documents say is true: commands, examples, names, versions."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import pkgutil
import re
import shlex
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from loopback_replies import Chat

import langgraph_interleave
from langgraph_interleave.cli.app import run_app

REPOSITORY = Path(__file__).resolve().parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = sorted(
    info.name for info in pkgutil.walk_packages(langgraph_interleave.__path__, "langgraph_interleave.")
    if not info.name.endswith(".__main__")
)  # fmt: skip
#: The Python of the README runs here; that of docs/backends.md in testing/test_conformance_table.py, that of
#: docs/options.md in cli/test_options.py, that of
#: docs/mcp.md in mcp_server/test_mcp_page.py, that of docs/durability.md in graph/test_durability_page.py, that of
#: docs/waiting.md in graph/test_waiting_page.py, that of
#: docs/recipes.md in backends/test_recipes.py, with stand-ins for what each of them needs.
DOCUMENTS = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE",
    "docs/backends.md",
    "docs/durability.md",
    "docs/mcp.md",
    "docs/options.md",
    "docs/recipes.md",
    "docs/studio.md",
    "docs/waiting.md",
    "docs/worth.md",
)


def block(heading: str, number: int = 0) -> str:
    """A fenced block under a heading of the README."""
    section = README.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^```\w*\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[number]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement(line: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", line)
    assert match is not None
    return normal(match[0])


@pytest.mark.parametrize("name", MODULES)
def test_every_example_in_a_docstring_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(module, optionflags=flags).failed == 0


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_name_nothing_of_the_place_they_were_written_in(name: str) -> None:
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    assert not re.search(r"/(root|work|home|tmp|opt)/|pypi\.org|pythonhosted|npmjs|localhost:\d", text)
    assert text.endswith("\n")


def test_links_within_the_repository_lead_somewhere() -> None:
    for name in DOCUMENTS:
        text = (REPOSITORY / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", text):
            assert ((REPOSITORY / name).parent / target).exists(), f"{name}: {target}"


def test_every_document_is_among_them() -> None:
    written = {path.relative_to(REPOSITORY).as_posix() for path in REPOSITORY.glob("docs/**/*.md")}
    assert written <= set(DOCUMENTS)


def test_the_two_commands_set_up_all_they_need() -> None:
    for heading in ("Install and run", "Install and test"):
        command = block(heading)
        assert "-m venv" in command
        assert "-c constraints.txt" in command
    assert "langgraph-interleave run" in block("Install and run")
    assert "pytest" in block("Install and test")


def test_the_options_the_readme_uses_exist(capsys: pytest.CaptureFixture[str]) -> None:
    run_app(["run", "--help"])
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    for line in re.findall(r"langgraph-interleave run (.*)", README.replace("\\\n", " ")):
        words = shlex.split(line.split("&&")[0], comments=True)
        assert {word for word in words if word.startswith("--")} <= known, line
    listed = README.partition("On the command line: ")[2].partition("\n")[0]
    assert set(re.findall(r"`(--[a-z-]+)`", listed)) <= known
    assert "--references" in listed


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loopback: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", loopback.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-loop")
    loopback.script("chat", lambda request: Chat(text=answer_to(request.body["messages"][0]["content"])))
    names: dict[str, Any] = {"__name__": "readme"}
    for text in re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE):
        exec(compile(text, "README.md", "exec"), names)
    assert (tmp_path / "bean-in-python" / "index.html").exists()
    assert names["result"]["outcome"] == "complete"
    assert names["cost"] > 0
    assert names["report"].ok, names["report"]
    assert loopback.counts["chat"].requests == 1 + 2 * (1 + 3), "a plan; two pictures, each looked at once and thrice"


def answer_to(system: str) -> str:
    """A plan of two pictures, or an accept."""
    if not system.startswith("You plan"):
        return json.dumps({"reasoning": "As asked.", "scores": {}, "verdict": "accept", "refined_prompt": None})
    step = {"title": "Day", "op": "generate", "instruction": "A lighthouse.", "prompt": "A lighthouse", "sources": []}
    return json.dumps({"style_guide": {"look": "ink"}, "steps": [step, {**step, "title": "Night"}]})


def test_the_readme_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Line by line, but for what differs from machine to machine: the time, and what was drawn ahead."""
    monkeypatch.chdir(tmp_path)
    command = block("Install and run").replace("\\\n", " ").split("langgraph-interleave ", 1)[1]
    assert run_app(shlex.split(command)) == 0

    def lasting(line: str) -> str:
        return re.sub(r"^\d+\.\d s · .*", "(time and calls)", line)

    printed = [lasting(line) for line in capsys.readouterr().out.splitlines()]
    told = [lasting(line) for line in block("Install and run", 1).splitlines() if line.strip() != "…"]
    assert [line for line in told if line not in printed] == []
    assert any("judged: revise" in line for line in told)
    assert told[-3].startswith("complete")


def test_a_result_is_seen_early() -> None:
    assert "\ncomplete ·" in "\n".join(README.splitlines()[:40])


def test_the_changelog_knows_the_version() -> None:
    changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {langgraph_interleave.__version__}" in changelog


def test_every_dependency_is_in_the_constraints() -> None:
    lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", pin) for pin in pins)
    pinned = {requirement(pin) for pin in pins}
    wanted = list(PROJECT["project"]["dependencies"])
    wanted += [line for extra in PROJECT["project"]["optional-dependencies"].values() for line in extra]
    assert {requirement(line) for line in wanted} <= pinned
    assert "torch==2.13.0" in pins


@pytest.mark.parametrize("kind", ["backends", "checks", "critics", "planners"])
def test_the_built_ins_come_in_through_entry_points(kind: str) -> None:
    group = f"langgraph_interleave.{kind}"
    declared: dict[str, str] = PROJECT["project"]["entry-points"][group]
    installed = {point.name: point.value for point in entry_points(group=group)}
    assert declared.items() <= installed.items()
    for value in declared.values():
        module, _, name = value.partition(":")
        assert hasattr(importlib.import_module(module), name), value


def test_langgraph_json_points_at_graphs_that_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a server keeps its pictures where it runs
    config = json.loads((REPOSITORY / "langgraph.json").read_text(encoding="utf-8"))
    inside = {"agent": ("model", "tools")}
    for name, graph in config["graphs"].items():
        path, _, attribute = graph["path"].partition(":")
        spec = importlib.util.spec_from_file_location(f"graphs_{name}", REPOSITORY / path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        drawn = getattr(module, attribute).get_graph(xray=True).draw_mermaid()
        for node in inside.get(name, ("planner", "dispatch", "generate", "critique", "retry", "compose")):
            assert node in drawn


def test_the_configuration_with_users_is_the_other_one_and_their_auth() -> None:
    plain, guarded = (
        json.loads((REPOSITORY / name).read_text(encoding="utf-8"))
        for name in ("langgraph.json", "langgraph.auth.json")
    )
    path, _, attribute = guarded.pop("auth")["path"].partition(":")
    assert attribute in (REPOSITORY / path).read_text(encoding="utf-8")
    assert guarded.pop("env") == {"INTERLEAVE_BIND_LINKS": "1"}
    assert guarded["http"].pop("enable_custom_route_auth") is True
    assert guarded == {key: value for key, value in plain.items() if key != "env"}
