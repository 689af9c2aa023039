"""The ideal scheduler on cases worked out by hand, and the benchmark itself, briefly."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Load = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def loop(load: Load) -> ModuleType:
    return load("loop")


def chain(loop: ModuleType, *attempts: int) -> list[Any]:
    return [loop.Stub(count, (index - 1,) if index else ()) for index, count in enumerate(attempts)]


def test_nothing_ahead_is_the_plain_loop_on_a_chain(loop: ModuleType) -> None:
    steps = chain(loop, 1, 3, 2)
    assert loop.ideal(steps, ahead="nothing") == pytest.approx(0.2 + 6 * 0.16)
    assert loop.plain_bound(steps) == pytest.approx(0.2 + 6 * 0.16)


def test_an_early_start_saves_what_is_left_of_the_planning(loop: ModuleType) -> None:
    # Step 0 of 4 is known at 0.05 s and not at 0.20; after that the chain waits for itself.
    assert loop.ideal(chain(loop, 1, 1, 1, 1), ahead="early start") == pytest.approx(0.05 + 4 * 0.16)


def test_lookahead_hides_every_critique_but_the_last(loop: ModuleType) -> None:
    assert loop.ideal(chain(loop, 1, 1, 1, 1), ahead="lookahead") == pytest.approx(0.05 + 4 * 0.10 + 0.06)


def test_a_lost_bet_costs_the_critique_and_a_new_drawing(loop: ModuleType) -> None:
    # 0.10 known, drawn 0.20, rejected 0.26, drawn 0.36 (step 1 starts on that), drawn 0.46, judged 0.52.
    assert loop.ideal(chain(loop, 2, 1), ahead="lookahead") == pytest.approx(0.52)


def test_a_picture_is_not_judged_before_its_bet_is_won(loop: ModuleType) -> None:
    # Drawn at 0.20, judged at 0.50; step 1 is drawn at 0.30 but judged only from 0.50 on.
    steps = [loop.Stub(critique_s=0.30), loop.Stub(sources=(0,))]
    assert loop.ideal(steps, ahead="lookahead") == pytest.approx(0.56)


def test_independent_steps_wait_for_their_words_only(loop: ModuleType) -> None:
    steps = [loop.Stub(3), loop.Stub(), loop.Stub()]
    # Step 0: 0.0667 + 3 * 0.16; step 2: 0.2 + 0.16.
    assert loop.ideal(steps, ahead="early start") == pytest.approx(0.2 / 3 + 0.48, abs=1e-6)
    assert loop.ideal(steps, ahead="nothing") == pytest.approx(0.2 + 0.48)


def test_a_slow_step_does_not_hold_up_a_chain_beside_it(loop: ModuleType) -> None:
    steps = [loop.Stub(generate_s=1.0), loop.Stub(), loop.Stub(sources=(1,))]
    assert loop.ideal(steps, ahead="nothing") == pytest.approx(1.26)


def test_the_run_is_not_over_before_the_plan_is(loop: ModuleType) -> None:
    assert loop.ideal([loop.Stub(generate_s=0.01, critique_s=0.01)], ahead="lookahead", plan_s=5.0) == 5.02


@given(data=st.data())
@settings(max_examples=60)
def test_more_freedom_is_never_slower(loop: ModuleType, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 7))
    steps = [
        loop.Stub(
            data.draw(st.integers(1, 3)),
            tuple(data.draw(st.sets(st.integers(0, index - 1), max_size=2))) if index else (),
            data.draw(st.floats(0.01, 2)),
            data.draw(st.floats(0.01, 2)),
        )
        for index in range(count)
    ]
    bounds = [loop.ideal(steps, ahead=ahead) for ahead in ("lookahead", "early start", "nothing")]
    assert bounds == sorted(bounds)
    assert bounds[2] <= loop.plain_bound(steps) + 1e-5


def test_luck_is_fixed_and_about_as_good_as_said(loop: ModuleType) -> None:
    first = [loop.accepted(seed, 0, 0) for seed in range(400)]
    assert first == [loop.accepted(seed, 0, 0) for seed in range(400)]
    assert 0.65 < sum(first) / 400 < 0.75
    assert {loop.attempts_of(seed, 1) for seed in range(60)} == {1, 2, 3}


def test_percentiles(loop: ModuleType) -> None:
    assert loop.percentiles([float(n) for n in range(100)]) == {"median": 49.5, "p95": 95.0, "max": 99.0, "count": 100}


async def test_graph_and_plain_loop_make_the_same_calls(loop: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """With stubs that take no time; how long it took is nobody's business here."""
    monkeypatch.setattr(loop, "PLAN_S", 0.0)
    monkeypatch.setattr(loop, "GENERATE_S", 0.0)
    monkeypatch.setattr(loop, "CRITIQUE_S", 0.0)
    case = loop.Case("chain of 3", ((), (0,), (1,)), False, 0.95)
    [found] = await loop.measure([case], 2)
    for seed in range(2):
        wanted = sum(stub.attempts for stub in case.stubs(seed))
        stages = loop.Stage(case, seed), loop.Stage(case, seed)
        await loop.plain(stages[0])
        _, visible = await loop.graph(stages[1], case)
        assert len(visible) == wanted
        for stage in stages:
            assert len(stage.backend.requests) == len(stage.critic.requests) == wanted
    assert len(found.graph) == len(found.plain) == 2
    row = found.data()
    assert json.loads(json.dumps(row)) == row
    assert "chain of 3" in loop.table({"cases": [row]})


def test_a_second_candidate_only_helps(loop: ModuleType) -> None:
    for seed in range(40):
        for step in range(6):
            assert loop.attempts_of(seed, step, 2) <= loop.attempts_of(seed, step)


async def test_graph_with_candidates_meets_the_luck_it_is_held_against(
    loop: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PLAN_S", "GENERATE_S", "CRITIQUE_S"):
        monkeypatch.setattr(loop, name, 0.0)
    case = loop.Case("chain of 3", ((), (0,), (1,)), "nothing", None, candidates=2)
    for seed in range(3):
        stage = loop.Stage(case, seed)
        await loop.graph(stage, case)
        wanted = sum(stub.attempts for stub in case.stubs(seed, 2))
        assert len(stage.backend.requests) == wanted and len(stage.critic.requests) == 2 * wanted


async def test_bets_are_priced_as_said(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    bets = load("pace.bets")
    monkeypatch.setattr(bets, "GENERATE_S", 0.02)
    monkeypatch.setattr(bets, "CRITIQUE_S", 0.02)
    rows = await bets.measure(1, (1.0,))
    assert [row["lookahead"] for row in rows] == ["never", "value", "always"]
    assert {row["dollars"] for row in rows} == {round(6 * bets.PRICE_USD, 4)} and {
        row["lost_bets"] for row in rows
    } == {0}
    assert "| 100% |" in bets.table(rows)


async def test_quality_is_told_for_every_way(load: Load) -> None:
    quality = load("pace.quality")
    rows = await quality.measure(1, seeds=1)
    assert [(row["candidates"], row["lookahead"]) for row in rows] == list(quality.WAYS)
    assert rows[0]["right"] == rows[1]["right"], "what is drawn ahead is drawn the same"
    assert rows[2]["drawings_per_step"] > rows[0]["drawings_per_step"]
