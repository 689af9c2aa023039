"""Carrying over: what became otherwise in one picture, in the pictures that build on it."""

from __future__ import annotations

import re

from langgraph_interleave.world.grammar.numbers import in_words
from langgraph_interleave.world.grammar.phrases import article, noun
from langgraph_interleave.world.scene import Beside, Scene, Thing
from langgraph_interleave.world.sight.guesses import without

_KEPT = ("kind", "color", "size", "count", "state", "label", "at")


def carried(old: Scene, new: Scene, scene: Scene, *, backdrop: bool = False) -> Scene:
    """A later scene after an earlier one has changed: what it had from there, it has as it is there now.

    What the later scene has otherwise than the earlier one had, stays its own.

    Args:
        old: The earlier scene as it was.
        new: The earlier scene as it is now.
        scene: The later scene.
        backdrop: Whether the place goes along, too.

    Example:
        >>> ball = Thing(id="ball", kind="ball", color="red")
        >>> blue = ball.model_copy(update={"color": "blue"})
        >>> later = Scene(things=(ball.model_copy(update={"size": "small"}),))
        >>> [(one.color, one.size) for one in carried(Scene(things=(ball,)), Scene(things=(blue,)), later).things]
        [('blue', 'small')]
    """
    was = {thing.id: thing for thing in old.things}
    now = {thing.id: thing for thing in new.things}
    for thing in scene.things:
        before = was.get(thing.id)
        if before is not None and before.kind == thing.kind and thing.id not in now:
            scene = without(scene, thing)
    things: list[Thing] = []
    for thing in scene.things:
        before, after = was.get(thing.id), now.get(thing.id)
        if before is not None and after is not None and thing.kind == before.kind:
            update = {
                name: getattr(after, name)
                for name in _KEPT
                if getattr(after, name) != getattr(before, name) and getattr(thing, name) == getattr(before, name)
            }
            things.append(thing.model_copy(update=update))
        else:
            things.append(thing)
    there = {thing.id for thing in things}
    things.extend(thing for thing in new.things if thing.id not in was and thing.id not in there)
    there = {"photo", *(thing.id for thing in things)}
    placed = tuple(
        thing.model_copy(update={"at": None}) if isinstance(thing.at, Beside) and thing.at.of not in there else thing
        for thing in things
    )
    update: dict[str, object] = {"things": placed}
    if backdrop and scene.backdrop == old.backdrop:
        update["backdrop"] = new.backdrop
    return scene.model_copy(update=update)


def retold(caption: str, old: Scene, new: Scene) -> str:
    """A caption in which the colours and numbers of things are as they are now.

    Example:
        >>> ball = Thing(id="ball", kind="ball", color="red")
        >>> blue = ball.model_copy(update={"color": "blue", "count": 2})
        >>> retold("A red ball.", Scene(things=(ball,)), Scene(things=(blue,)))
        'Two blue balls.'
    """
    now = {thing.id: thing for thing in new.things}
    for before in old.things:
        after = now.get(before.id)
        if after is None or after.kind != before.kind:
            continue
        if after.color != before.color and before.color is not None and after.color is not None:
            last = noun(before.kind, before.count).split(" ")[-1]
            pattern = rf"\b(an?\s+)?{re.escape(before.color)}(?=\s+(?:[\w-]+\s+){{0,2}}{re.escape(last)}\b)"
            caption = re.sub(
                pattern, lambda match, color=after.color: _like(match, color), caption, flags=re.IGNORECASE
            )
        if after.count != before.count:
            many = "an?|one" if before.count == 1 else f"{in_words(before.count)}|{before.count}"
            one = re.escape(noun(before.kind, before.count))
            color = rf"{re.escape(after.color)}\s+" if after.color is not None else ""
            pattern = rf"\b(?:{many})\s+({color}){one}\b"
            said = in_words(after.count) if after.count > 1 else "one"
            caption = re.sub(
                pattern,
                lambda match, said=said, kind=before.kind, count=after.count: _cased(
                    match[0], f"{said} {match[1]}{noun(kind, count)}"
                ),
                caption,
                flags=re.IGNORECASE,
            )
    return caption


def _like(match: re.Match[str], color: str) -> str:
    return _cased(match[0], f"{article(color)} {color}" if match[1] else color)


def _cased(before: str, words: str) -> str:
    return words[0].upper() + words[1:] if before[:1].isupper() else words
