"""A scene becomes a picture: hand-drawn, the same for the same scene, size and seed.

Every thing is drawn by itself and kept: a thing that stays as it was is not drawn again, and comes
out pixel for pixel the same. Its lines depend on its id and kind; the seed of the request changes
the hatching and the frame, so another seed gives another picture of the same scene.
"""

from __future__ import annotations

import base64
import io
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.types.artifact import ImageBytes
from langgraph_interleave.world.drawing import drawings
from langgraph_interleave.world.drawing.backdrops import EDGE, Ground, draw_backdrop, draw_frame_side, frame_sides
from langgraph_interleave.world.drawing.card import draw_card, draw_mount, draw_photo
from langgraph_interleave.world.drawing.outline import box, oval, placed
from langgraph_interleave.world.drawing.pen import UNITS, Pen
from langgraph_interleave.world.drawing.raster import rasterizer
from langgraph_interleave.world.layout import PHOTO_ID, Placed, layout
from langgraph_interleave.world.lettering import fit, font_files, letter
from langgraph_interleave.world.marks import MIME, Area, Format, encode
from langgraph_interleave.world.palette import COLOR_SYNONYMS, INK, PAPER, TONES, tone
from langgraph_interleave.world.scene import Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

if TYPE_CHECKING:
    from PIL.Image import Image

MIN_SIDE = 64
MAX_SIDE = 4096
MAX_ASPECT = 3.0

_PAD = 14.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """The picture's size in pixels, and in canvas units (400 along the shorter side)."""

    width: int
    height: int

    @property
    def pixels_per_unit(self) -> float:
        return min(self.width, self.height) / UNITS

    @property
    def w(self) -> float:
        return self.width / self.pixels_per_unit

    @property
    def h(self) -> float:
        return self.height / self.pixels_per_unit


@dataclass(frozen=True, slots=True)
class Sprite:
    """One thing as SVG elements in canvas units, within bounds (left, top, right, bottom)."""

    elements: str
    bounds: tuple[float, float, float, float]
    fonts: tuple[str, ...] = ()


def render(
    scene: Scene,
    *,
    width: int = 512,
    height: int = 512,
    seed: int = 0,
    photo: ImageBytes | None = None,
    fmt: Format = "PNG",
) -> ImageBytes:
    """Draw a scene.

    Args:
        scene: What to show. Kinds that are not in the vocabulary become labelled cards.
        width: Pixels, 64 to 4096, at most three times the height.
        height: As `width`.
        seed: Any number; changes hatching and frame, never what is shown.
        photo: The picture that is pinned up when `scene.photo` is set; without it, an empty mount is.
        fmt: PNG carries the scene for later changes; JPEG and WEBP carry the source mark only.

    Returns:
        The encoded picture.

    Raises:
        ConfigError: The size is out of range.

    Example:
        >>> from langgraph_interleave.world.scene import Scene, Thing
        >>> render(Scene(things=(Thing(id="ball", kind="ball"),)), width=128, height=128).mime
        'image/png'
    """
    image = picture(scene, width=width, height=height, seed=seed, photo=photo)
    data = encode(image, scene, fmt=fmt, photo=_photo_area(scene, _sheet(width, height), photo))
    return ImageBytes(data, MIME[fmt], width, height, seed=seed)


def picture(
    scene: Scene, *, width: int = 512, height: int = 512, seed: int = 0, photo: ImageBytes | None = None
) -> Image:
    """Draw a scene as a picture in memory (RGB), not encoded. Arguments as for `render`."""
    sheet = _sheet(width, height)
    image = _ground(scene.backdrop, width, height).copy()
    for strip, left, top in _frame(width, height, seed):
        image.paste(strip, (left, top), strip)
    for place, thing in _things(scene, sheet):
        if place.id == PHOTO_ID and thing is None:
            _paste_photo(image, place, sheet, seed, photo)
            continue
        if thing is not None:
            sprite, left, top = _pixels(place, _look(thing), sheet, seed)
            image.paste(sprite, (left, top), sprite)
    if scene.caption:
        sprite, left, top = _captioned(scene.caption, sheet)
        image.paste(sprite, (left, top), sprite)
    return image


def svg(scene: Scene, *, width: int = 512, height: int = 512, seed: int = 0, photo: ImageBytes | None = None) -> str:
    """Draw a scene as an SVG document. Arguments as for `render`; text in fonts stays text."""
    sheet = _sheet(width, height)
    parts = [_backdrop(scene.backdrop, sheet), *(side.elements for side in _sides(sheet, seed))]
    for place, thing in _things(scene, sheet):
        if thing is not None:
            parts.append(_sprite(place, _look(thing), sheet, seed).elements)
        elif place.id == PHOTO_ID:
            parts.append(_photo_svg(place, sheet, seed, photo))
    if scene.caption:
        parts.append(_caption(scene.caption, sheet).elements)
    return _document("".join(parts), (0, 0, sheet.w, sheet.h), width, height)


@dataclass(frozen=True, slots=True)
class _Look:
    """All of a thing that decides how it is drawn."""

    kind: str
    state: str
    color: str
    label: str


