"""What a document shows, in order, before it becomes HTML or Markdown. Pure: no store, no markup."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from langgraph_interleave.document import words
from langgraph_interleave.document.text import language_of, one_line, shorten
from langgraph_interleave.document.wordchanges import Piece, word_changes
from langgraph_interleave.document.words import StatusLine
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    DocumentData,
    DocumentStep,
    ImagePart,
    PlanRecord,
    Scores,
    StepRecord,
    StyleGuide,
    parse_source,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture in its place: what it is, the words that stand for it, and a label.

    `stem` is its file name without the ending, for those that are saved as files.
    """

    ref: ArtifactRef
    alt: str
    label: str = ""
    stem: str = ""


@dataclass(frozen=True, slots=True)
class ScoreView:
    """A score that was given, on 0-10, as text; its tone is `high`, `middling` or `low`."""

    name: str
    value: str
    tone: str


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt, as the folded part of a step tells it. `before` and `after` are what the critic saw."""

    number: int
    tone: str
    verdict: str
    prompt: Sequence[Piece]
    prompt_label: str
    after: Shown | None
    before: Shown | None
    others: Sequence[Shown]
    passed_over: Sequence[Shown]
    reasoning: str
    scores: Sequence[ScoreView]
    failed_checks: Sequence[str]
    remarks: Sequence[str]
    next_prompt: str | None
    seed: int | None


@dataclass(frozen=True, slots=True)
class StepView:
    """One step. `heading` is its title, else its number in words; `outline` stands for it in the plan."""

    number: int
    anchor: str
    heading: str
    titled: bool
    outline: str
    caption: str
    picture: Shown | None
    placeholder: str | None
    label: str | None
    mark: str | None
    text_only: bool
    sources: str
    lineage: str
    instruction: str
    story: str
    attempts: Sequence[AttemptView]


@dataclass(frozen=True, slots=True)
class View:
    """A whole document as its readers see it. `language` is a BCP 47 tag, `None` when unknown."""

    title: str
    language: str | None
    request: Sequence[str | Shown]
    facts: str
    status: tuple[str, Sequence[StatusLine]] | None
    style_guide: Sequence[tuple[str, str]]
    steps: Sequence[StepView]
    numbers: Sequence[tuple[str, str]]
    notes: Sequence[str]
    warnings: Sequence[str]
    sheet: Shown | None = None
    run_id: str = ""
    prefix: str = field(default="lgi")


def build_view(
    data: DocumentData,
    records: Sequence[StepRecord | None],
    plan: PlanRecord | None,
    *,
    title: str | None = None,
) -> View:
    """Arrange a document for its readers.

    Args:
        data: The document.
        records: The record of each step, `None` where there is none.
        plan: The plan's record, for instructions and the language.
        title: A title of the caller's own.
    """
    prefix = f"lgi-{hashlib.sha256(data.run_id.encode('utf-8', 'replace')).hexdigest()[:8]}"
    steps = [_step(step, record, data, plan, prefix) for step, record in zip(data.steps, records, strict=True)]
    given = plan.settings.get("language") if plan is not None else None
    all_words = " ".join([data.title or "", *(step.caption or "" for step in data.steps), data.request.text])
    return View(
        title=one_line(title or "") or title_of(data),
        language=language_of(given if isinstance(given, str) else None, all_words),
        request=_request(data),
        facts=_facts(data),
        status=words.status_of(data),
        style_guide=_style(data.style_guide),
        steps=steps,
        numbers=words.numbers_of(data),
        notes=data.notes,
        warnings=data.warnings,
        sheet=_sheet(data),
        run_id=data.run_id,
        prefix=prefix,
    )


def title_of(data: DocumentData) -> str:
    """The document's title, else the beginning of what was asked for."""
    return one_line(data.title or "") or shorten(data.request.text, 80) or "Untitled"


def input_words(data: DocumentData, index: int) -> str:
    """What to call the i-th picture of the request."""
    parts = [part for part in data.request.parts if isinstance(part, ImagePart)]
    name = parts[index].name if index < len(parts) else None
    return f"picture {index + 1} of the request" + (f" ({name})" if name else "")


def _request(data: DocumentData) -> list[str | Shown]:
    shown: list[str | Shown] = []
    images = 0
    for part in data.request.parts:
        if isinstance(part, ImagePart):
            words_for = input_words(data, images)
            shown.append(
                Shown(part.image, words_for[0].upper() + words_for[1:], part.name or "", f"input-{images + 1:02d}")
            )
            images += 1
        else:
            shown.append(part.text.strip())
    return shown


def _facts(data: DocumentData) -> str:
    pictures = sum(step.image is not None for step in data.steps)
    redrawn = sum(step.attempts > 1 for step in data.steps)
    facts = [words.count(len(data.steps), "step"), words.count(pictures, "picture")]
    if redrawn:
        facts.append(f"{redrawn} redrawn")
    return " · ".join(facts)


def _style(guide: StyleGuide) -> list[tuple[str, str]]:
    rows = (
        ("Look", guide.look),
        ("Palette", guide.palette),
        ("Characters", guide.characters),
        ("Must stay", guide.keep),
    )
    return [(label, text) for label, text in rows if text.strip()]


