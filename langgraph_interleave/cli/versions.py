"""The versions of a folder's document: which there are, which is shown, what each was made with.

```
index.html, document.md, images/, trajectory.jsonl    the current one
versions/1/index.html, versions/1/trajectory.jsonl    one that was current: its page, and how it was made
.interleave/versions.json                             the list
```
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Collection, Generator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.folder import LIST, PAGE, STORE, TRAJECTORY, run_of, shown
from langgraph_interleave.cli.typed import check_kept
from langgraph_interleave.document import Document
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.files import FolderFiles
from langgraph_interleave.migrations import Damaged, read_form
from langgraph_interleave.types import RunOutcome
from langgraph_interleave.types.base import Frozen

SHELF = "versions"
#: Outcomes of a run that has made its document. Any other leaves a document that is there as it is.
DELIVERED = ("complete", "partial")


class Version(Frozen):
    """One version. `run` is the run that made it, `document` its digest, `before` the number it was changed from,
    `reviewed` what somebody was asked about on the way.
    """

    number: int = Field(ge=1)
    run: str
    document: str
    asked: str
    outcome: RunOutcome
    made: str
    before: int | None = None
    reviewed: tuple[str, ...] = ()
    made_with: dict[str, Any] = Field(default_factory=dict)

    @property
    def delivered(self) -> bool:
        """Whether it is a document to keep, not what was left of a run that waits or was stopped."""
        return self.outcome in DELIVERED


class _Listed(Frozen):
    v: int = 1
    current: int
    versions: tuple[Version, ...]


class Versions:
    """The versions in a folder, read from its list and written to it.

    Args:
        folder: The document's folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._list: _Listed | None = None

    @classmethod
    def of(cls, folder: Path, *, working: Path | None = None) -> Self:
        """Read the list; an empty one where there is none.

        Raises:
            ConfigError: The list cannot be read, or a newer release wrote it.
        """
        versions = cls(folder)
        try:
            text = (folder / STORE / LIST).read_text(encoding="utf-8")
            versions._list = read_form("list of versions", _Listed, json.loads(text), name="The list of versions")
            for one in versions._list.versions:
                check_kept(one.made_with)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, Damaged) as error:
            name = shown(folder / STORE / LIST, working or Path.cwd())
            raise ConfigError(
                f"The list of versions in {name} cannot be read.",
                remedy="Delete it and type the command that made the document again; nothing is drawn again.",
            ) from error
        return versions

    @contextlib.contextmanager
    def alone(self) -> Generator[None]:
        """While inside no other process changes the list, and it is as those before have left it.

        Raises:
            ConfigError: The list cannot be read any more.
        """
        with FolderFiles(self.folder / STORE).locked():
            self._list = type(self).of(self.folder)._list
            yield

    @property
    def all(self) -> tuple[Version, ...]:
        """All of them, the oldest first."""
        return self._list.versions if self._list else ()

    @property
    def current(self) -> Version | None:
        """The one that the folder shows."""
        return next((one for one in self.all if self._list and one.number == self._list.current), None)

    def numbered(self, number: int | None) -> Version:
        """One by its number; the current one for `None`.

        Raises:
            ConfigError: There is no such version, or none at all.
        """
        current = self.current
        if current is None:
            raise ConfigError(
                f"There is no document in {self.folder.name} that can be changed.",
                remedy="Name a folder that `langgraph-interleave run` made; if an earlier release made it, type its "
                "command again first: nothing is drawn again.",
            )
        if number is None:
            return current
        found = next((one for one in self.all if one.number == number), None)
        if found is None:
            known = ", ".join(str(one.number) for one in self.all)
            raise ConfigError(f"There is no version {number}.", remedy=f"There are: {known}.")
        return found

    def put(
        self,
        data: Mapping[str, Any],
        *,
        asked: str,
        made_with: dict[str, Any],
        artifacts: ArtifactStore,
        before: int | None = None,
        reviewed: tuple[str, ...] = (),
    ) -> Version:
        """Make a document the current version.

        It takes the number of an earlier one of the same run, where that was not delivered yet or was asked
        about in the same way: the same command again. With a reviewer a run may come to another document.
        """
        run = data["run_id"]
        known = next(
            (one for one in self.all if one.run == run and (one.reviewed == reviewed or not one.delivered)), None
        )
        number = known.number if known else max((one.number for one in self.all), default=0) + 1
        version = Version(
            number=number,
            run=run,
            document=artifacts.put_json(dict(data)),
            asked=asked,
            outcome=data["outcome"],
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            before=known.before if known else before,
            reviewed=reviewed,
            made_with=made_with,
        )
        others = tuple(one for one in self.all if one.number != number)
        everyone = tuple(sorted((*others, version), key=lambda one: one.number))
        self._write(_Listed(current=number, versions=everyone))
        # What was put aside under its number is of what it was before.
        shutil.rmtree(self._shelf(number), ignore_errors=True)
        return version

    def load(self, version: Version, artifacts: ArtifactStore) -> Document:
        """The document of a version.

        Raises:
            ArtifactMissing: It is gone from the folder's store.
        """
        return Document.load(artifacts.get_json(version.document), artifacts)

    def shelve(self, artifacts: ArtifactStore) -> None:
        """Put the current version's page and trajectory aside, before another takes their place."""
        current = self.current
        if current is None:
            return
        place = self._shelf(current.number)
        # Written under other names and renamed, as everything here: never through a link that somebody laid.
        FolderFiles(place).write(PAGE, self.load(current, artifacts).to_html().encode("utf-8", "replace"))
        # After a run that was cut off, the trajectory is of that; then its own is aside already.
        if run_of(self.folder / TRAJECTORY) == current.run and not (place / TRAJECTORY).exists():
            FolderFiles(place).write(TRAJECTORY, (self.folder / TRAJECTORY).read_bytes())

    def unshelve(self) -> None:
        """Give the current version its own trajectory back."""
        current = self.current
        if current is not None:
            kept = self._shelf(current.number) / TRAJECTORY
            if kept.is_file() and not kept.is_symlink():
                FolderFiles(self.folder).write(TRAJECTORY, kept.read_bytes())

    def restore(self, number: int, artifacts: ArtifactStore) -> Version:
        """Have the folder show an earlier version again. Nothing is called and nothing lost.

        Raises:
            ConfigError: There is no such version.
        """
        version = self.numbered(number)
        document = self.load(version, artifacts)
        assert self._list is not None, "a version was found in it"
        if version.number != self._list.current:
            self.shelve(artifacts)
        document.save(self.folder)
        self._write(_Listed(current=version.number, versions=self.all))
        self.unshelve()
        return version

    def drop(self, numbers: Collection[int]) -> None:
        """Forget versions; one of those that stay is the current one, if any stay."""
        kept = tuple(one for one in self.all if one.number not in numbers)
        if self._list is None or len(kept) == len(self.all):
            return
        if kept:
            current = self._list.current if self._list.current not in numbers else kept[-1].number
            self._write(_Listed(current=current, versions=kept))
        else:
            self._list = None
            (self.folder / STORE / LIST).unlink(missing_ok=True)
        for number in numbers:
            shutil.rmtree(self._shelf(number), ignore_errors=True)

    def _shelf(self, number: int) -> Path:
        """Where a version is put aside; a folder may have come from somebody else."""
        place = self.folder / SHELF / str(number)
        for path in (place.parent, place):
            if path.is_symlink():
                raise ConfigError(f"{path} is a link to somewhere else.", remedy="Put a folder in its place.")
        return place

    def _write(self, listed: _Listed) -> None:
        self._list = listed
        text = listed.model_dump_json(indent=1, exclude_none=True)
        FolderFiles(self.folder / STORE).write(LIST, text.encode())
