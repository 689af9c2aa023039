"""The finished sequence: captions and pictures in order, as a page, as text, and with its history."""

from langgraph_interleave.document.document import Document

__all__ = ["Document"]
