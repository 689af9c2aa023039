"""The plan that comes of saying what becomes of each step of another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from langgraph_interleave.errors import PlanError
from langgraph_interleave.types import Change, Changes, Op, Plan, Step, parse_source

_SOURCE = re.compile(r"(input|step|new):([0-9]{1,9})\Z")
_REMEDY = "Name the steps and sources as they are in the plan that is changed."
#: Fields of a step that a change may give, and those of them that are words only.
_FIELDS = ("op", "title", "instruction", "prompt", "caption", "sources", "backend")
_WORDS = ("title", "caption")


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed plan.

    `origins` names for each of its steps the step of the old plan whose picture (or words, where it has no
    picture) it keeps; `None` where it was said to be drawn again, or is new. A step that keeps its picture may
    build on one that is drawn again: that it must follow is not said here.
    """

    plan: Plan
    origins: tuple[int | None, ...]


def apply_changes(plan: Plan, changes: Changes, *, pictures: Mapping[int, int] | None = None) -> Changed:
    """The plan that comes of changes.

    A step that stays builds on what it built on. Where that is gone, or comes after it now, it builds on
    what that one was built on; where nothing is left of an edit's sources, on the picture it was drawn from.

    Args:
        plan: The plan as it was.
        changes: What becomes of its steps.
        pictures: Which picture of the request is the one drawn for a step: input by step.

    Returns:
        The plan, whole and consistent, and where its pictures come from. Not checked: whether an `input:i` exists.

    Raises:
        PlanError: A change names a step that is not there, builds on what is not before it, contradicts
            itself, or leaves an edit without anything to start from.

    Example:
        >>> pot = Step(index=0, op="generate", instruction="A pot.", prompt="A pot")
        >>> bean = Step(index=1, op="edit", instruction="A bean in it.", prompt="Add a bean", sources=("step:0",))
        >>> new = Change(change="insert", op="edit", instruction="Soil.", prompt="Add soil", sources=("step:0",))
        >>> kept = [Change(change="keep", step=0), new, Change(change="redo", step=1, sources=("new:1",))]
        >>> changed = apply_changes(Plan(steps=(pot, bean)), Changes(steps=tuple(kept)))
        >>> changed.origins, [step.sources for step in changed.plan.steps]
        ((0, None, None), [(), ('step:0',), ('step:1',)])
    """
    return _Applying(plan, changes, pictures or {}).changed()


