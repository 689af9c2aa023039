"""The door of the HTTP server: keys, names, origins, sizes."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from mcp_bench import outfit
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from langgraph_interleave.agents.mcp_server import Shelf, Workshop, create_mcp_server, http_app
from langgraph_interleave.agents.mcp_server.door import Door, is_loopback
from langgraph_interleave.cli.app import run_app
from langgraph_interleave.errors import ConfigError

KEY = "a-key-of-enough-characters"


async def inside(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("inside")(scope, receive, send)


async def knock(door: Door, host: str = "127.0.0.1:8765", **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()} | {"host": host}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(door), base_url="http://x") as client:
        return (await client.post("/mcp", headers=named)).status_code


async def test_only_the_key_opens() -> None:
    door = Door(inside, key=KEY)
    assert await knock(door) == 401
    assert await knock(door, authorization=KEY) == 401
    assert await knock(door, authorization=f"Basic {KEY}") == 401
    assert await knock(door, authorization=f"Bearer {KEY}x") == 401
    assert await knock(door, authorization=f"Bearer {KEY[:-1]}") == 401
    assert await knock(door, authorization="Bearer") == 401
    assert await knock(door, authorization=f"Bearer {KEY}") == 200
    assert await knock(door, authorization=f"bearer {KEY}") == 200
    assert await knock(Door(inside, key=None)) == 200


async def test_a_name_that_was_made_to_point_here_is_turned_away() -> None:
    door = Door(inside, key=None, names=("pictures.example",))
    assert await knock(door, host="evil.example:8765") == 421
    assert await knock(door, host="127.0.0.1.evil.example") == 421
    assert await knock(door, host="localhost.evil.example") == 421
    assert await knock(door, host="localhost:1") == 200
    assert await knock(door, host="[::1]:8765") == 200
    assert await knock(door, host="pictures.example") == 200
    assert await knock(door, host="192.0.2.7") == 200, "an address in numbers is nobody's to give away"
    for origin in ("https://evil.example", "null", "http://192.0.2.7", "http://127.0.0.1.evil.example"):
        assert await knock(door, origin=origin) == 403, origin
    assert await knock(door, origin="http://localhost:3000") == 200
    assert await knock(door, origin="https://pictures.example") == 200


async def test_a_request_that_is_too_large_is_refused() -> None:
    from langgraph_interleave.agents.mcp_server import door as doors

    async with Workshop(Shelf.memory(), outfit()) as workshop:
        app = http_app(create_mcp_server(workshop))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
            answered = await client.post(
                "/mcp", content=b"", headers={"content-length": str(doors.MOST_BODY + 1), "content-type": "text/plain"}
            )
    assert answered.status_code == 413


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "pictures.example"])
async def test_nobody_else_reaches_a_server_without_a_key(host: str) -> None:
    server: Any = create_mcp_server(Workshop(Shelf.memory(), outfit()))
    assert not is_loopback(host)
    with pytest.raises(ConfigError, match="INTERLEAVE_MCP_KEY"):
        http_app(server, host=host)
    assert http_app(server, host=host, key=KEY) is not None
    with pytest.raises(ConfigError, match="at least 16"):
        http_app(server, host=host, key="short")


def test_the_command_refuses_it_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTERLEAVE_MCP_KEY", raising=False)
    assert run_app(["mcp", "--http", "--host", "0.0.0.0", "--port", "0"]) == 2
    assert "INTERLEAVE_MCP_KEY" in capsys.readouterr().err
    assert run_app(["mcp", "--http", "--key-env", "NOT_THERE"]) == 2
    assert "NOT_THERE holds no key" in capsys.readouterr().err
    assert run_app(["mcp", "--backend", "no-such-thing"]) == 2
    assert run_app(["mcp", "--size", "1x1"]) == 2
