"""How one answer of a planner or critic was asked for: how often, and what could not be used."""

from __future__ import annotations

from langgraph_interleave.errors import Role
from langgraph_interleave.ledger import Repeats
from langgraph_interleave.types import PlanFinished, Unusable


class Asking:
    """One answer that is wanted, over all the calls it takes.

    Args:
        max_repeats: Repeats at most, for all reasons together.

    Attributes:
        unusable: The answers that could not be used, oldest first.
        calls: Keys of all calls so far.
        repeats: The budget that sending again and asking again share.
    """

    def __init__(self, max_repeats: int) -> None:
        self.repeats = Repeats(max_repeats)
        self.unusable: tuple[Unusable, ...] = ()
        self.calls: tuple[str, ...] = ()

    def again(self, bad: Unusable) -> bool:
        """Note an answer that cannot be used; whether it may be asked for again.

        One that was cut off is asked for once more, shorter. When that is cut off as well the limit is
        too low, and another answer would cost as much and end there too.
        """
        if (bad.truncated and any(one.truncated for one in self.unusable)) or not self.repeats.take():
            return False
        self.unusable += (bad,)
        return True


def remedy_of(role: Role, bad: Unusable, otherwise: str) -> str:
    """What helps where no answer could be used.

    Args:
        role: Whose answer it is.
        bad: The last one.
        otherwise: What helps against anything but a limit.

    Example:
        >>> remedy_of("critic", Unusable("It was cut off.", truncated=True), "Use another.")
        "Raise the limit of output tokens of the critic's model (max_new_tokens or max_tokens)."
    """
    if not bad.truncated:
        return otherwise
    return f"Raise the limit of output tokens of the {role}'s model (max_new_tokens or max_tokens)."


def counts_wrong(finished: PlanFinished, steps: int | None) -> Unusable | None:
    """A model's plan with another number of steps than was asked for, as an answer to be mended.

    Args:
        finished: The plan. One that no model wrote (`raw` is `None`) would come out the same again.
        steps: How many were asked for, if it must be exact.

    Example:
        >>> from langgraph_interleave.testing import simple_plan
        >>> counts_wrong(PlanFinished(simple_plan(2), raw="…"), 3).reason
        'The plan has 2 steps; exactly 3 were asked for.'
    """
    count = len(finished.plan.steps)
    if steps is None or finished.raw is None or count == steps:
        return None
    noun = "step" if count == 1 else "steps"
    return Unusable(f"The plan has {count} {noun}; exactly {steps} were asked for.", finished.raw)
