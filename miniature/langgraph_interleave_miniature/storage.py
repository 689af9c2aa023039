"""Storage: where the trained weights lie, and what tells one set of them from another."""

from __future__ import annotations

import hashlib
from pathlib import Path

from langgraph_interleave.errors import ConfigError

from langgraph_interleave_miniature.reader import READERS

#: In a folder of weights: the pipeline, as diffusers saves it, and the critic's reader.
PIPELINE, READER = "pipeline", READERS["critic"]


def weights_folder(given: str | Path | None = None) -> Path:
    """A folder of weights: the one given, or the one in this package.

    Args:
        given: Holds `pipeline/` and `critic_reader.safetensors`, as the training writes them.

    Raises:
        ConfigError: There is none, or it lacks one of the two.
    """
    folder = Path(given).expanduser() if given is not None else Path(__file__).parent / "weights"
    lacking = [name for name in (f"{PIPELINE}/model_index.json", READER) if not (folder / name).is_file()]
    if lacking:
        what = f"{folder} lacks {' and '.join(lacking)}." if folder.is_dir() else f"There is no folder {folder}."
        remedy = (
            "Give the folder the training wrote."
            if given is not None
            else "Install langgraph-interleave-miniature again; its wheel brings the weights."
        )
        raise ConfigError(f"The weights of the miniature are not there: {what}", remedy=remedy)
    return folder.resolve()


def digest_of(file: Path) -> str:
    """Twelve digits that tell a file from any other."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
