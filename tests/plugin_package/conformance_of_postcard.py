"""The third party's own test: pytest runs every item of the conformance suite."""

from __future__ import annotations

from interleave_postcard import PostcardBackend

from langgraph_interleave.testing import BackendConformance


class TestPostcard(BackendConformance):
    def make_backend(self) -> PostcardBackend:
        return PostcardBackend()
