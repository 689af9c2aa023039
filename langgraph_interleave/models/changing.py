"""The messages a planner is asked with when a plan is to be changed.

What stays longest goes first here, too: the planner's rules, the request as it was, the plan with its
pictures; what is wanted now comes last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from langgraph_interleave.models.forms import Form
from langgraph_interleave.models.messages import Part, asked_again, facts_part, picture_part, style_text, text_part
from langgraph_interleave.planner import Existing, PlanRequest
from langgraph_interleave.prompts import Prompts
from langgraph_interleave.types import ImageBytes, Step, TextPart
from langgraph_interleave.types.request import Part as RequestPart


def change_messages(
    request: PlanRequest, existing: Existing, pictures: Sequence[ImageBytes], prompts: Prompts, form: Form
) -> list[BaseMessage]:
    """What a planner is asked about a plan that is to be changed.

    Args:
        request: The request.
        existing: The plan that is there, and what is wanted.
        pictures: The request's pictures as they are shown, in order.
        prompts: The templates.
        form: How the answer is to be given.
    """
    kind = "planner_change_tagged" if form == "tagged" else "planner_change_structured"
    system = "\n\n".join(prompts.fill(name) for name in ("planner", "planner_change", kind))
    human: list[Any] = change_parts(request, existing, pictures, prompts)
    return [SystemMessage(system), HumanMessage(human), *asked_again(request.unusable, "planner_again", prompts)]


def change_parts(
    request: PlanRequest, existing: Existing, pictures: Sequence[ImageBytes], prompts: Prompts
) -> list[Part]:
    """The facts, the request as it was, the plan with its pictures, and what is wanted now."""
    before, now = _told_apart(request, existing)
    drawn = {number: step for step, number in existing.pictures.items()}
    parts = [facts_part(request, pictures, prompts)]
    for part, number in before:
        # A picture that was drawn is shown with its step.
        if number is None or number not in drawn:
            parts += _shown(part, number, "", pictures)
    lines = "\n".join(_line(step, existing) for step in existing.plan.steps)
    plan = existing.plan
    parts.append(
        text_part(
            prompts.fill(
                "planner_change_plan", title=plan.title or "none", style=style_text(plan.style_guide), steps=lines
            )
        )
    )
    for number, step in sorted(drawn.items(), key=lambda pair: pair[1]):
        parts += [text_part(f"input:{number}, the picture of step:{step} as it is:"), picture_part(pictures[number])]
    parts.append(text_part(prompts.fill("planner_change_wanted")))
    for part, number in now:
        parts += _shown(part, number, ", a picture that came with the change:", pictures)
    return parts


_Numbered = tuple[RequestPart, int | None]


def _told_apart(request: PlanRequest, existing: Existing) -> tuple[list[_Numbered], list[_Numbered]]:
    """The request's parts before the change, and the change's own, each with the number of its picture."""
    numbered: list[_Numbered] = []
    count = 0
    for part in request.request.parts:
        number = None if isinstance(part, TextPart) else count
        count += number is not None
        numbered.append((part, number))
    length = len(existing.change.parts)
    # The last place counts: the same may have been asked for before.
    for start in range(len(numbered) - length, -1, -1):
        now = numbered[start : start + length]
        if tuple(part for part, _ in now) == existing.change.parts:
            return [*numbered[:start], *numbered[start + length :]], now
    # A change that is no part of the request: a remark, say. Its pictures are those that are named as given.
    given = [one for one in numbered if one[1] in existing.given]
    words: list[_Numbered] = [(part, None) for part in existing.change.parts if isinstance(part, TextPart)]
    return [one for one in numbered if one not in given], [*words, *given]


def _shown(part: RequestPart, number: int | None, what: str, pictures: Sequence[ImageBytes]) -> list[Part]:
    if isinstance(part, TextPart):
        return [text_part(part.text)]
    assert number is not None
    return [text_part(f"input:{number}{what}"), picture_part(pictures[number])]


def _line(step: Step, existing: Existing) -> str:
    """A step as a line: its name, and its fields as JSON."""
    said = {name: value for name, value in step.model_dump(mode="json", exclude={"index"}).items() if value is not None}
    if not step.sources:
        said.pop("sources")
    outcome, picture = existing.outcomes.get(step.index), existing.pictures.get(step.index)
    if outcome is not None:
        said["outcome"] = outcome
    if picture is not None:
        said["picture"] = f"input:{picture}"
    return f"step:{step.index} {json.dumps(said, ensure_ascii=False)}"
