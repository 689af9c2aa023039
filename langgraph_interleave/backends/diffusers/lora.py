"""LoRAs: small files that change how a model draws."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from langgraph_interleave.backends.diffusers.identity import identity_of
from langgraph_interleave.backends.diffusers.source import is_local
from langgraph_interleave.backends.diffusers.weights import SUFFIX, read_weights
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.models.libraries import PIP, has
from langgraph_interleave.models.transformers.placement import is_out_of_memory

#: What `save_lora_weights` calls it.
_USUAL = f"pytorch_lora_weights{SUFFIX}"
_HUB = re.compile(rf"[\w.-]+/[\w.-]+(?:/[\w./-]+{re.escape(SUFFIX)})?")

#: As people give them: one or several names, each perhaps with `:SCALE`, or names with their scales.
Given = str | PathLike[str] | Mapping[str, float] | Sequence[str | PathLike[str]] | None


@dataclass(frozen=True, slots=True)
class Lora:
    """One LoRA: a file, or `OWNER/MODEL` or `OWNER/MODEL/FILE` on the hub, and how strongly it counts."""

    source: str
    scale: float = 1.0

    @property
    def identity(self) -> str:
        """What it is, for fingerprints."""
        return f"{identity_of(self.source)}*{self.scale:g}"


def read_loras(given: Any) -> tuple[Lora, ...]:
    """What was given as `lora`.

    Raises:
        ConfigError: It is none, is not there, or its scale is no number.

    Example:
        >>> read_loras("owner/ink:0.8, owner/paper/v2.safetensors")
        (Lora(source='owner/ink', scale=0.8), Lora(source='owner/paper/v2.safetensors', scale=1.0))
        >>> read_loras({"owner/ink": 0.5})
        (Lora(source='owner/ink', scale=0.5),)
    """
    if given is None:
        return ()
    if isinstance(given, Mapping):
        pairs = [(str(name), scale) for name, scale in given.items()]
    elif isinstance(given, str):
        pairs = [_split(part) for part in given.split(",")]
    elif isinstance(given, Sequence) and not isinstance(given, bytes | bytearray):
        pairs = [_split(str(one)) for one in given]
    elif hasattr(given, "__fspath__"):
        pairs = [_split(str(given))]
    else:
        raise ConfigError(
            f"A {type(given).__name__} is no LoRA.", remedy="Give a file, a folder, a hub id, or {name: scale}."
        )
    return tuple(Lora(_checked(name.strip()), _scale(name, scale)) for name, scale in pairs)


def _split(text: str) -> tuple[str, float]:
    """A name, and the number after its last colon; other colons belong to the name."""
    name, colon, number = text.strip().rpartition(":")
    try:
        return (name, float(number)) if colon and name else (text, 1.0)
    except ValueError:
        return text, 1.0


def _scale(name: str, scale: Any) -> float:
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not math.isfinite(scale):
        raise ConfigError(f"The scale {scale!r} of the LoRA {name} is no number.", remedy="Give one, such as 0.8.")
    return float(scale)


def _checked(source: str) -> str:
    if not source or not is_local(source):
        if not _HUB.fullmatch(source):
            raise ConfigError(
                f"The LoRA {source!r} is neither a file nor on the hub.",
                remedy=f"Give a path, OWNER/MODEL, or OWNER/MODEL/FILE{SUFFIX}.",
            )
        return source
    path = Path(source).expanduser()
    if path.is_dir():
        found = [path / _USUAL] if (path / _USUAL).is_file() else sorted(path.glob(f"*{SUFFIX}"))
        if len(found) != 1:
            raise ConfigError(
                f"The folder {source} holds {len(found) or 'no'} files that could be the LoRA.",
                remedy=f"Give the path of the {SUFFIX} file itself.",
            )
        path = found[0]
    if not path.is_file():
        raise ConfigError(f"There is no LoRA {source}.", remedy="Check the path, or give a hub id (OWNER/MODEL).")
    if path.suffix != SUFFIX:
        raise ConfigError(
            f"The LoRA {source} is not a {SUFFIX} file.",
            remedy="Other weights can run code when they are loaded: convert them.",
        )
    if not read_weights(path).lora:
        raise ConfigError(f"{source} is no LoRA.", remedy="A whole model is given as the model itself.")
    return str(path.absolute())


def apply(pipe: Any, loras: Sequence[Lora], what: str) -> None:
    """Load LoRAs into a pipeline that is not placed yet. Weights that are not there are downloaded.

    Raises:
        ConfigError: The pipeline takes none, or one does not fit it or cannot be had.
    """
    if not loras:
        return
    if not hasattr(pipe, "load_lora_weights"):
        raise ConfigError(f"{what} is a {type(pipe).__name__}, which takes no LoRA.", remedy="Leave lora out.")
    if not has("peft"):
        raise ConfigError("LoRAs need peft, which is not installed.", remedy=PIP)
    names = [f"lora_{index}" for index in range(len(loras))]
    for name, lora in zip(names, loras, strict=True):
        place, file = _place(lora.source)
        options = {"weight_name": file} if file else {}
        try:
            pipe.load_lora_weights(
                place, adapter_name=name, use_safetensors=True, local_files_only=is_local(lora.source), **options
            )
        except Exception as error:
            if is_out_of_memory(error):
                raise
            brief = " ".join(str(error).split())[:300]
            raise ConfigError(
                f"The LoRA {lora.source} cannot be loaded into {what}: {type(error).__name__}: {brief}",
                remedy="Check that it was made for this model; one on the hub may need its file: OWNER/MODEL/FILE.",
            ) from error
        # One that fits nowhere is passed over with a word in the log.
        if not any(name in held for held in pipe.get_list_adapters().values()):
            raise ConfigError(
                f"The LoRA {lora.source} changes nothing in {what}: none of its weights belong to it.",
                remedy="Use one that was made for this model.",
            )
    pipe.set_adapters(names, [lora.scale for lora in loras])


def _place(source: str) -> tuple[str, str | None]:
    if is_local(source):
        path = Path(source)
        return str(path.parent), path.name
    parts = source.split("/")
    return "/".join(parts[:2]), "/".join(parts[2:]) or None
