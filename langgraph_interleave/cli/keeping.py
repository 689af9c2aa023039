"""A folder's document kept as it is: until another is made, and where none is."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Generator
from pathlib import Path

from langgraph_interleave.cli.folder import PAGE, resume_line, shown
from langgraph_interleave.cli.job import Job
from langgraph_interleave.cli.pictures import REVIEW
from langgraph_interleave.cli.pipe import is_gone, quietly
from langgraph_interleave.cli.screen import Screen
from langgraph_interleave.cli.typed import CAPS
from langgraph_interleave.cli.versions import Versions
from langgraph_interleave.document import Document
from langgraph_interleave.errors import ConfigError, InterleaveError
from langgraph_interleave.types import RunOutcome


def typed(job: Job, working: Path) -> str:
    """The job's folder as it can be typed."""
    return shlex.quote(shown(job.place.folder, working))


@contextlib.contextmanager
def writing(job: Job, working: Path) -> Generator[None]:
    """What was made is written here, and was paid for: a folder that cannot be written is no wrong option.

    Raises:
        InterleaveError: It could not be written.
    """
    try:
        yield
    except (ConfigError, OSError) as error:
        if isinstance(error, OSError) and is_gone(error):
            raise
        why = error.message if isinstance(error, ConfigError) else f"{error.strerror or error}."
        line = resume_line(job.place.folder, job.run, working)
        raise InterleaveError(
            f"What was made could not all be written: {why}",
            remedy=f"When the folder can be written, {line} goes on, and repeats no call that is recorded.",
        ) from error


def tell_how(job: Job, screen: Screen, working: Path, outcome: RunOutcome) -> None:
    """Say how to go on with a run that was stopped, or met a limit; one that waits has said it."""
    line = resume_line(job.place.folder, job.run, working)
    limits = dict.fromkeys(one.limit for one in screen.progress.limits if one.limit in CAPS)
    caps = " ".join(f"--{limit.removesuffix('_usd').replace('_', '-')} …" for limit in limits)
    if outcome == "cancelled":
        quietly(lambda: screen.say(f"to go on: {line}"))
    elif outcome == "partial" and caps:
        quietly(lambda: screen.say(f"to go on with more: {line} {caps}"))


def write_aside(job: Job) -> Path | None:
    """Write what exists of a run that waits into the folder `review`, beside a document that stays.

    Returns:
        The path of its page; `None` where nothing waits.
    """
    if job.document is None or job.document["outcome"] != "waiting":
        return None
    return Document.load(job.document, job.artifacts).save(job.place.folder / REVIEW)


def leave(job: Job, screen: Screen, versions: Versions, working: Path) -> None:
    """Say that the folder's document is as it was, and where what waits can be looked at.

    Args:
        job: A run that has not made its document.
        screen: Where it is said.
        versions: Those of the folder; the current one was put aside.
        working: Folder for relative paths.

    Raises:
        Exception: What ended the run before its time.
    """
    versions.unshelve()
    if write_aside(job) is not None:
        quietly(lambda: screen.say(f"what waits: {shown(job.place.folder / REVIEW / PAGE, working)}"))
    kept = versions.numbered(None)
    quietly(lambda: screen.say(f"{typed(job, working)} is as it was: version {kept.number}"))
    if job.fault is not None:
        raise job.fault
