"""The three ways a run is told: redrawn in a terminal, as plain lines, as JSON."""

from __future__ import annotations

import io
import sys
import time
from typing import Any, Protocol, TextIO

from langgraph_interleave.cli.plain import PlainView
from langgraph_interleave.cli.progress import RunProgress
from langgraph_interleave.cli.summary import outcome_line, status_line
from langgraph_interleave.cli.wording import json_line, one_line
from langgraph_interleave.events import Event, RunEvent, to_dict
from langgraph_interleave.types import Plan


class Screen(Protocol):
    """Where a run is told."""

    progress: RunProgress

    def start(self) -> None:
        """The run begins."""
        ...

    def event(self, event: Event) -> None:
        """Something happened."""
        ...

    def tick(self) -> None:
        """Time has passed; called some ten times a second."""
        ...

    def say(self, line: str) -> None:
        """A line of ours beside the run: which folder, that it is stopping."""
        ...

    def pause(self) -> None:
        """Somebody is asked: the terminal is theirs until `go_on`."""
        ...

    def go_on(self) -> None:
        """There is an answer, and the run goes on."""
        ...

    def left(self, questions: list[dict[str, Any]], lines: list[str]) -> None:
        """The run has ended with questions that nobody answered: as data, and in lines."""
        ...

    def finish(self) -> None:
        """The run has ended, one way or another; safe to call twice."""
        ...


class PlainScreen:
    """Plain lines on a stream."""

    def __init__(self, stream: TextIO, *, free: bool) -> None:
        self._stream = stream
        self._free = free
        self._view = PlainView()
        self.progress = self._view.progress
        self._finished = False

    def start(self) -> None:
        """Nothing to say yet."""

    def event(self, event: Event) -> None:
        """Write the lines an event adds."""
        for line in self._view.update(event):
            self.say(line)

    def tick(self) -> None:
        """Nothing moves here."""

    def say(self, line: str) -> None:
        """Write a line at once."""
        print(one_line_kept(line), file=self._stream, flush=True)

    def pause(self) -> None:
        """Nothing is in the way."""

    def go_on(self) -> None:
        """What was waiting is under way again."""
        self.progress.go_on()

    def left(self, questions: list[dict[str, Any]], lines: list[str]) -> None:
        """Write the lines."""
        for line in lines:
            self.say(line)

    def finish(self) -> None:
        """Write how it ended."""
        if self._finished:
            return
        self._finished = True
        self.say(outcome_line(self.progress))
        self.say(status_line(self.progress, seconds=self.progress.seconds, free=self._free))


class JsonScreen:
    """One event a line, as JSON, on stdout; everything else goes to stderr."""

    def __init__(self, stream: TextIO, errors: TextIO) -> None:
        self._stream = stream
        self._errors = errors
        self.progress = RunProgress()
        self._ended = False

    def start(self) -> None:
        """Nothing to say."""

    def event(self, event: Event) -> None:
        """Write the event."""
        self._ended = isinstance(event, RunEvent) and event.phase != "start"
        self.progress.update(event)
        print(json_line(to_dict(event)), file=self._stream, flush=True)

    def tick(self) -> None:
        """Nothing moves here."""

    def say(self, line: str) -> None:
        """Write to stderr."""
        print(one_line_kept(line), file=self._errors, flush=True)

    def pause(self) -> None:
        """Nothing is in the way."""

    def go_on(self) -> None:
        """What was waiting is under way again."""
        self.progress.go_on()

    def left(self, questions: list[dict[str, Any]], lines: list[str]) -> None:
        """Write each question as JSON, and how to go on to stderr."""
        for question in questions:
            line = {"type": "question", "run_id": self.progress.run_id, **question}
            print(json_line(line), file=self._stream, flush=True)
        for line in lines:
            self.say(line)

    def finish(self) -> None:
        """The last event has said it all; where the run was cut off before that, it is said here."""
        known = self.progress
        if not self._ended and known.run_id is not None and known.outcome is not None:
            self.event(RunEvent(run_id=known.run_id, phase="finish", outcome=known.outcome, t=known.seconds))


class LiveScreen:
    """A view that is redrawn in place; the plan stays above it."""

    def __init__(self, stream: TextIO, *, free: bool) -> None:
        from rich.console import Console
        from rich.live import Live

        from langgraph_interleave.cli.live import LiveView, plan_view

        self._plan_view = plan_view
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._view = LiveView(free=free, height=self._console.height)
        self.progress = self._view.progress
        self._live = Live(console=self._console, auto_refresh=False, transient=True, vertical_overflow="ellipsis")
        self._planned: Plan | None = None
        self._began = time.monotonic()
        self._paused: float | None = None
        self._finished = False

    def start(self) -> None:
        """Take over the lower part of the terminal."""
        self._began = time.monotonic()
        self._live.start()

    def event(self, event: Event) -> None:
        """Take it in; it is drawn with the next tick."""
        self._view.update(event)
        if self.progress.plan is not None and self.progress.plan != self._planned:
            self._planned = self.progress.plan
            self._live.console.print(self._plan_view(self.progress.plan))
            self.tick()

    def tick(self) -> None:
        """Redraw."""
        self._view.height = self._console.height
        self._live.update(self._view.render(seconds=time.monotonic() - self._began), refresh=True)

    def say(self, line: str) -> None:
        """Print above the view."""
        from rich.text import Text

        self._console.print(Text(one_line_kept(line)))

    def pause(self) -> None:
        """Take the view away; its clock stands still."""
        if self._paused is None:
            self._paused = time.monotonic()
            self._live.stop()

    def go_on(self) -> None:
        """Show the view again."""
        self.progress.go_on()
        if self._paused is not None:
            self._began += time.monotonic() - self._paused
            self._paused = None
            self._live.start()

    def left(self, questions: list[dict[str, Any]], lines: list[str]) -> None:
        """Write the lines."""
        for line in lines:
            self.say(line)

    def finish(self) -> None:
        """Give the terminal back and leave the whole view standing."""
        from rich.text import Text

        if self._finished:
            return
        self._finished = True
        if self._paused is not None:
            self._began += time.monotonic() - self._paused
        # An empty last frame: the transient view is erased line by line, and a folded one would stay.
        self._live.stop()
        self._view.height = None
        self._console.print(self._view.render(seconds=time.monotonic() - self._began))
        self._console.print(Text(f"  {outcome_line(self.progress)}", style="bold"))


def open_screen(*, events: bool, free: bool) -> Screen:
    """The screen that suits: JSON when asked for, redrawn in a terminal, else plain lines."""
    if events:
        _speak_utf8(sys.stdout)
        return JsonScreen(sys.stdout, sys.stderr)
    tolerate(sys.stdout)
    if can_redraw(sys.stdout):
        return LiveScreen(sys.stdout, free=free)
    return PlainScreen(sys.stdout, free=free)


def can_redraw(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose lines can be drawn again."""
    import os

    return stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


def one_line_kept(line: str) -> str:
    """A line of ours, made of parts that may be a user's: cleaned, indentation kept."""
    return " " * (len(line) - len(line.lstrip(" "))) + one_line(line)


def _speak_utf8(stream: TextIO) -> None:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def tolerate(stream: TextIO) -> None:
    """A terminal that cannot show a character gets a question mark instead of a crash."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
