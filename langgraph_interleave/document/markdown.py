"""The document as Markdown. Words of models and users are escaped: they cannot become markup or links."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from urllib.parse import quote

from langgraph_interleave.document.pictures import file_name
from langgraph_interleave.document.text import clean, one_line
from langgraph_interleave.document.view import Shown, StepView, View
from langgraph_interleave.document.words import StatusLine

#: Characters that mean something anywhere in a line.
_INLINE = re.compile(r"[\\`*_\[\]<>&~|$]")
#: Dots and colons that would make an address of the words around them.
_ADDRESS = re.compile(r"(?<=\w)\.(?=[^\W\d])|(?<=[^\W\d])\.(?=\w)|:(?=/)")
_HASH = re.compile(r"(?<!\S)#")
_LINE_START = re.compile(r"^([-+=:]|\d+(?=[.)]))")


def escape_line(text: str) -> str:
    r"""Escape one line of words so that Markdown shows them as they are.

    Example:
        >>> escape_line("# <b>2*3</b> at www.example.org")
        '\\# \\<b\\>2\\*3\\</b\\> at www\\.example\\.org'
    """
    text = _INLINE.sub(r"\\\g<0>", one_line(text))
    text = _HASH.sub(r"\\#", _ADDRESS.sub(r"\\\g<0>", text))
    # An address of a person becomes a link in spite of a backslash; a word joiner is not seen.
    text = text.replace("@", "@\u2060")
    found = _LINE_START.match(text)
    if found is None:
        return text
    start = found[1]
    return text[: len(start)] + "\\" + text[len(start) :] if start.isdigit() else "\\" + text


def escape_text(text: str) -> str:
    """Escape words of several lines: line breaks stay, empty lines part paragraphs."""
    lines = [escape_line(line) for line in clean(text).split("\n")]
    groups = [list(group) for filled, group in itertools.groupby(lines, key=bool) if filled]
    return "\n\n".join("\\\n".join(group) for group in groups)


def render(view: View, present: Collection[str], *, folder: str) -> str:
    """Write the document as CommonMark.

    Args:
        view: What it shows.
        present: Digests of the pictures that exist.
        folder: Folder of those files, as the links should name it.

    Returns:
        Text that ends in one line break.
    """
    place = _Links(present, folder)
    blocks = [f"# {escape_line(view.title)}", *_request(view, place), *_status(view)]
    if len(view.steps) > 1:
        blocks.append("\n".join(f"{step.number}. {escape_line(step.outline)}" for step in view.steps))
    for step in view.steps:
        blocks += _step(step, place)
    blocks += _made(view)
    return "\n\n".join(block for block in blocks if block) + "\n"


class _Links:
    def __init__(self, present: Collection[str], folder: str) -> None:
        self._present = present
        self._folder = folder.rstrip("/")

    def image(self, shown: Shown) -> str:
        if shown.ref.sha256 not in self._present:
            return f"*The picture {shown.ref.sha256} is missing: {escape_line(shown.alt)}*"
        path = f"{self._folder}/{file_name(shown)}" if self._folder else file_name(shown)
        return f"![{escape_line(shown.alt)}]({quote(path, safe='/.-_~:')})"


def _request(view: View, place: _Links) -> list[str]:
    blocks = [escape_text(part) if isinstance(part, str) else place.image(part) for part in view.request]
    return ["\n>\n".join("\n".join(f"> {line}".rstrip() for line in block.split("\n")) for block in blocks if block)]


def _status(view: View) -> list[str]:
    if view.status is None:
        return []
    heading, lines = view.status
    return [f"**{escape_line(heading)}.**", _items([_status_line(line) for line in lines])]


def _status_line(line: StatusLine) -> str:
    numbers = [str(number) for number in line.steps]
    if not numbers:
        return escape_line(line.text)
    listed = " and ".join(filter(None, [", ".join(numbers[:-1]), numbers[-1]]))
    return f"{escape_line(line.text)} {listed}."


def _step(step: StepView, place: _Links) -> list[str]:
    heading = f"## {step.number}. {escape_line(step.heading)}" if step.titled else f"## Step {step.number}"
    return [
        heading,
        place.image(step.picture) if step.picture else "",
        f"*No picture: {escape_line(step.placeholder)}*" if step.placeholder else "",
        escape_text(step.caption) if step.caption else "",
        f"**{step.label}.** {escape_line(step.mark)}" if step.mark and step.label else escape_line(step.mark or ""),
    ]


def _made(view: View) -> list[str]:
    blocks = ["## How this was made", *(escape_text(note) for note in view.notes)]
    blocks.append(_items([f"{label}: {escape_line(value)}" for label, value in view.numbers]))
    if view.style_guide:
        blocks += ["### Style", _items([f"{label}: {escape_line(text)}" for label, text in view.style_guide])]
    stories = [_story(step) for step in view.steps if len(step.attempts) > 1]
    if stories:
        blocks += ["### What was drawn again", *stories]
    remarks = [*view.warnings, *(f"Step {step.number}: {remark}" for step in view.steps for remark in _remarks(step))]
    if remarks:
        blocks += ["### Remarks on the way", _items([escape_line(remark) for remark in remarks])]
    return blocks


def _remarks(step: StepView) -> list[str]:
    """What was said of its attempts, each once."""
    return list(dict.fromkeys(remark for attempt in step.attempts for remark in attempt.remarks))


def _story(step: StepView) -> str:
    lines = [f"Step {step.number}, {step.story}:", ""]
    for attempt in step.attempts:
        said = attempt.reasoning or "; ".join(attempt.failed_checks)
        prompt = "".join(piece.text for piece in attempt.prompt if piece.kind != "gone")
        lines.append(f"{attempt.number}. {attempt.verdict}{': ' if said else '.'}{escape_line(said)}\\")
        lines.append(f"   {attempt.prompt_label}: {escape_line(prompt)}")
    return "\n".join(lines)


def _items(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
