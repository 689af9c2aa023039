"""What a person is shown is a function of the events: hand-made streams, exact words."""

from __future__ import annotations

import pytest
from rich.console import Console, RenderableType

from langgraph_interleave.cli.live import LiveView, plan_view
from langgraph_interleave.cli.plain import PlainView
from langgraph_interleave.cli.progress import RunProgress, StepProgress, said
from langgraph_interleave.cli.recorded import Recorded
from langgraph_interleave.cli.summary import calls_line, clock, cost, outcome_line, status_line, trouble
from langgraph_interleave.events import (
    AttemptEvent,
    Event,
    LimitEvent,
    RunEvent,
    SegmentImage,
    StepEvent,
    WarningEvent,
    segment,
)
from langgraph_interleave.testing import simple_plan
from langgraph_interleave.types import Critique, Plan, Scores, Spend, Step, StyleGuide

RUN = "r"
IMAGE = SegmentImage(uri=f"artifact://{'a' * 64}", sha256="a" * 64, mime="image/png", width=8, height=8)


def started(step: int) -> list[Event]:
    return [StepEvent(run_id=RUN, step=step, phase="start"), segment(RUN, step, "caption", text=f"Caption {step}")]


def drawn(step: int, attempt: int = 0, prompt: str = "better words") -> list[Event]:
    events: list[Event] = [AttemptEvent(run_id=RUN, step=step, attempt=attempt, phase="start", seed=1)]
    if attempt:
        events.append(segment(RUN, step, "refined_prompt", attempt=attempt, text=prompt))
    return [*events, segment(RUN, step, "preview", attempt=attempt, image=IMAGE)]


def judged(step: int, attempt: int = 0, *, fault: str = "") -> list[Event]:
    critique = Critique(verdict="revise" if fault else "accept", reasoning=fault or "fine", scores=Scores(semantics=7))
    return [
        segment(RUN, step, "critique", attempt=attempt, critique=critique),
        AttemptEvent(run_id=RUN, step=step, attempt=attempt, phase="finish", verdict=critique.verdict),
    ]


def kept(step: int, attempt: int = 0) -> list[Event]:
    return [
        segment(RUN, step, "image", attempt=attempt, image=IMAGE),
        StepEvent(run_id=RUN, step=step, phase="finish", outcome="accepted", attempts=attempt + 1),
    ]


def planned(plan: Plan) -> list[Event]:
    return [RunEvent(run_id=RUN, phase="start"), segment(RUN, None, "plan", text="outline", plan=plan)]


def finished(*, replayed: int = 0, wasted: int = 0) -> Event:
    calls = {"planner": 1, "backend": 3, "critic": 3}
    spent = Spend(calls=calls, images=3, seconds=12.3, replayed=replayed, wasted=wasted)
    return RunEvent(run_id=RUN, phase="finish", outcome="complete", steps=2, spend=spent, t=12.4)


def corrected_run() -> list[Event]:
    """Two steps; the second is rejected once."""
    return [
        *planned(simple_plan(2)),
        *started(0), *drawn(0), *judged(0), *kept(0),
        *started(1), *drawn(1), *judged(1, fault="The seed is missing."), *drawn(1, 1), *judged(1, 1), *kept(1, 1),
        finished(),
    ]  # fmt: skip


