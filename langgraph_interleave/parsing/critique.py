"""Model text, or structured output, to a critique."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from langgraph_interleave.errors import CritiqueError
from langgraph_interleave.parsing.answer import (
    Answer,
    Unreadable,
    Wanted,
    fields,
    find_answer,
    reasoning_of,
    structured_answer,
)
from langgraph_interleave.parsing.data import Json, as_json, storable
from langgraph_interleave.parsing.decision import decision_of
from langgraph_interleave.parsing.wording import is_nothing, kind_of, phrase_of, text_of
from langgraph_interleave.types import Critique, Scores

_DECISIONS = ("verdict", "decision", "previous_step_success", "success", "accepted", "accept", "passed", "pass")
_REASONS = ("reasoning", "reason", "explanation", "rationale")
_REFINED = ("refined_prompt", "refine_prompt")
_SCORES = ("semantics", "quality", "consistency")
_FIELDS = frozenset({*_DECISIONS, *_REASONS, *_REFINED, *_SCORES, "scores"})
_SCORE = re.compile(r"([+-]?\d{1,4}(?:[.,]\d{1,6})?)(?:\s*(?:/|(?:out )?of)\s*(\d{1,4}))?\.?\Z", re.ASCII)
_BEST = 10
_AGAIN = "Ask the critic again."


@dataclass(frozen=True, slots=True)
class ParsedCritique:
    """A critique and the text it was read from (structured output as JSON)."""

    critique: Critique
    raw: str = ""


def parse_critique(text: str | Mapping[str, object], *, prompt: str) -> ParsedCritique:
    """Read a critique.

    Understands structured output (`{verdict, reasoning, refined_prompt, scores}`) and the tagged form
    (`{'previous_step_success': bool, 'refine_prompt': str}`), as JSON, Python literal or a mixture.
    The verdict may be a boolean or a word, with a remark behind it; what could mean either is an error. An accept
    counts only where nothing else in the answer, outside the thinking, says otherwise: a critic that quotes what is
    written in a picture has not said it.

    Args:
        text: The critic's words, or its structured output.
        prompt: The prompt that was judged; the same one handed back is no refined prompt.

    Returns:
        The critique. `refined_prompt` is `None` on accept, and on revise without a new one; scores outside 0 to 10
        are `None`, never moved into the range. Contradictions are in `critique.warnings`.

    Raises:
        CritiqueError: No clear verdict can be read. Never counted as accept or revise.

    Example:
        >>> text = "<answer>{'previous_step_success': 'no, two beans', 'refine_prompt': 'one bean'}</answer>"
        >>> critique = parse_critique(text, prompt="a bean").critique
        >>> critique.verdict, critique.refined_prompt
        ('revise', 'one bean')
    """
    raw = storable(text) if isinstance(text, str) else ""
    try:
        if isinstance(text, str):
            answer = find_answer(text, _WANTED)
        else:
            answer = structured_answer(text)
            raw = as_json(answer.value)
        return ParsedCritique(_critique(answer, prompt), raw)
    except Unreadable as error:
        raise CritiqueError(error.told("critique"), remedy=_AGAIN, raw=raw) from error


def _top_of(value: Json) -> dict[str, Json] | None:
    """The object with the verdict, its fields spelled one way; `None` when it is no critique."""
    for _ in range(2):
        if not isinstance(value, dict):
            return None
        top = fields(value)
        if any(top.get(name) is not None for name in _DECISIONS):
            return top
        value = next(iter(top.values())) if len(top) == 1 else None
    return None


def _accepts(value: Json) -> bool:
    try:
        return _top_of(value) is not None
    except Unreadable:
        return True  # A critique, though a contradictory one: said when it is read.


def _knows(value: Json) -> bool:
    top = _top_of(value)
    return top is not None and top.keys() <= _FIELDS


_WANTED = Wanted("verdict", "a critique with a verdict", _accepts, _knows)


def _critique(answer: Answer, prompt: str) -> Critique:
    top = _top_of(answer.value)
    if top is None:
        raise Unreadable("the object has no verdict")
    accepted = _decision(top)
    if accepted and not all(map(_accepts_too, answer.others)):
        raise Unreadable("it accepts in one place and not in another; one of them may be what it quotes")
    warnings = [f"repaired: {', '.join(answer.repairs)}"] if answer.repairs else []
    if answer.skipped:
        warnings.append("a later answer could not be read; the last readable one is used")
    refined, about_refined = _refined(top, accepted, prompt)
    scores, about_scores = _scores(top)
    return Critique(
        verdict="accept" if accepted else "revise",
        reasoning=next((phrase for name in _REASONS if (phrase := phrase_of(top.get(name)))), "")
        or reasoning_of(answer.thoughts),
        refined_prompt=refined,
        scores=scores,
        warnings=(*warnings, *about_refined, *about_scores),
    )


def _decision(top: Mapping[str, Json]) -> bool:
    given = {name: top[name] for name in _DECISIONS if top.get(name) is not None}
    decided = {name: decision_of(value) for name, value in given.items()}
    for name, accepted in decided.items():
        if accepted is None:
            value = given[name]
            shown = repr(value[:80]) if isinstance(value, str) else kind_of(value)
            raise Unreadable(f"{name} is {shown}, which is neither a clear yes nor a clear no")
    if len(set(decided.values())) > 1:
        said = ", ".join(f"{name} says {'accept' if accepted else 'revise'}" for name, accepted in decided.items())
        raise Unreadable(f"it contradicts itself: {said}")
    return bool(next(iter(decided.values())))


def _accepts_too(other: Json) -> bool:
    """Whether another object in the answer says the same. A picture's words may be quoted; they accept nothing."""
    try:
        top = _top_of(other)
        return top is not None and _decision(top)
    except Unreadable:
        return False


