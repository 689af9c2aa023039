"""Faults: what a picture shows instead of what was asked. Pure functions on scenes.

Every opportunity has a random stream of its own, named after its category and thing. So the same
request with the same seed has the same faults, and what came out right stays right at any lower
rate: two arms of a comparison that differ in rates or words alone see the same luck.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from random import Random
from typing import Literal

from langgraph_interleave.types import Frozen
from langgraph_interleave.world.alternatives import CELLS, SIZES, alike, other_colors, other_places, other_states
from langgraph_interleave.world.emphasis import Stake, emphasis
from langgraph_interleave.world.grammar.numbers import in_words
from langgraph_interleave.world.grammar.prose import place
from langgraph_interleave.world.layout import PHOTO_ID, Placed, bounds, layout
from langgraph_interleave.world.naming import be, capital, named, the, was
from langgraph_interleave.world.presets import Category, Preset
from langgraph_interleave.world.scene import Beside, Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

What = Literal["missing", "other", "extra", "count", "color", "swap", "place", "state", "size", "backdrop"]
BACKDROP = "backdrop"

#: How far a thing must have moved to stand elsewhere, and how much larger or smaller one of another size is.
MOVED = 0.1
RESIZED = 1.25

#: What nobody asked for is one of these: small, and easy to tell from other things.
STRAYS = ("ball", "star", "cup", "mushroom", "key", "balloon", "hat", "cube", "fish", "leaf")


class Fault(Frozen):
    """One thing that is not as it was asked.

    Attributes:
        category: Whose rate it came from.
        what: What is wrong.
        thing: Id of the thing, or `backdrop`.
        words: One sentence for people.
    """

    category: Category
    what: What
    thing: str
    words: str


def faulty(
    scene: Scene, before: Scene | None, preset: Preset, rng: Random, prompt: str, *, depth: int = 0
) -> tuple[Scene, tuple[Fault, ...]]:
    """The scene a fallible artist would draw when asked for `scene`.

    Args:
        scene: What was asked for.
        before: What the picture to edit shows; `None` when drawn from nothing. What both have alike
            is kept: only collateral change and identity drift can touch it.
        preset: The rates.
        rng: Where the luck comes from; exactly one draw is taken from it.
        prompt: The words of the request; plain and emphasised statements lower the rates.
        depth: How many edits lie between `scene` and a picture drawn from nothing; at least 1 for an edit.

    Returns:
        The scene to draw, and what is wrong with it, at most one fault to a thing. With no fault,
        the very scene asked for.

    Example:
        >>> from langgraph_interleave.world.presets import preset
        >>> scene = Scene(things=(Thing(id="ball", kind="ball", color="red", count=3),))
        >>> faulty(scene, None, preset("perfect"), Random(1), "Three red balls.") == (scene, ())
        True
    """
    drawing = _Drawing(scene, before, preset, rng.getrandbits(64), prompt)
    drawing.things_missing()
    drawing.wrong_counts()
    drawing.swapped_colors()
    drawing.wrong_colors()
    drawing.wrong_places()
    drawing.wrong_states()
    drawing.something_extra()
    if before is not None:
        drawing.collateral_change()
        drawing.identity_drift(max(1, depth))
    if not drawing.faults:
        return scene, ()
    result = scene.model_copy(update={"things": tuple(drawing.things.values()), "backdrop": drawing.backdrop})
    return result, tuple(drawing.faults)


class _Drawing:
    """One attempt at a scene: things as they will be drawn, and the faults so far."""

    def __init__(self, scene: Scene, before: Scene | None, preset: Preset, base: int, prompt: str) -> None:
        self.scene = scene
        self.preset = preset
        self.base = base
        self.prompt = prompt
        self.things: dict[str, Thing] = {thing.id: thing for thing in scene.things}
        self.backdrop = scene.backdrop
        self.faults: list[Fault] = []
        self.touched: set[str] = set()
        self.old: dict[str, Thing] = {thing.id: thing for thing in before.things} if before else {}
        self.kept = [thing for thing in scene.things if self.old.get(thing.id) == thing]
        self.asked = [thing for thing in scene.things if self.old.get(thing.id) != thing]
        self.keeps_backdrop = before is not None and before.backdrop == scene.backdrop

    @cached_property
    def places(self) -> tuple[Placed, ...]:
        """Where everything stands as asked."""
        return layout(self.scene)

    # Request categories: only what was asked for anew is at risk.

    def things_missing(self) -> None:
        alone = len(self.scene.things) == 1
        category: Category = "single_object" if alone else "two_objects"
        for thing in self._new():
            luck = self._luck(category, thing, "presence")
            if luck is None:
                continue
            if alone:
                kinds = [kind for kind in STRAYS if kind != thing.kind]
                other = thing.model_copy(
                    update={"kind": luck.choice(kinds), "color": None, "state": None, "label": None, "count": 1}
                )
                words = f"There is {named(other)} instead of {named(thing)}."
                self._put(category, "other", thing, other, words)
            elif len(self.things) > 1:
                self._remove(category, thing, f"{capital(the(thing))} {be(thing.count)} missing.")

    def wrong_counts(self) -> None:
        for thing in self._asked_for("count"):
            if thing.count < 2:
                continue
            luck = self._luck("counting", thing, "count")
            if luck is None:
                continue
            step = 2 if luck.random() < 0.2 else 1
            counts = [count for count in (thing.count - step, thing.count + step) if 1 <= count <= 9]
            count = luck.choice(counts or [thing.count - 1])
            wrong = thing.model_copy(update={"count": count})
            there = f"There {be(count)} {named(wrong)}"
            self._put(
                "counting", "count", thing, wrong, f"{there}; {in_words(thing.count)} {was(thing.count)} asked for."
            )

    def swapped_colors(self) -> None:
        colored = [thing for thing in self._asked_for("color") if _colored(thing)]
        for one, other in pairwise(colored):
            if {one.id, other.id} & self.touched or alike(one.color, other.color):
                continue
            luck = self._luck("color_attribution", one, "color", also=other)
            if luck is None:
                continue
            self.things[other.id] = self.things[other.id].model_copy(update={"color": one.color})
            self.touched.add(other.id)
            first, second = f"{the(one)} {be(one.count)} {other.color}", f"{the(other)} {be(other.count)} {one.color}"
            words = f"{capital(first)} and {second}: swapped."
            self._put("color_attribution", "swap", one, one.model_copy(update={"color": other.color}), words)

    def wrong_colors(self) -> None:
        for thing in self._asked_for("color"):
            if not _colored(thing):
                continue
            luck = self._luck("colors", thing, "color")
            if luck is None:
                continue
            color = self._ignored(thing, "color", luck) or luck.choice(other_colors(thing))
            words = f"{capital(the(thing))} {be(thing.count)} {color}, not {thing.color}."
            self._put("colors", "color", thing, thing.model_copy(update={"color": color}), words)

    def wrong_places(self) -> None:
        for thing in self._asked_for("at"):
            if thing.at is None:
                continue
            luck = self._luck("position", thing, "place")
            if luck is None:
                continue
            wrong = self._elsewhere(thing, luck)
            if wrong is None:
                continue
            words = (
                f"{capital(the(thing))} {be(thing.count)} {place(wrong, self.scene)}, not {place(thing, self.scene)}."
            )
            self._put("position", "place", thing, wrong, words)

    def wrong_states(self) -> None:
        for thing in self._asked_for("state"):
            states = other_states(thing)
            if thing.state is None or not states:
                continue
            luck = self._luck("state", thing, "state")
            if luck is None:
                continue
            state = self._ignored(thing, "state", luck) or luck.choice(states)
            words = f"{capital(the(thing))} {be(thing.count)} {state}, not {thing.state}."
            self._put("state", "state", thing, thing.model_copy(update={"state": state}), words)

    def something_extra(self) -> None:
        luck = self._luck("extra_object", None, "nothing else")
        if luck is None:
            return
        kinds = [kind for kind in STRAYS if all(kind != thing.kind for thing in self.scene.things)]
        drawn = tuple(self.things.values())
        where = {one.id: one for one in layout(self.scene.model_copy(update={"things": drawn})) if not one.index}
        extra = Thing(id="stray", kind=luck.choice(kinds), size="small")
        cells = luck.sample(CELLS, len(CELLS))
        for cell in cells:
            extra = extra.model_copy(update={"at": cell})
            places = layout(self.scene.model_copy(update={"things": (*drawn, extra)}))
            # Where it covers nothing and nothing makes way for it.
            if all(where.get(one.id, one) == one or one.index for one in places) and _free(places, extra.id):
                break
        self.things[extra.id] = extra
        self._note("extra_object", "extra", extra.id, f"There is {named(extra)} that nobody asked for.")

    # What an edit was to leave alone.

    def collateral_change(self) -> None:
        kept = [thing for thing in self.kept if thing.id not in self.touched]
        targets: list[Thing | None] = [*kept, *([None] if self.keeps_backdrop else [])]
        if not targets:
            return
        # Who is hit is drawn before whether anything is: the prompt may speak of that one.
        target = Random(f"{self.base}/collateral/target").choice(targets)
        luck = self._luck("collateral", target, "sameness")
        if luck is None:
            return
        if target is None:
            names = [name for name in BACKDROPS if _differs(name, self.scene.backdrop)]
            self.backdrop = luck.choice(names)
            self._note("collateral", "backdrop", BACKDROP, f"The background changed to {self.backdrop}.")
            return
        moved = self._elsewhere(target, luck)
        alterations: list[What] = ["missing"] if len(self.things) > 1 else []
        if KINDS[target.kind].recolourable:
            alterations.append("color")
        if moved is not None:
            alterations.append("place")
        match luck.choice(alterations) if alterations else None:
            case "missing":
                words = f"{capital(the(target))} {was(target.count)} to stay but {be(target.count)} gone."
                self._remove("collateral", target, words)
            case "color":
                self._recolor("collateral", target, luck)
            case "place" if moved is not None:
                words = f"{capital(the(target))} moved: {be(target.count)} now {place(moved, self.scene)}."
                self._put("collateral", "place", target, moved, words)
            case _:
                pass

    def identity_drift(self, depth: int) -> None:
        kept = [thing for thing in self.kept if thing.id not in self.touched]
        if not kept:
            return
        target = Random(f"{self.base}/identity_drift/target").choice(kept)
        rate = min(self.preset.drift_cap, self.preset.rates.identity_drift * depth)
        luck = self._luck("identity_drift", target, "sameness", rate=rate)
        if luck is None:
            return
        grown = self._resized(target, luck)
        if KINDS[target.kind].recolourable and (grown is None or luck.random() < 0.6):
            self._recolor("identity_drift", target, luck)
        if grown is None or target.id in self.touched:
            return
        size = grown.size
        how = "larger" if SIZES.index(size) > SIZES.index(target.size) else "smaller"
        self._put("identity_drift", "size", target, grown, f"{capital(the(target))} became {how} than before.")

    # Luck and bookkeeping.

    def _luck(
        self,
        category: Category,
        thing: Thing | None,
        stake: Stake,
        *,
        also: Thing | None = None,
        rate: float | None = None,
    ) -> Random | None:
        """The opportunity's random stream when it goes wrong, `None` when it goes well."""
        if thing is not None and thing.id in self.touched:
            return None
        name = "/".join(one.id for one in (thing, also) if one is not None)
        stream = Random(f"{self.base}/{category}/{name}")
        chance = self.preset.rates.of(category) if rate is None else rate
        said = {emphasis(self.prompt, one, stake) for one in (thing, also or thing)}
        if said == {"emphasised"}:
            chance *= 1 - max(self.preset.refined_helps, self.preset.plain_prompt_helps)
        elif "none" not in said:
            chance *= 1 - self.preset.plain_prompt_helps
        return stream if stream.random() < chance else None

    def _new(self) -> list[Thing]:
        return [thing for thing in self.asked if thing.id not in self.old]

    def _asked_for(self, field: str) -> list[Thing]:
        """Things asked for anew in this respect, as they were asked for."""
        return [
            thing
            for thing in self.asked
            if thing.id not in self.old or getattr(self.old[thing.id], field) != getattr(thing, field)
        ]

    def _ignored(self, thing: Thing, field: str, luck: Random) -> str | None:
        """What the thing was before, half of the times: the edit was not carried out."""
        old = self.old.get(thing.id)
        ignores = luck.random() < 0.5
        value = getattr(old, field) if old is not None and ignores else None
        return value if isinstance(value, str) and not (field == "color" and alike(value, thing.color)) else None

    def _elsewhere(self, thing: Thing, luck: Random) -> Thing | None:
        """The thing at a place where it visibly stands elsewhere; `None` when the picture has no room for that."""
        if isinstance(thing.at, Beside) and thing.at.of not in self.things and thing.at.of != PHOTO_ID:
            return None
        for at in luck.sample(places := other_places(thing.at), len(places)):
            moved = thing.model_copy(update={"at": at})
            old, new = self._box(thing), self._box(moved)
            if old and new and _apart(old, new) >= MOVED:
                return moved
        return None

    def _resized(self, thing: Thing, luck: Random) -> Thing | None:
        """The thing in a size that can be seen to be another; a crowded picture may allow none."""
        for size in luck.sample(sizes := [size for size in SIZES if size != thing.size], len(sizes)):
            resized = thing.model_copy(update={"size": size})
            old, new = self._box(thing), self._box(resized)
            if old and new and max(old.h / new.h, new.h / old.h) >= RESIZED:
                return resized
        return None

    def _box(self, thing: Thing) -> Placed | None:
        """Where a thing comes to stand, were it alone otherwise than asked."""
        if thing in self.scene.things:
            return bounds(self.places, thing.id)
        things = tuple(thing if one.id == thing.id else one for one in self.scene.things)
        return bounds(layout(self.scene.model_copy(update={"things": things})), thing.id)

    def _recolor(self, category: Category, thing: Thing, luck: Random) -> None:
        color = luck.choice(other_colors(thing))
        words = f"{capital(the(thing, color=False))} turned {color}."
        self._put(category, "color", thing, thing.model_copy(update={"color": color}), words)

    def _put(self, category: Category, what: What, thing: Thing, wrong: Thing, words: str) -> None:
        if what != "place":
            # It may stand elsewhere than asked already: what it stood beside is missing.
            wrong = wrong.model_copy(update={"at": self.things[thing.id].at})
        self.things[thing.id] = wrong
        self._note(category, what, thing.id, words)

    def _remove(self, category: Category, thing: Thing, words: str) -> None:
        del self.things[thing.id]
        for other in list(self.things.values()):
            # What stood by it takes its place: a relation to nothing cannot be drawn.
            if isinstance(other.at, Beside) and other.at.of == thing.id:
                self.things[other.id] = other.model_copy(update={"at": thing.at})
        self._note(category, "missing", thing.id, words)

    def _note(self, category: Category, what: What, thing: str, words: str) -> None:
        self.touched.add(thing)
        self.faults.append(Fault(category=category, what=what, thing=thing, words=words))


def words_of(faults: Iterable[Fault]) -> str:
    """All faults as one text."""
    return " ".join(fault.words for fault in faults)


def _colored(thing: Thing) -> bool:
    return thing.color is not None and KINDS[thing.kind].recolourable


def _differs(backdrop: str, other: str) -> bool:
    return backdrop != other and BACKDROPS[backdrop].indoors != BACKDROPS[other].indoors if other in BACKDROPS else True


def _apart(one: Placed, other: Placed) -> float:
    across, down = (one.x + one.w / 2) - (other.x + other.w / 2), (one.y + one.h / 2) - (other.y + other.h / 2)
    return (across**2 + down**2) ** 0.5


def _free(places: Iterable[Placed], thing: str) -> bool:
    """Whether a thing and all others do not cover each other."""
    boxes = list(places)
    own = bounds(boxes, thing)
    return own is not None and all(
        one.id == thing
        or one.x >= own.x + own.w
        or one.x + one.w <= own.x
        or one.y >= own.y + own.h
        or one.y + one.h <= own.y
        for one in boxes
    )
