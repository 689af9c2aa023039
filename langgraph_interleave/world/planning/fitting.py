"""Fits an outline to the number of steps asked for: merges, tells more, subdivides; never pads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from langgraph_interleave.types import PlanWarning
from langgraph_interleave.world.grammar import change_in_words, difference
from langgraph_interleave.world.grammar.numbers import in_words
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.planning.outline import Outline, Part, joined_captions, joined_titles
from langgraph_interleave.world.scene import Beside, Scene


def fit(outline: Outline, count: int | None, *, most: int) -> Outline:
    """The outline with as many steps as were asked for, or as near as makes sense.

    Args:
        outline: The outline with all its parts, extra ones included.
        count: Steps asked for; `None` for the outline's usual number.
        most: Steps a plan may have.

    Returns:
        An outline without extra parts. It has a `step_count` warning when it has not `count` parts.
    """
    usual = tuple(part for part in outline.parts if not part.extra)
    wanted = min(count or len(usual), most)
    parts, thoughts = _parts(outline, usual, wanted)
    fitted = replace(outline, parts=parts).thinking(*thoughts)
    if count is not None and len(parts) != count:
        fitted = fitted.warned(_warning(count, len(parts), most))
    elif count is None and len(usual) > most:
        fitted = fitted.warned(_warning(len(usual), len(parts), most))
    return fitted


def _warning(count: int, got: int, most: int) -> PlanWarning:
    if count > most:
        reason = f"a plan may have at most {most} here (limits.max_steps)"
    elif got < count:
        reason = "there is no more to tell, and padding would not help anybody"
    else:
        reason = "its steps stand each by itself and cannot be merged further"
    verb = "is" if got == 1 else "are"
    return PlanWarning("step_count", f"{count} steps were asked for, {got} {verb} planned: {reason}.")


def _parts(outline: Outline, usual: tuple[Part, ...], wanted: int) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    every = outline.parts
    if wanted == len(usual):
        return usual, ()
    if wanted < len(usual):
        if outline.order == "independent":
            # Pictures that stand by themselves are chosen from, the first kept, evenly spread.
            chosen = _spread(usual, wanted)
            return chosen, (f"I choose {in_words(wanted)} of the {in_words(len(usual))}, evenly spread.",)
        merged = merge(usual, wanted, outline)
        return merged, (f"I put {in_words(len(usual))} steps into {in_words(len(merged))}.",)
    if wanted <= len(every):
        chosen = _with_extras(every, wanted)
        return chosen, (f"I tell it in {in_words(wanted)} steps, with more detail than usual.",)
    if outline.order == "cycle":
        rounds = tuple(every[index % len(every)] for index in range(wanted))
        return rounds, (f"It is a cycle: after {in_words(len(every))} pictures it begins again.",)
    if outline.order == "independent":
        return every, ()
    divided = subdivide(every, wanted, outline)
    return divided, (f"I divide steps to come to {in_words(len(divided))}.",) if len(divided) > len(every) else ()


def _with_extras(every: tuple[Part, ...], wanted: int) -> tuple[Part, ...]:
    left = wanted - sum(not part.extra for part in every)
    chosen: list[Part] = []
    for part in every:
        if part.extra:
            if left == 0:
                continue
            left -= 1
        chosen.append(part)
    return tuple(chosen)


def _spread(parts: tuple[Part, ...], wanted: int) -> tuple[Part, ...]:
    return tuple(parts[index * len(parts) // wanted] for index in range(wanted))


def merge(parts: Sequence[Part], wanted: int, outline: Outline) -> tuple[Part, ...]:
    """Merge neighbouring steps until `wanted` are left; the picture of a group is that of its last step.

    Groups stay as equal as they can; words alone are merged only with words alone, so that
    somewhat more than `wanted` may be left.
    """
    groups: list[list[Part]] = [[part] for part in parts]
    while len(groups) > max(wanted, 1):
        pairs = [
            (len(left) + len(right), _distance(left[-1], right[-1]), index)
            for index, (left, right) in enumerate(pairwise(groups))
            if (left[-1].scene is None) == (right[-1].scene is None)
        ]
        if not pairs:
            break
        _, _, index = min(pairs)
        groups[index : index + 2] = [groups[index] + groups[index + 1]]
    return tuple(_one(group, outline) for group in groups)


def _distance(left: Part, right: Part) -> int:
    """How much changes between two pictures: those that differ least are merged first."""
    if left.scene is None or right.scene is None:
        return 0
    return len(difference(left.scene, right.scene))


def _one(group: list[Part], outline: Outline) -> Part:
    if len(group) == 1:
        return group[0]
    return Part(
        caption=joined_captions((part.caption for part in group), outline.language),
        scene=group[-1].scene,
        title=joined_titles((part.title for part in group), outline.language),
        alone=group[0].alone,
    )


def subdivide(parts: tuple[Part, ...], wanted: int, outline: Outline) -> tuple[Part, ...]:
    """Draw steps that add several things one thing at a time, until there are `wanted`.

    Only where the words for it can be made: captions in English.
    """
    if outline.language != "en":
        return parts
    done = list(parts)
    while len(done) < wanted:
        richest = max(
            range(1, len(done)), key=lambda index: len(_between(done[index - 1].scene, done[index].scene)), default=0
        )
        if richest == 0:
            break
        before, after = done[richest - 1], done[richest]
        halfway = _between(before.scene, after.scene)
        if not halfway:
            break
        scene = halfway[0]
        assert before.scene is not None
        caption = sentence(change_in_words(before.scene, scene))
        done.insert(richest, Part(caption=caption, scene=scene, title=None))
    return tuple(done)


def _between(before: Scene | None, after: Scene | None) -> list[Scene]:
    """Scenes on the way from one to another where things are only added, one thing each; else none."""
    if before is None or after is None or (before.backdrop, before.photo) != (after.backdrop, after.photo):
        return []
    there = {thing.id: thing for thing in before.things}
    added = [thing for thing in after.things if thing.id not in there]
    if len(added) < 2 or any(thing not in after.things for thing in before.things):
        return []
    added.sort(key=lambda thing: isinstance(thing.at, Beside))
    found: list[Scene] = []
    for number in range(1, len(added)):
        shown = {*there, *(thing.id for thing in added[:number])}
        found.append(after.model_copy(update={"things": tuple(thing for thing in after.things if thing.id in shown)}))
    return found
