"""The command that clears up: `gc`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from langgraph_interleave.cli.guard import guarded


def add_to(app: typer.Typer) -> None:
    """Add the command to a program."""
    app.command()(gc)


def gc(
    folder: Annotated[
        Path,
        typer.Argument(help="A folder that `run` made, the MCP server's, or an artifact store.", show_default=False),
    ],
    remove: Annotated[bool, typer.Option("--remove", help="Remove it; else it is only counted.")] = False,
    older_than: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Nothing younger is removed: 12h, 7d. Default: 1d.", show_default=False),
    ] = None,
    abandoned: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help="Give up runs without a document that have made no call for so long. Default: never.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Remove from a folder what none of its documents, versions and runs needs: earlier pictures, records, leftovers.

    Documents are kept with all they were made from, and so are runs that may go on. Safe beside running programs.
    """
    from langgraph_interleave.cli.gc import clean

    def work() -> int:
        typer.echo(clean(folder, remove=remove, older_than=older_than, abandoned=abandoned))
        return 0

    raise typer.Exit(guarded(work))
