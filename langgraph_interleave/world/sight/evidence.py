"""Evidence: what is to be seen where a thing should be. It decides which guesses are worth a look."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from langgraph_interleave.world.alternatives import CELLS, other_colors, shown_color
from langgraph_interleave.world.palette import COLORS, distance, rgb, tone
from langgraph_interleave.world.scene import Cell, Scene, Thing
from langgraph_interleave.world.sight.steady import drawn
from langgraph_interleave.world.sight.view import Area, Residual, View, areas_of, differ, expected

if TYPE_CHECKING:
    from PIL.Image import Image

#: Share of a thing that must be right for it to be in its place, or bare ground for it to be gone from there.
_IN_PLACE = 0.7
_GONE = 0.55
#: A thing is faint below this contrast (as `Residual.peak`), and not to be seen when its pixels are nearer to
#: the ground than to its lines by this.
_FAINT = 45
_NEARER = 0.7
#: Colours nearer than this (CIE76) are the same, seen through blur and encoding.
_SAME = 9.0
#: Pixels at least that must show a thing's own colour before it is judged.
_LEAST = 6
_NEAR = [255 if value <= 40 else 0 for value in range(256)]
_OWN = [255 if value > 12 else 0 for value in range(256)]
_ANY = [255 if value else 0 for value in range(256)]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is to be seen where a thing should be.

    Attributes:
        right: Share of the thing that is as it should be.
        bare: Share of it where there is only what lies behind.
        colors: The colours it may have instead of its own, the likeliest first.
    """

    right: float
    bare: float
    colors: tuple[str, ...] = ()

    @property
    def in_place(self) -> bool:
        """Most of it is there: it has neither gone nor moved."""
        return self.right > _IN_PLACE

    @property
    def gone(self) -> bool:
        """Hardly anything is there: it is missing, or elsewhere."""
        return not self.in_place and self.bare > _GONE


def weigh(view: View, scene: Scene, thing: Thing, residual: Residual) -> Evidence:
    """Look at the place of a thing.

    Args:
        view: The picture.
        scene: What it is thought to show.
        thing: A thing of that scene.
        residual: How they differ.
    """
    from PIL import ImageChops

    ground = expected(scene.model_copy(update={"things": ()}), view.width, view.height)
    own = ImageChops.difference(expected(scene, view.width, view.height), ground).convert("L").point(_OWN)
    against_ground = differ(view.pixels, ground).map
    right = bare = total = 0.0
    for area in areas_of(scene, thing.id, view.width, view.height, grown=0.0):
        mask = own.crop(area)
        total += mask.histogram()[255]
        right += _zeros(residual.map.crop(area), mask)
        bare += _zeros(against_ground.crop(area), mask)
    if not total:
        return Evidence(1.0, 0.0)
    found = Evidence(right / total, bare / total)
    if found.gone:
        return found
    return Evidence(found.right, found.bare, _colors(view, scene, thing, residual, ground))


def unseen(view: View, scene: Scene) -> list[Thing]:
    """Faint things (a white egg on snow) that are not to be seen, though the picture seems right on the whole.

    Lines as thin and pale as theirs are lost among what hand and encoding do. So each is asked by
    itself whether its pixels are nearer to its own lines or to the bare ground.
    """
    from PIL import Image, ImageChops, ImageFilter, ImageStat

    faint = _faint(cast("Hashable", scene), view.width, view.height)
    if not faint:
        return []
    light = ImageFilter.BoxBlur(1)
    seen = view.sharp.filter(light)
    wanted = drawn(scene, view.width, view.height).filter(light)
    ground = drawn(scene.model_copy(update={"things": ()}), view.width, view.height).filter(light)
    own = ImageChops.difference(wanted, ground).convert("L").point(_OWN)
    found: list[Thing] = []
    for thing in (thing for thing in scene.things if thing.id in faint):
        mask = Image.new("L", own.size, 0)
        for area in areas_of(scene, thing.id, view.width, view.height, grown=0.0):
            mask.paste(own.crop(area), area)
        for other in scene.things:
            if other.id != thing.id:
                for area in areas_of(scene, other.id, view.width, view.height):
                    mask.paste(0, area)
        if mask.histogram()[255] < _LEAST:
            continue
        from_lines = sum(ImageStat.Stat(ImageChops.difference(seen, wanted), mask).sum)
        from_ground = sum(ImageStat.Stat(ImageChops.difference(seen, ground), mask).sum)
        if from_ground < _NEARER * from_lines:
            found.append(thing)
    return found


@lru_cache(maxsize=512)
def _faint(scene: Hashable, width: int, height: int) -> frozenset[str]:
    """Ids of the things that would hardly be missed."""
    whole = cast("Scene", scene)
    bare = expected(whole.model_copy(update={"things": ()}), width, height)
    contrast = differ(expected(whole, width, height), bare).map
    return frozenset(
        thing.id
        for thing in whole.things
        if all(
            Residual(contrast.crop(area)).peak < _FAINT for area in areas_of(whole, thing.id, width, height, grown=0.0)
        )
    )


def crowded_cells(scene: Scene, thing: Thing, residual: Residual, *, most: int = 3) -> list[Cell]:
    """The parts of the picture where most is to be seen that should not be there, the place of the thing aside."""
    width, height = residual.map.size
    rest = residual.without(areas_of(scene, thing.id, width, height))
    amounts: list[tuple[float, Cell]] = []
    for index, cell in enumerate(CELLS):
        amounts.append((rest.within([cell_area(index, width, height)]), cell))
    amounts.sort(key=lambda one: -one[0])
    return [cell for amount, cell in amounts[:most] if amount > 0.04 * residual.total]


def cell_area(index: int, width: int, height: int) -> Area:
    """The rectangle of the cell with that index, row by row."""
    column, row = index % 3, index // 3
    return column * width // 3, row * height // 3, (column + 1) * width // 3, (row + 1) * height // 3


def _colors(view: View, scene: Scene, thing: Thing, residual: Residual, ground: Image) -> tuple[str, ...]:
    """The two colour words nearest to what is to be seen where the thing's own colour should be and is not."""
    from PIL import Image, ImageChops

    others = other_colors(thing)
    if not others:
        return ()
    shown = expected(scene, view.width, view.height)
    own = Image.new("RGB", shown.size, rgb(tone(shown_color(thing)).fill))
    red, green, blue = ImageChops.difference(shown, own).split()
    filled = ImageChops.lighter(ImageChops.lighter(red, green), blue).point(_NEAR)
    wrong = ImageChops.darker(filled, residual.map.point(_ANY))
    mask = Image.new("L", shown.size, 0)
    for area in areas_of(scene, thing.id, view.width, view.height):
        mask.paste(wrong.crop(area), area)
    if mask.histogram()[255] < _LEAST:
        return ()
    median = _median(view.pixels, mask)
    if distance(median, _median(ground, mask)) < _SAME:
        # Perhaps it is not there at all.
        return ()
    return tuple(sorted(others, key=lambda color: distance(median, COLORS[color].fill))[:2])


def _zeros(image: Image, mask: Image) -> int:
    """Pixels of a mask where an image is 0."""
    return image.histogram(mask)[0]


def _median(image: Image, mask: Image) -> tuple[int, int, int]:
    from PIL import ImageStat

    red, green, blue = ImageStat.Stat(image, mask).median
    return int(red), int(green), int(blue)
