"""A PostgreSQL server of one's own: started in a temporary folder, reached by a Unix socket, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

_BOOT_S = 60.0
_MISSING = "No initdb and postgres were found: install the package postgresql, or put its bin folder on the PATH."
#: Data that is thrown away need not survive a power failure.
_HASTE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "max_connections=30")


def programs() -> Path:
    """The folder of `initdb` and `postgres`; of several versions the newest.

    Raises:
        RuntimeError: There is none.
    """
    found = shutil.which("initdb")
    # On Debian what is on the PATH is a link, and `postgres` is only beside what it points to.
    beside = [Path(found).resolve().parent] if found else []
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name.split(".")[0]))
    for folder in (*beside, *reversed(installed)):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise RuntimeError(_MISSING)


@contextlib.contextmanager
def postgres_server() -> Generator[str]:
    """Start a server; yields the connection string of its one database, whose tables of checkpoints are made.

    Nobody but this user (and root) can reach it: it listens on no network address.

    Raises:
        RuntimeError: PostgreSQL is not installed, or does not start; its log is in the message.
    """
    bin_folder = programs()
    # A socket's path may have 107 characters: not below the folders of tests, which are long.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    try:
        user = _unprivileged()
        as_user: dict[str, Any] = {}
        if user is not None:
            # PostgreSQL refuses to run as root.
            os.chown(folder, user.pw_uid, user.pw_gid)
            as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": ()}
        quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "cwd": folder, "env": _environment(), **as_user}
        data, log = folder / "data", folder / "log"
        made = subprocess.run(
            [bin_folder / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
            capture_output=True, text=True, check=False, **quiet,
        )  # fmt: skip
        if made.returncode != 0:
            raise RuntimeError(f"initdb failed: {made.stderr[-2000:]}")
        options = [part for one in ("listen_addresses=", f"unix_socket_directories={folder}", *_HASTE)
                   for part in ("-c", one)]  # fmt: skip
        with log.open("wb") as said:
            server = subprocess.Popen(
                [bin_folder / "postgres", "-D", data, *options], stdout=said, stderr=said, **quiet
            )
        try:
            dsn = f"postgresql://postgres@/postgres?host={folder}"
            _wait(dsn, server, log)
            yield dsn
        finally:
            server.send_signal(signal.SIGINT)  # ends connections that are open
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.send_signal(signal.SIGQUIT)
                server.wait(timeout=20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> pwd.struct_passwd | None:
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("PostgreSQL does not run as root, and there is neither a user postgres nor nobody.")


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}


def _wait(dsn: str, server: subprocess.Popen[Any], log: Path) -> None:
    import psycopg
    from langgraph.checkpoint.postgres import PostgresSaver

    end = time.monotonic() + _BOOT_S
    while time.monotonic() < end and server.poll() is None:
        try:
            with PostgresSaver.from_conn_string(dsn) as saver:
                saver.setup()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL did not start: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}")
