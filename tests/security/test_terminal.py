"""A run told in a terminal: redrawn, in plain lines, and as JSON: the terminal obeys us alone."""

from __future__ import annotations

import io
import re

import pytest
from hostile import sampled
from hostile_words import MARKUP
from rich.console import Console

from langgraph_interleave.cli.live import LiveView, plan_view
from langgraph_interleave.cli.screen import JsonScreen, PlainScreen
from langgraph_interleave.events import AttemptEvent, Event, RunEvent, SegmentImage, StepEvent, WarningEvent, segment
from langgraph_interleave.types import Critique, Plan, Step, StyleGuide

RUN = "r"
IMAGE = SegmentImage(uri=f"artifact://{'a' * 64}", sha256="a" * 64, mime="image/png", width=8, height=8)
#: Colours, which are ours; how rich ends a line.
OURS = re.compile(r"\x1b\[[0-9;]*m")
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def told(words: str) -> list[Event]:
    """The events of a run all of whose words are these."""
    step = Step(index=0, op="generate", title=words, caption=words, instruction=words, prompt=words)
    guide = StyleGuide(look=words, palette=words, characters=words, keep=words)
    plan = Plan(title=words, style_guide=guide, steps=(step,))
    critique = Critique(verdict="revise", reasoning=words, refined_prompt=words, warnings=(words,))
    return [
        RunEvent(run_id=RUN, phase="start"),
        segment(RUN, None, "reasoning", text=words),
        segment(RUN, None, "plan", text=words, plan=plan),
        WarningEvent(run_id=RUN, code="note", message=words),
        WarningEvent(run_id=RUN, code="backend", message=words, step=0),
        StepEvent(run_id=RUN, step=0, phase="start"),
        segment(RUN, 0, "caption", text=words),
        AttemptEvent(run_id=RUN, step=0, attempt=0, phase="start", seed=1),
        segment(RUN, 0, "preview", attempt=0, image=IMAGE),
        segment(RUN, 0, "critique", attempt=0, critique=critique),
        AttemptEvent(run_id=RUN, step=0, attempt=0, phase="finish", verdict="revise"),
        AttemptEvent(run_id=RUN, step=0, attempt=1, phase="start", seed=2),
        segment(RUN, 0, "refined_prompt", attempt=1, text=f"{words} and more"),
        segment(RUN, 0, "preview", attempt=1, image=IMAGE),
        StepEvent(run_id=RUN, step=0, phase="finish", outcome="backend_failed", attempts=2),
        RunEvent(run_id=RUN, phase="finish", outcome="partial"),
    ]


@pytest.mark.parametrize("words", sampled(MARKUP))
def test_the_terminal_obeys_us_alone(words: str) -> None:
    events = told(words)
    lines, data, errors, redrawn = (io.StringIO() for _ in range(4))
    for screen in (PlainScreen(lines, free=True), JsonScreen(data, errors)):
        for event in events:
            screen.event(event)
        screen.finish()
    console = Console(file=redrawn, force_terminal=True, width=100, color_system="truecolor", legacy_windows=False)
    live = LiveView(free=True)
    for event in events:
        console.print(live.update(event))
    assert live.progress.plan is not None
    console.print(plan_view(live.progress.plan))
    for stream in (lines, data, errors, redrawn):
        found = OBEYED.search(OURS.sub("", stream.getvalue()))
        assert found is None, (found, stream.getvalue()[max(0, found.start() - 40) : found.end() + 40])
    assert "step 0" in redrawn.getvalue() or "note:" in redrawn.getvalue()
    assert len(data.getvalue().splitlines()) == len(events)
    # No link that a terminal opens, and no more colours than our own styles have.
    assert "\x1b]8" not in redrawn.getvalue() and "\x1b[31;1;5m" not in redrawn.getvalue()
