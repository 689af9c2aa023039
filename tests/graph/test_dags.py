"""Random DAGs: every attempt exactly once, always composed; sync and async alike."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan
from langgraph_interleave.types import CritiqueRequest, ImageRequest

TURNS = 2


def play(seed: int, *, lookahead: bool, sync: bool, saver: bool) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 9)
    sources = [sorted(rng.sample(range(i), rng.randint(0, min(i, 3)))) for i in range(count)]
    text = [i for i in range(count) if rng.random() < 0.15]
    if len(text) == count:
        text = []
    revise = {i: rng.choice([0, 0, 1, 2]) for i in range(count)}

    def verdict(asked: CritiqueRequest) -> str:
        return "revise" if asked.attempt < revise[int(asked.instruction.split()[-1].rstrip("."))] else "accept"

    backend = ScriptedBackend(delay_s=lambda asked: (asked.seed or 0) % 3 / 2000)
    critic = ScriptedCritic(verdict, delay_s=lambda asked: len(asked.prompt) % 3 / 2000)
    plan = simple_plan(count, sources=sources, text=text)
    graph = create_interleave_graph(
        ScriptedPlanner(plan), backend, critic, lookahead=lookahead, checkpointer=InMemorySaver() if saver else None
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    drawn = [i for i in range(count) if i not in text]
    expected = Counter((i, a) for i in drawn for a in range(revise[i] + 1))
    for turn in range(TURNS):
        backend.requests.clear()
        critic.requests.clear()
        if sync:
            result = graph.invoke({"request": f"turn {turn}"}, config)
        else:
            result = asyncio.run(graph.ainvoke({"request": f"turn {turn}"}, config))
        assert result["outcome"] == "complete"
        assert [step["outcome"] for step in result["document"]["steps"]] == [
            "text_only" if i in text else "accepted" for i in range(count)
        ]
        judged = Counter((number(asked.instruction), asked.attempt) for asked in critic.requests)
        assert judged == expected, f"seed {seed}: judged {judged}, expected {expected}"
        if not lookahead:
            asked = Counter(drawing(request) for request in backend.requests)
            assert asked == expected, f"seed {seed}: drawn {asked}, expected {expected}"
        assert Counter(drawing(request) for request in backend.requests) >= expected


def number(instruction: str) -> int:
    return int(instruction.split()[-1].rstrip("."))


def drawing(asked: ImageRequest) -> tuple[int, int]:
    words = asked.prompt.split()
    return int(words[1]), int(words[3].rstrip(")")) if len(words) > 2 else 0


@pytest.mark.parametrize("lookahead", [False, True])
@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize("fifth", [0, *(pytest.param(fifth, marks=pytest.mark.slow) for fifth in range(1, 5))])
def test_random_dags(fifth: int, sync: bool, lookahead: bool) -> None:
    """15 seeds a case, 300 in all; 60 of them quickly."""
    first = 15 * (fifth + 5 * sync + 10 * lookahead)
    for seed in range(first, first + 15):
        play(seed, lookahead=lookahead, sync=sync, saver=seed % 3 == 0)
