"""What lies between two versions of a document."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise

from langgraph_interleave.types import Change, DocumentData, DocumentStep


def compare(old: DocumentData, new: DocumentData) -> tuple[Change, ...]:
    """What became of each step between two versions of a document.

    Args:
        old: The earlier version.
        new: The later one.

    Returns:
        A change for each step of `new`, in its order, with its words where they or its picture are new;
        then those that are gone. A step is known again by its picture, else by its place among these.

    Example:
        >>> from langgraph_interleave.types import Request, TextPart
        >>> ask = Request(parts=(TextPart(text="Beans"),))
        >>> def version(*captions):
        ...     text = {"op": "text", "outcome": "text_only"}
        ...     steps = [DocumentStep(index=at, caption=caption, **text) for at, caption in enumerate(captions)]
        ...     return DocumentData(run_id="r", request=ask, outcome="complete", steps=steps)
        >>> [(one.change, one.step) for one in compare(version("Dig.", "Sow."), version("Dig.", "Wait.", "Sow."))]
        [('keep', 0), ('insert', None), ('keep', 1)]
    """
    before, after = old.steps, new.steps
    origins: dict[int, int] = {}
    for alike in (_same, _same_picture):
        free = [at for at in range(len(before)) if at not in origins.values()]
        for at, step in enumerate(after):
            same = [one for one in free if at not in origins and alike(before[one], step)]
            if same:
                origins[at] = min(same, key=lambda one: abs(one - at))
                free.remove(origins[at])
    in_order = _longest_rise([(at, origins[at]) for at in sorted(origins)])
    redone = _at_the_same_place(before, after, origins, in_order)
    found = [_change(at, before, after, origins, redone, in_order) for at in range(len(after))]
    named = {*origins.values(), *redone.values()}
    gone = [Change(change="delete", step=at) for at in range(len(before)) if at not in named]
    return (*found, *gone)


def _change(
    at: int,
    before: Sequence[DocumentStep],
    after: Sequence[DocumentStep],
    origins: Mapping[int, int],
    redone: Mapping[int, int],
    in_order: Mapping[int, int],
) -> Change:
    step = after[at]
    was = origins.get(at)
    if was is not None and _words(before[was]) == _words(step):
        return Change(change="keep" if at in in_order else "reorder", step=was)
    was = redone.get(at) if was is None else was
    if was is None:
        return Change(change="insert", op=step.op, title=step.title, caption=step.caption)
    if at in origins or before[was].op == step.op == "text":
        # Words that were taken away are empty ones.
        return Change(change="recaption", step=was, title=step.title, caption=step.caption or "")
    return Change(change="redo", step=was, op=step.op, title=step.title, caption=step.caption)


def _at_the_same_place(
    before: Sequence[DocumentStep],
    after: Sequence[DocumentStep],
    origins: Mapping[int, int],
    in_order: Mapping[int, int],
) -> dict[int, int]:
    """Pair what is left between two steps known again: by title first, then in order."""
    pairs: dict[int, int] = {}
    known = set(origins.values())
    borders = [(-1, -1), *sorted(in_order.items()), (len(after), len(before))]
    for (new_from, old_from), (new_to, old_to) in pairwise(borders):
        left = [at for at in range(old_from + 1, old_to) if at not in known]
        fresh = [at for at in range(new_from + 1, new_to) if at not in origins]
        for at in fresh:
            same = [one for one in left if after[at].title and before[one].title == after[at].title]
            if same:
                pairs[at] = same[0]
                left.remove(same[0])
        for at in fresh:
            same = [one for one in left if (before[one].op == "text") == (after[at].op == "text")]
            if at not in pairs and same:
                pairs[at] = same[0]
                left.remove(same[0])
    return pairs


def _same(old: DocumentStep, new: DocumentStep) -> bool:
    return _picture(old) == _picture(new) and _words(old) == _words(new)


def _same_picture(old: DocumentStep, new: DocumentStep) -> bool:
    return old.image is not None and _picture(old) == _picture(new)


def _picture(step: DocumentStep) -> tuple[bool, str | None]:
    return step.op == "text", None if step.image is None else step.image.sha256


def _words(step: DocumentStep) -> tuple[str | None, str | None]:
    return step.title or None, step.caption or None


def _longest_rise(pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Of pairs in order of the first, the most whose second rises, too: what was not moved."""
    ends: list[int] = []
    last: list[int] = []
    previous: list[int | None] = []
    for place, (_, value) in enumerate(pairs):
        length = bisect_left(ends, value)
        previous.append(last[length - 1] if length else None)
        ends[length : length + 1] = [value]
        last[length : length + 1] = [place]
    at = last[-1] if last else None
    found: dict[int, int] = {}
    while at is not None:
        found[pairs[at][0]] = pairs[at][1]
        at = previous[at]
    return found
