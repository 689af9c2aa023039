"""Autoencoder: the first stage. Its latents decide how fast the transformer learns and how right its pictures can be.

Four things differ from a plain autoencoder, each because a first version without it was weak there:

- color counts extra in the loss, and things count more than the empty ground;
- a linear probe must read kind, color and background from *noisy* latents, so that what a picture shows takes up
  a large share of the latents' variance, and a model that is a little wrong in them is still right;
- the decoder sees latents with noise on them, up to what the transformer gets wrong;
- half of the inputs are its own outputs of the step before, with the clean picture as the target: it repairs rather
  than adds to the faults of a picture that is encoded again and again, as in a chain of edits.

There is no posterior noise and no KL term: latents are normalised by the batch's own statistics while training, as
the model's `bn` does in use.
"""

from __future__ import annotations

import copy
import logging
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from langgraph_interleave_miniature.scenes import BACKGROUNDS, CELLS, COLORS, KINDS, random_scene
from training.data import labels, pixels, tensor, things_mask
from training.loop import Average, Budget, Chance, Loop
from training.models import PATCH, TOKENS, Autoencoder, build_autoencoder, patchified, unpatchified
from training.optimizer import Both

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AutoencoderSettings:
    """What can be chosen about this stage.

    Args:
        scenes: How many different pictures.
        batch: Pictures a step; half of them new, half the last step's outputs.
        lr: Highest learning rate.
        things: Extra weight of pixels that show things.
        chroma: Weight of color differences.
        probe: Weight of the linear probe.
        probe_noise: Largest noise on latents that the probe must read, in standard deviations.
        decoder_noise: Largest noise on latents that the decoder must draw from.
    """

    scenes: int = 16000
    batch: int = 12
    lr: float = 3e-3
    things: float = 3.0
    chroma: float = 1.0
    probe: float = 0.04
    probe_noise: float = 2.0
    decoder_noise: float = 0.4


