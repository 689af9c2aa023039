"""A model's answer about a plan that is to be changed, as the whole changed plan."""

from __future__ import annotations

from langgraph_interleave.changes import apply_changes, match_steps
from langgraph_interleave.errors import PlanError
from langgraph_interleave.parsing import ParsedChanges, ParsedPlan, parse_changes
from langgraph_interleave.parsing.plan import about_count
from langgraph_interleave.planner import Existing, PlanRequest
from langgraph_interleave.types import Plan, PlanDelta, StyleGuide


class ChangedPlan:
    """Takes an answer piece by piece, and makes the changed plan of it at its end.

    Where the model says what becomes of each step, that is done; where it gives a whole plan, the steps that
    are the same are found in it.

    Args:
        request: What was asked.
        existing: The plan that is changed.

    Attributes:
        origins: Once finished, for each step the step of the existing plan whose picture it keeps.
    """

    def __init__(self, request: PlanRequest, existing: Existing) -> None:
        self.origins: tuple[int | None, ...] = ()
        self._request = request
        self._existing = existing
        self._text: list[str] = []

    def feed(self, chunk: str) -> list[PlanDelta]:
        """Take the next piece; nothing comes of it before the end, since a later change may move a step."""
        self._text.append(chunk)
        return []

    def finish(self, truncated: bool = False) -> ParsedPlan:
        """Read the whole.

        Args:
            truncated: The provider says that it cut the answer off.

        Raises:
            PlanError: It cannot be read, or the changes cannot be made.
        """
        request, existing = self._request, self._existing
        inputs = len(request.images)
        drawn = {*existing.pictures.values()}
        parsed = parse_changes(
            "".join(self._text),
            plan=existing.plan,
            inputs=inputs,
            starts=[number for number in range(inputs) if number not in drawn and number not in existing.given],
            truncated=truncated,
        )
        if isinstance(parsed, ParsedChanges):
            try:
                changed = apply_changes(existing.plan, parsed.changes, pictures=existing.pictures)
            except PlanError as error:
                error.raw = parsed.raw
                raise
            plan, self.origins = changed.plan, changed.origins
        else:
            plan = _in_the_same_style(parsed.plan, existing.plan)
            self.origins = match_steps(existing.plan, plan)
        counted = about_count(len(plan.steps), request.steps, request.limits.max_steps)
        return ParsedPlan(plan, parsed.reasoning, (*parsed.warnings, *counted), parsed.raw)


def _in_the_same_style(plan: Plan, old: Plan) -> Plan:
    """A whole plan, with the style guide and the title of the old one where it has none: the tagged form never does."""
    style = old.style_guide if plan.style_guide == StyleGuide() else plan.style_guide
    return plan.model_copy(update={"style_guide": style, "title": plan.title or old.title})
