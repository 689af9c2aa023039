"""What changed between two scenes, in words that `revise` understands."""

from __future__ import annotations

from langgraph_interleave.world.grammar.numbers import in_words
from langgraph_interleave.world.grammar.phrases import BACKDROPS, listed, state_phrase
from langgraph_interleave.world.grammar.prose import canonical_id, phrase, place, reference
from langgraph_interleave.world.grammar.tokens import quote
from langgraph_interleave.world.scene import Beside, Scene, Thing


def difference(before: Scene, after: Scene) -> list[str]:
    """What must be done to turn one scene into another, one change each, in words.

    Things are the same when their ids are. Changes come first, then what is removed, then what is
    added; each is said of the scene as it is after those before it.

    Args:
        before: The scene as it is.
        after: The scene as it shall be.

    Returns:
        Commands without capital letter or full stop; none when nothing changed.

    Example:
        >>> from langgraph_interleave.world.scene import Scene, Thing
        >>> ball = Thing(id="ball", kind="ball", color="red")
        >>> blue = ball.model_copy(update={"color": "blue"})
        >>> difference(Scene(things=(ball,)), Scene(things=(blue, Thing(id="cat", kind="cat"))))
        ['make the ball blue', 'add a cat']
    """
    words: list[str] = []
    now = before
    if before.backdrop != after.backdrop:
        where = BACKDROPS.get(after.backdrop, f"in front of the backdrop {quote(after.backdrop)}")
        words.append(f"set the scene {where}")
    if before.photo != after.photo:
        words.append("pin up the given photo" if after.photo else "take down the given photo")
    wanted = {thing.id: thing for thing in after.things}
    moves: list[str] = []
    for thing in before.things:
        new = wanted.get(thing.id)
        if new is None or new.kind != thing.kind:
            continue
        said, now = _changes(thing, new, now)
        words.extend(said)
        if new.at != thing.at:
            moves.append(thing.id)
    gone = [thing for thing in before.things if thing.id not in wanted or wanted[thing.id].kind != thing.kind]
    staying = {thing.id for thing in now.things} - {thing.id for thing in gone}
    added = [thing for thing in after.things if thing.id not in staying]
    heirs = _heirs(gone, added, before, after)
    leaving: list[str] = []
    for thing in gone:
        if thing.id not in heirs:
            leaving.append(reference(thing.id, now))
            now = now.model_copy(update={"things": tuple(other for other in now.things if other.id != thing.id)})
    if leaving:
        words.append(f"remove {listed(leaving)}")
    for name, heir in heirs.items():
        added.remove(heir)
        words.append(f"replace {reference(name, now)} with {_said(heir, now, placed=False)}")
        things = tuple(heir if other.id == name else other for other in now.things)
        now = now.model_copy(update={"things": things})
    commands, now = _additions(_anchors_first(added), now.model_copy(update={"photo": after.photo}))
    words.extend(commands)
    words.extend(_move(wanted[name], now) for name in moves)
    if before.caption != after.caption:
        words.append(
            "remove the words from the picture"
            if after.caption is None
            else f"write the words {quote(after.caption)} into the picture"
        )
    return words


