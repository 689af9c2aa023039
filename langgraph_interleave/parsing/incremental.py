"""A plan read while it is still being written."""

from __future__ import annotations

from langgraph_interleave.errors import PlanError
from langgraph_interleave.parsing.answer import Unreadable, spelling
from langgraph_interleave.parsing.data import Json, cleaned, storable
from langgraph_interleave.parsing.literal import Path
from langgraph_interleave.parsing.plan import STEP_LISTS, ParsedPlan, is_step, parse_plan, style_guide_of
from langgraph_interleave.parsing.steps import StepReader
from langgraph_interleave.parsing.tagged import Candidate, Scanner
from langgraph_interleave.parsing.wording import integer_of
from langgraph_interleave.types import PlanDelta, ReasoningDelta, Step, StepDelta, StyleDelta


class IncrementalPlan:
    """Reads a plan from text that comes in pieces of any size.

    Each step comes out the moment its object closes, in order. Exceptions, where a delta is late or
    missing: a step whose source may still mean two things waits (see `steps`); after text that needs
    mending no further steps come. What `finish` returns counts; only when the model writes a second
    answer, or quotes one before its own, can it differ from the deltas.

    Args:
        inputs: As for `parse_plan`.
        steps: As for `parse_plan`.
        max_steps: As for `parse_plan`.
        continue_from: As for `parse_plan`.

    Example:
        >>> plan = IncrementalPlan()
        >>> plan.feed('<think>One pot.</think><answer>{"steps": [{"op": "generate", "ti')
        [ReasoningDelta(text='One pot.')]
        >>> [delta] = plan.feed('tle": "Pot", "prompt": "A pot", "instruction": "Draw a pot"}')
        >>> delta.step.title
        'Pot'
        >>> len(plan.feed("]}</answer>")), len(plan.finish().plan.steps)
        (0, 1)
    """

    def __init__(
        self,
        *,
        inputs: int = 0,
        steps: int | None = None,
        max_steps: int | None = None,
        continue_from: int | None = None,
    ) -> None:
        self._inputs = inputs
        self._asked = steps
        self._max_steps = max_steps
        self._continue_from = continue_from
        self._text: list[str] = []
        self._deltas: list[PlanDelta] = []
        self._reasoning = _Reasoning()
        self._scanner = Scanner(self._on_thought, self._on_value)
        self._reader = StepReader(inputs=inputs, continue_from=continue_from)
        self._source: tuple[Candidate, str | int] | None = None
        self._stopped = False

    def feed(self, chunk: str) -> list[PlanDelta]:
        """Take the next piece.

        Args:
            chunk: Any part of the text, one character or all of it.

        Returns:
            What became complete with it, in order.
        """
        self._text.append(chunk)
        self._deltas = []
        self._scanner.feed(chunk)
        return self._deltas

    def finish(self, truncated: bool = False) -> ParsedPlan:
        """Read the whole; the same as `parse_plan` of all the text.

        Args:
            truncated: The provider says that it cut the answer off.

        Raises:
            PlanError: There is no complete plan.
        """
        return parse_plan(
            "".join(self._text),
            inputs=self._inputs,
            steps=self._asked,
            max_steps=self._max_steps,
            truncated=truncated,
            continue_from=self._continue_from,
        )

    def _on_thought(self, text: str | None) -> None:
        if text is None:
            self._reasoning.begin()
        elif more := self._reasoning.add(text):
            self._deltas.append(ReasoningDelta(more))

    def _on_value(self, candidate: Candidate, path: Path, value: Json) -> None:
        if self._stopped or candidate.quoted or candidate.nested:
            return
        try:
            self._take(candidate, path, value)
        except (PlanError, Unreadable):
            self._stopped = True  # `finish` says why.

    def _take(self, candidate: Candidate, path: Path, value: Json) -> None:
        match path:
            case (str(key), int()) if spelling(key) in STEP_LISTS:
                self._take_step(candidate, key, value)
            case (int(),) if is_step(value):
                self._take_step(candidate, -1, value)
            case (str(key),) if self._source == (candidate, key) and isinstance(value, list):
                self._emit(self._reader.close())
            case () if self._source == (candidate, -1):
                self._emit(self._reader.close())
            case (str(key),) if spelling(key) == "style_guide":
                self._deltas.append(StyleDelta(style_guide_of(value)[0]))
            case (str(key),) if spelling(key) == "first_number":
                self._reader.begins(integer_of(value))
            case (str(key),) if spelling(key) == "reasoning" and isinstance(value, str):
                self._reasoning.begin()
                self._on_thought(value)
            case _:
                pass

    def _take_step(self, candidate: Candidate, key: str | int, value: Json) -> None:
        if self._source is None:
            self._source = candidate, key
        if self._source == (candidate, key):
            self._emit(self._reader.add(value))

    def _emit(self, steps: list[Step]) -> None:
        self._deltas.extend(StepDelta(step) for step in steps)


class _Reasoning:
    """Stretches of reasoning as `answer.reasoning_of` joins them, piece by piece."""

    def __init__(self) -> None:
        self._anything = False
        self._begun = False
        self._space: list[str] = []

    def begin(self) -> None:
        """A new stretch begins; space at the end of the last one is dropped."""
        self._begun = False
        self._space = []

    def add(self, text: str) -> str:
        """Take more of the stretch; returns what can be shown of it."""
        text = cleaned(storable(text))
        if not self._begun:
            text = text.lstrip()
        shown = text.rstrip()
        if not shown:
            if self._begun and text:
                self._space.append(text)
            return ""
        gap = "".join(self._space) if self._begun else "\n\n" if self._anything else ""
        self._space = [text[len(shown) :]]
        self._begun = self._anything = True
        return gap + shown
