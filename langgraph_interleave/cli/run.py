"""`langgraph-interleave run`: one request to one document in a folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from langgraph_interleave.cli.estimating import estimate
from langgraph_interleave.cli.folder import shown
from langgraph_interleave.cli.job import Job, prepare
from langgraph_interleave.cli.keeping import leave, tell_how, typed, write_aside, writing
from langgraph_interleave.cli.making import make
from langgraph_interleave.cli.money import use_prices
from langgraph_interleave.cli.pipe import quietly
from langgraph_interleave.cli.rescue import rescue
from langgraph_interleave.cli.screen import Screen, can_redraw, open_screen
from langgraph_interleave.cli.stopping import Stopping
from langgraph_interleave.cli.typed import Options
from langgraph_interleave.cli.versions import DELIVERED, Version, Versions
from langgraph_interleave.cli.wording import one_line
from langgraph_interleave.content import read_request
from langgraph_interleave.document import Document
from langgraph_interleave.errors import ConfigError

__all__ = ["EXIT", "Options", "make_document", "open_page", "refuse_unspent", "run"]

EXIT = {"complete": 0, "partial": 3, "waiting": 3, "failed": 1, "cancelled": 130}


def run(options: Options, *, working: Path | None = None) -> int:
    """Make the document and say how it went.

    Args:
        options: What the user typed.
        working: Folder that relative paths are relative to; the process's own by default.

    Returns:
        The exit code: 0 complete, 3 partial or waiting, 1 failed, 130 cancelled.

    Raises:
        InterleaveError: Nothing was made: an option, a file or the request is wrong.
    """
    working = working or Path.cwd()
    prices = use_prices(working / options.prices if options.prices else None)
    if options.estimate:
        return estimate(options)
    with Stopping() as stopping:
        return make_document(prepare(options, working, prices=prices), options, working, stopping)


def make_document(job: Job, options: Options, working: Path, stopping: Stopping) -> int:
    """Make the document of a run that is ready, and say how it went.

    Args:
        job: The run.
        options: What the user typed.
        working: Folder for relative paths.
        stopping: The signals that stop it.

    Returns:
        The exit code.

    Raises:
        InterleaveError: Nothing was made.
    """
    screen = open_screen(events=options.events, free=job.free)
    versions = Versions.of(job.place.folder, working=working)
    current = versions.current
    # What was delivered stays until something else is.
    held = current is not None and current.delivered
    if held:
        versions.shelve(job.artifacts)

    def write() -> None:
        if held:
            write_aside(job)
        elif job.document is not None:
            Document.load(job.document, job.artifacts).save(job.place.folder)

    try:
        make(job, screen, options, working, stopping, write=write)
        refuse_unspent(job)
    except ConfigError:
        if not job.place.fresh:
            versions.unshelve()
        raise
    with writing(job, working):
        return _deliver(job, screen, options, working, versions, current if held else None)


def refuse_unspent(job: Job) -> None:
    """A run that was refused before it cost anything is an error like any other, and leaves nothing.

    Raises:
        ConfigError: The planner's model, key or address is wrong.
    """
    data = job.document or {}
    problem: dict[str, str] = data.get("problem") or {}
    if problem.get("error") == "ConfigError" and not data["spend"]["calls"]:
        job.refused()
        raise ConfigError(problem["message"], remedy=problem.get("remedy", ""))


def _deliver(
    job: Job, screen: Screen, options: Options, working: Path, versions: Versions, held: Version | None
) -> int:
    """Write the document, say where it is, and give the exit code; one that was `held` goes only for another."""
    data = job.document
    outcome = data["outcome"] if data is not None else "failed" if job.fault else "cancelled"
    stays = held is not None and outcome not in DELIVERED
    if data is None and not stays:
        request = read_request(job.blocks, job.artifacts)
        ended = "failed" if job.fault else "cancelled"
        rescued = rescue(screen.progress, request, job.artifacts, run_id=job.run, outcome=ended)
        data = rescued.model_dump(mode="json", exclude_none=True)
    problem = (data or {}).get("problem")
    if problem:
        quietly(lambda: screen.say(one_line(f"{problem['message']} {problem.get('remedy', '')}")))
    if data is None or stays:
        job.ended(outcome)
        tell_how(job, screen, working, outcome)
        leave(job, screen, versions, working)
        return EXIT[outcome]
    made_with, reviewed, asked = options.kept(), options.reviewed, options.request
    with versions.alone():
        Document.load(data, job.artifacts).save(job.place.folder)
        made = versions.put(data, asked=asked, made_with=made_with, artifacts=job.artifacts, reviewed=reviewed)
    job.document = data
    job.ended(outcome)
    if held is not None and held.number != made.number:
        line = f"version {held.number} stays; langgraph-interleave restore {typed(job, working)} {held.number}"
        quietly(lambda: screen.say(f"{line} goes back to it"))
    tell_how(job, screen, working, outcome)
    quietly(lambda: screen.say(shown(job.place.page, working)))
    if job.fault is not None:
        raise job.fault
    if options.open_page and not options.events and can_redraw(sys.stdout):
        open_page(job.place.page)
    return EXIT[outcome]


def open_page(page: Path) -> None:
    """Show the page, where there is something to show it on; a text browser would take the terminal over."""
    import webbrowser

    if sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(page.resolve().as_uri())
