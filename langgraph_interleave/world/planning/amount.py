"""How much of what is said is read: rules are slow with long texts, and nobody waits minutes for a sketch."""

from __future__ import annotations

from langgraph_interleave.types import PlanWarning

#: Characters that are read.
MOST_CHARACTERS = 4000


def read_text(text: str) -> tuple[str, PlanWarning | None]:
    """As much of a text as is read by these rules, which are slow with long ones; with a warning where that is not all.

    Example:
        >>> read_text("a bean")
        ('a bean', None)
    """
    if len(text) <= MOST_CHARACTERS:
        return text, None
    read = text[:MOST_CHARACTERS].rpartition(" ")[0] or text[:MOST_CHARACTERS]
    said = f"Only the first {len(read):,} of {len(text):,} characters are read here (a planner with a model reads all)."
    return read, PlanWarning("other", said)
