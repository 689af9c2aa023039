"""A plan changed by hand: by short commands or as text in an editor. Pure; what comes of it is a `PlanReview`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langgraph_interleave.errors import ConfigError

#: The words of a step, in the order they are shown.
WORDS = ("title", "caption", "instruction", "prompt")
_HEAD = re.compile(r"\[\s*(new|\d+)\s*\]\s*")
_LINE = re.compile(rf"({'|'.join(WORDS)}|from)\s*:(.*)", re.IGNORECASE)
_SOURCE = re.compile(r"(step|picture)\s+(\d+)", re.IGNORECASE)
_HELP = """\
# Change words, move steps, delete them, or add some under the heading [new]; then save and close.
# A step is as long as its heading in brackets is there. Its pictures come from what "from" names: steps as they
# are numbered here ("step 1"), pictures that were given ("picture 1"), or "nothing".
# Where only the instruction of a picture changes, the picture is drawn by it. Longer text goes on in lines that
# begin with a space. Lines that begin with # are left out. An empty file changes nothing.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A step in a plan that is being changed: which it was (`None`: new), its words and its sources."""

    step: int | None = None
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    sources: tuple[str, ...] = ()

    def with_words(self, **words: str) -> Entry:
        """The same with other words; an instruction that is changed alone is what it is drawn by, too."""
        if "instruction" in words and "prompt" not in words:
            words["prompt"] = words["instruction"]
        return replace(self, words={**self.words, **words})


