"""Drawings with a steady hand: what the critic expects to see, small, without wobble, and quickly.

The unsteadiness of a picture's lines is not what it is judged by, so expectations are drawn without
it: outlines as they are, hatching as the even tone it makes. What stays the same from one
expectation to the next is kept.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from langgraph_interleave.world.alternatives import shown_color, shown_state
from langgraph_interleave.world.drawing import drawings
from langgraph_interleave.world.drawing.card import draw_card
from langgraph_interleave.world.drawing.outline import Outline, oval, part, placed, poly
from langgraph_interleave.world.drawing.pen import LIGHT, UNITS, WEIGHT, Pen
from langgraph_interleave.world.drawing.raster import rasterizer
from langgraph_interleave.world.layout import Placed, layout
from langgraph_interleave.world.lettering import font_files
from langgraph_interleave.world.palette import tone
from langgraph_interleave.world.render import picture
from langgraph_interleave.world.scene import Scene, Thing
from langgraph_interleave.world.vocabulary import CARD, KINDS

if TYPE_CHECKING:
    from PIL.Image import Image

#: Longer lines are drawn with two strokes; how much wider those are together, being unsteady.
_LONG = 44.0
_TWICE = 1.25
#: Width of a line of hatching; by its gap, the share of the paper it covers.
_HATCH = 1.5
_PAD = 14.0


class SteadyPen(Pen):
    """A pen whose lines are straight and whose hatching is a tone."""

    def _trace(self, moved: Outline, color: str, weight: float) -> None:
        across, down = ([point[axis] for run in moved.runs for point in run.points] for axis in (0, 1))
        twice = max(max(across) - min(across), max(down) - min(down)) > _LONG
        width = WEIGHT * weight * (_TWICE if twice else 1.0)
        self.raw(
            f'<path d="{moved.data()}" fill="none" stroke="{color}" stroke-width="{width:.2f}" stroke-linecap="round"/>'
        )

    def _hatch(self, moved: Outline, share: float, color: str, gap: float = 5.2, angle: float = -41.0) -> None:
        polygon = part(moved.flattened(), share, LIGHT)
        if len(polygon) > 2:
            self.raw(f'<path d="{poly(*polygon).data()}" fill="{color}" fill-opacity="{_HATCH / gap:.2f}"/>')


def drawn(scene: Scene, width: int, height: int) -> Image:
    """A scene as a picture, RGB, without a photo.

    Args:
        scene: What to show.
        width: Pixels.
        height: Pixels.
    """
    image = _ground(scene.backdrop, scene.caption, width, height).copy()
    things = {thing.id: thing for thing in scene.things}
    for place in places(scene, width, height):
        thing = things.get(place.id)
        if thing is not None:
            _paste(image, place, thing)
    return image


def places(scene: Scene, width: int, height: int) -> tuple[Placed, ...]:
    """Where everything in the scene stands in a picture of that shape."""
    # Looks that take no other room do not decide where things stand.
    things = tuple(_posed(thing) for thing in scene.things)
    return _places(cast("Hashable", scene.model_copy(update={"things": things})), width / height)


@lru_cache(maxsize=1024)
def _places(scene: Hashable, aspect: float) -> tuple[Placed, ...]:
    return layout(cast("Scene", scene), aspect=aspect)


def _posed(thing: Thing) -> Thing:
    kind = KINDS.get(thing.kind, CARD)
    same = kind.extent(thing.state) == kind.extent(None) and thing.state not in kind.aim
    return thing.model_copy(update={"color": None, "label": None, "state": None if same else thing.state})


@lru_cache(maxsize=64)
def _ground(backdrop: str, caption: str | None, width: int, height: int) -> Image:
    return picture(Scene(backdrop=backdrop, caption=caption), width=width, height=height)


def _paste(image: Image, place: Placed, thing: Thing) -> None:
    width, height = image.size
    k = min(width, height) / UNITS
    # Where its foot is, in half pixels: so the same thing elsewhere is the same sprite.
    x, y = round((place.x + place.w / 2) * width * 2), round((place.y + place.h) * height * 2)
    stance = _Stance(
        thing.kind, shown_state(thing) or "", shown_color(thing), thing.label or "", round(place.scale, 3),
        round(place.w * width / k, 1), round(place.h * height / k, 1), place.grounded,
    )  # fmt: skip
    sprite, left, top = _sprite(stance, k, x % 2 / 2, y % 2 / 2)
    image.paste(sprite, (x // 2 + left, y // 2 + top), sprite)


class _Stance(NamedTuple):
    """All that decides a sprite but its place; sizes in canvas units."""

    kind: str
    state: str
    color: str
    label: str
    scale: float
    width: float
    height: float
    grounded: bool


@lru_cache(maxsize=2048)
def _sprite(stance: _Stance, k: float, across: float, down: float) -> tuple[Image, int, int]:
    """A thing's pixels, and where their upper left corner lies from the whole pixel its foot is in."""
    pen = SteadyPen(tone(stance.color), matrix=placed(across / k, down / k, scale=stance.scale))
    if stance.grounded:
        wide = stance.width / stance.scale
        with pen.at(-wide * 0.03, 0.5):
            spot = oval(0, 0, wide * 0.46, 4.2).moved(pen.matrix).data()
            pen.raw(f'<path d="{spot}" fill="#2b2620" fill-opacity="0.13"/>')
    fonts: tuple[str, ...] = ()
    if stance.kind in drawings():
        drawings()[stance.kind](pen, stance.state)
    else:
        draw_card(pen, stance.label or stance.kind)
        fonts = tuple(font_files(stance.label or stance.kind))
    left, right = math.floor((-stance.width / 2 - _PAD) * k), math.ceil((stance.width / 2 + _PAD) * k) + 1
    top, bottom = math.floor((-stance.height - _PAD) * k), math.ceil(_PAD * k) + 1
    document = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right - left}" height="{bottom - top}" '
        f'viewBox="{left / k:.3f} {top / k:.3f} {(right - left) / k:.3f} {(bottom - top) / k:.3f}" '
        f'preserveAspectRatio="none">{"".join(pen.elements)}</svg>'
    )
    return rasterizer().rasterize(document, right - left, fonts=fonts), left, top
