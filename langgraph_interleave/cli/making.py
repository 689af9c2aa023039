"""A document made while it is shown, with whoever is there asked on the way."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TextIO

from langgraph_interleave.cli.asked import left_lines
from langgraph_interleave.cli.folder import TRAJECTORY
from langgraph_interleave.cli.following import follow
from langgraph_interleave.cli.job import Job
from langgraph_interleave.cli.pictures import Shown
from langgraph_interleave.cli.pipe import mute, quietly
from langgraph_interleave.cli.reviewing import Asks, Reviewer
from langgraph_interleave.cli.screen import Screen
from langgraph_interleave.cli.typed import Options
from langgraph_interleave.cli.wording import json_line
from langgraph_interleave.errors import ConfigError


def make(job: Job, screen: Screen, options: Options, working: Path, *, write: Callable[[], None], again: str) -> None:
    """Run the graph, ask, and go on until it is done or left waiting; what came of it is put into the job.

    Args:
        job: The run.
        screen: Where it is shown; it is finished here.
        options: What was typed.
        working: Folder for relative paths.
        write: Writes what exists; called before somebody is asked.
        again: What to do to go on with a run that was left waiting.

    Raises:
        ConfigError: It was refused before it cost anything, or an answer in the file is none.
    """

    def before() -> None:
        screen.pause()
        write()

    try:
        reviewer = Reviewer(job, options, working, person=_person(options), before=before)
    except ConfigError:
        job.place.clear()
        raise
    try:
        for line in (job.place.note, job.hint):
            if line:
                screen.say(line)
        with _trajectory(job) as record:
            _converse(job, screen, record, reviewer)
    except ConfigError:
        if job.document is None:
            job.place.clear()
        else:
            write()
        raise
    except BrokenPipeError:
        # Whoever read our output has gone: that is a way to say stop.
        job.stopped = True
        mute()
    except Exception as error:  # noqa: BLE001 - raised again, once what exists is written
        job.fault = error
    finally:
        if job.document is None and screen.progress.outcome is None:
            screen.progress.outcome = "failed" if job.fault else "cancelled"
        # Whatever happened, the terminal is given back.
        quietly(screen.finish)
    if reviewer.left:
        quietly(lambda: screen.left(reviewer.left, left_lines(reviewer.left, how=again)))
    if unused := reviewer.unused:
        quietly(lambda: screen.say(f"note: {unused}"))
    reviewer.done()


def _converse(job: Job, screen: Screen, record: TextIO, reviewer: Reviewer) -> None:
    from langgraph.types import Command

    given: object = job.given
    screen.start()
    while asked := follow(job, screen, record, given):
        screen.progress.outcome = "waiting"
        try:
            answers = reviewer.answers(asked)
        except KeyboardInterrupt:  # not at the prompt, which knows it, but while it was made ready
            answers = reviewer.leave(asked)
        if answers is None:
            return
        given = Command(resume=answers)
        screen.go_on()


def _person(options: Options) -> Callable[[Shown], Asks] | None:
    """What asks a person; `None` where nobody sits at a terminal."""
    if options.events or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None

    def person(shown: Shown) -> Asks:
        from rich.console import Console

        from langgraph_interleave.cli.asking import Person

        return Person(Console(file=sys.stdout, highlight=False, markup=False, emoji=False), shown)

    return person


@contextlib.contextmanager
def _trajectory(job: Job) -> Generator[TextIO]:
    """The file of events; each is on disk as soon as it happened. The run's call records come last."""
    with (job.place.folder / TRAJECTORY).open("w", encoding="utf-8", errors="backslashreplace") as file:
        try:
            yield file
        finally:
            for call in job.artifacts.list_calls(job.run):
                file.write(json_line({"type": "interleave.call", "run_id": job.run, **call}) + "\n")
