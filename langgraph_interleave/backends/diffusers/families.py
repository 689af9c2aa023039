"""What is right for each kind of pipeline: steps, guidance, sizes, references. Nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Edit = Literal["none", "instruct", "img2img"]
Batch = Literal["none", "prompts", "shared_references"]
Layout = Literal["none", "unet", "flux", "flux2"]


@dataclass(frozen=True, slots=True)
class Family:
    """How pipelines of one class are called.

    Attributes:
        generates: It draws from words alone.
        edit: What it does to a picture.
        max_references: Pictures it conditions on.
        many: Its `image` takes a list of references; otherwise a list would mean a batch.
        masked: It takes a mask.
        steps: Denoising steps.
        fast: Distilled for its number of steps; others draw no better.
        guidance: How strongly it follows the words; `None` where it has no such number.
        guided_by: The name of that number.
        negative: Words for what must not be there: `none`, `words`, or `needed` where guidance is
            off without them.
        multiple: Sides are multiples of this, in pixels.
        side: Pixels of a side nobody gave a size for.
        min_side: Shortest side, in pixels.
        max_pixels: Largest area, in pixels.
        max_aspect: Longest side over shortest at most.
        sized: It takes a height and width; otherwise the picture is as large as its reference.
        batch: What may be drawn in one call.
        max_tokens: Longest prompt it reads.
        tokenizer: Which of its tokenizers counts.
        embeds: What its `encode_prompt` returns first, by the names its call takes them by; empty
            where words are encoded in every call.
        layout: How its latents are to be read for a preview.
        stops: It calls back after every step.
        known: It stands in the table; otherwise it was probed.
        fixed: Further arguments of every call.
    """

    generates: bool = True
    edit: Edit = "none"
    max_references: int = 0
    many: bool = False
    masked: bool = False
    steps: int = 50
    fast: bool = False
    guidance: float | None = None
    guided_by: str = "guidance_scale"
    negative: Literal["none", "words", "needed"] = "none"
    multiple: int = 16
    side: int = 1024
    min_side: int = 64
    max_pixels: int = 2048 * 2048
    max_aspect: float = 8.0
    sized: bool = True
    batch: Batch = "prompts"
    max_tokens: int | None = None
    tokenizer: str = "tokenizer"
    embeds: tuple[str, ...] = ()
    layout: Layout = "none"
    stops: bool = True
    known: bool = True
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])


_FLUX1 = Family(
    steps=28, guidance=3.5, max_tokens=512, tokenizer="tokenizer_2", embeds=("prompt_embeds", "pooled_prompt_embeds"),
    layout="flux",
)  # fmt: skip
_FLUX2 = Family(
    edit="instruct", max_references=6, many=True, steps=50, guidance=4.0, batch="shared_references", max_tokens=512,
    embeds=("prompt_embeds",), layout="flux2",
)  # fmt: skip
_QWEN = Family(steps=50, guidance=4.0, guided_by="true_cfg_scale", negative="needed", max_tokens=1024)
_QWEN_EDIT = replace(_QWEN, generates=False, edit="instruct", max_references=1, batch="none")
_UNET = Family(
    steps=30, guidance=7.5, negative="words", multiple=8, side=512, max_pixels=1536 * 1536, max_aspect=4.0,
    max_tokens=77, layout="unet",
)  # fmt: skip
_XL = replace(_UNET, guidance=5.0, side=1024, max_pixels=2048 * 2048)
_RESTYLE: dict[str, Any] = {"generates": False, "edit": "img2img", "max_references": 1, "batch": "none"}
_PIX2PIX: dict[str, Any] = {
    "generates": False, "edit": "instruct", "max_references": 1, "batch": "none", "sized": False, "layout": "none",
}  # fmt: skip

#: By class. What is missing here is probed.
FAMILIES: Mapping[str, Family] = {
    "Flux2KleinPipeline": replace(_FLUX2, max_references=4),
    "Flux2KleinKVPipeline": replace(_FLUX2, max_references=4, steps=4, fast=True, guidance=None),
    "Flux2KleinInpaintPipeline": replace(
        _FLUX2, generates=False, max_references=1, many=False, masked=True, batch="none"
    ),
    "Flux2Pipeline": _FLUX2,
    "FluxPipeline": _FLUX1,
    "FluxImg2ImgPipeline": replace(_FLUX1, **_RESTYLE),
    "FluxKontextPipeline": replace(
        _FLUX1, edit="instruct", max_references=1, guidance=2.5, batch="shared_references",
    ),
    "QwenImagePipeline": _QWEN,
    "QwenImageImg2ImgPipeline": replace(_QWEN, **_RESTYLE),
    "QwenImageEditPipeline": _QWEN_EDIT,
    "QwenImageEditPlusPipeline": replace(_QWEN_EDIT, max_references=3, many=True, steps=40),
    "ZImagePipeline": Family(steps=50, guidance=4.0, negative="words", max_tokens=512),
    "ZImageImg2ImgPipeline": Family(steps=50, guidance=4.0, negative="words", max_tokens=512, **_RESTYLE),
    "StableDiffusionPipeline": _UNET,
    "StableDiffusionImg2ImgPipeline": replace(_UNET, **_RESTYLE, sized=False),
    "StableDiffusionXLPipeline": _XL,
    "StableDiffusionXLImg2ImgPipeline": replace(_XL, **_RESTYLE, sized=False),
    "StableDiffusion3Pipeline": Family(steps=28, guidance=7.0, negative="words", max_tokens=256),
    "StableDiffusionInstructPix2PixPipeline": replace(_UNET, **_PIX2PIX),
    "StableDiffusionXLInstructPix2PixPipeline": replace(_XL, **_PIX2PIX, stops=False),
}  # fmt: skip

#: What a hub id says before anything is downloaded; the first that fits.
_BY_NAME: tuple[tuple[str, str], ...] = (
    ("flux.2-klein", "Flux2KleinPipeline"),
    ("flux.2", "Flux2Pipeline"),
    ("kontext", "FluxKontextPipeline"),
    ("flux.1", "FluxPipeline"),
    ("flux", "FluxPipeline"),
    ("qwen-image-edit-2", "QwenImageEditPlusPipeline"),
    ("qwen-image-edit", "QwenImageEditPipeline"),
    ("qwen-image", "QwenImagePipeline"),
    ("z-image", "ZImagePipeline"),
    ("instruct-pix2pix", "StableDiffusionInstructPix2PixPipeline"),
    ("xl-instructpix2pix", "StableDiffusionXLInstructPix2PixPipeline"),
    ("stable-diffusion-3", "StableDiffusion3Pipeline"),
    ("stable-diffusion-xl", "StableDiffusionXLPipeline"),
    ("sdxl", "StableDiffusionXLPipeline"),
    ("stable-diffusion", "StableDiffusionPipeline"),
)


def class_by_name(name: str) -> str | None:
    """The class of pipeline that a model of this name is, as far as its name tells.

    Example:
        >>> class_by_name("black-forest-labs/FLUX.2-klein-4B"), class_by_name("somebody/mine")
        ('Flux2KleinPipeline', None)
    """
    small = name.lower()
    return next((kind for part, kind in _BY_NAME if part in small), None)


def variant(family: Family, kind: str, name: str, *, distilled: bool | None, guided: bool | None) -> Family:
    """The family as one model of it is: distilled models need few steps and no guidance.

    Args:
        family: Of its class.
        kind: Its class.
        name: Hub id or folder; read where the configuration does not tell.
        distilled: What the pipeline's configuration says.
        guided: Whether its transformer takes the guidance as an input.

    Example:
        >>> one = variant(FAMILIES["FluxPipeline"], "FluxPipeline", "FLUX.1-schnell", distilled=None, guided=None)
        >>> one.steps, one.guidance
        (4, 0.0)
    """
    small = name.lower()
    if (
        kind.startswith("Flux2Klein")
        and "KV" not in kind
        and (distilled if distilled is not None else "base" not in small)
    ):
        return replace(family, steps=4, fast=True, guidance=1.0)
    if kind == "FluxPipeline" and (guided is False or (guided is None and "schnell" in small)):
        return replace(family, steps=4, fast=True, guidance=0.0, max_tokens=256)
    if "turbo" in small:
        if kind.startswith("ZImage"):
            return replace(family, steps=9, fast=True, guidance=0.0, negative="none")
        if kind.startswith("StableDiffusion"):
            return replace(family, steps=4, fast=True, guidance=0.0, negative="none")
    return family