def shown(view: RenderableType, width: int = 100) -> str:
    console = Console(width=width, force_terminal=False, color_system=None, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(view)
    return captured.get()


def after(events: list[Event]) -> RunProgress:
    progress = RunProgress()
    for event in events:
        progress.update(event)
    return progress


def test_a_verdict_says_which_candidate_it_is_of() -> None:
    view = PlainView()
    lines: list[str] = []
    first, other = (
        judged(0, fault="too small")[0],
        segment(RUN, 0, "critique", attempt=0, candidate=1, critique=Critique(verdict="accept", reasoning="fine")),
    )
    for event in (*planned(simple_plan(1)), *started(0), *drawn(0), first, other):
        lines += view.update(event)
    assert lines[-2:] == ["step 1: judged: revise - too small", "step 1: judged: accept, candidate 2"]


def test_a_step_is_drawn_judged_rewritten_and_kept() -> None:
    progress = RunProgress()
    seen: list[str] = []
    for event in corrected_run():
        progress.update(event)
        words = said(progress.steps[1]) if 1 in progress.steps else ""
        if words and (not seen or seen[-1] != words):
            seen.append(words)
    assert seen == [
        "waiting",
        "drawing",
        "drawn, being judged",
        "judged: revise",
        "rewritten, drawing, attempt 2",
        "drawn, being judged, attempt 2",
        "judged: accept, attempt 2",
        "kept at attempt 2",
    ]


def test_plain_lines_have_the_plan_first_and_one_line_per_change() -> None:
    view = PlainView()
    lines = [line for event in corrected_run() for line in view.update(event)]
    assert lines == [
        "plan: A plan",
        "  1. Step 0",
        "  2. Step 1",
        "step 1: drawing",
        "step 1: drawn, being judged",
        "step 1: judged: accept",
        "step 1: kept",
        "step 2: drawing",
        "step 2: drawn, being judged",
        "step 2: judged: revise - The seed is missing.",
        "step 2: rewritten, drawing, attempt 2 - better words",
        "step 2: drawn, being judged, attempt 2",
        "step 2: judged: accept, attempt 2",
        "step 2: kept at attempt 2 - corrected: The seed is missing.",
    ]


def test_a_step_started_before_the_plan_is_told_after_it() -> None:
    view = PlainView()
    early: list[Event] = [RunEvent(run_id=RUN, phase="start"), *started(0), *drawn(0)]
    assert [line for event in early for line in view.update(event)] == []
    (plan_event,) = planned(simple_plan(1))[1:]
    assert view.update(plan_event) == ["plan: A plan", "  1. Step 0", "step 1: drawn, being judged"]


def test_the_same_events_again_change_nothing() -> None:
    once, twice = after(corrected_run()), after([*corrected_run(), *corrected_run()])
    assert once.calls == twice.calls == {"planner": 1, "backend": 3, "critic": 3}
    assert once.steps == twice.steps
    view = PlainView()
    for event in corrected_run():
        view.update(event)
    assert [line for event in corrected_run() for line in view.update(event)] == []


def test_a_late_event_of_an_earlier_attempt_does_not_turn_a_step_back() -> None:
    events = [*planned(simple_plan(1)), *started(0), *drawn(0), *judged(0, fault="no"), *drawn(0, 1), *drawn(0, 0)]
    step = after(events).steps[0]
    assert (step.phase, step.attempt) == ("judging", 1)


def test_a_check_is_no_call_of_the_critic() -> None:
    critique = Critique(verdict="revise", reasoning="blank", judge="check")
    progress = after([*planned(simple_plan(1)), *drawn(0), segment(RUN, 0, "critique", critique=critique)])
    assert progress.calls == {"planner": 1, "backend": 1, "critic": 0}


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (StepProgress(0, phase="done", outcome="text_only"), "text only"),
        (StepProgress(0, phase="done", outcome="exhausted", kept=1, attempts=3), "kept, not accepted (2 of 3)"),
        (StepProgress(0, phase="done", outcome="exhausted", kept=0, attempts=1), "kept, not accepted"),
        (StepProgress(0, phase="done", outcome="critic_failed", kept=0), "kept, not judged"),
        (StepProgress(0, phase="done", outcome="backend_failed"), "not drawn"),
        (StepProgress(0, phase="done", outcome="blocked"), "blocked"),
        (StepProgress(0, phase="done", outcome="skipped"), "skipped"),
        (StepProgress(0, phase="done", outcome="cancelled"), "cancelled"),
        (StepProgress(0, phase="judged"), "judged: no verdict"),
    ],
)
def test_every_outcome_has_words(step: StepProgress, words: str) -> None:
    assert said(step) == words


