"""What a backend is made from: a hub id, folder or file with options, and what can be told of it unloaded."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from langgraph_interleave.backends.diffusers.families import class_by_name
from langgraph_interleave.backends.diffusers.weights import SUFFIX, read_weights
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.models.options import read_options

#: Options that a name may carry, and the kind of each.
IN_NAME: Mapping[str, Any] = {
    "batch": int | bool, "config": str, "device": str, "dtype": str, "guidance": float, "lora": str, "offload": str,
    "preview_every": int, "quantization": str, "revision": str, "size": int, "steps": int,
    "strength": float, "variant": str,
}  # fmt: skip
#: Those of them that are arguments of a drawing.
DRAWING = ("guidance", "size", "steps", "strength")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_INDEX = "model_index.json"


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


def is_local(source: str) -> bool:
    """Whether a source names a place on this machine rather than one on the hub.

    Example:
        >>> is_local("./mine"), is_local("black-forest-labs/FLUX.1-dev")
        (True, False)
    """
    return source.startswith((".", "/", "~")) or "\\" in source or Path(source).expanduser().exists()


def is_file(source: str) -> bool:
    """Whether a source that was checked is one file of weights.

    Example:
        >>> is_file("/models/mine.safetensors"), is_file("owner/mine.safetensors")
        (True, False)
    """
    return source.endswith(SUFFIX) and is_local(source)


def checked(source: str, config: str | None = None) -> str:
    """The source, if it can be one; a folder or file with its full path.

    Args:
        source: Hub id, folder or file.
        config: The pipeline that a file belongs to, checked.

    Raises:
        ConfigError: It is not there, holds no pipeline, or is no hub id.
    """
    source = source.strip()
    if not source:
        raise ConfigError(
            "The backend diffusers needs a model.", remedy="Write diffusers:OWNER/MODEL or diffusers:/path/to/folder."
        )
    if is_local(source):
        path = Path(source).expanduser()
        if not path.exists():
            raise ConfigError(f"There is no folder {source}.", remedy="Check the path, or give a hub id (OWNER/MODEL).")
        if path.is_file():
            _check_file(path, config)
            # In the hub's cache it is a link, and only the link has the file's name.
            return str(path.absolute())
        if not (path / _INDEX).is_file():
            raise ConfigError(
                f"{source} holds no diffusers pipeline: there is no {_INDEX} in it.",
                remedy="Give the folder that save_pretrained wrote, or the path of a .safetensors file in it.",
            )
        return str(path.resolve())
    if not _HUB_ID.fullmatch(source):
        if source.endswith(SUFFIX):
            raise ConfigError(
                f"There is no file {source}.", remedy="Check the path; one on the hub: hf download OWNER/MODEL FILE."
            )
        raise ConfigError(
            f"{source!r} is neither a folder nor a model of the hub.",
            remedy="Write OWNER/MODEL, or the path of a folder.",
        )
    return source


def checked_config(config: str | None) -> str | None:
    """Where the rest of a single file's pipeline is: a hub id, or a folder with its full path.

    Raises:
        ConfigError: It is not there, or is neither.
    """
    if config is None:
        return None
    if Path(config).expanduser().is_file():
        raise ConfigError(f"config={config!r} is a file.", remedy="Give a hub id, or the folder of a whole pipeline.")
    return checked(config)


def _check_file(path: Path, config: str | None) -> None:
    if path.suffix != SUFFIX:
        raise ConfigError(
            f"{path} is not a .safetensors file.",
            remedy="Other weights can run code when they are loaded: convert them. A GGUF file goes to "
            "quantization=gguf:FILE, with the pipeline's hub id or folder as the model.",
        )
    weights = read_weights(path)
    if weights.lora:
        raise ConfigError(
            f"{path} is a LoRA, not a model.", remedy="Give the model it was made for, and this file as lora=."
        )
    if config is not None:
        return
    if weights.kind is None:
        raise ConfigError(
            f"What kind of model {path} is cannot be told from its weights.",
            remedy="Say which pipeline it belongs to: config=OWNER/MODEL, or the folder of one.",
        )
    if not weights.whole:
        raise ConfigError(
            f"{path} holds the weights that draw and no text encoder.",
            remedy="Say which pipeline has the rest: config=OWNER/MODEL, or the folder of one.",
        )


def checked_object(pipe: Any, *, loaded_as: bool) -> Any:
    """The pipeline object, if it is one.

    Args:
        pipe: What was given.
        loaded_as: Something was said of how it is to be loaded.

    Raises:
        ConfigError: It is none, or is to be loaded in another way than it was.
    """
    if not callable(pipe) or not hasattr(pipe, "components"):
        raise ConfigError(
            f"A {type(pipe).__name__} is no pipeline of diffusers.",
            remedy="Give a hub id, a folder, or what DiffusionPipeline.from_pretrained returns.",
        )
    if loaded_as:
        raise ConfigError(
            "A pipeline object is loaded already: its number format, weights and LoRAs are what they are.",
            remedy="Load it with the dtype, quantisation and LoRAs you want, or give its folder or hub id.",
        )
    return pipe


def known_of(source: str, revision: str | None = None, config: str | None = None) -> Known:
    """What a folder or file, the hub's cache on this machine, or the name alone tells; nothing is downloaded."""
    if is_file(source):
        if config is None:
            return Known(kind_of(source))
        source = config
    index = Path(source) / _INDEX if is_local(source) else _cached(source, _INDEX, revision)
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


def kind_of(file: str) -> str | None:
    """The class of pipeline that a file without `config` is loaded as.

    Kontext cannot be told from other FLUX.1 by its weights; its name tells.
    """
    kind = read_weights(Path(file)).kind
    named = class_by_name(Path(file).name)
    return named if kind == "FluxPipeline" and named == "FluxKontextPipeline" else kind


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
