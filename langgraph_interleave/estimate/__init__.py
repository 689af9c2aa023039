"""What a run may take, before anything is spent."""

from langgraph_interleave.estimate.estimate import Estimate, Range, estimate_plan, estimate_run
from langgraph_interleave.estimate.wording import describe, in_a_line
from langgraph_interleave.profiles import (
    TYPICAL_STEPS,
    CallProfile,
    Priced,
    calls_seconds,
    profile_of,
)

__all__ = [
    "TYPICAL_STEPS",
    "CallProfile",
    "Estimate",
    "Priced",
    "Range",
    "calls_seconds",
    "describe",
    "estimate_plan",
    "estimate_run",
    "in_a_line",
    "profile_of",
]
