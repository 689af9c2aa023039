"""`langgraph-interleave mcp`: a server for chatbots and agents that speak the Model Context Protocol."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph_interleave.cli.drawing import choose_backend
from langgraph_interleave.cli.home import home
from langgraph_interleave.cli.typed import CAPS, limits_of
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.limits import Limits
from langgraph_interleave.references import References
from langgraph_interleave.registry import init_critic, init_planner
from langgraph_interleave.types import OnExhausted

if TYPE_CHECKING:
    from langgraph_interleave.agents.mcp_server import Outfit, Workshop

KEY = "INTERLEAVE_MCP_KEY"
#: Connections that are still open when the server ends are given this long, in seconds.
_GRACE_S = 3
#: Connections at the same time, at most; further ones are told to come again.
_CONNECTIONS = 256


@dataclass(frozen=True, slots=True)
class Options:
    """What the user typed. `None` means: not given."""

    out: Path | None = None
    http: bool = False
    host: str = "127.0.0.1"
    port: int = 8765
    key_env: str = KEY
    allow_host: tuple[str, ...] = ()
    most: int = 4
    max_steps: int | None = None
    max_attempts: int | None = None
    max_images: int | None = None
    max_calls: int | None = None
    max_seconds: float | None = None
    max_cost_usd: float | None = None
    step_max_images: int | None = None
    step_max_calls: int | None = None
    step_max_seconds: float | None = None
    step_max_cost_usd: float | None = None
    size: str | None = None
    language: str | None = None
    style: str | None = None
    seed: int = 0
    planner: str | None = None
    backend: str | tuple[str, ...] | None = None
    critic: str | None = None
    references: References | None = None
    on_exhausted: OnExhausted = "best"
    fetch_images: bool = False

    @property
    def limits(self) -> Limits:
        """The caps on each document, with the defaults of those not given."""
        return limits_of(self, ("max_steps", *CAPS))


def serve(options: Options) -> int:
    """Serve until the client, or a signal, ends it.

    Args:
        options: What the user typed.

    Returns:
        The exit code, 0.

    Raises:
        ConfigError: An option is wrong, the address is taken, or it needs a key.
    """
    from langgraph_interleave.agents.mcp_server import Shelf, Workshop

    # Standard output belongs to the protocol.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    folder = (options.out or data_folder()).expanduser().absolute()
    outfit = make_outfit(options)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"The folder {folder} cannot be made: {error}.", remedy="Choose another with --out."
        ) from error
    # A semaphore belongs to the loop it is first used on: the workshop is made before, and used only there.
    workshop = Workshop(Shelf.folder(folder), outfit, most=options.most)
    # Ctrl-C is how a person ends a server.
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_http(workshop, options) if options.http else _stdio(workshop))
    return 0


def make_outfit(options: Options) -> Outfit:
    """The roles and defaults that were asked for.

    Raises:
        ConfigError: One is not known, or cannot be.
    """
    from langgraph_interleave.agents.mcp_server import Outfit

    planner = init_planner(options.planner) if options.planner else None
    critic = init_critic(options.critic) if options.critic else None
    return Outfit(
        planner,
        choose_backend(options.backend),
        critic,
        limits=options.limits,
        fetch_images=options.fetch_images,
        size=options.size,
        language=options.language,
        style=options.style,
        seed=options.seed,
        references=options.references,
        on_exhausted=options.on_exhausted,
    )


def data_folder() -> Path:
    """Where documents are kept if nobody says otherwise: the user's own folder for data of programs."""
    return home() / "mcp"


async def _stdio(workshop: Workshop) -> None:
    from langgraph_interleave.agents.mcp_server import create_mcp_server

    server = create_mcp_server(workshop)
    async with workshop:
        await server.run_stdio_async()


async def _http(workshop: Workshop, options: Options) -> None:
    from langgraph_interleave.agents.mcp_server import create_mcp_server, http_app
    from langgraph_interleave.agents.mcp_server.patience import make_config

    key = os.environ.get(options.key_env) or None
    if key is None and options.key_env != KEY:
        raise ConfigError(
            f"The environment variable {options.key_env} holds no key.", remedy="Set it, or leave --key-env out."
        )
    app = http_app(create_mcp_server(workshop), key=key, host=options.host, names=options.allow_host)
    import uvicorn

    with contextlib.closing(_bound(options.host, options.port)) as bound:
        port = bound.getsockname()[1]
        shown = f"[{options.host}]" if ":" in options.host else options.host
        sys.stderr.write(f"Serving http://{shown}:{port}/mcp\n")
        sys.stderr.flush()
        config = make_config(
            app, log_level="warning", timeout_graceful_shutdown=_GRACE_S, limit_concurrency=_CONNECTIONS
        )
        async with workshop:
            await uvicorn.Server(config).serve(sockets=[bound])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        # From here on clients may connect: they wait until the server is ready.
        bound.listen()
    except OSError as error:
        bound.close()
        raise ConfigError(
            f"Nothing can be served on {host} port {port}: {error.strerror or error}.",
            remedy="Choose another with --host and --port.",
        ) from error
    return bound
