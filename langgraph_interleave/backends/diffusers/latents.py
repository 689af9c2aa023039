"""What is being drawn, shown before it is finished: latents of an unfinished picture, decoded."""

from __future__ import annotations

from typing import Any

from langgraph_interleave.backends.diffusers.families import Layout
from langgraph_interleave.backends.diffusers.sizes import Size


def previewed(pipe: Any, latents: Any, layout: Layout, size: Size) -> Any:
    """Decode latents as a pipeline does at its end; random numbers are not touched.

    Args:
        pipe: The pipeline.
        latents: Of a batch, as its callback gives them.
        layout: How they are packed.
        size: Width and height of the picture in pixels.

    Returns:
        A tensor of values from 0 to 1: batch, colour, row, column.
    """
    vae = pipe.vae
    plain = _UNPACK[layout](pipe, latents.detach(), size)
    decoded = vae.decode(plain.to(vae.dtype), return_dict=False)[0]
    return pipe.image_processor.postprocess(decoded, output_type="pt")


def _unet(pipe: Any, latents: Any, size: Size) -> Any:
    del size
    return latents / pipe.vae.config.scaling_factor


def _flux(pipe: Any, latents: Any, size: Size) -> Any:
    config = pipe.vae.config
    plain = pipe._unpack_latents(latents, size[1], size[0], pipe.vae_scale_factor)
    return plain / config.scaling_factor + config.shift_factor


def _flux2(pipe: Any, latents: Any, size: Size) -> Any:
    side = pipe.vae_scale_factor * 2
    rows, columns = size[1] // side, size[0] // side
    grid = latents.permute(0, 2, 1).reshape(latents.shape[0], -1, rows, columns)
    norm = pipe.vae.bn
    mean = norm.running_mean.view(1, -1, 1, 1).to(grid.device, grid.dtype)
    deviation = (norm.running_var.view(1, -1, 1, 1) + pipe.vae.config.batch_norm_eps).sqrt().to(grid.device, grid.dtype)
    return pipe._unpatchify_latents(grid * deviation + mean)


_UNPACK = {"unet": _unet, "flux": _flux, "flux2": _flux2}
