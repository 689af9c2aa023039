"""What the machine concludes, about a step and about a run (never what a critic says)."""

from __future__ import annotations

from typing import Literal

StepOutcome = Literal[
    "accepted",  # the critic, or a reviewer, said accept
    "text_only",  # no picture was wanted
    "exhausted",  # best or last of the attempts, marked
    "critic_failed",  # critic unreadable or unreachable; picture kept, marked
    "backend_failed",  # placeholder
    "blocked",  # placeholder: the provider refused the content
    "skipped",  # placeholder: a source has no picture, or a limit was reached
    "cancelled",  # placeholder
    "waiting",  # only while the run waits: a reviewer is asked about it, or it comes after that
]
RunOutcome = Literal["complete", "partial", "waiting", "cancelled", "failed"]
RunReason = Literal["limit", "exhausted", "failed_step"]
OnExhausted = Literal["best", "last", "ask", "replan", "fail"]
#: At a limit of the run: it finishes with what is there, or somebody is asked.
OnLimit = Literal["finish", "ask"]
Publish = Literal["early", "verified"]
#: Whether the next step is drawn on the bet that this one is accepted; `value` weighs gain against cost.
Lookahead = Literal["never", "value", "always"]

#: Outcomes that leave the step with a picture.
WITH_PICTURE: frozenset[str] = frozenset({"accepted", "exhausted", "critic_failed"})