def _look(thing: Thing) -> _Look:
    kind = KINDS.get(thing.kind)
    asked = COLOR_SYNONYMS.get(thing.color or "", thing.color)
    if asked not in TONES:
        asked = None
    if kind is None or kind.name == "card":
        return _Look("card", "", asked or "paper", thing.label or thing.kind)
    state = thing.state if thing.state in kind.states else (kind.states[0] if kind.states else "")
    color = asked if asked and kind.recolourable else kind.color
    return _Look(kind.name, state or "", color, "")


def _sheet(width: int, height: int) -> Sheet:
    if not (MIN_SIDE <= width <= MAX_SIDE and MIN_SIDE <= height <= MAX_SIDE):
        raise ConfigError(
            f"A sketch of {width}x{height} pixels cannot be drawn.",
            remedy=f"Ask for sides of {MIN_SIDE} to {MAX_SIDE}.",
        )
    if max(width, height) > MAX_ASPECT * min(width, height):
        raise ConfigError(
            f"A sketch of {width}x{height} pixels is too long.",
            remedy=f"The longer side is at most {MAX_ASPECT:g} times the shorter.",
        )
    return Sheet(width, height)


def _things(scene: Scene, sheet: Sheet) -> Iterator[tuple[Placed, Thing | None]]:
    by_id = {thing.id: thing for thing in scene.things}
    for place in layout(scene, aspect=sheet.width / sheet.height):
        yield place, by_id.get(place.id)


@lru_cache(maxsize=48)
def _ground(backdrop: str, width: int, height: int) -> Image:
    from PIL import Image

    sheet = _sheet(width, height)
    elements = _backdrop(backdrop, sheet)
    drawn = rasterizer().rasterize(_document(elements, (0, 0, sheet.w, sheet.h), width, height), width)
    paper = Image.new("RGB", (width, height), PAPER)
    if drawn.size != paper.size:
        drawn = drawn.crop((0, 0, width, height))
    paper.paste(drawn, (0, 0), drawn)
    return paper


@lru_cache(maxsize=64)
def _frame(width: int, height: int, seed: int) -> tuple[tuple[Image, int, int], ...]:
    sheet = _sheet(width, height)
    return tuple(_rasterized(side, sheet) for side in _sides(sheet, seed))


def _sides(sheet: Sheet, seed: int) -> list[Sprite]:
    """The four sides of the frame, each by itself: together they would cover the whole picture."""
    sides: list[Sprite] = []
    for number, bounds in enumerate(frame_sides(sheet.w, sheet.h)):
        pen = Pen(TONES["paper"], seed=crc32(f"frame|{number}|{seed}".encode()))
        draw_frame_side(pen, number, sheet.w, sheet.h)
        sides.append(Sprite("".join(pen.elements), bounds))
    return sides


def _backdrop(name: str, sheet: Sheet) -> str:
    known = BACKDROPS.get(name, BACKDROPS["paper"])
    identity = crc32(known.name.encode())
    pen = Pen(TONES["paper"], seed=identity, hatch_seed=identity)
    ground = Ground(sheet.w, sheet.h, known.horizon * sheet.h, random.Random(identity))
    draw_backdrop(pen, known.name, ground)
    return "".join(pen.elements)


@lru_cache(maxsize=512)
def _pixels(place: Placed, look: _Look, sheet: Sheet, seed: int) -> tuple[Image, int, int]:
    return _rasterized(_sprite(place, look, sheet, seed), sheet)


def _sprite(place: Placed, look: _Look, sheet: Sheet, seed: int) -> Sprite:
    x, y = (place.x + place.w / 2) * sheet.w, (place.y + place.h) * sheet.h
    identity = f"{place.id}|{look.kind}|{place.index}"
    pen = Pen(
        tone(look.color), matrix=placed(x, y, scale=place.scale), seed=crc32(identity.encode()),
        hatch_seed=crc32(f"{identity}|{seed}".encode()),
    )  # fmt: skip
    if place.grounded:
        _shadow(pen, place.w * sheet.w / place.scale)
    fonts: tuple[str, ...] = ()
    if look.kind == "card" or look.kind not in drawings():
        draw_card(pen, look.label or look.kind)
        fonts = tuple(font_files(look.label or look.kind))
    else:
        drawings()[look.kind](pen, look.state)
    left, top = place.x * sheet.w - _PAD, place.y * sheet.h - _PAD
    right, bottom = (place.x + place.w) * sheet.w + _PAD, y + _PAD
    return Sprite("".join(pen.elements), (left, top, right, bottom), fonts)


def _shadow(pen: Pen, width: float) -> None:
    with pen.at(-width * 0.03, 0.5):
        spot = oval(0, 0, width * 0.46, 4.2).moved(pen.matrix).data()
        pen.raw(f'<path d="{spot}" fill="#2b2620" fill-opacity="0.13"/>')


