"""What is told from a pipeline object: sizes its own check takes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("diffusers")

from langgraph_interleave.backends.diffusers import DiffusersBackend
from langgraph_interleave.backends.diffusers.probe import family_of
from langgraph_interleave.types import ImageRequest

diffusers: Any = pytest.importorskip("diffusers")


class Autoencoder:
    """Pipelines of any kind, as far as their sizes go."""

    def __init__(self, scale: int, **parts: Any) -> None:
        self.vae_scale_factor = scale
        self.__dict__.update(parts)

    def __call__(self, prompt: str, height: int, width: int) -> None:
        """Draws nothing here."""


class Literal32(Autoencoder):
    def check_inputs(self, height: int, width: int) -> None:
        if height % 32 != 0 or width % 32 != 0:
            raise ValueError


class Patched(Autoencoder):
    patch_size = 4

    def check_inputs(self, height: int, width: int) -> None:
        if height % (self.vae_scale_factor * self.patch_size) != 0 or width % self.unknown_factor != 0:  # type: ignore[attr-defined]
            raise ValueError


@pytest.mark.parametrize(("pipe", "multiple"), [
    (Autoencoder(8), 16), (Autoencoder(16), 32), (Literal32(8), 32), (Patched(8), 32),
    (Autoencoder(2, unet=None), 4), (Literal32(0), 32),
])  # fmt: skip
def test_sides_are_multiples_of_what_the_check_divides_by(pipe: Any, multiple: int) -> None:
    assert family_of(pipe, "mine").multiple == multiple


@pytest.mark.parametrize(("blocks", "multiple"), [(1, 8), (2, 8), (4, 8), (5, 16)])
def test_stable_diffusion_takes_multiples_of_eight_whatever_its_autoencoder(blocks: int, multiple: int) -> None:
    from tiny_pipelines import load

    vae = diffusers.AutoencoderKL(
        in_channels=3, out_channels=3, down_block_types=("DownEncoderBlock2D",) * blocks,
        up_block_types=("UpDecoderBlock2D",) * blocks, block_out_channels=(8,) * blocks, layers_per_block=1,
        norm_num_groups=4, sample_size=64, latent_channels=4, mid_block_add_attention=False,
    ).eval()  # fmt: skip
    pipe = diffusers.StableDiffusionPipeline(**{**load("sd").components, "vae": vae}, requires_safety_checker=False)
    backend = DiffusersBackend(pipe)
    assert backend.capabilities.size_multiple == multiple
    result = asyncio.run(backend.agenerate(ImageRequest("a cat", width=75, height=70, seed=1, extra={"steps": 1})))
    image = result.images[0]
    assert image.width % multiple == image.height % multiple == 0
    assert f"draws {image.width}x{image.height}" in result.warnings[0]
