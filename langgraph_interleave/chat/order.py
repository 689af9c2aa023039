"""A run's events in the order of its document: a later step is held back until those before it are told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from langgraph_interleave.events import SegmentEvent, SegmentImage, StepEvent, WarningEvent
from langgraph_interleave.segments import Segments, read_event
from langgraph_interleave.types import DocumentData, DocumentStep, Plan, StepOutcome

#: What a step is told of; drafts (previews, rejected pictures) and the critic's data are not for a chat.
_TOLD = frozenset({"reasoning", "caption", "image", "answer"})
_UNMARKED: frozenset[StepOutcome] = frozenset({"accepted", "text_only"})


@dataclass(frozen=True, slots=True)
class Piece:
    """What goes into one content block: a stretch of words, a picture, or a mark.

    Attributes:
        index: Which block; stretches with the same index belong together.
        kind: `reasoning`, `text`, `image`; `mark` is text still to be made of a step's record.
        text: Words, or the alternative text of a picture.
        image: The picture.
        record: Digest of the step's record, for a mark.
        step: The step, counted from 0; `None` for the plan's own.
    """

    index: int
    kind: Literal["reasoning", "text", "image", "mark"]
    text: str = ""
    image: SegmentImage | None = None
    record: str | None = None
    step: int | None = None


class Order:
    """Reads the parts of a run's stream and says what follows, in order.

    Guaranteed: the plan's reasoning first, then step by step its caption, what the critic says of
    each attempt, the delivered picture and the mark; where another plan takes the place of the first, the
    steps from the one on that is another, too; a block is never taken up again once another
    one was begun. What this stream did not tell, because an earlier invocation did, is filled in
    from the document, except reasoning.

    Attributes:
        run_id: The run, once it is known.
        document: The document, once it is there.
    """

    def __init__(self) -> None:
        self.run_id: str | None = None
        self.document: DocumentData | None = None
        self.raw_document: Mapping[str, Any] = {}
        self._segments = Segments(deltas=True)
        self._plan: Plan | None = None
        self._held: defaultdict[int, list[SegmentEvent]] = defaultdict(list)
        self._outcomes: dict[int, StepOutcome] = {}
        self._records: dict[int, str] = {}
        self._now = 0
        self._blocks = 0
        #: Block and words so far of each reasoning.
        self._said: dict[str, tuple[int, str]] = {}
        self._done: set[tuple[int, str]] = set()

    def read(self, part: object) -> Iterator[Piece]:
        """What follows from one part of a `version="v2"` stream with the modes `custom`, `updates` and `values`."""
        event = read_event(part)
        if event is not None:
            self.run_id = self.run_id or event.run_id
            if event.run_id == self.run_id:
                yield from self._hear(event)
        elif isinstance(part, Mapping) and part.get("type") == "updates":
            for update in _updates(cast("Mapping[str, Any]", part).get("data")):
                yield from self._commit(update)
        elif isinstance(part, Mapping) and part.get("type") == "values":
            # A run that was over before this invocation began has no updates, only its values.
            values: Any = cast("Mapping[str, Any]", part).get("data")
            yield from self._finish(values.get("document") if isinstance(values, Mapping) else None)

    def _hear(self, event: object) -> Iterator[Piece]:
        if isinstance(event, WarningEvent):
            if event.code == "note":
                yield self._new("reasoning", text=event.message)
        elif isinstance(event, StepEvent):
            if event.phase == "finish" and event.outcome is not None:
                self._outcomes[event.step] = event.outcome
                yield from self._advance()
        elif isinstance(event, SegmentEvent):
            segment = self._segments.pick(event)
            if segment is None:
                return
            if segment.plan is not None:
                if segment.replaces is not None and self._plan is not None:
                    self._begin_anew(self._plan, segment.plan)
                self._plan = segment.plan
            elif segment.kind in _TOLD:
                if segment.step is None:
                    yield from self._tell(segment)
                else:
                    self._held[segment.step].append(segment)
                    yield from self._advance()

    def _begin_anew(self, old: Plan, new: Plan) -> None:
        """Another plan takes the place of the one that is told: go on where they part."""
        same = 0
        if old.style_guide == new.style_guide:
            while self._outcomes.get(same) is not None and old.steps[same : same + 1] == new.steps[same : same + 1]:
                same += 1
        self._now = min(self._now, same)
        self._held.clear()
        self._outcomes = {step: came for step, came in self._outcomes.items() if step < self._now}
        self._records = {step: record for step, record in self._records.items() if step < self._now}
        self._done = {(step, kind) for step, kind in self._done if step < self._now}

    def _commit(self, update: Mapping[str, Any]) -> Iterator[Piece]:
        progress: Any = update.get("progress") or {}
        for index, step in (progress.get("steps") or {}).items():
            if step.get("record"):
                self._records[int(index)] = step["record"]
        yield from self._advance()
        yield from self._finish(update.get("document"))

    def _finish(self, document: object) -> Iterator[Piece]:
        """The document is there: whatever it holds and was not told yet follows."""
        if self.document is not None or not isinstance(document, Mapping) or "run_id" not in document:
            return
        if document.get("outcome") == "waiting":
            return  # somebody is asked, or was: it is not done
        self.raw_document = cast("Mapping[str, Any]", document)
        self.document = DocumentData.model_validate(self.raw_document)
        self.run_id = self.document.run_id
        for step in self.document.steps[self._now :]:
            yield from self._complete(step)

    def _advance(self) -> Iterator[Piece]:
        """Tell what is known of the step whose turn it is; go on when it is over."""
        while True:
            for segment in self._held.pop(self._now, ()):
                yield from self._tell(segment)
            outcome = self._outcomes.get(self._now)
            if outcome is None:
                return
            if outcome not in _UNMARKED:
                record = self._records.get(self._now)
                if record is None:
                    return  # the graph commits it soon, or the document says it
                yield self._new("mark", record=record, step=self._now)
            self._now += 1

    def _complete(self, step: DocumentStep) -> Iterator[Piece]:
        """What the document says of a step and the stream did not."""
        self._now = step.index + 1
        for segment in self._held.pop(step.index, ()):
            yield from self._tell(segment)
        if step.caption and (step.index, "caption") not in self._done:
            yield self._new("text", text=step.caption, step=step.index)
        if step.image is not None and (step.index, "image") not in self._done:
            alt = step.caption or step.alt
            yield self._new("image", text=alt, image=SegmentImage.of(step.image), step=step.index)
        if step.mark:
            yield self._new("text", text=step.mark, step=step.index)

    def _tell(self, segment: SegmentEvent) -> Iterator[Piece]:
        if segment.kind == "reasoning":
            yield from self._reason(segment)
        elif segment.phase == "finish" and segment.step is not None:
            self._done.add((segment.step, segment.kind))
            if segment.image is not None:
                yield self._new("image", text=self._alt(segment.step), image=segment.image, step=segment.step)
            elif segment.text:
                yield self._new("text", text=segment.text, step=segment.step)

    def _reason(self, segment: SegmentEvent) -> Iterator[Piece]:
        text = segment.text or ""
        if segment.phase == "start":
            # Whoever spoke is asked again. What was told cannot be taken back; the rest is a block of its own.
            self._said.pop(segment.segment_id, None)
        block, said = self._said.get(segment.segment_id, (None, ""))
        if segment.phase == "finish":
            # The whole; of what was told as it grew, only the rest.
            text = text[len(said) :] if text.startswith(said) else ""
        if not text:
            return
        if block is None:
            piece = self._new("reasoning", text=text, step=segment.step)
            block = piece.index
        else:
            piece = Piece(block, "reasoning", text=text, step=segment.step)
        self._said[segment.segment_id] = block, said + text
        yield piece

    def _alt(self, step: int) -> str:
        if self._plan is None or step >= len(self._plan.steps):
            return ""
        planned = self._plan.steps[step]
        return planned.caption or planned.instruction or ""

    def _new(self, kind: Literal["reasoning", "text", "image", "mark"], **fields: Any) -> Piece:
        self._blocks += 1
        return Piece(self._blocks - 1, kind, **fields)


def _updates(data: object) -> Iterator[Mapping[str, Any]]:
    """The state updates in one `updates` part, whichever nodes they are of."""
    if isinstance(data, Mapping):
        for update in cast("Mapping[str, Any]", data).values():
            for one in update if isinstance(update, list) else [update]:
                if isinstance(one, Mapping):
                    yield cast("Mapping[str, Any]", one)