class Probe(torch.nn.Linear):
    """Reads a scene from all latents of a picture, linearly: no more than noise allows can be hidden from it."""

    def __init__(self) -> None:
        self.sizes = [1 + len(KINDS)] * CELLS + [1 + len(COLORS)] * CELLS + [len(BACKGROUNDS)]
        super().__init__(PATCH * TOKENS, sum(self.sizes))

    def loss(self, patches: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Mean cross entropy over everything it reads."""
        answers = self(patches.flatten(1)).split(self.sizes, dim=1)
        rows = [functional.cross_entropy(answer, wanted[:, i]) for i, answer in enumerate(answers)]
        return torch.stack(rows).mean()


def picture_loss(
    drawn: torch.Tensor, wanted: torch.Tensor, mask: torch.Tensor, settings: AutoencoderSettings
) -> tuple[torch.Tensor, torch.Tensor]:
    """What a picture lacks: weighted L1 of pixels, color and edges; and the plain weighted L1 to show."""
    weight = 1 + settings.things * mask.unsqueeze(1).float()
    total = weight.sum()
    error = drawn - wanted
    plain = (error.abs() * weight).sum() / total / 3
    red_green = error[:, 0] - error[:, 1]
    blue_rest = error[:, 2] - 0.5 * (error[:, 0] + error[:, 1])
    chroma = ((red_green.abs() + blue_rest.abs()) * weight[:, 0]).sum() / total / 2
    edges = (error[..., 1:] - error[..., :-1]).abs().mean() + (error[..., 1:, :] - error[..., :-1, :]).abs().mean()
    return plain + settings.chroma * 0.5 * chroma + 0.5 * edges, plain


def split_parameters(model: torch.nn.Module) -> tuple[list[torch.nn.Parameter], list[torch.nn.Parameter]]:
    """Inner weights (for Muon) and the rest: norms, biases, what touches pixels or latents."""
    inner, rest = [], []
    for name, param in model.named_parameters():
        outer = any(part in name for part in ("encoder.conv_in", "decoder.conv_out", "quant_conv"))
        (rest if param.ndim < 2 or outer else inner).append(param)
    return inner, rest


def train_autoencoder(
    work: Path, budget: Budget, *, seed: int = 0, device: str = "cpu", settings: AutoencoderSettings | None = None
) -> Path:
    """Trains the autoencoder; goes on where an earlier call was stopped.

    Returns:
        The folder with the trained autoencoder, `<work>/autoencoder`.
    """
    chosen = settings or AutoencoderSettings()
    torch.manual_seed(seed)  # initial weights
    chance = Chance(seed, device)
    # Crowded scenes on purpose: with one to three things most of the gradient is spent on empty sky.
    scenes = [
        random_scene(chance.python, chance.python.choices(range(7), (1, 2, 3, 3, 3, 3, 3))[0])
        for _ in range(chosen.scenes)
    ]
    drawn = pixels(scenes)
    mask, wanted = torch.from_numpy(things_mask(scenes, drawn)), torch.from_numpy(labels(scenes))
    model = build_autoencoder().to(device)
    probe = Probe().to(device)
    average = Average(model, copy.deepcopy(model), 0.998)
    inner, rest = split_parameters(model)
    optimizer = Both(inner, [*rest, *probe.parameters()])
    parts = {"model": model, "probe": probe, "average": average, "optimizer": optimizer, "chance": chance}
    loop = Loop(work, "autoencoder", budget, parts)
    again: tuple[torch.Tensor, torch.Tensor] | None = None  # the last outputs, and which pictures they are of
    half = chosen.batch // 2
    for step in loop:
        fresh = chance.indices(len(drawn), half if again else chosen.batch)
        which = torch.cat([fresh, again[1]]) if again else fresh
        target = tensor(drawn[which.numpy()]).to(device)
        given = torch.cat([target[: len(fresh)], again[0]]) if again else target
        with torch.autocast(device, torch.bfloat16):
            means = model._encode(given).chunk(2, 1)[0]
        patches = patchified(means.float())
        center, spread = patches.mean((0, 2, 3), keepdim=True), patches.std((0, 2, 3), keepdim=True) + 1e-4
        normal = (patches - center) / spread
        noise = chance.normal(normal)
        strength = chosen.decoder_noise * chance.uniform(len(which), 1, 1, 1) ** 2
        latents = unpatchified((normal + strength * noise) * spread + center)
        with torch.autocast(device, torch.bfloat16):
            output = model._decode(latents).sample
        output = output.float()
        loss, plain = picture_loss(output, target, mask[which].to(device), chosen)
        blurred = normal + chosen.probe_noise * chance.uniform(len(which), 1, 1, 1) * chance.normal(normal)
        read = probe.loss(blurred, wanted[which].to(device))
        scale = spread.log().pow(2).mean()  # the scale is free: keep it near 1
        (loss + chosen.probe * read + 1e-3 * scale).backward()
        optimizer.step(chosen.lr * min(1, (step + 1) / 60) * (0.5 + 0.5 * math.cos(math.pi * loop.fraction)) + 1e-5)
        average.update(step)
        loop.note(l1=plain, probe=read)
        if step > 400:
            keep = torch.arange(half)  # of the fresh ones, so that none goes round for ever
            again = (output.detach()[keep].clamp(-1, 1), which[keep])
    finished: Autoencoder = average.module
    _measure_statistics(finished, drawn, device)
    _log.info("autoencoder: mean error of a drawing %.4f", _error(finished, drawn[:256], device))
    finished.save_pretrained(work / "autoencoder")
    return work / "autoencoder"


@torch.no_grad()
def encoded(model: Autoencoder, pictures: torch.Tensor) -> torch.Tensor:
    """Latents of pictures as the pipeline has them before it normalises: (count, 48, 4, 4)."""
    return patchified(model.encode(pictures).latent_dist.mode().float())


def _measure_statistics(model: Autoencoder, drawn: np.ndarray, device: str) -> None:
    """Writes mean and variance of the latents into `bn`, by which the pipeline normalises them."""
    rows = [encoded(model, tensor(drawn[i : i + 64]).to(device)) for i in range(0, min(len(drawn), 2048), 64)]
    latents = torch.cat(rows)
    model.bn.running_mean.copy_(latents.mean((0, 2, 3)))
    model.bn.running_var.copy_(latents.var((0, 2, 3)))
    model.bn.num_batches_tracked.fill_(1)


@torch.no_grad()
def _error(model: Autoencoder, drawn: np.ndarray, device: str) -> float:
    pictures = tensor(drawn).to(device)
    return (model.decode(model.encode(pictures).latent_dist.mode()).sample - pictures).abs().mean().item()
