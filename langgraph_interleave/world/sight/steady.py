"""Drawings with a steady hand: what the critic expects to see, small, without wobble, and quickly.

The unsteadiness of a picture's lines is not what it is judged by, so expectations are drawn without
it: outlines as they are, hatching as the even tone it makes. What stays the same from one
expectation to the next is kept.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import lru_cache
from typing import TYPE_CHECKING, cast

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

#: How much wider than one stroke the two strokes of an unsteady line are together.
_TWICE = 1.25
#: Width of a line of hatching; by its gap, the share of the paper it covers.
_HATCH = 1.5
_PAD = 14.0


class SteadyPen(Pen):
    """A pen whose lines are straight and whose hatching is a tone."""

    def _trace(self, moved: Outline, color: str, weight: float) -> None:
        self.raw(
            f'<path d="{moved.data()}" fill="none" stroke="{color}" stroke-width="{WEIGHT * weight * _TWICE:.2f}" '
            'stroke-linecap="round"/>'
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
            look = (thing.kind, shown_state(thing) or "", shown_color(thing), thing.label or "")
            sprite, left, top = _sprite(place, look, width, height)
            image.paste(sprite, (left, top), sprite)
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


@lru_cache(maxsize=2048)
def _sprite(place: Placed, look: tuple[str, str, str, str], width: int, height: int) -> tuple[Image, int, int]:
    kind, state, color, label = look
    k = min(width, height) / UNITS
    w, h = width / k, height / k
    x, y = (place.x + place.w / 2) * w, (place.y + place.h) * h
    pen = SteadyPen(tone(color), matrix=placed(x, y, scale=place.scale))
    if place.grounded:
        across = place.w * w / place.scale
        with pen.at(-across * 0.03, 0.5):
            spot = oval(0, 0, across * 0.46, 4.2).moved(pen.matrix).data()
            pen.raw(f'<path d="{spot}" fill="#2b2620" fill-opacity="0.13"/>')
    fonts: tuple[str, ...] = ()
    if kind in drawings():
        drawings()[kind](pen, state)
    else:
        draw_card(pen, label or kind)
        fonts = tuple(font_files(label or kind))
    edges = (place.x * w - _PAD, place.y * h - _PAD, (place.x + place.w) * w + _PAD, y + _PAD)
    left, top = max(0, math.floor(edges[0] * k)), max(0, math.floor(edges[1] * k))
    right, bottom = min(width, math.ceil(edges[2] * k)), min(height, math.ceil(edges[3] * k))
    document = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right - left}" height="{bottom - top}" '
        f'viewBox="{left / k:.3f} {top / k:.3f} {(right - left) / k:.3f} {(bottom - top) / k:.3f}" '
        f'preserveAspectRatio="none">{"".join(pen.elements)}</svg>'
    )
    return rasterizer().rasterize(document, right - left, fonts=fonts), left, top
