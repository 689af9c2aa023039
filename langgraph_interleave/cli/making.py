"""A document made while it is shown, with whoever is there asked on the way."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TextIO

from langgraph_interleave.cli.asked import left_lines
from langgraph_interleave.cli.folder import TRAJECTORY, resume_line
from langgraph_interleave.cli.following import follow
from langgraph_interleave.cli.job import Job
from langgraph_interleave.cli.pictures import Shown
from langgraph_interleave.cli.pipe import is_gone, mute, quietly
from langgraph_interleave.cli.recorded import Recorded
from langgraph_interleave.cli.reviewing import Asks, Reviewer
from langgraph_interleave.cli.screen import Screen
from langgraph_interleave.cli.stopping import Stopping
from langgraph_interleave.cli.typed import Options
from langgraph_interleave.cli.wording import json_line
from langgraph_interleave.errors import ConfigError


def make(
    job: Job, screen: Screen, options: Options, working: Path, stopping: Stopping, *, write: Callable[[], None]
) -> None:
    """Run the graph, ask, and go on until it is done or left waiting; what came of it is put into the job.

    Args:
        job: The run.
        screen: Where it is shown; it is finished here.
        options: What was typed.
        working: Folder for relative paths.
        stopping: The signals that stop it; from here on they do not cut off what is written.
        write: Writes what exists; called before somebody is asked.

    Raises:
        ConfigError: It was refused before it cost anything, or an answer in the file is none.
    """

    def before() -> None:
        screen.pause()
        write()

    try:
        reviewer = Reviewer(job, options, working, person=_person(options), before=before)
    except ConfigError:
        job.refused()
        raise
    try:
        # What is there by now is told as such, and not as if it were made, and paid, again.
        screen.progress.recorded = Recorded(job.artifacts.list_calls(job.run))
        screen.progress.judges, screen.progress.call_usd = job.judges, job.call_usd
        maker = job.start()
        for line in (job.place.note, _others(maker), job.hint):
            if line:
                screen.say(line)
        with _trajectory(job, stopping) as record:
            _converse(job, screen, record, reviewer, stopping)
    except ConfigError:
        if job.document is None:
            job.refused()
            screen.progress.outcome = "failed"
        else:
            write()
            job.ended(job.document["outcome"])
        raise
    except KeyboardInterrupt:  # between two of its parts
        job.stopped = True
    except OSError as error:
        if is_gone(error):
            # Whoever read our output has gone: that is a way to say stop.
            job.stopped = True
            mute()
        else:
            job.fault = error
    except Exception as error:  # noqa: BLE001 - raised again, once what exists is written
        job.fault = error
    finally:
        stopping.finishing()
        if job.document is None and screen.progress.outcome is None:
            screen.progress.outcome = "failed" if job.fault else "cancelled"
        # Whatever happened, the terminal is given back.
        quietly(screen.finish)
    if reviewer.left:
        quietly(lambda: screen.left(reviewer.left, left_lines(reviewer.left, how=_how(job, working))))
    if unused := reviewer.unused:
        quietly(lambda: screen.say(f"note: {unused}"))
    reviewer.done()


def _others(maker: int | None) -> str:
    if maker is None:
        return ""
    return f"note: process {maker} makes this run, too: its calls are waited for, and none is made twice"


def _how(job: Job, working: Path) -> str:
    return f"{resume_line(job.place.folder, job.run, working)}; --answer FILE or --yes answers without asking"


def _converse(job: Job, screen: Screen, record: TextIO, reviewer: Reviewer, stopping: Stopping) -> None:
    from langgraph.types import Command

    given: object = job.given
    screen.start()
    while asked := follow(job, screen, record, given, stopping):
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
def _trajectory(job: Job, stopping: Stopping) -> Generator[TextIO]:
    """The file of events; each is on disk as soon as it happened. The run's call records come last."""
    path = job.place.folder / TRAJECTORY
    with contextlib.suppress(OSError):
        path.unlink()  # another process that makes the same run goes on writing to its own
    with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
        try:
            yield file
        finally:
            stopping.finishing()
            for call in job.artifacts.list_calls(job.run):
                file.write(json_line({"type": "interleave.call", "run_id": job.run, **call}) + "\n")
