"""Explanations: the fewest changes to the scene that was asked for which make it the scene that is seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from langgraph_interleave.world.alternatives import CELLS
from langgraph_interleave.world.layout import PHOTO_ID
from langgraph_interleave.world.scene import Cell, Scene, Thing
from langgraph_interleave.world.sight.evidence import Evidence, cell_area, unseen, weigh
from langgraph_interleave.world.sight.guesses import (
    Finding,
    Guess,
    backdrops,
    changed,
    colors,
    likely,
    unlikely,
)
from langgraph_interleave.world.sight.view import (
    TOLERANCE,
    WORK,
    Area,
    Residual,
    View,
    areas_of,
    compare,
    expected,
    photo_areas,
)

#: A picture that differs from a drawing by no more than this at any place, and on the whole, shows it.
#: Measured on right pictures of all sizes and encodings (benchmarks/critic_accuracy.py): of 500, none
#: came above.
CLEAN_PEAK = 21
CLEAN_TOTAL = 12.0
#: The part of a difference a guess must take away: to be believed if it explains all of its thing, to be
#: believed anyway, and to be believed at once.
_BETTER = 0.25
_MAINLY = 0.6
_EXPLAINED = 0.97
#: A thing is looked at when this much of the difference lies on it.
_SHARE = 0.06
_MOST = 3
#: Guesses tried at most: a muddle is called one rather than looked at for ever.
_LOOKS = 48
#: Share of the picture that is unlike any drawing of the scene when the picture is something else altogether.
_FOREIGN = 0.42
#: Share of the picture behind the things that differs when it is set elsewhere.
_WIDELY = 0.02


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a picture shows.

    Attributes:
        findings: What is wrong, the plainest first; empty when the picture is right.
        scene: The scene it shows, as far as it was recognised.
        asked: How it differs from the scene that was asked for.
        rest: How it still differs from `scene`.
    """

    findings: tuple[Finding, ...]
    scene: Scene
    asked: Residual
    rest: Residual


def explain(view: View, target: Scene) -> Explanation:
    """Find out how a picture differs from the scene that was asked for.

    Args:
        view: The picture.
        target: What it should show.
    """
    asked = compare(view, target)
    photo = _photo(view, target)
    if clean(asked):
        missing = tuple(Finding("missing", thing) for thing in unseen(view, target))
        return Explanation((*missing, *photo), target, asked, asked)
    flat = _flat(view)
    if flat:
        return Explanation((Finding("blank"),), Scene(), asked, asked)
    search = _Search(view, target, asked)
    search.caption()
    search.backdrop()
    if search.is_foreign():
        return Explanation((Finding("foreign"),), target, asked, asked)
    while len(search.findings) < _MOST and not clean(search.rest) and search.step():
        pass
    search.leftovers()
    return Explanation((*_swaps(search.findings), *photo), search.scene, asked, search.rest)


def clean(residual: Residual) -> bool:
    """Whether a difference is no more than hand, paper and encoding make."""
    return residual.total <= CLEAN_TOTAL and residual.peak <= CLEAN_PEAK


def differing(residual: Residual) -> float:
    """Share of the picture that differs at all."""
    histogram = residual.map.histogram()
    return 1 - histogram[0] / max(1, sum(histogram))