class PlanEdit:
    """A plan as it was asked about, and as it is by now. Places are numbered as people see them.

    Args:
        question: What was asked about the plan.

    Example:
        >>> step = {"step": 0, "number": 1, "op": "generate", "caption": "A pot.", "sources": []}
        >>> edit = PlanEdit({"title": "T", "steps": [step, {**step, "step": 1, "number": 2}]})
        >>> edit.move(2, 1)
        >>> edit.reword(1, caption="A bean.")
        >>> [(change["change"], change["step"]) for change in edit.review()["steps"]]
        [('recaption', 1), ('reorder', 0)]
    """

    def __init__(self, question: Mapping[str, Any]) -> None:
        steps: Sequence[Mapping[str, Any]] = question["steps"]
        self.first = int(steps[0]["number"]) - int(steps[0]["step"])
        self.was = tuple(
            Entry(
                int(step["step"]),
                {name: str(step.get(name) or "") for name in WORDS},
                tuple(map(str, step.get("sources") or ())),
            )
            for step in steps
        )
        self.old_title = str(question.get("title") or "")
        self.title = self.old_title
        self.entries = self.was
        self._before: list[tuple[str, tuple[Entry, ...]]] = []

    @property
    def changed(self) -> bool:
        """Whether anything is otherwise than it was."""
        return (self.title, self.entries) != (self.old_title, self.was)

    # --- commands -----------------------------------------------------------------------------

    def delete(self, number: int) -> None:
        """Take a step out."""
        place = self._place(number)
        if len(self.entries) == 1:
            raise ConfigError("It is the last step.", remedy="Give the plan up with x.")
        self._set(self.entries[:place] + self.entries[place + 1 :])

    def move(self, number: int, to: int) -> None:
        """Put a step at another place."""
        place, target = self._place(number), self._place(to)
        rest = [*self.entries]
        rest.insert(target, rest.pop(place))
        self._set(tuple(rest))

    def reword(self, number: int, **words: str) -> None:
        """Give a step other words."""
        place = self._place(number)
        self._set((*self.entries[:place], self.entries[place].with_words(**words), *self.entries[place + 1 :]))

    def insert(self, after: int, words: str) -> None:
        """A new step, in words alone, after another; after the number before the first it comes first."""
        place = 0 if after == self.first - 1 else self._place(after) + 1
        self._set((*self.entries[:place], Entry(words={"caption": words}), *self.entries[place:]))

    def undo(self) -> None:
        """Take the last change back."""
        if not self._before:
            raise ConfigError("Nothing was changed yet.", remedy="? lists what can be done.")
        self.title, self.entries = self._before.pop()

    def _place(self, number: int) -> int:
        place = number - self.first
        if not 0 <= place < len(self.entries):
            last = self.first + len(self.entries) - 1
            raise ConfigError(f"There is no step {number}.", remedy=f"There are {self.first} to {last}.")
        return place

    def _set(self, entries: tuple[Entry, ...], title: str | None = None) -> None:
        self._before.append((self.title, self.entries))
        self.entries = entries
        self.title = self.title if title is None else title

    # --- the answer ---------------------------------------------------------------------------

    def review(self) -> dict[str, Any]:
        """The answer: accepted, as it is by now."""
        if not self.changed:
            return {"decision": "accept"}
        left = {entry.step for entry in self.entries}
        # What is not named would stay.
        gone = [{"change": "delete", "step": one.step} for one in self.was if one.step not in left]
        answer: dict[str, Any] = {
            "decision": "accept",
            "steps": [*(self._change(*one) for one in enumerate(self.entries)), *gone],
        }
        return answer if self.title == self.old_title else {**answer, "title": self.title}

    def _change(self, place: int, entry: Entry) -> dict[str, Any]:
        if entry.step is None:
            words = {name: text for name, text in entry.words.items() if text}
            return {"change": "insert", **words, **({"sources": list(entry.sources)} if entry.sources else {})}
        old = next(one for one in self.was if one.step == entry.step)
        words = {name: text for name, text in entry.words.items() if text != old.words.get(name, "")}
        sources = {"sources": list(entry.sources)} if entry.sources != old.sources else {}
        if sources or words.keys() & {"instruction", "prompt"}:
            return {"change": "redo", "step": entry.step, **words, **sources}
        if words:
            return {"change": "recaption", "step": entry.step, **words}
        moved = place >= len(self.was) or self.was[place].step != entry.step
        return {"change": "reorder" if moved else "keep", "step": entry.step}

    # --- as text ------------------------------------------------------------------------------

    def text(self) -> str:
        """The plan as text for an editor."""
        lines = [_HELP, f"plan: {_wrapped(self.title)}", ""]
        for entry in self.entries:
            lines.append("[new]" if entry.step is None else f"[{entry.step + self.first}]")
            lines += [f"{name}: {_wrapped(text)}" for name in WORDS if (text := entry.words.get(name, ""))]
            if entry.words.get("prompt") or entry.sources:
                lines.append(f"from: {self._said(entry.sources)}")
            lines.append("")
        return "\n".join(lines)

    def read(self, text: str) -> None:
        """Take over what somebody made of the text.

        Raises:
            ConfigError: A line cannot be understood, or a step is there twice.
        """
        title, blocks = _blocks(text)
        if not blocks:
            return
        seen: set[int] = set()
        entries: list[Entry] = []
        for number, words in blocks:
            if number is None:
                entry = Entry()
            else:
                step = number - self.first
                known = next((one for one in (*self.entries, *self.was) if one.step == step), None)
                if known is None or step in seen:
                    why = "There is no step" if known is None else "There are two steps"
                    raise ConfigError(f"{why} [{number}].", remedy="Name a new step [new].")
                seen.add(step)
                entry = known
            sources = self._sources(words.pop("from")) if "from" in words else entry.sources
            news = {name: text for name, text in words.items() if text != entry.words.get(name, "")}
            entries.append(
                replace(entry.with_words(**news), sources=sources) if news else replace(entry, sources=sources)
            )
        if (title if title is not None else self.title, tuple(entries)) != (self.title, self.entries):
            self._set(tuple(entries), title)

    def _said(self, sources: Sequence[str]) -> str:
        named: list[str] = []
        for source in sources:
            kind, _, number = source.partition(":")
            named.append(f"picture {int(number) + 1}" if kind == "input" else f"step {int(number) + self.first}")
        return ", ".join(named) or "nothing"

    def _sources(self, text: str) -> tuple[str, ...]:
        if text.strip().lower() in ("", "nothing"):
            return ()
        found: list[str] = []
        for part in text.split(","):
            match = _SOURCE.fullmatch(part.strip())
            if match is None:
                raise ConfigError(f"'from: {part.strip()}' names nothing.", remedy="Write: from: step 1, picture 1.")
            number = int(match[2])
            is_step = match[1].lower() == "step"
            found.append(f"step:{number - self.first}" if is_step else f"input:{number - 1}")
        return tuple(found)


def _wrapped(text: str) -> str:
    return text.replace("\n", "\n  ")


def _blocks(text: str) -> tuple[str | None, list[tuple[int | None, dict[str, str]]]]:
    title: str | None = None
    blocks: list[tuple[int | None, dict[str, str]]] = []
    name = ""
    for at, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if head := _HEAD.fullmatch(line):
            blocks.append((None if head[1] == "new" else int(head[1]), {}))
            name = ""
        elif line.startswith("plan:") and not blocks:
            title = line.removeprefix("plan:").strip()
        elif blocks and (found := _LINE.match(line)):
            name = found[1].lower()
            blocks[-1][1][name] = found[2].strip()
        elif blocks and name and line[0].isspace():
            blocks[-1][1][name] += "\n" + line.strip()
        else:
            raise ConfigError(
                f"Line {at} cannot be understood: {line[:60]!r}.",
                remedy="Write 'caption: …', begin a line that goes on with a space, or put # before a remark.",
            )
    return title, blocks
