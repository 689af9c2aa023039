"""What a stretch of a program does to the file system and the network, by Python's own audit events."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

#: Events that change a file system, and which of their arguments are paths.
_CHANGES = {
    "os.mkdir": (0,), "os.rename": (0, 1), "os.remove": (0,), "os.rmdir": (0,), "os.link": (0, 1), "os.symlink": (1,),
    "os.truncate": (0,), "os.chmod": (0,), "os.chown": (0,), "os.utime": (0,), "shutil.rmtree": (0,), "os.mkfifo": (0,),
    "shutil.copyfile": (1,), "shutil.move": (0, 1),
}  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass(slots=True)
class Seen:
    """What was done: paths written to or changed, paths read, hosts that were looked up or connected to."""

    changed: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)

    def outside(self, *folders: Path) -> list[str]:
        """Changed paths that are in none of some folders, links followed."""
        homes = [folder.resolve() for folder in folders]
        found = {Path(path).resolve() for path in self.changed}
        return sorted(str(path) for path in found if not any(path.is_relative_to(home) for home in homes))


_watching: list[Seen] = []
_installed: list[bool] = []


def _hook(event: str, args: tuple[object, ...]) -> None:
    for seen in _watching:
        if event == "open":
            path, mode, flags = args
            if not isinstance(path, (str, bytes, os.PathLike)):
                continue
            name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - it may hold what a Path would not
            writes = isinstance(flags, int) and flags & _WRITING
            writes = writes or (isinstance(mode, str) and set(mode) & set("wax+"))
            (seen.changed if writes else seen.read).append(name)
        elif event in _CHANGES:
            for place in _CHANGES[event]:
                path = args[place] if place < len(args) else None
                if isinstance(path, (str, bytes, os.PathLike)):
                    seen.changed.append(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100
        elif event == "socket.getaddrinfo":
            seen.hosts.append(str(args[0]))
        elif event == "socket.connect":
            seen.hosts.append(str(args[1]))
        elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"):
            seen.started.append(str(args[0]))


@contextmanager
def watched() -> Generator[Seen]:
    """Note what is done by this process, in any thread, until the end of the block."""
    if not _installed:
        sys.addaudithook(_hook)
        _installed.append(True)
    seen = Seen()
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching.remove(seen)
