"""Where the runs of this user are: one small file per run, in the user's folder for data of programs.

It says where to look, and nothing else: what a run came to is in its folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from pathlib import Path

from pydantic import Field, ValidationError

from langgraph_interleave.cli.begun import RUN
from langgraph_interleave.cli.folder import RUNS
from langgraph_interleave.cli.home import home
from langgraph_interleave.files import FolderFiles
from langgraph_interleave.types.base import Frozen

log = logging.getLogger(__name__)
_SHORT = 200


class Entry(Frozen):
    """A run, its folder, and enough to name it where the folder is gone. No secrets."""

    v: int = 1
    run: str = Field(pattern=RUN)
    folder: str
    asked: str
    begun: str


class Index:
    """The runs of this user. What cannot be read or written is left out: no run fails for it."""

    def __init__(self) -> None:
        self._home = home()
        self._files = FolderFiles(self._home)

    def all(self) -> list[Entry]:
        """Every run that is known."""
        found: list[Entry] = []
        with contextlib.suppress(OSError):
            for name in self._files.names(RUNS):
                data = self._files.read(f"{RUNS}/{name}") if name.endswith(".json") else None
                with contextlib.suppress(ValidationError):
                    if data is not None:
                        found.append(Entry.model_validate_json(data))
        return found

    def knows(self, run: str) -> bool:
        """Whether this user began a run, wherever its folder is by now."""
        with contextlib.suppress(OSError):
            return any(name.rpartition("-")[0] == run for name in self._files.names(RUNS))
        return False

    def put(self, run: str, folder: Path, *, asked: str, begun: str) -> None:
        """Remember where a run is."""
        where = str(folder.absolute())
        entry = Entry(run=run, folder=where, asked=asked[:_SHORT], begun=begun)
        try:
            # Whatever is asked is nobody else's business on this machine.
            (self._home / RUNS).mkdir(mode=0o700, parents=True, exist_ok=True)
            self._files.write(_name(run, where), entry.model_dump_json().encode())
        except (OSError, ValueError) as error:
            log.info("run %s is not listed: %s", run, error)

    def remove(self, run: str, folder: Path | str) -> None:
        """Forget where a run is."""
        with contextlib.suppress(OSError):
            (self._home / _name(run, str(Path(folder).absolute()))).unlink(missing_ok=True)


def _name(run: str, folder: str) -> str:
    place = hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{RUNS}/{run}-{place}.json"
