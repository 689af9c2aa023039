"""The commands about runs: `runs`, `runs list`, `runs show`, `runs delete`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from langgraph_interleave.cli.guard import guarded

_MOST_SHOWN = 60


def completed(beginning: str) -> list[tuple[str, str]]:
    """The ids of runs that begin so, for the shell to complete.

    Args:
        beginning: What was typed so far.
    """
    from langgraph_interleave.cli.index import Index
    from langgraph_interleave.cli.wording import one_line

    return [(one.run, one_line(one.asked, _MOST_SHOWN)) for one in Index().all() if one.run.startswith(beginning)]


Reference = Annotated[
    str,
    typer.Argument(
        metavar="FOLDER|RUN",
        help="A folder that `run` made, or the id of a run, or its beginning.",
        show_default=False,
        autocompletion=completed,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="As JSON, nothing else on stdout.")]

group = typer.Typer(
    name="runs",
    help="List, show and delete runs: what became of each, what it took, what is ambiguous.",
    no_args_is_help=False,
    rich_markup_mode=None,
)


def add_to(app: typer.Typer) -> None:
    """Add the commands to a program."""
    app.add_typer(group)


@group.callback(invoke_without_command=True)
def runs(context: typer.Context, as_json: Json = False) -> None:
    """List, show and delete runs: what became of each, what it took, what is ambiguous."""
    if context.invoked_subcommand is None:
        list_(None, as_json=as_json)


@group.command("list")
def list_(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Folders to look in besides.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """List the runs, the newest first: id, begun (UTC), state, steps, calls, cost, folder, request.

    States: complete, partial, waiting, cancelled, failed; running; unfinished, where it was cut off; gone, with its
    folder.
    """
    from langgraph_interleave.cli import runs as command

    raise typer.Exit(guarded(lambda: command.list_runs(folders or (), as_json=as_json)))


@group.command()
def show(run: Reference, as_json: Json = False) -> None:
    """Show a run, or all of a folder: its steps, every call, what is ambiguous, and how to go on."""
    from langgraph_interleave.cli import runs as command

    raise typer.Exit(guarded(lambda: command.show(run, as_json=as_json)))


@group.command()
def delete(
    run: Reference,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a run with the versions it made, or all of a folder; what other versions need stays.

    One that is made right now is refused. Files that are not ours stay.
    """
    from langgraph_interleave.cli import runs as command

    raise typer.Exit(guarded(lambda: command.delete(run, yes=yes)))
