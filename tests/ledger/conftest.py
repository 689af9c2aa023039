"""Building blocks of the ledger's tests."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.ledger import Call, Ledger, Produced, call_key
from langgraph_interleave.types.usage import Usage


class Maker:
    """A call whose end the test decides, and which notes what happens to it."""

    def __init__(
        self,
        *,
        ready: bool = False,
        error: BaseException | None = None,
        usage: Usage | None = None,
        stubborn: bool = False,
    ) -> None:
        self.calls = 0
        self.cancelled = 0
        self.finished = 0
        self.error = error
        self.usage = usage or Usage()
        self.stubborn = stubborn
        self.started = threading.Event()
        self.open = ready
        self.thread = ""

    def let_go(self) -> None:
        self.open = True

    async def __call__(self) -> Produced:
        self.calls += 1
        self.thread = threading.current_thread().name
        number = self.calls
        self.started.set()
        while not self.open:
            try:
                await asyncio.sleep(0.002)
            except asyncio.CancelledError:
                self.cancelled += 1
                if not self.stubborn:
                    raise
        if self.error is not None:
            raise self.error
        self.finished += 1
        return Produced({"number": number}, self.usage)


async def _until(condition: Callable[[], object], seconds: float = 3.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        await asyncio.sleep(0.002)


def _call(name: str = "k", **fields: Any) -> Call:
    scope, role = fields.pop("scope", "run"), fields.pop("role", "backend")
    return Call(scope, call_key(scope=scope, role=role, fingerprint="f", name=name), role, **fields)


@pytest.fixture
def maker() -> type[Maker]:
    """The class of calls whose end the test decides."""
    return Maker


@pytest.fixture
def until() -> Any:
    """Wait until a condition holds."""
    return _until


@pytest.fixture
def call() -> Any:
    """Make a call of scope `run` by a name."""
    return _call


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    """A ledger in memory; afterwards nothing may be under way."""
    ledger = Ledger(ArtifactStore.memory(), grace_s=0.1)
    yield ledger
    deadline = time.monotonic() + 3
    while ledger.in_flight():
        assert time.monotonic() < deadline, "a call was left under way"
        time.sleep(0.005)
