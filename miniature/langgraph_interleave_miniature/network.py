"""Network: the small convolutional net that reads pictures. Needs torch; imported when used."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from langgraph_interleave_miniature.drawing import COLUMN_X, SIDE
from langgraph_interleave_miniature.scenes import BACKGROUNDS, CELLS, COLORS, COLUMNS, KINDS

#: What is cut out of a picture for one cell: wider than the cell, so that a thing is seen whole.
_WIDE, _HIGH = 28, 32
_GROUND = 8


def cells(pictures: torch.Tensor) -> torch.Tensor:
    """Six cut-outs of every picture: (count, 3, 64, 64) to (count, 6, 3, 32, 28)."""
    cut: list[torch.Tensor] = []
    for cell in range(CELLS):
        left = min(max(COLUMN_X[cell % COLUMNS] - _WIDE // 2, 0), SIDE - _WIDE)
        top = cell // COLUMNS * _HIGH
        cut.append(pictures[:, :, top : top + _HIGH, left : left + _WIDE])
    return torch.stack(cut, 1)


class ReaderNetwork(nn.Module):
    """Pictures to logits of kind, color and background.

    Every cell is looked at by the same layers, the background in a picture reduced to 8 x 8. Logits are divided by
    temperatures that were fitted on pictures kept aside, so that a probability of 0.9 is right nine times in ten.
    """

    temperatures: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        sizes = (3, 16, 32, 48)
        layers: list[nn.Module] = []
        for before, after in pairwise(sizes):
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]
        inside = sizes[-1] * (_HIGH // 8) * (_WIDE // 8)
        self.trunk = nn.Sequential(*layers, nn.Flatten(), nn.Linear(inside, 64), nn.ReLU())
        self.kind = nn.Linear(64, 1 + len(KINDS))
        self.color = nn.Linear(64, len(COLORS))
        self.ground = nn.Sequential(
            nn.AdaptiveAvgPool2d(_GROUND),
            nn.Flatten(),
            nn.Linear(3 * _GROUND**2, 24),
            nn.ReLU(),
            nn.Linear(24, len(BACKGROUNDS)),
        )
        self.register_buffer("temperatures", torch.ones(3))

    def forward(self, pictures: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logits: kinds (count, 6, 9) with 0 for nothing, colors (count, 6, 6), backgrounds (count, 4).

        Args:
            pictures: (count, 3, 64, 64) in [-1, 1].
        """
        seen = self.trunk(cells(pictures).flatten(0, 1))
        kinds = self.kind(seen).unflatten(0, (-1, CELLS)) / self.temperatures[0]
        colors = self.color(seen).unflatten(0, (-1, CELLS)) / self.temperatures[1]
        return kinds, colors, self.ground(pictures) / self.temperatures[2]
