"""Commands and options of the command line; each command's work is in a module of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Literal

import typer

from langgraph_interleave.cli import changing, collecting, managing, offering
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
from langgraph_interleave.cli.managing import completed
from langgraph_interleave.cli.streams import open_streams
from langgraph_interleave.errors import ConfigError

app = typer.Typer(
    name="langgraph-interleave",
    help="Interleaved image-and-text documents: planned, drawn, judged, drawn again.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def run(
    context: typer.Context,
    request: Annotated[str | None, typer.Argument(help="What to make, in words.", show_default=False)] = None,
    image: Annotated[
        list[str] | None,
        typer.Option(
            "--image",
            "-i",
            metavar="FILE|URL",
            help="A picture to start from; may be given several times.",
            show_default=False,
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Number of steps, when it must be exact.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder for the document. Default: named after the request.", show_default=False
        ),
    ] = None,
    max_attempts: Annotated[
        int | None, typer.Option(min=1, help="Attempts per step, the first included. Default: 3.", show_default=False)
    ] = None,
    max_images: Annotated[
        int | None, typer.Option(min=1, help="Pictures drawn at most, in the whole run.", show_default=False)
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(min=1, help="Calls of any role at most, in the whole run.", show_default=False)
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0.001, help="Wall-clock seconds at most.", show_default=False)
    ] = None,
    max_cost_usd: MaxCost = None,
    step_max_images: StepMaxImages = None,
    step_max_calls: StepMaxCalls = None,
    step_max_seconds: StepMaxSeconds = None,
    step_max_cost_usd: StepMaxCost = None,
    prices: PricesFile = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed; another one gives other pictures.")] = 0,
    size: Annotated[
        str | None, typer.Option(metavar="WIDTHxHEIGHT", help="Size of each picture, in pixels.", show_default=False)
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Language of the captions. Default: the request's own.", show_default=False)
    ] = None,
    style: Annotated[str | None, typer.Option(help="The look all pictures share.", show_default=False)] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option(
            "--backend",
            "-b",
            help="What draws, as `backends` lists it. Default: simulator. Several, each named for the plan and perhaps "
            "with what it is for: -b photo=openai -b 'diagram (charts)=svg:openai:gpt-6-sol'.",
            show_default=False,
        ),
    ] = None,
    planner: Annotated[
        str | None,
        typer.Option(help="What plans: an installed planner, or provider:model for a chat model.", show_default=False),
    ] = None,
    critic: Annotated[
        str | None,
        typer.Option(help="What judges: an installed critic, or provider:model for a chat model.", show_default=False),
    ] = None,
    references: Annotated[
        Literal["explicit", "previous", "first", "all", "sheet"],
        typer.Option(
            help="What each step is drawn from: what the plan says, the picture before, the first of its chain of "
            "edits, all earlier ones too, or also a sheet of the characters that is drawn first."
        ),
    ] = "explicit",
    anchor_inputs: Annotated[
        bool, typer.Option("--anchor-inputs/--no-anchor-inputs", help="Give the pictures of --image to every step.")
    ] = False,
    reanchor_every: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="K", help="Draw every K-th edit of a chain from where the chain began.", show_default=False
        ),
    ] = None,
    style_in_prompts: Annotated[
        bool | None,
        typer.Option(
            "--style-in-prompts/--no-style-in-prompts",
            help="Tell the style guide to the backend with every prompt. Default: yes, but not for the built-in world.",
            show_default=False,
        ),
    ] = None,
    on_exhausted: Annotated[
        Literal["best", "last", "ask", "replan", "fail"],
        typer.Option(help="When no attempt was accepted: what is kept, or ask you, plan the step otherwise, or fail."),
    ] = "best",
    on_limit: Annotated[
        Literal["finish", "ask"],
        typer.Option(help="At a limit: finish with what is there, or ask you whether to raise it."),
    ] = "finish",
    approve: Annotated[
        list[str] | None,
        typer.Option(
            metavar="plan|steps",
            help="What you are asked about: the plan before anything is drawn, the steps before they count. May be "
            "given several times.",
            show_default=False,
        ),
    ] = None,
    draft: Annotated[
        bool, typer.Option("--draft", help="Sketch every step for nothing, and ask about the plan by the sketches.")
    ] = False,
    answer: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Answers as JSON: a list in the order asked, or an object by `plan`, `limit` and numbers of steps.",
            show_default=False,
        ),
    ] = None,
    yes: Yes = False,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER|RUN",
            help="Go on with a run that was cut off, stopped, waits or met a limit; nothing else need be typed. Caps, "
            "and who is asked, may be given anew.",
            show_default=False,
            autocompletion=completed,
        ),
    ] = None,
    lookahead: Annotated[
        Literal["never", "value", "always"] | None,
        typer.Option(
            help="Draw the next step before this one is judged; value: where what is won is worth what it may cost. "
            "Default: value where drawing is free, else never.",
            show_default=False,
        ),
    ] = None,
    candidates: Annotated[
        int, typer.Option(min=1, max=8, help="Pictures drawn for each attempt; the critic's best is taken.")
    ] = 1,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what the run may take, in calls, money and time; spend nothing.")
    ] = False,
    events: Events = False,
    no_open: NoOpen = False,
    with_traceback: WithTraceback = False,
) -> None:
    """Make a document from a request.

    Writes index.html, document.md, images/ and trajectory.jsonl. Exit codes: 0 complete, 3 partial
    or waiting, 1 failed, 2 usage, 130 cancelled (Ctrl-C, SIGTERM, a closed terminal or pipe). With
    --resume, or with the same words again, a run goes on where it ended: what was drawn is not drawn
    again, and what was answered is not asked again. A document that is there stays until another is made.
    """
    from langgraph_interleave.cli import run as command
    from langgraph_interleave.cli.resuming import resume as go_on
    from langgraph_interleave.cli.typed import read_approve, read_backends

    def work() -> int:
        if request is None and resume is None:
            raise ConfigError(
                "Nothing is asked.",
                remedy='Write run "How to plant a bean", or run --resume FOLDER to go on with what was begun.',
            )
        options = command.Options(
            request=request or "",
            images=tuple(image or ()),
            steps=steps,
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
            size=size,
            language=language,
            style=style,
            planner=planner,
            backend=read_backends(backend),
            critic=critic,
            references=references,
            anchor_inputs=anchor_inputs,
            reanchor_every=reanchor_every,
            style_in_prompts=style_in_prompts,
            on_exhausted=on_exhausted,
            on_limit=on_limit,
            approve=read_approve(approve or ()),
            draft=draft,
            answers=answer,
            yes=yes,
            lookahead=lookahead,
            candidates=candidates,
            estimate=estimate,
            prices=prices,
            events=events,
            open_page=not no_open,
        )
        return command.run(options) if resume is None else go_on(resume, options, given_in(context))

    raise typer.Exit(guarded(work, with_traceback=with_traceback))


changing.add_to(app)
managing.add_to(app)
collecting.add_to(app)


@app.command()
def backends(
    name: Annotated[
        str | None, typer.Argument(help="One of them, a planner, a critic or a check: its options.", show_default=False)
    ] = None,
) -> None:
    """List what is installed, what it can do, and what is missing (with the pip line); or the options of one."""
    from langgraph_interleave.cli import backends as command

    def listing() -> int:
        command.backends() if name is None else command.one(name)
        return 0

    raise typer.Exit(guarded(listing))


@app.command()
def check(
    backend: Annotated[str, typer.Argument(help="What to check, as `backends` lists it.", show_default=False)],
    size: Annotated[
        str | None,
        typer.Option(metavar="WIDTHxHEIGHT", help="Size of the pictures. Default: the smallest.", show_default=False),
    ] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help="Calls at most.", show_default=False)] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Try a backend whose calls cost money.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON, nothing else on stdout.")] = False,
) -> None:
    """Try a backend: draws, edits, references, seeds, sizes, errors … Exit codes: 0 nothing failed, 1 something did."""
    from langgraph_interleave.cli import check as command

    wanted = command.Wanted(backend, size=size, max_calls=max_calls, yes=yes, as_json=as_json)
    raise typer.Exit(guarded(lambda: command.check(wanted)))


offering.add_to(app)


#: Options whose flag has another name.
_NAMES = {"image": "images", "answer": "answers", "no_open": "open_page"}


def given_in(context: typer.Context) -> set[str]:
    """The names of the options of `run` that were typed, as `Options` calls them."""
    from langgraph_interleave.cli.typed import Options

    typed = {name for name in context.params if str(context.get_parameter_source(name)).endswith("COMMANDLINE")}
    return {_NAMES.get(name, name) for name in typed} & {field.name for field in fields(Options)}


def _version(wanted: bool) -> None:
    if wanted:
        from langgraph_interleave import __version__

        typer.echo(f"langgraph-interleave {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of the program itself."""


def run_app(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: Words after the program's name; `None` for those of the process.

    Returns:
        The exit code.
    """
    open_streams()
    try:
        app(args=None if arguments is None else list(arguments), prog_name="langgraph-interleave")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(bool(done.code))
    return 0