def test_the_live_view_shows_plan_steps_time_calls_and_cost() -> None:
    view = LiveView(free=True)
    for event in corrected_run()[:-8]:
        view.update(event)
    text = shown(view.render())
    assert "✔ Step 0" in text
    assert "judged: revise" in text
    assert "The seed is missing." in text
    assert "5 calls (1 plan, 2 drawings, 2 critiques) · no cost" in text
    for event in corrected_run()[-8:]:
        view.update(event)
    text = shown(view.render())
    assert "kept at attempt 2" in text
    assert "corrected: The seed is missing." in text
    assert "12.3 s · 7 calls (1 plan, 3 drawings, 3 critiques) · no cost" in text


def test_while_it_plans_the_latest_thoughts_are_shown() -> None:
    view = LiveView()
    view.update(RunEvent(run_id=RUN, phase="start"))
    view.update(segment(RUN, None, "reasoning", phase="start"))
    for index in range(30):
        view.update(segment(RUN, None, "reasoning", phase="delta", text=f"thought {index} ", offset=0))
    assert "planning  …" in shown(view.render())
    assert "thought 29" in shown(view.render())
    assert "thought 1 " not in shown(view.render())


def test_many_steps_fit_a_low_terminal_with_those_under_way_visible() -> None:
    view = LiveView(height=14)
    events = planned(simple_plan(25))
    for index in range(12):
        events += [*started(index), *drawn(index), *judged(index), *kept(index)]
    events += [*started(12), *drawn(12)]
    for event in events:
        view.update(event)
    text = shown(view.render())
    assert len(text.splitlines()) <= 12
    assert "13 " in text
    assert "drawn, being judged" in text
    assert "… 11 finished steps, 8 to come" in text
    view.height = None
    assert len(shown(view.render()).splitlines()) == 26


def test_warnings_and_limits_are_told_once_and_shortened_when_many() -> None:
    events: list[Event] = [
        *planned(simple_plan(1)),
        LimitEvent(run_id=RUN, limit="max_images", used=3, cap=3),
        *(WarningEvent(run_id=RUN, code="other", message=f"warning {n}", step=0) for n in (1, 2, 3, 3)),
    ]
    progress = after(events)
    assert trouble(progress) == [
        "limit max_images reached: 3 of 3", "step 1: warning 1", "step 1: warning 2", "step 1: warning 3",
    ]  # fmt: skip
    plain = PlainView()
    lines = [line for event in events for line in plain.update(event)]
    assert [line for line in lines if line.startswith("note:")] == [f"note: {line}" for line in trouble(progress)]
    view = LiveView()
    for event in events:
        view.update(event)
    assert "and 2 more notes" in shown(view.render())


ATTACK = "\x1b]0;owned\x07\x1b[2J[link=file:///etc/passwd]x[/link]\nsecond :bomb: line\u202e"


@pytest.mark.parametrize("width", [40, 100])
def test_nothing_from_a_model_reaches_the_terminal_as_a_command(width: int) -> None:
    guide = StyleGuide(look=ATTACK)
    step = Step(index=0, op="generate", title=ATTACK, instruction=ATTACK, prompt=ATTACK, caption=ATTACK)
    plan = Plan(steps=(step,), style_guide=guide, title=ATTACK)
    events = [
        *planned(plan), *started(0), *drawn(0), *judged(0, fault=ATTACK), *drawn(0, 1, prompt=ATTACK),
        segment(RUN, 0, "placeholder", text=ATTACK),
        StepEvent(run_id=RUN, step=0, phase="finish", outcome="backend_failed", attempts=2),
        WarningEvent(run_id=RUN, code="other", message=ATTACK),
    ]  # fmt: skip
    live, plain = LiveView(), PlainView()
    texts = [shown(plan_view(plan), width)]
    for event in events:
        texts.append(shown(live.update(event), width))
        texts += plain.update(event)
    for text in texts:
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "owned" not in text
    assert "[link=file:///etc/passwd]x[/link] second :bomb: line" in "\n".join(texts)


