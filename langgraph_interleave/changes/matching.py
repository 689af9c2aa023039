"""The steps of a plan that another plan has already."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from langgraph_interleave.types import Plan, Step, parse_source

#: What makes a picture, beside what the step builds on.
_DRAWN = ("op", "instruction", "prompt", "backend")


def match_steps(old: Plan, new: Plan) -> tuple[int | None, ...]:
    """Find the steps of a plan that another plan has already.

    A step is the same when its op, instruction, prompt, backend and everything it builds on are: then its
    picture can be taken over. Titles and captions may differ. Each old step is found once at most, the
    one that is next in order first.

    Args:
        old: The plan as it was.
        new: A whole new plan for the same request, its inputs numbered alike.

    Returns:
        For each step of `new` the index of the old one, or `None`. With another style guide none that is drawn.

    Example:
        >>> pot, cup = (Step(index=0, op="generate", instruction=words, prompt=words) for words in ("A pot", "A cup"))
        >>> second = pot.model_copy(update={"index": 1, "caption": "A pot, at last."})
        >>> match_steps(Plan(steps=(pot,)), Plan(steps=(cup, second)))
        (None, 0)
    """
    origins: list[int | None] = []
    restyled = old.style_guide != new.style_guide
    used: set[int] = set()
    expected = 0
    for step in new.steps:
        sources = _as_before(step, origins)
        same = [one.index for one in old.steps if one.index not in used and _alike(one, step, sources)]
        if not same or (restyled and step.op != "text"):
            origins.append(None)
            continue
        found = min(same, key=partial(_distance, old, step, expected))
        origins.append(found)
        used.add(found)
        expected = found + 1
    return tuple(origins)


def _alike(old: Step, new: Step, sources: tuple[str, ...] | None) -> bool:
    return old.sources == sources and all(getattr(old, name) == getattr(new, name) for name in _DRAWN)


def _distance(plan: Plan, step: Step, expected: int, at: int) -> tuple[bool, int]:
    # Among words only, those that say the same come first.
    return step.op == "text" and plan.steps[at].caption != step.caption, abs(at - expected)


def _as_before(step: Step, origins: Sequence[int | None]) -> tuple[str, ...] | None:
    """What a new step builds on in the old plan's numbers; `None` when some of it is not there."""
    found: list[str] = []
    for source in step.sources:
        kind, number = parse_source(source)
        origin = number if kind == "input" else origins[number]
        if origin is None:
            return None
        found.append(f"{kind}:{origin}")
    return tuple(found)
