"""What a store holds that nobody needs any more, and its removal beside running processes.

Needed is what is named, from the roots on, by way of whatever is needed: a digest in a stored JSON text names that
artifact, a run's id or the key of a call names that run. So nothing here knows the forms of what is stored, and
what a newer release stored is followed as well. Roots are the files beside `artifacts/` and `calls/` (the command
line's list of versions and its runs, the MCP server's jobs), what the caller names, whatever is younger than the
grace period, and every run that has not come to its document.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.files import Entry, Files

#: Nothing younger is removed, in seconds, unless the caller says otherwise: a day.
GRACE_S = 86_400.0

_ARTIFACT = re.compile(r"artifacts/[0-9a-f]{2}/([0-9a-f]{64})")
_CALL = re.compile(r"calls/([A-Za-z0-9_-][A-Za-z0-9._-]{0,127})/([0-9a-f]{16,128})\.json")
_HALF = re.compile(r"(?:artifacts|calls)/.*/\.[^/]*\.tmp")
_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_WORD = re.compile(rb'"([A-Za-z0-9_-][A-Za-z0-9._-]{0,127})"')


@dataclass(frozen=True, slots=True)
class Collected:
    """What was removed, or would be.

    Attributes:
        dry: Nothing was removed.
        artifacts: How many artifacts.
        calls: How many records of calls.
        halves: Files a crash left half-written.
        bytes: What all of them take.
        kept: How many files stay, of those there were at the beginning.
        kept_bytes: What those take.
        runs: Ids of the runs whose records those are.
    """

    dry: bool
    artifacts: int = 0
    calls: int = 0
    halves: int = 0
    bytes: int = 0
    kept: int = 0
    kept_bytes: int = 0
    runs: tuple[str, ...] = ()


def collect_garbage(
    artifacts: ArtifactStore,
    *,
    keep: Iterable[Any] | None = None,
    grace_s: float = GRACE_S,
    abandoned_s: float | None = None,
    dry_run: bool = True,
) -> Collected:
    """Remove what nobody needs: neither a kept document, nor a run that goes on, nor anything young.

    Guaranteed: what is kept stays as it is, byte for byte, whatever other processes do to the store meanwhile,
    and so does everything a run needs that is under way. Not guaranteed: on a remote filesystem, that a
    picture survives which is stored again in the very moment it is removed. Blocks; in async code, call it in a
    thread.

    Args:
        artifacts: The store.
        keep: What is kept, with everything it was made from: documents as they were returned, the state of a
            checkpointer's threads (`graph.get_state(config).values`), or any JSON that names digests. `None`: every
            document there is in the store.
        grace_s: Nothing that was written, or asked for, in these last seconds is removed. Longer than any
            program takes to store a thing and name it.
        abandoned_s: Runs that have made no call for so many seconds and have no document are given up; `None`: never.
        dry_run: Only say what would be removed.

    Raises:
        ConfigError: `grace_s` is below 0, or something in `keep` is no JSON.
        OSError: The store cannot be read, or written.

    Example:
        >>> store = ArtifactStore.memory()
        >>> digest = store.put_json({"nobody": "names this"})
        >>> collect_garbage(store, grace_s=0, dry_run=False).artifacts
        1
        >>> store.has(digest)
        False
    """
    if grace_s < 0:
        raise ConfigError(f"grace_s={grace_s:g} is not possible.", remedy="Give seconds, 0 or more.")
    given = None if keep is None else [_text(one) for one in keep]
    return _Collection(artifacts.files, given, time.time() - grace_s, abandoned_s).sweep(dry_run=dry_run)


def _text(kept: Any) -> bytes:
    plain = kept.model_dump(mode="json") if hasattr(kept, "model_dump") else kept
    try:
        return json.dumps(plain).encode()
    except (TypeError, ValueError) as error:
        raise ConfigError(f"What is to be kept is no JSON: {error}", remedy="Give documents or digests.") from error


@dataclass(slots=True)
class _Run:
    """The records of one run."""

    entries: list[Entry] = field(default_factory=list[Entry])
    texts: list[bytes] = field(default_factory=list[bytes])
    keys: set[bytes] = field(default_factory=set[bytes])
    newest: float = 0.0


class _Collection:
    """One collection: what there is, what is needed, and the sweep."""

    def __init__(self, files: Files, keep: list[bytes] | None, before: float, abandoned_s: float | None) -> None:
        self._files = files
        self._keep = keep
        self._before = before
        self._abandoned = None if abandoned_s is None else time.time() - abandoned_s
        self._artifacts: dict[str, Entry] = {}
        self._runs: dict[str, _Run] = {}
        self._halves: list[Entry] = []
        self._roots: list[bytes] = []
        #: The texts of artifacts that are JSON; pictures name nothing.
        self._texts: dict[str, bytes] = {}

    def sweep(self, *, dry_run: bool) -> Collected:
        self._look()
        needed, runs = self._mark()
        there = [*self._artifacts.values(), *self._halves, *(one for run in self._runs.values() for one in run.entries)]
        doomed = sorted(set(self._runs) - runs)
        done = Collected(dry_run)
        # Records first, all those of a run or none: a run that begins meanwhile finds its calls, or makes them
        # anew. Then what is left is looked at again, and only then its pictures go.
        gone: list[str] = []
        for name in doomed:
            entries = self._runs[name].entries
            if dry_run or self._remove(entries, together=True):
                gone.append(name)
                done = _add(done, "calls", entries)
        if not dry_run:
            self._look()
            needed, _ = self._mark()
        for digest, entry in sorted(self._artifacts.items()):
            if digest not in needed and (dry_run or self._remove([entry])):
                done = _add(done, "artifacts", [entry])
        for entry in self._halves:
            if not self._is_young(entry) and (dry_run or self._remove([entry])):
                done = _add(done, "halves", [entry])
        kept = len(there) - done.artifacts - done.calls - done.halves
        return replace(done, runs=tuple(gone), kept=kept, kept_bytes=sum(entry.size for entry in there) - done.bytes)

    def _remove(self, entries: list[Entry], *, together: bool = False) -> list[str]:
        return self._files.remove([entry.name for entry in entries], before=self._before, together=together)

    def _is_young(self, entry: Entry) -> bool:
        return entry.written is None or entry.written >= self._before

    # -- what there is ---------------------------------------------------------------------------

    def _look(self) -> None:
        self._artifacts, self._runs, self._halves, self._roots = {}, {}, [], []
        for entry in self._files.entries():
            if found := _ARTIFACT.fullmatch(entry.name):
                self._artifacts[found[1]] = entry
            elif found := _CALL.fullmatch(entry.name):
                self._record(entry, found[1], found[2])
            elif _HALF.fullmatch(entry.name):
                self._halves.append(entry)
            elif not entry.name.startswith(("artifacts/", "calls/")) and entry.name.endswith(".json"):
                self._roots.append(self._files.read(entry.name) or b"")

    def _record(self, entry: Entry, scope: str, key: str) -> None:
        run = self._runs.setdefault(scope, _Run())
        run.entries.append(entry)
        run.texts.append(self._files.read(entry.name) or b"")
        run.keys.add(key.encode())
        run.newest = max(run.newest, float("inf") if entry.written is None else entry.written)

    def _text_of(self, digest: str) -> bytes:
        if digest not in self._texts:
            name = self._artifacts[digest].name
            is_json = self._files.head(name, 1) in (b"{", b"[")
            self._texts[digest] = (self._files.read(name) or b"") if is_json else b""
        return self._texts[digest]

    # -- what is needed --------------------------------------------------------------------------

    def _mark(self) -> tuple[set[str], set[str]]:
        """The digests and the runs that are needed."""
        documents = {digest: run for digest in self._artifacts if (run := _document_of(self._text_of(digest)))}
        finished = set(documents.values())
        named: dict[bytes, list[str]] = {}
        for digest in self._artifacts:
            for word in set(_WORD.findall(self._text_of(digest))):
                named.setdefault(word, []).append(digest)
        needed: set[str] = set()
        runs: set[str] = set()
        waiting: list[bytes] = [*self._roots, *(self._keep or ())]

        def need(digest: str) -> None:
            if digest in self._artifacts and digest not in needed:
                needed.add(digest)
                waiting.append(self._text_of(digest))

        def go_on(name: str) -> None:
            if name not in self._runs or name in runs:
                return
            runs.add(name)
            run = self._runs[name]
            waiting.extend(run.texts)
            # Records of its plan and steps are named by its checkpoints alone; but they name the run, or its calls.
            for word in (name.encode(), *run.keys):
                for digest in named.get(word, ()):
                    need(digest)

        for digest, entry in self._artifacts.items():
            if self._is_young(entry) or (self._keep is None and digest in documents):
                need(digest)
        for name, run in self._runs.items():
            unfinished = name not in finished and (self._abandoned is None or run.newest >= self._abandoned)
            if unfinished or run.newest >= self._before:
                go_on(name)
        while waiting:
            text = waiting.pop()
            for found in _DIGEST.findall(text):
                need(found.decode())
            for word in _WORD.findall(text):
                go_on(word.decode())
        return needed, runs


def _document_of(text: bytes) -> str | None:
    """The run that made a document; `None` for anything that is none."""
    if b'"outcome"' not in text or b'"request"' not in text or b'"run_id"' not in text:
        return None
    try:
        data = json.loads(text)
    except ValueError:
        return None
    run = data.get("run_id") if isinstance(data, dict) and {"outcome", "request", "steps"} <= data.keys() else None
    return run if isinstance(run, str) else None


def _add(done: Collected, what: str, entries: list[Entry]) -> Collected:
    counts: dict[str, Any] = {what: getattr(done, what) + len(entries)}
    return replace(done, bytes=done.bytes + sum(entry.size for entry in entries), **counts)
