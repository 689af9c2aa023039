"""One file of weights (`.safetensors`): what its header tells of it, before anything is loaded."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_interleave.errors import ConfigError

SUFFIX = ".safetensors"
#: As the format has it.
_LONGEST_HEADER = 100_000_000
_PREFIX = "model.diffusion_model."
_UNET = f"{_PREFIX}input_blocks.0.0.weight"
_XL = (
    "conditioner.embedders.1.model.transformer.resblocks.9.mlp.c_proj.bias",
    "conditioner.embedders.1.model.text_projection",
)
_XL_REFINER = "conditioner.embedders.0.model.transformer.resblocks.9.mlp.c_proj.bias"
#: A weight that only this kind of transformer has, and the pipeline it belongs to; the first that fits.
_TRANSFORMERS = (
    ("single_stream_modulation.lin.weight", "Flux2Pipeline"),
    ("distilled_guidance_layer.in_proj.bias", "ChromaPipeline"),
    ("double_blocks.0.img_attn.norm.key_norm.scale", "FluxPipeline"),
    ("joint_blocks.0.context_block.adaLN_modulation.1.bias", "StableDiffusion3Pipeline"),
    ("layers.0.adaLN_modulation.0.weight", "ZImagePipeline"),
    ("transformer_blocks.0.img_mod.1.weight", "QwenImagePipeline"),
)
_ENCODERS = ("cond_stage_model.", "conditioner.", "text_encoders.")
_DECODERS = ("first_stage_model.", "vae.")


@dataclass(frozen=True, slots=True)
class Weights:
    """What a file of weights is.

    Attributes:
        kind: The class of pipeline that its weights belong to, as far as they tell.
        whole: Text encoders and autoencoder are in it, besides what draws.
        lora: It is a LoRA: small changes to the weights of another model.
    """

    kind: str | None = None
    whole: bool = False
    lora: bool = False


def read_weights(path: Path) -> Weights:
    """Read a file's header.

    Raises:
        ConfigError: It is no safetensors file, or the end of it is missing.
    """
    shapes = _shapes(path)
    lora = any(".lora_" in name or ".lora." in name or name.startswith("lora_") for name in shapes)
    whole = all(any(name.startswith(starts) for name in shapes) for starts in (_ENCODERS, _DECODERS))
    return Weights(None if lora else _kind(shapes), whole, lora)


def _kind(shapes: Mapping[str, tuple[int, ...]]) -> str | None:
    first = shapes.get(_UNET, ())
    if len(first) > 1:
        # What is drawn on comes in beside the noise.
        way = {8: "InstructPix2Pix", 9: "Inpaint"}.get(first[1], "")
        if any(name in shapes for name in _XL):
            return f"StableDiffusionXL{way}Pipeline"
        return "StableDiffusionXLImg2ImgPipeline" if _XL_REFINER in shapes else f"StableDiffusion{way}Pipeline"
    return next((kind for name, kind in _TRANSFORMERS if name in shapes or _PREFIX + name in shapes), None)


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    size = path.stat().st_size
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header: Any = json.loads(file.read(length)) if length <= min(size, _LONGEST_HEADER) else None
        header.pop("__metadata__", None)
        shapes = {str(name): tuple(map(int, told["shape"])) for name, told in header.items()}
        end = 8 + length + max((int(told["data_offsets"][1]) for told in header.values()), default=0)
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ConfigError(
            f"{path} is no safetensors file, whatever its name says.", remedy="Download it again, or check what it is."
        ) from error
    if size < end:
        raise ConfigError(
            f"{path} is not whole: {size} of {end} bytes are there.", remedy="Download it again; it broke off."
        )
    return shapes
