"""One change from what a model wrote for it: which step, what becomes of it, its words and sources."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError

from langgraph_interleave.errors import PlanError
from langgraph_interleave.parsing.answer import Unreadable, fields
from langgraph_interleave.parsing.data import Json
from langgraph_interleave.parsing.label import without_label
from langgraph_interleave.parsing.steps import NAMES
from langgraph_interleave.parsing.wording import is_nothing, kind_of, text_of
from langgraph_interleave.types import Change, ChangeKind, Op, Plan, PlanWarning, Step

#: What becomes of a step, in the words models use for it.
_KINDS: Mapping[str, ChangeKind] = {
    "keep": "keep",
    "redo": "redo",
    "redraw": "redo",
    "insert": "insert",
    "add": "insert",
    "delete": "delete",
    "remove": "delete",
    "reorder": "reorder",
    "move": "reorder",
    "recaption": "recaption",
}
_TEXTS = ("title", "instruction", "prompt", "caption", "backend")
_STEP = re.compile(r"(?:step[\s:_#]*)?([0-9]{1,9})\Z", re.IGNORECASE)
_SOURCE = re.compile(r"(input|step|new)[\s:_#]*([0-9]{1,9})\Z", re.IGNORECASE)
_REMEDY = "Ask the planner again."


class ChangeReader:
    """Turns a model's changes into ours, in order.

    Args:
        plan: The plan that is changed.
        inputs: Number of pictures in the request.

    Attributes:
        warnings: What the user should know, in order.
    """

    def __init__(self, plan: Plan, *, inputs: int = 0) -> None:
        self.warnings: list[PlanWarning] = []
        self._plan = plan
        self._inputs = inputs
        self._place = -1

    def read(self, raw: Json) -> Change:
        """Take the next change as the model wrote it.

        Raises:
            PlanError: It says nothing that can be done, or may mean two things.
        """
        self._place += 1
        if not isinstance(raw, Mapping):
            raise self._fault(f"it is {kind_of(raw)}, not an object")
        try:
            given = fields(cast("Mapping[str, Json]", raw))
        except Unreadable as error:
            raise self._fault(str(error)) from error
        kind = self._kind(given.get("change"))
        old = self._old(kind, given)
        said: dict[str, Any] = {name: self._text(given, name, old) for name in _TEXTS}
        said |= {"op": self._op(given.get("op")), "sources": self._sources(given.get("sources"))}
        if kind == "insert":
            said = self._new(said)
        elif old is not None and kind == "redo":
            said = self._redone(said, old)
        elif old is not None:
            kind, said = self._kept(kind, said, old)
        try:
            return Change(change=kind, step=None if old is None else old.index, **said)
        except ValidationError as error:
            words = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise self._fault(words) from error

    # Which step, and what becomes of it.

    def _kind(self, value: Json) -> ChangeKind:
        word = value.strip().strip("\"'`.").lower() if isinstance(value, str) else kind_of(value)
        if word not in _KINDS:
            raise self._fault(f"its change is {word[:40]!r}; say keep, redo, insert, delete, reorder or recaption")
        return _KINDS[word]

    def _old(self, kind: ChangeKind, given: Mapping[str, Json]) -> Step | None:
        value = given.get("step")
        nothing = value is None or (isinstance(value, str) and is_nothing(value))
        if kind == "insert":
            if not nothing:
                self._warn("A new step names an old one; where it goes is its place in the list.")
            return None
        count = len(self._plan.steps)
        names = f"one of 0 to {count - 1}, as in step:0 to step:{count - 1}"
        if nothing:
            numbered = any(given.get(name) is not None for name in NAMES["number"])
            why = "'step_number' may count from 0 or from 1" if numbered else "it names none"
            raise self._fault(f"which step is meant is not clear, {why}: give its index in 'step', {names}")
        match = (
            _STEP.match(str(value).strip()) if isinstance(value, str | int) and not isinstance(value, bool) else None
        )
        index = int(match[1]) if match else int(value) if isinstance(value, float) and value.is_integer() else -1
        if not 0 <= index < count:
            raise self._fault(f"there is no step {str(value)[:40]!r}: give an index in 'step', {names}")
        return self._plan.steps[index]

    # Its fields.

    def _text(self, given: Mapping[str, Json], name: str, old: Step | None) -> str | None:
        value = next((given[key] for key in NAMES[name] if given.get(key) is not None), None)
        try:
            text = text_of(value)
        except TypeError as error:
            raise self._fault(f"its {name} {error}") from error
        if text is None or name not in ("title", "caption") or (old is not None and text == getattr(old, name)):
            return text
        number = None if old is None else self._plan.first_number + old.index
        return without_label(text, number, self._place + 1) or None

    def _op(self, value: Json) -> Op | None:
        if value is None or (isinstance(value, str) and is_nothing(value)):
            return None
        op = value.strip().lower() if isinstance(value, str) else kind_of(value)
        if op == "generate" or op == "edit" or op == "text":
            return op
        raise self._fault(f"its op is {op[:40]!r}; say generate, edit or text")

    def _sources(self, value: Json) -> tuple[str, ...] | None:
        if value is None or (isinstance(value, str) and is_nothing(value)):
            return None
        listed: Sequence[Json] = value.split(",") if isinstance(value, str) else value
        if not isinstance(listed, list):
            raise self._fault(f"its sources are {kind_of(value)}, not a list")
        found: list[str] = []
        for one in cast("list[Json]", listed):
            match = _SOURCE.match(one.strip()) if isinstance(one, str) else None
            if match is None:
                shown = repr(one)[:60] if isinstance(one, str | int | float) else kind_of(one)
                raise self._fault(f"its source {shown} is neither 'step:<j>', 'new:<j>' nor 'input:<i>'")
            kind, number = match[1].lower(), int(match[2])
            if kind == "input" and number >= self._inputs:
                there = f"input:0 to input:{self._inputs - 1}" if self._inputs else "none"
                raise self._fault(f"its source 'input:{number}' does not exist; there is {there}")
            found.append(f"{kind}:{number}")
        return tuple(dict.fromkeys(found))

    # What belongs to each kind.

    def _new(self, said: dict[str, Any]) -> dict[str, Any]:
        if said["op"] == "text" or not (said["instruction"] or said["prompt"]):
            if said["op"] in ("generate", "edit"):
                raise self._fault(f"it is to be drawn (op {said['op']!r}) and has neither instruction nor prompt")
            words = said["caption"] or said["instruction"] or said["prompt"] or said["title"]
            if not words:
                raise self._fault("it is empty: no instruction, prompt or caption")
            return {"op": "text", "title": said["title"], "caption": words}
        return self._both(said)

    def _redone(self, said: dict[str, Any], old: Step) -> dict[str, Any]:
        drawn = said["instruction"] or said["prompt"]
        if said["op"] == "text" or (old.op == "text" and said["op"] is None and not drawn):
            if drawn and said["op"] == "text":
                self._warn(f"step:{old.index} becomes words only; its prompt is left out.")
            return {"op": said["op"], "title": said["title"], "caption": said["caption"]}
        if old.op == "text" and said["op"] is None:
            said["op"] = "edit" if said["sources"] else "generate"
        if said["sources"] == () and (said["op"] or old.op) == "edit":
            said["sources"] = None  # an edit is never of nothing: what it builds on stays
        return self._both(said)

    def _both(self, said: dict[str, Any]) -> dict[str, Any]:
        """Instruction and prompt say the same picture: a new one of them goes with no old other."""
        for name, other in (("instruction", "prompt"), ("prompt", "instruction")):
            if said[name] is None and said[other] is not None:
                self._warn(f"Change {self._place} has no {name}; its {other} is used for both.")
                said[name] = said[other]
        return said

    def _kept(self, kind: ChangeKind, said: dict[str, Any], old: Step) -> tuple[ChangeKind, dict[str, Any]]:
        """What is repeated of a step as it is says nothing; other words are a caption, if they are its own."""
        other = {name: value for name, value in said.items() if value and value != getattr(old, name)}
        words = {name: other[name] for name in ("title", "caption") if name in other}
        if kind == "recaption":
            return ("keep", other) if not words and (said["title"] or said["caption"]) else (kind, other)
        for name, value in words.items():
            theirs = [one.index for one in self._plan.steps if getattr(one, name) == value]
            if theirs:
                raise self._fault(
                    f"it is about step:{old.index} and has the {name} of step:{theirs[0]}: steps are counted from 0"
                )
        if kind == "delete":
            return kind, {}
        if words:
            self._warn(f"step:{old.index} is said to be as it was and has other words; they are taken.")
            kind = "recaption"
        return kind, other

    def _warn(self, message: str) -> None:
        self.warnings.append(PlanWarning("other", message))

    def _fault(self, what: str) -> PlanError:
        return PlanError(f"Change {self._place} (the first is 0): {what}.", remedy=_REMEDY)
