"""The folder a document is written to: never over another document."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from langgraph_interleave.cli.wording import slug
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.files import LOCK, FolderFiles

TRAJECTORY = "trajectory.jsonl"
#: Artifacts and call records, inside the folder: the same run goes on from them.
STORE = ".interleave"
PAGE = "index.html"
#: The list of versions, in the store's folder.
LIST = "versions.json"
#: What each run was begun with, in the store's folder.
RUNS = "runs"


@dataclass(frozen=True, slots=True)
class Place:
    """A folder, and what the user should know about the choice (`note`, `None` when it is as asked).

    `fresh` when nothing was in it.
    """

    folder: Path
    note: str | None = None
    fresh: bool = True

    def clear(self) -> None:
        """Take back what a run left that was refused before it began; an earlier run's folder stays as it is, and
        one in which another process began meanwhile.
        """
        if self.fresh and not any((self.folder / STORE / RUNS).glob("*.json")):
            shutil.rmtree(self.folder / STORE, ignore_errors=True)
            (self.folder / TRAJECTORY).unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self.folder.rmdir()

    @property
    def page(self) -> Path:
        """The document's page."""
        return self.folder / PAGE


def run_id(identity: Mapping[str, Any]) -> str:
    """The id of the run that makes a document: the same request with the same choices has the same id.

    Args:
        identity: What the document depends on, JSON types. Caps are not among it: a run that was
            cut off by one goes on when it is raised.

    Example:
        >>> run_id({"request": "a bean", "seed": 0}) == run_id({"seed": 0, "request": "a bean"})
        True
    """
    text = json.dumps(identity, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def choose_folder(wanted: Path | None, *, request: str, run: str, working: Path) -> Place:
    """Choose where to write.

    A folder that is new, empty, or holds this very run's document is used; beside any other, a
    numbered one is. It is this run's from then on: of several that are begun at the same moment one gets it.

    Args:
        wanted: What the user asked for, or `None` for a folder named after the request.
        request: The words of the request.
        run: The run's id.
        working: Folder for relative paths.

    Raises:
        ConfigError: `wanted` is a file, or its folder cannot be made.
    """
    first = working / wanted if wanted is not None else working / slug(request)
    if wanted is not None:
        first = first.resolve()
        if first.exists() and not first.is_dir():
            raise ConfigError(f"--out {wanted} is a file.", remedy="Name a folder.")
    for number in count(1):
        folder = first if number == 1 else first.with_name(f"{first.name}-{number}")
        if folder.exists() and not folder.is_dir():
            continue
        holds = runs_in(folder)
        if not holds and not _claim(folder, run):
            holds = runs_in(folder)
        if holds and run not in holds:
            continue
        name, fresh = shown(folder, working), not holds
        if holds:
            return Place(folder, f"{name} holds this run already; what was drawn is not drawn again", fresh)
        if number > 1:
            return Place(folder, f"{shown(first, working)} holds something else; writing to {name}", fresh)
        return Place(folder, fresh=fresh)
    raise AssertionError("unreachable")


def shown(path: Path, working: Path) -> str:
    """A path as the user would type it."""
    try:
        return str(path.relative_to(working))
    except ValueError:
        return str(path)


def resume_line(folder: Path, run: str, working: Path) -> str:
    """The command that goes on with a run.

    Example:
        >>> resume_line(Path("/w/my bean"), "3f2a9c1e00112233", Path("/w"))
        "langgraph-interleave run --resume 'my bean'"
    """
    name = shlex.quote(shown(folder, working))
    return f"langgraph-interleave run --resume {run if name.startswith('-') else name}"


def runs_in(folder: Path) -> set[str]:
    """The ids of the runs whose documents are there: none for an empty folder, `""` for anything else."""
    if not folder.exists() or all(_is_bare(path) for path in folder.iterdir()):
        return set()
    found = {run_of(folder / TRAJECTORY)}
    begun = {path.stem for ending in ("json", "claim") for path in (folder / STORE / RUNS).glob(f"*.{ending}")}
    # One that was cut off before it told of anything.
    found = begun if begun and found == {""} else found | begun
    try:
        listed = json.loads((folder / STORE / LIST).read_text(encoding="utf-8"))
        found |= {str(version["run"]) for version in listed["versions"]}
    except (OSError, ValueError, KeyError, TypeError):
        return found
    return found


def run_of(trajectory: Path) -> str:
    """The id of the run a trajectory is of; `""` where it is none."""
    try:
        with trajectory.open(encoding="utf-8") as lines:
            first = json.loads(lines.readline())
    except (OSError, ValueError):
        return ""
    found = first.get("run_id") if isinstance(first, dict) else None
    return found if isinstance(found, str) else ""


def claim_of(run: str) -> str:
    """The file, in the store's folder, that says whose a folder is until that run is begun in it."""
    return f"{RUNS}/{run}.claim"


def _is_bare(path: Path) -> bool:
    """Whether it is a store's folder in which nothing is: somebody looked whose the folder is."""
    return (
        path.name == STORE and path.is_dir() and not any(one.is_file() and one.name != LOCK for one in path.rglob("*"))
    )


def _claim(folder: Path, run: str) -> bool:
    """Make a folder this run's; `False` where another process was quicker."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return FolderFiles(folder / STORE).swap(claim_of(run), lambda _: not runs_in(folder), b"")
    except OSError as error:
        raise ConfigError(
            f"The folder {folder} cannot be made: {error.strerror or error}.", remedy="Choose another with --out."
        ) from error