def test_a_run_in_one_line() -> None:
    progress = after(corrected_run())
    assert outcome_line(progress) == "complete · 2 of 2 steps as planned, 1 of them after a correction"
    assert outcome_line(RunProgress()) == "unfinished"
    partial = after([RunEvent(run_id=RUN, phase="finish", outcome="partial", reasons=("limit", "failed_step"))])
    assert outcome_line(partial) == "partial (limit, failed step)"
    waiting = after([RunEvent(run_id=RUN, phase="waiting")])
    assert outcome_line(waiting) == "waiting"


def test_time_calls_and_cost() -> None:
    assert [clock(seconds) for seconds in (0, 59.94, 60, 3601)] == ["0.0 s", "59.9 s", "1 min 0 s", "60 min 1 s"]
    assert cost(None, free=True) == "no cost"
    assert cost(None, free=False) == "cost unknown"
    assert cost(Spend(), free=False) == "no cost", "nothing was called"
    assert cost(Spend(calls={"critic": 1}), free=False) == "cost unknown"
    assert cost(Spend(cost_usd=0.0), free=False) == "no cost"
    assert cost(Spend(cost_usd=0.01234), free=False) == "$0.0123"
    assert cost(Spend(cost_usd=0.5), free=True) == "$0.5000"
    assert status_line(after(corrected_run()[:2]), seconds=1.0, free=False) == "1.0 s · 1 call (1 plan) · cost unknown"
    replayed = after([*corrected_run()[:-1], finished(replayed=6)])
    assert calls_line(replayed) == "7 calls (1 plan, 3 drawings, 3 critiques), 6 of them answered from the ledger"
    wasted = after([*corrected_run()[:-1], finished(wasted=2)])
    assert calls_line(wasted) == "7 calls (1 plan, 3 drawings, 3 critiques), 2 ahead of time and unused"


def test_the_plan_says_what_each_step_builds_on() -> None:
    steps = (
        Step(index=0, op="edit", title="First", instruction="i", prompt="p", sources=("input:1",)),
        Step(index=1, op="text", caption="Only words"),
        Step(index=2, op="edit", title="Last", instruction="i", prompt="p", sources=("step:0", "input:0")),
    )
    text = shown(plan_view(Plan(steps=steps, title="T", style_guide=StyleGuide(look="ink", keep="the cat"))))
    assert text.splitlines() == [
        "T",
        "look: ink",
        "keep: the cat",
        "  1. First  from picture 2",
        "  2. Only words  text only",
        "  3. Last  from step 1, picture 1",
        "",
    ]


def test_a_sketch_is_no_attempt() -> None:
    progress = after([*planned(simple_plan(2)), segment(RUN, 0, "preview", image=IMAGE)])
    assert (progress.steps[0].phase, progress.calls["backend"]) == ("waiting", 0)


def test_a_step_that_is_taken_over_is_not_said_to_be_drawn() -> None:
    view = PlainView()
    for event in planned(simple_plan(1)):
        view.update(event)
    assert [line for event in [*started(0), *kept(0, 1)] for line in view.update(event)] == [
        "step 1: kept at attempt 2"
    ]


def test_of_a_plan_that_was_changed_nothing_old_is_shown() -> None:
    before, now = simple_plan(3), simple_plan(2, text=[1])
    progress = after([*planned(before), *started(0), *drawn(0), *judged(0), *kept(0), *started(1), *drawn(1)])
    progress.update(segment(RUN, None, "plan", attempt=1, text="outline", plan=now))
    assert sorted(progress.steps) == [0, 1]
    assert progress.steps[0].outcome == "accepted", "it is the same step"
    assert (progress.steps[1].phase, progress.steps[1].text_only) == ("waiting", True)
    view = PlainView()
    told = [line for event in [*planned(before), *planned(now)] for line in view.update(event)]
    assert [line for line in told if line.startswith("plan")] == ["plan: A plan", "plan: A plan"]