def _rasterized(sprite: Sprite, sheet: Sheet) -> tuple[Image, int, int]:
    """Pixels of a sprite and where they belong, cut to the picture."""
    k = sheet.pixels_per_unit
    x0, y0, x1, y1 = (edge * k for edge in sprite.bounds)
    left, top = max(0, math.floor(x0)), max(0, math.floor(y0))
    right, bottom = min(sheet.width, math.ceil(x1)), min(sheet.height, math.ceil(y1))
    window = (left / k, top / k, (right - left) / k, (bottom - top) / k)
    document = _document(sprite.elements, window, right - left, bottom - top)
    return rasterizer().rasterize(document, right - left, fonts=sprite.fonts), left, top


def _document(elements: str, window: tuple[float, float, float, float], width: int, height: int) -> str:
    x, y, w, h = window
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="{x:.4f} {y:.4f} {w:.4f} {h:.4f}" preserveAspectRatio="none">{elements}</svg>'
    )


@lru_cache(maxsize=32)
def _captioned(text: str, sheet: Sheet) -> tuple[Image, int, int]:
    return _rasterized(_caption(text, sheet), sheet)


def _caption(text: str, sheet: Sheet) -> Sprite:
    top, bottom = sheet.h - 52, sheet.h - 17
    pen = Pen(TONES["paper"], seed=crc32(b"caption"))
    pen.draw(box(EDGE + 10, top, sheet.w - EDGE - 10, bottom, corner=5), "paper")
    fitted = fit(text, sheet.w - 2 * EDGE - 36, bottom - top - 12, cap=15)
    pen.raw(letter(fitted, sheet.w / 2, (top + bottom) / 2, color=INK, seed=crc32(text.encode())))
    return Sprite("".join(pen.elements), (0, top - 8, sheet.w, bottom + 8), tuple(font_files(text)))


def _mounted(place: Placed, sheet: Sheet, photo: ImageBytes | None) -> tuple[float, float, float, float]:
    """Where the photo itself lies within its place, its aspect kept."""
    x, y, w, h = place.x * sheet.w, place.y * sheet.h, place.w * sheet.w, place.h * sheet.h
    inset = 8.0
    room_w, room_h = w - 2 * inset, h - 2 * inset
    aspect = photo.width / photo.height if photo else 4 / 3
    pw, ph = (room_w, room_w / aspect) if aspect > room_w / room_h else (room_h * aspect, room_h)
    return x + (w - pw) / 2, y + (h - ph) / 2, pw, ph


def _photo_area(scene: Scene, sheet: Sheet, photo: ImageBytes | None) -> Area | None:
    """The pixels the photo covers."""
    place = next((place for place, thing in _things(scene, sheet) if place.id == PHOTO_ID and thing is None), None)
    if place is None or photo is None:
        return None
    x, y, w, h = (edge * sheet.pixels_per_unit for edge in _mounted(place, sheet, photo))
    left, top = round(x), round(y)
    return left, top, left + max(1, round(w)), top + max(1, round(h))


def _paste_photo(image: Image, place: Placed, sheet: Sheet, seed: int, photo: ImageBytes | None) -> None:
    x, y, w, h = _mounted(place, sheet, photo)
    k = sheet.pixels_per_unit
    under, over = _mounting(x, y, w, h, seed, photo is None, sheet)
    image.paste(under[0], under[1:], under[0])
    if photo is not None:
        shown = _reduced(photo, max(1, round(w * k)), max(1, round(h * k)))
        image.paste(shown, (round(x * k), round(y * k)))
    image.paste(over[0], over[1:], over[0])


@lru_cache(maxsize=8)
def _reduced(photo: ImageBytes, width: int, height: int) -> Image:
    from PIL import Image

    with Image.open(io.BytesIO(photo.data)) as opened:
        opened.draft("RGB", (width, height))
        return opened.convert("RGB").resize((width, height), Image.Resampling.LANCZOS, reducing_gap=2.0)


@lru_cache(maxsize=32)
def _mounting(
    x: float, y: float, w: float, h: float, seed: int, empty: bool, sheet: Sheet
) -> tuple[tuple[Image, int, int], tuple[Image, int, int]]:
    under, over = _mount(x, y, w, h, seed, empty=empty)
    return _rasterized(under, sheet), _rasterized(over, sheet)


def _photo_svg(place: Placed, sheet: Sheet, seed: int, photo: ImageBytes | None) -> str:
    x, y, w, h = _mounted(place, sheet, photo)
    under, over = _mount(x, y, w, h, seed, empty=photo is None)
    shown = ""
    if photo is not None:
        data = base64.b64encode(photo.data).decode()
        shown = (
            f'<image x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" preserveAspectRatio="none" '
            f'href="data:{photo.mime};base64,{data}"/>'
        )
    return under.elements + shown + over.elements


def _mount(x: float, y: float, w: float, h: float, seed: int, *, empty: bool) -> tuple[Sprite, Sprite]:
    around = (x - 26, y - 26, x + w + 26, y + h + 26)
    identity = crc32(b"photo")
    under = Pen(TONES["paper"], seed=identity, hatch_seed=crc32(f"photo|{seed}".encode()))
    draw_photo(under, x, y, w, h, empty=empty)
    over = Pen(TONES["paper"], seed=identity + 1)
    draw_mount(over, x, y, w, h)
    return Sprite("".join(under.elements), around), Sprite("".join(over.elements), around)
