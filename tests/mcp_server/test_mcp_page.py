"""What docs/mcp.md says is true."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.server import MCPServer
from mcp_bench import Bench

from langgraph_interleave.agents.mcp_server import answers, door, pictures, server
from langgraph_interleave.cli.app import run_app

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_configurations_of_clients_say_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    run_app(["mcp", "--help"])
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    said = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE))
    assert said <= known
    for block in blocks("json"):
        configuration = json.loads(block)
        ((_, servers),) = configuration.items()
        assert all("command" in one or "url" in one for one in servers.values())
        for one in servers.values():
            assert one.get("args", ["mcp"])[0] == "mcp"


async def test_its_tools_and_arguments_exist(bench: Bench) -> None:
    async with bench.client() as client:
        tools = {tool.name: set(tool.input_schema["properties"]) for tool in (await client.list_tools()).tools}
    rows = re.findall(r"^\| `(\w+)\(([^)]*)\)`", PAGE, re.MULTILINE)
    assert {name for name, _ in rows} == set(tools)
    for name, arguments in rows:
        assert set(re.findall(r"\w+", arguments)) <= tools[name], name


def test_its_numbers_are_those_of_the_code() -> None:
    assert f"at most {answers._MOST_SMALL // 1000} kB" in PAGE.replace("together at most", "at most")
    assert f"at most {pictures.MOST_BYTES // 1024**2} MiB" in PAGE
    assert f"{pictures.MOST_PICTURES} in a call" in PAGE
    assert f"at most {server.MOST_WAIT_S:.0f}" in PAGE
    assert door.MOST_BODY / 1024**2 < 22 and "at most 22 MiB" in PAGE


def test_the_server_it_shows_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[Any] = []

    async def run(self: Any) -> None:
        ran.append(self.name)

    monkeypatch.setattr(MCPServer, "run_stdio_async", run)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(blocks("python")[1], "docs/mcp.md", "exec"), names)
    asyncio.run(names["serve"]())
    assert ran == ["langgraph-interleave"]


@pytest.mark.slow
def test_the_client_it_shows_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    exec(compile(blocks("python")[0], "docs/mcp.md", "exec"), {})
    assert capsys.readouterr().out.startswith("How to plant a bean\ncomplete; 3 steps")
    assert (tmp_path / "documents" / "jobs").is_dir()
