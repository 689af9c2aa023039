"""What a model is, for fingerprints: told from its files or its weights, without reading all of them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from langgraph_interleave.backends.diffusers.source import is_local

#: Files up to this size count with all their bytes, larger ones with their size and a sample.
_READ_WHOLE = 1_000_000
_PIECES, _PIECE = 32, 8192


def identity_of(source: str, revision: str | None = None) -> str:
    """A hub id with its revision, or name and digest of a folder or file.

    Example:
        >>> identity_of("owner/model", "v2")
        'owner/model@v2'
    """
    if not is_local(source):
        return f"{source}@{revision}" if revision else source
    place = Path(source)
    files = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        name = "" if path == place else path.relative_to(place).as_posix()
        size = path.stat().st_size
        digest.update(f"{name}\0{size}\0".encode())
        digest.update(path.read_bytes() if size <= _READ_WHOLE else _sample(path, size))
    return f"{place.name}/{digest.hexdigest()[:12]}"


def _sample(path: Path, size: int) -> bytes:
    """Pieces from the whole length: weights trained on differ everywhere, and keep their size."""
    with path.open("rb") as file:
        pieces: list[bytes] = []
        for index in range(_PIECES):
            file.seek((size - _PIECE) * index // (_PIECES - 1))
            pieces.append(file.read(_PIECE))
    return b"".join(pieces)


def identity_of_object(pipe: Any) -> str:
    """What a pipeline object is: class, configurations, and a sample of its weights."""
    digest = hashlib.sha256()
    for name, part in sorted(getattr(pipe, "components", {}).items()):
        config = getattr(part, "config", None)
        digest.update(f"{name}\0{type(part).__name__}\0{config}".encode())
        state: Any = getattr(part, "state_dict", None)
        if state is not None:
            for key, tensor in state().items():
                digest.update(f"{key}\0{tuple(tensor.shape)}".encode())
                if str(tensor.device) != "meta":
                    digest.update(str(tensor.flatten()[:4].tolist()).encode())
    return f"{type(pipe).__name__}/{digest.hexdigest()[:12]}"
