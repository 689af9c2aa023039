"""What a reviewer is shown and asked, and what becomes of the answer. Pure: asking is LangGraph's `interrupt`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from langgraph_interleave.content import image_block
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    Changes,
    Critique,
    Plan,
    PlanReview,
    Problem,
    Step,
    StepRecord,
    StepReview,
)

M = TypeVar("M", bound=BaseModel)
Linker = Callable[[ArtifactRef], str | None]

#: What may be answered, as it is said to whoever answered something else; by what was asked.
EXAMPLES = {
    "step": 'Answer for example {"decision": "accept"}.',
    "limit": 'Answer for example {"decision": "raise", "limits": {"max_images": 24}} or {"decision": "finish"}.',
}
_PLAN_ANSWERS = {
    "accept": "draw it; with `steps`, edited as they are here (moved, left out, added), it is drawn as you changed it",
    "revise": "with a `remark`: the planner is asked again",
    "cancel": "nothing is drawn",
}
_STEP_ANSWERS = {
    "accept": "this picture counts; another `attempt` may be named",
    "revise": "another attempt; with a `remark` about what is wrong, or a `prompt` of your own",
    "replace": "with an `image`: your own picture counts",
    "skip": "no picture for this step",
}


def plan_question(
    plan: Plan, *, estimate: str, sketches: Sequence[ArtifactRef | None] = (), link: Linker | None = None
) -> dict[str, Any]:
    """What a reviewer of a plan is shown: words first, then what it may cost, then how to answer.

    Args:
        plan: The plan.
        estimate: What drawing it may take, in words.
        sketches: In a draft, a sketch for each step.
        link: Makes the URL under which a picture can be fetched.
    """
    steps: list[dict[str, Any]] = []
    for step in plan.steps:
        sketch = sketches[step.index] if step.index < len(sketches) else None
        shown: dict[str, Any] = {"step": step.index, "number": step.index + plan.first_number}
        shown |= step.model_dump(mode="json", exclude_none=True, exclude={"index"})
        if sketch is not None:
            shown["sketch"] = shown_picture(sketch, alt=step.caption or step.title, link=link)
        steps.append(shown)
    style = {name: said for name, said in plan.style_guide.model_dump(mode="json").items() if said}
    return {
        "ask": "plan",
        "title": plan.title,
        "steps": steps,
        **({"style_guide": style} if style else {}),
        "estimate": estimate,
        "answers": _PLAN_ANSWERS,
    }


def step_question(
    step: Step, record: StepRecord, *, number: int, before: ArtifactRef | None = None, link: Linker | None = None
) -> dict[str, Any]:
    """What a reviewer of a step is shown: its words, the picture that would count, every attempt, how to answer.

    Args:
        step: The step.
        record: Its record, with an outcome proposed.
        number: What the step is called.
        before: What the picture was changed from.
        link: Makes the URL under which a picture can be fetched.
    """
    picture = record.picture
    shown: dict[str, Any] = {
        "ask": "step",
        "step": step.index,
        "number": number,
        "title": step.title,
        "caption": step.caption,
        "instruction": step.instruction,
        "proposed": record.proposed,
        "why": record.problem.message if record.problem else None,
        "image": None if picture is None else shown_picture(picture, alt=step.caption or step.title, link=link),
        "before": None if before is None else shown_picture(before, link=link),
        "attempt": record.kept,
    }
    attempts = [_attempt(attempt, link) for attempt in record.attempts]
    return {
        **{name: value for name, value in shown.items() if value is not None},
        "attempts": attempts,
        "answers": _STEP_ANSWERS,
    }


def _attempt(attempt: Attempt, link: Linker | None) -> dict[str, Any]:
    decided = attempt.decided
    shown: dict[str, Any] = {
        "attempt": attempt.number,
        "verdict": decided.verdict if decided else None,
        "judge": decided.judge if decided else None,
        "reasoning": decided.reasoning if decided else None,
        "scores": attempt.critique.scores.model_dump(mode="json", exclude_none=True) if attempt.critique else None,
        "problem": attempt.problem.message if attempt.problem else None,
        "prompt": attempt.prompt,
        "image": None if attempt.image is None else shown_picture(attempt.image, link=link),
    }
    return {name: value for name, value in shown.items() if value not in (None, {})}


def shown_picture(ref: ArtifactRef, *, alt: str | None = None, link: Linker | None = None) -> dict[str, Any]:
    """A stored picture as an image block; under a URL that can be fetched, where there is one."""
    block = image_block(ref, alt=alt)
    url = link(ref) if link is not None else None
    return block if url is None else {**block, "url": url}


# --- answers ----------------------------------------------------------------------------------


def read_answer(model: type[M], answer: object, *, example: str = EXAMPLES["step"]) -> M:
    """A reviewer's answer; a word alone is the decision.

    Args:
        model: What it may be.
        answer: What was answered.
        example: The remedy where it is none.

    Raises:
        ConfigError: It is none, with what is wrong.
    """
    given = {"decision": answer.strip().lower()} if isinstance(answer, str) else answer
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise ConfigError(
            f"That answer cannot be used: {where + ': ' if where else ''}{said}.",
            remedy=example,
        ) from error


def read_plan_answer(answer: object, plan: Plan) -> PlanReview:
    """A reviewer's answer about a plan: its steps as the question showed them, edited, or as changes.

    Steps in the form of the question are all there shall be. Of changes, steps that are not named stay where
    they are.

    Raises:
        ConfigError: It is none, with what is wrong.
    """
    if isinstance(answer, Mapping):
        given = cast("Mapping[str, Any]", answer)
        steps: Any = given.get("steps")
        if isinstance(steps, Sequence) and not isinstance(steps, str):
            answer = {**given, "steps": _as_changes(cast("Sequence[Any]", steps), plan)}
        elif steps is None and (given.get("title") or given.get("style_guide")):
            answer = {**given, "steps": [{"change": "keep", "step": step.index} for step in plan.steps]}
    review = read_answer(PlanReview, answer)
    if review.steps is not None:
        read_answer(Changes, {"steps": review.steps})  # each step once, and one at least
    return review


_FIELDS = ("op", "title", "instruction", "prompt", "caption", "sources", "backend")
_WORDS = frozenset({"title", "caption"})


def _as_changes(steps: Sequence[Any], plan: Plan) -> list[Any]:
    if not all(isinstance(step, Mapping) for step in steps):
        return list(steps)
    given = [dict(cast("Mapping[str, Any]", step)) for step in steps]
    if not any("change" in step for step in given):
        return [_edited(step, plan) for step in given]
    named = {step.get("step") for step in given}
    for step in plan.steps:
        if step.index not in named:
            # After the one it followed, wherever that is now.
            before = next((place for place, one in enumerate(given) if one.get("step") == step.index - 1), -1)
            given.insert(before + 1, {"change": "keep", "step": step.index})
    return given


def _edited(shown: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """What became of a step that a reviewer sends back as the question showed it."""
    index = shown.get("step")
    fields = {name: shown[name] for name in _FIELDS if name in shown}
    unknown = {name: value for name, value in shown.items() if name not in (*_FIELDS, "step", "number", "sketch")}
    if index is None:
        return {"change": "insert", **fields, **unknown}
    if not isinstance(index, int) or not 0 <= index < len(plan.steps):
        return {"change": "keep", "step": index, **unknown}
    old = plan.steps[index].model_dump(mode="json")
    new = {name: value for name, value in fields.items() if value != old[name]}
    # Words that are taken away, not left as they are.
    new = {name: "" if value is None and name in _WORDS else value for name, value in new.items()}
    change = "keep" if not new else "recaption" if _WORDS.issuperset(new) else "redo"
    return {"change": change, "step": index, **new, **unknown}


def answer_step(
    record: StepRecord, review: StepReview, *, own: ArtifactRef | None = None, prompt: str = ""
) -> StepRecord:
    """The record of a step as a reviewer decided.

    Args:
        record: The step's record, with an outcome proposed.
        review: The decision.
        own: The reviewer's own picture, for `replace`.
        prompt: The step's prompt, which an own picture stands for.

    Returns:
        The record with its outcome; without one where another attempt is asked for. Then its last
        attempt waits for the critic's words (`critique` is `None`) or is followed by the next.

    Raises:
        ConfigError: The attempt that was named has no picture.
    """
    settled = {"proposed": None, "problem": None, "limit": None}
    said = (review.remark or "").strip()
    if review.decision == "skip":
        problem = Problem(error="Skipped", message=f"The reviewer left its picture out. {said}".strip())
        return record.model_copy(update={**settled, "outcome": "skipped", "kept": None, "problem": problem})
    if review.decision == "revise":
        return record.model_copy(update={**settled, "kept": None, "attempts": _revised(record, review, said)})
    accept = Critique(verdict="accept", reasoning=said, judge="human")
    if review.decision == "replace":
        assert own is not None, "its picture was looked up first"
        number = len(record.attempts)
        attempts = (*record.attempts, Attempt(number=number, prompt=prompt, image=own, own=True, review=accept))
        return record.model_copy(update={**settled, "outcome": "accepted", "kept": number, "attempts": attempts})
    number = record.kept if review.attempt is None else review.attempt
    if number is None or number >= len(record.attempts) or record.attempts[number].image is None:
        named = "There is no picture to accept" if number is None else f"Attempt {number} has no picture"
        raise ConfigError(f"{named}.", remedy="Answer revise, replace or skip, or name an attempt that has one.")
    attempts = [*record.attempts]
    attempts[number] = attempts[number].model_copy(
        update={"review": accept, "overruled": _overruled(attempts[number], again=False)}
    )
    return record.model_copy(update={**settled, "outcome": "accepted", "kept": number, "attempts": tuple(attempts)})


def _revised(record: StepRecord, review: StepReview, said: str) -> tuple[Attempt, ...]:
    prompt = (review.prompt or "").strip() or None
    last = record.attempts[-1]
    decided = Critique(verdict="revise", reasoning=said, refined_prompt=prompt, judge="human")
    again = bool(said) and prompt is None and last.image is not None
    update: dict[str, Any] = {"review": decided, "overruled": _overruled(last, again=again)}
    if again:
        # The critic is asked again, with the remark, for the words of the next prompt.
        update |= {"critique": None, "problem": None}
    return (*record.attempts[:-1], last.model_copy(update=update))


def _overruled(attempt: Attempt, *, again: bool) -> tuple[Critique, ...]:
    """What was said of an attempt before a reviewer's new decision; with the critique, where one is asked for again."""
    asked = (attempt.critique,) if again and attempt.critique is not None else ()
    return (*attempt.overruled, *((attempt.review,) if attempt.review is not None else ()), *asked)


def waits_for_words(record: StepRecord) -> bool:
    """Whether the critic is to find words for a reviewer's remark before the next attempt."""
    last = record.attempts[-1]
    asked = last.review is not None and last.review.verdict == "revise" and last.review.refined_prompt is None
    return asked and bool(last.review and last.review.reasoning) and last.image is not None
