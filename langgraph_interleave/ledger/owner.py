"""Who made a call: a name for this process that another can tell to be alive or gone."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from pathlib import Path


def new_owner() -> str:
    """A name for one ledger in this process: `<machine>-<pid>-<start>-<random>`.

    The machine is a digest, so that a record tells nobody its name.
    """
    pid = os.getpid()
    return f"{_machine()}-{pid}-{_started(pid) or 0}-{secrets.token_hex(4)}"


def is_gone(owner: str) -> bool:
    """Whether the process behind a name has provably ended. `False` when that cannot be known."""
    machine, _, rest = owner.partition("-")
    pid_text, _, rest = rest.partition("-")
    start = rest.partition("-")[0]
    # On Windows, signal 0 is not a question.
    if os.name != "posix" or machine != _machine() or not pid_text.isdigit():
        return False
    pid = int(pid_text)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    # The number may have gone to another process since, and a dead child keeps it until it is fetched.
    now = _started(pid)
    return start != "0" and now is not None and now != start


def _machine() -> str:
    names = [socket.gethostname()]
    for path in (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")):
        try:
            # Containers share a kernel, and count their processes each for itself.
            names.append(str(path.readlink()) if path.name == "pid" else path.read_text(encoding="ascii"))
        except OSError:
            continue
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]


def _started(pid: int) -> str | None:
    """When a process started, in the kernel's ticks; `gone` for a dead one; `None` when unknown."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return "gone" if fields[0] in "ZX" else fields[19]
