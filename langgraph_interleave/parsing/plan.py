"""Model text, or structured output, to a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
from langgraph_interleave.parsing.data import Json, as_json, cleaned, storable
from langgraph_interleave.parsing.steps import STEP_FIELDS, StepReader
from langgraph_interleave.parsing.wording import integer_of, phrase_of, text_of
from langgraph_interleave.types import Plan, PlanWarning, Step, StyleGuide

#: The names under which models list their steps.
STEP_LISTS = ("steps", "execution_plan", "plan")
_TOP_FIELDS = frozenset({*STEP_LISTS, "style_guide", "title", "reasoning", "first_number"})
_STYLE_FIELDS = ("look", "palette", "characters", "keep")
_AGAIN = "Ask the planner again."
_CUT = "Raise the planner's limit of output tokens (max_new_tokens or max_tokens), or ask for fewer steps."


@dataclass(frozen=True, slots=True)
class ParsedPlan:
    """A plan with what else the planner wrote.

    `reasoning` is everything it thought aloud. `raw` is its text as it came (structured output as JSON); characters
    that UTF-8 cannot hold are replaced.
    """

    plan: Plan
    reasoning: str = ""
    warnings: tuple[PlanWarning, ...] = ()
    raw: str = ""


def parse_plan(
    text: str | Mapping[str, object],
    *,
    inputs: int = 0,
    steps: int | None = None,
    max_steps: int | None = None,
    truncated: bool = False,
    continue_from: int | None = None,
    starts: Sequence[int] | None = None,
) -> ParsedPlan:
    """Read a plan.

    Understands structured output (`{style_guide, steps: [{op, title, instruction, prompt, caption,
    sources}]}`) and the tagged form (`<think>…</think><answer>{'execution_plan': [{step_number,
    step_name, instruction, prompt, auxiliary_text}]}</answer>`), as JSON, Python literal or a mixture,
    in code fences and between remarks. In the tagged form, which names no sources, each picture
    builds on the one before.

    Args:
        text: The planner's words, or its structured output.
        inputs: Number of pictures in the request (`input:0` to `input:<inputs - 1>`).
        steps: Number of steps the user asked for; another number is a warning.
        max_steps: Number of steps that will be drawn at most; more is a warning, the plan stays whole.
        truncated: The provider says that it cut the answer off. Then there is no plan, whatever can be read.
        continue_from: The number the steps begin with when they continue the user's own sequence.
        starts: Which pictures of the request a plan that names no sources starts from; `None` for all of them.

    Returns:
        The plan. Not guaranteed: that it is a good one, or has the number of steps asked for (see `warnings`).

    Raises:
        PlanError: There is no complete, consistent plan in it. Names the fault and its place.

    Example:
        >>> parsed = parse_plan('''<think>Two steps.</think><answer>{'execution_plan': [
        ...     {'step_number': 1, 'step_name': 'Step 1: Pot', 'instruction': 'Draw a pot', 'prompt': 'A clay pot',
        ...      'auxiliary_text': 'Take a pot.'},
        ...     {'step_number': 2, 'step_name': 'Bean', 'instruction': 'Add a bean', 'prompt': 'A bean in the pot',
        ...      'auxiliary_text': None}]}</answer>''')
        >>> [(step.op, step.title, step.sources) for step in parsed.plan.steps], parsed.reasoning
        ([('generate', 'Pot', ()), ('edit', 'Bean', ('step:0',))], 'Two steps.')
    """
    raw = storable(text) if isinstance(text, str) else ""
    try:
        if truncated:
            raw = raw if isinstance(text, str) else as_json(text)
            raise Unreadable("the answer was cut off by the token limit", truncated=True)
        if isinstance(text, str):
            answer = find_answer(text, PLAN)
        else:
            answer = structured_answer(text)
            raw = as_json(answer.value)
        reader = StepReader(inputs=inputs, continue_from=continue_from, starts=starts)
        return _plan(answer, raw, reader, steps, max_steps)
    except Unreadable as error:
        remedy = _CUT if error.truncated else _AGAIN
        raise PlanError(error.told("plan"), remedy=remedy, raw=raw, truncated=error.truncated) from error
    except PlanError as error:
        error.raw = raw
        raise


def is_step(value: Json) -> bool:
    """Whether an object has any field of a step."""
    return isinstance(value, dict) and any(spelling(key) in STEP_FIELDS for key in value)


def style_guide_of(value: Json) -> tuple[StyleGuide, tuple[PlanWarning, ...]]:
    """Read a style guide: an object of descriptions, or one description for the look. Loses no words."""
    if not isinstance(value, Mapping):
        return StyleGuide(look=phrase_of(value)), ()
    given = fields(value)
    known = {name: phrase_of(given.get(name)) for name in _STYLE_FIELDS}
    other = phrase_of({name: inner for name, inner in given.items() if name not in _STYLE_FIELDS})
    warnings: tuple[PlanWarning, ...] = ()
    if other:
        known["look"] = "; ".join(filter(None, (known["look"], other)))
        warnings = (PlanWarning("other", f"The style guide has more fields ({other[:80]}); they are added to look."),)
    return StyleGuide(**known), warnings


def _steps_of(value: Json) -> tuple[dict[str, Json], list[Json]] | None:
    """The object around the steps, fields spelled one way, and the steps; `None` when it is no plan."""
    for _ in range(3):
        if isinstance(value, list):
            return ({}, value) if any(map(is_step, value)) else None
        if not isinstance(value, dict):
            return None
        top = fields(value)
        listed = [name for name in STEP_LISTS if isinstance(top.get(name), list)]
        if len(listed) > 1:
            raise Unreadable(f"there are two lists of steps: {' and '.join(listed)}")
        if listed:
            return top, top[listed[0]]
        # {"plan": {"steps": …}} and {"answer": {"steps": …}} are wrappings.
        value = top.get("plan") or (next(iter(top.values())) if len(top) == 1 else None)
    return None


def _accepts(value: Json) -> bool:
    try:
        return _steps_of(value) is not None
    except Unreadable:
        return True  # A plan, though not a consistent one: said when it is read.


def _knows(value: Json) -> bool:
    found = _steps_of(value)
    if found is None or not found[0].keys() <= _TOP_FIELDS:
        return False
    return all(isinstance(step, dict) and {*map(spelling, step)} <= STEP_FIELDS for step in found[1])


#: How a plan is known among what a model writes.
PLAN = Wanted("plan", "a plan with a list of steps", _accepts, _knows)


def _plan(answer: Answer, raw: str, reader: StepReader, steps: int | None, max_steps: int | None) -> ParsedPlan:
    found = _steps_of(answer.value)
    if found is None:
        raise Unreadable("the object has no list of steps")
    top, listed = found
    if not listed:
        raise Unreadable("the list of steps is empty")
    reader.total = len(listed)
    reader.begins(integer_of(top.get("first_number")))
    done: list[Step] = []
    for one in listed:
        done += reader.add(one)
    done += reader.close()
    style_guide, about_style = style_guide_of(top.get("style_guide"))
    plan = Plan(steps=tuple(done), style_guide=style_guide, title=_title(top), first_number=reader.first_number)
    thoughts = answer.thoughts
    if isinstance(top.get("reasoning"), str):
        thoughts = (*thoughts, (answer.start, cleaned(top["reasoning"]).strip()))
    warnings = (*about_answer(answer), *about_style, *reader.warnings, *about_count(len(done), steps, max_steps))
    return ParsedPlan(plan, reasoning_of(thoughts), warnings, raw)


def _title(top: Mapping[str, Json]) -> str | None:
    try:
        return text_of(top.get("title"))
    except TypeError:
        return None


def about_answer(answer: Answer) -> tuple[PlanWarning, ...]:
    """What the user should know of how the answer was written."""
    warnings: list[PlanWarning] = []
    if answer.repairs:
        warnings.append(PlanWarning("repaired", f"The plan was readable after mending: {', '.join(answer.repairs)}."))
    if answer.skipped:
        warnings.append(PlanWarning("other", "A later answer could not be read; the last readable one is used."))
    return tuple(warnings)


def about_count(count: int, asked: int | None, limit: int | None) -> tuple[PlanWarning, ...]:
    """What the user should know of the number of steps: not the one asked for, or more than are drawn."""
    warnings: list[PlanWarning] = []
    if asked is not None and count != asked:
        warnings.append(PlanWarning("step_count", f"The plan has {count} steps; {asked} were asked for."))
    if limit is not None and count > limit:
        warnings.append(
            PlanWarning(
                "other",
                f"The plan has {count} steps, more than max_steps={limit}; those from step {limit} on are not drawn.",
            )
        )
    return tuple(warnings)
