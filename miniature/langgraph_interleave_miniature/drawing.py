"""Drawing: the picture a scene asks for, by Pillow. All training data comes from here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from langgraph_interleave_miniature.scenes import COLUMNS, Scene, Thing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PIL import Image, ImageDraw

#: Side of a picture in pixels; the model knows no other.
SIDE = 64
#: Pictures are drawn this many times larger and reduced, for smooth edges.
_LARGER = 4
#: Middles of the columns and rows, and where the ground begins, in pixels.
COLUMN_X, ROW_Y, HORIZON = (12, 32, 52), (18, 47), 34

Rgb: TypeAlias = tuple[int, int, int]
Point: TypeAlias = tuple[float, float]

PAINTS: dict[str, Rgb] = {
    "red": (222, 40, 40), "orange": (248, 142, 30), "yellow": (250, 222, 60),
    "green": (40, 158, 70), "blue": (45, 95, 225), "purple": (150, 62, 190),
}  # fmt: skip
#: Sky and ground of each background.
GROUNDS: dict[str, tuple[Rgb, Rgb]] = {
    "meadow": ((165, 213, 245), (158, 214, 120)),
    "night": ((44, 48, 104), (88, 94, 122)),
    "beach": ((190, 232, 250), (240, 219, 158)),
    "paper": ((249, 247, 240), (249, 247, 240)),
}
_INK, _BROWN, _PALE = (28, 26, 34), (128, 82, 52), (225, 240, 250)
#: At night outlines are pale: dark ones on dark ground are what an autoencoder loses first.
_MOONLIT = (236, 236, 226)


class _Pen:
    """Draws shapes around a thing's middle, in units of its radius."""

    def __init__(self, draw: ImageDraw.ImageDraw, thing: Thing, outline: Rgb) -> None:
        self.draw = draw
        self.fill = PAINTS[thing.color]
        self.outline = outline
        self.x = (COLUMN_X[thing.cell % COLUMNS] + thing.dx) * _LARGER
        self.y = (ROW_Y[thing.cell // COLUMNS] + thing.dy) * _LARGER
        self.radius = thing.radius * _LARGER
        self.width = round(1.4 * _LARGER)

    def at(self, x: float, y: float) -> Point:
        return self.x + x * self.radius, self.y + y * self.radius

    def oval(self, x0: float, y0: float, x1: float, y1: float, fill: Rgb | None = None, *, bare: bool = False) -> None:
        box = (*self.at(x0, y0), *self.at(x1, y1))
        self.draw.ellipse(box, fill=fill or self.fill, outline=None if bare else self.outline, width=self.width)

    def block(self, x0: float, y0: float, x1: float, y1: float, fill: Rgb | None = None, *, bare: bool = False) -> None:
        box = (*self.at(x0, y0), *self.at(x1, y1))
        self.draw.rectangle(box, fill=fill or self.fill, outline=None if bare else self.outline, width=self.width)

    def shape(self, points: Iterable[Point], fill: Rgb | None = None) -> None:
        corners = [self.at(x, y) for x, y in points]
        self.draw.polygon(corners, fill=fill or self.fill)
        self.draw.line([*corners, corners[0], corners[1]], fill=self.outline, width=self.width, joint="curve")


def _ball(pen: _Pen) -> None:
    pen.oval(-0.95, -0.95, 0.95, 0.95)


def _box(pen: _Pen) -> None:
    pen.block(-0.85, -0.85, 0.85, 0.85)


def _star(pen: _Pen) -> None:
    turns = [(k * math.pi / 5, 1.1 if k % 2 == 0 else 0.48) for k in range(10)]
    pen.shape((math.sin(turn) * far, -math.cos(turn) * far) for turn, far in turns)


def _heart(pen: _Pen) -> None:
    turns = [2 * math.pi * k / 40 for k in range(40)]
    pen.shape(
        (
            math.sin(t) ** 3,
            -(13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)) / 16,
        )
        for t in turns
    )


def _house(pen: _Pen) -> None:
    pen.block(-0.75, -0.15, 0.75, 0.95)
    pen.shape([(-1.0, -0.12), (0, -1.0), (1.0, -0.12)], _BROWN)
    pen.block(-0.2, 0.35, 0.2, 0.95, _INK, bare=True)


def _tree(pen: _Pen) -> None:
    pen.block(-0.22, 0.5, 0.22, 1.05, _BROWN)
    pen.shape([(-0.95, 0.6), (0, -1.05), (0.95, 0.6)])


def _car(pen: _Pen) -> None:
    pen.shape([(-1.05, 0.45), (-1.05, -0.08), (-0.6, -0.14), (-0.4, -0.7), (0.4, -0.7), (0.65, -0.14), (1.05, -0.04), (1.05, 0.45)])  # fmt: skip # noqa: E501
    pen.block(-0.28, -0.44, 0.28, -0.1, _PALE, bare=True)
    for x in (-0.55, 0.55):
        pen.oval(x - 0.3, 0.18, x + 0.3, 0.78, _INK, bare=True)


def _fish(pen: _Pen) -> None:
    pen.shape([(0.45, 0.0), (1.05, -0.62), (1.05, 0.62)])
    pen.oval(-1.05, -0.62, 0.65, 0.62)
    pen.oval(-0.72, -0.26, -0.46, 0.0, _INK, bare=True)


_PAINTERS = {
    "ball": _ball, "box": _box, "star": _star, "heart": _heart,
    "house": _house, "tree": _tree, "car": _car, "fish": _fish,
}  # fmt: skip


def draw(scene: Scene) -> Image.Image:
    """The picture of a scene, 64 x 64 pixels, RGB; the same scene gives the same bytes.

    Args:
        scene: What to show; up to six things.

    Returns:
        A new picture.

    Example:
        >>> draw(Scene("paper")).getpixel((5, 5))
        (249, 247, 240)
    """
    from PIL import Image, ImageDraw

    side = SIDE * _LARGER
    sky, ground = GROUNDS[scene.background]
    image = Image.new("RGB", (side, side), sky)
    canvas = ImageDraw.Draw(image)
    if ground != sky:
        canvas.rectangle((0, HORIZON * _LARGER, side, side), fill=ground)
    outline = _MOONLIT if scene.background == "night" else _INK
    for thing in sorted(scene.things, key=lambda thing: thing.cell):
        _PAINTERS[thing.kind](_Pen(canvas, thing, outline))
    return image.reduce(_LARGER)
