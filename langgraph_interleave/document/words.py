"""What the document says about itself, in English: outcomes, marks, numbers."""

from __future__ import annotations

from typing import NamedTuple

from langgraph_interleave.types import Attempt, Candidate, DocumentData, DocumentStep, Spend, StepRecord

_MARKS = {
    "exhausted": "None of the attempts was accepted; one of them is shown all the same.",
    "critic_failed": "This picture was not judged.",
    "backend_failed": "This picture could not be drawn.",
    "blocked": "The provider refused to draw this.",
    "skipped": "This step was skipped.",
    "cancelled": "The run was stopped before this picture was drawn.",
}
_LABELS = {
    "exhausted": "Not accepted",
    "critic_failed": "Not judged",
    "backend_failed": "No picture",
    "blocked": "Refused",
    "skipped": "Skipped",
    "cancelled": "Not drawn",
}
_NAMED = {
    "exhausted": "No attempt was accepted of step",
    "critic_failed": "No judgement could be had of step",
    "backend_failed": "No picture could be drawn for step",
    "blocked": "The provider refused to draw step",
    "skipped": "Skipped: step",
    "cancelled": "Not drawn any more: step",
}
#: What is said after the limit at which a run waits.
ASKED_AT_LIMIT = "It is asked whether to raise it, or to finish with what is there."
_TIMES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def count(number: int, noun: str) -> str:
    """A number with its noun.

    Example:
        >>> count(1, "step"), count(12000, "call")
        ('1 step', '12,000 calls')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def mark_of(step: DocumentStep) -> str | None:
    """The sentence beside a step that is not simply as it should be."""
    if step.outcome in ("accepted", "text_only"):
        return step.mark
    return step.mark or _MARKS.get(step.outcome)


def label_of(step: DocumentStep) -> str | None:
    """Two words for the same."""
    return _LABELS.get(step.outcome)


class StatusLine(NamedTuple):
    """A sentence about the run. When it ends in "step", it goes on with the numbers of these."""

    text: str
    steps: tuple[int, ...] = ()


def status_of(data: DocumentData) -> tuple[str, list[StatusLine]] | None:
    """A heading and sentences about the run; `None` when it is complete."""
    if data.outcome == "complete":
        return None
    lines = [StatusLine("A limit was reached before every step was drawn.")] if "limit" in data.reasons else []
    at_limit = [step.mark for step in data.steps if step.mark and step.mark.endswith(ASKED_AT_LIMIT)]
    if data.outcome == "waiting" and at_limit:
        return "Waiting at a limit", [StatusLine(at_limit[0])]
    if data.problem is not None:
        lines.append(StatusLine(f"{data.problem.message} {data.problem.remedy}".strip()))
    for outcome, said in _NAMED.items():
        numbers = tuple(step.index + data.first_number for step in data.steps if step.outcome == outcome)
        if numbers:
            lines.append(StatusLine(said + ("s" if len(numbers) > 1 else ""), numbers))
    headings = {
        "partial": "Not everything worked out",
        "waiting": "Waiting for a reviewer",
        "cancelled": "Stopped early: this is what there was",
        "failed": "The run failed",
    }
    return headings[data.outcome], lines


def verdict_of(attempt: Attempt, *, kept: bool) -> tuple[str, str]:
    """What came of an attempt: its tone (`good`, `bad`, `open`) and words."""
    if attempt.image is None:
        return "bad", "Not drawn"
    critique = attempt.decided
    if critique is None:
        if attempt.failed_checks:
            return "bad", "Failed a check" + (", kept all the same" if kept else "")
        return "open", "Not judged" + (", kept" if kept else "")
    by = {"critic": "", "check": " by a check", "human": " by a reviewer"}[critique.judge]
    if critique.verdict == "accept":
        return "good", f"Accepted{by}"
    return "bad", f"Rejected{by}" + (", kept all the same" if kept else "")


def candidate_of(candidate: Candidate) -> str:
    """What was said of a picture that was not the one chosen of its attempt.

    Example:
        >>> from langgraph_interleave.types import Critique, Scores
        >>> candidate_of(Candidate(number=1, prompt="", critique=Critique(verdict="accept", scores=Scores(quality=6))))
        'Candidate 2: accepted, 6 of 10'
    """
    critique = candidate.critique
    said = "not judged" if critique is None else {"accept": "accepted", "revise": "rejected"}[critique.verdict]
    mean = critique.scores.mean if critique is not None else None
    return f"Candidate {candidate.number + 1}: {said}" + ("" if mean is None else f", {mean:.2g} of 10")


def story_of(step: DocumentStep, record: StepRecord) -> str:
    """One line for how a picture came about."""
    tries = len(record.attempts)
    if step.outcome == "accepted" and record.kept is not None:
        at = _TIMES[record.kept] if record.kept < len(_TIMES) else f"{record.kept + 1}th"
        return f"accepted at the {at} attempt" if record.kept or tries > 1 else "accepted at once"
    if step.outcome == "exhausted":
        return f"{count(tries, 'attempt')}, none accepted"
    return count(tries, "attempt")


def lineage_of(step: DocumentStep) -> str:
    """How far a picture has come; empty for a first one.

    Example:
        >>> from langgraph_interleave.types import Drift
        >>> step = DocumentStep(index=2, op="edit", outcome="accepted", depth=2, drift=Drift(first=0.21, previous=0.1))
        >>> lineage_of(step)
        '2 edits from the first picture. Drift: 0.21 from the first picture, 0.1 from the one before (0 to 1).'
    """
    said = f"{count(step.depth, 'edit')} from the first picture. " if step.depth else ""
    measured = [
        f"{value:.2g} from {which}"
        for value, which in (
            (step.drift.first if step.drift else None, "the first picture"),
            (step.drift.previous if step.drift else None, "the one before"),
        )
        if value is not None
    ]
    return (said + (f"Drift: {', '.join(measured)} (0 to 1)." if measured else "")).strip()


def numbers_of(data: DocumentData) -> list[tuple[str, str]]:
    """How it was made, in numbers: label and value."""
    spend = data.spend
    attempts = sum(step.attempts for step in data.steps)
    rows = [
        ("Steps", f"{len(data.steps):,}"),
        ("Pictures drawn", f"{spend.images:,}"),
        ("Attempts", f"{attempts:,}"),
        ("Calls", _calls(spend)),
        ("Tokens", f"{spend.input_tokens:,} in, {spend.output_tokens:,} out"),
        ("Time", duration(spend.seconds)),
        ("Cost", "" if spend.cost_usd is None else money(spend.cost_usd)),
        ("Content Credentials", _signed(data)),
    ]
    used = {"Tokens": spend.input_tokens + spend.output_tokens > 0, "Time": spend.seconds > 0}
    return [(label, value) for label, value in rows if value and used.get(label, True)]


def _signed(data: DocumentData) -> str:
    steps = [str(step.index + data.first_number) for step in data.steps if step.signed]
    if not steps:
        return ""
    return (
        f"in the {'pictures of steps' if len(steps) > 1 else 'picture of step'} {', '.join(steps)}, not verified here"
    )


def _calls(spend: Spend) -> str:
    total = sum(spend.calls.values())
    parts = [f"{number:,} {role}" for role, number in spend.calls.items() if number]
    extra = [
        f"{number:,} {word}"
        for number, word in (
            (spend.replayed, "from the ledger, not paid again"),
            (spend.wasted, "ahead of time and unused"),
            (spend.ambiguous, f"with unknown end{_maybe(spend)}"),
        )
        if number
    ]
    inside = "; ".join(filter(None, [", ".join(parts), *extra]))
    return f"{total:,}" + (f" ({inside})" if inside else "")


def _maybe(spend: Spend) -> str:
    if spend.ambiguous_cost_usd is None:
        return ", cost unknown"
    return f", up to {money(spend.ambiguous_cost_usd)} more" if spend.ambiguous_cost_usd else ""


def duration(seconds: float) -> str:
    """Seconds in words.

    Example:
        >>> duration(0.42), duration(75.2), duration(7320)
        ('0.4 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def money(usd: float) -> str:
    """Dollars, with enough digits for small sums.

    Example:
        >>> money(0.0042), money(1.5), money(0.0)
        ('$0.0042', '$1.50', '$0.00')
    """
    return f"${usd:.2f}" if usd == 0 or usd >= 0.1 else f"${usd:.2g}"
