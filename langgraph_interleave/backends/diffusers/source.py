"""What a backend is made from: a hub id or folder with options, and what can be told of it unloaded."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from langgraph_interleave.backends.diffusers.families import class_by_name
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.models.options import read_options

#: Options that a name may carry, and the kind of each.
IN_NAME: Mapping[str, Any] = {
    "batch": int | bool, "device": str, "dtype": str, "guidance": float, "offload": str, "preview_every": int,
    "quantization": str, "revision": str, "size": int, "steps": int, "strength": float, "variant": str,
}  # fmt: skip
#: Those of them that are arguments of a drawing.
DRAWING = ("guidance", "size", "steps", "strength")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_INDEX = "model_index.json"
#: Files up to this size are part of a folder's identity with their content, larger ones with their size.
_READ_WHOLE = 1_000_000


def read_name(text: str) -> tuple[str, dict[str, Any]]:
    """A source, and the options after its question mark.

    Raises:
        ConfigError: An option is unknown or cannot be read.

    Example:
        >>> read_name("black-forest-labs/FLUX.2-klein-4B?offload=model&steps=4")
        ('black-forest-labs/FLUX.2-klein-4B', {'offload': 'model', 'defaults': {'steps': 4}})
    """
    source, _, query = text.strip().partition("?")
    written = dict(parse_qsl(query, keep_blank_values=True))
    for name in written:
        if name not in IN_NAME:
            raise ConfigError(
                f"backend 'diffusers' has no option {name!r}.", remedy=f"Options: {', '.join(sorted(IN_NAME))}."
            )
    found = read_options(f"diffusers:{text}", written, IN_NAME)
    defaults = {name: found.pop(name) for name in DRAWING if name in found}
    return source, {**found, **({"defaults": defaults} if defaults else {})}


@dataclass(frozen=True, slots=True)
class Known:
    """What can be told of a pipeline that is not loaded."""

    kind: str | None
    distilled: bool | None = None
    guided: bool | None = None


def is_folder(source: str) -> bool:
    """Whether a source names a place on this machine rather than one on the hub.

    Example:
        >>> is_folder("./mine"), is_folder("black-forest-labs/FLUX.1-dev")
        (True, False)
    """
    return source.startswith((".", "/", "~")) or "\\" in source or Path(source).expanduser().exists()


def checked(source: str) -> str:
    """The source, if it can be one; a folder with its full path.

    Raises:
        ConfigError: The folder is not there or holds no pipeline, or it is no hub id.
    """
    source = source.strip()
    if not source:
        raise ConfigError(
            "The backend diffusers needs a model.", remedy="Write diffusers:OWNER/MODEL or diffusers:/path/to/folder."
        )
    if is_folder(source):
        path = Path(source).expanduser()
        if not path.exists():
            raise ConfigError(f"There is no folder {source}.", remedy="Check the path, or give a hub id (OWNER/MODEL).")
        if not (path / _INDEX).is_file():
            raise ConfigError(
                f"{source} holds no diffusers pipeline: there is no {_INDEX} in it.",
                remedy="Give the folder that save_pretrained wrote; a single weights file is not enough.",
            )
        return str(path.resolve())
    if not _HUB_ID.fullmatch(source):
        raise ConfigError(
            f"{source!r} is neither a folder nor a model of the hub.",
            remedy="Write OWNER/MODEL, or the path of a folder.",
        )
    return source


def checked_object(pipe: Any, dtype: Any, quantization: str | None) -> Any:
    """The pipeline object, if it is one.

    Raises:
        ConfigError: It is none, or is to be loaded in another way than it was.
    """
    if not callable(pipe) or not hasattr(pipe, "components"):
        raise ConfigError(
            f"A {type(pipe).__name__} is no pipeline of diffusers.",
            remedy="Give a hub id, a folder, or what DiffusionPipeline.from_pretrained returns.",
        )
    if dtype is not None or quantization is not None:
        raise ConfigError(
            "A pipeline object has its number format already.",
            remedy="Load it with the dtype and quantisation you want, or give its folder or hub id.",
        )
    return pipe


def known_of(source: str, revision: str | None = None) -> Known:
    """What a folder, the hub's cache on this machine, or the name alone tells; nothing is downloaded."""
    index = Path(source) / _INDEX if is_folder(source) else _cached(source, _INDEX, revision)
    said = _json(index)
    kind = said.get("_class_name")
    if not isinstance(kind, str):
        return Known(class_by_name(source))
    distilled = said.get("is_distilled")
    transformer = _json(index.parent / "transformer" / "config.json") if index is not None else {}
    guided = transformer.get("guidance_embeds")
    return Known(
        kind,
        distilled if isinstance(distilled, bool) else None,
        guided if isinstance(guided, bool) else None,
    )


def identity_of(source: str, revision: str | None = None) -> str:
    """What a source is, for fingerprints: a hub id with its revision, or a digest of what a folder holds."""
    if not is_folder(source):
        return f"{source}@{revision}" if revision else source
    digest = hashlib.sha256()
    folder = Path(source)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        if size <= _READ_WHOLE:
            digest.update(path.read_bytes())
    return f"{folder.name}/{digest.hexdigest()[:12]}"


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


def _json(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _cached(source: str, file: str, revision: str | None) -> Path | None:
    """A file of the hub that was downloaded before."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    found = try_to_load_from_cache(source, file, revision=revision)
    return Path(found) if isinstance(found, str) else None