def _refined(top: Mapping[str, Json], accepted: bool, prompt: str) -> tuple[str | None, tuple[str, ...]]:
    given = next((top[name] for name in _REFINED if top.get(name) is not None), None)
    try:
        refined = text_of(given)
    except TypeError as error:
        return None, (f"the refined prompt {error}, and is left out",)
    same = refined is not None and refined.split() == prompt.split()
    if accepted:
        if refined is None or same:
            return None, ()
        return None, ("the critic accepts and yet gives another prompt, which is left out",)
    if refined is None or same:
        return None, (f"the critic asks to revise and gives {'the same' if same else 'no'} prompt",)
    return refined, ()


def _scores(top: Mapping[str, Json]) -> tuple[Scores, tuple[str, ...]]:
    warnings: list[str] = []
    given: dict[str, Json] = {name: top[name] for name in _SCORES if name in top}
    listed = top.get("scores")
    if isinstance(listed, Mapping):
        given |= fields(listed)
    elif listed is not None:
        warnings.append(f"the scores are {kind_of(listed)}, not an object, and are left out")
    unknown = [name for name in given if name not in _SCORES]
    if unknown:
        warnings.append(f"unknown scores are left out: {', '.join(unknown)[:80]}")
    read: dict[str, float | None] = {}
    for name in _SCORES:
        try:
            read[name] = score_of(given.get(name))
        except ValueError as error:
            read[name] = None
            warnings.append(f"the score {name} {error}; it counts as unscored")
    return Scores(**read), tuple(warnings)


def score_of(value: Json) -> float | None:
    """Read a score on 0-10: 8, 8.5, "8.5", "8/10", "8 out of 10"; `None` for nothing.

    Raises:
        ValueError: It is no number, is outside the range, or is on another scale.

    Example:
        >>> score_of("8/10"), score_of(7), score_of("N/A")
        (8.0, 7.0, None)
    """
    if value is None or (isinstance(value, str) and is_nothing(value)):
        return None
    if isinstance(value, str):
        match = _SCORE.match(value.strip())
        if match is None:
            raise ValueError(f"is {value[:40]!r}, not a number")
        if match[2] is not None and int(match[2]) != _BEST:
            raise ValueError(f"is {value[:40]!r}, on another scale than 0-{_BEST}")
        value = float(match[1].replace(",", "."))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"is {kind_of(value)}, not a number")
    if math.isnan(value) or not 0 <= value <= _BEST:
        raise ValueError(f"is {value:g}, outside 0-{_BEST}")
    return float(value)
