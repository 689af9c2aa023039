"""Simpler scenes: half the way to a scene, and a scene with less in it."""

from __future__ import annotations

from langgraph_interleave.world.grammar import difference, revise
from langgraph_interleave.world.scene import Beside, Scene


def halfway(before: Scene, after: Scene) -> tuple[Scene, list[str]] | None:
    """The scene when half of what leads from one to the other is done, and that half in words.

    Returns:
        `None` where there is nothing in between.

    Example:
        >>> from langgraph_interleave.world.scene import Thing
        >>> ball, cat = Thing(id="ball", kind="ball"), Thing(id="cat", kind="cat")
        >>> red = ball.model_copy(update={"color": "red"})
        >>> scene, words = halfway(Scene(things=(ball,)), Scene(things=(red, cat)))
        >>> [thing.kind for thing in scene.things], words
        (['ball'], ['make the ball red'])
    """
    commands = difference(before, after)
    if len(commands) < 2:
        return None
    half = commands[: (len(commands) + 1) // 2]
    scene = before
    for command in half:
        scene = revise(command, scene, language="en").scene
    return (scene, half) if scene not in (before, after) else None


def fewer(scene: Scene, before: Scene | None) -> Scene | None:
    """The scene with less in it: what it is about stays, with what that stands on.

    Args:
        scene: The scene.
        before: The picture it is a change of; what it is about is what differs.

    Returns:
        `None` where nothing can be left out: two things are not many.
    """
    if len(scene.things) < 3:
        return None
    was = {thing.id: thing for thing in before.things} if before is not None else {}
    by_id = {thing.id: thing for thing in scene.things}
    about = [thing.id for thing in scene.things if was.get(thing.id) != thing] if was else []
    most = (len(scene.things) + 1) // 2
    kept: set[str] = set()
    for name in dict.fromkeys((*about, *by_id)):
        wanted = {name}
        at = by_id[name].at
        while isinstance(at, Beside) and at.of in by_id and at.of not in wanted:
            wanted.add(at.of)
            at = by_id[at.of].at
        if not kept or len(kept | wanted) <= most:
            kept |= wanted
    if len(kept) == len(scene.things):
        return None
    return scene.model_copy(update={"things": tuple(thing for thing in scene.things if thing.id in kept)})