def change_in_words(before: Scene, after: Scene) -> str:
    """`difference` as one sentence; empty when nothing changed.

    Example:
        >>> from langgraph_interleave.world.scene import Scene, Thing
        >>> change_in_words(Scene(), Scene(backdrop="night", things=(Thing(id="cat", kind="cat"),)))
        'Set the scene at night and add a cat.'
    """
    words = listed(difference(before, after))
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _changes(old: Thing, new: Thing, now: Scene) -> tuple[list[str], Scene]:
    """The changes of one thing that stays, but for its place; and the scene after them."""
    words: list[str] = []

    def step(said: str, **update: object) -> None:
        nonlocal now
        words.append(said)
        things = (thing.model_copy(update=update) if thing.id == old.id else thing for thing in now.things)
        now = now.model_copy(update={"things": tuple(things)})

    def it() -> str:
        return reference(old.id, now)

    if old.count != new.count:
        many = phrase(old.model_copy(update={"count": new.count, "label": None, "state": None}), placed=False)
        if new.count == 1:
            many = "one " + many.partition(" ")[2]
        step(f"show {many} instead of {in_words(old.count)}", count=new.count)
    if old.label != new.label:
        label = f"write {quote(new.label)} on {it()}" if new.label is not None else f"remove the label of {it()}"
        step(label, label=new.label)
    if old.color != new.color:
        step(f"make {it()} {new.color or 'its own colour again'}", color=new.color)
    if old.size != new.size:
        step(f"make {it()} {new.size if new.size != 'medium' else 'medium-sized'}", size=new.size)
    if old.state != new.state:
        step(_state(it(), old.kind, new.state), state=new.state)
    return words, now


def _heirs(gone: list[Thing], added: list[Thing], before: Scene, after: Scene) -> dict[str, Thing]:
    """Who takes whose place: a new thing in the same place, and in the same place of the order."""
    heirs: dict[str, Thing] = {}
    for thing in gone:
        order = before.things.index(thing)
        others = {other.id for other in gone if other is not thing}
        for new in added:
            if new.at == thing.at and after.things.index(new) == order and new.id not in others:
                heirs[thing.id] = new
    return heirs


def _additions(added: list[Thing], now: Scene) -> tuple[list[str], Scene]:
    """What is added, in commands in which nobody takes the place of one thing for that of another."""
    commands: list[list[str]] = []
    open_ended = False
    everything = now.model_copy(update={"things": (*now.things, *added)})
    for thing in added:
        if not commands or (open_ended and thing.at is not None):
            commands.append([])
        context = now.model_copy(update={"things": (*now.things, thing)})
        commands[-1].append(_said(thing, now, context if _stands(thing, context) else everything))
        now = context
        open_ended = thing.at is None
    return [f"add {listed(parts)}" for parts in commands], now


def _stands(thing: Thing, scene: Scene) -> bool:
    """Whether what a thing stands beside is there."""
    if not isinstance(thing.at, Beside):
        return True
    return thing.at.of in {other.id for other in scene.things} or (scene.photo and thing.at.of == "photo")


def _anchors_first(added: list[Thing]) -> list[Thing]:
    """The same things, what others stand beside before them."""
    ordered: list[Thing] = []
    rest = list(added)
    while rest:
        waiting = {thing.id for thing in rest}
        ready = [thing for thing in rest if not (isinstance(thing.at, Beside) and thing.at.of in waiting - {thing.id})]
        following = (ready or rest)[0]
        ordered.append(following)
        rest.remove(following)
    return ordered


def _said(thing: Thing, now: Scene, context: Scene | None = None, *, placed: bool = True) -> str:
    """A new thing in words; with its id where that says more than the description."""
    named = thing.id != canonical_id(thing, [other.id for other in now.things])
    return phrase(thing, context, named=named, placed=placed)


def _state(it: str, kind: str, state: str | None) -> str:
    if state is None:
        return f"bring {it} back to its usual state"
    said, behind = state_phrase(kind, state)
    if said.startswith("showing "):
        return f"make {it} show {said.removeprefix('showing ')}"
    return f"show {it} {said}" if behind or said.endswith("ing") else f"make {it} {said}"


def _move(thing: Thing, after: Scene) -> str:
    it = reference(thing.id, after)
    if thing.at is None:
        return f"move {it} to a free place"
    where = place(thing, after)
    if isinstance(thing.at, Beside) and thing.at.relation in ("on", "in"):
        return f"put {it} {where}"
    for lead in ("in the ", "on the ", "at the "):
        if where.startswith(lead) and not isinstance(thing.at, Beside):
            return f"move {it} to the {where.removeprefix(lead)}"
    return f"move {it} {where}"
