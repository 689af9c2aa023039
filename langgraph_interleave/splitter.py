"""A model's tokens become pieces of reasoning and answer as they arrive.

The text is one of these, and the splitter need not be told which:

    <think>…</think> the answer                                      thinking models
    <think>…</think><answer>…</answer>                               the InterleaveThinker checkpoints
    <think>…</think><answer>…</answer><think>…</think><answer>…      interleaved reasoning (arXiv 2505.19640)
    the answer, with reasoning in blocks of the provider's own       `feed_blocks`

Rules:

1. What is not inside `<think>` or `<thinking>` is answer, in answer tags or out of them, and is given at
   once. So text before the first tag is answer. When a `</think>` without its opening follows, it was
   reasoning after all: a piece cannot be taken back, but `reasoning_until` says up to where. A model whose
   chat template has opened the thinking already (Qwen3, DeepSeek) wants `thinking_first=True`.
2. Inside the thinking only its end counts, and the first one is it: no nesting, no quoting. That is how
   `parsing` reads it, and how servers do.
3. Outside it a tag inside a code fence or inline code, or between two quotation marks, is text.
4. Space next to a tag belongs to the tag, so empty thinking gives no piece at all.
5. Tags that are not closed end with the text. Any letter case will do; attributes make it no tag.

Nothing is lost or invented: pieces and `tags`, ordered by `start`, are the text as it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

Track = Literal["reasoning", "answer"]

_TAG = re.compile(r"<(?P<close>/?)(?:(?P<think>think(?:ing)?)|answer)>", re.IGNORECASE | re.ASCII)
_TAGS = ("<think>", "</think>", "<thinking>", "</thinking>", "<answer>", "</answer>")
_EVENT = re.compile(r"<|`+|~+|\n")
_SPACE = " \t\r\n"
_SPACES = re.compile(f"[{_SPACE}]*")
_BLANKS = re.compile(r"[ \t\r]*")
#: Between the backticks of a fence that begins in the middle of a line and the end of that line.
_INFO = re.compile(r"[\w+#.-]{0,30}[ \t\r]*", re.ASCII)
_QUOTES = {"`": "`", '"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "«": "»"}
_MAX_DEPTH = 5


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text of one segment: `raw[start:end]` of the text as it came, counted in code points.

    `segment` counts the stretches between tags, from 0; pieces of one segment are joined without anything.
    """

    track: Track
    text: str
    start: int
    end: int
    segment: int


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that counted, with the space next to it: `raw[start:end]`."""

    name: Literal["think", "answer"]
    opening: bool
    text: str
    start: int
    end: int


class Splitter:
    """Splits one answer of a model.

    Args:
        thinking_first: The text begins inside the thinking. An opening tag that comes all the same, or
            reasoning in blocks, does no harm.

    Attributes:
        thinking: The text so far ends inside the thinking; after `finish`: it was cut off there.
        answering: It ends inside answer tags.
        reasoning_until: The offset of a `</think>` that had no opening, or `None` (rule 1).

    Example:
        >>> splitter = Splitter()
        >>> [(piece.track, piece.text) for piece in splitter.feed("<think>Two pots.</think><ans")]
        [('reasoning', 'Two pots.')]
        >>> [(piece.track, piece.text) for piece in splitter.feed("wer>A pot") + splitter.finish()]
        [('answer', 'A pot')]
    """

    def __init__(self, *, thinking_first: bool = False) -> None:
        self.thinking = thinking_first
        self.answering = False
        self.reasoning_until: int | None = None
        self._tags: list[Tag] = []
        self._finished = False
        # `_text` is what was not given out yet and begins at `_base`; up to `_seen` it was looked at.
        self._text, self._base, self._seen = "", 0, 0
        self._implied = thinking_first
        self._after_tag = False
        self._before = ""
        self._fresh_line = True
        self._fence, self._fence_line, self._inline = "", False, False
        self._segment, self._begun = -1, False
        self._native: object = None

    @property
    def tags(self) -> tuple[Tag, ...]:
        """The tags so far, in order; space that is still to come may make the last one longer."""
        return tuple(self._tags)

    def feed(self, text: str) -> list[Piece]:
        """Take the next text, cut anywhere; returns what is certain with it.

        Raises:
            ValueError: The splitter was finished.
        """
        if self._finished:
            raise ValueError("The splitter is finished; a new answer wants a new one.")
        if text and self._native is not None:
            self._native, self._begun = None, False
        self._text += text
        return list(self._split(final=False))

    def feed_blocks(
        self, content: str | Sequence[str | Mapping[str, Any]], extra: Mapping[str, Any] | None = None
    ) -> list[Piece]:
        """Take the content of a message or of a chunk of one, in the provider's form or in LangChain's.

        Args:
            content: `.content` or `.content_blocks`. Reasoning blocks of OpenAI, Anthropic, Gemini, Mistral and
                Bedrock are reasoning as they stand: tags in them mean nothing. Their text counts in the offsets.
            extra: `.additional_kwargs`: DeepSeek, Qwen, vLLM and OpenRouter put reasoning there. It goes before
                the content, and is left out when the content has reasoning blocks.
        """
        found = list(_texts(content))
        if not any(track == "reasoning" for track, _, _ in found):
            found = [*_texts_beside(extra or {}), *found]
        pieces: list[Piece] = []
        for track, text, index in found:
            pieces += self.feed(text) if track == "answer" else self._feed_native(text, index)
        return pieces

    def finish(self) -> list[Piece]:
        """No text follows; returns what was held back. A second time there is nothing."""
        self._finished = True
        return list(self._split(final=True))

    def _feed_native(self, text: str, index: object) -> list[Piece]:
        pieces = self.feed("")
        pieces += self._split(final=True)  # half a tag is not completed across a block
        if self._implied and self._segment < 0:
            self.thinking = self._implied = False  # who sends blocks has read the template
        if self._native != (index,):
            self._native, self._begun = (index,), False
        self._before, self._after_tag = "", False
        pieces.append(self._piece("reasoning", text, self._base))
        self._base += len(text)
        return pieces

    def _split(self, *, final: bool) -> Iterator[Piece]:
        text, pos = self._text, self._seen
        begin = 0
        while True:
            if self._after_tag:
                begin = pos = self._lengthen_tag(text, pos)
            event = _EVENT.search(text, pos)
            self._pass(text[pos : event.start() if event else len(text)])
            if event is None:
                pos = len(text)
                break
            pos = event.start()
            tag = _TAG.match(text, pos)
            if not final and (pos < self._still_open(text, event, tag)):
                break
            if tag is None or not self._counts(text, tag):
                self._mark(text, tag or event)
                pos = (tag or event).end()
                continue
            end = begin + len(text[begin:pos].rstrip(_SPACE))
            if end > begin:
                yield self._piece(self._track(), text[begin:end], self._base + begin)
            self._take(tag, text[end : tag.end()], self._base + end)
            begin = pos = tag.end()
        end = pos if final else begin + len(text[begin:pos].rstrip(_SPACE))
        if end > begin:
            yield self._piece(self._track(), text[begin:end], self._base + begin)
        self._text, self._base, self._seen = text[end:], self._base + end, pos - end

    def _still_open(self, text: str, event: re.Match[str], tag: re.Match[str] | None) -> int:
        """The end of the text, when what begins at the event may go on behind it; else -1."""
        end = event.end()
        if event[0] == "<" and tag is None:
            rest = text[event.start() : event.start() + 12].lower()
            waits = event.start() + len(rest) == len(text) and any(full.startswith(rest) for full in _TAGS)
        elif tag is not None:
            waits = tag.end() == len(text) and not self.thinking and self._before in _QUOTES
        elif event[0] == "\n":
            waits = False
        else:
            # A run may grow; and it is a fence or not by what follows it.
            room = _BLANKS if self._fence else _INFO
            waits = not self.thinking and (end == len(text) or _end_of(room, text, end) == len(text))
        return len(text) if waits else -1

    def _counts(self, text: str, tag: re.Match[str]) -> bool:
        if self.thinking:
            nothing_yet = self._implied and self._segment < 0 and not text[: tag.start()].strip(_SPACE)
            return bool(tag["think"]) and (bool(tag["close"]) or nothing_yet)
        quoted = self._before in _QUOTES and text[tag.end() : tag.end() + 1] == _QUOTES[self._before]
        return not (self._fence or self._inline or quoted)

    def _take(self, tag: re.Match[str], text: str, start: int) -> None:
        opening = not tag["close"]
        if tag["think"]:
            if not opening and not self.thinking:
                self.reasoning_until = start
            self.thinking = opening
        else:
            self.answering = opening
        self._implied = False
        name = "think" if tag["think"] else "answer"
        self._tags.append(Tag(name, opening, text, start, start + len(text)))
        self._after_tag, self._begun, self._before = True, False, ""
        self._fresh_line, self._fence, self._inline = True, "", False

    def _lengthen_tag(self, text: str, pos: int) -> int:
        last = self._tags[-1]
        end = _end_of(_SPACES, text, pos)
        if end > pos:
            more = text[pos:end]
            self._tags[-1] = Tag(last.name, last.opening, last.text + more, last.start, last.end + len(more))
        self._after_tag = end == len(text)
        return end

    def _pass(self, text: str) -> None:
        if text:
            self._before = text[-1]
            self._fresh_line = self._fresh_line and not text.strip(_SPACE)

    def _mark(self, text: str, event: re.Match[str]) -> None:
        """What fences, backticks and line ends mean outside the thinking."""
        mark = event[0]
        if mark == "\n":
            self._fresh_line, self._inline, self._fence_line = True, False, False
        elif not self.thinking and len(mark) >= 3 and mark[0] in "`~":
            if not self._fence:
                if self._fresh_line or (mark[0] == "`" and text.startswith("\n", _end_of(_INFO, text, event.end()))):
                    self._fence, self._fence_line = mark, True
            elif mark.startswith(self._fence) and (self._fence_line or self._closes(text, event)):
                self._fence = ""
        elif not self.thinking and not self._fence and mark[0] == "`":
            self._inline = not self._inline
        if mark != "\n":
            self._fresh_line = False
        self._before = mark[-1]

    def _closes(self, text: str, event: re.Match[str]) -> bool:
        behind = _end_of(_BLANKS, text, event.end())
        return (self._fresh_line or event[0][0] == "`") and (behind == len(text) or text[behind] in "\n<")

    def _track(self) -> Track:
        return "reasoning" if self.thinking else "answer"

    def _piece(self, track: Track, text: str, start: int) -> Piece:
        if not self._begun:
            self._segment, self._begun = self._segment + 1, True
        return Piece(track, text, start, start + len(text), self._segment)


def _end_of(pattern: re.Pattern[str], text: str, pos: int) -> int:
    found = pattern.match(text, pos)
    return found.end() if found else pos


# What providers send beside plain text.


def _texts(content: object, depth: int = 0) -> Iterator[tuple[Track, str, object]]:
    """Every text in the content with its track; for reasoning with what tells one summary from the next."""
    if isinstance(content, str):
        if content:
            yield "answer", content, None
    elif isinstance(content, Mapping):
        yield from _texts_of(cast("Mapping[str, Any]", content), depth)
    elif isinstance(content, Sequence):
        for block in cast("Sequence[object]", content):
            yield from _texts(block, depth)


def _texts_of(block: Mapping[str, Any], depth: int) -> Iterator[tuple[Track, str, object]]:
    kind = block.get("type")
    if kind == "non_standard" and depth < _MAX_DEPTH:
        yield from _texts(block.get("value") or {}, depth + 1)
    elif kind in ("reasoning", "thinking", "reasoning_content") or block.get("thought") is True:
        for text, index in _reasoning(block, depth):
            yield "reasoning", text, (block.get("index"), index)
    elif kind in (None, "text", "output_text", "refusal"):
        text = block.get("refusal" if kind == "refusal" else "text")
        if text and isinstance(text, str):
            yield "answer", text, None


def _reasoning(value: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """The words in any form of reasoning: a text, a list of parts, or what an object has under its names."""
    if isinstance(value, str):
        yield from [(value, None)] if value else []
    elif isinstance(value, Mapping) and depth < _MAX_DEPTH:
        block = cast("Mapping[str, Any]", value)
        for name in ("reasoning", "thinking", "reasoning_content", "summary", "content", "text"):
            if found := list(_reasoning(block.get(name), depth + 1)):
                yield from ((text, block.get("index") if index is None else index) for text, index in found)
                return
    elif isinstance(value, Sequence):
        for part in cast("Sequence[object]", value):
            yield from _reasoning(part, depth + 1)


def _texts_beside(extra: Mapping[str, Any]) -> list[tuple[Track, str, object]]:
    for name in ("reasoning_content", "reasoning", "reasoning_details"):
        if found := list(_reasoning(extra.get(name))):
            return [("reasoning", text, index) for text, index in found]
    return []
