"""English scene text and scenes, both ways: `describe`, `read`, `revise`, `difference`, `target`."""

from __future__ import annotations

from langgraph_interleave.world.grammar.changes import change_in_words, difference
from langgraph_interleave.world.grammar.prose import describe
from langgraph_interleave.world.grammar.reader import Reading, read
from langgraph_interleave.world.grammar.revision import revise
from langgraph_interleave.world.grammar.wording import instruction, prompt, target

__all__ = ["Reading", "change_in_words", "describe", "difference", "instruction", "prompt", "read", "revise", "target"]
