"""Runs that a client cancels or hangs up on: their calls stop, and going on repeats none that was finished."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from typing import Any

import pytest

pytestmark = pytest.mark.server

#: Steps 0 and 1 are done and 2 and 3 under way when a run is stopped.
UNTIL = 2


def look(sdk: Any, about: str) -> tuple[Counter[str], Counter[str], list[str]]:
    """How often each drawing of a request began and ended, and all calls under way in the server."""
    found: Any = sdk.runs.wait(None, "left", input={"about": about})
    begun, ended = (Counter(prompt for what, prompt in found["notes"] if what == which) for which in ("begin", "end"))
    return begun, ended, found["flying"]


def stopped(sdk: Any, about: str, *, within_s: float) -> tuple[Counter[str], Counter[str]]:
    """Wait until no call is under way, make sure that none is begun after that, and return what was made."""
    end = time.monotonic() + within_s
    while (seen := look(sdk, about))[2]:
        assert time.monotonic() < end, f"still under way: {seen[2]}"
        time.sleep(0.1)
    time.sleep(0.7)
    again = look(sdk, about)
    assert again == seen, "nothing goes on"
    return seen[0], seen[1]


def started(sdk: Any, thread: str, graph: str, about: str, context: dict[str, Any]) -> str:
    """Start a run and wait until a step of the second pair has begun; its id."""
    run = sdk.runs.create(
        thread, graph, input={"request": about}, context=context, stream_mode=["custom"], stream_resumable=True
    )
    with closing(sdk.runs.join_stream(thread, run["run_id"], stream_mode="custom")) as parts:
        for part in parts:
            if part.event == "custom" and part.data["type"] == "interleave.step" and part.data["step"] == UNTIL:
                return run["run_id"]
    raise AssertionError("the run ended too soon")


def once_each(sdk: Any, about: str, before: tuple[Counter[str], Counter[str]]) -> None:
    """What had ended was not begun again; what had not, at most once more."""
    begun, ended = before
    prompts = [f"{about} {step}" for step in range(5)]
    assert ended.keys() >= set(prompts[:UNTIL])
    made, *_ = look(sdk, about)
    assert made == {prompt: 1 if ended[prompt] else 1 + begun[prompt] for prompt in prompts}


@pytest.mark.parametrize("graph", ["noted", "billed"])
def test_cancelled_and_gone_on_with(sdk: Any, thread: str, graph: str) -> None:
    about = f"interrupted {graph}"
    run_id = started(sdk, thread, graph, about, {})
    sdk.runs.cancel(thread, run_id, wait=True, action="interrupt")
    assert sdk.runs.get(thread, run_id)["status"] == "interrupted"
    before = stopped(sdk, about, within_s=5)
    if graph == "billed":
        assert before[0] == before[1], "what costs money anyway was let finish, and is recorded"
    else:
        assert before[0].total() > before[1].total(), "what was under way was cut off"
    state: Any = sdk.runs.wait(thread, graph, input=None)
    assert state["outcome"] == "complete"
    once_each(sdk, about, before)


def test_rolled_back_and_asked_again_under_its_own_id(sdk: Any, thread: str) -> None:
    """Nothing is left of it in the thread; in the ledger there is."""
    about, own = "rolled back", {"run_id": "rolled-back"}
    run_id = started(sdk, thread, "noted", about, own)
    sdk.runs.cancel(thread, run_id, wait=True, action="rollback")
    before = stopped(sdk, about, within_s=5)
    assert not sdk.threads.get_state(thread)["values"]
    state: Any = sdk.runs.wait(thread, "noted", input={"request": about}, context=own)
    assert state["outcome"] == "complete"
    once_each(sdk, about, before)


def test_a_client_that_hangs_up_ends_its_run(sdk: Any, thread: str) -> None:
    about = "hung up"
    parts = sdk.runs.stream(thread, "noted", input={"request": about}, stream_mode=["custom"], on_disconnect="cancel")
    with closing(parts):
        for part in parts:
            if part.event == "custom" and part.data["type"] == "interleave.step" and part.data["step"] == UNTIL:
                break
    before = stopped(sdk, about, within_s=8)
    assert before[0].total() < 5, "it did not go on to its end"
    state: Any = sdk.runs.wait(thread, "noted", input=None)
    assert state["outcome"] == "complete"
    once_each(sdk, about, before)