def _sheet(data: DocumentData) -> Shown | None:
    if data.sheet is None or data.sheet.image is None:
        return None
    return Shown(data.sheet.image, f"Reference sheet: {one_line(data.style_guide.characters)}", "Reference sheet")


def _step(
    step: DocumentStep, record: StepRecord | None, data: DocumentData, plan: PlanRecord | None, prefix: str
) -> StepView:
    number = step.index + data.first_number
    title = one_line(step.title or "")
    caption = (step.caption or "").strip()
    planned = plan.plan.steps[step.index] if plan and plan.plan and step.index < len(plan.plan.steps) else None
    instruction = (planned.instruction or "") if planned else ""
    # The caption is read out anyway, so the instruction says more about what can be seen.
    given_alt = "" if one_line(step.alt) == one_line(caption) else step.alt
    alt = one_line(given_alt) or one_line(instruction or caption or title) or f"Picture of step {number}"
    mark = words.mark_of(step)
    text_only = step.outcome == "text_only"
    missing = step.image is None and not text_only
    attempts = record.attempts if record else ()
    return StepView(
        number=number,
        anchor=f"{prefix}-step-{number}",
        heading=title or f"Step {number}",
        titled=bool(title),
        outline=title or shorten(caption or instruction, 90) or f"Step {number}",
        caption=caption,
        picture=Shown(step.image, alt, stem=f"step-{number:02d}") if step.image else None,
        placeholder=alt if missing else None,
        label=words.label_of(step),
        mark=mark,
        text_only=text_only,
        sources=_sources(step, data),
        lineage=words.lineage_of(step),
        instruction=instruction,
        story=words.story_of(step, record) if record and attempts else "",
        attempts=[
            _attempt(attempt, attempts[index - 1] if index else None, record, where=f"step {number}")
            for index, attempt in enumerate(attempts)
        ],
    )


def _sources(step: DocumentStep, data: DocumentData) -> str:
    named: list[str] = []
    for kind, number in map(parse_source, step.sources):
        named.append(input_words(data, number) if kind == "input" else f"step {number + data.first_number}")
    return ", ".join(named)


def _attempt(attempt: Attempt, earlier: Attempt | None, record: StepRecord | None, *, where: str) -> AttemptView:
    number = attempt.number + 1
    kept = record is not None and record.kept == attempt.number
    tone, verdict = words.verdict_of(attempt, kept=kept)
    critique = attempt.critique
    remarks = [*attempt.warnings, *(critique.warnings if critique else ()), *_reviewed(attempt)]
    if attempt.problem is not None:
        remarks.insert(0, f"{attempt.problem.message} {attempt.problem.remedy}".strip())
    later = record is not None and attempt.number + 1 < len(record.attempts)
    before = attempt.before or next(iter(attempt.references), None)
    further = attempt.references if attempt.before else attempt.references[1:]
    label = "Prompt"
    if attempt.own:
        label = "In place of"
    elif earlier is not None:
        label = "The same prompt, new seed" if earlier.prompt == attempt.prompt else "Refined prompt"
    return AttemptView(
        number=number,
        tone=tone,
        verdict=verdict,
        prompt=[Piece("same", attempt.prompt)] if earlier is None else word_changes(earlier.prompt, attempt.prompt),
        prompt_label=label,
        after=Shown(attempt.image, f"Attempt {number} at {where}", "After") if attempt.image else None,
        before=Shown(before, f"What {where} builds on", "Before") if before else None,
        # Every attempt has the same references; those beside the first are shown once.
        others=[Shown(ref, f"Further reference of {where}", "Reference") for ref in further]
        if earlier is None or earlier.references != attempt.references
        else [],
        passed_over=[
            Shown(one.image, f"Candidate {one.number + 1} of attempt {number} at {where}", words.candidate_of(one))
            for one in attempt.candidates
            if one.image is not None and one.number != attempt.chosen
        ],
        reasoning=critique.reasoning.strip() if critique else "",
        scores=_scores(critique.scores) if critique else [],
        failed_checks=[check.reason or check.name for check in attempt.failed_checks],
        remarks=remarks,
        next_prompt=None if later or critique is None or critique.verdict == "accept" else critique.refined_prompt,
        seed=attempt.seed,
    )


def _reviewed(attempt: Attempt) -> list[str]:
    """What a reviewer said of an attempt, and what the critic had said before."""
    who = {"human": "The reviewer", "critic": "The critic", "check": "A check"}
    said = [f"{who[one.judge]} had said: {one_line(one.reasoning)}" for one in attempt.overruled if one.reasoning]
    if attempt.own:
        said.append("The reviewer's own picture.")
    if attempt.review is not None and attempt.review.reasoning:
        said.append(f"The reviewer said: {one_line(attempt.review.reasoning)}")
    return said


def _scores(scores: Scores) -> list[ScoreView]:
    named = (("Semantics", scores.semantics), ("Quality", scores.quality), ("Consistency", scores.consistency))
    return [
        ScoreView(name, f"{value:.3g}", "high" if value >= 7 else "middling" if value >= 4 else "low")
        for name, value in named
        if value is not None
    ]
