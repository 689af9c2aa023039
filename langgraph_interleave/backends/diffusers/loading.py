"""From a hub id or folder to a pipeline that draws; what goes wrong on the way, in words that help."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from langgraph_interleave.backends.diffusers import quantization
from langgraph_interleave.backends.diffusers.hardware import Hardware, Offload, choose
from langgraph_interleave.backends.diffusers.lora import Lora, apply
from langgraph_interleave.backends.diffusers.single_file import pipeline_from
from langgraph_interleave.backends.diffusers.source import is_file, is_local
from langgraph_interleave.errors import ConfigError, InterleaveError, Unavailable
from langgraph_interleave.models.libraries import PIP, library, version
from langgraph_interleave.models.transformers.placement import free_memory, is_out_of_memory


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides what is loaded. Equal recipes share one pipeline."""

    source: str
    offload: Offload = "none"
    dtype: str | None = None
    device: str | None = None
    quantization: str | None = None
    revision: str | None = None
    variant: str | None = None
    config: str | None = None
    loras: tuple[Lora, ...] = ()


def load(recipe: Recipe) -> Any:
    """Load a pipeline and put it where it runs. Takes seconds to minutes, and downloads what is not there.

    Raises:
        ConfigError: It is not there, cannot be reached, or cannot run on this machine.
        Unavailable: There is not enough memory.
    """
    hardware = choose(recipe.device, recipe.dtype, recipe.offload)
    diffusers = library("diffusers")
    options: dict[str, Any] = {"dtype" if version(diffusers) >= (0, 42) else "torch_dtype": hardware.dtype}
    if is_local(recipe.config or recipe.source) and (recipe.config or not is_file(recipe.source)):
        options["local_files_only"] = True
    options |= {name: value for name in ("revision", "variant") if (value := getattr(recipe, name))}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if is_file(recipe.source):
                pipe = pipeline_from(recipe.source, recipe.config, recipe.revision, options)
            else:
                options |= quantization.arguments(recipe.quantization, recipe.source, hardware.dtype, recipe.revision)
                pipe = diffusers.DiffusionPipeline.from_pretrained(recipe.source, **options)
            apply(pipe, recipe.loras, recipe.source)
            quantization.cast(pipe, recipe.quantization, hardware.dtype)
            place(pipe, hardware, recipe)
    except InterleaveError:
        raise
    except Exception as error:
        raise _failed(error, recipe) from error
    return pipe


def place(pipe: Any, hardware: Hardware, recipe: Recipe) -> None:
    """Put a pipeline where it runs: once, and in one way."""
    pipe.set_progress_bar_config(disable=True)
    device = hardware.device
    if recipe.offload == "model":
        pipe.enable_model_cpu_offload(device=device)
    elif recipe.offload == "sequential":
        pipe.enable_sequential_cpu_offload(device=device)
    elif recipe.offload == "group":
        torch = library("torch")
        pipe.enable_group_offload(
            onload_device=torch.device(device), offload_type="leaf_level", use_stream=device.startswith("cuda")
        )
    elif device != "cpu" and getattr(pipe, "hf_device_map", None) is None:
        pipe.to(device)


def _failed(error: Exception, recipe: Recipe) -> InterleaveError:
    # What is fetched for a file is what it lacks.
    source = recipe.config or recipe.source
    if is_out_of_memory(error):
        error.__traceback__ = None
        free_memory()
        return Unavailable(
            f"There is not enough memory to load {source}.",
            remedy="Use offload=model or sequential, quantization=fp8 or bnb-4bit, or a smaller model.",
            code="out_of_memory",
        )
    causes = list(_causes(error))
    names = {type(cause).__name__ for cause in causes}
    said = " ".join(str(cause) for cause in causes)
    if "GatedRepoError" in names or "gated repo" in said:
        return ConfigError(
            f"{source} is given only to those who accepted its licence.",
            remedy=f"Accept it at https://huggingface.co/{source} and log in: hf auth login.",
        )
    if names & {"RepositoryNotFoundError", "RevisionNotFoundError", "HFValidationError"}:
        return ConfigError(
            f"The hub has no model {source}" + (f" with revision {recipe.revision}." if recipe.revision else "."),
            remedy="Check its name; for a private one log in: hf auth login.",
        )
    unreached = names & _UNREACHED or "offline" in said.lower() or "couldn't connect" in said.lower()
    if unreached and is_file(source):
        return ConfigError(
            f"What goes with {source} (configurations, tokenizers) is not on this machine, and the hub cannot be "
            "reached.",
            remedy="Connect once, or say where it is: config=OWNER/MODEL, or the folder of its pipeline.",
        )
    if unreached and not is_local(source):
        return ConfigError(
            f"{source} is not on this machine, and the hub cannot be reached.",
            remedy=f"Connect once and run: hf download {source}; or give the path of a folder.",
        )
    brief = " ".join(str(error).split())[:300]
    if isinstance(error, ImportError):
        return ConfigError(f"{source} needs a library that is not installed: {brief}", remedy=PIP)
    if is_file(recipe.source):
        return ConfigError(
            f"{recipe.source} cannot be loaded: {type(error).__name__}: {brief}",
            remedy="Check that it was made for the pipeline given as config=; give that, if it was not given.",
        )
    return ConfigError(
        f"{source} cannot be loaded: {type(error).__name__}: {brief}",
        remedy="Check that it is a whole diffusers pipeline of a version this diffusers knows.",
    )


_UNREACHED = frozenset({
    "LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectError", "ConnectionError", "ConnectTimeout",
    "ReadTimeout", "ProxyError", "SSLError", "gaierror",
})  # fmt: skip


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__
