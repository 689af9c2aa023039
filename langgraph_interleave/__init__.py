"""Interleaved documents from any image generator, as a LangGraph plugin."""
