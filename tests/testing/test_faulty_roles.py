"""The faults do what they say, in every way of asking, and count what they really did."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from openai import APITimeoutError

from langgraph_interleave.errors import (
    BadResponse,
    CallError,
    CallTimeout,
    ConfigError,
    ContentBlocked,
    CritiqueError,
    NoImage,
    PlanError,
    QuotaExhausted,
    RateLimited,
    Unavailable,
)
from langgraph_interleave.models.faults import call_error
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.planners.chat import ChatPlanner
from langgraph_interleave.results import first_picture
from langgraph_interleave.testing import DRAWING, SPEAKING, FaultyBackend, FaultyChatModel, ScriptedBackend
from langgraph_interleave.testing.faults import SECRET, Schedule
from langgraph_interleave.types import ImageRequest, Request, TextPart

POT = ImageRequest("a pot")
#: What a caller sees of the faults that both a backend and a chat model have.
SEEN: dict[str, tuple[type[Exception], bool]] = {
    "rate_limited": (RateLimited, False),
    "retry_after": (RateLimited, False),
    "refused_connection": (Unavailable, False),
    "overloaded": (Unavailable, False),
    "no_credit": (QuotaExhausted, False),
    "blocked": (ContentBlocked, False),
    "timeout_before": (CallTimeout, True),
    "timeout_after": (CallTimeout, True),
    "server_error": (Unavailable, True),
    "server_error_after": (Unavailable, True),
    "html": (BadResponse, True),
    "cut_stream": (Unavailable, True),
}
NEVER = ("never_answers", "stuck", "deaf")


def backend(*faults: str | None) -> FaultyBackend:
    return FaultyBackend(ScriptedBackend(), faults)


@pytest.mark.parametrize("fault", SEEN)
async def test_a_backend_raises_what_a_real_sdk_would_through_the_same_mapping(fault: str) -> None:
    drawing = backend(fault)
    with pytest.raises(CallError) as caught:
        await drawing.agenerate(POT)
    error, ambiguous = SEEN[fault]
    assert type(caught.value) is error and caught.value.ambiguous is ambiguous
    assert type(caught.value.__cause__).__module__.partition(".")[0] in ("openai", "httpx2")
    assert drawing.tally.worked == DRAWING[fault].works and drawing.tally.asked == 1
    assert (drawing.tally.unsure == 1) is ambiguous
    assert (await drawing.agenerate(POT)).images and drawing.tally.answered == 1


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
@pytest.mark.parametrize("fault", SEEN)
async def test_a_chat_model_raises_what_a_real_sdk_would_in_every_way(fault: str, way: str) -> None:
    model = FaultyChatModel(lambda _: "Yes, all of it is as it should be." * 3, [fault])
    with pytest.raises(Exception) as caught:
        await said(model, way)
    error, ambiguous = SEEN[fault]
    ours = call_error(caught.value, role="critic", what="it")
    assert type(ours) is error and getattr(ours, "ambiguous", None) is ambiguous
    assert model.tally.worked == SPEAKING[fault].works
    assert await said(model, way) == "Yes, all of it is as it should be." * 3


async def said(model: FaultyChatModel, way: str) -> str:
    if way == "invoke":
        return (await asyncio.to_thread(model.invoke, "Is it?")).text
    if way == "stream":
        return "".join(piece.text for piece in await asyncio.to_thread(lambda: list(model.stream("Is it?"))))
    if way == "ainvoke":
        return (await model.ainvoke("Is it?")).text
    return "".join([piece.text async for piece in model.astream("Is it?")])


async def test_waiting_times_are_those_that_were_named() -> None:
    drawing = FaultyBackend(ScriptedBackend(), ["retry_after", "rate_limited", "overloaded"], retry_after_s=3)
    waits: list[float | None] = []
    for _ in range(3):
        with pytest.raises(CallError) as caught:
            await drawing.agenerate(POT)
        waits.append(caught.value.retry_after)
    assert waits == [3.0, None, 3.0]


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("broken", "truncated"),
        ("no_picture", "HTML page"),
        ("nan", "TIFF"),
        ("nothing", "no picture and no error"),
    ],
)
async def test_pictures_that_are_none_are_refused_when_they_are_looked_at(fault: str, says: str) -> None:
    drawing = backend(fault)
    result = await drawing.agenerate(POT)
    with pytest.raises(BadResponse, match=says):
        first_picture(result, drawing)
    assert drawing.tally.images == 1, "it was drawn all the same"


async def test_pictures_of_another_number_or_size() -> None:
    drawing = backend("too_many", "wrong_size", "black", "too_few")
    many, other, black = [await drawing.agenerate(POT) for _ in range(3)]
    assert len(many.images) == many.usage.images == 3
    assert (other.images[0].width, other.images[0].height) == (24, 9)
    assert first_picture(other, drawing).width == 24
    assert first_picture(black, drawing).width == 16
    assert (await drawing.agenerate(POT)).images == ()
    assert drawing.tally.images == 6


async def test_an_answer_without_a_picture_and_one_that_is_blocked_afterwards() -> None:
    drawing = backend("empty", "blocked_after")
    with pytest.raises(NoImage):
        await drawing.agenerate(POT)
    with pytest.raises(ContentBlocked):
        await drawing.agenerate(POT)
    assert (drawing.tally.worked, drawing.tally.answered, drawing.tally.blocked) == (2, 1, 1)


@pytest.mark.parametrize("fault", ["foreign", "secret"])
async def test_a_bug_is_raised_as_one(fault: str) -> None:
    with pytest.raises(Exception) as caught:
        await backend(fault).agenerate(POT)
    assert call_error(caught.value, role="backend", what="it") is None
    assert (SECRET in str(caught.value)) == (fault == "secret")


@pytest.mark.parametrize("fault", NEVER)
async def test_what_never_answers_is_let_go_at_last(fault: str) -> None:
    drawing = backend(fault)
    task = asyncio.ensure_future(drawing.agenerate(POT))
    await asyncio.wait([task], timeout=0.05)
    task.cancel()
    await asyncio.wait([task], timeout=0.1)
    assert task.done() is (fault != "deaf")
    drawing.release()
    await asyncio.wait([task], timeout=5)
    assert task.done() and drawing.tally.unsure == 1 and drawing.tally.worked == 0


def test_what_never_answers_blocks_its_thread_where_it_is_asked_in_one() -> None:
    model = FaultyChatModel(lambda _: "Yes.", ["stuck"])
    ended: list[str] = []

    def ask() -> None:
        with pytest.raises(APITimeoutError) as caught:
            model.invoke("Is it?")
        ended.append(caught.value.message)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    model.release()
    thread.join(5)
    assert not thread.is_alive() and ended == ["Request timed out."]


@pytest.mark.parametrize("fault", ["endless_thinking", "endless_steps"])
async def test_what_never_ends_goes_on_until_nobody_listens(fault: str) -> None:
    model = FaultyChatModel(lambda _: "Yes.", [fault])
    heard = 0
    async for piece in model.astream("Is it?"):
        heard += bool(piece.text)
        if heard == 20:
            break
    assert heard == 20 and model.tally.worked == 1 and model.tally.unsure == 1


async def test_a_planner_that_loops_always_gives_the_same_plan() -> None:
    model = FaultyChatModel(lambda _: "", {"same_plan": 1.0})
    planner = ChatPlanner(model, output="tagged")
    request = PlanRequest(Request(parts=(TextPart(text="How to plant a bean"),)))
    for _ in range(3):
        with pytest.raises(PlanError, match="input:99"):
            _ = [delta async for delta in planner.aplan(request)]
    assert model.tally.answered == 3


async def test_critics_that_say_nothing_of_use() -> None:
    from langgraph_interleave.parsing import parse_critique

    model = FaultyChatModel(lambda _: '{"verdict": "accept"}', ["garbage", "empty", "never_accepts"])
    texts = [(await model.ainvoke("Is it?")).text for _ in range(3)]
    for text in texts[:2]:
        with pytest.raises(CritiqueError):
            parse_critique(text, prompt="a pot")
    assert parse_critique(texts[2], prompt="a pot").critique.verdict == "revise"
    assert model.tally.answered == 3


async def test_another_model_may_be_inside_and_what_it_says_is_counted() -> None:
    model = FaultyChatModel(FakeListChatModel(responses=["One.", "Two."]), [None, "truncated"])
    first, second = await model.ainvoke("Go on."), await model.ainvoke("Go on.")
    assert first.text == "One." and second.response_metadata["finish_reason"] == "length"
    assert model.tally.kinds == {"": 1, "truncated": 1} and model.tally.answered == 2
    assert first.usage_metadata is not None


def test_chance_follows_the_words_and_not_the_order() -> None:
    one = Schedule({"black": 0.5}, DRAWING, seed=3)
    other = Schedule({"black": 0.5}, DRAWING, seed=3)
    words = [f"thing {n % 20}" for n in range(60)]
    forth = sorted((word, str(one.next(word))) for word in words)
    back = sorted((word, str(other.next(word))) for word in reversed(words))
    assert forth == back and 15 < sum("black" in kind for _, kind in forth) < 45


@pytest.mark.parametrize("faults", [["no such"], {"black": 0.7, "nan": 0.6}, {"black": -0.1}, "black"])
def test_what_cannot_be_scheduled_is_refused(faults: Any) -> None:
    with pytest.raises(ConfigError):
        FaultyBackend(ScriptedBackend(), faults)
