"""The runs of this user, wherever they are, and what can be told of each without making it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.budget import Budget
from langgraph_interleave.cli.begun import Begun, BegunRuns
from langgraph_interleave.cli.folder import STORE, TRAJECTORY, run_of, shown
from langgraph_interleave.cli.index import Index
from langgraph_interleave.cli.progress import RunProgress
from langgraph_interleave.cli.wording import one_line
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.events import from_dict
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.ledger.owner import is_gone
from langgraph_interleave.ledger.records import CallRecord
from langgraph_interleave.limits import Limits
from langgraph_interleave.types import Spend

#: A run is called by so many digits of its id, or more.
SHORT = 8
_MOST = 8


@dataclass(slots=True)
class Known:
    """A run.

    Attributes:
        run: Its id.
        folder: Where it is, or was.
        asked: What was asked.
        when: When it was begun, in UTC.
        begun: What it was begun with; `None` where its folder is gone.
        calls: The records of its calls, in order of their start; read by `look`.
        spend: What they came to.
    """

    run: str
    folder: Path
    asked: str
    when: str
    begun: Begun | None
    calls: list[CallRecord] = field(default_factory=list[CallRecord])
    spend: Spend | None = None

    @property
    def state(self) -> str:
        """The outcome; `running`, `unfinished` where it was cut off, `gone` with its folder.

        Known once `look` was called.
        """
        if self.begun is None:
            return "gone"
        if self.is_running:
            return "running"
        return self.begun.outcome or "unfinished"

    @property
    def is_running(self) -> bool:
        """Whether a process makes it now: by that process, or where that cannot be told by its calls' leases."""
        if self.begun is None or not self.begun.owner or is_gone(self.begun.owner):
            return False
        return self.begun.maker is not None or any(is_leased(call) for call in self.calls)

    @property
    def short(self) -> str:
        """What it is called by."""
        return self.run[:SHORT]

    def look(self) -> Known:
        """Read the records of its calls."""
        if self.begun is not None:
            artifacts = ArtifactStore.folder(self.folder / STORE)
            self.calls = _calls(artifacts, self.run)
            self.spend = asyncio.run(_spent(artifacts, self.run))
        return self

    def progress(self) -> RunProgress | None:
        """What its events told, where the folder has them."""
        path = self.folder / TRAJECTORY
        if run_of(path) != self.run:
            return None
        progress = RunProgress()
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                data: Any = json.loads(line)
                event = None if data.get("type") == "interleave.call" else from_dict(data)
            except (ValueError, AttributeError):
                continue  # cut off while it was written
            if event is not None:
                progress.update(event)
        return progress

    def steps(self) -> tuple[int | None, int | None]:
        """How many steps are done, of how many."""
        if self.begun is None or (self.begun.steps is not None and self.begun.outcome is not None):
            return (None, None) if self.begun is None else (self.begun.done, self.begun.steps)
        progress = self.progress()
        if progress is None or progress.plan is None:
            return None, None
        done = sum(1 for step in progress.steps.values() if step.outcome is not None or step.text_only)
        return done, len(progress.plan.steps)


def is_leased(call: CallRecord) -> bool:
    """Whether somebody may be making a call now."""
    import time

    return call.status == "started" and call.lease_until > time.time() and not is_gone(call.owner)


def is_ambiguous(call: CallRecord) -> bool:
    """Whether nobody knows what became of a call."""
    return call.status == "ambiguous" or (call.status == "started" and not is_leased(call))


def in_folder(folder: Path) -> list[Known]:
    """The runs of a folder, the one begun or ended last first."""
    return [Known(one.run, folder, one.asked, one.begun, one) for one in BegunRuns(folder).all()]


def everywhere(folders: Iterable[Path] = ()) -> list[Known]:
    """The runs of this user and of some folders besides, the newest first."""
    found = {(one.run, one.folder): one for folder in folders for one in in_folder(folder)}
    for entry in Index().all():
        folder = Path(entry.folder)
        if (entry.run, folder) in found:
            continue
        try:
            begun = BegunRuns(folder).read(entry.run)
        except (ConfigError, OSError):
            begun = None
        found[entry.run, folder] = Known(entry.run, folder, entry.asked, entry.begun, begun)
    return sorted(found.values(), key=lambda one: (one.begun.last if one.begun else one.when, one.run), reverse=True)


def find(reference: str, working: Path, *, there: bool = False) -> list[Known]:
    """The runs that are meant: all those of a folder, or one by its id.

    Args:
        reference: A folder, or an id or the beginning of one.
        working: Folder for relative paths.
        there: Of several with that id, only those whose folders are still there.

    Raises:
        ConfigError: There is none, or several have an id that begins so; the same request in several folders is
            the same id in each.
    """
    folder = (working / Path(reference).expanduser()).resolve()
    if folder.is_dir():
        found = in_folder(folder)
        for run in () if found else BegunRuns(folder).names():
            BegunRuns(folder).read(run)  # says what is wrong with it
        if not found and (folder / STORE).is_dir():
            raise ConfigError(
                f"An earlier release made {reference}, and did not keep what it was asked.",
                remedy="Type the command that made it again: nothing is paid twice.",
            )
        if not found:
            raise ConfigError(f"No run was begun in {reference}.", remedy=_what_there_is(working))
        return found
    wanted = reference.strip().lower()
    found = [one for one in everywhere() if wanted and one.run.startswith(wanted)]
    if there and len(found) > 1:
        found = [one for one in found if one.begun is not None] or found
    if not found:
        raise ConfigError(f"{reference!r} is neither a folder nor the id of a run.", remedy=_what_there_is(working))
    if len(found) > 1:
        several = ", ".join(f"{one.run} in {one_line(shown(one.folder, working))}" for one in found[:_MOST])
        more = "" if len({one.run for one in found}) == 1 else ", or more of the id"
        raise ConfigError(f"{reference!r} may be several runs: {several}.", remedy=f"Name the folder{more}.")
    return found


def _what_there_is(working: Path) -> str:
    there = [one for one in everywhere() if one.begun is not None]
    if not there:
        return 'Nothing was begun yet: langgraph-interleave run "How to plant a bean" begins something.'
    listed = "; ".join(
        f"{one.short} {one.look().state} in {shown(one.folder, working)} ({one_line(one.asked, 40)})"
        for one in there[:_MOST]
    )
    more = f"; and {len(there) - _MOST} more: langgraph-interleave runs" if len(there) > _MOST else ""
    return f"There are: {listed}{more}."


def _calls(artifacts: ArtifactStore, run: str) -> list[CallRecord]:
    found: list[CallRecord] = []
    for raw in artifacts.list_calls(run):
        try:
            found.append(CallRecord.model_validate(raw))
        except ValidationError:
            continue  # damaged: it is made again
    return found


async def _spent(artifacts: ArtifactStore, run: str) -> Spend:
    """As the run itself counts it when it goes on."""
    budget = Budget(Limits())
    await Ledger(artifacts).scope(run, budget).resume()
    return budget.spend()
