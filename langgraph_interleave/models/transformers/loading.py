"""Weights from a folder or the hub into memory, with the right class, or an error that says what to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.models.libraries import has, library
from langgraph_interleave.models.transformers.placement import SPREAD, Quantization, free_memory, is_out_of_memory
from langgraph_interleave.models.transformers.prompting import Prompting


@dataclass(frozen=True, slots=True)
class Weights:
    """A model that is ready.

    Attributes:
        model: The module.
        tokenizer: Its tokenizer.
        prompting: Makes its prompts.
        sees: It takes pictures.
    """

    model: Any
    tokenizer: Any
    prompting: Prompting
    sees: bool


def configuration(path: str, revision: str | None) -> Any:
    """The model's configuration.

    Raises:
        ConfigError: There is none, or of a kind that is not known.
    """
    transformers = library("transformers")
    try:
        return transformers.AutoConfig.from_pretrained(path, revision=revision)
    except Exception as error:
        raise _refused(path, error) from error


def load(
    path: str, revision: str | None, config: Any, device: str, dtype: str, quantization: Quantization | None
) -> Weights:
    """Load a model; takes seconds to minutes.

    Raises:
        ConfigError: It cannot be loaded: what to do is in it.
    """
    transformers, torch = library("transformers"), library("torch")
    sees = _sees(transformers, path, config)
    options: dict[str, Any] = {"revision": revision, "dtype": getattr(torch, dtype), "config": config}
    if quantization is not None:
        options["quantization_config"] = transformers.BitsAndBytesConfig(
            load_in_4bit=quantization == "4bit", load_in_8bit=quantization == "8bit",
            bnb_4bit_compute_dtype=getattr(torch, dtype), bnb_4bit_quant_type="nf4",
        )  # fmt: skip
    if device == SPREAD:
        options["device_map"] = "auto"
    elif device != "cpu" and has("accelerate"):
        # Straight to the device, without a second copy in the machine's memory.
        options["device_map"] = {"": device}
    kind = transformers.AutoModelForImageTextToText if sees else transformers.AutoModelForCausalLM
    try:
        model, told = kind.from_pretrained(path, output_loading_info=True, **options)
        if "device_map" not in options and device != "cpu":
            model = model.to(device)
        processor = _processor(transformers, path, revision) if sees else None
        tokenizer = (
            transformers.AutoTokenizer.from_pretrained(path, revision=revision)
            if processor is None
            else processor.tokenizer
        )
    except Exception as error:
        raise _refused(path, error, device) from error
    if missing := sorted(told.get("missing_keys") or ()):
        # It would be filled with random numbers, and talk nonsense.
        raise ConfigError(
            f"The weights of {path} are incomplete: {len(missing)} are missing, {missing[0]} among them.",
            remedy="Download the model again, or check that its config.json belongs to it.",
        )
    model.eval()
    image_token = getattr(config, "image_token_id", None) or getattr(config, "image_token_index", None)
    return Weights(model, tokenizer, Prompting(path, tokenizer, processor, image_token), sees)


def _processor(transformers: Any, path: str, revision: str | None) -> Any:
    """What makes pictures into tensors."""
    lacking = ConfigError(
        f"{path} sees, but nothing says how it takes pictures: there is no preprocessor_config.json.",
        remedy="Download the model again, with all its files.",
    )
    try:
        processor = transformers.AutoProcessor.from_pretrained(path, revision=revision)
    except Exception as error:
        said = str(error).lower()
        if "preprocessor_config.json" in said:
            raise lacking from error
        if has("torchvision") or "torchvision" not in said:
            raise
        # Those of Qwen's family, for one: they read videos as well.
        raise ConfigError(
            f"The processor of {path} cannot be made without torchvision, which is not installed.",
            remedy="Run: pip install torchvision (the version that goes with torch).",
        ) from error
    if not hasattr(processor, "image_processor"):
        raise lacking
    return processor


def _sees(transformers: Any, path: str, config: Any) -> bool:
    kind = type(config)
    talks = kind in transformers.MODEL_FOR_CAUSAL_LM_MAPPING
    # Some families have one configuration for both kinds.
    has_eyes = not talks or getattr(config, "vision_config", None) is not None
    if kind in transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING and has_eyes:
        return True
    if talks:
        return False
    raise ConfigError(
        f"{path} is a {config.model_type} model, which neither talks nor sees and talks.",
        remedy="Use a model for text generation, or for image-text-to-text.",
    )


def _refused(path: str, error: Exception, device: str = "") -> ConfigError:
    """Why a model cannot be loaded; whatever the libraries raise, the reader is told which model it was."""
    if isinstance(error, ConfigError):
        return error
    if is_out_of_memory(error):
        free_memory()
        return ConfigError(
            f"{path} does not fit into the memory of {device or 'this machine'}.",
            remedy="Use quantization=4bit, device=spread, or a smaller model.",
        )
    said = " ".join(str(error).split())
    names = {kind.__name__ for kind in type(error).__mro__}
    causes = {kind.__name__ for kind in type(error.__cause__).__mro__} if error.__cause__ else set[str]()
    low = said.lower()
    if "GatedRepoError" in names | causes or "gated repo" in low:
        remedy = "Accept its terms on huggingface.co, and set HF_TOKEN."
    elif "trust_remote_code" in low:
        return ConfigError(
            f"{path} brings code of its own, which is not run here.", remedy="Use a model that transformers knows."
        )
    elif "RepositoryNotFoundError" in names | causes or "not a valid model identifier" in low:
        remedy = "Check the name, or download the model and name its folder."
    elif not Path(path).is_dir() and (
        {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectionError"} & (names | causes)
        or ("couldn't connect" in low or "offline" in low or "cached files" in low)
    ):
        return ConfigError(
            f"{path} is not on this machine, and the hub cannot be reached.",
            remedy=f"Connect once and run: hf download {path}; or give the path of a folder.",
        )
    elif "does not recognize this architecture" in low or "model type" in low:
        remedy = "Run: pip install --upgrade transformers"
    elif isinstance(error, ImportError):
        remedy = "Install what it names."
    else:
        remedy = "Download it again, or check that the folder is complete."
    return ConfigError(f"{path} cannot be loaded: {said[:300]}", remedy=remedy)
