"""Models: the sizes of the miniature's parts, all of them the classes that the real FLUX.2 [klein] is made of."""

from __future__ import annotations

from typing import Any, TypeAlias

import torch

#: The libraries' own annotations are too loose to check against: outputs that may be tuples, buffers that may be None.
Autoencoder: TypeAlias = Any
TextEncoder: TypeAlias = Any
Transformer: TypeAlias = Any

#: Channels of a latent pixel; a token is a patch of 2 x 2 of them.
CHANNELS = 12
PATCH = 4 * CHANNELS
#: Latent tokens along a side of a picture: one for 16 pixels.
TOKENS_SIDE = 4
TOKENS = TOKENS_SIDE**2
#: Width of the text encoder, its trained layers, and where the pipeline taps it by default.
TEXT_WIDTH, TEXT_LAYERS, TAPS = 64, 3, (9, 18, 27)
_HEAD = 32
WIDTH = 160


def build_autoencoder() -> Autoencoder:
    """An untrained autoencoder: 8 pixels to a latent pixel, as the real one."""
    from diffusers.models.autoencoders.autoencoder_kl_flux2 import AutoencoderKLFlux2

    return AutoencoderKLFlux2(
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(8, 16, 32, 48),
        decoder_block_out_channels=(16, 32, 48, 64),
        layers_per_block=1,
        latent_channels=CHANNELS,
        norm_num_groups=8,
        sample_size=64,
        mid_block_add_attention=False,
    )


def patchified(latents: torch.Tensor) -> torch.Tensor:
    """(count, c, h, w) latent pixels as (count, 4c, h/2, w/2) patches, in the pipeline's order."""
    count, channels, height, width = latents.shape
    cut = latents.view(count, channels, height // 2, 2, width // 2, 2)
    return cut.permute(0, 1, 3, 5, 2, 4).reshape(count, channels * 4, height // 2, width // 2)


def unpatchified(patches: torch.Tensor) -> torch.Tensor:
    """What `patchified` took apart."""
    count, channels, height, width = patches.shape
    cut = patches.reshape(count, channels // 4, 2, 2, height, width)
    return cut.permute(0, 1, 4, 2, 5, 3).reshape(count, channels // 4, height * 2, width * 2)


def build_text_encoder(vocabulary: int, layers: int = TEXT_LAYERS + 1) -> TextEncoder:
    """An untrained text encoder. One layer more than is used, so that no used output is the normalised last one."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=vocabulary,
        hidden_size=TEXT_WIDTH,
        intermediate_size=40,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=TEXT_WIDTH // 2,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
    )
    model = Qwen3ForCausalLM(config)
    with torch.no_grad():  # the library's initial weights are far too quiet for three layers
        for name, param in model.named_parameters():
            if "embed_tokens" in name:
                param.normal_(0, 1.0)
            elif param.ndim == 2:
                residual = "o_proj" in name or "down_proj" in name
                param.normal_(0, (0.5 if residual else 1.0) * param.shape[1] ** -0.5)
    return model


def deepened(model: TextEncoder, layers: int = 28) -> TextEncoder:
    """The same function with as many layers as the real one, so that the pipeline's default taps find the trained ones.

    The layers between have zero output projections: they hand on what they get.
    """
    deep = build_text_encoder(model.config.vocab_size, layers)
    with torch.no_grad():
        for layer in deep.model.layers:
            for param in layer.parameters():
                param.zero_() if param.ndim == 2 else param.fill_(1.0)
        deep.model.embed_tokens.load_state_dict(model.model.embed_tokens.state_dict())
        deep.model.norm.load_state_dict(model.model.norm.state_dict())
        for trained, tap in zip(model.model.layers, TAPS, strict=False):
            deep.model.layers[tap - 1].load_state_dict(trained.state_dict())
    return deep.eval()


def build_transformer() -> Transformer:
    """An untrained transformer: two double and four single blocks."""
    from diffusers.models.transformers.transformer_flux2 import Flux2Transformer2DModel

    model = Flux2Transformer2DModel(
        patch_size=1,
        in_channels=PATCH,
        num_layers=2,
        num_single_layers=4,
        attention_head_dim=_HEAD,
        num_attention_heads=WIDTH // _HEAD,
        joint_attention_dim=TEXT_LAYERS * TEXT_WIDTH,
        timestep_guidance_channels=128,
        mlp_ratio=2.0,
        axes_dims_rope=(8, 10, 10, 4),
        rope_theta=2000,
        guidance_embeds=False,
    )
    with torch.no_grad():
        for name, param in model.named_parameters():
            if param.ndim != 2:
                continue
            if "modulation" in name or "norm_out" in name:
                param.normal_(0, 0.02)
            elif "time_guidance_embed" in name:
                param.normal_(0, 1.4 * param.shape[1] ** -0.5)
            elif name.startswith("proj_out"):
                param.zero_()
            else:
                residual = any(part in name for part in ("to_out", "to_add_out", "linear_out"))
                param.normal_(0, (0.5 if residual else 1.0) * param.shape[1] ** -0.5)
    return model
