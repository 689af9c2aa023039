"""Local chat models: weights on this machine, run by transformers."""

from langgraph_interleave.models.transformers.chat import TransformersChat

__all__ = ["TransformersChat"]
