"""Reading: what a reader sees in a picture, as probabilities, and what a text says of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from langgraph_interleave_miniature.scenes import BACKGROUNDS, CELLS, COLORS, KINDS, Scene, Thing

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True, slots=True)
class Reading:
    """What a picture shows, as far as a reader can tell. All numbers are probabilities.

    Args:
        kinds: By cell: that there is nothing, then each of `KINDS`.
        colors: By cell: each of `COLORS`, given that there is a thing.
        backgrounds: Each of `BACKGROUNDS`.
    """

    kinds: tuple[tuple[float, ...], ...]
    colors: tuple[tuple[float, ...], ...]
    backgrounds: tuple[float, ...]

    @property
    def scene(self) -> Scene:
        """The likeliest scene, part by part."""
        things: list[Thing] = []
        for cell in range(CELLS):
            number = _likeliest(self.kinds[cell])
            if number:
                things.append(Thing(KINDS[number - 1], COLORS[_likeliest(self.colors[cell])], cell))
        return Scene(BACKGROUNDS[_likeliest(self.backgrounds)], tuple(things))

    def empty(self, cell: int) -> float:
        """How likely a cell is empty."""
        return self.kinds[cell][0]

    def kind(self, cell: int, kind: str) -> float:
        """How likely there is a thing of a kind in a cell."""
        return self.kinds[cell][1 + KINDS.index(kind)]

    def color(self, cell: int, color: str) -> float:
        """How likely the thing in a cell has a color."""
        return self.colors[cell][COLORS.index(color)]

    def background(self, background: str) -> float:
        """How likely a background is."""
        return self.backgrounds[BACKGROUNDS.index(background)]


class Reader(Protocol):
    """Anything that sees what a picture of the miniature's world shows."""

    def __call__(self, picture: Image.Image) -> Reading:
        """Read a picture.

        Args:
            picture: RGB, 64 x 64 pixels.
        """
        ...


def certain(scene: Scene, sure: float = 1.0) -> Reading:
    """A reading of somebody who knows the scene, or is as sure of each of its parts as is said.

    Example:
        >>> certain(Scene("night")).background("night")
        1.0
    """
    there = {thing.cell: thing for thing in scene.things}

    def spread(number: int, count: int) -> tuple[float, ...]:
        return tuple(sure if index == number else (1 - sure) / (count - 1) for index in range(count))

    kinds = [1 + KINDS.index(there[cell].kind) if cell in there else 0 for cell in range(CELLS)]
    colors = [COLORS.index(there[cell].color) if cell in there else 0 for cell in range(CELLS)]
    return Reading(
        tuple(spread(number, len(KINDS) + 1) for number in kinds),
        tuple(spread(number, len(COLORS)) for number in colors),
        spread(BACKGROUNDS.index(scene.background), len(BACKGROUNDS)),
    )


def _likeliest(chances: tuple[float, ...]) -> int:
    return max(range(len(chances)), key=chances.__getitem__)