class _Applying:
    def __init__(self, plan: Plan, changes: Changes, pictures: Mapping[int, int]) -> None:
        self._plan = plan
        self._changes = changes
        self._pictures = pictures
        #: New index by old, and by place in the list of changes.
        self._now: dict[int, int] = {}
        self._at: dict[int, int] = {}
        self._ops: list[Op] = []
        self._lay_out()

    def changed(self) -> Changed:
        steps = [self._step(change, self._at[place]) for place, change in self._staying()]
        style = self._changes.style_guide or self._plan.style_guide
        restyled = style != self._plan.style_guide
        origins = tuple(
            None if change.change in ("redo", "insert") or (restyled and op != "text") else change.step
            for (_, change), op in zip(self._staying(), self._ops, strict=True)
        )
        title = self._plan.title if self._changes.title is None else self._changes.title or None
        return Changed(
            Plan(steps=tuple(steps), style_guide=style, title=title, first_number=self._plan.first_number), origins
        )

    def _staying(self) -> Iterator[tuple[int, Change]]:
        return ((place, one) for place, one in enumerate(self._changes.steps) if one.change != "delete")

    def _lay_out(self) -> None:
        count = len(self._plan.steps)
        for change in self._changes.steps:
            if change.step is not None and change.step >= count:
                raise PlanError(
                    f"There is no step:{change.step}: the plan that is changed has step:0 to step:{count - 1}.",
                    remedy=_REMEDY,
                )
        for place, change in self._staying():
            index = self._at[place] = len(self._ops)
            if change.step is not None:
                self._now[change.step] = index
            self._ops.append(self._op(change))

    def _op(self, change: Change) -> Op:
        if change.step is not None:
            old = self._plan.steps[change.step].op
            return change.op or old if change.change == "redo" else old
        if change.op is not None:
            return change.op
        if change.instruction is None and change.prompt is None:
            return "text"
        return "edit" if change.sources else "generate"

    # One step.

    def _step(self, change: Change, index: int) -> Step:
        old = None if change.step is None else self._plan.steps[change.step]
        named = f"The new step {change.title!r}" if change.title else "The new step"
        who = named if old is None else f"step:{old.index}"
        if old is not None and change.change != "redo":
            self._agrees(change, old, who)
        op = self._ops[index]
        words = {name: _said(change, old, name) for name in ("title", "instruction", "prompt", "caption", "backend")}
        if op == "text":
            for name in ("instruction", "prompt"):
                words[name] = getattr(change, name) or None
            words["backend"] = None
        sources = self._sources(change, old, index, who)
        if op == "edit" and not sources:
            raise self._sourceless(change, old, who)
        if op != "text" and not (words["instruction"] and words["prompt"]):
            raise PlanError(f"{who} is to be drawn (op {op!r}) and needs an instruction and a prompt.", remedy=_REMEDY)
        try:
            return Step(index=index, op=op, sources=sources, **words)
        except ValidationError as error:
            said = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            said = said.removeprefix(f"step {index}: ")
            raise PlanError(f"{who}: {said}.", remedy=_REMEDY) from error

    def _agrees(self, change: Change, old: Step, who: str) -> None:
        free = _WORDS if change.change == "recaption" else ()
        for name in _FIELDS:
            given = getattr(change, name)
            if name not in free and given is not None and (given or None) != (getattr(old, name) or None):
                instead = "'recaption' (the picture stays)" if name in _WORDS else "'redo' (it is drawn again)"
                raise PlanError(
                    f"{who} is {change.change!r} and yet has another {name}: say {instead}, or leave {name} out.",
                    remedy=_REMEDY,
                )

    # What it builds on.

    def _sources(self, change: Change, old: Step | None, index: int, who: str) -> tuple[str, ...]:
        if change.change in ("redo", "insert") and change.sources is not None:
            return tuple(dict.fromkeys(self._named(source, change, index, who) for source in change.sources))
        if old is None or self._ops[index] == "text":
            return ()
        found = tuple(dict.fromkeys(self._reached(old.sources, index, set())))
        if found or self._ops[index] != "edit":
            return found
        drawn = [number for kind, number in map(parse_source, old.sources) if kind == "step"]
        return tuple(dict.fromkeys(f"input:{self._pictures[number]}" for number in drawn if number in self._pictures))

    def _reached(self, sources: Sequence[str], index: int, seen: set[int]) -> Iterator[str]:
        """The old sources, each step that is not before `index` any more replaced by its own."""
        for source in sources:
            kind, number = parse_source(source)
            if kind == "input":
                yield source
            elif self._before(self._now.get(number), index):
                yield f"step:{self._now[number]}"
            elif number not in seen:
                seen.add(number)
                yield from self._reached(self._plan.steps[number].sources, index, seen)

    def _before(self, new: int | None, index: int) -> bool:
        return new is not None and new < index and self._ops[new] != "text"

    def _named(self, source: str, change: Change, index: int, who: str) -> str:
        """A source as a change names it, in the new plan's numbers."""
        match = _SOURCE.match(source)
        if match is None:
            raise PlanError(
                f"{who} has the source {source[:60]!r}, which is neither 'step:j' (a step of the plan as it was), "
                "'new:j' (a new step, by its place in the list of changes) nor 'input:i'.",
                remedy=_REMEDY,
            )
        kind, number = match[1], int(match[2])
        if kind == "input":
            return f"input:{number}"
        what = f"{who} has the source '{kind}:{number}', which"
        if kind == "new":
            new = self._at.get(number)
            if new is None or self._changes.steps[number].change != "insert":
                raise PlanError(f"{what} is no new step: place {number} of the list is no 'insert'.", remedy=_REMEDY)
        else:
            if number >= len(self._plan.steps):
                raise PlanError(f"{what} does not exist in the plan that is changed.", remedy=_REMEDY)
            new = self._now.get(number)
            picture = self._pictures.get(number)
            instead = "" if picture is None else f" Its picture as it is now is input:{picture}."
            if number == change.step:
                raise PlanError(f"{what} is the step itself.{instead}", remedy=_REMEDY)
            if new is None:
                raise PlanError(f"{what} is gone by these changes.{instead}", remedy=_REMEDY)
        if new >= index:
            raise PlanError(f"{what} does not come before it in the list of changes.", remedy=_REMEDY)
        if self._ops[new] == "text":
            raise PlanError(f"{what} has words only and no picture to build on.", remedy=_REMEDY)
        return f"step:{new}"

    def _sourceless(self, change: Change, old: Step | None, who: str) -> PlanError:
        if old is None or change.sources is not None:
            return PlanError(f"{who} is an edit and names no source to start from.", remedy=_REMEDY)
        if not old.sources:
            return PlanError(f"{who} is to be an edit now and must name its sources.", remedy=_REMEDY)
        instead = "its sources must be named" if change.change == "redo" else "it must be 'redo'"
        return PlanError(
            f"{who} is an edit, and nothing it was built on comes before it any more: {instead} "
            "(with sources that do, or with op 'generate').",
            remedy=_REMEDY,
        )


def _said(change: Change, old: Step | None, name: str) -> str | None:
    """A field as a change has it; left out, it stays, and the empty text takes it away."""
    given: str | None = getattr(change, name)
    if given is not None:
        return given or None
    return None if old is None else getattr(old, name)
