"""The run as plain lines, for files, pipes and terminals that cannot be redrawn."""

from __future__ import annotations

from langgraph_interleave.cli.progress import RunProgress, StepProgress, said
from langgraph_interleave.cli.summary import trouble
from langgraph_interleave.cli.wording import news, one_line
from langgraph_interleave.events import Event
from langgraph_interleave.types import Plan

_WIDTH = 200


class PlainView:
    """Turns events into lines: the plan first, then one line for each change of a step."""

    def __init__(self) -> None:
        self.progress = RunProgress()
        self._planned: Plan | None = None
        self._told: dict[int, str] = {}
        self._troubles: set[str] = set()

    def update(self, event: Event) -> list[str]:
        """Take in one event; return the lines it adds, often none.

        Nothing is said of steps before the plan is known: they would come before it.
        """
        self.progress.update(event)
        lines: list[str] = []
        if self.progress.plan is not None and self.progress.plan != self._planned:
            self._planned = self.progress.plan
            lines += plan_lines(self.progress.plan)
        if self._planned is not None:
            for step in self.progress.in_order():
                if step.phase == "waiting":
                    self._told.pop(step.index, None)  # of an earlier plan
                line = step_line(step)
                if worth_telling(step) and self._told.get(step.index) != line:
                    self._told[step.index] = line
                    lines.append(line)
        new = [line for line in trouble(self.progress) if line not in self._troubles]
        self._troubles.update(new)
        return lines + [f"note: {line}" for line in new]


def worth_telling(step: StepProgress) -> bool:
    """Whether a step's state is news: not while it waits, nor before its refined prompt is known.

    What was answered before is no news until the step is done.
    """
    if step.recalled and step.phase != "done":
        return False
    return step.phase != "waiting" and not (step.phase == "rewritten" and step.refined_for != step.attempt)


def plan_lines(plan: Plan) -> list[str]:
    """The plan: its title, what the pictures share, and the steps."""
    lines = [f"plan: {one_line(plan.title)}" if plan.title else "plan:"]
    for step in plan.steps:
        title = one_line(step.title or step.caption or step.instruction or "", _WIDTH)
        lines.append(f"  {step.index + plan.first_number}. {title}{' (text only)' if step.op == 'text' else ''}")
    guide = plan.style_guide
    for name, text in (("look", guide.look), ("palette", guide.palette), ("keep", guide.keep)):
        if text:
            lines.append(f"  {name}: {one_line(text, _WIDTH)}")
    return lines


def step_line(step: StepProgress) -> str:
    """One line about a step: its number, its state, and why."""
    line = f"step {step.number}: {said(step)}"
    why = reason(step)
    return f"{line} - {one_line(why, _WIDTH)}" if why else line


def reason(step: StepProgress) -> str:
    """Why a step is as it is: the critic's words, the refined prompt, or what went wrong."""
    if step.phase == "rewritten":
        return news(step.prompt, step.refined_prompt or "")
    if step.phase == "judged" and step.critique is not None and step.critique.verdict == "revise":
        return step.fault
    if step.phase == "done":
        if step.is_own:
            return ""  # nothing that was drawn, and nothing of it corrected
        if step.outcome == "accepted" and step.kept:
            # Not of the kept one: a reviewer may have accepted what the critic rejected.
            faults = [fault for attempt, fault in sorted(step.faults.items()) if attempt < step.kept]
            return f"corrected: {faults[-1]}" if faults and faults[-1] else ""
        # The fault of the picture that is shown, not of the last one.
        kept = step.faults.get(step.kept, step.fault) if step.kept is not None else step.fault
        return step.reason or (kept if step.outcome == "exhausted" else "")
    return ""