def test_what_a_reviewer_accepted_is_not_corrected_by_its_own_fault() -> None:
    events = [*started(0), *drawn(0), *judged(0, fault="No seed."), *drawn(0, 1), *judged(0, 1, fault="Still none.")]
    view = PlainView()
    for event in [*planned(simple_plan(1)), *events]:
        view.update(event)
    told = [line for event in kept(0, 1) for line in view.update(event)]
    assert told[-1] == "step 1: kept at attempt 2 - corrected: No seed."


def test_a_reviewers_own_picture_is_said_to_be_that() -> None:
    accepted = Critique(verdict="accept", judge="human")
    events = [
        *planned(simple_plan(2)),
        *started(0), *drawn(0), *judged(0, fault="No seed."), *drawn(0, 1), *judged(0, 1),
        *started(1), *drawn(1), *judged(1, fault="No leaf."), *drawn(1, 1), *judged(1, 1),
        segment(RUN, 0, "critique", attempt=2, critique=accepted), *kept(0, 2),
        segment(RUN, 1, "critique", attempt=1, index=1, critique=accepted), *kept(1, 1),
    ]  # fmt: skip
    view = PlainView()
    told = [line for event in events for line in view.update(event)]
    assert told[-2:] == ["step 1: kept: a reviewer's own picture", "step 2: kept at attempt 2 - corrected: No leaf."]
    words = outcome_line(view.progress)
    assert words.endswith("2 of 2 steps as planned, 1 of them after a correction, 1 of them a reviewer's own")


def replanned(plan: Plan, before: int) -> list[Event]:
    return [segment(RUN, None, "plan", attempt=before, text="outline", plan=plan, before=before)]


def test_what_was_drawn_by_another_plan_is_told_anew() -> None:
    """The steps of the plan that takes its place are drawn from their first attempt, though they read the same."""
    plan = simple_plan(2)
    first = [*started(0), *drawn(0), *judged(0, fault="No seed."), *drawn(0, 1), *judged(0, 1, fault="Still none.")]
    view = PlainView()
    for event in [*planned(plan), *first]:
        view.update(event)
    sketch = segment(RUN, 0, "preview", index=99, image=IMAGE, before=1)
    events = [*replanned(plan, 1), sketch, *started(0), AttemptEvent(run_id=RUN, step=0, attempt=0, phase="start")]
    assert [line for event in events for line in view.update(event)] == ["step 1: drawing"]
    preview = segment(RUN, 0, "preview", image=IMAGE, before=1)
    critique = segment(RUN, 0, "critique", critique=Critique(verdict="accept", reasoning="fine"), before=1)
    image = segment(RUN, 0, "image", image=IMAGE, before=1)
    rest = [preview, critique, image, StepEvent(run_id=RUN, step=0, phase="finish", outcome="accepted", attempts=1)]
    assert [line for event in rest for line in view.update(event)] == [
        "step 1: drawn, being judged", "step 1: judged: accept", "step 1: kept",
    ]  # fmt: skip
    assert view.progress.calls == {"planner": 2, "backend": 3, "critic": 3}
    step = view.progress.steps[0]
    assert (step.kept, step.faults, step.prompt, step.title) == (0, {}, plan.steps[0].prompt, "Step 0")


