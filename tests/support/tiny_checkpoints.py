"""Tiny models in the layouts people download: one file in their makers' own names, and LoRAs.

save(stable_diffusion(load("sd")), path)        # a whole checkpoint
save(flux2(load("klein").transformer), path)    # a transformer alone
save(lora(load("klein").transformer, "transformer"), path)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tiny_pipelines import module

State = dict[str, Any]

_RESNET = {
    "norm1": "in_layers.0", "conv1": "in_layers.2", "time_emb_proj": "emb_layers.1", "norm2": "out_layers.0",
    "conv2": "out_layers.3", "conv_shortcut": "skip_connection",
}  # fmt: skip
#: Blocks of the tiny U-Net, whose two levels have one layer each.
_UNET = {
    "conv_in": "input_blocks.0.0", "down_blocks.0.resnets.0": "input_blocks.1.0",
    "down_blocks.0.downsamplers.0.conv": "input_blocks.2.0.op", "down_blocks.1.resnets.0": "input_blocks.3.0",
    "down_blocks.1.attentions.0": "input_blocks.3.1", "mid_block.resnets.0": "middle_block.0",
    "mid_block.attentions.0": "middle_block.1", "mid_block.resnets.1": "middle_block.2",
    "up_blocks.0.resnets.0": "output_blocks.0.0", "up_blocks.0.attentions.0": "output_blocks.0.1",
    "up_blocks.0.resnets.1": "output_blocks.1.0", "up_blocks.0.attentions.1": "output_blocks.1.1",
    "up_blocks.0.upsamplers.0.conv": "output_blocks.1.2.conv", "up_blocks.1.resnets.0": "output_blocks.2.0",
    "up_blocks.1.resnets.1": "output_blocks.3.0", "time_embedding.linear_1": "time_embed.0",
    "time_embedding.linear_2": "time_embed.2", "conv_norm_out": "out.0", "conv_out": "out.2",
}  # fmt: skip
_FLUX2 = {
    "x_embedder": "img_in", "context_embedder": "txt_in",
    "time_guidance_embed.timestep_embedder.linear_1": "time_in.in_layer",
    "time_guidance_embed.timestep_embedder.linear_2": "time_in.out_layer",
    "double_stream_modulation_img.linear": "double_stream_modulation_img.lin",
    "double_stream_modulation_txt.linear": "double_stream_modulation_txt.lin",
    "single_stream_modulation.linear": "single_stream_modulation.lin", "proj_out": "final_layer.linear",
}  # fmt: skip
_FLUX2_DOUBLE = {
    "attn.norm_q": "img_attn.norm.query_norm", "attn.norm_k": "img_attn.norm.key_norm",
    "attn.to_out.0": "img_attn.proj", "ff.linear_in": "img_mlp.0", "ff.linear_out": "img_mlp.2",
    "attn.norm_added_q": "txt_attn.norm.query_norm", "attn.norm_added_k": "txt_attn.norm.key_norm",
    "attn.to_add_out": "txt_attn.proj", "ff_context.linear_in": "txt_mlp.0", "ff_context.linear_out": "txt_mlp.2",
}  # fmt: skip
_FLUX2_SINGLE = {
    "attn.to_qkv_mlp_proj": "linear1", "attn.to_out": "linear2", "attn.norm_q": "norm.query_norm",
    "attn.norm_k": "norm.key_norm",
}  # fmt: skip


def save(state: Mapping[str, Any], path: Path) -> Path:
    """Write weights as `.safetensors`."""
    module("safetensors.torch").save_file({name: one.contiguous().clone() for name, one in state.items()}, str(path))
    return path


def stable_diffusion(pipe: Any) -> State:
    """The tiny Stable Diffusion as its makers wrote it: U-Net, autoencoder and text encoder in one."""
    state = {f"model.diffusion_model.{_unet_name(name)}": one for name, one in pipe.unet.state_dict().items()}
    state |= {f"first_stage_model.{_vae_name(name)}": one for name, one in pipe.vae.state_dict().items()}
    for name, one in pipe.text_encoder.state_dict().items():
        full = name if name.startswith("text_model.") else f"text_model.{name}"
        state[f"cond_stage_model.transformer.{full}"] = one
    return state


def _unet_name(name: str) -> str:
    start = max((one for one in _UNET if name.startswith(f"{one}.")), key=len)
    rest = name[len(start) + 1 :]
    if ".resnets." in f".{start}":
        part, _, kind = rest.rpartition(".")
        rest = f"{_RESNET[part]}.{kind}"
    return f"{_UNET[start]}.{rest}"


def _vae_name(name: str) -> str:
    name = re.sub(r"down_blocks\.(\d)\.resnets\.(\d)", r"down.\1.block.\2", name)
    name = re.sub(r"down_blocks\.(\d)\.downsamplers\.0\.conv", r"down.\1.downsample.conv", name)
    name = re.sub(r"up_blocks\.(\d)\.resnets\.(\d)", lambda at: f"up.{3 - int(at[1])}.block.{at[2]}", name)
    name = re.sub(r"up_blocks\.(\d)\.upsamplers\.0\.conv", lambda at: f"up.{3 - int(at[1])}.upsample.conv", name)
    name = re.sub(r"mid_block\.resnets\.(\d)", lambda at: f"mid.block_{int(at[1]) + 1}", name)
    return name.replace("conv_norm_out", "norm_out").replace("conv_shortcut", "nin_shortcut")


def flux2(transformer: Any) -> State:
    """A FLUX.2 transformer as its makers wrote it: queries, keys and values in one weight."""
    torch, held, state = module("torch"), dict(transformer.state_dict()), {}
    for name in list(held):
        if name not in held:
            continue
        single = re.fullmatch(r"single_transformer_blocks\.(\d+)\.(.+)\.weight", name)
        double = re.fullmatch(r"transformer_blocks\.(\d+)\.(.+)\.weight", name)
        fused = re.fullmatch(r"(.+)\.attn\.(to_q|add_q_proj)\.weight", name)
        if fused:
            names = ("to_q", "to_k", "to_v") if fused[2] == "to_q" else ("add_q_proj", "add_k_proj", "add_v_proj")
            block, side = fused[1].rpartition(".")[2], "img" if fused[2] == "to_q" else "txt"
            parts = [held.pop(f"{fused[1]}.attn.{one}.weight") for one in names]
            state[f"double_blocks.{block}.{side}_attn.qkv.weight"] = torch.cat(parts)
        elif single or double:
            state[_block_name(single, double)] = held.pop(name)
        elif name == "norm_out.linear.weight":
            scale, shift = held.pop(name).chunk(2)
            state["final_layer.adaLN_modulation.1.weight"] = torch.cat([shift, scale])
        else:
            state[f"{_FLUX2[name.removesuffix('.weight')]}.weight"] = held.pop(name)
    return state


def _block_name(single: re.Match[str] | None, double: re.Match[str] | None) -> str:
    blocks, table = ("single_blocks", _FLUX2_SINGLE) if single else ("double_blocks", _FLUX2_DOUBLE)
    found = single or double
    assert found
    return f"{blocks}.{found[1]}.{table[found[2]]}.{'scale' if 'norm' in found[2] else 'weight'}"


def lora(model: Any, part: str, *, rank: int = 4, seed: int = 0) -> State:
    """A random LoRA for the attention of a model, under the names that diffusers gives it."""
    torch = module("torch")
    generator = torch.Generator().manual_seed(seed)
    state: State = {}
    for name, one in model.named_modules():
        if re.search(r"\.to_[qkv]$|\.to_qkv_mlp_proj$", name):
            out, into = one.weight.shape
            state[f"{part}.{name}.lora_A.weight"] = torch.randn(rank, into, generator=generator)
            state[f"{part}.{name}.lora_B.weight"] = torch.randn(out, rank, generator=generator)
    assert state
    return state
