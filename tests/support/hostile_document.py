"""A document with somebody's words in every place that words can be."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.document import Document
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import (
    Attempt,
    CheckResult,
    Critique,
    DocumentData,
    DocumentStep,
    ImageBytes,
    ImagePart,
    Plan,
    PlanRecord,
    Problem,
    Request,
    Scores,
    Step,
    StepRecord,
    StyleGuide,
    TextPart,
)


def said_everywhere(store: ArtifactStore, said: Sequence[str], *, title: str | None = None) -> Document:
    """A document that says each of some words in a step of its own, and all of them about itself.

    Args:
        store: Where its parts go.
        said: The words.
        title: Of the document; by default all of the words.
    """
    every = " ".join(said)
    photo = store.put_image(_card("photo"))
    drawn = store.put_image(_card("drawn"))
    request = Request(parts=(TextPart(text=every), ImagePart(image=photo, name=every), *map(_words, said)))
    guide = StyleGuide(look=every, palette=every, characters=every, keep=every)
    steps = tuple(
        Step(index=index, op="edit", title=words, instruction=words, prompt=words, caption=words, sources=("input:0",))
        for index, words in enumerate(said)
    )
    plan = PlanRecord(
        run_id="run",
        request=request,
        settings={"language": said[0]},
        plan=Plan(steps=steps, title=every, style_guide=guide),
    )
    return Document.load(
        DocumentData(
            run_id=every,
            request=request,
            outcome="partial",
            reasons=("failed_step",),
            title=every if title is None else title,
            style_guide=guide,
            steps=tuple(
                DocumentStep(
                    index=index,
                    op="edit",
                    outcome=("exhausted", "backend_failed")[index % 2],
                    title=words,
                    caption=words,
                    image=None if index % 2 else drawn,
                    alt=words,
                    mark=words,
                    attempts=2,
                    kept=None if index % 2 else 1,
                    sources=("input:0",),
                    record=store.put_json(_record(index, words, store).model_dump(mode="json")),
                )
                for index, words in enumerate(said)
            ),
            plan=store.put_json(plan.model_dump(mode="json")),
            problem=_problem(every),
            warnings=tuple(said),
            notes=tuple(said),
        ),
        store,
    )


@functools.cache
def _card(what: str) -> ImageBytes:
    return noise_card(what, side=8)


def _words(text: str) -> TextPart:
    return TextPart(text=text)


def _problem(words: str) -> Problem:
    return Problem(error="BadResponse", message=words, remedy=words)


def _record(index: int, words: str, store: ArtifactStore) -> StepRecord:
    one, two = (store.put_image(_card(f"{number}")) for number in range(2))
    first = Attempt(
        number=0,
        prompt=words,
        image=one,
        references=(two,),
        warnings=(words,),
        checks=(CheckResult(name=words, passed=False, reason=words),),
        critique=Critique(verdict="revise", reasoning=words, refined_prompt=f"{words} more", warnings=(words,)),
    )
    second = Attempt(
        number=1,
        prompt=f"{words} more",
        image=two,
        references=(two,),
        problem=_problem(words),
        critique=Critique(verdict="revise", reasoning=words, refined_prompt=words, scores=Scores(quality=1)),
    )
    failed = bool(index % 2)
    return StepRecord(
        index=index,
        outcome="backend_failed" if failed else "exhausted",
        kept=None if failed else 1,
        attempts=(first, second),
        problem=_problem(words) if failed else None,
    )
