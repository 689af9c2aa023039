"""Decoder: a last stage for the autoencoder's decoder alone, on latents as the transformer leaves them.

Latents stay as they are, so the transformer need not know. The inputs are drawings half lost in noise and brought
back by the transformer in the pipeline's last steps; the targets are the drawings: the decoder learns to draw clean
pictures from what the transformer gets slightly wrong.
"""

from __future__ import annotations

import copy
import logging
import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from langgraph_interleave_miniature.captions import caption
from langgraph_interleave_miniature.scenes import Scene, random_scene
from training.autoencoder import AutoencoderSettings, picture_loss, split_parameters
from training.data import pixels, tensor, things_mask
from training.flow import Padding, velocity
from training.latents import Codec
from training.loop import Average, Budget, Chance, Loop
from training.models import Autoencoder
from training.optimizer import Both
from training.tokenizer import build_tokenizer
from training.transformer import Pair

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DecoderSettings:
    """What can be chosen about this stage.

    Args:
        scenes: How many pictures; their latents are made once.
        batch: Pictures a step.
        lr: Highest learning rate.
        restored: Share of latents that the transformer brought back; the rest has plain noise.
    """

    scenes: int = 6000
    batch: int = 12
    lr: float = 1.5e-3
    restored: float = 0.6


class _Decoder(nn.Module):
    """The part of an autoencoder that draws."""

    def __init__(self, model: Autoencoder) -> None:
        super().__init__()
        self.post_quant_conv = model.post_quant_conv
        self.decoder = model.decoder

    def forward(self, latents: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.post_quant_conv(latents))


@torch.no_grad()
def _restored(work: Path, scenes: list[Scene], clean: torch.Tensor, seed: int, device: str) -> torch.Tensor:
    """Tokens of drawings after noise and the transformer's last two steps."""
    file = work / "restored.pt"
    if file.exists():
        return torch.load(file)
    tokenizer = build_tokenizer(seed)
    pair = Pair(len(tokenizer))
    pair.load_state_dict(torch.load(work / "pair.pt", map_location="cpu"))
    pair.eval().to(device)
    chance, rows = Chance(seed + 8, device), []
    for start in range(0, len(scenes), 64):
        tokens = clean[start : start + 64].to(device)
        texts = [caption(chance.python, scene) for scene in scenes[start : start + 64]]
        with torch.autocast(device, torch.bfloat16):
            text = pair.states(tokenizer, texts, 36)
            level = 0.45 + 0.4 * chance.uniform(len(tokens), 1, 1)
            latents = (1 - level) * tokens + level * chance.normal(tokens)
            for following in (level * chance.uniform(len(tokens), 1, 1), torch.zeros_like(level)):
                answer = velocity(pair.transformer, latents, level.flatten(), text, Padding.none(36))
                latents, level = latents + (following - level) * answer.float(), following
        rows.append(latents.float().cpu())
    found = torch.cat(rows)
    torch.save(found, file)
    return found


def polish_decoder(
    work: Path, budget: Budget, *, seed: int = 0, device: str = "cpu", settings: DecoderSettings | None = None
) -> Path:
    """Trains the decoder a little longer; goes on where an earlier call was stopped.

    Returns:
        The folder with the finished autoencoder, `<work>/polished`.
    """
    chosen, weights = settings or DecoderSettings(), AutoencoderSettings()
    codec, chance = Codec(work / "autoencoder", device), Chance(seed + 7, device)
    scenes = [random_scene(chance.python, chance.python.choice((1, 2, 2, 3, 3))) for _ in range(chosen.scenes)]
    drawn = pixels(scenes)
    mask = torch.from_numpy(things_mask(scenes, drawn))
    clean = torch.cat([codec.tokens(tensor(drawn[i : i + 64])).cpu() for i in range(0, len(drawn), 64)])
    restored = _restored(work, scenes, clean, seed, device)
    decoder = _Decoder(codec.model).to(device)
    decoder.requires_grad_(True)
    average = Average(decoder, copy.deepcopy(decoder), 0.998)
    optimizer = Both(*split_parameters(decoder))
    parts = {"decoder": decoder, "average": average, "optimizer": optimizer, "chance": chance}
    loop = Loop(work, "decoder", budget, parts)
    for step in loop:
        which = chance.indices(len(drawn), chosen.batch)
        target = tensor(drawn[which.numpy()]).to(device)
        plain = clean[which].to(device)
        noisy = plain + 0.4 * chance.uniform(len(which), 1, 1) ** 2 * chance.normal(plain)
        of_model = chance.uniform(len(which), 1, 1) < chosen.restored
        latents = codec.latents(torch.where(of_model, restored[which].to(device), noisy))
        with torch.autocast(device, torch.bfloat16):
            output = decoder(latents)
        loss, shown = picture_loss(output.float(), target, mask[which].to(device), weights)
        loss.backward()
        optimizer.step(chosen.lr * min(1, (step + 1) / 50) * (0.5 + 0.5 * math.cos(math.pi * loop.fraction)) + 1e-5)
        average.update(step)
        loop.note(l1=shown)
    decoder.load_state_dict(average.module.state_dict())
    codec.model.save_pretrained(work / "polished")
    return work / "polished"
