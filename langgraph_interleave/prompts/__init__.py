"""What the models are told: versioned template files, and a folder of the user's to replace them."""

from langgraph_interleave.prompts.templates import Prompts

__all__ = ["Prompts"]
