"""A document from the events alone, for a run that could not compose its own."""

from __future__ import annotations

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.progress import RunProgress
from langgraph_interleave.cli.rescue import rescue
from langgraph_interleave.events import Event, SegmentImage, StepEvent, segment
from langgraph_interleave.testing import noise_card, simple_plan
from langgraph_interleave.types import ArtifactRef, Request, StepOutcome, TextPart

REQUEST = Request(parts=(TextPart(text="a bean"),))


def told(*events: Event) -> RunProgress:
    progress = RunProgress()
    for event in events:
        progress.update(event)
    return progress


def kept(step: int, ref: ArtifactRef, outcome: StepOutcome = "accepted") -> list[Event]:
    return [
        segment("r", step, "image", attempt=1, image=SegmentImage.of(ref)),
        StepEvent(run_id="r", step=step, phase="finish", outcome=outcome, attempts=2),
    ]


def test_kept_pictures_and_all_captions_are_there() -> None:
    artifacts = ArtifactStore.memory()
    ref = artifacts.put_image(noise_card("a cat"))
    plan = simple_plan(3, text=[1])
    progress = told(segment("r", None, "plan", plan=plan), *kept(0, ref))
    document = rescue(progress, REQUEST, artifacts, run_id="r")
    assert document.outcome == "cancelled"
    assert [step.outcome for step in document.steps] == ["accepted", "text_only", "cancelled"]
    assert [step.caption for step in document.steps] == [step.caption for step in plan.steps]
    first, words, last = document.steps
    assert (first.image, first.kept, first.attempts, first.mark) == (ref, 1, 2, None)
    assert (words.image, words.mark) == (None, None)
    assert last.image is None
    assert last.mark == "The run was stopped before this picture was kept."


def test_a_picture_that_is_not_in_the_store_is_not_claimed() -> None:
    ref = ArtifactStore.memory().put_image(noise_card("a cat"))
    progress = told(segment("r", None, "plan", plan=simple_plan(1)), *kept(0, ref, "exhausted"))
    (step,) = rescue(progress, REQUEST, ArtifactStore.memory(), run_id="r").steps
    assert (step.outcome, step.image, step.kept) == ("cancelled", None, None)
    assert step.mark


def test_the_reason_for_a_missing_picture_is_kept() -> None:
    events = [
        segment("r", None, "plan", plan=simple_plan(1)),
        segment("r", 0, "placeholder", text="The provider refused."),
        StepEvent(run_id="r", step=0, phase="finish", outcome="blocked", attempts=1),
    ]
    (step,) = rescue(told(*events), REQUEST, ArtifactStore.memory(), run_id="r", outcome="failed").steps
    assert (step.outcome, step.mark) == ("blocked", "The provider refused.")


def test_before_the_plan_the_steps_that_were_started_are_there() -> None:
    artifacts = ArtifactStore.memory()
    ref = artifacts.put_image(noise_card("a cat"))
    started = [StepEvent(run_id="r", step=0, phase="start"), segment("r", 0, "caption", text="A cat sits.")]
    document = rescue(told(*started, *kept(0, ref)), REQUEST, artifacts, run_id="r")
    (step,) = document.steps
    assert (step.caption, step.outcome, step.image) == ("A cat sits.", "accepted", ref)
    assert rescue(told(), REQUEST, artifacts, run_id="r").steps == ()
