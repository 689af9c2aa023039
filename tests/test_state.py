"""The reducer: any order, any grouping, the same state."""

from __future__ import annotations

import itertools
import random
from functools import reduce

from langgraph_interleave.nodes import finished_turn, next_turn
from langgraph_interleave.state import Progress, StepProgress, join_progress


def progress(turn: int = 1, **steps: StepProgress) -> Progress:
    return Progress(turn=turn, run_id=f"r{turn}", plan=f"p{turn}", steps={k.strip("_"): v for k, v in steps.items()})


STARTED = StepProgress(outcome="started")
DONE = StepProgress(outcome="accepted", attempt=1, record="d1")


def test_a_finished_step_is_never_overwritten_by_a_started_one() -> None:
    for pair in itertools.permutations([progress(_0=STARTED), progress(_0=DONE)]):
        assert join_progress(*pair)["steps"] == {"0": DONE}


def test_the_later_turn_wins_whole() -> None:
    for pair in itertools.permutations([progress(1, _0=DONE), progress(2)]):
        assert join_progress(*pair) == progress(2)


def test_a_finished_turn_wins_over_an_unfinished_view_of_it() -> None:
    finished = finished_turn(progress(_0=DONE), "digest")
    for pair in itertools.permutations([progress(_0=DONE), finished]):
        assert join_progress(*pair) == finished
    assert finished["steps"] == {}


def test_an_empty_channel_is_nothing() -> None:
    assert join_progress(None, progress()) == progress() == join_progress(progress(), None)
    assert join_progress(None, None)["turn"] == 0


def test_any_order_and_grouping_gives_the_same() -> None:
    rng = random.Random(3)
    for _ in range(200):
        updates = [
            progress(rng.choice([1, 2]), **{f"_{rng.randint(0, 3)}": rng.choice([STARTED, DONE])}) for _ in range(6)
        ]
        expected = reduce(join_progress, updates, None)
        rng.shuffle(updates)
        middle = rng.randint(1, 5)
        left, right = reduce(join_progress, updates[:middle], None), reduce(join_progress, updates[middle:], None)
        assert join_progress(left, right) == expected


def test_a_turn_leaves_one_digest() -> None:
    first = finished_turn(next_turn(None, "r1", "p1"), "d1")
    second = next_turn(first, "r2", "p2")
    assert (second["turn"], second["steps"], second.get("history")) == (2, {}, {"r1": "d1"})
    unfinished = next_turn(second, "r3", "p3")
    assert unfinished.get("history") == {"r1": "d1"}, "a turn that never finished has no document"
