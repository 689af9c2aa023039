"""Where the answer is in a model's text: thinking, answer tags, code fences, remarks, objects.

The rules, in order:

1. What stands inside `<think>…</think>` is reasoning and never an answer. A `</think>` without its
   opening makes everything before it reasoning. Text that ends inside the thinking was cut off.
2. Objects are read as a whole, so tags inside their texts mean nothing.
3. If there is an `<answer>` tag, only objects inside answer tags count; else all of them. A missing
   `</answer>` does no harm when the object is complete.
4. An `<answer>` inside a code fence, or right behind a backtick, is a quotation and does not count,
   unless that fence is all there is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from langgraph_interleave.parsing.data import Json
from langgraph_interleave.parsing.literal import Fault, Path, Reader

#: How an object begins: with a comment or a field name, quoted or followed by a colon. `{name}` is prose.
_FIELD = r"\s{0,200}(?:[\"'“”„‘’#]|//|[A-Za-z_$][\w$\-]{0,40}\s{0,20}[:：])"
_MARK = re.compile(
    r"(?<!`)<(?P<close>/?)(?P<tag>think(?:ing)?|answer)>"
    r"|(?P<fence>`{3,})"
    rf"|(?P<object>\{{(?={_FIELD})|\[(?=\s{{0,200}}\{{{_FIELD}))",
    re.IGNORECASE,
)
_END_OF_THINKING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
#: The start of something that may be a mark once more text arrives.
_HALF_MARK = re.compile(
    r"(?:`+|`?<[/a-z]{0,10}|(?:\{|\[(?:\s{0,200}\{)?)\s{0,200}(?:/|[a-z_$][\w$\-]{0,40}\s{0,20})?)\Z", re.IGNORECASE
)
_LONGEST_HALF = 500
_HALF_TAG = re.compile(r"<[/a-z]{0,10}\Z", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class Candidate:
    """An object found in the text, readable or not.

    `end` is where a readable one ends, or where the room of an unreadable one ends (at a tag, a fence,
    or with the text). `tagged`: inside answer tags. `quoted`: its answer tag is inside a code fence.
    `nested`: inside the room of an unreadable one.
    """

    start: int
    end: int
    tagged: bool
    quoted: bool
    nested: bool
    value: Json = None
    fault: Fault | None = None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Thought:
    """One stretch of reasoning and where it begins."""

    start: int
    parts: list[str] = field(default_factory=list[str])


class Scanner:
    """Finds thoughts and objects in text given in pieces of any size.

    Attributes:
        candidates: Objects found, in order.
        thought_of: Objects before a `</think>` that was never opened.
        thoughts: Stretches of reasoning, in order.
        thinking: The text so far ends inside the thinking.
        answering: It ends inside answer tags.
        answers: Answer tags opened outside fences.
        fences: Code fences opened.
        remarks: There are words outside thinking, answers, fences and objects.

    Args:
        on_thought: Called with each further piece of reasoning, and with `None` where a new stretch begins.
        on_value: Called as a `literal.Watch` with the candidate in front, for every object.
    """

    def __init__(
        self,
        on_thought: Callable[[str | None], None] | None = None,
        on_value: Callable[[Candidate, Path, Json], None] | None = None,
    ) -> None:
        self.candidates: list[Candidate] = []
        self.thought_of: list[Candidate] = []
        self.thoughts: list[Thought] = []
        self.thinking = False
        self.answering = False
        self.answers = 0
        self.fences = 0
        self.remarks = False
        self._on_thought = on_thought
        self._on_value = on_value
        self._in_fence = False
        self._open: tuple[Candidate, Reader] | None = None
        self._broken: list[Candidate] = []
        self._tail = ""
        self._final = False
        self._wait_at = -1
        self._offset = 0
        self._since_thinking: list[str] = []
        self._since_at = 0

    def feed(self, chunk: str, *, final: bool = False) -> None:
        """Take the next piece; `final` says that none follows."""
        text = self._tail + chunk
        self._final = final
        self._wait_at = -1
        pos = 0
        while pos < len(text):
            if self._open is not None:
                after = self._read(text, pos, *self._open)
            elif self.thinking:
                after = self._think(text, pos)
            else:
                after = self._look(text, pos)
            if after < 0:
                break
            pos = after
        self._tail = text[pos:]
        self._offset += pos
        if final:
            self._finish()

    # Each reads at `pos` and returns the position after what it used, or -1 when it needs more text.

    def _read(self, text: str, pos: int, candidate: Candidate, reader: Reader) -> int:
        after = reader.feed(text, pos)
        self._since_thinking.append(text[pos:after])
        if reader.done or reader.fault is not None:
            candidate.end = self._offset + after
            self._close_object(candidate, reader)
        return after

    def _think(self, text: str, pos: int) -> int:
        if mark := _END_OF_THINKING.search(text, pos):
            self._add_thought(text[pos : mark.start()])
            self.thinking = False
            self._since_thinking = []
            self._since_at = self._offset + mark.end()
            return mark.end()
        hold = self._hold(_HALF_TAG, text, pos)
        self._add_thought(text[pos:hold])
        return hold if hold > pos else -1

    def _look(self, text: str, pos: int) -> int:
        mark = _MARK.search(text, pos)
        hold = self._hold(_HALF_MARK, text, pos)
        end = hold if mark is None or mark.start() >= hold else mark.start()
        words = text[pos:end]
        self._since_thinking.append(words)
        if not self.answering and not self._in_fence and not self._broken and words.strip():
            self.remarks = True
        if mark is None or mark.start() >= hold:
            return hold if hold > pos else -1
        if mark["object"]:
            self._open_object(self._offset + mark.start())
            return mark.start()
        self._since_thinking.append(mark[0])
        start, after = self._offset + mark.start(), self._offset + mark.end()
        if mark["fence"]:
            self._pass_fence(start)
        elif mark["tag"].lower() == "answer":
            self._pass_answer(start, opening=not mark["close"])
        elif mark["close"]:
            self._end_unopened_thinking(after, len(mark[0]))
        else:
            self._end_broken(start)
            self.thinking = True
            self._begin_thought(after)
        return mark.end()

    # What marks mean.

    def _pass_fence(self, start: int) -> None:
        if self.answering and not self._in_fence:
            return
        self._end_broken(start)
        self._in_fence = not self._in_fence
        self.answering = False
        self.fences += self._in_fence

    def _pass_answer(self, start: int, *, opening: bool) -> None:
        self._end_broken(start)
        self.answering = opening
        self.answers += opening and not self._in_fence

    def _end_unopened_thinking(self, end: int, mark_length: int) -> None:
        said = "".join(self._since_thinking)
        self._begin_thought(self._since_at)
        self._add_thought(said[: len(said) - mark_length])
        self.thought_of += self.candidates
        self.candidates.clear()
        self._broken.clear()
        self.answers = self.fences = 0
        self.remarks = self.answering = self._in_fence = False
        self._since_thinking = []
        self._since_at = end

    def _begin_thought(self, start: int) -> None:
        self.thoughts.append(Thought(start))
        if self._on_thought is not None:
            self._on_thought(None)

    def _add_thought(self, text: str) -> None:
        self.thoughts[-1].parts.append(text)
        if self._on_thought is not None:
            self._on_thought(text)

    def _open_object(self, start: int) -> None:
        candidate = Candidate(
            start=start,
            end=start,
            tagged=self.answering,
            quoted=self.answering and self._in_fence,
            nested=bool(self._broken),
        )
        on_value = self._on_value
        watch = None if on_value is None else lambda path, value: on_value(candidate, path, value)
        self._open = candidate, Reader(watch)

    def _close_object(self, candidate: Candidate, reader: Reader) -> None:
        self._open = None
        candidate.value = reader.value
        candidate.fault = reader.fault
        candidate.notes = tuple(reader.notes)
        if reader.fault is None:
            self.candidates.append(candidate)
        elif reader.committed or reader.fault.kind == "cut":
            self.candidates.append(candidate)
            self._broken.append(candidate)
        elif not self.answering and not self._in_fence:
            self.remarks = True

    def _end_broken(self, end: int) -> None:
        for candidate in self._broken:
            candidate.end = end
        self._broken.clear()

    def _finish(self) -> None:
        if self._open is not None:
            candidate, reader = self._open
            reader.finish()
            self._close_object(candidate, reader)
        self._end_broken(self._offset)

    def _hold(self, half: re.Pattern[str], text: str, pos: int) -> int:
        """Where the text must wait, because a mark may have begun there."""
        if self._final:
            return len(text)
        if self._wait_at < pos or half is _HALF_TAG:
            # Only the end is searched: a half mark is short, and the text may be a megabyte.
            found = half.search(text, max(pos, len(text) - _LONGEST_HALF))
            self._wait_at = found.start() if found else len(text)
        return self._wait_at
