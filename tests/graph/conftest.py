"""Building blocks of the graph's tests."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.graph import CompiledGraph, create_interleave_graph
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan

Made = tuple[CompiledGraph, ScriptedPlanner, ScriptedBackend, ScriptedCritic]


@pytest.fixture
def make() -> Callable[..., Made]:
    """A graph of scripted roles; a number or a plan, the backend's and the critic's script."""

    def build(plan: Any = 2, drawings: Any = None, verdicts: Any = None, **options: Any) -> Made:
        planner = ScriptedPlanner(simple_plan(plan) if isinstance(plan, int) else plan)
        backend = drawings if isinstance(drawings, ScriptedBackend) else ScriptedBackend(drawings)
        critic = verdicts if isinstance(verdicts, ScriptedCritic) else ScriptedCritic(verdicts)
        options.setdefault("artifacts", ArtifactStore.memory())
        return create_interleave_graph(planner, backend, critic, **options), planner, backend, critic

    return build


@pytest.fixture
def complaints() -> Callable[[list[dict[str, Any]]], list[str]]:
    """What is wrong with the events of one whole invocation; nothing, if all is well."""

    def look(events: list[dict[str, Any]], *, resumed: bool = False) -> list[str]:
        wrong: list[str] = []
        ends = [event.get("phase") for event in events if event["type"] == "interleave.run"]
        if ends != (["finish"] if resumed else ["start", "finish"]) or events[-1]["type"] != "interleave.run":
            wrong.append(f"the run: {ends}, last {events[-1]}")
        segments = [event for event in events if event["type"] == "interleave.segment"]
        whole = Counter(event["segment_id"] for event in segments if event["phase"] == "finish")
        begun = Counter(event["segment_id"] for event in segments if event["phase"] == "start")
        wrong += [f"told twice: {name}" for name in whole + begun if max(whole[name], begun[name]) > 1]
        wrong += [f"never finished: {name}" for name in begun if name not in whole]
        for kind, names in (("interleave.step", ("step",)), ("interleave.attempt", ("step", "attempt"))):
            phases = {
                phase: sorted(
                    tuple(e[name] for name in names) for e in events if e["type"] == kind and e["phase"] == phase
                )
                for phase in ("start", "finish")
            }
            if phases["start"] != phases["finish"] or len(set(phases["start"])) != len(phases["start"]):
                wrong.append(f"{kind}: {phases}")
        answers = [event["kind"] for event in segments if event["track"] == "answer"]
        if answers and answers[0] != "plan" and not resumed:
            wrong.append(f"the first visible answer is a {answers[0]}")
        return wrong

    return look


@pytest.fixture
def landed() -> Callable[..., Awaitable[None]]:
    """Wait until a ledger has no call under way; by default longer than anything should take."""

    async def wait(ledger: Ledger, within_s: float = 10.0) -> None:
        until = time.monotonic() + within_s
        while ledger.in_flight():
            assert time.monotonic() < until, f"still under way: {ledger.in_flight()}"
            await asyncio.sleep(0.005)

    return wait
