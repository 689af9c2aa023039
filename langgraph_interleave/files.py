"""Where an artifact store keeps its files: in memory, or in a folder; `places` opens these and others."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

#: How long the lock of a folder is waited for, in seconds.
LOCK_S = 30.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as a listing shows it.

    Attributes:
        name: Its whole name; that of one left half-written by a crash ends in `.tmp`.
        size: In bytes.
        written: When it was written, or last asked for, in seconds since 1970; `None` where that is not known.
    """

    name: str
    size: int
    written: float | None


#: The lock of a folder.
LOCK = ".lock"


class Files(Protocol):
    """A flat space of small files with `/`-separated names.

    Guaranteed: a reader sees a file whole or not at all. `blocking` says whether a call may wait
    for a disk or a network; then it belongs in a thread.
    """

    blocking: bool

    def read(self, name: str) -> bytes | None:
        """The content, `None` when there is no such file."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Create or replace."""
        ...

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        ...

    def names(self, folder: str) -> list[str]:
        """Names of the files directly in a folder, without the folder, sorted."""
        ...

    def swap(self, name: str, unchanged: Callable[[bytes | None], bool], data: bytes) -> bool:
        """Write, if `unchanged` says so of the content (`None`: no such file); return whether it did."""
        ...

    def entries(self) -> Iterator[Entry]:
        """Every file there is, in whatever folder, those left half-written included."""
        ...

    def head(self, name: str, size: int) -> bytes:
        """The first bytes of a file; none where there is no such file."""
        ...

    def renew(self, name: str, data: bytes) -> None:
        """Make sure that a file is there with this content, and counts as written now."""
        ...

    def remove(self, names: list[str], *, before: float, together: bool = False) -> list[str]:
        """Delete files of one folder, none of which was written since; all of them or none.

        Args:
            names: Which; those that are not there do no harm.
            before: In seconds since 1970.
            together: Only where no other file of their folder was written since either.

        Returns:
            Those that were deleted.
        """
        ...

    def describe(self) -> str:
        """Where it is, for messages."""
        ...


class MemoryFiles:
    """Files of this object alone; gone with it."""

    blocking = False

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._written: dict[str, float] = {}
        self._lock = threading.Lock()

    def read(self, name: str) -> bytes | None:
        return self._files.get(name)

    def write(self, name: str, data: bytes) -> None:
        with self._lock:
            self._put(name, data)

    def _put(self, name: str, data: bytes) -> None:
        self._files[name] = data
        self._written[name] = time.time()

    def exists(self, name: str) -> bool:
        return name in self._files

    def names(self, folder: str) -> list[str]:
        start = f"{folder}/"
        with self._lock:
            rest = [name[len(start) :] for name in self._files if name.startswith(start)]
        return sorted(name for name in rest if "/" not in name)

    def swap(self, name: str, unchanged: Callable[[bytes | None], bool], data: bytes) -> bool:
        with self._lock:
            if not unchanged(self._files.get(name)):
                return False
            self._put(name, data)
            return True

    def entries(self) -> Iterator[Entry]:
        with self._lock:
            known = [Entry(name, len(data), self._written.get(name)) for name, data in self._files.items()]
        yield from known

    def head(self, name: str, size: int) -> bytes:
        return self._files.get(name, b"")[:size]

    def renew(self, name: str, data: bytes) -> None:
        self.write(name, data)

    def remove(self, names: list[str], *, before: float, together: bool = False) -> list[str]:
        with self._lock:
            there = [name for name in names if name in self._files]
            folders = {name.rpartition("/")[0] for name in names} if together else set[str]()
            others = [name for name in self._files if name.rpartition("/")[0] in folders]
            if any(self._written.get(name, before) >= before for name in (*there, *others)):
                return []
            for name in there:
                del self._files[name], self._written[name]
        return there

    def describe(self) -> str:
        return "memory"


class FolderFiles:
    """Files of a local folder, shared with other processes.

    Written under another name and renamed, so that a reader, or a crash, never meets half a file.
    Not guaranteed: that the last writes survive a power failure (they are not forced to the disk).

    Args:
        folder: Made, with its parents, when first written to.
    """

    blocking = True

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder).expanduser().absolute()

    def read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, name: str, data: bytes) -> None:
        path = self._folder / name
        try:
            self._replace(path, data)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._replace(path, data)

    def exists(self, name: str) -> bool:
        return (self._folder / name).is_file()

    def names(self, folder: str) -> list[str]:
        try:
            with os.scandir(self._folder / folder) as entries:
                return sorted(entry.name for entry in entries if entry.name[0] != "." and entry.is_file())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def swap(self, name: str, unchanged: Callable[[bytes | None], bool], data: bytes) -> bool:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.parent / LOCK):
            if not unchanged(self.read(name)):
                return False
            self._replace(path, data)
            return True

    def entries(self) -> Iterator[Entry]:
        for where, _, names in os.walk(self._folder):
            for name in names:
                path = Path(where, name)
                if name == LOCK:
                    continue
                with contextlib.suppress(FileNotFoundError):
                    found = path.stat()
                    yield Entry(path.relative_to(self._folder).as_posix(), found.st_size, found.st_mtime)

    def head(self, name: str, size: int) -> bytes:
        try:
            with (self._folder / name).open("rb") as file:
                return file.read(size)
        except (FileNotFoundError, NotADirectoryError):
            return b""

    def renew(self, name: str, data: bytes) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # Whoever deletes what is old looks at its age under the same lock.
        with _locked(path.parent / LOCK):
            if self.read(name) == data:
                os.utime(path)
            else:
                self._replace(path, data)

    def remove(self, names: list[str], *, before: float, together: bool = False) -> list[str]:
        paths = {name: self._folder / name for name in names}
        if not any(path.exists() for path in paths.values()):
            return []
        removed: list[str] = []
        with _locked(next(iter(paths.values())).parent / LOCK):
            there = {name: path for name, path in paths.items() if path.exists()}
            others = next(iter(paths.values())).parent.iterdir() if together else iter(())
            if any(_written(path) >= before for path in (*there.values(), *others)):
                return []
            for name, path in there.items():
                path.unlink(missing_ok=True)
                removed.append(name)
        return removed

    def describe(self) -> str:
        return str(self._folder)

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """While inside no other thread or process is, of those that share the folder."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with _locked(self._folder / LOCK):
            yield

    @staticmethod
    def _replace(path: Path, data: bytes) -> None:
        # In the same folder, because only there a rename is one step.
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _written(path: Path) -> float:
    try:
        return 0.0 if path.name == LOCK else path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


@contextlib.contextmanager
def _locked(path: Path) -> Generator[None]:
    """Hold the lock of a folder against other threads and processes; released when its holder dies.

    Raises:
        TimeoutError: Another holds it for half a minute.
    """
    try:
        import fcntl
    except ImportError:  # Windows: processes are not kept apart there, threads of one still are
        with _no_fcntl:
            yield
        return
    # Not through a link that somebody laid there.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        until, pause = time.monotonic() + LOCK_S, 0.001
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                # Held for moments only; for longer by a process that was stopped in between.
                if time.monotonic() > until:
                    raise TimeoutError(f"{path.parent} is locked by another process for {LOCK_S:g} s.") from None
                time.sleep(pause)
                pause = min(2 * pause, 0.02)
        yield
    finally:
        os.close(descriptor)


_no_fcntl = threading.Lock()
