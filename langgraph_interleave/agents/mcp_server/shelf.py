"""The folder of the server: the record of every job beside the artifacts and the ledger's records.

```
<folder>/jobs/doc_….v1.json          one job
<folder>/artifacts/…  <folder>/calls/…   as every artifact store
```
Several servers may share one folder. Everything here may block: call it in a thread.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterator

from langgraph_interleave.agents.mcp_server.names import Name
from langgraph_interleave.agents.mcp_server.record import Job
from langgraph_interleave.artifacts import ArtifactStore, canonical_json
from langgraph_interleave.errors import ArtifactMissing, ConfigError, InternalError
from langgraph_interleave.files import Files, FolderFiles, MemoryFiles
from langgraph_interleave.migrations import read_form
from langgraph_interleave.stored import read_document
from langgraph_interleave.types import ArtifactRef, DocumentData

log = logging.getLogger(__name__)

_FOLDER = "jobs"
_FILE = re.compile(r"doc_[0-9a-f]{16}\.v[1-9][0-9]{0,3}\.json")
#: Versions of one document, at most.
_MOST_VERSIONS = 9999
#: Writers that got in between, at most, before a change is given up.
_TRIES = 100


class Shelf:
    """Jobs and documents of one folder.

    Args:
        files: Where they are.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self.artifacts = ArtifactStore(files)
        self._ended: dict[str, Job] = {}
        self._pictures: dict[str, ArtifactRef] = {}
        self._looked: set[str] = set()
        self._damaged: set[str] = set()

    @classmethod
    def folder(cls, path: str | os.PathLike[str]) -> Shelf:
        """A shelf in a folder, which is made when first written to."""
        return cls(FolderFiles(path))

    @classmethod
    def memory(cls) -> Shelf:
        """A shelf that is gone with the process."""
        return cls(MemoryFiles())

    def add(self, job: Job) -> Job:
        """Put a new job on the shelf, under the next free version.

        Raises:
            ConfigError: The document has too many versions.
        """
        version = 1 + max((known.version for known in self.versions(job.document)), default=0)
        while version <= _MOST_VERSIONS:
            wanted = job.model_copy(update={"version": version})
            if self._files.swap(_file(wanted.name), lambda found: found is None, _bytes(wanted)):
                return wanted
            version += 1  # another was quicker
        raise ConfigError(f"{job.document} has {_MOST_VERSIONS} versions.", remedy="Make a new document.")

    def find(self, name: Name) -> Job:
        """A job by its name; where no version is said the newest that has not come to nothing.

        Raises:
            ConfigError: There is none.
        """
        if name.version is not None:
            job = self._read(_file(Name(name.document, name.version)))
        else:
            there = self.versions(name.document)[::-1]
            job = next((known for known in there if known.stands), there[0] if there else None)
        if job is None:
            raise ConfigError(
                f"There is no document {Name(name.document, name.version)} here.",
                remedy="Check the document_id, or make the document with create_document.",
            )
        return job

    def made(self, name: Name) -> Job:
        """As `find`, but where no version is said the newest that has a document.

        Raises:
            ConfigError: There is none, or it is not made.
        """
        job = self.find(name)
        if job.data is None and name.version is None:
            there = [known for known in self.versions(name.document) if known.data and known.stands]
            job = there[-1] if there else job
        if job.data is None:
            what = "came to nothing" if job.ended else "is still being made"
            remedy = "Make a new document." if job.ended else "Wait for it with get_document."
            raise ConfigError(f"{job.name} {what}.", remedy=remedy)
        return job if job.same is None else self.find(Name(job.document, job.same))

    def fallen(self, job: Job) -> Job | None:
        """The last change after a version that came to nothing, where the document is still in that version."""
        later = [known for known in self.versions(job.document) if known.version > job.version]
        return later[-1] if later and not any(known.stands for known in later) else None

    def versions(self, document: str) -> list[Job]:
        """All versions of a document, oldest first."""
        jobs = [self._read(file) for file in self._names(f"{document}.")]
        return sorted((job for job in jobs if job is not None), key=lambda job: job.version)

    def jobs(self) -> Iterator[Job]:
        """All jobs there are; one that cannot be read is left out, and said in the log."""
        for file in self._names():
            job = self._read(file)
            if job is not None:
                yield job

    def unfinished(self) -> list[Job]:
        """Jobs that have not ended, oldest first."""
        return sorted((job for job in self.jobs() if not job.ended), key=lambda job: job.created)

    def update(self, name: Name, change: Callable[[Job], Job | None]) -> Job | None:
        """Change a job, whoever else does so at the same moment.

        Args:
            name: Which, with its version.
            change: From the job as it is to the job as it should be; `None` to leave it.

        Returns:
            The changed job; `None` where it was left as it is, or is not there.
        """
        file = _file(name)
        for _ in range(_TRIES):
            before = self._files.read(file)
            job = self._parsed(file, before)
            if job is None or job.ended:
                return None
            changed = change(job)
            if changed is None:
                return None
            if self._files.swap(file, lambda found, before=before: found == before, _bytes(changed)):
                return changed
        raise InternalError(f"The record of {name} is written by too many at once.", remedy="Try again.")

    def document(self, job: Job) -> DocumentData | None:
        """What a job made, `None` where it made nothing.

        Raises:
            ArtifactMissing: It is gone from the store.
        """
        return None if job.data is None else read_document(self.artifacts, job.data)

    def picture(self, digest: str) -> ArtifactRef | None:
        """A picture of one of the documents here: delivered, given by the user, or the sheet; `None` for all else."""
        if digest not in self._pictures:
            for job in self.jobs():
                for ref in self._pictures_of(job):
                    self._pictures[ref.sha256] = ref
        return self._pictures.get(digest)

    def _pictures_of(self, job: Job) -> Iterator[ArtifactRef]:
        if job.data is None or job.data in self._looked:
            return
        self._looked.add(job.data)
        try:
            data = self.document(job)
        except (ArtifactMissing, ConfigError) as error:
            log.warning("the document of %s cannot be read: %s", job.name, error)
            return
        if data is not None:
            yield from data.request.images
            shown = (*data.steps, *((data.sheet,) if data.sheet else ()))
            yield from (step.image for step in shown if step.image is not None)

    def _names(self, start: str = "") -> list[str]:
        found = self._files.names(_FOLDER)
        return [f"{_FOLDER}/{name}" for name in found if name.startswith(start) and _FILE.fullmatch(name)]

    def _read(self, file: str) -> Job | None:
        # What has ended does not change any more.
        if file not in self._ended:
            job = self._parsed(file, self._files.read(file))
            if job is None or not job.ended:
                return job
            self._ended[file] = job
        return self._ended[file]

    def _parsed(self, file: str, data: bytes | None) -> Job | None:
        if data is None:
            return None
        try:
            job = read_form("job", Job, json.loads(data), name="It")
        except (ArtifactMissing, ConfigError, ValueError) as error:
            why = str(error)
        else:
            if _file(job.name) == file:
                return job
            why = "it is the record of another job"  # copied or renamed by somebody; it would write to that one's file
        # Said once: the folder is looked through every few seconds.
        if file not in self._damaged:
            self._damaged.add(file)
            log.warning("the job %s cannot be read: %s", file, why)
        return None


def _file(name: Name) -> str:
    return f"{_FOLDER}/{name.document}.v{name.version}.json"


def _bytes(job: Job) -> bytes:
    return canonical_json(job.model_dump(mode="json", exclude_none=True))
