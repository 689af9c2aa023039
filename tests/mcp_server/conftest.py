"""The scripted server of `mcp_bench`, as fixtures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import mcp_parts
import pytest
from mcp_bench import Bench, open_bench

from langgraph_interleave.agents.mcp_server import Shelf


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that every call of a role is written down in."""
    path = tmp_path / "calls.txt"
    monkeypatch.setenv(mcp_parts.CALLS, str(path))
    return path


@pytest.fixture
async def bench(calls: Path, tmp_path: Path) -> AsyncIterator[Bench]:
    """A server over scripted roles, within this process."""
    async with open_bench(Shelf.folder(tmp_path / "data")) as made:
        yield made
