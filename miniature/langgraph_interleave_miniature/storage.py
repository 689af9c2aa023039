"""Storage: where the trained weights lie, and what tells one set of them from another."""

from __future__ import annotations

import hashlib
from pathlib import Path

from langgraph_interleave.errors import ConfigError

from langgraph_interleave_miniature.reader import READERS

#: In a folder of weights: the pipeline, as diffusers saves it, and the critic's reader.
PIPELINE, READER = "pipeline", READERS["critic"]


def weights(part: str, folder: str | Path | None = None) -> Path:
    """Where a part of the weights lies.

    Args:
        part: `PIPELINE` or `READER`.
        folder: Holds both of them, as the training writes them; by default the one in this package.

    Raises:
        ConfigError: It is not there.
    """
    place = (Path(folder).expanduser() if folder is not None else Path(__file__).parent / "weights") / part
    if not (place / "model_index.json" if part == PIPELINE else place).is_file():
        raise ConfigError(
            f"The weights of the miniature are not there: there is no {part} in {place.parent}.",
            remedy="Give the folder that the training wrote."
            if folder is not None
            else "Install langgraph-interleave-miniature again; its wheel brings the weights.",
        )
    return place.resolve()


def digest_of(file: Path) -> str:
    """Twelve digits that tell a file from any other."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
