"""Guesses: what could be wrong with one thing, each as the scene that the picture would then show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from langgraph_interleave.world.alternatives import SIZES, other_colors, other_places, other_states, shown_color
from langgraph_interleave.world.palette import COLORS, distance, rgb, tone
from langgraph_interleave.world.scene import Beside, Cell, Scene, Thing
from langgraph_interleave.world.sight.view import Residual, View, areas_of, expected
from langgraph_interleave.world.vocabulary import BACKDROPS

if TYPE_CHECKING:
    from PIL.Image import Image

What = Literal[
    "missing", "other", "extra", "count", "color", "swap", "place", "state", "size", "backdrop", "photo", "unclear",
    "words", "foreign", "blank", "broken", "unchanged",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the critic sees to be wrong.

    Attributes:
        what: What is wrong.
        thing: The thing as it should be; `None` for the backdrop and the picture as a whole.
        seen: The thing as it is, where that was recognised.
        second: The other one of a swap, as it should be.
        cell: The part of the picture it is about, where that is not a thing.
        backdrop: The backdrop that is seen.
        text: The words that should be written in the picture.
        kept: It was to stay as it was in the picture before.
    """

    what: What
    thing: Thing | None = None
    seen: Thing | None = None
    second: Thing | None = None
    cell: Cell | None = None
    backdrop: str | None = None
    text: str | None = None
    kept: bool = False

    def with_kept(self, kept: bool) -> Finding:
        """The same finding, about a thing that was to stay or not."""
        return replace(self, kept=kept)


@dataclass(frozen=True, slots=True)
class Guess:
    """A finding, and the scene the picture shows if it is right."""

    finding: Finding
    scene: Scene


def likely(view: View, scene: Scene, thing: Thing, residual: Residual) -> Iterator[Guess]:
    """The guesses worth trying first: none of it, the colour it seems to have, one more or one less."""
    there = in_place(scene, thing, residual)
    if not there:
        yield Guess(Finding("missing", thing), without(scene, thing))
    for color in seen_colors(view, scene, thing, residual):
        yield changed(scene, thing, "color", color=color)
    if not there:
        for count in (thing.count - 1, thing.count + 1):
            if 1 <= count <= 9:
                yield changed(scene, thing, "count", count=count)


def unlikely(scene: Scene, thing: Thing, residual: Residual) -> Iterator[Guess]:
    """The rest: another state, size, place, or quite another number."""
    for state in other_states(thing):
        yield changed(scene, thing, "state", state=state)
    if in_place(scene, thing, residual):
        return
    for size in SIZES:
        if size != thing.size:
            yield changed(scene, thing, "size", size=size)
    for at in other_places(thing.at):
        yield changed(scene, thing, "place", at=at)
    if thing.count > 1:
        for count in (thing.count - 2, thing.count + 2, thing.count - 3, thing.count + 3):
            if 1 <= count <= 9:
                yield changed(scene, thing, "count", count=count)


def colors(scene: Scene, thing: Thing) -> Iterator[Guess]:
    """Every colour, where the one it has could not be made out."""
    for color in other_colors(thing):
        yield changed(scene, thing, "color", color=color)


def backdrops(scene: Scene) -> Iterator[Guess]:
    """The same things before every other backdrop."""
    for name in BACKDROPS:
        if name != scene.backdrop:
            yield Guess(Finding("backdrop", backdrop=name), scene.model_copy(update={"backdrop": name}))


def without(scene: Scene, thing: Thing) -> Scene:
    """The scene without a thing; what stood beside it stands where it stood."""
    things = tuple(
        other.model_copy(update={"at": thing.at}) if isinstance(other.at, Beside) and other.at.of == thing.id else other
        for other in scene.things
        if other.id != thing.id
    )
    return scene.model_copy(update={"things": things})


def in_place(scene: Scene, thing: Thing, residual: Residual) -> bool:
    """Whether most of a thing is to be seen where and as it should be: then it has neither gone nor moved."""
    from PIL import ImageChops, ImageStat

    width, height = residual.map.size
    bare = scene.model_copy(update={"things": ()})
    own = ImageChops.difference(expected(scene, width, height), expected(bare, width, height)).convert("L")
    right = total = 0.0
    for area in areas_of(scene, thing.id, width, height, grown=0.0):
        mask = own.crop(area).point(_OWN)
        stat = ImageStat.Stat(residual.map.crop(area).point(_ANY), mask)
        total += stat.count[0]
        right += stat.count[0] - stat.sum[0] / 255
    return total > 0 and right / total > _IN_PLACE


def seen_colors(view: View, scene: Scene, thing: Thing, residual: Residual) -> list[str]:
    """The colour words nearest to what the picture shows where the thing's own colour should be and is not.

    Args:
        view: The picture.
        scene: What it is thought to show.
        thing: A thing of that scene.
        residual: How they differ.

    Returns:
        The two nearest that are clearly other colours; none when the colour cannot change, too little of
        it is to be seen, or what is to be seen is what lies behind the thing.
    """
    from PIL import Image, ImageChops

    others = other_colors(thing)
    if not others:
        return []
    drawn = expected(scene, view.width, view.height)
    own = Image.new("RGB", drawn.size, rgb(tone(shown_color(thing)).fill))
    red, green, blue = ImageChops.difference(drawn, own).split()
    filled = ImageChops.lighter(ImageChops.lighter(red, green), blue).point(_NEAR)
    wrong = ImageChops.darker(filled, residual.map.point(_ANY))
    mask = Image.new("L", drawn.size, 0)
    for area in areas_of(scene, thing.id, view.width, view.height):
        mask.paste(wrong.crop(area), area)
    if mask.histogram()[255] < _LEAST:
        return []
    median = _median(view.pixels, mask)
    behind = expected(scene.model_copy(update={"things": ()}), view.width, view.height)
    if distance(median, _median(behind, mask)) < _SAME:
        return []
    return sorted(others, key=lambda color: distance(median, COLORS[color].fill))[:2]


def _median(image: Image, mask: Image) -> tuple[int, int, int]:
    from PIL import ImageStat

    red, green, blue = ImageStat.Stat(image, mask).median
    return int(red), int(green), int(blue)


def changed(scene: Scene, thing: Thing, what: What, **update: object) -> Guess:
    """The guess that a thing is otherwise in one respect."""
    seen = thing.model_copy(update=update)
    things = tuple(seen if other.id == thing.id else other for other in scene.things)
    return Guess(Finding(what, thing, seen), scene.model_copy(update={"things": things}))


#: Colours nearer than this (CIE76) are the same, seen through blur and encoding.
_SAME = 9.0
#: Share of a thing that must be right for it to be in its place.
_IN_PLACE = 0.7
#: Pixels at least that must show a thing's own colour before it is judged.
_LEAST = 6
_NEAR = [255 if value <= 40 else 0 for value in range(256)]
_OWN = [255 if value > 12 else 0 for value in range(256)]
_ANY = [255 if value else 0 for value in range(256)]
