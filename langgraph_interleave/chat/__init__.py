"""The interleave graph as a LangChain chat model: messages in, ordered reasoning, text and pictures out."""

from langgraph_interleave.chat.blocks import ImageForm as ImageForm
from langgraph_interleave.chat.model import ChatInterleave as ChatInterleave

__all__ = ["ChatInterleave", "ImageForm"]
