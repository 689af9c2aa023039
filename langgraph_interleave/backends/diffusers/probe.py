"""What a pipeline can do, told from the object itself: its class, its signature, its parts."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from langgraph_interleave.backends.diffusers.families import FAMILIES, Family, variant
from langgraph_interleave.errors import ConfigError

#: `height % 8`, `width % (self.vae_scale_factor * self.patch_size)`: what a pipeline's own check divides sides by.
_DIVISOR = re.compile(r"\b(?:height|width) % \(?((?:self\.[\w.]+|\d+)(?: \* (?:self\.[\w.]+|\d+))*)")
#: What the checks of Stable Diffusion have, where their source cannot be read.
_UNET_DIVISOR = 8
_LARGEST_FACTOR = 256


def family_of(pipe: Any, name: str) -> Family:
    """How a pipeline is to be called.

    Classes of the table are taken from it. Any other is told from what its call takes: a `mask_image`
    means that it paints within a mask, a `strength` that it restyles a picture, a picture without
    either that it edits as told.

    Args:
        pipe: The pipeline.
        name: Where it comes from.

    Raises:
        ConfigError: It is no pipeline that draws from words, or needs what nobody can give it.
    """
    kind = type(pipe).__name__
    parameters = taken(pipe)
    family = FAMILIES.get(kind) or _probed(kind, parameters)
    config = getattr(pipe, "config", {})
    guided = getattr(getattr(getattr(pipe, "transformer", None), "config", None), "guidance_embeds", None)
    family = variant(family, kind, name, distilled=config.get("is_distilled"), guided=guided)
    return replace(
        family,
        multiple=_multiple(pipe, family),
        side=_side(pipe, family),
        stops=family.stops and "callback_on_step_end" in parameters,
        sized="height" in parameters and "width" in parameters,
        guidance=family.guidance if family.guided_by in parameters else None,
        # Some models take their words both as embeddings and as text; only the former are reused.
        embeds=family.embeds if all(part in parameters for part in family.embeds) else (),
    )


def taken(pipe: Any) -> dict[str, inspect.Parameter]:
    """What a pipeline's call takes, by name."""
    parameters = inspect.signature(type(pipe).__call__).parameters
    return {name: parameter for name, parameter in parameters.items() if name != "self"}


def _probed(kind: str, parameters: dict[str, inspect.Parameter]) -> Family:
    if "prompt" not in parameters or "ControlNet" in kind or "T2IAdapter" in kind:
        why = "draws from a control picture" if "prompt" in parameters else "does not draw from words"
        raise ConfigError(
            f"A {kind} {why}, which no plan can give it.",
            remedy="Use a pipeline that draws from words, or wrap it in a function of your own (backend callable).",
        )
    guided_by = "true_cfg_scale" if _default(parameters, "true_cfg_scale", 1.0) > 1.0 else "guidance_scale"
    takes_picture = "image" in parameters
    restyles = takes_picture and "strength" in parameters
    masked = "mask_image" in parameters
    needs_picture = takes_picture and (restyles or masked or parameters["image"].default is inspect.Parameter.empty)
    return Family(
        generates=not needs_picture,
        edit="img2img" if restyles and not masked else "instruct" if takes_picture else "none",
        max_references=1 if takes_picture else 0,
        masked=masked,
        steps=int(_default(parameters, "num_inference_steps", 50)),
        guidance=float(_default(parameters, guided_by, 1.0)) if guided_by in parameters else None,
        guided_by=guided_by,
        negative=(
            "none" if "negative_prompt" not in parameters else "needed" if guided_by == "true_cfg_scale" else "words"
        ),
        # Whether it draws several prompts in one call, each as alone, cannot be told from outside.
        batch="none",
        max_tokens=None,
        known=False,
    )


def _default(parameters: dict[str, inspect.Parameter], name: str, otherwise: float) -> float:
    value = parameters[name].default if name in parameters else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _multiple(pipe: Any, family: Family) -> int:
    """What sides are multiples of: of what the autoencoder makes of them, and of what the pipeline's check demands."""
    scale = getattr(pipe, "vae_scale_factor", None)
    if not isinstance(scale, int) or scale < 1:
        return math.lcm(family.multiple, *_demanded(pipe))
    if getattr(pipe, "unet", None) is None:
        return math.lcm(scale * 2, *_demanded(pipe))
    # Stable Diffusion demands 8 whatever its autoencoder divides by.
    return math.lcm(scale, *(_demanded(pipe) or {_UNET_DIVISOR}))


def _demanded(pipe: Any) -> set[int]:
    """What the pipeline's own check divides sides by, as far as its source tells."""
    try:
        source = inspect.getsource(type(pipe).check_inputs)
    except (AttributeError, OSError, TypeError):
        return set()
    found = (math.prod(_values(pipe, match[1])) for match in _DIVISOR.finditer(source))
    return {divisor for divisor in found if divisor > 1}


def _values(pipe: Any, product: str) -> Iterator[int]:
    """The factors of a product of numbers and attributes; 0 for one that cannot be told."""
    for factor in product.split(" * "):
        value: Any = pipe
        for name in factor.removeprefix("self.").split("."):
            value = int(name) if name.isdecimal() else getattr(value, name, None)
        yield value if isinstance(value, int) and 1 <= value <= _LARGEST_FACTOR else 0


def _side(pipe: Any, family: Family) -> int:
    """The side a model was trained for; a table's own goes before what a transformer's pipeline says."""
    unet = getattr(pipe, "unet", None)
    sample = getattr(unet.config, "sample_size", None) if unet is not None else None
    if sample is None and not family.known:
        sample = getattr(pipe, "default_sample_size", None)
    scale = getattr(pipe, "vae_scale_factor", None)
    return sample * scale if isinstance(sample, int) and isinstance(scale, int) else family.side
