"""Model text to plans and critiques: strict, total and pure.

Whatever a model writes, the result is a plan or a critique, or an error of ours with the raw text
kept. Nothing is guessed: a half plan is never completed, an unclear verdict is never counted.
"""

from langgraph_interleave.parsing.changes import ParsedChanges, parse_changes
from langgraph_interleave.parsing.critique import ParsedCritique, parse_critique
from langgraph_interleave.parsing.incremental import IncrementalPlan
from langgraph_interleave.parsing.plan import ParsedPlan, parse_plan

__all__ = [
    "IncrementalPlan",
    "ParsedChanges",
    "ParsedCritique",
    "ParsedPlan",
    "parse_changes",
    "parse_critique",
    "parse_plan",
]
