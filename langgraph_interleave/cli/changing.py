"""The commands about a document that is there: `change`, `versions`, `restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from langgraph_interleave.cli.flags import (
    Events,
    MaxCost,
    NoOpen,
    PricesFile,
    StepMaxCalls,
    StepMaxCost,
    StepMaxImages,
    StepMaxSeconds,
    WithTraceback,
    Yes,
)
from langgraph_interleave.cli.guard import guarded

Folder = Annotated[Path, typer.Argument(help="A folder that `run` made.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    """Add the commands to a program."""
    for command in (change, versions, restore):
        app.command()(command)


def change(
    folder: Folder,
    request: Annotated[str, typer.Argument(help="What is wanted otherwise, in words.", show_default=False)],
    image: Annotated[
        list[str] | None,
        typer.Option(
            "--image", "-i", metavar="FILE|URL", help="A picture: of what was really done, say.", show_default=False
        ),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Version to change. Default: the current one.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the change. Default: the document's own.", show_default=False),
    ] = None,
    max_attempts: Annotated[int | None, typer.Option(min=1, help="Attempts per step.", show_default=False)] = None,
    max_images: Annotated[int | None, typer.Option(min=1, help="Pictures at most.", show_default=False)] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help="Calls at most.", show_default=False)] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0.001, help="Wall-clock seconds at most.", show_default=False)
    ] = None,
    max_cost_usd: MaxCost = None,
    step_max_images: StepMaxImages = None,
    step_max_calls: StepMaxCalls = None,
    step_max_seconds: StepMaxSeconds = None,
    step_max_cost_usd: StepMaxCost = None,
    prices: PricesFile = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed.", show_default=False)] = 0,
    language: Annotated[str | None, typer.Option(help="Language of the captions.", show_default=False)] = None,
    style: Annotated[str | None, typer.Option(help="The look all pictures share.", show_default=False)] = None,
    backend: Annotated[
        list[str] | None, typer.Option("--backend", "-b", help="What draws, as for `run`.", show_default=False)
    ] = None,
    planner: Annotated[str | None, typer.Option(help="What plans.", show_default=False)] = None,
    critic: Annotated[str | None, typer.Option(help="What judges.", show_default=False)] = None,
    on_exhausted: Annotated[
        Literal["best", "last", "ask", "replan", "fail"], typer.Option(help="When no attempt was accepted.")
    ] = "best",
    on_limit: Annotated[
        Literal["finish", "ask"],
        typer.Option(help="At a limit: finish with what is there, or ask you whether to raise it."),
    ] = "finish",
    approve: Annotated[
        list[str] | None,
        typer.Option(metavar="plan|steps", help="What you are asked about, as for `run`.", show_default=False),
    ] = None,
    draft: Annotated[bool, typer.Option("--draft", help="Sketch every step first, and ask.")] = False,
    answer: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Answers, as for `run`.", show_default=False)
    ] = None,
    yes: Yes = False,
    events: Events = False,
    no_open: NoOpen = False,
    with_traceback: WithTraceback = False,
) -> None:
    """Change a document: `change bean "make step 2 night-time"`.

    Only what depends on the change is drawn again, with what the document was made with unless you say
    otherwise. The version before stays: `versions` lists them, `restore` goes back. Until the change is done
    the folder is as it was. Exit codes are those of `run`; 1 also where nothing was changed.
    """
    from langgraph_interleave.cli import change as command
    from langgraph_interleave.cli.typed import Options, read_approve, read_backends

    def work() -> int:
        options = Options(
            request=request,
            images=tuple(image or ()),
            out=out,
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
            language=language,
            style=style,
            backend=read_backends(backend),
            planner=planner,
            critic=critic,
            on_exhausted=on_exhausted,
            on_limit=on_limit,
            approve=read_approve(approve or ()),
            draft=draft,
            answers=answer,
            yes=yes,
            prices=prices,
            events=events,
            open_page=not no_open,
        )
        return command.change(folder, options, version=version)

    raise typer.Exit(guarded(work, with_traceback=with_traceback))


def versions(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, nothing else on stdout.")] = False,
) -> None:
    """List the versions of a document; `*` is the one the folder shows."""
    from langgraph_interleave.cli import change as command

    raise typer.Exit(guarded(lambda: command.list_versions(folder, as_json=as_json)))


def restore(
    folder: Folder,
    number: Annotated[int, typer.Argument(min=1, help="Number of the version.", show_default=False)],
) -> None:
    """Go back to a version of a document, or forward again: nothing is called and nothing lost."""
    from langgraph_interleave.cli import change as command

    raise typer.Exit(guarded(lambda: command.restore(folder, number)))
