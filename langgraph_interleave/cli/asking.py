"""A person asked in the terminal: what is asked is shown, and short commands answer it."""

from __future__ import annotations

import math
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from langgraph_interleave.cli.asked import estimate_lines, heading, step_lines, undone_lines
from langgraph_interleave.cli.pictures import Shown, half_blocks
from langgraph_interleave.cli.pipe import is_gone, mute, quietly
from langgraph_interleave.cli.planedit import PlanEdit
from langgraph_interleave.cli.reviewing import Left
from langgraph_interleave.cli.wording import one_line
from langgraph_interleave.errors import ConfigError, InterleaveError
from langgraph_interleave.raising import suggested_caps

Question = Mapping[str, Any]

_PLAN_HELP = """\
a            accept: it is drawn        r WORDS      remark: the planner is asked again
d 3          delete step 3              m 3 1        move step 3 to place 1
w 2 WORDS    caption of step 2          t 2 WORDS    its title
i 2 WORDS    what its picture shows     n 2 WORDS    a new step in words after step 2
e            edit in $EDITOR            u            undo
l            list it again              x            cancel: nothing is drawn
q            leave it waiting"""
_STEP_HELP = """\
a            accept                     a 2          accept attempt 2
r WORDS      remark: drawn again        g            again: the same, with another seed
p WORDS      draw it again from a prompt of your own
o FILE       your own picture           s            skip: no picture
v 1          view attempt 1             q            leave it waiting"""
_NAMES = {
    "accept": "a", "yes": "a", "y": "a", "remark": "r", "revise": "r", "delete": "d", "move": "m", "caption": "w",
    "word": "w", "reword": "w", "title": "t", "insert": "n", "new": "n", "edit": "e", "undo": "u", "list": "l",
    "cancel": "x", "quit": "q", "exit": "q", "again": "g", "prompt": "p", "own": "o", "replace": "o", "skip": "s",
    "view": "v", "show": "v", "instruction": "i", "help": "?", "h": "?",
}  # fmt: skip


