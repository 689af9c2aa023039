"""A server over scripted roles, within this process, and what clients read in its answers."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import mcp_parts
from mcp import Client
from mcp.types import CallToolResult, ImageContent, ResourceLink, TextContent

from langgraph_interleave.agents.mcp_server import Outfit, Shelf, Workshop, create_mcp_server


def outfit(backend: Any = None, **options: Any) -> Outfit:
    return Outfit(mcp_parts.Planner(), backend or mcp_parts.backend(), mcp_parts.critic(), **options)


class Bench:
    """A workshop with its server, and clients of it."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.shelf = workshop.shelf
        self.server = create_mcp_server(workshop)

    def client(self, mode: str = "auto") -> Client:
        return Client(self.server, mode=mode)

    async def call(self, name: str, **arguments: Any) -> CallToolResult:
        async with self.client() as client:
            return await client.call_tool(name, arguments)


@asynccontextmanager
async def open_bench(
    shelf: Shelf, *, backend: Any = None, lease_s: float = 15.0, **options: Any
) -> AsyncGenerator[Bench]:
    async with Workshop(shelf, outfit(backend, **options), lease_s=lease_s) as workshop:
        yield Bench(workshop)


def text_of(result: CallToolResult) -> str:
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def id_of(result: CallToolResult) -> str:
    found = re.search(r"document_id: (doc_[0-9a-f]{16}), version (\d+)", text_of(result))
    assert found is not None, text_of(result)
    return found[1]


def pictures_of(result: CallToolResult) -> list[ImageContent]:
    return [block for block in result.content if isinstance(block, ImageContent)]


def links_of(result: CallToolResult) -> list[ResourceLink]:
    return [block for block in result.content if isinstance(block, ResourceLink)]


async def eventually(check: Any, seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it did not come about"
        await asyncio.sleep(0.01)
