"""Changing a plan, and telling what was changed: pure, over plans and documents as data.

Three ways from one version to the next. A planner, or a reviewer, says what becomes of each step:
`apply_changes` makes the plan of it. A planner gives a whole new plan: `match_steps` finds the steps that
are the same. Two documents are there: `compare` says what lies between them.
"""

from langgraph_interleave.changes.applying import Changed, apply_changes
from langgraph_interleave.changes.comparing import compare
from langgraph_interleave.changes.matching import match_steps

__all__ = ["Changed", "apply_changes", "compare", "match_steps"]
