"""The reducer: any order, any grouping, the same state."""

from __future__ import annotations

import itertools
import random
from functools import reduce

from langgraph_interleave.state import Progress, StepProgress, finished_turn, join_progress, next_turn


def progress(turn: int = 1, plans: int = 0, **steps: StepProgress) -> Progress:
    named = {k.strip("_"): v for k, v in steps.items()}
    return Progress(turn=turn, plans=plans, run_id=f"r{turn}", plan=f"p{turn}.{plans}", steps=named)


STARTED = StepProgress(outcome="started")
WAITING = StepProgress(outcome="waiting", attempt=0, record="w0")
SENT_BACK = StepProgress(outcome="started", attempt=1, record="s1", round=1)
#: A limit left no room for the attempt.
AT_A_LIMIT = StepProgress(outcome="waiting", attempt=0, record="l0", round=1)
SENT_BACK_AGAIN = StepProgress(outcome="started", attempt=1, record="s2", round=2)
WAITING_AGAIN = StepProgress(outcome="waiting", attempt=1, record="w1", round=2)
DONE = StepProgress(outcome="accepted", attempt=1, record="d1")


def test_a_finished_step_is_never_overwritten_by_a_started_one() -> None:
    for pair in itertools.permutations([progress(_0=STARTED), progress(_0=DONE)]):
        assert join_progress(*pair)["steps"] == {"0": DONE}


def test_a_step_that_waits_goes_on_with_a_later_attempt() -> None:
    """Each of these comes after the one before it, whatever order they are joined in."""
    course = [STARTED, WAITING, SENT_BACK, AT_A_LIMIT, SENT_BACK_AGAIN, WAITING_AGAIN, DONE]
    for earlier, later in itertools.combinations(course, 2):
        for pair in itertools.permutations([progress(_0=earlier), progress(_0=later)]):
            assert join_progress(*pair)["steps"] == {"0": later}


def test_a_later_plan_of_a_turn_wins_whole() -> None:
    for pair in itertools.permutations([progress(1, 0, _0=DONE), progress(1, 1)]):
        assert join_progress(*pair) == progress(1, 1)


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
        states = [STARTED, WAITING, SENT_BACK, AT_A_LIMIT, SENT_BACK_AGAIN, WAITING_AGAIN, DONE]
        updates = [
            progress(rng.choice([1, 2]), rng.choice([0, 1]), **{f"_{rng.randint(0, 3)}": rng.choice(states)})
            for _ in range(6)
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