class Person:
    """Asks whoever sits at the terminal.

    Args:
        console: The terminal.
        shown: Where the pictures are.
        read: Reads a line; raises `EOFError` when there are none any more.
        edit: Has a text changed in an editor.
    """

    def __init__(
        self,
        console: Console,
        shown: Shown,
        *,
        read: Callable[[str], str] = input,
        edit: Callable[[str], str] | None = None,
    ) -> None:
        self._console = console
        self._shown = shown
        self._read = read
        self._edit = edit or edit_text
        self._plan: PlanEdit | None = None

    def ask(self, question: Question, *, place: int, many: int) -> dict[str, Any]:
        """Ask one question until there is an answer.

        Raises:
            Left: Whoever is there leaves it waiting.
        """
        if question.get("error"):
            self._say(f"That could not be used: {one_line(question['error'])}", style="yellow")
        try:
            if question["ask"] == "plan":
                return self._ask_plan(question)
            if question["ask"] == "limit":
                return self._ask_limit(question)
            return self._ask_step(question, place, many)
        except (EOFError, KeyboardInterrupt):
            quietly(self._console.print)
            raise Left from None
        except OSError as error:
            if not is_gone(error):
                raise
            mute()  # the terminal was closed
            raise Left from None

    # --- a plan -------------------------------------------------------------------------------

    def _ask_plan(self, question: Question) -> dict[str, Any]:
        edit = self._plan
        if edit is None or "error" not in question:
            # What was changed by hand stays where the answer could not be used.
            edit = self._plan = PlanEdit(question)
        self._show_plan(question, edit)

        def act(command: str, rest: str) -> dict[str, Any] | None:
            if command == "a":
                return edit.review()
            if command == "x":
                return {"decision": "cancel"}
            if command == "r":
                if edit.changed:
                    raise ConfigError(
                        "You have changed the plan by hand, and the planner would not see that.",
                        remedy="Accept it with a, or take your changes back with u.",
                    )
                return {"decision": "revise", "remark": _words(rest, "r the third step should come first")}
            self._change(edit, command, rest)
            self._show_plan(question, edit, whole=command == "l")
            return None

        return self._converse("plan", act, known="axrdmwtinelu", says=_PLAN_HELP)

    def _change(self, edit: PlanEdit, command: str, rest: str) -> None:
        """One of the commands that change the plan."""
        if command == "d":
            edit.delete(_number(rest, "d 3"))
        elif command == "m":
            first, _, second = rest.partition(" ")
            edit.move(_number(first, "m 3 1"), _number(second, "m 3 1"))
        elif command == "u":
            edit.undo()
        elif command == "e":
            self._edited(edit)
        elif command != "l":
            example = f"{command} 2 new words"
            number, _, words = rest.partition(" ")
            if command == "n":
                edit.insert(_number(number, example), _words(words, example))
            else:
                name = {"w": "caption", "t": "title", "i": "instruction"}[command]
                edit.reword(_number(number, example), **{name: _words(words, example)})

    def _edited(self, edit: PlanEdit) -> None:
        text = edit.text()
        while True:
            text = self._edit(text)
            try:
                edit.read(text)
                return
            except ConfigError as error:
                self._say(one_line(str(error)), style="yellow")
                if self._read("Enter edits it again, c leaves it: ").strip().lower() == "c":
                    return

    def _show_plan(self, question: Question, edit: PlanEdit, *, whole: bool = True) -> None:
        """The steps as they are by now; the whole of it has also what the pictures show, sketches and the cost."""
        steps = {step["step"]: step for step in question["steps"]}
        self._console.print()
        self._say(one_line(edit.title) or "The plan", style="bold")
        for place, entry in enumerate(edit.entries):
            step = steps.get(entry.step, {})
            line = Text(
                f"{place + edit.first:3}. {one_line(entry.words.get('title') or entry.words.get('caption', ''))}"
            )
            if entry.step is None:
                line.append("  new", style="green")
            elif entry != edit.was[entry.step]:
                line.append("  changed", style="green")
            self._console.print(line)
            if entry.words.get("title") and entry.words.get("caption"):
                self._console.print(Padding(Text(one_line(entry.words["caption"])), (0, 0, 0, 5)))
            if not whole:
                continue
            if entry.words.get("instruction"):
                self._console.print(Padding(Text(one_line(entry.words["instruction"], 240), style="dim"), (0, 0, 0, 5)))
            if step.get("file"):
                self._console.print(Text(f"     {step['file']}", style="dim"))
        if not whole:
            return
        self._show_sketches(edit, steps)
        for line in estimate_lines(question):
            self._say(line, style="dim")

    def _show_sketches(self, edit: PlanEdit, steps: Mapping[Any, Mapping[str, Any]]) -> None:
        sketches: list[RenderableType] = []
        for place, entry in enumerate(edit.entries):
            picture = self._picture(steps.get(entry.step, {}).get("sketch"), columns=24, lines=10)
            if picture is not None:
                sketches.append(Group(Text(f"step {place + edit.first}", style="dim"), picture))
        if sketches:
            self._console.print(Columns(sketches, padding=(0, 2)))

    # --- a step -------------------------------------------------------------------------------

    def _ask_step(self, question: Question, place: int, many: int) -> dict[str, Any]:
        self._console.print()
        self._say(heading(question) + (f"  ({place} of {many})" if many > 1 else ""), style="bold")
        for line in step_lines(question):
            self._say(f"  {line}")
        self._show_attempt(question, question.get("attempt"))

        def act(command: str, rest: str) -> dict[str, Any] | None:
            if command == "a":
                return {"decision": "accept", **({"attempt": _attempt(question, rest, "a 2")} if rest else {})}
            if command == "r":
                return {"decision": "revise", "remark": _words(rest, "r the seed is missing")}
            if command == "g":
                return {"decision": "revise"}
            if command == "p":
                return {"decision": "revise", "prompt": _words(rest, "p a bean in a pot")}
            if command == "o":
                return {"decision": "replace", "image": _words(rest, "o photo.png").strip("'\"")}
            if command == "s":
                return {"decision": "skip", **({"remark": rest} if rest else {})}
            self._show_attempt(question, _attempt(question, rest, "v 1"))
            return None

        return self._converse(f"step {question['number']}", act, known="argposv", says=_STEP_HELP)

    def _show_attempt(self, question: Question, number: int | None) -> None:
        attempt = next((one for one in question["attempts"] if one["attempt"] == number), {})
        picture = self._picture(attempt.get("image"), columns=min(self._console.width - 4, 64), lines=24)
        if picture is not None:
            self._console.print(Padding(picture, (0, 0, 0, 2)))
        if attempt.get("file"):
            self._say(f"  {attempt['file']}", style="dim")

    # --- a limit ------------------------------------------------------------------------------

    def _ask_limit(self, question: Question) -> dict[str, Any]:
        self._console.print()
        self._say(heading(question), style="bold")
        for line in undone_lines(question):
            self._say(f"  {line}")
        for line in estimate_lines(question):
            self._say(f"  {line}", style="dim")
        suggested = suggested_caps(question)
        name, first = next(iter(suggested.items()), (question["limit"], None))
        asked = "f finishes, q leaves it waiting > " if first is None else f"raise to [{first:g}], or finish? "
        while True:
            word, _, rest = self._read(asked).strip().lower().partition(" ")
            try:
                if word in ("q", "quit", "exit"):
                    raise Left
                if word in ("f", "finish", "n", "no"):
                    return {"decision": "finish"}
                if first is None:
                    raise ConfigError("The limit is at its ceiling.", remedy="f finishes, q leaves it waiting.")
                typed = rest if word in ("r", "raise") else "" if word in ("y", "yes") else word
                caps = {name: _cap(typed)} if typed else suggested
                self._say(f"raising {', '.join(f'{limit} to {cap:g}' for limit, cap in caps.items())}", style="dim")
                return {"decision": "raise", "limits": caps}
            except InterleaveError as error:
                self._say(one_line(str(error)), style="yellow")

    # --- both ---------------------------------------------------------------------------------

    def _converse(
        self, about: str, act: Callable[[str, str], dict[str, Any] | None], *, known: str, says: str
    ) -> dict[str, Any]:
        """Read commands until one is an answer; what is typed wrong is said, and asked for again."""
        while True:
            line = self._read(f"{about}: a accept, r remark, ? more > ").strip()
            word, _, rest = line.partition(" ")
            command = _NAMES.get(word.lower(), word.lower())
            try:
                if command == "q":
                    raise Left
                if command == "?":
                    self._say(says)
                elif len(command) != 1 or command not in known:
                    raise ConfigError(
                        f"There is no command {word[:40]!r}." if word else "Nothing was typed.",
                        remedy="a accepts, r and words remark, ? lists the others.",
                    )
                elif (answer := act(command, rest.strip())) is not None:
                    return answer
            except InterleaveError as error:
                self._say(one_line(str(error)), style="yellow")

    def _picture(self, block: Mapping[str, Any] | None, *, columns: int, lines: int) -> Text | None:
        if self._console.color_system not in ("truecolor", "256"):
            return None
        data = self._shown.data(block)
        return None if data is None else half_blocks(data, columns=columns, lines=lines)

    def _say(self, text: str, *, style: str = "") -> None:
        self._console.print(Text(text, style=style))


