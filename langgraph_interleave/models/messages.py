"""The messages planner and critic are asked with.

Order is what keeps a provider's prefix cache warm: stable text goes first, references in a fixed
order, the newest picture last. Attempt k + 1 begins with all parts of attempt k up to the picture that
was judged, and asking again begins with everything that was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from langgraph_interleave.models.forms import Form
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.prompts import Prompts
from langgraph_interleave.types import (
    SCHEME,
    Capabilities,
    CheckResult,
    CritiqueRequest,
    ImageBytes,
    StyleGuide,
    TextPart,
    Unusable,
)

Part = dict[str, Any]

#: An unusable answer longer than this is not shown to the model again, in characters.
_LONGEST_RAW = 8000


def text_part(text: str) -> Part:
    """Words as a content block."""
    return {"type": "text", "text": text}


def picture_part(picture: ImageBytes) -> Part:
    """A picture as a content block that refers to it; the bytes are put in inside the call."""
    return {"type": "image", "url": f"{SCHEME}{picture.sha256}", "mime_type": picture.mime}


# --- planner ------------------------------------------------------------------------------------


def plan_messages(
    request: PlanRequest, pictures: Sequence[ImageBytes], prompts: Prompts, form: Form
) -> list[BaseMessage]:
    """What a planner is asked.

    Args:
        request: The request.
        pictures: Its pictures as they are shown, in order.
        prompts: The templates.
        form: How the answer is to be given.
    """
    kind = "planner_tagged" if form == "tagged" else "planner_structured"
    system = SystemMessage(f"{prompts.fill('planner')}\n\n{prompts.fill(kind)}")
    return [system, HumanMessage(plan_parts(request, pictures, prompts)), *asked_again(
        request.unusable, "planner_again", prompts
    )]  # fmt: skip


def plan_parts(request: PlanRequest, pictures: Sequence[ImageBytes], prompts: Prompts) -> list[Any]:
    """The facts, then the request in the user's order, each picture under its name."""
    parts = [facts_part(request, pictures, prompts)]
    number = 0
    for part in request.request.parts:
        if isinstance(part, TextPart):
            parts.append(text_part(part.text))
            continue
        parts += [text_part(f"input:{number}"), picture_part(pictures[number])]
        number += 1
    return parts


def facts_part(request: PlanRequest, pictures: Sequence[ImageBytes], prompts: Prompts) -> Part:
    """What a planner must know besides the request."""
    changing = request.existing is not None
    language = "that of the plan as it is, unless another is wanted now" if changing else "that of the request"
    style = "as the plan has it" if changing else "as the request says; else choose one that suits it"
    facts = prompts.fill(
        "planner_facts",
        generator=describe(request.capabilities) + _choices(request.capabilities),
        steps=_steps(request),
        language=request.language or language,
        style=request.style or style,
        pictures=f"{len(pictures)}, named input:0 to input:{len(pictures) - 1}" if pictures else "none",
    )
    return text_part(facts)


def describe(capabilities: Capabilities) -> str:
    """What a planner must know of the generator.

    Example:
        >>> describe(Capabilities(edit="instruct", max_references=2))
        'draws from words; changes a picture as told; takes up to 2 pictures to build on'
    """
    can = ["draws from words" if capabilities.generate else "cannot draw from words alone"]
    if capabilities.edit == "none" or not capabilities.max_references:
        return f"{can[0]}; cannot edit and takes no pictures"
    can.append("changes a picture as told" if capabilities.edit == "instruct" else "redraws a picture in its own way")
    count = capabilities.max_references
    can.append("takes one picture to build on" if count == 1 else f"takes up to {count} pictures to build on")
    return "; ".join(can)


def _choices(capabilities: Capabilities) -> str:
    if not capabilities.choices:
        return ""
    listed = "".join(f'\n- "{name}": {what}' for name, what in capabilities.choices)
    return f'\nThere are several generators; name the fitting one in each step\'s "backend":{listed}'


def _steps(request: PlanRequest) -> str:
    if request.steps is not None:
        return f"exactly {request.steps}"
    if request.existing is not None:
        return f"those there are, unless more or fewer are wanted now; never more than {request.limits.max_steps}"
    return f"as many as the request asks for; else as few as it takes; never more than {request.limits.max_steps}"


# --- critic -------------------------------------------------------------------------------------


def critique_messages(
    request: CritiqueRequest, after: ImageBytes, references: Sequence[ImageBytes], prompts: Prompts, form: Form
) -> list[BaseMessage]:
    """What a critic is asked; pictures are in a human message, where every provider takes them.

    Args:
        request: The request.
        after: The picture to judge, as it is shown.
        references: What it builds on, as it is shown, in order.
        prompts: The templates.
        form: How the answer is to be given.
    """
    kind = "critic_tagged" if form == "tagged" else "critic_structured"
    system = SystemMessage(f"{prompts.fill('critic')}\n\n{prompts.fill(kind)}")
    human: list[Any] = critique_parts(request, after, references, prompts)
    return [system, HumanMessage(human), *asked_again(request.unusable, "critic_again", prompts)]


def critique_parts(
    request: CritiqueRequest, after: ImageBytes, references: Sequence[ImageBytes], prompts: Prompts
) -> list[Part]:
    """Style guide, references, instruction, the attempts so far, and the picture to judge last."""
    parts = [text_part(prompts.fill("critic_style", style=style_text(request.style_guide)))]
    for number, picture in enumerate(references):
        name = "Reference 1, the picture before this step:" if number == 0 else f"Reference {number + 1}:"
        parts += [text_part(name), picture_part(picture)]
    if not references:
        parts.append(text_part("This step starts from nothing: there is no picture before it."))
    parts.append(text_part(prompts.fill("critic_step", instruction=request.instruction)))
    for number, before in enumerate(request.earlier):
        parts.append(text_part(_attempt(number, before.prompt, before.checks, prompts)))
        parts.append(
            text_part(
                prompts.fill("critic_earlier", verdict=before.critique.verdict, reasoning=before.critique.reasoning)
            )
        )
    parts.append(text_part(_attempt(request.attempt, request.prompt, request.checks, prompts)))
    return [*parts, text_part("The picture to judge:"), picture_part(after)]


def _attempt(number: int, prompt: str, checks: Sequence[CheckResult], prompts: Prompts) -> str:
    failed = "".join(f"\nA check failed ({check.name}): {check.reason}" for check in checks)
    note = f"{failed}\nA picture that failed a check must be revised." if failed else ""
    return prompts.fill("critic_attempt", number=number + 1, prompt=prompt, checks=note)


def style_text(style: StyleGuide) -> str:
    """A style guide as lines.

    Example:
        >>> style_text(StyleGuide(look="ink", palette=""))
        'look: ink'
    """
    lines = [f"{name}: {value}" for name, value in style.model_dump().items() if value]
    return "\n".join(lines) or "Nothing was fixed."


# --- both ---------------------------------------------------------------------------------------


def asked_again(unusable: Sequence[Unusable], template: str, prompts: Prompts) -> list[BaseMessage]:
    """Each answer that could not be used, and why it is asked for again."""
    messages: list[BaseMessage] = []
    for answer in unusable:
        said = answer.raw.strip() if 0 < len(answer.raw) <= _LONGEST_RAW else "[an answer that is not repeated here]"
        values: dict[str, str] = {"reason": answer.reason}
        if template == "planner_again":
            values["shorter"] = " Be shorter: it was cut off." if answer.truncated else ""
        messages += [AIMessage(said or "[nothing]"), HumanMessage(prompts.fill(template, **values))]
    return messages
