"""Guesses: what could be wrong with one thing, each as the scene that the picture would then show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from langgraph_interleave.world.alternatives import SIZES, other_colors, other_places, other_states
from langgraph_interleave.world.scene import Beside, Cell, Scene, Thing
from langgraph_interleave.world.sight.evidence import Evidence, crowded_cells
from langgraph_interleave.world.sight.view import Area, Residual, View, differ, expected
from langgraph_interleave.world.vocabulary import BACKDROPS

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


def likely(scene: Scene, thing: Thing, evidence: Evidence) -> Iterator[Guess]:
    """The guesses worth trying first: none of it, the colour it seems to have, one more or one less."""
    if not evidence.in_place:
        yield Guess(Finding("missing", thing), without(scene, thing))
    for color in evidence.colors:
        yield changed(scene, thing, "color", color=color)
    if not evidence.in_place and (thing.count > 1 or not evidence.gone):
        for count in (thing.count - 1, thing.count + 1):
            if 1 <= count <= 9:
                yield changed(scene, thing, "count", count=count)


def unlikely(scene: Scene, thing: Thing, evidence: Evidence, residual: Residual) -> Iterator[Guess]:
    """The rest: another state, size, place, or quite another number."""
    if not evidence.gone:
        for state in other_states(thing):
            yield changed(scene, thing, "state", state=state)
    if evidence.in_place:
        return
    for at in other_places(thing.at):
        if isinstance(at, Beside) or at in crowded_cells(scene, thing, residual):
            yield changed(scene, thing, "place", at=at)
    if not evidence.gone:
        for size in SIZES:
            if size != thing.size:
                yield changed(scene, thing, "size", size=size)
    if thing.count > 1:
        for count in (thing.count - 2, thing.count + 2, thing.count - 3, thing.count + 3):
            if 1 <= count <= 9:
                yield changed(scene, thing, "count", count=count)


def colors(scene: Scene, thing: Thing) -> Iterator[Guess]:
    """Every colour, where the one it has could not be made out."""
    for color in other_colors(thing):
        yield changed(scene, thing, "color", color=color)


def backdrops(view: View, scene: Scene, behind: Iterable[Area]) -> list[Guess]:
    """The same things before the backdrops that fit best what is to be seen outside of some areas."""
    fits: list[tuple[float, str]] = []
    covered = list(behind)
    for name in BACKDROPS:
        if name != scene.backdrop:
            ground = expected(scene.model_copy(update={"backdrop": name, "things": ()}), view.width, view.height)
            fits.append((differ(view.pixels, ground).without(covered).total, name))
    return [
        Guess(Finding("backdrop", backdrop=name), scene.model_copy(update={"backdrop": name}))
        for _, name in sorted(fits)[:2]
    ]


def without(scene: Scene, thing: Thing) -> Scene:
    """The scene without a thing; what stood beside it stands where it stood."""
    things = tuple(
        other.model_copy(update={"at": thing.at}) if isinstance(other.at, Beside) and other.at.of == thing.id else other
        for other in scene.things
        if other.id != thing.id
    )
    return scene.model_copy(update={"things": things})


def changed(scene: Scene, thing: Thing, what: What, **update: object) -> Guess:
    """The guess that a thing is otherwise in one respect."""
    seen = thing.model_copy(update=update)
    things = tuple(seen if other.id == thing.id else other for other in scene.things)
    return Guess(Finding(what, thing, seen), scene.model_copy(update={"things": things}))
