"""Runs as they were begun, kept in their folder: so they go on without their command being typed again.

```
.interleave/runs/<run>.json     what was asked and made with, who makes it, what came of it
```
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import Field

from langgraph_interleave.cli.folder import RUNS, STORE, claim_of
from langgraph_interleave.cli.typed import check_kept
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.files import FolderFiles
from langgraph_interleave.ledger.owner import is_gone, new_owner
from langgraph_interleave.migrations import Damaged, newest, read_form
from langgraph_interleave.prices import Price
from langgraph_interleave.types import ArtifactRef, RunOutcome
from langgraph_interleave.types.base import Frozen

log = logging.getLogger(__name__)

#: It names a file, and a folder may have come from somebody else.
RUN = r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$"

#: Steps with these outcomes are done.
_DONE = ("accepted", "text_only", "exhausted", "critic_failed")


class GivenPicture(Frozen):
    """A picture of the request: where it is in the folder's store, and what its file was called."""

    ref: ArtifactRef
    name: str


class Begun(Frozen):
    """One run. Holds no secret and no path.

    Attributes:
        run: Its id.
        options: What was typed, by the names of `Options`.
        withheld: Roles whose names held a key or a password; those are not in `options`.
        pictures: Those of the request.
        base: Digest of the document it changes; `None` for a new one.
        prices: The rows of the user's own prices it is reckoned with.
        begun: When it was begun first, in UTC.
        last: When it was begun or ended last.
        owner: The process that makes it, as the ledger names processes; empty once it has ended.
        outcome: What came of it; `None` while it is made, and where it was cut off.
        steps: How many steps there are.
        done: How many of them have what they are to have.
    """

    v: int = newest("run")
    run: str = Field(pattern=RUN)
    options: dict[str, Any]
    withheld: tuple[str, ...] = ()
    pictures: tuple[GivenPicture, ...] = ()
    base: str | None = None
    prices: dict[str, Price] | None = None
    begun: str = Field(default_factory=lambda: now())
    last: str = ""
    owner: str = ""
    outcome: RunOutcome | None = None
    steps: int | None = None
    done: int | None = None

    @property
    def asked(self) -> str:
        """The words of the request."""
        return str(self.options.get("request", ""))

    @property
    def maker(self) -> int | None:
        """The process that makes it now, if that is another one of this machine that is alive."""
        machine, _, rest = self.owner.partition("-")
        here = new_owner()
        # Elsewhere nobody can say whether a process is alive; there the leases of its calls do.
        pid_text = rest.partition("-")[0]
        if os.name != "posix" or machine != here.partition("-")[0] or not pid_text.isdecimal() or is_gone(self.owner):
            return None
        pid = int(pid_text)
        return None if pid == os.getpid() else pid


class BegunRuns:
    """The runs that were begun in a folder.

    Args:
        folder: The document's folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = FolderFiles(folder / STORE)

    def all(self) -> list[Begun]:
        """Those that can be read, the one begun or ended last first."""
        found: list[Begun] = []
        for run in self.names():
            try:
                one = self.read(run)
            except ConfigError as error:
                log.warning("%s", error)
                continue
            if one is not None:
                found.append(one)
        return sorted(found, key=lambda one: (one.last, one.begun, one.run), reverse=True)

    def names(self) -> list[str]:
        """Their ids, of those that cannot be read, too."""
        return [name.removesuffix(".json") for name in self._files.names(RUNS) if name.endswith(".json")]

    def read(self, run: str) -> Begun | None:
        """One of them; `None` where there is none.

        Raises:
            ConfigError: It is damaged, or a later release wrote it.
        """
        data = self._files.read(_name(run))
        if data is None:
            return None
        name = f"{self.folder.name}/{STORE}/{_name(run)}"
        try:
            begun = read_form("run", Begun, json.loads(data), name=name)
            if begun.run != run:
                raise ValueError("It is of another run.")
            check_kept(begun.options)
            begun.model_dump_json()  # it is written again
            return begun
        except (ValueError, Damaged) as error:
            raise ConfigError(
                f"{name}, what the run was begun with, is damaged.",
                remedy="Type the run's command again: nothing is paid twice.",
            ) from error

    def write(self, begun: Begun) -> None:
        """Keep one, whole or not at all.

        Raises:
            ConfigError: The folder cannot be written.
        """
        try:
            self._files.write(_name(begun.run), begun.model_dump_json(indent=1, exclude_none=True).encode())
        except OSError as error:
            raise ConfigError(
                f"The folder {self.folder} cannot be written: {error.strerror or error}.",
                remedy="Free some space, check the permissions, or choose another folder with --out.",
            ) from error

    def remove(self, run: str) -> None:
        """Forget one."""
        (self.folder / STORE / _name(run)).unlink(missing_ok=True)
        (self.folder / STORE / claim_of(run)).unlink(missing_ok=True)

    def start(self, begun: Begun) -> Begun | None:
        """This process makes a run from now on.

        Returns:
            What was kept of it before; `None` for a new one.
        """
        try:
            before = self.read(begun.run)
        except ConfigError:
            before = None
        update: dict[str, Any] = {"last": now(), "owner": new_owner(), "outcome": None}
        if before is not None:
            # Prices that were named once stay, where the command is typed again without them.
            update |= {"begun": before.begun, "prices": begun.prices or before.prices}
        self.write(begun.model_copy(update=update))
        (self.folder / STORE / claim_of(begun.run)).unlink(missing_ok=True)
        return before

    def end(self, run: str, outcome: RunOutcome, document: Mapping[str, Any] | None) -> None:
        """A run has ended, one way or another."""
        known = self.read(run)
        if known is None:
            return
        steps = [step["outcome"] for step in (document or {}).get("steps", ())]
        update: dict[str, Any] = {"last": now(), "owner": "", "outcome": outcome}
        if steps:
            update |= {"steps": len(steps), "done": sum(one in _DONE for one in steps)}
        self.write(known.model_copy(update=update))


def now() -> str:
    """The time, in UTC, to the millisecond: runs are put in order by it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _name(run: str) -> str:
    return f"{RUNS}/{run}.json"
