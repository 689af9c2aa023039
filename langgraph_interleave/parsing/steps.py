"""Steps from what a model wrote for each: our numbers, our sources, a chain where it named none.

Steps are taken one at a time, so that the first can be drawn while the last is being written. A step
comes out as soon as nothing that follows can change it.

Which step `step:j` means: our index (from 0), as the planner is told. When the model numbered its
steps itself and some reference cannot be right in our numbering while all are right in the
model's, it is the model's. While both are still possible and differ, steps are held back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from langgraph_interleave.errors import PlanError
from langgraph_interleave.parsing.answer import Unreadable, fields
from langgraph_interleave.parsing.data import Json
from langgraph_interleave.parsing.label import without_label
from langgraph_interleave.parsing.wording import integer_of, is_nothing, kind_of, text_of
from langgraph_interleave.types import Op, PlanWarning, Step

#: Our name of a field -> the names models use for it.
NAMES: Mapping[str, tuple[str, ...]] = {
    "number": ("step_number", "number"),
    "op": ("op",),
    "title": ("title", "step_name"),
    "instruction": ("instruction",),
    "prompt": ("prompt",),
    "caption": ("caption", "auxiliary_text"),
    "sources": ("sources",),
    "backend": ("backend",),
}
STEP_FIELDS = frozenset(name for names in NAMES.values() for name in names)
_SOURCE = re.compile(r"(input|step)[\s:_#]*([0-9]{1,9})\Z", re.IGNORECASE)
_REMEDY = "Ask the planner again."

Numbering = Literal["ours", "model's"]


@dataclass(frozen=True, slots=True)
class _Ref:
    """A source as written; `meant` is the step's index in the model's numbering, `None` when there is none."""

    kind: Literal["input", "step"]
    number: int
    meant: int | None


@dataclass(frozen=True, slots=True)
class _Draft:
    """A step before its references are resolved. `refs` is `None` when the model named no sources."""

    index: int
    op: Op | None
    title: str | None
    instruction: str | None
    prompt: str | None
    caption: str | None
    backend: str | None
    refs: tuple[_Ref, ...] | None


class StepReader:
    """Turns a model's steps into ours, in order.

    Args:
        inputs: Number of pictures in the request.
        total: Number of steps in the plan, if known; makes messages more exact.
        continue_from: First number of a continued sequence; then the newest picture comes first. Where
            it is not given, a sequence about given pictures that is numbered from 2 or later says so itself.
        starts: Which pictures of the request a plan that names no sources starts from; `None` for all.

    Attributes:
        warnings: What the user should know, in order.
        total: As given.
    """

    def __init__(
        self,
        *,
        inputs: int = 0,
        total: int | None = None,
        continue_from: int | None = None,
        starts: Sequence[int] | None = None,
    ) -> None:
        self.warnings: list[PlanWarning] = []
        self.total = total
        self._inputs = inputs
        self._starts = list(range(inputs)) if starts is None else list(starts)
        self._continue_from = continue_from
        # For each step the last picture up to and including it, `None` before the first.
        self._last_picture: list[int | None] = []
        self._numbers: list[int | None] = []
        self._index_of: dict[int, int | None] = {}
        self._possible: set[Numbering] = {"ours", "model's"}
        self._held: list[_Draft] = []
        self._used: set[int] = set()

    @property
    def first_number(self) -> int:
        """What the first step is called: 1, but where the user's own sequence goes on."""
        return self._continue_from or 1

    def begins(self, number: int | None) -> None:
        """Say by which number the sequence begins, as the model has it; what the caller said goes first."""
        if self._continue_from is None and number is not None and 1 < number < 1000:
            self._continue_from = number

    def add(self, raw: Json) -> list[Step]:
        """Take the next step as the model wrote it.

        Returns:
            The steps that are final now; empty while a reference may still mean two things.

        Raises:
            PlanError: The step has nothing in it, or builds on what does not exist.
        """
        draft = self._draft(raw)
        differs = self._weigh(draft)
        self._last_picture.append(self._picture_before(draft.index) if draft.op == "text" else draft.index)
        self._held.append(draft)
        if len(self._possible) == 2 and (differs or len(self._held) > 1):
            return []
        return self._release()

    def close(self) -> list[Step]:
        """Say that no step follows; returns the steps held back."""
        self._possible.discard("model's" if "ours" in self._possible else "ours")
        steps = self._release()
        self._judge_numbers()
        # Words about pictures build on none, and a sequence that goes on builds on the newest.
        if self._continue_from is None and any(picture is not None for picture in self._last_picture):
            for i in self._starts:
                if i not in self._used:
                    self._warn("unused_input", f"No step builds on picture {i + 1} of the request.")
        return steps

    # Reading one step.

    def _draft(self, raw: Json) -> _Draft:
        index = len(self._last_picture)
        if not isinstance(raw, Mapping):
            raise self._fault(index, f"it is {kind_of(raw)}, not an object")
        try:
            given = fields(raw)
        except Unreadable as error:
            raise self._fault(index, str(error)) from error
        number = integer_of(_first(given, "number"))
        title = self._text(index, given, "title")
        caption = self._text(index, given, "caption")
        instruction = self._text(index, given, "instruction")
        prompt = self._text(index, given, "prompt")
        if index == 0 and number is not None and number > 1 and self._starts:
            self.begins(number)
        self._number(index, number)
        title = without_label(title, number, index + 1) or None if title else None
        caption = without_label(caption, number, index + 1) or None if caption else None
        op = self._op(index, given)
        if op == "text" or not (instruction or prompt):
            return self._text_draft(index, op, title, caption, instruction or prompt)
        if instruction is None or prompt is None:
            missing, other = ("instruction", "prompt") if instruction is None else ("prompt", "instruction")
            self._warn("other", f"Step {index + 1} has no {missing}; its {other} is used for both.", index)
            instruction = prompt = instruction or prompt
        backend = self._text(index, given, "backend")
        return _Draft(index, op, title, instruction, prompt, caption, backend, self._refs(index, given))

    def _text_draft(
        self, index: int, op: Op | None, title: str | None, caption: str | None, unused: str | None
    ) -> _Draft:
        if op == "text" and unused and caption:
            self._warn("other", f"Step {index + 1} is text only; its prompt is left out.", index)
        elif op not in ("text", None):
            self._warn("other", f"Step {index + 1} says {op!r} without instruction and prompt; it is text only.", index)
        words = caption or unused or title
        if not words:
            raise self._fault(index, "it is empty: no instruction, prompt or caption")
        if not caption:
            self._warn("other", f"Step {index + 1} is text only and has no caption; its other words are used.", index)
        return _Draft(index, "text", title, None, None, words, None, ())

    def _text(self, index: int, given: Mapping[str, Json], name: str) -> str | None:
        try:
            return text_of(_first(given, name))
        except TypeError as error:
            raise self._fault(index, f"its {name} {error}") from error

    def _op(self, index: int, given: Mapping[str, Json]) -> Op | None:
        raw = given.get("op")
        if raw is None or (isinstance(raw, str) and is_nothing(raw)):
            return None
        op = raw.strip().lower() if isinstance(raw, str) else kind_of(raw)
        if op == "generate" or op == "edit" or op == "text":
            return op
        self._warn("other", f"Step {index + 1} has the unknown op {op[:40]!r}; it is derived.", index)
        return None

    def _refs(self, index: int, given: Mapping[str, Json]) -> tuple[_Ref, ...] | None:
        raw = given.get("sources")
        if raw is None or (isinstance(raw, str) and is_nothing(raw)):
            return None
        listed: Sequence[Json] = raw.split(",") if isinstance(raw, str) else raw
        if not isinstance(listed, list):
            raise self._fault(index, f"its sources are {kind_of(raw)}, not a list")
        refs: list[_Ref] = []
        for one in listed:
            match = _SOURCE.match(one.strip()) if isinstance(one, str) else None
            if match is None:
                shown = repr(one)[:60] if isinstance(one, str | int | float) else kind_of(one)
                raise self._fault(index, f"its source {shown} is neither 'input:<i>' nor 'step:<j>'")
            kind, number = ("input" if match[1].lower() == "input" else "step"), int(match[2])
            refs.append(_Ref(kind, number, self._meant(number, index)))
        return tuple(dict.fromkeys(refs))

    # Numbers and what they refer to.

    def _number(self, index: int, number: int | None) -> None:
        self._numbers.append(number)
        if number is not None:
            # A number given twice refers to nothing.
            self._index_of[number] = None if number in self._index_of else index

    def _weigh(self, draft: _Draft) -> bool:
        """Rule out numberings in which a reference cannot be right; tell whether the rest differ."""
        differs = False
        for ref in draft.refs or ():
            if ref.kind == "input":
                continue
            right: set[Numbering] = set()
            if ref.number < draft.index:
                right.add("ours")
            if ref.meant is not None:
                right.add("model's")
            if not right:
                why = self._why_missing(ref.number, draft.index)
                raise self._fault(draft.index, f"its source 'step:{ref.number}' {why}")
            self._possible &= right
            if not self._possible:
                raise self._fault(
                    draft.index,
                    f"its source 'step:{ref.number}' is right only in one numbering (ours from 0, or the model's own), "
                    "another source only in the other",
                )
            differs |= ref.meant != ref.number
        return differs

    def _meant(self, number: int, index: int) -> int | None:
        """The index of the earlier step to which the model gave a number."""
        meant = self._index_of.get(number)
        return meant if meant is not None and meant < index else None

    def _why_missing(self, number: int, index: int) -> str:
        if number == index or self._index_of.get(number) == index:
            return "is the step itself"
        if self.total is not None and number >= self.total:
            return f"does not exist: the plan has {self.total} steps, step:0 to step:{self.total - 1}"
        return "does not come before it"

    def _judge_numbers(self) -> None:
        numbers = self._numbers
        if all(number is None for number in numbers):
            return
        firsts = {0, 1} if self._continue_from is None else {0, 1, self._continue_from}
        if not any(numbers == list(range(first, first + len(numbers))) for first in firsts):
            shown = ", ".join("none" if number is None else str(number) for number in numbers[:12])
            more = ", …" if len(numbers) > 12 else ""
            self._warn("renumbered", f"The model numbered its steps {shown}{more}; they are numbered by their order.")

    # Finishing.

    def _release(self) -> list[Step]:
        steps = [self._finished(draft) for draft in self._held]
        self._held.clear()
        return steps

    def _finished(self, draft: _Draft) -> Step:
        if draft.op == "text":
            return Step(index=draft.index, op="text", title=draft.title, caption=draft.caption)
        sources = self._resolved(draft)
        op: Op = draft.op or ("generate" if draft.refs == () else "edit")
        if op == "edit" and not sources:
            sources = self._chain(draft)
            if draft.op == "edit" or draft.refs:
                built = (
                    f"it builds on {', '.join(map(_in_words, sources))}"
                    if sources
                    else "there is none, so it is generated"
                )
                self._warn("other", f"Step {draft.index + 1} edits without naming a picture; {built}.", draft.index)
            op = "edit" if sources else "generate"
        self._used.update(int(source[6:]) for source in sources if source.startswith("input:"))
        return Step(
            index=draft.index,
            op=op,
            title=draft.title,
            instruction=draft.instruction,
            prompt=draft.prompt,
            caption=draft.caption,
            sources=sources,
            backend=draft.backend,
        )

    def _resolved(self, draft: _Draft) -> tuple[str, ...]:
        found: list[str] = []
        for ref in draft.refs or ():
            if ref.kind == "input":
                if ref.number >= self._inputs:
                    given = f"the request has {self._inputs or 'no'} picture{'' if self._inputs == 1 else 's'}"
                    raise self._fault(draft.index, f"its source 'input:{ref.number}' does not exist: {given}")
                found.append(f"input:{ref.number}")
                continue
            target = ref.number if "ours" in self._possible or ref.meant is None else ref.meant
            picture = self._last_picture[target]
            if picture is not None:
                found.append(f"step:{picture}")
            if picture != target:
                instead = "nothing comes before it" if picture is None else f"step {picture + 1} is used instead"
                self._warn(
                    "other",
                    f"Step {draft.index + 1} builds on step {target + 1}, which is text only; {instead}.",
                    draft.index,
                )
        return tuple(dict.fromkeys(found))

    def _chain(self, draft: _Draft) -> tuple[str, ...]:
        """What a step builds on when the model does not say: the picture before, else the request's own."""
        picture = self._picture_before(draft.index)
        if picture is not None:
            return (f"step:{picture}",)
        if draft.op == "edit" or draft.refs:
            return tuple(f"input:{i}" for i in self._starts[:1])
        # The tagged form cannot say which picture it means, so all are given. The first source is the
        # critic's *before*: in a continued sequence that is the newest picture.
        order = self._starts
        if self._continue_from is not None:
            order = order[-1:] + order[:-1]
        return tuple(f"input:{i}" for i in order)

    def _picture_before(self, index: int) -> int | None:
        return self._last_picture[index - 1] if index else None

    def _warn(self, code: str, message: str, step: int | None = None) -> None:
        self.warnings.append(PlanWarning(code, message, step))

    def _fault(self, index: int, what: str) -> PlanError:
        return PlanError(f"Step {index + 1}: {what}.", remedy=_REMEDY)


def _first(given: Mapping[str, Json], name: str) -> Json:
    """The first of a field's names that carries something."""
    return next((given[key] for key in NAMES[name] if given.get(key) is not None), None)


def _in_words(source: str) -> str:
    """A source as people count."""
    kind, number = source.split(":")
    return f"picture {int(number) + 1} of the request" if kind == "input" else f"step {int(number) + 1}"
