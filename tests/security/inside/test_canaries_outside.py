"""The same keys behind the doors users come through: the command line, a tool, an agent's chat, the MCP server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mcp_parts
import pytest
from canaries import Canaries, listening
from loopback import LoopbackServer
from loopback_answers import Recorded
from loopback_replies import Chat, Failure, Pictures, Reply
from mcp_bench import open_bench

from langgraph_interleave import InterleaveError
from langgraph_interleave.agents import create_interleave_agent, create_interleave_tool
from langgraph_interleave.agents.mcp_server import Shelf
from langgraph_interleave.chat import ChatInterleave
from langgraph_interleave.cli.app import run_app
from langgraph_interleave.errors import CallError
from langgraph_interleave.testing import ScriptedBackend

STEP = {
    "title": "Pot",
    "op": "generate",
    "instruction": "A pot.",
    "prompt": "A pot",
    "caption": "A pot.",
    "sources": [],
}
PLAN = json.dumps({"reasoning": "One.", "title": "A pot", "first_number": 1, "steps": [STEP],
                   "style_guide": {"look": "ink", "palette": "", "characters": "", "keep": ""}})  # fmt: skip
CRITIQUE = json.dumps({"reasoning": "A pot.", "verdict": "accept", "refined_prompt": None,
                       "scores": {"semantics": 8, "quality": 8, "consistency": None}})  # fmt: skip
FAILING = ("", "backend", *(pytest.param(role, marks=pytest.mark.slow) for role in ("planner", "critic")))


@pytest.fixture
def canaries(monkeypatch: pytest.MonkeyPatch) -> Canaries:
    planted = Canaries()
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN", "INTERLEAVE_LINK_SECRET",
                 "INTERLEAVE_MCP_KEY", "LANGSMITH_API_KEY"):  # fmt: skip
        monkeypatch.setenv(name, planted(f"environment {name}"))
    return planted


@pytest.fixture
def server(loopback: LoopbackServer, canaries: Canaries) -> LoopbackServer:
    def script(failing: str, status: int) -> None:
        def answer(request: Recorded) -> Reply:
            chat = request.route == "chat"
            planning = chat and str(request.body["messages"][0]["content"]).startswith("You plan")
            role = "backend" if not chat else "planner" if planning else "critic"
            if role == failing:
                # All keys of the environment: as a tool with a shell would.
                return Failure(status, {"message": "Not " + " ".join(canaries.by_place.values())})
            return Chat(PLAN if planning else CRITIQUE) if chat else Pictures()

        loopback.script("chat", answer)
        loopback.script("generations", answer)

    loopback.failing = script  # type: ignore[attr-defined]
    return loopback


def roles(server: LoopbackServer) -> dict[str, Any]:
    chat = f"openai:gpt-5-mini?base_url={server.base_url}"
    return {"planner": chat, "critic": chat, "backend": f"openai:gpt-image-2.6-flare?base_url={server.base_url}"}


def failing(server: LoopbackServer, role: str, status: int = 400) -> None:
    server.failing(role, status)  # type: ignore[attr-defined]


@pytest.mark.parametrize("role", FAILING)
def test_the_command_line(
    server: LoopbackServer, canaries: Canaries, tmp_path: Path, capsys: pytest.CaptureFixture[str], role: str
) -> None:
    failing(server, role, 500 if role == "critic" else 400)
    options = [part for name, value in roles(server).items() for part in (f"--{name}", value)]
    commands = [
        ["run", "A pot", *options, "--out", str(tmp_path / "pot"), "--size", "256x256", "--no-open"],
        ["run", "A pot", *options, "--out", str(tmp_path / "more"), "--size", "256x256", "--no-open", "--events"],
        ["runs"], ["backends", "openai"], ["check", *options],
    ]  # fmt: skip
    with listening() as heard:
        for command in commands:
            run_app(command)
            told = capsys.readouterr()
            heard.note(f"stdout of {command[0]}", told.out)
            heard.note(f"stderr of {command[0]}", told.err)
    heard.file(tmp_path)
    for store in tmp_path.parent.glob("**/langgraph-interleave"):
        heard.file(store)
    assert server.counts["chat"].requests
    assert "\n".join(heard.leaks(canaries)) == ""


@pytest.mark.parametrize("role", FAILING)
async def test_a_tool_an_agent_and_a_chat_model(server: LoopbackServer, canaries: Canaries, role: str) -> None:
    failing(server, role)
    with listening() as heard:
        config: Any = {"callbacks": [heard]}
        call = {"type": "tool_call", "id": "1", "args": {"request": "A pot"}}
        tool = create_interleave_tool(**roles(server), size="256x256")
        agent: Any = create_interleave_agent(**roles(server), size="256x256")
        chat = ChatInterleave(**roles(server), size="256x256")
        for name, asked in (
            ("tool", lambda: tool.ainvoke({**call, "name": tool.name}, config)),
            ("agent", lambda: agent.ainvoke({"messages": [{"role": "user", "content": "A pot"}]}, config)),
            ("chat", lambda: chat.ainvoke("A pot", config)),
        ):  # fmt: skip
            try:
                heard.note(name, await asked())
            except InterleaveError as error:
                heard.note(f"{name} exception", error)
        for each in (tool, agent, chat):
            heard.parts.append(("repr", f"{each!r} {each}".encode()))
    assert "\n".join(heard.leaks(canaries)) == ""


async def test_the_mcp_server(canaries: Canaries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(mcp_parts.CALLS, str(tmp_path / "calls.txt"))
    words = "Not " + " ".join(canaries.by_place.values())
    with listening() as heard:
        for error in (CallError(words), RuntimeError(words), KeyError(words)):
            async with open_bench(Shelf.folder(tmp_path / "data"), backend=ScriptedBackend(lambda _: error)) as bench:  # noqa: B023
                heard.note("answer", str(await bench.call("create_document", request="2 things")))
                heard.note("jobs", [job.model_dump() for job in bench.shelf.jobs()])
    # What a plugin raises goes to the log with its chain, which is its own affair; ours must not repeat it.
    heard.parts = [part for part in heard.parts if not part[0].startswith("log")]
    heard.file(tmp_path / "data")
    assert "\n".join(heard.leaks(canaries)) == ""
