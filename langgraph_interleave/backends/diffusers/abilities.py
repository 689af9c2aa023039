"""What a family of pipelines can do, in the words of the contract."""

from __future__ import annotations

from langgraph_interleave.backends.diffusers.families import Family
from langgraph_interleave.types import Capabilities

MAX_IMAGES = 8


def capabilities_of(family: Family, *, most: int, previews: bool) -> Capabilities:
    """What a backend over a family can do.

    Args:
        family: How its pipeline is called.
        most: Pictures drawn in one call.
        previews: Unfinished pictures are shown.

    Example:
        >>> from langgraph_interleave.backends.diffusers.families import FAMILIES
        >>> can = capabilities_of(FAMILIES["FluxKontextPipeline"], most=8, previews=False)
        >>> can.edit, can.max_references, can.prompt_batch
        ('instruct', 1, 'shared_references')
    """
    batch = family.batch if most > 1 else "none"
    progress = "none" if not family.stops else "previews" if previews and family.layout != "none" else "steps"
    return Capabilities(
        generate=family.generates,
        edit=family.edit,
        max_references=family.max_references,
        max_images=MAX_IMAGES,
        size_multiple=family.multiple,
        min_side=family.min_side,
        max_pixels=family.max_pixels,
        max_aspect=family.max_aspect,
        seed="exact",
        negative_prompt=family.negative != "none",
        mask=family.masked,
        prompt_batch=batch,
        progress=progress,
        cancel="cooperative" if family.stops else "none",
        max_prompt_tokens=family.max_tokens,
        # Requests that wait are not refused: those that fit are drawn in one call.
        concurrency=1 if batch == "none" else most,
        billed=False,
    )
