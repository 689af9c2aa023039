"""Pictures as the critic sees them: small, a little blurred, and compared pixel by pixel.

Nothing here reads anything of a file but its pixels.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, cast

from langgraph_interleave.types import ImageBytes
from langgraph_interleave.world.layout import PHOTO_ID
from langgraph_interleave.world.render import MAX_ASPECT
from langgraph_interleave.world.scene import Scene
from langgraph_interleave.world.sight.steady import drawn, places

if TYPE_CHECKING:
    from PIL.Image import Image

#: Pixels along the shorter side of what is compared.
WORK = 192
#: How different two pixels (0 to 255) may be and still be the same: hatching, re-encoding, resizing.
TOLERANCE = 18
#: Radius of the blur that takes away what the hand's unsteadiness does, and of the smallest spot that counts; pixels.
_BLUR = 2
_SPOT = 3.5
#: Share of the picture's shorter side at its edge that is not compared: the frame is drawn anew each time.
_EDGE = 0.045
#: What is around a pinned photo: tape and shadow.
_MOUNT = 0.05

Area = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class View:
    """A picture as it is compared: blurred pixels of the work size; `sharp` ones for what is faint."""

    pixels: Image
    sharp: Image
    width: int
    height: int

    @property
    def digest(self) -> bytes:
        """The pixels as bytes: the same for the same picture, whatever its file says about itself."""
        return self.pixels.tobytes()


@dataclass(frozen=True)
class Residual:
    """How a picture differs from a drawing.

    Attributes:
        map: Per pixel, what is beyond tolerance.
    """

    map: Image

    @cached_property
    def total(self) -> float:
        """Mean of the map, in ten thousandths of full contrast."""
        histogram = self.map.histogram()
        return sum(value * count for value, count in enumerate(histogram)) / 255 / max(1, sum(histogram)) * 1e4

    @cached_property
    def peak(self) -> int:
        """The most of it at any one place, 0 to 255."""
        from PIL import ImageFilter

        most = self.map.filter(ImageFilter.BoxBlur(_SPOT)).getextrema()[1]
        assert isinstance(most, int)
        return most

    def within(self, areas: Iterable[Area]) -> float:
        """The part of `total` that lies within areas (each counted by itself)."""
        from PIL import ImageStat

        found = sum(ImageStat.Stat(self.map.crop(area)).sum[0] for area in areas if _is_area(area))
        return found / 255 / (self.map.width * self.map.height) * 1e4

    def without(self, areas: Iterable[Area]) -> Residual:
        """What is left outside of areas."""
        rest = self.map.copy()
        for area in areas:
            rest.paste(0, area)
        return Residual(rest)


def look(image: ImageBytes) -> View | None:
    """Decode a picture and bring it to the work size; `None` when it cannot be decoded.

    Args:
        image: Any picture.
    """
    from PIL import Image
    from PIL.Image import DecompressionBombError, DecompressionBombWarning

    damaged = (
        OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, ArithmeticError, struct.error,
        DecompressionBombError, DecompressionBombWarning,
    )  # fmt: skip
    try:
        with Image.open(io.BytesIO(image.data)) as opened:
            opened.draft("RGB", (2 * WORK, 2 * WORK))
            shown = opened if opened.mode == "RGB" else _flat(opened)
            width, height = work_size(*shown.size)
            small = shown.resize((width, height), Image.Resampling.BOX, reducing_gap=2.0)
    except damaged:
        return None
    return View(_blurred(small), small, width, height)


def work_size(width: int, height: int) -> tuple[int, int]:
    """The size a picture is compared at: its shape kept, the shorter side about `WORK` pixels.

    Example:
        >>> work_size(512, 512), work_size(1024, 768)
        ((192, 192), (256, 192))
    """
    shorter, longer = min(width, height), max(width, height)
    longer = min(longer, int(MAX_ASPECT * shorter))
    # The layout depends on the exact shape: of the sizes near by, the one that keeps it best.
    ratio = longer / shorter
    side = min(range(WORK, WORK + 33), key=lambda one: (round(abs(one * ratio - round(one * ratio)), 2), one))
    other = round(side * ratio)
    return (side, other) if width <= height else (other, side)


def compare(view: View, scene: Scene) -> Residual:
    """How a picture differs from the drawing of a scene; a pinned photo is left out.

    Args:
        view: The picture.
        scene: What it should show.
    """
    residual = differ(view.pixels, expected(scene, view.width, view.height))
    for area in photo_areas(scene, view.width, view.height):
        residual.map.paste(0, area)
    return residual


def differ(one: Image, other: Image) -> Residual:
    """How two pictures of the same size differ beyond tolerance, their edges aside."""
    from PIL import Image, ImageChops

    red, green, blue = ImageChops.difference(one, other).split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), blue).point(_beyond())
    width, height = one.size
    edge = round(_EDGE * min(width, height))
    inner = (edge, edge, width - edge, height - edge)
    inside = Image.new("L", (width, height), 0)
    inside.paste(most.crop(inner), inner)
    return Residual(inside)


def expected(scene: Scene, width: int, height: int) -> Image:
    """The drawing of a scene as the critic would see it."""
    # A frozen record has a hash, which a type checker cannot see.
    return _expected(cast("Hashable", scene), width, height)


@lru_cache(maxsize=256)
def _expected(scene: Hashable, width: int, height: int) -> Image:
    return _blurred(drawn(cast("Scene", scene), width, height))


def areas_of(scene: Scene, thing: str, width: int, height: int, *, grown: float = 0.02) -> list[Area]:
    """The boxes of a thing's copies in pixels, a little larger than they are.

    Args:
        scene: Where it is.
        thing: Its id.
        width: Of the picture.
        height: Of the picture.
        grown: By how much, as a share of the shorter side; negative for the inside.
    """
    more = grown * min(width, height)
    found: list[Area] = []
    for place in places(scene, width, height):
        if place.id == thing:
            left, top, right, bottom = place.pixels(width, height)
            found.append((round(left - more), round(top - more), round(right + more), round(bottom + more)))
    return [clipped for area in found if _is_area(clipped := _clip(area, width, height))]


def photo_areas(scene: Scene, width: int, height: int) -> list[Area]:
    """Where a photo is pinned up in the scene."""
    return areas_of(scene, PHOTO_ID, width, height, grown=_MOUNT) if scene.photo else []


def _clip(area: Area, width: int, height: int) -> Area:
    left, top, right, bottom = area
    return max(0, left), max(0, top), min(width, right), min(height, bottom)


def _is_area(area: Area) -> bool:
    return area[2] > area[0] and area[3] > area[1]


def _blurred(image: Image) -> Image:
    from PIL import ImageFilter

    return image.filter(ImageFilter.BoxBlur(_BLUR))


def _flat(image: Image) -> Image:
    """Any mode as RGB, transparency on white."""
    from PIL import Image as Images

    if "A" not in image.getbands() and "transparency" not in image.info:
        return image.convert("RGB")
    clear = image.convert("RGBA")
    ground = Images.new("RGBA", clear.size, "white")
    ground.alpha_composite(clear)
    return ground.convert("RGB")


@lru_cache(maxsize=1)
def _beyond() -> list[int]:
    return [max(0, value - TOLERANCE) for value in range(256)]
