"""`langgraph-interleave gc`: remove from a folder what none of its versions and runs needs."""

from __future__ import annotations

import re
from pathlib import Path

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.folder import LIST, STORE
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.garbage import GRACE_S, Collected, collect_garbage

_SPAN = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def clean(folder: Path, *, remove: bool, older_than: str | None, abandoned: str | None) -> str:
    """Look through a folder, and remove what nobody needs if told to.

    Args:
        folder: One that `run` made, the MCP server's, or an artifact store.
        remove: Whether it is removed, not only counted.
        older_than: Age of what may be removed, such as `7d`; a day by default.
        abandoned: Age from which a run without a document is given up; never by default.

    Returns:
        What was removed, or would be, in words.

    Raises:
        ConfigError: There is no store, or an age is none.
    """
    store = folder / STORE if (folder / STORE).is_dir() else folder
    if not ((store / "artifacts").is_dir() or (store / "calls").is_dir()):
        raise ConfigError(f"There are no artifacts in {folder}.", remedy="Name a folder that `run` made, or a store.")
    listed = (store / LIST).exists() or (store / "jobs").is_dir()
    done = collect_garbage(
        ArtifactStore.folder(store),
        # Where documents are listed, those are kept; else every one there is.
        keep=() if listed else None,
        grace_s=GRACE_S if older_than is None else seconds(older_than),
        abandoned_s=None if abandoned is None else seconds(abandoned),
        dry_run=not remove,
    )
    return in_words(done)


def seconds(span: str) -> float:
    """An age in seconds: a number, with `s`, `m`, `h` or `d` for its unit.

    Raises:
        ConfigError: It is something else.

    Example:
        >>> seconds("1.5h")
        5400.0
    """
    found = _SPAN.fullmatch(span.strip())
    if found is None:
        raise ConfigError(f"{span[:40]!r} is no age.", remedy="Write for example 12h or 7d.")
    return float(found[1]) * _UNITS[found[2]]


def in_words(done: Collected) -> str:
    """What was removed, or would be.

    Example:
        >>> in_words(Collected(dry=True, artifacts=2, bytes=2_500_000, kept=3, kept_bytes=900))
        'Would remove 2 artifacts (2.5 MB); 3 files stay (0.9 kB). Nothing was removed: add --remove.'
    """
    counts = ((done.artifacts, "artifact"), (done.calls, "record of a call"), (done.halves, "half-written file"))
    parts = [_many(count, what) for count, what in counts if count]
    stay = f"{_many(done.kept, 'file')} {'stays' if done.kept == 1 else 'stay'} ({_size(done.kept_bytes)})."
    if not parts:
        return f"Nothing to remove: {stay}"
    said = f"{'Would remove' if done.dry else 'Removed'} {', '.join(parts)} ({_size(done.bytes)}); {stay}"
    return f"{said} Nothing was removed: add --remove." if done.dry else said


def _many(count: int, what: str) -> str:
    plural = what.replace("record", "records") if what.startswith("record") else f"{what}s"
    return f"{count:,} {what if count == 1 else plural}"


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count / 1e3:,.1f} kB"
