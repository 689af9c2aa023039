"""Smaller weights by name: what diffusers loads, and what has to be installed for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langgraph_interleave.backends.diffusers.single_file import part_from
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.models.libraries import has, library

#: Name to (what diffusers calls it, what must be installed).
_NAMES = {
    "bnb-4bit": ("bitsandbytes_4bit", "bitsandbytes"),
    "bnb-8bit": ("bitsandbytes_8bit", "bitsandbytes"),
    "quanto-int8": ("quanto", "optimum-quanto"),
    "quanto-int4": ("quanto", "optimum-quanto"),
    "torchao-int8": ("torchao", "torchao"),
    "torchao-int4": ("torchao", "torchao"),
}
_MODULES = {"bitsandbytes": "bitsandbytes", "optimum-quanto": "optimum.quanto", "torchao": "torchao", "gguf": "gguf"}
FP8 = "fp8"
NAMES = (FP8, *_NAMES, "gguf:FILE")


def checked(name: str | None) -> str | None:
    """The name, if it is one.

    Raises:
        ConfigError: There is no such quantisation.

    Example:
        >>> checked("fp8"), checked("gguf:weights.gguf")
        ('fp8', 'gguf:weights.gguf')
    """
    if name is None or name in _NAMES or name == FP8:
        return name
    if name.startswith("gguf:") and name.lower().endswith(".gguf"):
        return name
    raise ConfigError(f"quantization={name!r} is unknown.", remedy=f"Use one of {', '.join(NAMES)}.")


def arguments(name: str | None, source: str, dtype: Any, revision: str | None) -> dict[str, Any]:
    """What `from_pretrained` is told for a quantisation.

    Args:
        name: The quantisation; `None` and `fp8` need nothing at that point.
        source: Hub id or folder of the pipeline.
        dtype: The format computed in.
        revision: Of the hub's repository.

    Raises:
        ConfigError: What it needs is not installed, or the file is not there.
    """
    if name is None or name == FP8:
        return {}
    if name.startswith("gguf:"):
        _need("gguf")
        return {"transformer": _from_gguf(name.removeprefix("gguf:"), source, dtype, revision)}
    backend, package = _NAMES[name]
    _need(package)
    return {"quantization_config": _pipeline_config(name, backend, dtype)}


def cast(pipe: Any, name: str | None, dtype: Any) -> None:
    """Store the weights of the denoiser in 8 bits, where `fp8` was asked for; they are computed in `dtype`."""
    if name != FP8:
        return
    torch = library("torch")
    denoiser = getattr(pipe, "transformer", None) or getattr(pipe, "unet", None)
    if denoiser is None or not hasattr(denoiser, "enable_layerwise_casting"):
        raise ConfigError(f"A {type(pipe).__name__} has no weights to store in 8 bits.", remedy="Leave fp8 out.")
    denoiser.enable_layerwise_casting(storage_dtype=torch.float8_e4m3fn, compute_dtype=dtype)


def _pipeline_config(name: str, backend: str, dtype: Any) -> Any:
    """The large parts are quantised, whichever of them a pipeline has."""
    diffusers = library("diffusers")
    if backend == "torchao":
        # Its configurations differ between the two libraries, so each part is given its own.
        torchao = library("torchao").quantization
        made = torchao.Int8WeightOnlyConfig() if name.endswith("int8") else torchao.Int4WeightOnlyConfig()
        mapping = {part: diffusers.TorchAoConfig(made) for part in ("transformer", "unet")}
        mapping |= {part: library("transformers").TorchAoConfig(made) for part in _ENCODERS}
        return diffusers.PipelineQuantizationConfig(quant_mapping=mapping)
    if backend == "quanto":
        weights = name.removeprefix("quanto-")
        mapping = {part: diffusers.QuantoConfig(weights_dtype=weights) for part in ("transformer", "unet")}
        mapping |= {part: library("transformers").QuantoConfig(weights=weights) for part in _ENCODERS}
        return diffusers.PipelineQuantizationConfig(quant_mapping=mapping)
    told: dict[str, Any] = {"load_in_8bit": True}
    if name == "bnb-4bit":
        told = {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": dtype}
    return diffusers.PipelineQuantizationConfig(
        quant_backend=backend, quant_kwargs=told, components_to_quantize=["transformer", "unet", *_ENCODERS]
    )


#: CLIP encoders are small; the large language models beside them are not.
_ENCODERS = ("text_encoder", "text_encoder_2", "text_encoder_3")


def _from_gguf(file: str, source: str, dtype: Any, revision: str | None) -> Any:
    """The denoiser of a GGUF checkpoint, of the class that the pipeline's own has."""
    quantized = library("diffusers").GGUFQuantizationConfig(compute_dtype=dtype)
    return part_from(str(_gguf_path(file)), "transformer", source, dtype, revision, quantization_config=quantized)


def _gguf_path(file: str) -> Path:
    path = Path(file).expanduser()
    if path.is_file():
        return path
    parts = file.split("/")
    if len(parts) < 3 or path.is_absolute() or parts[0] in (".", "..", "~"):
        raise ConfigError(f"There is no file {file}.", remedy="Give a path, or OWNER/REPOSITORY/FILE.gguf on the hub.")
    return Path(library("huggingface_hub").hf_hub_download("/".join(parts[:2]), "/".join(parts[2:])))


def _need(package: str) -> None:
    if not has(_MODULES[package]):
        raise ConfigError(
            f"This quantisation needs {package}, which is not installed.", remedy=f"Run: pip install {package}"
        )
