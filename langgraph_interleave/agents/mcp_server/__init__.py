"""An MCP server of our own: documents for chatbots, made as jobs that outlive the call that asked for them.

`Shelf` keeps the jobs, `Workshop` makes them, `create_mcp_server` is what clients talk to, `http_app` puts it
behind a door. Importing this package does not load the `mcp` package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_interleave.agents.mcp_server.outfit import Outfit as Outfit
from langgraph_interleave.agents.mcp_server.shelf import Shelf as Shelf
from langgraph_interleave.agents.mcp_server.workshop import Workshop as Workshop
from langgraph_interleave.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.server import MCPServer
    from starlette.types import ASGIApp

__all__ = ["Outfit", "Shelf", "Workshop", "create_mcp_server", "http_app"]


def create_mcp_server(workshop: Workshop) -> MCPServer[Any]:
    """Make the server: tools, resources and their descriptions, over a workshop.

    Args:
        workshop: What makes the documents. Enter it (`async with workshop:`) around the server's life, so
            that jobs which an earlier server left unfinished are taken up, and what is under way is laid
            down in good order at the end.

    Returns:
        A server of the official SDK: `await server.run_stdio_async()`, or see `http_app`.

    Raises:
        ConfigError: The `mcp` package is not installed.

    Example:
        >>> server = create_mcp_server(Workshop(Shelf.memory(), Outfit()))
        >>> server.name
        'langgraph-interleave'
    """
    _installed()
    from langgraph_interleave.agents.mcp_server.server import make_server

    return make_server(workshop)


def http_app(
    server: MCPServer[Any], *, key: str | None = None, host: str = "127.0.0.1", names: Sequence[str] = ()
) -> ASGIApp:
    """The server as an ASGI app with one endpoint, `/mcp` (streamable HTTP).

    Args:
        server: The server.
        key: What clients must send as `Authorization: Bearer …`; nothing is asked for without.
        host: The address it is bound to.
        names: Further host names it is reached by.

    Raises:
        ConfigError: `host` is not the machine's own loopback, and there is no key.
    """
    _installed()
    from langgraph_interleave.agents.mcp_server.door import make_app

    return make_app(server, key=key, host=host, names=names)


def _installed() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise ConfigError(
            "The MCP server needs the package mcp, which is not installed.",
            remedy='Run: pip install "langgraph-interleave[mcp]"',
        )
