"""Where an artifact store keeps its files: in memory, in a folder, or anywhere fsspec reaches."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from langgraph_interleave.errors import ConfigError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

#: fsspec protocols whose writes become visible whole or not at all.
_OBJECT_STORES = frozenset(
    {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci", "tos", "r2", "hf", "memory"}
)

#: How long the lock of a folder is waited for, in seconds.
LOCK_S = 30.0


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

    def describe(self) -> str:
        """Where it is, for messages."""
        ...


class MemoryFiles:
    """Files of this object alone; gone with it."""

    blocking = False

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def read(self, name: str) -> bytes | None:
        return self._files.get(name)

    def write(self, name: str, data: bytes) -> None:
        with self._lock:
            self._files[name] = data

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
            self._files[name] = data
            return True

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
        with _locked(path.parent / ".lock"):
            if not unchanged(self.read(name)):
                return False
            self._replace(path, data)
            return True

    def describe(self) -> str:
        return str(self._folder)

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


class FsspecFiles:
    """Files of any fsspec filesystem.

    On object stores a write is whole by nature; elsewhere it is written under another name and
    moved. `swap` keeps the threads of this object apart and, where the filesystem can create
    exclusively, also the processes that create a file; it does not keep two processes apart that
    replace one.

    Args:
        fs: An `fsspec.AbstractFileSystem`.
        root: Folder in it.
    """

    blocking = True

    def __init__(self, fs: Any, root: str) -> None:
        self._fs = fs
        self._root = root.rstrip("/")
        names = {fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)
        self._whole = bool(names & _OBJECT_STORES)
        self._lock = threading.Lock()

    def read(self, name: str) -> bytes | None:
        try:
            return bytes(self._fs.cat_file(self._path(name)))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        if self._whole:
            self._fs.pipe_file(path, data)
            return
        folder, _, last = path.rpartition("/")
        self._fs.makedirs(folder, exist_ok=True)
        temporary = f"{folder}/.{last}.{secrets.token_hex(4)}.tmp"
        self._fs.pipe_file(temporary, data)
        self._fs.mv(temporary, path)

    def exists(self, name: str) -> bool:
        return bool(self._fs.isfile(self._path(name)))

    def names(self, folder: str) -> list[str]:
        path = self._path(folder)
        # Listings are cached by many filesystems; other processes write here too.
        self._fs.invalidate_cache(path)
        try:
            entries: list[dict[str, Any]] = self._fs.ls(path, detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        names = (str(entry["name"]).rstrip("/").rpartition("/")[2] for entry in entries if entry["type"] == "file")
        return sorted(name for name in names if not name.startswith("."))

    def swap(self, name: str, unchanged: Callable[[bytes | None], bool], data: bytes) -> bool:
        with self._lock:
            before = self.read(name)
            if not unchanged(before):
                return False
            if before is not None or not self._whole:
                self.write(name, data)
                return True
            try:
                self._fs.pipe_file(self._path(name), data, mode="create")
            except FileExistsError:
                return False
            return True

    def describe(self) -> str:
        return str(self._fs.unstrip_protocol(self._root))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if self._root else name


def open_files(url_or_fs: str | os.PathLike[str] | AbstractFileSystem | Files, root: str = "") -> Files:
    """Files at a place.

    Args:
        url_or_fs: An fsspec URL, a plain path, a filesystem of fsspec, or files that are open already.
        root: Folder within it.

    Raises:
        ConfigError: There is no such protocol.
    """
    if isinstance(url_or_fs, (MemoryFiles, FolderFiles, FsspecFiles)):
        return url_or_fs
    # Imported here: a store in memory or in a folder does without, and it takes a while.
    from fsspec.core import url_to_fs
    from fsspec.implementations.local import LocalFileSystem

    if isinstance(url_or_fs, (str, os.PathLike)):
        try:
            fs, path = url_to_fs(os.fspath(url_or_fs))
        except (ImportError, ValueError) as error:
            raise ConfigError(
                f"No artifact store can be opened at {os.fspath(url_or_fs)!r}: {error}",
                remedy="Install the package that brings this protocol to fsspec, or give a folder.",
            ) from error
        path = "/".join(part for part in (str(path).rstrip("/"), root.strip("/")) if part)
    else:
        fs, path = url_or_fs, root
    if type(fs) is LocalFileSystem:
        return FolderFiles(Path(path or "."))
    return FsspecFiles(fs, path)
