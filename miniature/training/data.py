"""Data: pictures of random scenes as tensors, drawn here and now; there is no other data."""

from __future__ import annotations

import numpy as np
import torch

from langgraph_interleave_miniature.drawing import draw
from langgraph_interleave_miniature.scenes import BACKGROUNDS, CELLS, COLORS, KINDS, Scene


def pixels(scenes: list[Scene]) -> np.ndarray:
    """Drawings of scenes: uint8, (count, 64, 64, 3)."""
    return np.stack([np.asarray(draw(scene)) for scene in scenes])


def tensor(array: np.ndarray) -> torch.Tensor:
    """uint8 pictures as float tensors in [-1, 1], (count, 3, 64, 64)."""
    return torch.from_numpy(np.ascontiguousarray(array)).permute(0, 3, 1, 2).float().div_(127.5).sub_(1.0)


def things_mask(scenes: list[Scene], drawn: np.ndarray) -> np.ndarray:
    """Where a picture differs from its bare background: bool, (count, 64, 64)."""
    bare = {name: np.asarray(draw(Scene(name))).astype(np.int16) for name in BACKGROUNDS}
    rows = [
        np.abs(picture.astype(np.int16) - bare[scene.background]).max(-1) > 6
        for picture, scene in zip(drawn, scenes, strict=True)
    ]
    return np.stack(rows)


def labels(scenes: list[Scene]) -> np.ndarray:
    """Classes to learn: int64, (count, 13): six kinds (0 is nothing), six colors (0 is nothing), the background."""
    table = np.zeros((len(scenes), 2 * CELLS + 1), np.int64)
    for row, scene in zip(table, scenes, strict=True):
        for thing in scene.things:
            row[thing.cell] = 1 + KINDS.index(thing.kind)
            row[CELLS + thing.cell] = 1 + COLORS.index(thing.color)
        row[-1] = BACKGROUNDS.index(scene.background)
    return table
