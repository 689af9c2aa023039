"""The book of procedures: how common things are done, step by step, with a scene for each step."""

from __future__ import annotations

from langgraph_interleave.world.procedures.book import book, fingerprint
from langgraph_interleave.world.procedures.procedure import Procedure, ProcedureStep, Words
from langgraph_interleave.world.procedures.search import Hit, find

__all__ = ["Hit", "Procedure", "ProcedureStep", "Words", "book", "find", "fingerprint"]
