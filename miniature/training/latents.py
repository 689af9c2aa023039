"""Latents: the transformer's data, made once: scenes, their edits, and their pictures through the autoencoder."""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch

from langgraph_interleave_miniature.scenes import Edit, Scene, random_edit, random_scene
from training.autoencoder import encoded
from training.data import pixels, tensor
from training.loop import Chance
from training.models import TOKENS_SIDE, Autoencoder, unpatchified

_log = logging.getLogger(__name__)
_EDITS_EACH, _CHUNK = 3, 64


class Codec:
    """Pictures to normalised tokens and back, as the pipeline does it.

    Args:
        folder: Where the autoencoder was saved.
        device: Where to run it.
    """

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        from diffusers.models.autoencoders.autoencoder_kl_flux2 import AutoencoderKLFlux2

        self.model: Autoencoder = cast(Any, AutoencoderKLFlux2.from_pretrained(folder)).eval().to(device)
        self.device = device
        norm = self.model.bn
        self._mean = norm.running_mean.view(1, -1, 1, 1)
        self._spread = torch.sqrt(norm.running_var.view(1, -1, 1, 1) + self.model.config.batch_norm_eps)

    @torch.no_grad()
    def tokens(self, pictures: torch.Tensor) -> torch.Tensor:
        """(count, 3, 64, 64) in [-1, 1] to (count, 16, 48)."""
        with torch.autocast(self.device, torch.bfloat16):
            patches = encoded(self.model, pictures.to(self.device))
        return ((patches - self._mean) / self._spread).flatten(2).transpose(1, 2)

    def latents(self, tokens: torch.Tensor) -> torch.Tensor:
        """What the decoder draws from: (count, 16, 48) to (count, 12, 8, 8)."""
        patches = tokens.transpose(1, 2).unflatten(2, (TOKENS_SIDE, TOKENS_SIDE))
        return unpatchified(patches * self._spread + self._mean)

    @torch.no_grad()
    def pictures(self, tokens: torch.Tensor) -> torch.Tensor:
        """(count, 16, 48) to (count, 3, 64, 64) in [-1, 1], rounded as a file would be."""
        with torch.autocast(self.device, torch.bfloat16):
            drawn = self.model.decode(self.latents(tokens)).sample
        return ((drawn.float().clamp(-1, 1) + 1) * 127.5).round() / 127.5 - 1


@dataclass(slots=True)
class Latents:
    """All data of the transformer's stage.

    Args:
        scenes: Scenes; after each base scene the scenes its edits lead to.
        edits: Edits, with the numbers of the scenes before and after.
        clean: Tokens of every scene's drawing, half precision.
        faulty: Tokens of the first scenes' drawings after they went through the autoencoder with noise on the way.
    """

    scenes: list[Scene]
    edits: list[tuple[int, int, Edit]]
    clean: torch.Tensor
    faulty: torch.Tensor

    def by_count(self) -> dict[int, list[int]]:
        """Numbers of the scenes with so many things."""
        found: dict[int, list[int]] = {}
        for number, scene in enumerate(self.scenes):
            found.setdefault(len(scene.things), []).append(number)
        return found


def _scenes(count: int, seed: int) -> tuple[list[Scene], list[tuple[int, int, Edit]]]:
    rng = random.Random(seed)
    scenes: list[Scene] = []
    edits: list[tuple[int, int, Edit]] = []
    for _ in range(count):
        base = len(scenes)
        scenes.append(random_scene(rng))
        for _ in range(_EDITS_EACH):
            edit = random_edit(rng, scenes[base])
            edits += [(base, len(scenes), edit), (len(scenes), base, edit.reversed)]
            scenes.append(edit.after)
    return scenes, edits


def make_latents(work: Path, *, seed: int = 0, device: str = "cpu", bases: int = 6000, faulty: int = 8000) -> Latents:
    """Draws and encodes everything, or reads it back if that was done before.

    Args:
        work: Where the autoencoder is, and where the latents are kept.
        seed: Of the scenes.
        device: Where to encode.
        bases: Base scenes; three edits of each come with them.
        faulty: How many pictures also go through the autoencoder with noise, as references of edits.
    """
    scenes, edits = _scenes(bases, seed + 1)
    file = work / "latents.pt"
    if file.exists():
        stored = torch.load(file)
        return Latents(scenes, edits, stored["clean"], stored["faulty"])
    codec, chance = Codec(work / "autoencoder", device), Chance(seed + 2, device)
    clean: list[torch.Tensor] = []
    spoilt: list[torch.Tensor] = []
    for start in range(0, len(scenes), _CHUNK):
        tokens = codec.tokens(tensor(pixels(scenes[start : start + _CHUNK])))
        clean.append(tokens.half().cpu())
        if start < faulty:
            noise = 0.5 * chance.uniform(len(tokens), 1, 1) * chance.normal(tokens)
            spoilt.append(codec.tokens(codec.pictures(tokens + noise)).half().cpu())
        if start // _CHUNK % 50 == 0:
            _log.info("latents: %d of %d pictures", start, len(scenes))
    found = Latents(scenes, edits, torch.cat(clean), torch.cat(spoilt))
    torch.save({"clean": found.clean, "faulty": found.faulty}, file)
    return found
