"""A pipeline, or the part of one that draws, from one file of weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langgraph_interleave.backends.diffusers.source import is_local, kind_of
from langgraph_interleave.backends.diffusers.weights import read_weights
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.models.libraries import library


def pipeline_from(file: str, config: str | None, revision: str | None, options: dict[str, Any]) -> Any:
    """Load a pipeline whose weights are in one file.

    Args:
        file: Its path.
        config: Hub id or folder of the pipeline it belongs to: what the file does not hold comes from
            there. Without it, from where diffusers knows such a file to belong.
        revision: Of the hub's repository.
        options: As for `from_pretrained`.

    Raises:
        ConfigError: diffusers reads no such file.
    """
    diffusers = library("diffusers")
    if config is None:
        return _whole(file, kind_of(file) or "", options)
    index = diffusers.DiffusionPipeline.load_config(config, revision=revision)
    if read_weights(Path(file)).whole:
        return _whole(file, str(index.get("_class_name")), {**options, "config": config})
    part = "unet" if "unet" in index else "transformer"
    dtype = options.get("dtype", options.get("torch_dtype"))
    drawing = part_from(file, part, config, dtype, revision)
    return diffusers.DiffusionPipeline.from_pretrained(config, **{part: drawing}, **options)


def _whole(file: str, kind: str, options: dict[str, Any]) -> Any:
    pipeline = getattr(library("diffusers"), kind, None)
    if pipeline is None or not hasattr(pipeline, "from_single_file"):
        raise ConfigError(
            f"diffusers reads no {kind or 'pipeline of this kind'} from one file that holds all of it: {file}.",
            remedy="Give its hub id or folder; or a file with the transformer alone, and the pipeline as config=.",
        )
    return pipeline.from_single_file(file, **{name: value for name, value in options.items() if name != "variant"})


def part_from(file: str, part: str, source: str, dtype: Any, revision: str | None, **options: Any) -> Any:
    """Load the part of a pipeline that draws from a file, of the class that the pipeline's own has.

    Args:
        file: Its path.
        part: `transformer` or `unet`.
        source: Hub id or folder of the pipeline.
        dtype: The format computed in.
        revision: Of the hub's repository.
        options: What else `from_single_file` is told.

    Raises:
        ConfigError: The pipeline has no such part, or diffusers reads none from one file.
    """
    diffusers = library("diffusers")
    held = diffusers.DiffusionPipeline.load_config(source, revision=revision).get(part, (None, None))
    model = getattr(diffusers, held[1], None) if held[1] else None
    if model is None or not hasattr(model, "from_single_file"):
        raise ConfigError(
            f"{source} has no {part} that {Path(file).name} could stand for.",
            remedy="Give the pipeline that the file was made for.",
        )
    if is_local(source):
        options["local_files_only"] = True
    elif revision:
        options["revision"] = revision
    return model.from_single_file(file, config=source, subfolder=part, torch_dtype=dtype, **options)
