"""Files anywhere fsspec reaches, and the opening of files by where they are."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.files import Entry, Files, FolderFiles, MemoryFiles

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

#: fsspec protocols whose writes become visible whole or not at all.
_OBJECT_STORES = frozenset(
    {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci", "tos", "r2", "hf", "memory"}
)

#: On a remote filesystem what is there is written anew only where it is older than this, in seconds.
_FRESH_S = 3600.0


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

    def entries(self) -> Iterator[Entry]:
        self._fs.invalidate_cache()
        found: dict[str, dict[str, Any]] = self._fs.find(self._root, detail=True)
        start = len(self._path(""))
        for path, known in sorted(found.items()):
            yield Entry(path[start:] if self._root else path, int(known.get("size") or 0), _when(known))

    def head(self, name: str, size: int) -> bytes:
        try:
            return bytes(self._fs.cat_file(self._path(name), start=0, end=size))
        except (FileNotFoundError, NotADirectoryError):
            return b""

    def renew(self, name: str, data: bytes) -> None:
        written = self._written(name)
        if written is None or written < time.time() - _FRESH_S or self.read(name) != data:
            self.write(name, data)

    def remove(self, names: list[str], *, before: float, together: bool = False) -> list[str]:
        there = [name for name in names if self.exists(name)]
        ages = [self._written(name) for name in there]
        if together:
            folder = names[0].rpartition("/")[0]
            ages += [self._written(f"{folder}/{name}") for name in self.names(folder)]
        # What may have been written just now has been.
        if any(age is None or age >= before for age in ages):
            return []
        for name in there:
            self._fs.rm_file(self._path(name))
        return there

    def _written(self, name: str) -> float | None:
        try:
            return _when(self._fs.info(self._path(name), refresh=True))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def describe(self) -> str:
        return str(self._fs.unstrip_protocol(self._root))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if self._root else name


def _when(known: dict[str, Any]) -> float | None:
    """When a file was written, by whatever name a filesystem has for that."""
    for name in ("mtime", "LastModified", "last_modified", "updated", "modified", "created"):
        value = known.get(name)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                return datetime.fromisoformat(value).timestamp()
    return None


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
