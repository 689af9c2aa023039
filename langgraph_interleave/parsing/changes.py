"""Model text, or structured output, to the changes of a plan.

Steps of the plan that is changed are counted from 0 and named `step:j`, in "step" as in "sources"; each is named
exactly once. A number by any other name ("step_number"), a step that is left out, words that belong to another
step: all of that may mean two things, and is asked again rather than guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from langgraph_interleave.errors import PlanError
from langgraph_interleave.parsing.answer import (
    Answer,
    Unreadable,
    Wanted,
    fields,
    find_answer,
    reasoning_of,
    spelling,
    structured_answer,
)
from langgraph_interleave.parsing.changing import ChangeReader
from langgraph_interleave.parsing.data import Json, as_json, cleaned, storable
from langgraph_interleave.parsing.plan import PLAN, ParsedPlan, about_answer, parse_plan, style_guide_of
from langgraph_interleave.parsing.steps import STEP_FIELDS
from langgraph_interleave.parsing.wording import text_of
from langgraph_interleave.types import Changes, Plan, PlanWarning, StyleGuide

_TOP_FIELDS = frozenset({"changes", "steps", "style_guide", "title", "reasoning"})
_CHANGE_FIELDS = STEP_FIELDS | {"change", "step"}
_AGAIN = "Ask the planner again."
_CUT = "Raise the planner's limit of output tokens (max_new_tokens or max_tokens), or ask for less at once."
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ParsedChanges:
    """Changes with what else the planner wrote; fields as in `ParsedPlan`."""

    changes: Changes
    reasoning: str = ""
    warnings: tuple[PlanWarning, ...] = ()
    raw: str = ""


def parse_changes(
    text: str | Mapping[str, object],
    *,
    plan: Plan,
    inputs: int = 0,
    starts: Sequence[int] | None = None,
    truncated: bool = False,
) -> ParsedChanges | ParsedPlan:
    """Read what becomes of the steps of a plan; or a whole new plan, where a model gave that instead.

    Understands `{changes: [{change, step, op, title, instruction, prompt, caption, sources, backend}], title,
    style_guide}`, as structured output or in `<think>…</think><answer>…</answer>`, as JSON, Python literal or
    a mixture, in code fences and between remarks.

    Args:
        text: The planner's words, or its structured output.
        plan: The plan that is changed.
        inputs: Number of pictures in the request (`input:0` to `input:<inputs - 1>`).
        starts: As for `parse_plan`, for a whole plan.
        truncated: The provider says that it cut the answer off. Then nothing is read.

    Returns:
        The changes, or a plan. Not guaranteed: that the changes can be made (`changes.apply_changes` says).

    Raises:
        PlanError: There are none that are complete and mean one thing. Names the fault and its place.

    Example:
        >>> from langgraph_interleave.types import Step
        >>> pot = Step(index=0, op="generate", instruction="A pot.", prompt="A pot", caption="Take a pot.")
        >>> said = "<answer>{'changes': [{'change': 'recaption', 'step': 0, 'caption': 'Prenez un pot.'}]}</answer>"
        >>> parse_changes(said, plan=Plan(steps=(pot,))).changes.steps[0].caption
        'Prenez un pot.'
    """
    raw = storable(text) if isinstance(text, str) else as_json(text)
    try:
        if truncated:
            raise Unreadable("the answer was cut off by the token limit", truncated=True)
        answer = find_answer(text, _WANTED) if isinstance(text, str) else structured_answer(text)
        found = _changes_of(answer.value)
        if found is None:
            return _whole(text, plan, inputs, starts)
        return _read(answer, *found, raw, plan, inputs)
    except Unreadable as error:
        remedy = _CUT if error.truncated else _AGAIN
        raise PlanError(error.told("changes"), remedy=remedy, raw=raw, truncated=error.truncated) from error
    except PlanError as error:
        error.raw = raw
        raise


def _changes_of(value: Json) -> tuple[dict[str, Json], list[Json]] | None:
    """The object around the changes, fields spelled one way, and the changes; `None` when there are none."""
    if isinstance(value, list):
        return ({}, value) if _are_changes(value) else None
    if not isinstance(value, dict):
        return None
    top = fields(value)
    if isinstance(top.get("changes"), list):
        if isinstance(top.get("steps"), list) or isinstance(top.get("execution_plan"), list):
            raise Unreadable("there is a list of changes and a list of steps: give one of them")
        return top, top["changes"]
    if isinstance(steps := top.get("steps"), list) and _are_changes(steps):
        return top, cast("list[Json]", steps)
    # {"answer": {"changes": …}} is a wrapping.
    return _changes_of(next(iter(top.values()))) if len(top) == 1 else None


def _are_changes(value: list[Json]) -> bool:
    return bool(value) and all(isinstance(one, dict) and "change" in {*map(spelling, one)} for one in value)


def _accepts(value: Json) -> bool:
    try:
        return _changes_of(value) is not None or PLAN.accepts(value)
    except Unreadable:
        return True  # Changes, though not consistent ones: said when they are read.


def _knows(value: Json) -> bool:
    found = _changes_of(value)
    if found is None:
        return PLAN.knows(value)
    top, listed = found
    return top.keys() <= _TOP_FIELDS and all(
        isinstance(one, dict) and {*map(spelling, one)} <= _CHANGE_FIELDS for one in listed
    )


_WANTED = Wanted("list of changes", "an object with a list of changes", _accepts, _knows)


def _whole(text: str | Mapping[str, object], plan: Plan, inputs: int, starts: Sequence[int] | None) -> ParsedPlan:
    first = plan.first_number
    parsed = parse_plan(text, inputs=inputs, continue_from=first if first > 1 else None, starts=starts)
    numbered = any(warning.code == "renumbered" for warning in parsed.warnings)
    if numbered or parsed.plan.first_number != first:
        # Its first steps may have been left out, or be gone.
        raise PlanError(
            f"The answer is a plan whose steps are not numbered from {first} on, as those of the plan that is changed: "
            "give a list of changes that names each of its steps.",
            remedy=_AGAIN,
        )
    return parsed


def _read(answer: Answer, top: dict[str, Json], listed: list[Json], raw: str, plan: Plan, inputs: int) -> ParsedChanges:
    if not listed:
        raise Unreadable("the list of changes is empty")
    reader = ChangeReader(plan, inputs=inputs)
    steps = tuple(reader.read(one) for one in listed)
    missing = [f"step:{at}" for at in range(len(plan.steps)) if at not in {change.step for change in steps}]
    if missing:
        which = f"{missing[0]} is not named" if len(missing) == 1 else f"{', '.join(missing)} are not named"
        raise PlanError(
            f"{which}: say of each step of the plan what becomes of it, 'keep' or 'delete', say.", remedy=_AGAIN
        )
    style_guide, about_style = _style_of(top.get("style_guide"), plan.style_guide)
    try:
        changes = Changes(steps=steps, title=_title(top), style_guide=style_guide)
    except ValidationError as error:
        said = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise PlanError(f"The changes contradict each other: {said}.", remedy=_AGAIN) from error
    thoughts = answer.thoughts
    if isinstance(top.get("reasoning"), str):
        thoughts = (*thoughts, (answer.start, cleaned(top["reasoning"]).strip()))
    return ParsedChanges(changes, reasoning_of(thoughts), (*about_answer(answer), *about_style, *reader.warnings), raw)


def _style_of(value: Json, old: StyleGuide) -> tuple[StyleGuide | None, tuple[PlanWarning, ...]]:
    """The style guide that is wanted: what is left empty stays; `None` where nothing is another."""
    given, warnings = style_guide_of(value)
    merged: dict[str, Any] = old.model_dump()
    for name, words in given.model_dump().items():
        if words and _SPACE.sub(" ", words).strip() != _SPACE.sub(" ", merged[name]).strip():
            merged[name] = words
    style = StyleGuide(**merged)
    return (None, ()) if style == old else (style, warnings)


def _title(top: Mapping[str, Json]) -> str | None:
    try:
        return text_of(top.get("title"))
    except TypeError:
        return None