class _Search:
    """Greedy search: each step believes the guess that explains most."""

    def __init__(self, view: View, target: Scene, asked: Residual) -> None:
        self.view = view
        self.target = target
        self.scene = target
        self.rest = asked
        self.findings: list[Finding] = []
        self.done: set[str] = set()
        self.looks = 0

    def backdrop(self) -> None:
        """Believe the backdrop that fits best, when what differs lies all over the picture, behind the things."""
        behind = self.rest.without(area for thing in self.scene.things for area in self._areas(thing))
        box = behind.map.getbbox()
        if box is None or differing(behind) < _WIDELY or _size(box) < self.view.width * self.view.height / 5:
            return
        boxes = [area for thing in self.scene.things for area in self._areas(thing)]
        found = self._best(backdrops(self.view, self.scene, boxes))
        if found is not None:
            self._believe(*found)

    def caption(self) -> None:
        """Look at the strip with words at the foot of the picture, which makes room for everything above it."""
        text = self.scene.caption
        strip = (0, round(self.view.height - 0.14 * WORK), self.view.width, self.view.height)
        if text is None or not dirty(self.rest, [strip]):
            return
        bare = self.scene.model_copy(update={"caption": None})
        residual = self._compare(bare)
        if residual.total < (1 - _BETTER) * self.rest.total:
            self._believe(Guess(Finding("words", text=text), bare), residual)
        else:
            self.findings.append(Finding("words", text=text))
            self.rest = self.rest.without([strip])

    def is_foreign(self) -> bool:
        """Whether hardly anything is as it should be, neither the things nor what lies behind them."""
        boxes = [area for thing in self.scene.things for area in self._areas(thing)]
        return differing(self.rest) > _FOREIGN and differing(self.rest.without(boxes)) > _FOREIGN / 2

    def step(self) -> bool:
        """Explain one thing, or the colours of several; false when nothing more can be explained."""
        things = self._suspects()
        evidence = {thing.id: weigh(self.view, self.scene, thing, self.rest) for thing in things}
        if self._recolored(things, evidence):
            return True
        found: tuple[Guess, Residual] | None = None
        # Not all of the difference lies in one thing; what lies in this one may still be explained.
        for guesses in (
            (guess for thing in things for guess in likely(self.scene, thing, evidence[thing.id])),
            (guess for thing in things for guess in unlikely(self.scene, thing, evidence[thing.id], self.rest)),
        ):
            found = self._best(guesses, found)
            if found is not None and self._settles(*found):
                break
        if found is None:
            there = [thing for thing in things if not evidence[thing.id].gone]
            found = self._best(guess for thing in there for guess in colors(self.scene, thing))
        if found is None:
            return False
        self._believe(*found)
        return True

    def _recolored(self, things: list[Thing], evidence: Mapping[str, Evidence]) -> bool:
        """Believe that several things have other colours, when that explains all there is to see of them."""
        scene, guesses = self.scene, list[Guess]()
        for thing in things:
            for color in evidence[thing.id].colors[:1]:
                guesses.append(changed(scene, thing, "color", color=color))
                scene = guesses[-1].scene
        if len(guesses) < 2:
            return False
        residual = self._compare(scene)
        areas = [area for guess in guesses if guess.finding.thing for area in self._areas(guess.finding.thing)]
        if dirty(residual, areas):
            return False
        for guess in guesses:
            self._believe(guess, residual)
        return True

    def leftovers(self) -> None:
        """Name what is still unexplained: things nobody asked for, and things that are something else."""
        if clean(self.rest):
            return
        known: list[Area] = []
        for thing in self.scene.things:
            areas = self._areas(thing)
            known += areas
            if thing.id not in self.done and dirty(self.rest, areas):
                self.findings.append(Finding("other", self._asked(thing)))
        alone = self.rest.without(known)
        if not clean(alone):
            self.findings.append(Finding("extra", cell=_where(alone)))
        if not self.findings:
            self.findings.append(Finding("unclear", cell=_where(self.rest)))

    def _suspects(self) -> list[Thing]:
        on = {
            thing.id: self.rest.within(self._areas(thing)) for thing in self.scene.things if thing.id not in self.done
        }
        return [
            thing
            for thing in sorted(self.scene.things, key=lambda one: -on.get(one.id, 0.0))
            if on.get(thing.id, 0.0) > _SHARE * self.rest.total
        ]

    def _best(
        self, guesses: Iterable[Guess], best: tuple[Guess, Residual] | None = None
    ) -> tuple[Guess, Residual] | None:
        for guess in guesses:
            if self.looks >= _LOOKS:
                break
            residual = self._compare(guess.scene)
            least = best[1].total if best is not None else self.rest.total * (1 - _BETTER)
            if residual.total < least and self._is_credible(guess, residual):
                best = (guess, residual)
                if self._settles(guess, residual):
                    break
        return best

    def _compare(self, scene: Scene) -> Residual:
        self.looks += 1
        return compare(self.view, scene)

    def _is_credible(self, guess: Guess, residual: Residual) -> bool:
        """Whether a guess explains most, or at least all there is to see of its own thing."""
        thing = guess.finding.thing
        if guess.finding.what == "place" and self._is_hidden(guess):
            return False
        if thing is None or guess.finding.what == "missing" or residual.total < (1 - _MAINLY) * self.rest.total:
            return True
        return not dirty(residual, self._areas(thing, guess.scene))

    def _is_hidden(self, guess: Guess) -> bool:
        """Whether a guess puts its thing before the photo, where nothing is compared."""
        thing, covered = guess.finding.thing, photo_areas(guess.scene, self.view.width, self.view.height)
        areas = self._areas(thing, guess.scene) if thing is not None else []
        return any(_common(area, other) > 0.3 * _size(area) for area in areas for other in covered)

    def _settles(self, guess: Guess, residual: Residual) -> bool:
        """Whether there is no need to look for a better guess."""
        if clean(residual) or residual.total < (1 - _EXPLAINED) * self.rest.total:
            return True
        # A thing that is all right but for its colour, state or number has neither gone nor moved, unless
        # something is to be seen elsewhere that could be it.
        thing = guess.finding.thing
        if thing is None or guess.finding.what not in ("color", "state", "count"):
            return False
        if guess.finding.what == "count" and residual.total > (1 - _MAINLY) * self.rest.total:
            return False
        if dirty(residual, self._areas(thing, guess.scene)):
            return False
        return clean(residual.without(area for one in guess.scene.things for area in self._areas(one, guess.scene)))

    def _believe(self, guess: Guess, residual: Residual) -> None:
        finding = guess.finding
        if finding.thing is not None:
            self.done.add(finding.thing.id)
        self.findings.append(finding)
        self.scene, self.rest = guess.scene, residual

    def _asked(self, thing: Thing) -> Thing:
        return next((one for one in self.target.things if one.id == thing.id), thing)

    def _areas(self, thing: Thing, scene: Scene | None = None) -> list[Area]:
        return areas_of(scene or self.scene, thing.id, self.view.width, self.view.height)


