"""The backend `svg`: any chat model draws by writing SVG, and edits by revising it."""

from langgraph_interleave.backends.svg.backend import SvgBackend

__all__ = ["SvgBackend"]
