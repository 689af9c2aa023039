"""Several pictures of one attempt: which are to be drawn and judged yet, and which of them counts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph_interleave.outcomes import attempts_allowed, check_critique
from langgraph_interleave.runview import Draw, Rules
from langgraph_interleave.types import Attempt, Candidate, Problem, StepRecord


def is_drawn(attempt: Attempt) -> bool:
    """Whether every drawing of the attempt has ended, and so the attempt has a picture or a problem."""
    return attempt.image is not None or attempt.problem is not None


def undrawn(attempt: Attempt | None, rules: Rules) -> tuple[tuple[int, int], ...]:
    """The drawings of an attempt that have not ended: number of the first picture and how many, for each call.

    Example:
        >>> undrawn(None, Rules(candidates=3, images_per_call=2))
        ((0, 2), (2, 1))
    """
    if attempt is not None and is_drawn(attempt):
        return ()
    here = {candidate.number for candidate in attempt.candidates} if attempt is not None else set[int]()
    calls = range(0, rules.candidates, rules.images_per_call)
    pairs = [(first, min(rules.images_per_call, rules.candidates - first)) for first in calls]
    return tuple(pair for pair in pairs if pair[0] not in here)


def alone(attempt: Attempt, number: int) -> Attempt:
    """The attempt as if one of its candidates were its only picture; without candidates, as it is."""
    found = next((candidate for candidate in attempt.candidates if candidate.number == number), None)
    if found is None or attempt.review is not None:
        return attempt  # what a reviewer says is said of the picture that was chosen
    return attempt.model_copy(
        update={**_fields(found), "calls": found.calls, "candidates": (), "chosen": None, "problem": found.problem}
    )


def made_of(
    draw: Draw,
    key: str,
    found: Sequence[Mapping[str, Any]],
    seeds: Sequence[int],
    *,
    problem: Problem | None = None,
    limit: str | None = None,
) -> list[Candidate]:
    """What came of a drawing for every candidate it was for.

    Args:
        draw: The drawing.
        key: Key of its call.
        found: Fields of the pictures it gave, in order.
        seeds: The seed of each candidate.
        problem: Why there is no picture at all.
        limit: The limit that left no room for it.
    """
    if problem is None and len(found) < draw.n:
        problem = Problem(error="NoImage", message=f"The backend drew {len(found)} of {draw.n} pictures.")
    made = [Candidate(number=number, calls=(key,), **one) for number, one in zip(draw.numbers, found, strict=False)]
    missing = draw.numbers[len(made) :]
    return made + [
        Candidate(number=number, prompt=draw.prompt, seed=seed, problem=problem, limit=limit, calls=(key,))
        for number, seed in zip(missing, seeds[len(made) :], strict=True)
    ]


def put(attempt: Attempt, new: Iterable[Candidate]) -> Attempt:
    """The attempt with candidates added, or in the place of those of the same numbers."""
    known = {candidate.number: candidate for candidate in attempt.candidates}
    known |= {candidate.number: candidate for candidate in new}
    # In one order whichever was there first: the same run sent again has the same record.
    calls = dict.fromkeys(key for number in sorted(known) for key in known[number].calls)
    return attempt.model_copy(
        update={"candidates": tuple(known[number] for number in sorted(known)), "calls": tuple(calls)}
    )


def led(attempt: Attempt) -> Attempt:
    """The attempt when its drawings have ended, or are not waited for: the first picture there is stands for it.

    Without any, the first problem does.
    """
    first = next((candidate for candidate in attempt.candidates if candidate.image is not None), None)
    if first is not None:
        return attempt.model_copy(update={**_fields(first), "critique": None, "chosen": first.number})
    problem = next((candidate.problem for candidate in attempt.candidates if candidate.problem is not None), None)
    return attempt.model_copy(update={"problem": problem})


def settled(record: StepRecord) -> StepRecord:
    """A record whose step ends here and now: a picture of drawings that have not all ended is one nevertheless."""
    if not record.attempts or is_drawn(record.attempts[-1]):
        return record
    last = led(record.attempts[-1])
    return record.model_copy(update={"attempts": (*record.attempts[:-1], *((last,) if last.image else ()))})


def screened(attempt: Attempt, record: StepRecord, rules: Rules) -> Attempt:
    """The attempt with a judgement for every candidate that needs no critic.

    The critic is asked about what no check objects to. Where a check objects to all of them, it is asked about
    the first, while an attempt is left for which it writes the refined prompt.
    """
    drawn = [candidate for candidate in attempt.candidates if candidate.image is not None]
    good = [candidate for candidate in drawn if not alone(attempt, candidate.number).failed_checks]
    left = attempt.number + 1 < attempts_allowed(record, rules)
    asked = good or (drawn[:1] if left else [])
    spared = [candidate for candidate in drawn if candidate not in asked and candidate.critique is None]
    return put(
        attempt,
        [one.model_copy(update={"critique": check_critique(alone(attempt, one.number))}) for one in spared],
    )


def unjudged(attempt: Attempt) -> tuple[int, ...]:
    """The candidates the critic has not answered about; of a reviewer's remark, the chosen one. Without any: 0."""
    if not attempt.candidates or attempt.review is not None:
        return (attempt.chosen or 0,)
    return tuple(one.number for one in attempt.candidates if one.critique is None and one.problem is None)


def choose(attempt: Attempt) -> Attempt:
    """The attempt when all its candidates are judged: the best of them stands for it.

    Best is what the critic accepted before what it did not, what no check objects to before the rest, what was
    judged before what was not; then the higher mean of the scores, then the earlier.
    """
    drawn = [candidate for candidate in attempt.candidates if candidate.image is not None]

    def rank(one: Candidate) -> tuple[bool, bool, bool, bool, float, int]:
        critique = one.critique
        mean = critique.scores.mean if critique is not None else None
        passed = all(check.passed is not False for check in one.checks)
        accepted = critique is not None and critique.verdict == "accept"
        return accepted, passed, critique is not None, mean is not None, mean or 0.0, -one.number

    best = max(drawn, key=rank)
    return attempt.model_copy(update={**_fields(best), "chosen": best.number, "problem": best.problem})


def without_judgement(attempt: Attempt) -> Attempt:
    """The attempt as it was when it had been drawn, before anybody but a check judged it."""
    candidates = tuple(
        one
        if one.image is None
        else one.model_copy(
            update={
                "critique": one.critique if one.critique is not None and one.critique.judge == "check" else None,
                "problem": None,
                "limit": None,
                "calls": one.calls[:1],
            }
        )
        for one in attempt.candidates
    )
    calls = tuple(dict.fromkeys(key for one in candidates for key in one.calls))
    return led(attempt.model_copy(update={"candidates": candidates, "calls": calls, "problem": None}))


def _fields(candidate: Candidate) -> dict[str, object]:
    return {
        "image": candidate.image,
        "prompt": candidate.prompt,
        "sent": candidate.sent,
        "seed": candidate.seed,
        "checks": candidate.checks,
        "critique": candidate.critique,
        "signed": candidate.signed,
    }