def edit_text(text: str) -> str:
    """Have a text changed in the user's editor.

    Raises:
        ConfigError: There is no editor, or it failed.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if sys.platform == "win32" else "vi")
    remedy = "Set EDITOR to the command of an editor that waits, or use the short commands."
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.txt"
        path.write_text(text, encoding="utf-8")
        try:
            # The user's own command, with a path of ours.
            ended = subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603
        except OSError as error:
            raise ConfigError(f"The editor {editor!r} cannot be started: {error.strerror}.", remedy=remedy) from error
        if ended.returncode:
            raise ConfigError(f"The editor {editor!r} failed ({ended.returncode}).", remedy=remedy)
        return path.read_text(encoding="utf-8", errors="replace")


def _cap(text: str) -> float:
    try:
        cap = float(text.strip().lstrip("$"))
    except ValueError:
        cap = math.nan
    if not math.isfinite(cap) or cap <= 0:
        raise ConfigError(
            f"{text.strip()[:40]!r} is no number, and no answer.",
            remedy="A number raises the limit to it; Enter, or raise, to the one in brackets; f finishes; q leaves it "
            "waiting.",
        )
    return int(cap) if cap.is_integer() else cap


def _number(text: str, example: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise ConfigError(
            f"{text.strip()[:40]!r} is no number of a step.", remedy=f"Write for example: {example}"
        ) from None


def _words(text: str, example: str) -> str:
    if not text.strip():
        raise ConfigError("The words are missing.", remedy=f"Write for example: {example}")
    return text.strip()


def _attempt(question: Question, text: str, example: str) -> int:
    """The number of an attempt as the graph counts, from 0."""
    number = _number(text, example)
    known = [one["attempt"] + 1 for one in question["attempts"] if "image" in one]
    if number not in known:
        there = f"There are pictures of {', '.join(map(str, known))}." if known else "No attempt has a picture."
        raise ConfigError(f"Attempt {number} has no picture.", remedy=there)
    return number - 1
