"""Readers: two nets that read pictures back into scenes, one for the critic and an independent one for measuring.

They share the architecture and nothing else: seed, scenes and what is done to the pictures differ. Both see drawings,
drawings that went through the autoencoder with and without noise, and mixtures of two scenes, half there and half
not, whose right answer is a probability: that is what a model's ghosts look like. Neither sees a prompt.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn import functional

from langgraph_interleave_miniature.network import ReaderNetwork
from langgraph_interleave_miniature.reader import READERS
from langgraph_interleave_miniature.scenes import CELLS, OPS, Scene, random_edit, random_scene
from training.data import labels, pixels, tensor
from training.latents import Codec
from training.loop import Chance

_log = logging.getLogger(__name__)
_BATCH, _KEPT_ASIDE = 48, 512


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """What differs between readers.

    Args:
        seed: Of weights, scenes and augmentation.
        most: How many things a scene has at most.
        noise: Largest noise on latents that go through the autoencoder.
        mixed: Share of mixtures of two scenes.
        augment: What is done to the pictures of a batch.
        scenes: How many scenes, half of them edits of the other half.
        steps: Of training.
    """

    seed: int
    most: int
    noise: float
    mixed: float
    augment: Callable[[torch.Tensor, Chance], torch.Tensor]
    scenes: int = 4000
    steps: int = 500


def _softened(pictures: torch.Tensor, chance: Chance) -> torch.Tensor:
    """Noise on every picture, softness on some."""
    count = len(pictures)
    noisy = pictures + 0.2 * chance.uniform(count, 1, 1, 1) ** 2 * chance.normal(pictures)
    soft = functional.interpolate(functional.avg_pool2d(noisy, 2), scale_factor=2, mode="bilinear")
    return torch.where(chance.uniform(count, 1, 1, 1) < 0.25, soft, noisy)


def _moved(pictures: torch.Tensor, chance: Chance) -> torch.Tensor:
    """Shifts by up to a pixel and a half, brightness, contrast, a spot that is covered, a little noise."""
    count = len(pictures)
    turn = torch.eye(2, 3, device=pictures.device).repeat(count, 1, 1)
    turn[:, :, 2] = (chance.uniform(count, 2) - 0.5) * 3 / 32
    turn[:, :, :2] *= 1 + 0.06 * (chance.uniform(count, 1, 1) - 0.5)
    grid = functional.affine_grid(turn, list(pictures.shape), align_corners=False)
    moved = functional.grid_sample(pictures, grid, padding_mode="border", align_corners=False)
    light = 0.12 * (chance.uniform(count, 3, 1, 1) - 0.5)
    moved = moved * (1 + 0.16 * (chance.uniform(count, 1, 1, 1) - 0.5)) + light
    place = chance.uniform(count, 2, 1, 1) * 64
    lines = torch.arange(64, device=pictures.device)
    covered = ((lines.view(1, 64, 1) - place[:, 0]).abs() < 2) & ((lines.view(1, 1, 64) - place[:, 1]).abs() < 2)
    moved = torch.where(covered.unsqueeze(1), moved.mean((2, 3), keepdim=True), moved)
    return moved + 0.1 * chance.uniform(count, 1, 1, 1) * chance.normal(moved)


SETTINGS = {
    "critic": ReaderSettings(seed=1101, most=4, noise=0.8, mixed=0.25, augment=_softened),
    "independent": ReaderSettings(seed=2203, most=6, noise=1.0, mixed=0.2, augment=_moved),
}


class _Pictures:
    """Pictures of scenes and of an edit of each, plain and through the autoencoder."""

    def __init__(self, settings: ReaderSettings, codec: Codec, chance: Chance) -> None:
        scenes: list[Scene] = []
        after: list[Scene] = []
        for _ in range(settings.scenes // 2):
            scene = random_scene(chance.python, chance.python.randint(0, settings.most))
            fitting = [
                op for op in OPS if (op != "add" or scene.free) and (op not in ("remove", "recolor") or scene.things)
            ]
            scenes.append(scene)
            after.append(random_edit(chance.python, scene, chance.python.choice(fitting)).after)
        self.plain = [tensor(pixels(side)) for side in (scenes, after)]
        self.through = [self._through(codec, side, settings.noise, chance) for side in self.plain]
        self.labels = [torch.from_numpy(labels(side)) for side in (scenes, after)]

    @staticmethod
    def _through(codec: Codec, pictures: torch.Tensor, noise: float, chance: Chance) -> torch.Tensor:
        rows: list[torch.Tensor] = []
        for start in range(0, len(pictures), 64):
            tokens = codec.tokens(pictures[start : start + 64])
            level = noise * chance.uniform(len(tokens), 1, 1) ** 2
            rows.append(codec.pictures(tokens + level * chance.normal(tokens)).cpu())
        return torch.cat(rows)

    def batch(
        self, which: torch.Tensor, settings: ReaderSettings, chance: Chance
    ) -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]:
        """Pictures, the labels of both scenes they may show, and how much of the first there is in each."""
        count = len(which)
        drawn = chance.uniform(count, 1, 1, 1).cpu() < 0.35
        first, second = (
            torch.where(drawn, plain[which], through[which])
            for plain, through in zip(self.plain, self.through, strict=True)
        )
        swap = chance.uniform(count, 1, 1, 1).cpu() < 0.5
        whole = swap.float()
        part = chance.uniform(count, 1, 1, 1).cpu()
        share = torch.where(chance.uniform(count, 1, 1, 1).cpu() < settings.mixed, part, whole)
        pictures = settings.augment(share * first + (1 - share) * second, chance)
        return pictures, [rows[which] for rows in self.labels], torch.sigmoid(10 * (share.flatten() - 0.5))


def _loss(
    answers: tuple[torch.Tensor, torch.Tensor, torch.Tensor], wanted: list[torch.Tensor], share: torch.Tensor
) -> torch.Tensor:
    """Cross entropy with both scenes' labels, each as much as it is there; a color counts where there is a thing."""
    kinds, colors, backgrounds = answers
    total = torch.zeros(())
    for rows, part in zip(wanted, (share, 1 - share), strict=True):
        kind, color = rows[:, :CELLS], rows[:, CELLS : 2 * CELLS]
        total = total + (functional.cross_entropy(kinds.mT, kind, reduction="none").mean(1) * part).mean()
        named = functional.cross_entropy(colors.mT, color - 1, ignore_index=-1, reduction="none")
        total = total + (named.sum(1) / CELLS * part).mean()
        total = total + (functional.cross_entropy(backgrounds, rows[:, -1], reduction="none") * part).mean()
    return total


