"""A reader of the miniature's pictures without a network: it compares each cell with every drawing there may be.

It reads drawings whose things stand in the middle of their cells without a mistake, and is as sure as it is told.
"""

from __future__ import annotations

import functools

from langgraph_interleave_miniature.drawing import COLUMN_X, ROW_Y, draw
from langgraph_interleave_miniature.reading import Reading, certain
from langgraph_interleave_miniature.scenes import BACKGROUNDS, CELLS, COLORS, COLUMNS, KINDS, Scene, Thing
from PIL import Image, ImageChops, ImageStat

_REACH = 10
_CORNERS = ((1, 1), (62, 1), (1, 62), (62, 62))


class SceneReader:
    """Reads by comparing.

    Args:
        sure: How likely each part is said to be, 0 to 1.
    """

    def __init__(self, sure: float = 0.995) -> None:
        self.sure = sure

    def __call__(self, picture: Image.Image) -> Reading:
        background = min(BACKGROUNDS, key=lambda one: _apart(_corners(picture), _corners(_drawn(one, None, 0))))
        things = [thing for cell in range(CELLS) if (thing := _thing(picture, background, cell)) is not None]
        return certain(Scene(background, tuple(things)), self.sure)


def _thing(picture: Image.Image, background: str, cell: int) -> Thing | None:
    seen = _cell(picture, cell)
    known = _known(background, cell // COLUMNS)
    option = known.get(seen.tobytes())
    if option is None:
        nearest = min(known, key=lambda data: _apart(seen, Image.frombytes("RGB", seen.size, data)))
        option = known[nearest]
    return Thing(option[0], option[1], cell) if option else None


@functools.cache
def _known(background: str, row: int) -> dict[bytes, tuple[str, ...]]:
    """What a cell looks like with each thing in it, or with none. All cells of a row look alike."""
    first = row * COLUMNS
    options: list[tuple[str, str] | None] = [None, *((kind, color) for kind in KINDS for color in COLORS)]
    return {_cell(_drawn(background, option, first), first).tobytes(): option or () for option in options}


@functools.cache
def _drawn(background: str, option: tuple[str, str] | None, cell: int) -> Image.Image:
    return draw(Scene(background, () if option is None else (Thing(*option, cell),)))


def _cell(picture: Image.Image, cell: int) -> Image.Image:
    x, y = COLUMN_X[cell % COLUMNS], ROW_Y[cell // COLUMNS]
    return picture.crop((x - _REACH, y - _REACH, x + _REACH, y + _REACH))


def _corners(picture: Image.Image) -> Image.Image:
    found = Image.new("RGB", (len(_CORNERS), 1))
    for index, corner in enumerate(_CORNERS):
        pixel = picture.getpixel(corner)
        assert isinstance(pixel, tuple)
        found.putpixel((index, 0), pixel)
    return found


def _apart(one: Image.Image, other: Image.Image) -> float:
    return sum(ImageStat.Stat(ImageChops.difference(one, other)).sum2)
