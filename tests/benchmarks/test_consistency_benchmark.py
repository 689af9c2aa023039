"""The benchmark of reference policies: its sequences, and one of each, briefly."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from types import ModuleType

import pytest

from langgraph_interleave.world.grammar import target

Load = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def consistency(load: Load) -> ModuleType:
    return load("consistency")


def test_three_things_stay_and_the_words_say_the_scenes(consistency: ModuleType) -> None:
    for seed in range(5):
        scenes, plan = consistency.scenes(seed), consistency.plan_of(seed)
        assert len(scenes) == len(plan.steps) == 12
        assert all(
            scene.things[:3] == scenes[0].things[:3] and scene.backdrop == scenes[0].backdrop for scene in scenes
        )
        assert all(one.things[3] != other.things[3] for one, other in pairwise(scenes))
        for step, scene in zip(plan.steps, scenes, strict=True):
            read = target(step.prompt)
            assert [(t.kind, t.color, t.size) for t in read.things] == [(t.kind, t.color, t.size) for t in scene.things]


async def test_a_faultless_artist_is_right_under_every_policy(
    consistency: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consistency, "SIDE", 64)
    for name in ("explicit", "first", "sheet", "explicit, reanchor_every=3"):
        options = consistency.POLICIES[name]
        result = await consistency.run(1, options, preset="perfect")
        assert all(result.right), name
        assert result.drawings == 12 + (name == "sheet")
    first = await consistency.run(1, {"references": "first"})
    chain = await consistency.run(1, {})
    assert max(first.depths) == 1 and chain.depths == tuple(range(12))
    row = consistency.row([chain, first], [])
    assert row["success"][0] == pytest.approx((sum(chain.right) + sum(first.right)) / 24, abs=1e-3)


@pytest.mark.slow
def test_the_table(consistency: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert consistency.main(["--json", "--sequences", "4", "--judged", "0"]) == 0
    policies = json.loads(capsys.readouterr().out)["policies"]
    assert policies["as asked"]["success"][0] == 1
    assert policies["first"]["success"][0] > policies["explicit"]["success"][0]
    assert policies["first"]["depth"] < policies["explicit, reanchor_every=3"]["depth"] < policies["explicit"]["depth"]