def train_reader(work: Path, name: str, *, device: str = "cpu", settings: ReaderSettings | None = None) -> Path:
    """Trains a reader in a few minutes, and fits how sure it is; if its file is there, that is kept.

    Args:
        work: Where the autoencoder is, and where the reader goes.
        name: One of `READERS`.
        device: Where the autoencoder runs; the reader is trained on the CPU.
        settings: `None` for those of `SETTINGS`.

    Returns:
        The file with its weights, half precision.
    """
    from safetensors.torch import save_file

    file = work / READERS[name]
    if file.exists():
        return file
    chosen = settings or SETTINGS[name]
    torch.manual_seed(chosen.seed)  # initial weights
    chance = Chance(chosen.seed)
    data = _Pictures(chosen, Codec(work / "autoencoder", device), chance)
    network = ReaderNetwork()
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=1e-3)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=chosen.steps)
    below = len(data.plain[0]) - min(_KEPT_ASIDE, len(data.plain[0]) // 4)
    for step in range(chosen.steps):
        pictures, wanted, share = data.batch(chance.indices(below, _BATCH), chosen, chance)
        loss = _loss(network(pictures), wanted, share)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        rate.step()
        if step % 200 == 0:
            _log.info("reader %s: step %d of %d, loss %.4f", name, step, chosen.steps, loss.item())
    network.eval()
    _calibrate(network, data, below, chosen, chance)
    _report(network, data, below, name)
    tensors = network.state_dict().items()
    kept = {key: value.half() if value.is_floating_point() else value for key, value in tensors}
    save_file({key: value.contiguous() for key, value in kept.items()}, file)
    return file


def _calibrate(network: ReaderNetwork, data: _Pictures, below: int, settings: ReaderSettings, chance: Chance) -> None:
    """Fits the three temperatures on pictures kept aside, with the augmentation and mixtures of training."""
    which = torch.arange(below, len(data.plain[0])).repeat(3)
    pictures, wanted, share = data.batch(which, settings, chance)
    with torch.no_grad():
        answers = network(pictures)
    best = [math.inf] * 3
    chosen = [1.0] * 3
    for temperature in [0.5 * 1.08**i for i in range(30)]:
        for part in range(3):
            scaled = [answer / temperature if i == part else answer for i, answer in enumerate(answers)]
            loss = _loss((scaled[0], scaled[1], scaled[2]), wanted, share).item()
            if loss < best[part]:
                best[part], chosen[part] = loss, temperature
    network.temperatures.copy_(torch.tensor(chosen))


@torch.no_grad()
def _report(network: ReaderNetwork, data: _Pictures, below: int, name: str) -> None:
    for source, pictures in (("drawn", data.plain[0]), ("through the autoencoder", data.through[0])):
        kinds, colors, backgrounds = network(pictures[below:])
        rows = data.labels[0][below:]
        kind = kinds.argmax(-1) == rows[:, :CELLS]
        color = (colors.argmax(-1) + 1 == rows[:, CELLS : 2 * CELLS]) | (rows[:, :CELLS] == 0)
        ground = backgrounds.argmax(-1) == rows[:, -1]
        whole = (kind & color).all(1) & ground
        _log.info("reader %s, kept aside, %s: whole scenes right %.4f", name, source, whole.float().mean().item())
    _log.info("reader %s: temperatures %s", name, [round(float(value), 2) for value in network.temperatures])
