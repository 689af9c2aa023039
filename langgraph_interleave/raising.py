"""What is asked when a run has reached one of its limits, and what becomes of the answer. Pure, as `reviewing` is."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.estimate import Estimate, in_a_line
from langgraph_interleave.limits import Limits
from langgraph_interleave.reviewing import EXAMPLES, read_answer
from langgraph_interleave.routing import waits_for
from langgraph_interleave.runview import RunView
from langgraph_interleave.types import LimitReview, Spend, Step, StepRecord

#: What each limit counts, as it is said.
COUNTED: Mapping[str, str] = {
    "max_images": "pictures", "max_calls": "calls", "max_seconds": "seconds", "max_cost_usd": "US dollars",
}  # fmt: skip
_ANSWERS = {
    "raise": "it goes on where it stopped, under the new `limits`; name the whole cap, what is used among it",
    "finish": "it ends with what is there; nothing more is drawn",
}
#: Where every limit that is reached is at its ceiling.
_ONLY_FINISH = 'It is at its ceiling, so the only answer is {"decision": "finish"}.'


@dataclass(frozen=True, slots=True)
class Reached:
    """A limit that a run has reached.

    Attributes:
        limit: Its name.
        used: What is used of it; `None` where nobody knows.
        cap: The cap.
    """

    limit: str
    used: float | None
    cap: float

    def shown(self) -> dict[str, Any]:
        """As JSON."""
        return {"limit": self.limit, "used": self.used, "cap": self.cap}


def reached_by(records: Sequence[StepRecord], limits: Limits, spend: Spend) -> tuple[Reached, ...]:
    """The limits that end steps, each once, in the order of the steps.

    Args:
        records: The records of the steps that limits end.
        limits: The caps of the run.
        spend: What it has used.
    """
    found: dict[str, Reached] = {}
    for record in records:
        name = record.limit or ""
        cap = getattr(limits, name, None)
        if cap is not None and name not in found:
            found[name] = Reached(name, used_of(name, spend, cap), cap)
    return tuple(found.values())


def used_of(limit: str, spend: Spend, cap: float) -> float | None:
    """What a run has used of a limit. Time counts by invocations, and one that has ended has used up all of it."""
    if limit == "max_images":
        return spend.images
    if limit == "max_calls":
        return sum(spend.calls.values())
    return spend.cost_usd if limit == "max_cost_usd" else cap


def undone(view: RunView) -> tuple[Step, ...]:
    """The steps that a run at a limit has not come to the end of, and nobody else is asked about."""
    found: list[Step] = []
    for step in view.steps:
        record = view.records.get(step.index)
        settled = record is not None and (record.outcome is not None or (record.proposed and not record.limit))
        past = step.index >= view.rules.max_steps and step.index != view.sheet
        if step.op != "text" and not settled and not past:
            found.append(step)
    return tuple(found)


def side_by_side(view: RunView, steps: Sequence[Step]) -> bool:
    """Whether none of some steps waits for another of them."""
    indices = {step.index for step in steps}
    return not any(indices.intersection(waits_for(view, step)) for step in steps)


def limit_question(
    view: RunView,
    reached: Sequence[Reached],
    *,
    spend: Spend,
    estimate: Estimate | None,
    limits: Limits,
    ceiling: Limits | None = None,
) -> dict[str, Any]:
    """What is shown to whoever may raise a limit: words, the limit, what is undone, what it may take, how to answer.

    Args:
        view: What is known of the run.
        reached: The limits, one at least; the first is what the question is about, the others are beside it.
        spend: What the run has used.
        estimate: What the steps that are left may take; `None` where nothing is left of them.
        limits: The caps of the run.
        ceiling: What no cap may be raised above; nothing above it is suggested.
    """
    first = reached[0]
    steps = [_shown(view, step) for step in undone(view)]
    highest = _caps(ceiling) if ceiling is not None else {}
    suggested = _suggested(reached, estimate, highest)
    over = all(one.limit != "max_seconds" and one.cap >= highest.get(one.limit, math.inf) for one in reached)
    return {
        "ask": "limit",
        "says": _said(reached, steps) + (" At the ceiling: it can only finish." if over else ""),
        **first.shown(),
        **({"also": [other.shown() for other in reached[1:]]} if len(reached) > 1 else {}),
        "undone": steps,
        "spend": spend.model_dump(mode="json", exclude_none=True),
        **({} if estimate is None else {"estimate": f"{in_a_line(estimate)}, for what is left"}),
        **({"suggested": suggested} if suggested else {}),
        "limits": _caps(limits),
        **({"ceiling": highest} if highest else {}),
        "answers": {"finish": _ANSWERS["finish"]} if over else _ANSWERS,
    }


def suggested_caps(question: Mapping[str, Any]) -> dict[str, float]:
    """What the limits that are reached may be raised to, where nobody says otherwise.

    Enough for what is left; where nobody knows what that takes, twice as much; of time as much again. Nothing above
    a ceiling: a limit that is at its ceiling is not among them.

    Args:
        question: As `limit_question` makes it.

    Example:
        >>> suggested_caps({"limit": "max_images", "cap": 12, "suggested": {"max_images": 21}})
        {'max_images': 21}
        >>> suggested_caps({"limit": "max_cost_usd", "cap": 0.5, "also": [{"limit": "max_seconds", "cap": 60}]})
        {'max_cost_usd': 1.0, 'max_seconds': 60}
        >>> suggested_caps({"limit": "max_images", "cap": 12, "ceiling": {"max_images": 12}})
        {}
    """
    known, highest = question.get("suggested", {}), question.get("ceiling", {})
    found: dict[str, float] = {}
    for one in (question, *question.get("also", ())):
        name, cap = one["limit"], one["cap"]
        otherwise = cap if name == "max_seconds" else 2 * max(cap, one.get("used") or 0) or 1
        suggested = min(known.get(name, otherwise), highest.get(name, math.inf))
        if name == "max_seconds" or suggested > cap:
            found[name] = suggested
    return found


def limit_example(question: Mapping[str, Any]) -> str:
    """How the question about a limit is answered, for example.

    Example:
        >>> limit_example({"limit": "max_calls", "cap": 8, "suggested": {"max_calls": 14}})
        'Answer for example {"decision": "raise", "limits": {"max_calls": 14}} or {"decision": "finish"}.'
    """
    suggested = suggested_caps(question)
    if not suggested:
        return _ONLY_FINISH
    answer = json.dumps({"decision": "raise", "limits": suggested})
    return f'Answer for example {answer} or {{"decision": "finish"}}.'


def _caps(limits: Limits) -> dict[str, float]:
    return {name: cap for name in COUNTED if (cap := getattr(limits, name, None)) is not None}


def _said(reached: Sequence[Reached], steps: Sequence[Mapping[str, Any]]) -> str:
    used = ", ".join(
        f"{_figure(one.limit, one.used)} of {_figure(one.limit, one.cap)} {COUNTED[one.limit]}" for one in reached
    )
    count = len(steps)
    left = "1 step is not done" if count == 1 else f"{count} steps are not done"
    return f"{used} used; {left}."


def _figure(limit: str, number: float | None) -> str:
    if number is None:
        return "an unknown number"
    return f"{number:.2f}" if limit == "max_cost_usd" else f"{number:g}"


def _shown(view: RunView, step: Step) -> dict[str, Any]:
    record = view.records.get(step.index)
    attempts = record.attempts if record is not None else ()
    state = "not drawn"
    if attempts:
        state = "not accepted" if attempts[-1].decided is not None else "not judged"
    number = None if step.index == view.sheet else step.index + view.first_number
    shown = {"step": step.index, "number": number, "title": step.title or step.caption, "state": state}
    return {
        **{name: value for name, value in shown.items() if value is not None},
        **({"attempts": len(attempts)} if attempts else {}),
    }


def _suggested(reached: Sequence[Reached], estimate: Estimate | None, highest: Mapping[str, float]) -> dict[str, float]:
    """Caps under which what is left can be done, every attempt used up, or as much of it as a ceiling lets."""
    if estimate is None:
        return {}
    drawn, cost = estimate.images.worst, estimate.cost_usd
    more: dict[str, float | None] = {
        "max_images": math.ceil(drawn),
        "max_calls": math.ceil(estimate.calls["backend"].worst + estimate.calls["critic"].worst),
        "max_cost_usd": None if cost is None else cost.worst,
    }
    found: dict[str, float] = {}
    for one in reached:
        needed = more.get(one.limit)
        if needed is None or one.used is None:
            continue
        cap = max(one.used, one.cap) + max(needed, 0)
        cap = math.ceil(round(cap * 100, 6)) / 100 if one.limit == "max_cost_usd" else cap
        found[one.limit] = min(cap, highest.get(one.limit, cap))
    return {name: cap for name, cap in found.items() if cap > next(one.cap for one in reached if one.limit == name)}


def read_limit_answer(
    answer: object,
    reached: Sequence[Reached],
    limits: Limits,
    spend: Spend,
    ceiling: Limits | None = None,
    *,
    example: str = EXAMPLES["limit"],
) -> LimitReview:
    """An answer about a run at a limit; a word alone is the decision.

    Args:
        answer: What was answered.
        reached: The limits it is about.
        limits: The caps of the run.
        spend: What it has used.
        ceiling: What no cap may be raised above.
        example: How it is answered, as `limit_example` says it.

    Raises:
        ConfigError: It is none; a cap is not above what is used, or above the ceiling; or nothing raises what was
            reached.
    """
    review = read_answer(LimitReview, answer, example=example)
    if review.decision == "finish":
        return review
    given = {} if review.limits is None else review.limits.given
    raised(limits, review).within(ceiling, given)
    capped = [name for name in COUNTED if getattr(limits, name, None) is not None]
    for name, cap in given.items():
        old = getattr(limits, name, None)
        if old is None:
            raise ConfigError(f"{name} is no limit of this run.", remedy=f"Raise {' or '.join(capped)}.")
        if name == "max_seconds":
            continue  # the clock begins anew
        used = used_of(name, spend, old)
        if used is not None and cap <= used:
            raise ConfigError(
                f"{name}={_figure(name, cap)} is not above what is used, {_figure(name, used)}.",
                remedy="Name the whole cap, what is used among it; or answer finish.",
            )
        if cap <= old:
            raise ConfigError(
                f"{name}={_figure(name, cap)} is not above the cap there is, {_figure(name, old)}.",
                remedy="Name a higher one, or answer finish.",
            )
    names = [one.limit for one in reached]
    if "max_seconds" not in names and not given.keys() & set(names):
        said = " and ".join(f"{one.limit} of {_figure(one.limit, one.cap)}" for one in reached)
        raise ConfigError(f"The run has reached {said}, and that is not raised.", remedy=example)
    return review


def raised(limits: Limits, review: LimitReview) -> Limits:
    """The caps a run goes on under."""
    given = {} if review.limits is None else review.limits.given
    return limits.model_copy(update=given)


def goes_on(record: StepRecord, review: LimitReview) -> bool:
    """Whether a step that a limit ends goes on after an answer."""
    if review.decision == "finish":
        return False
    given = {} if review.limits is None else review.limits.given
    return record.limit in given or record.limit == "max_seconds"
