"""Options of a drawing: as people name them, as a pipeline's call takes them, and what may not be set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from langgraph_interleave.backends.diffusers.families import Family
from langgraph_interleave.errors import ConfigError, InvalidRequest

#: What the backend itself decides.
OURS = frozenset({
    "callback", "callback_on_step_end", "callback_on_step_end_tensor_inputs", "callback_steps", "generator", "height",
    "image", "latents", "mask_image", "negative_prompt", "num_images_per_prompt", "output_type", "prompt",
    "return_dict", "width",
})  # fmt: skip
_MOST_STEPS = 1000
#: How many of a family's steps each quality takes.
_CARE = {"draft": 0.5, "standard": 1.0, "high": 1.5}


def arguments(
    family: Family, takes: Mapping[str, Any], defaults: Mapping[str, Any], extra: Mapping[str, Any], quality: str | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a pipeline's call is told besides words, pictures, size and seeds.

    Args:
        family: How it is called.
        takes: What its call takes.
        defaults: The operator's options of the backend; `steps`, `guidance`, or the call's own names.
        extra: Those of the request; they go first.
        quality: How much care is taken; a distilled model takes its own steps whatever is asked.

    Returns:
        Arguments, and what was not done as asked.

    Raises:
        ConfigError: One of the operator's options is unknown, is not to be set, or is out of range.
        InvalidRequest: One of the request's is.

    Example:
        >>> arguments(Family(steps=28), {"num_inference_steps": 0}, {}, {}, "draft")
        ({'num_inference_steps': 14}, ())
    """
    told: dict[str, Any] = {}
    said: tuple[str, ...] = ()
    steps = family.steps
    if quality is not None and family.fast:
        said = (f"This model draws in {steps} steps; quality {quality} changes nothing.",)
    elif quality is not None:
        steps = max(1, math.ceil(steps * _CARE[quality]))
    told["num_inference_steps"] = steps
    if family.guidance is not None:
        told[family.guided_by] = family.guidance
    if "max_sequence_length" in takes and family.max_tokens is not None:
        told["max_sequence_length"] = family.max_tokens
    names = {"steps": "num_inference_steps", "guidance": family.guided_by}
    for options, refused in ((defaults, ConfigError), (extra, InvalidRequest)):
        for name, value in _named(options, names).items():
            if name in OURS:
                raise refused(f"The option {name!r} cannot be set.", remedy="The backend sets it itself.")
            if name not in takes:
                known = sorted({"guidance", "size", "steps", *takes} - OURS)
                raise refused(f"This pipeline has no option {name!r}.", remedy=f"Options: {', '.join(known)}.")
            if name == "num_inference_steps" and not (isinstance(value, int) and 1 <= value <= _MOST_STEPS):
                raise refused(f"{value!r} steps cannot be drawn.", remedy=f"Give 1 to {_MOST_STEPS}.")
            told[name] = value
    return {name: value for name, value in told.items() if name in takes}, said


def check_defaults(defaults: Mapping[str, Any]) -> None:
    """Refuse what no pipeline takes, before one is there.

    Raises:
        ConfigError: The size is not one number, or the number of steps cannot be.

    Example:
        >>> check_defaults({"size": 512, "steps": 4})
    """
    side, steps = defaults.get("size"), defaults.get("steps")
    if side is not None and (not isinstance(side, int) or isinstance(side, bool) or side < 1):
        raise ConfigError(f"The default size {side!r} is no number of pixels.", remedy="Give one side, as in size=512.")
    if steps is not None and not (isinstance(steps, int) and 1 <= steps <= _MOST_STEPS):
        raise ConfigError(f"{steps!r} steps cannot be drawn.", remedy=f"Give 1 to {_MOST_STEPS}.")


def _named(options: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in options.items() if name != "size"}


def negative_of(family: Family, asked: str | None, what: str) -> tuple[str | None, tuple[str, ...]]:
    """Words for what must not be there, as a family takes them, and what was not done as asked."""
    if family.negative == "none":
        said = f"{what} takes no negative prompt; it was left out."
        return None, (said,) if asked else ()
    # Without any, Qwen-Image draws with its guidance switched off.
    return asked or (" " if family.negative == "needed" else None), ()
