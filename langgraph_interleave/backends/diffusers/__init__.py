"""The backend `diffusers`: any image pipeline of the diffusers library, on this machine."""

from langgraph_interleave.backends.diffusers.backend import DiffusersBackend

__all__ = ["DiffusersBackend"]
