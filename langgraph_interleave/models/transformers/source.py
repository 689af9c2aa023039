"""What the name of a local model means: a folder, or a model of the Hugging Face Hub."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.models.libraries import has

_HUB = re.compile(r"[\w.-]+(?:/[\w.-]+)?")
_OWNED = re.compile(r"[\w.-]+/[\w.-]+")
_WEIGHTS = ("*.safetensors", "*.bin", "*.gguf")


@dataclass(frozen=True, slots=True)
class Source:
    """Where weights are.

    Attributes:
        path: A folder, or a name on the hub.
        is_folder: Which of the two.
        config: The model's `config.json`; `None` for one that was never downloaded.
        identity: Names these weights: changes when they are replaced. Empty where that is not known.
    """

    path: str
    is_folder: bool
    config: Mapping[str, Any] | None
    identity: str

    @property
    def takes_pictures(self) -> bool | None:
        """Whether the model sees; `None` when nobody knows yet."""
        if self.config is None:
            return None
        return any(isinstance(self.config.get(key), dict) for key in ("vision_config", "vision_tower_config"))

    @property
    def context(self) -> int | None:
        """Most tokens it reads and writes, if its configuration says."""
        return context_of(self.config or {})


def read_source(name: str, revision: str | None = None) -> Source:
    """Find out what a name means, without loading or fetching anything.

    Args:
        name: A folder, or `organisation/model` on the hub.
        revision: Branch, tag or commit on the hub.

    Raises:
        ConfigError: There is no such folder, it holds no model, or the name is none of a model.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        return _folder(path)
    if path.is_file():
        raise ConfigError(f"{name} is a file, not a model's folder.", remedy="Name the folder with config.json.")
    if name.startswith((".", "/", "~")) or "\\" in name:
        raise ConfigError(f"There is no folder {name}.", remedy="Check the path, or give a hub id (OWNER/MODEL).")
    found = _cached(name, revision) if _HUB.fullmatch(name) else None
    if found is None and not _OWNED.fullmatch(name):
        # The hub's oldest models have no owner; those are found only where they are on this machine.
        raise ConfigError(
            f"{name!r} is neither a folder nor a model of the hub.",
            remedy="Write OWNER/MODEL, or the path of a folder.",
        )
    if found is None:
        return Source(name, is_folder=False, config=None, identity=revision or "")
    # The folder's name is the commit.
    return Source(name, is_folder=False, config=_config(found, name), identity=found.parent.name)


def context_of(config: Mapping[str, Any]) -> int | None:
    """The longest context a configuration promises, in tokens.

    Example:
        >>> context_of({"text_config": {"max_position_embeddings": 4096}})
        4096
    """
    for held in (config, config.get("text_config"), config.get("llm_config")):
        if isinstance(held, Mapping):
            length = cast("Mapping[str, Any]", held).get("max_position_embeddings")
            if isinstance(length, int) and length > 0:
                return length
    return None


def _folder(path: Path) -> Source:
    file = path / "config.json"
    if not file.is_file():
        if (path / "model_index.json").is_file():
            raise ConfigError(
                f"The folder {path} holds a pipeline that draws, not a language model.",
                remedy=f"Use it as backend: diffusers:{path}.",
            )
        if (path / "adapter_config.json").is_file():
            raise ConfigError(
                f"The folder {path} holds an adapter (LoRA), not a model.", remedy="Merge it into its model first."
            )
        raise ConfigError(
            f"The folder {path} holds no model: there is no config.json.", remedy="Name the folder of a checkpoint."
        )
    config = _config(file, str(path))
    return Source(str(path), is_folder=True, config=config, identity=_identity(path, config))


def _config(file: Path, name: str) -> Mapping[str, Any]:
    try:
        read: object = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"config.json of {name} cannot be read: {error}.", remedy="Download the model again."
        ) from error
    if not isinstance(read, dict):
        raise ConfigError(f"config.json of {name} is no JSON object.", remedy="Download the model again.")
    return cast("dict[str, Any]", read)


def _identity(path: Path, config: Mapping[str, Any]) -> str:
    files = sorted(file for pattern in _WEIGHTS for file in path.glob(pattern))
    stats = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(json.dumps([dict(config), stats], sort_keys=True).encode()).hexdigest()[:16]


def _cached(name: str, revision: str | None) -> Path | None:
    """The configuration in the hub's cache on this machine."""
    if not has("huggingface_hub"):
        return None
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(name, "config.json", revision=revision)
    return Path(found) if isinstance(found, str) else None