def test_a_step_that_another_plan_takes_over_is_as_it_was() -> None:
    plan = simple_plan(2)
    view = PlainView()
    done = [*started(0), *drawn(0), *judged(0, fault="No seed."), *drawn(0, 1), *judged(0, 1), *kept(0, 1)]
    for event in [*planned(plan), *done, *started(1), *drawn(1), *judged(1, fault="No leaf.")]:
        view.update(event)
    other = plan.model_copy(update={"steps": (plan.steps[0], plan.steps[1].model_copy(update={"prompt": "a leaf"}))})
    events = [*replanned(other, 1), *started(0), segment(RUN, 0, "image", attempt=1, image=IMAGE, before=1)]
    events += [StepEvent(run_id=RUN, step=0, phase="finish", outcome="accepted", attempts=2), *started(1), *drawn(1)]
    told = [line for event in events for line in view.update(event)]
    assert told[-1] == "step 2: drawn, being judged" and not any(line.startswith("step 1") for line in told)
    assert said(view.progress.steps[0]) == "kept at attempt 2"


def test_a_run_that_waits_has_counted_exactly_and_goes_on() -> None:
    spend = Spend(calls={"planner": 2, "backend": 1, "critic": 1}, seconds=2)
    progress = after([*planned(simple_plan(1)), RunEvent(run_id=RUN, phase="waiting", outcome="waiting", spend=spend)])
    assert outcome_line(progress).startswith("waiting")
    assert calls_line(progress) == "4 calls (2 plans, 1 drawing, 1 critique)"
    assert status_line(progress, seconds=0.1, free=True).startswith("2.0 s · ")
    progress.go_on()
    assert progress.outcome is None
    progress.update(StepEvent(run_id=RUN, step=0, phase="start", t=0.5))
    assert progress.seconds == 2.5, "of the whole run, not of what came after the answer"
    assert calls_line(progress) == "4 calls (2 plans, 1 drawing, 1 critique)"


def test_what_was_recorded_before_is_not_told_as_if_it_were_made_again() -> None:
    made = [("backend", 0, 0), ("critic", 0, 0), ("backend", 1, 0), ("critic", 1, 0), ("backend", 1, 1)]
    calls = [{"role": role, "step": step, "attempt": attempt, "status": "finished"} for role, step, attempt in made]
    view = PlainView()
    view.progress.recorded = Recorded([*calls, {"role": "critic", "step": 1, "attempt": 1, "status": "started"}])
    told = [line for event in corrected_run() for line in view.update(event)]
    assert [line for line in told if line.startswith("step")] == [
        "step 1: kept, from before",
        "step 2: drawn, being judged, attempt 2",
        "step 2: judged: accept, attempt 2",
        "step 2: kept at attempt 2 - corrected: The seed is missing.",
    ]


def test_of_a_step_that_is_planned_anew_only_the_old_drawing_was_there_before() -> None:
    calls = [{"role": role, "step": 0, "attempt": 0, "status": "finished"} for role in ("backend", "critic")]
    view = PlainView()
    view.progress.recorded = Recorded(calls)
    other = simple_plan(1).model_copy(update={"title": "Another"})
    events = [*planned(simple_plan(1)), *started(0), *drawn(0), *judged(0, fault="No.")]
    assert not [line for event in events for line in view.update(event) if line.startswith("step")]
    anew = segment(RUN, None, "plan", text="another outline", plan=other, attempt=1)
    told = [line for event in (anew, *drawn(0), *judged(0), *kept(0)) for line in view.update(event)]
    assert [line for line in told if line.startswith("step")] == [
        "step 1: drawing",
        "step 1: drawn, being judged",
        "step 1: judged: accept",
        "step 1: kept",
    ]


def test_where_nobody_judges_nothing_is_said_of_it() -> None:
    view = PlainView()
    view.progress.judges = False
    told = [line for event in (*planned(simple_plan(1)), *started(0), *drawn(0), *judged(0), *kept(0))
            for line in view.update(event)]  # fmt: skip
    assert [line for line in told if line.startswith("step")] == ["step 1: drawing", "step 1: drawn", "step 1: kept"]
