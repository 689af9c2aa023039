"""Runs on the server: turns on a thread, runs stopped and gone on with, several at once, errors that can be read."""

from __future__ import annotations

import asyncio
import hashlib
import time
from contextlib import closing
from typing import Any

import pytest
from langgraph_sdk import get_client

from langgraph_interleave.artifacts import canonical_json

pytestmark = pytest.mark.server
SMALL: dict[str, Any] = {"seed": 7, "size": "64x64"}
BEAN = "How to plant a bean, in 3 steps"


def digests(document: dict[str, Any]) -> list[str]:
    return [step["image"]["sha256"] for step in document["steps"]]


def test_a_turn_changes_the_document_of_its_thread(sdk: Any, thread: str) -> None:
    first: Any = sdk.runs.wait(thread, "interleave", input={"request": BEAN}, context=SMALL)
    changed: Any = sdk.runs.wait(
        thread, "interleave", input={"request": "Make step 3 at night", "base": "latest"}, context=SMALL
    )
    document = changed["document"]
    assert (first["document"]["version"], document["version"]) == (1, 2)
    assert document["parent"] == hashlib.sha256(canonical_json(first["document"])).hexdigest()
    assert digests(document)[:2] == digests(first["document"])[:2]
    assert digests(document)[2] != digests(first["document"])[2]
    assert changed["spend"]["calls"]["backend"] <= 3, "only the step that was named, with its attempts"


def test_a_turn_without_a_base_is_a_new_document(sdk: Any, thread: str) -> None:
    for request in (BEAN, "Draw a cat, in 2 steps"):
        state: Any = sdk.runs.wait(thread, "interleave", input={"request": request}, context=SMALL)
        assert state["document"]["version"] == 1
        assert state["document"].get("parent") is None
    assert len(state["document"]["steps"]) == 2


def test_the_agent_changes_and_restores_over_turns(sdk: Any, thread: str) -> None:
    said = [BEAN, "Make step 3 at night", "Go back to version 1"]
    made: list[Any] = []
    for words in said:
        given = {"messages": [{"role": "user", "content": words}]}
        state: Any = sdk.runs.wait(thread, "agent", input=given, context=SMALL)
        made.append(next(m["artifact"] for m in reversed(state["messages"]) if m["type"] == "tool"))
    assert [each["version"] for each in made] == [1, 2, 1]
    assert made[2]["digest"] == made[0]["digest"]
    pictures = [[s["image"]["sha256"] for s in each["segments"] if s["kind"] == "image"] for each in made]
    assert pictures[1][:2] == pictures[0][:2] and pictures[1][2] != pictures[0][2]


def started(sdk: Any, thread: str, step: int) -> str:
    """Start the slow graph and wait until a step of it has begun; the run's id."""
    run = sdk.runs.create(thread, "slow", input={"request": "things"}, stream_mode=["custom"], stream_resumable=True)
    with closing(sdk.runs.join_stream(thread, run["run_id"], stream_mode="custom")) as parts:
        for part in parts:
            if part.event == "custom" and part.data["type"] == "interleave.step" and part.data["step"] == step:
                return run["run_id"]
    raise AssertionError("the run ended too soon")


def test_a_run_that_was_cancelled_goes_on_and_repeats_no_call(sdk: Any, thread: str) -> None:
    run_id = started(sdk, thread, 2)
    begun = time.monotonic()
    sdk.runs.cancel(thread, run_id, wait=True)
    assert time.monotonic() - begun < 5
    assert sdk.runs.get(thread, run_id)["status"] == "interrupted"
    again = sdk.runs.create(thread, "slow", input=None, stream_mode=["custom"], stream_resumable=True)
    parts = list(sdk.runs.join_stream(thread, again["run_id"], stream_mode="custom"))
    assert not [part for part in parts if part.event == "error"]
    state: Any = sdk.runs.join(thread, again["run_id"])
    assert state["outcome"] == "complete"
    # Two of the steps were drawn before; one was under way when it was stopped, and may have been made twice.
    assert state["spend"]["calls"]["backend"] <= 7
    starts = {part.data["step"] for part in parts if part.event == "custom" and part.data["type"] == "interleave.step"}
    assert starts >= {3, 4, 5} and not starts & {0, 1}


def test_who_joins_a_run_later_misses_nothing(sdk: Any, thread: str) -> None:
    run_id = started(sdk, thread, 1)
    parts = list(sdk.runs.join_stream(thread, run_id, stream_mode="custom", last_event_id="-1"))
    told = [part.data for part in parts if part.event == "custom"]
    assert told[0]["type"] == "interleave.run" and told[0]["phase"] == "start"
    assert told[-1]["type"] == "interleave.run" and told[-1]["outcome"] == "complete"
    finished = [event for event in told if event.get("kind") == "image"]
    assert [event["step"] for event in finished] == list(range(6))


async def test_runs_at_once_do_not_mix(address: str) -> None:
    client: Any = get_client(url=address)
    requests = ["How to plant a bean, in 2 steps", "Draw a cat, in 2 steps", "How to make tea, in 2 steps"]

    async def run(request: str) -> tuple[str, Any]:
        stream = client.runs.stream(
            None, "interleave", input={"request": request}, context=SMALL, stream_mode=["custom", "values"]
        )
        events = [part async for part in stream]
        ids = {part.data["run_id"] for part in events if part.event == "custom"}
        assert len(ids) == 1
        document = [part.data for part in events if part.event == "values"][-1]["document"]
        assert document["request"]["parts"][0]["text"] == request
        return ids.pop(), document

    async with asyncio.timeout(60):
        made = await asyncio.gather(*map(run, requests))
    assert len({run_id for run_id, _ in made}) == 3
    await client.aclose()


#: Graph, input, context, and what the error says.
REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("interleave", {"request": BEAN}, {"size": "huge"}, "WIDTHxHEIGHT"),
    ("interleave", {"request": BEAN}, {"steps": 0}, "steps"),
    ("interleave", {"request": BEAN}, {"approve": ["pictures"]}, "approve"),
    ("interleave", {}, {}, "request"),
    ("interleave", {"request": "  "}, {}, "request"),
    ("interleave", {"request": [{"type": "image", "base64": "aGk=", "mime_type": "image/png"}]}, {}, "image_part"),
    ("interleave", {"request": "darker", "base": "latest"}, {}, "no document in this thread"),
    ("interleave", {"request": "darker", "base": "a" * 64}, {}, "artifacts=…"),
    ("illustrator", {"messages": []}, {}, "human message"),
    (
        "illustrator",
        {"messages": [{"role": "user", "content": [{"type": "image", "url": "https://example.org/a.png"}]}]},
        {},
        "not fetched",
    ),
]


async def test_what_cannot_be_is_said_in_words(address: str) -> None:
    client: Any = get_client(url=address)

    async def refused(graph: str, given: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
        stream = client.runs.stream(None, graph, input=given, context=context, stream_mode="values")
        [error] = [part.data async for part in stream if part.event == "error"]
        return error

    async with asyncio.timeout(60):
        errors = await asyncio.gather(*(refused(*row[:3]) for row in REFUSED))
    await client.aclose()
    for error, (*_, said) in zip(errors, REFUSED, strict=True):
        assert error["error"] in ("ConfigError", "ArtifactMissing")
        assert said in error["message"]
        assert len(error["message"]) < 400
