"""Stories: what happens next in a scene, made up by chance, one edit at a time, with words to go with it."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from langgraph_interleave_miniature.captions import place
from langgraph_interleave_miniature.naming import nouns
from langgraph_interleave_miniature.scenes import BACKGROUNDS, COLORS, KINDS, MOST, Edit, Scene, Thing

_ARRIVALS = ("{A} turns up {where}.", "Look: {a} {where}!", "{A} comes along and stays {where}.")
_DEPARTURES = ("{The} goes home.", "{The} says goodbye and is gone.", "And then {the} is nowhere to be seen.")
_PAINTINGS = ("{The} would rather be {color}, so it is.", "{The} falls into {color} paint.", "{The} turns {color}.")
_GROUNDS = {
    "meadow": "Off to the meadow.", "night": "Night falls.", "beach": "And now to the beach.",
    "paper": "The wind blows everything around away: white as paper.",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens: an edit, and the words that tell it."""

    edit: Edit
    caption: str


def beginning(rng: random.Random) -> Scene:
    """A scene to begin with, where nobody said who it is about."""
    thing = Thing(rng.choice(KINDS), rng.choice(COLORS), rng.randrange(6))
    return Scene(rng.choice(BACKGROUNDS), (thing,))


def next_event(rng: random.Random, scene: Scene, heroes: frozenset[str], last: Edit | None = None) -> Event:
    """What happens next. Heroes stay; nothing is taken back at once, and no kind of change comes twice in a row.

    Args:
        rng: Source of chance.
        scene: What there is.
        heroes: Kinds of things the story is about.
        last: What happened before.

    Example:
        >>> next_event(random.Random(3), Scene("night", (Thing("car", "red", 4),)), frozenset({"car"})).caption
        'Look: a blue house at the top middle!'
    """
    others = [thing for thing in scene.things if thing.kind not in heroes]
    fresh = last.thing.kind if last is not None and last.thing is not None else None
    ops = ["background"]
    ops += ["add", "add"] if len(scene.things) < MOST else []
    ops += ["recolor"] if scene.things else []
    ops += ["remove"] if any(thing.kind != fresh for thing in others) else []
    op = rng.choice([op for op in ops if last is None or op != last.op] or ops)
    if op == "background":
        been = {scene.background, last.before.background if last is not None else scene.background}
        ground = rng.choice([one for one in BACKGROUNDS if one not in been])
        return Event(Edit(op, scene, replace(scene, background=ground)), _GROUNDS[ground])
    if op == "add":
        kinds = [kind for kind in KINDS if scene.named(kind) is None and kind != fresh]
        new = Thing(rng.choice(kinds), rng.choice(COLORS), rng.choice(scene.free))
        after = replace(scene, things=(*scene.things, new))
        return Event(Edit(op, scene, after), _told(rng.choice(_ARRIVALS), new))
    if op == "remove":
        gone = rng.choice([thing for thing in others if thing.kind != fresh])
        after = replace(scene, things=tuple(thing for thing in scene.things if thing is not gone))
        return Event(Edit(op, scene, after), _told(rng.choice(_DEPARTURES), gone))
    old = rng.choice(scene.things)
    new = replace(old, color=rng.choice([color for color in COLORS if color != old.color]))
    after = replace(scene, things=tuple(new if thing is old else thing for thing in scene.things))
    return Event(Edit(op, scene, after), _told(rng.choice(_PAINTINGS), old, new.color))


def _told(words: str, thing: Thing, color: str = "") -> str:
    named, noun = nouns(Scene("paper", (thing,))), f"{thing.color} {thing.kind}"
    return words.format(
        a=named, A=named[:1].upper() + named[1:], the=f"the {noun}", The=f"The {noun}",
        where=place(thing.cell), color=color,
    )  # fmt: skip
