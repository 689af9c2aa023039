"""The run as a picture that is redrawn in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from langgraph_interleave.cli.plain import reason
from langgraph_interleave.cli.progress import RunProgress, StepProgress, said
from langgraph_interleave.cli.summary import status_line, trouble
from langgraph_interleave.cli.wording import count, one_line
from langgraph_interleave.events import Event
from langgraph_interleave.types import Plan

#: Lines of the view that are not steps: status, thinking, warnings, folded steps.
_BESIDES = 8
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_MARKS = {
    "waiting": ("·", "dim"),
    "drawing": ("✎", "cyan"),
    "judging": ("?", "cyan"),
    "judged": ("!", "yellow"),
    "rewritten": ("↻", "yellow"),
}


class LiveView:
    """What a person sees: a pure function of the events so far, and of the time for its clock.

    Args:
        free: Whether nothing in this run is billed.
        height: Lines of the terminal; finished steps are folded when there are too few.
    """

    def __init__(self, *, free: bool = False, height: int | None = None) -> None:
        self.progress = RunProgress()
        self.free = free
        self.height = height

    def update(self, event: Event) -> RenderableType:
        """Take in one event and draw."""
        self.progress.update(event)
        return self.render()

    def render(self, *, seconds: float | None = None) -> RenderableType:
        """Draw.

        Args:
            seconds: Since the run began; by default the time of the last event.
        """
        shown = self.progress.seconds if seconds is None else seconds
        parts: list[RenderableType] = []
        if self.progress.plan is None and self.progress.outcome is None:
            parts.append(self._planning(shown))
        rows, folded = self._fold(self.progress.in_order())
        if folded:
            parts.append(Text(f"  … {folded}", style="dim"))
        if rows:
            parts.append(self._table(rows, shown))
        parts += [Text(f"  note: {line}", style="yellow", overflow="ellipsis", no_wrap=True) for line in self._notes()]
        parts.append(Text(f"  {status_line(self.progress, seconds=shown, free=self.free)}", style="dim"))
        return Group(*parts)

    def _notes(self) -> list[str]:
        notes = trouble(self.progress)
        return notes if len(notes) <= 3 else [*notes[:2], f"and {count(len(notes) - 2, 'more note')}"]

    def _planning(self, seconds: float) -> RenderableType:
        text = Text("  ")
        text.append(_spin(seconds), style="cyan")
        text.append(" planning")
        thinking = one_line(self.progress.thinking)
        if thinking:
            # The latest words are the news.
            text.append(f"  {thinking if len(thinking) <= 60 else '…' + thinking[-59:]}", style="dim")
        text.no_wrap, text.overflow = True, "ellipsis"
        return text

    def _table(self, rows: Sequence[StepProgress], seconds: float) -> RenderableType:
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=2)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=3)
        for step in rows:
            mark, style = _mark(step)
            if step.phase in ("drawing", "judging", "rewritten") and self.progress.outcome is None:
                mark = _spin(seconds + step.index * 0.3)
            table.add_row(
                Text(f"{step.number}", style="dim"),
                Text(mark, style=style),
                Text(one_line(step.title or f"step {step.number}")),
                Text(said(step), style=style),
                Text(one_line(reason(step)), style="dim"),
            )
        return Padding(table, (0, 0, 0, 1))

    def _fold(self, steps: list[StepProgress]) -> tuple[list[StepProgress], str]:
        """The steps that fit, those under way first; and words for the others."""
        room = None if self.height is None else max(self.height - _BESIDES, 3)
        if room is None or len(steps) <= room:
            return steps, ""
        active = [step for step in steps if step.phase not in ("waiting", "done")]
        waiting = [step for step in steps if step.phase == "waiting"]
        done = [step for step in steps if step.phase == "done"]
        chosen = (active + waiting[: max(room - len(active) - 1, 0)])[:room]
        if len(chosen) < room:
            chosen += done[-(room - len(chosen)) :]
        shown = {step.index for step in chosen}
        hidden_done = sum(1 for step in done if step.index not in shown)
        hidden = len(steps) - len(shown) - hidden_done
        words = [count(hidden_done, "finished step")] if hidden_done else []
        words += [f"{hidden} to come"] if hidden else []
        return [step for step in steps if step.index in shown], ", ".join(words)


def plan_view(plan: Plan) -> RenderableType:
    """The plan, printed once above everything else."""
    lines: list[RenderableType] = []
    if plan.title:
        lines.append(Text(one_line(plan.title), style="bold"))
    guide = plan.style_guide
    shared = [
        (name, text) for name, text in (("look", guide.look), ("palette", guide.palette), ("keep", guide.keep)) if text
    ]
    lines += [Text(f"{name}: {one_line(text)}", style="dim") for name, text in shared]
    for step in plan.steps:
        title = one_line(step.title or step.caption or step.instruction or "")
        line = Text(f"{step.index + plan.first_number:3}. {title}")
        if step.op == "text":
            line.append("  text only", style="dim")
        elif step.sources:
            line.append(f"  from {', '.join(_source(source) for source in step.sources)}", style="dim")
        lines.append(line)
    return Group(*lines, Text(""))


def _source(source: str) -> str:
    kind, _, number = source.partition(":")
    return f"{'picture' if kind == 'input' else 'step'} {int(number) + 1}"


def _mark(step: StepProgress) -> tuple[str, str]:
    if step.phase == "done":
        if step.outcome in ("accepted", "text_only"):
            return "✔", "green"
        return ("~", "yellow") if step.outcome in ("exhausted", "critic_failed") else ("✗", "red")
    if step.phase == "judged" and step.critique is not None and step.critique.verdict == "accept":
        return "✔", "green"
    return _MARKS[step.phase]


def _spin(seconds: float) -> str:
    return _SPINNER[int(seconds * 10) % len(_SPINNER)]