def dirty(residual: Residual, areas: list[Area]) -> bool:
    """Whether there is more to see on areas than hand, paper and encoding make."""
    return any(Residual(residual.map.crop(area)).peak > CLEAN_PEAK for area in areas)


def _common(one: Area, other: Area) -> int:
    return max(0, min(one[2], other[2]) - max(one[0], other[0])) * max(0, min(one[3], other[3]) - max(one[1], other[1]))


def _size(area: Area) -> int:
    return (area[2] - area[0]) * (area[3] - area[1])


def _swaps(findings: list[Finding]) -> tuple[Finding, ...]:
    """Two wrong colours that are each other's are one finding."""
    result = list(findings)
    recolored = [one for one in findings if one.what == "color"]
    for index, one in enumerate(recolored):
        for other in recolored[index + 1 :]:
            if one.thing and one.seen and other.thing and other.seen and one in result and other in result:
                crossed = (one.seen.color, other.seen.color) == (other.thing.color, one.thing.color)
                if crossed and one.thing.color is not None:
                    result[result.index(one)] = Finding("swap", one.thing, one.seen, other.thing)
                    result.remove(other)
    return tuple(result)


def _photo(view: View, target: Scene) -> tuple[Finding, ...]:
    """Whether the photo is missing: where it should be pinned up, there is bare ground."""
    from PIL import ImageChops, ImageStat

    if not target.photo:
        return ()
    bare = expected(target.model_copy(update={"photo": False, "things": ()}), view.width, view.height)
    for area in photo_areas(target, view.width, view.height):
        difference = ImageChops.difference(view.pixels.crop(area), bare.crop(area)).convert("L")
        shown = (
            ImageStat.Stat(difference.point([255 if value > TOLERANCE else 0 for value in range(256)])).mean[0] / 255
        )
        if shown < 0.2:
            return (Finding("photo", Thing(id=PHOTO_ID, kind="photo")),)
    return ()


def _flat(view: View) -> bool:
    """Whether there is nothing at all on the picture."""
    low, high = view.pixels.convert("L").getextrema()
    assert isinstance(low, int)
    assert isinstance(high, int)
    return high - low <= TOLERANCE


def _where(residual: Residual) -> Cell:
    """The part of the picture in which most of a difference lies."""
    width, height = residual.map.size
    best: tuple[float, Cell] = (-1.0, "middle")
    for index, cell in enumerate(CELLS):
        best = max(best, (residual.within([cell_area(index, width, height)]), cell), key=lambda one: one[0])
    return best[1]
