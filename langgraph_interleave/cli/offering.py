"""The command that offers documents to other programs: `mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from langgraph_interleave.cli.flags import (
    MaxCost,
    PricesFile,
    StepMaxCalls,
    StepMaxCost,
    StepMaxImages,
    StepMaxSeconds,
)
from langgraph_interleave.cli.guard import guarded


def add_to(app: typer.Typer) -> None:
    """Add the command to a program."""
    app.command()(mcp)


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of standard input and output.")] = False,
    host: Annotated[
        str, typer.Option(help="With --http: the address. Any but the loopback needs a key.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --http: the port; 0 for any that is free.")] = 8765,
    key_env: Annotated[
        str, typer.Option(metavar="NAME", help="With --http: the environment variable that holds the key.")
    ] = "INTERLEAVE_MCP_KEY",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --http: a further name the server is reached by.", show_default=False),
    ] = None,
    fetch_images: Annotated[
        bool, typer.Option("--fetch-images", help="Fetch pictures that clients name by an address of the public web.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for documents. Default: the user's data folder.", show_default=False),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Documents made at the same time.")] = 4,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Steps of a document. Default: 30.")] = None,
    max_attempts: Annotated[
        int | None, typer.Option(min=1, help="Attempts per step, the first included. Default: 3.", show_default=False)
    ] = None,
    max_images: Annotated[
        int | None, typer.Option(min=1, help="Pictures drawn at most, for each document.", show_default=False)
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(min=1, help="Calls of any role at most, for each document.", show_default=False)
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0.001, help="Wall-clock seconds at most, for each.", show_default=False)
    ] = None,
    max_cost_usd: MaxCost = None,
    step_max_images: StepMaxImages = None,
    step_max_calls: StepMaxCalls = None,
    step_max_seconds: StepMaxSeconds = None,
    step_max_cost_usd: StepMaxCost = None,
    prices: PricesFile = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed where the client gives none.")] = 0,
    size: Annotated[
        str | None, typer.Option(metavar="WIDTHxHEIGHT", help="Size where the client says none.", show_default=False)
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Language of captions where the client says none.", show_default=False)
    ] = None,
    style: Annotated[str | None, typer.Option(help="Look where the client says none.", show_default=False)] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option("--backend", "-b", help="What draws, as for `run`. Default: simulator.", show_default=False),
    ] = None,
    planner: Annotated[str | None, typer.Option(help="What plans, as for `run`.", show_default=False)] = None,
    critic: Annotated[str | None, typer.Option(help="What judges, as for `run`.", show_default=False)] = None,
    references: Annotated[
        Literal["explicit", "previous", "first", "all", "sheet"],
        typer.Option(help="What each step is drawn from, as for `run`."),
    ] = "explicit",
    on_exhausted: Annotated[
        Literal["best", "last", "fail"], typer.Option(help="What is kept when no attempt was accepted.")
    ] = "best",
) -> None:
    """Serve documents to chatbots and agents over the Model Context Protocol (MCP).

    Over standard input and output, for a client that starts it; with --http for clients that connect.
    docs/mcp.md has configurations of clients. Needs the extra `mcp`.
    """
    from langgraph_interleave.cli import mcp as command
    from langgraph_interleave.cli.money import use_prices
    from langgraph_interleave.cli.typed import read_backends

    options = command.Options(
        out=out,
        http=http,
        host=host,
        port=port,
        key_env=key_env,
        allow_host=tuple(allow_host or ()),
        fetch_images=fetch_images,
        most=jobs,
        max_steps=max_steps,
        max_attempts=max_attempts,
        max_images=max_images,
        max_calls=max_calls,
        max_seconds=max_seconds,
        max_cost_usd=max_cost_usd,
        step_max_images=step_max_images,
        step_max_calls=step_max_calls,
        step_max_seconds=step_max_seconds,
        step_max_cost_usd=step_max_cost_usd,
        seed=seed,
        size=size,
        language=language,
        style=style,
        backend=read_backends(backend),
        planner=planner,
        critic=critic,
        references=references,
        on_exhausted=on_exhausted,
    )

    def work() -> int:
        use_prices(prices)
        return command.serve(options)

    raise typer.Exit(guarded(work))
