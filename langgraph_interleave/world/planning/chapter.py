"""Outlines from the book of procedures."""

from __future__ import annotations

from langgraph_interleave.types import PlanWarning
from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.grammar.numbers import in_words
from langgraph_interleave.world.planning.outline import Outline, Part
from langgraph_interleave.world.procedures import Hit, Procedure, Words

NAMES: dict[Language, str] = {"en": "English", "de": "German", "zh": "Chinese", "es": "Spanish", "fr": "French"}


def outline_of(hit: Hit, language: Language) -> Outline:
    """The outline of a procedure, with all its steps, in a language the book has it in.

    Args:
        hit: What was found.
        language: The language wished for; English where the book lacks it, with a warning.
    """
    procedure = hit.procedure
    speaks = all(step.caption.has(language) for step in procedure.steps)
    spoken: Language = language if speaks else "en"

    def said(words: Words | None) -> str | None:
        return words.in_language(spoken) if words is not None else None

    parts = tuple(
        Part(
            caption=step.caption.in_language(spoken),
            scene=step.scene,
            title=step.title.in_language(spoken),
            extra=step.extra,
        )
        for step in procedure.steps
    )
    outline = Outline(
        title=procedure.title.in_language(spoken),
        parts=parts,
        order=procedure.order,
        linked=procedure.order != "independent",
        language=spoken,
        thoughts=(
            f"I know this one: “{procedure.title.in_language(spoken)}” is in my book of procedures.",
            _order(procedure),
        ),
        needs=said(procedure.needs),
        tip=said(procedure.tip),
    )
    if not speaks:
        known = NAMES[language]
        outline = outline.warned(
            PlanWarning(
                "other", f"The book has this in English, German and Chinese, not in {known}: captions are English."
            )
        )
    return outline


def _order(procedure: Procedure) -> str:
    usual = in_words(len(procedure.usual))
    if procedure.order == "independent":
        return f"It has {usual} pictures that do not depend on each other."
    if procedure.order == "cycle":
        return f"It is a cycle of {usual} pictures."
    return f"It is usually told in {usual} steps, each following from the one before."
