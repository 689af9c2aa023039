"""Observing: what the user's own picture shows, and what that means for the steps that are left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langgraph_interleave.planner import Existing
from langgraph_interleave.types import ImageBytes
from langgraph_interleave.world.changing.bench import Bench
from langgraph_interleave.world.changing.carrying import carried
from langgraph_interleave.world.changing.order import Order
from langgraph_interleave.world.changing.row import Row
from langgraph_interleave.world.grammar import change_in_words
from langgraph_interleave.world.scene import Scene
from langgraph_interleave.world.sight.explanation import CLEAN_TOTAL, clean, explain
from langgraph_interleave.world.sight.view import View, compare, look
from langgraph_interleave.world.vocabulary import BACKDROPS

#: Steps whose scene a picture is compared with in full, the nearest first.
_CLOSELY = 2
#: What is left of the difference when a picture is taken to be set elsewhere, at most.
_ELSEWHERE = 0.5
#: What people say of a picture of theirs, besides what is in it.
_SHOWN = re.compile(
    r"^(?:(?:this|that|here|it)\b.*\b(?:have|got|done|did|made|far|looks?|now|photo|picture|is|am|result|turned\s+out)\b.*|"
    r"(?:i|we)(?:'m|'ve|\s+am|\s+are|\s+have)?\s+(?:now\s+)?(?:done|at|finished|did|made|got|reached|completed|just)\b.*|"
    r"my\s+(?:photo|picture|result|work|attempt|try)\b.*|(?:a\s+)?(?:photo|picture|result)\s+(?:of|after|from)\b.*|"
    r"(?:what(?:\s+do\s+i\s+do|\s+should\s+i\s+do|'s|\s+is|\s+comes)?\s+(?:next|now)|how\s+(?:do\s+i|to|should\s+i)?\s*"
    r"(?:go\s+on|continue|proceed)|(?:please\s+)?(?:go\s+on|continue|proceed|carry\s+on)(?:\s+from\s+(?:here|there|this))?|"
    r"what\s+now|next|now|look|see|done|after|so\s+far|and\s+now|plan\s+the\s+rest\b.*|"
    r"show\s+(?:me\s+)?(?:the\s+)?(?:rest|next|remaining)\b.*))?\W*$",
    re.IGNORECASE,
)
#: A step named alone: "after step 2".
_NAMED_ALONE = re.compile(
    r"^(?:(?:right|just)\s+)?(?:(?:after|before|at|for|from|of)\s+)?(?:the\s+)?(?:[\w-]+\s+)?(?:step|picture|image|stage)s?"
    r"\s*\w*(?:\s+(?:is\s+)?(?:done|finished|complete|ready))?\W*$",
    re.IGNORECASE,
)
#: "After step 2: …" says where the user is, and then something else.
_LED = re.compile(
    r"^(\s*(?:[\w']+\s+){0,6}?(?:after|before|at)\s+(?:the\s+)?(?:[\w-]+\s+)?step\s*\w*)\s*[:,](?!\s*(?:add|insert|put)\b)",
    re.IGNORECASE,
)
_REST = re.compile(
    r"\b(?:the\s+)?(?:rest|others|(?:remaining|other|next|following)\s+(?:steps?|pictures?|images?|ones?))"
    r"(?:\s+of\s+(?:it|them|the\s+\w+))?\b",
    re.IGNORECASE,
)
_AT = re.compile(
    r"\b(?:after|done|did|finished|completed|at|of|from|is|in|just|until|reached|result|photo|picture|have|now)\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\bbefore\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Observation:
    """What the user's picture was taken to show.

    Attributes:
        row: The step it shows the outcome of; `None`: nothing of the plan is done.
        scene: What it shows; `None` where it could not be read.
    """

    row: Row | None
    scene: Scene | None


def with_its_place(text: str) -> str:
    """Words that come with a picture, with what they say of when it was taken as a sentence of its own.

    Example:
        >>> with_its_place("This is it after step 2: make the rest blue")
        'This is it after step 2. make the rest blue'
    """
    return _LED.sub(r"\1.", text)


def observe(bench: Bench, orders: Sequence[Order], existing: Existing, images: Sequence[ImageBytes]) -> list[Order]:
    """Plan the steps that are left from the picture the user gave.

    The steps up to the one the picture shows are kept. The first one left is drawn from that picture, and
    what is otherwise in it stays so in the scenes of those that are left.

    Args:
        bench: The plan; its rows are changed.
        orders: What the words ask for.
        existing: Which pictures were given with them.
        images: All pictures of the request.

    Returns:
        The orders that remain to be carried out.
    """
    given = [number for number in existing.given if 0 <= number < len(images)]
    about, rest = _about(orders)
    if not given:
        return list(orders)
    number = given[-1]
    for other in given[:-1]:
        bench.warn("unused_input", f"Of {len(given)} pictures the last one counts; input:{other} is not used.")
    stated = _stated(bench, about)
    seen = _seen(bench, look(images[number]), stated)
    start = bench.rows.index(seen.row) + 1 if seen.row is not None else 0
    left = [row for row in bench.rows[start:] if row.scene is not None]
    where = f"after {bench.number(seen.row)}" if seen.row is not None else "before the first step"
    if seen.scene is None:
        told = "" if stated[1] else " Say after which step it was taken, if it is another."
        bench.warn("other", f"The given picture could not be read as a scene; the plan goes on as it was.{told}")
    if not left:
        bench.think(f"The picture is taken to be {where}: no picture is left to draw.")
        return rest
    names = bench.number(left[0])
    bench.think(f"The picture is taken to be {where}; {names} starts from it.")
    _build_on(bench, left, number, seen)
    todo = tuple(row.old for row in left if row.old is not None)
    rest = [replace(order, words=_REST.sub("it", order.words)) if order.kind == "revise" else order for order in rest]
    # "My pot is blue": of the pictures that are left, where no step is named.
    return [replace(order, steps=todo) if _is_open(order) else order for order in rest]


def _is_open(order: Order) -> bool:
    """Whether an order names no step of its own."""
    return order.kind == "revise" and (order.inherited or not order.steps)


def _about(orders: Sequence[Order]) -> tuple[list[Order], list[Order]]:
    """What is said of the picture itself, and the rest."""
    about: list[Order] = []
    rest: list[Order] = []
    for order in orders:
        said = order.said.strip()
        tells = order.kind in ("revise", "unclear", "keep") and bool(_SHOWN.match(said) or _NAMED_ALONE.match(said))
        bare = order.kind == "revise" and not order.words
        (about if tells or bare else rest).append(order)
        if tells and order.kind == "revise" and not order.steps and _says_a_scene(order):
            rest.append(order)
    return about, rest


def _says_a_scene(order: Order) -> bool:
    """Whether words about a picture also say what is in it: "this is what I have now: the pot is blue"."""
    return ":" in order.words


def _stated(bench: Bench, about: Sequence[Order]) -> tuple[Row | None, bool]:
    """The step the user says the picture is of, and whether any was said."""
    for order in about:
        if not order.steps or not (_AT.search(order.said) or _BEFORE.search(order.said)):
            continue
        if _BEFORE.search(order.said) and not re.search(r"\bafter\b", order.said, re.IGNORECASE):
            first = bench.row(order.steps[0])
            index = bench.rows.index(first) if first is not None else 0
            return (bench.rows[index - 1] if index else None), True
        return bench.row(order.steps[-1]), True
    return None, False


def _seen(bench: Bench, view: View | None, stated: tuple[Row | None, bool]) -> Observation:
    """The step a picture is of, and what it shows."""
    rows = [row for row in bench.rows if row.scene is not None]
    row, is_stated = stated
    if view is None or not rows:
        return Observation(row if is_stated else _last_done(bench), None)
    if is_stated:
        known = row if row is not None and row.scene is not None else None
        rows = [known] if known is not None else rows[:1]
    best: tuple[float, Row, Scene] | None = None
    for one, scene in _nearest(view, rows):
        explanation = explain(view, scene)
        vague = {finding.what for finding in explanation.findings} & {"foreign", "blank", "broken", "unclear", "extra"}
        if vague or not clean(explanation.rest):
            continue
        changes = len(explanation.findings) + (scene != one.scene)
        if best is None or changes < best[0]:
            best = (changes, one, explanation.scene)
    if best is None:
        return Observation(row if is_stated else _last_done(bench), None)
    return Observation(row if is_stated else best[1], best[2])


def _nearest(view: View, rows: Sequence[Row]) -> list[tuple[Row, Scene]]:
    """The rows a picture looks most like, each with its scene, if need be in the place that the picture is in."""
    scenes = [row.scene or Scene() for row in rows]
    found = _in_order(view, scenes)
    if found[0][0] > CLEAN_TOTAL:
        places = [
            (compare(view, scenes[index].model_copy(update={"backdrop": name})).total, name)
            for _, index in found[:_CLOSELY]
            for name in BACKDROPS
        ]
        least, name = min(places)
        if least < found[0][0] * _ELSEWHERE:
            scenes = [scene.model_copy(update={"backdrop": name}) for scene in scenes]
            found = _in_order(view, scenes)
    return [(rows[index], scenes[index]) for _, index in found[:_CLOSELY]]


def _in_order(view: View, scenes: Sequence[Scene]) -> list[tuple[float, int]]:
    """How much a picture differs from each scene, and which that is; the nearest first.

    Of scenes that look the same the later one comes first: what is done is done.
    """
    found = [(compare(view, scene).total, index) for index, scene in enumerate(scenes)]
    return sorted(found, key=lambda one: (one[0], -one[1]))


def _last_done(bench: Bench) -> Row | None:
    """Where nothing tells: the first picture is done, so that there is something left."""
    drawn = [row for row in bench.rows if row.scene is not None]
    return drawn[0] if len(drawn) > 1 else None


def _build_on(bench: Bench, left: Sequence[Row], number: int, seen: Observation) -> None:
    first = left[0]
    planned = seen.row.scene if seen.row is not None else first.scene
    if seen.scene is not None and planned is not None:
        # Before the first step, what that step does is still to be done: only how things look is taken over.
        found = seen.scene if seen.row is not None else _looks(planned, seen.scene)
        for row in left:
            assert row.scene is not None
            scene = carried(planned, found, row.scene, backdrop=True)
            if scene != row.scene:
                row.want(scene, "")
        if found != planned:
            bench.think(f"In the picture it is otherwise than planned: {_difference(planned, found)}.")
    elif seen.scene is None and first.scene is not None and not first.scene.photo:
        first.want(first.scene.model_copy(update={"photo": True}), "")
    first.afresh = True
    if not bench.edits:
        bench.warn("unused_input", "The backend takes no pictures to build on: the given picture is not drawn from.")
        return
    first.seen = seen.scene
    first.rebuild([f"input:{number}"])


def _looks(planned: Scene, seen: Scene) -> Scene:
    """What is planned, in the colours and sizes, and at the place, of what is seen."""
    there = {thing.id: thing for thing in seen.things}
    things = [
        thing.model_copy(update={"color": one.color, "size": one.size})
        if (one := there.get(thing.id)) is not None and one.kind == thing.kind
        else thing
        for thing in planned.things
    ]
    return planned.model_copy(update={"things": tuple(things), "backdrop": seen.backdrop})


def _difference(planned: Scene, seen: Scene) -> str:
    words = change_in_words(planned, seen)
    return f"{words[:1].lower()}{words[1:].rstrip('.')}"
