"""`ChatInterleave`: what its messages hold, how they are streamed, how it fails and how it stops."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage

from langgraph_interleave import (
    ArtifactStore,
    ChatInterleave,
    Document,
    InterleaveContext,
    Limits,
    create_interleave_graph,
)
from langgraph_interleave.errors import ConfigError, ContentBlocked, InterleaveError, PlanError, QuotaExhausted
from langgraph_interleave.runs import stop_run
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Change, Changes, CritiqueRequest, ImageBytes, ImageRequest

Chat = Callable[..., ChatInterleave]


def answers(content: Any) -> list[tuple[str, str]]:
    """Text and pictures of a message, in order."""
    shown = {"text": "text", "image": "url"}
    return [(block["type"], block[shown[block["type"]]].strip()) for block in content if block["type"] in shown]


def total(chunks: list[Any]) -> AIMessageChunk:
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return whole


async def test_blocks_are_in_document_order_though_steps_finish_in_reverse(in_reverse: Chat) -> None:
    model = in_reverse()
    chunks = [chunk async for chunk in model.astream("three things")]
    whole = total(chunks)
    document = Document.load(model.artifacts.get_json(whole.response_metadata["document"]), model.artifacts)
    wanted = [
        pair for step in document.steps for pair in (("text", step.caption), ("image", step.image and step.image.uri))
    ]
    assert answers(whole.content) == wanted
    assert [block["index"] for block in whole.content if isinstance(block, dict)] == list(range(len(whole.content)))
    starts = [block["index"] for chunk in chunks for block in chunk.content if isinstance(block, dict)]
    assert starts == sorted(starts), "no block is taken up again"


async def test_stream_astream_invoke_and_ainvoke_say_the_same(in_reverse: Chat) -> None:
    model = in_reverse()
    said = [
        total(list(model.stream("three things"))).content,
        total([chunk async for chunk in model.astream("three things")]).content,
        model.invoke("three things").content,
        (await model.ainvoke("three things")).content,
    ]
    assert said[0] and all(content == said[0] for content in said)


def test_reasoning_is_of_the_plan_then_of_each_attempt(in_reverse: Chat) -> None:
    content: Any = in_reverse().invoke("three things").content
    assert [block.get("reasoning") or block["type"] for block in content] == [
        "One step after another.",
        *("text", "Not as asked.", "As asked.", "image"),
        *("text", "As asked.", "image"),
        *("text", "As asked.", "image"),
    ]


def test_reasoning_comes_in_small_stretches(chat: Chat) -> None:
    stretches = [chunk.content for chunk in chat(1).stream("x")][:2]
    assert [content[0]["reasoning"] for content in stretches if isinstance(content[0], dict)] == [
        "One step ",
        "after another.",
    ]


def test_the_last_chunk_says_how_it_ended(chat: Chat) -> None:
    model = chat(2)
    *before, last = list(model.stream("x"))
    assert last.chunk_position == "last" and last.content == []
    assert all(
        not chunk.usage_metadata and not chunk.response_metadata and not chunk.chunk_position for chunk in before
    )
    usage = last.usage_metadata
    # One plan of 10 and 20 tokens, two critiques of 5 and 5.
    assert usage and (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (20, 30, 50)
    said = last.response_metadata
    assert (said["outcome"], said["reasons"], said["model_name"]) == ("complete", [], "interleave")
    assert said["spend"]["images"] == 2
    assert Document.load(model.artifacts.get_json(said["document"]), model.artifacts).data.run_id == said["run_id"]


def test_text_steps_and_joined_text(chat: Chat) -> None:
    message = chat(simple_plan(3, text=[1])).invoke("x")
    assert [kind for kind, _ in answers(message.content)] == ["text", "image", "text", "text", "image"]
    assert message.text == "Caption of step 0.\n\nWords of step 1.\n\nCaption of step 2."


def test_captions_may_wait_for_the_judgement(chat: Chat) -> None:
    content: Any = chat(1, publish="verified").invoke("x").content
    assert [block["type"] for block in content] == ["reasoning", "reasoning", "text", "image"]


# --- pictures -------------------------------------------------------------------------------------


def test_pictures_by_reference_are_in_the_store(chat: Chat) -> None:
    model = chat(1)
    content: Any = model.invoke("x").content
    picture = content[-1]
    assert model.artifacts.get(picture["url"]).startswith(b"\x89PNG")
    assert picture["mime_type"] == "image/png" and "base64" not in picture
    assert picture["extras"] == {"width": 16, "height": 16, "alt": "Caption of step 0.", "step": 0}


async def test_pictures_as_base64(chat: Chat) -> None:
    content: Any = (await chat(1, images="base64").ainvoke("x")).content
    assert base64.b64decode(content[-1]["base64"]).startswith(b"\x89PNG")
    assert "url" not in content[-1]


async def test_pictures_by_a_url_of_the_users_making(chat: Chat) -> None:
    seen: list[Any] = []

    def url(ref: Any) -> str:
        seen.append((ref, threading.current_thread() is threading.main_thread()))
        return f"https://pictures.example.org/{ref.sha256}"

    model = chat(1, images=url)
    content: Any = (await model.ainvoke("x")).content
    (ref, in_main), *_ = seen
    assert content[-1]["url"] == f"https://pictures.example.org/{ref.sha256}"
    assert ref.size == len(model.artifacts.get(ref)) and ref.width == 16
    assert not in_main, "it may block"


def test_a_function_that_makes_no_url_is_told_so(chat: Chat) -> None:
    nothing: Any = lambda _ref: None  # noqa: E731
    with pytest.raises(ConfigError, match="returned a NoneType"):
        chat(1, images=nothing).invoke("x")


class Recorder(BaseCallbackHandler):
    """Writes down everything a callback is told."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, dict[str, Any]]] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_"):
            return lambda *args, **kwargs: self.seen.append((name, repr((args, kwargs)), kwargs))
        return super().__getattribute__(name)


def test_its_calls_are_below_it_in_a_trace(chat: Chat) -> None:
    recorder = Recorder()
    chat(1).invoke("x", {"callbacks": [recorder]})
    (model,) = [told for name, _, told in recorder.seen if name == "on_chat_model_start"]
    graph = next(told for name, _, told in recorder.seen if name == "on_chain_start")
    assert graph["parent_run_id"] == model["run_id"]
    assert {told["name"] for name, _, told in recorder.seen if name == "on_chain_start"} >= {"planner", "generate"}


@pytest.mark.filterwarnings("ignore:.*in beta")
async def test_pictures_of_the_request_reach_the_planner_and_no_callback(chat: Chat) -> None:
    recorder = Recorder()

    planner = ScriptedPlanner(simple_plan(1))
    model = chat(planner)
    encoded = base64.b64encode(noise_card("mine").data).decode()
    asked = [
        HumanMessage(
            [{"type": "text", "text": "Plant here"}, {"type": "image", "base64": encoded, "mime_type": "image/png"}]
        )
    ]
    config: Any = {"callbacks": [recorder]}
    model.invoke(asked, config)
    await model.ainvoke(asked, config)
    list(model.stream(asked, config))
    _ = [chunk async for chunk in model.astream(asked, config)]
    _ = list(model.stream_events(asked, config, version="v3"))
    _ = [event async for event in await model.astream_events(asked, config, version="v3")]
    events = [event async for event in model.astream_events(asked, config, version="v2")]
    assert [request.images[0].width for request in planner.requests] == [16] * 7
    assert planner.requests[0].request.text == "Plant here"
    starts = [said for name, said, _ in recorder.seen if name == "on_chat_model_start"]
    assert len(starts) == 7 and all("artifact://" in said for said in starts)
    assert not any(encoded[:40] in said for _, said, _ in recorder.seen)
    assert encoded[:40] not in str(events[1:]), "the first shows what the caller gave"


def test_pictures_on_the_web_are_refused(chat: Chat) -> None:
    with pytest.raises(ConfigError, match="not fetched from elsewhere"):
        chat(1).invoke([HumanMessage([{"type": "image", "url": "https://example.org/a.png"}])])


# --- settings -------------------------------------------------------------------------------------


def test_the_system_message_is_the_look_unless_a_context_says_otherwise(chat: Chat) -> None:
    planner = ScriptedPlanner(simple_plan(1))
    model = chat(planner, style="ink")
    asked = [SystemMessage("Thick outlines."), HumanMessage("x")]
    model.invoke(asked)
    model.invoke("x")
    model.invoke(asked, context=InterleaveContext(style="watercolour", language="German"))
    assert [(r.style, r.language) for r in planner.requests] == [
        ("Thick outlines.", None),
        ("ink", None),
        ("watercolour", "German"),
    ]


def test_a_models_own_context_counts_for_every_call(chat: Chat) -> None:
    planner = ScriptedPlanner(simple_plan(1))
    model = chat(planner, context=InterleaveContext(seed=5, run_id="mine"))
    first = model.invoke("x").response_metadata
    assert planner.requests[0].seed == 5 and first["run_id"] == "mine"
    again = model.invoke("x").response_metadata
    assert again["spend"]["replayed"] == 3, "the same run never pays twice"


def test_it_wraps_a_compiled_graph() -> None:
    artifacts = ArtifactStore.memory()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), ScriptedBackend(), ScriptedCritic(), artifacts=artifacts, name="mine"
    )
    message = ChatInterleave(graph, artifacts=artifacts).invoke("x")
    assert message.response_metadata["model_name"] == "mine"
    with pytest.raises(ConfigError, match="without its artifact store"):
        ChatInterleave(graph)
    with pytest.raises(ConfigError, match="'planner', 'steps' beside it"):
        ChatInterleave(graph, artifacts=artifacts, planner="scene", steps=3)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        ({"temperature": 0}, "no option 'temperature'"),
        ({"images": "svg"}, "images='svg'"),
        ({"backend": "nope"}, "nope"),
    ],
)
def test_options_that_are_none_are_refused(made: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        ChatInterleave(**made)


def test_tools_structured_output_and_stop_words_are_refused(chat: Chat) -> None:
    model = chat(1)
    with pytest.raises(ConfigError, match="calls no tools"):
        model.bind_tools([])
    with pytest.raises(ConfigError, match="not with an object of a schema"):
        model.with_structured_output({})
    with pytest.raises(ConfigError, match="'stop', 'temperature'"):
        model.invoke("x", stop=["y"], temperature=1)


def test_two_models_are_told_apart_by_caches(chat: Chat) -> None:
    names = {str(model._identifying_params) for model in (chat(1), chat(1, seed=3), chat(1, images="base64"))}
    assert len(names) == 3
    assert isinstance(chat(1), BaseChatModel)


# --- ends -----------------------------------------------------------------------------------------


def blocked_first(request: ImageRequest) -> ImageBytes:
    if "thing 0" in request.prompt:
        raise ContentBlocked("Not this one.", remedy="Ask for another.")
    return noise_card(request.prompt, seed=request.seed or 0)


def test_a_partial_run_is_an_answer_with_marks(chat: Chat) -> None:
    message = chat(simple_plan(2, sources=[[], []]), blocked_first).invoke("x")
    assert (message.response_metadata["outcome"], message.response_metadata["reasons"]) == ("partial", ["failed_step"])
    said = answers(message.content)
    assert [kind for kind, _ in said] == ["text", "text", "text", "image"]
    assert said[1][1].startswith("The provider refused to draw this. Not this one.")


async def test_a_mark_stands_right_behind_its_picture_also_in_the_stream(chat: Chat) -> None:
    def verdict(asked: CritiqueRequest) -> str:
        return "revise" if asked.instruction.endswith("0.") else "accept"

    model = chat(simple_plan(2, sources=[[], []]), None, verdict, limits=Limits(max_attempts=2))
    whole = total([chunk async for chunk in model.astream("x")])
    said = answers(whole.content)
    assert [kind for kind, _ in said] == ["text", "image", "text", "text", "image"]
    document = model.artifacts.get_json(whole.response_metadata["document"])
    assert said[2][1] == document["steps"][0]["mark"]


def test_a_limit_gives_what_there_is(chat: Chat) -> None:
    message = chat(3, limits=Limits(max_images=1)).invoke("x")
    assert message.response_metadata["reasons"] == ["limit"]
    assert [kind for kind, _ in answers(message.content)] == ["text", "image", "text", "text", "text", "text"]


@pytest.mark.parametrize(
    ("planner", "kind", "says"),
    [
        (ScriptedPlanner([PlanError("No plan.", remedy="Ask again.")]), PlanError, "No plan. Ask again."),
        (ScriptedPlanner([QuotaExhausted("No credit.", role="planner")]), QuotaExhausted, "No credit."),
    ],
)
def test_a_run_without_a_plan_raises_its_error(chat: Chat, planner: Any, kind: type, says: str) -> None:
    with pytest.raises(kind, match=says):
        chat(planner).invoke("x")


def test_a_run_that_delivers_nothing_raises_with_the_marks(chat: Chat) -> None:
    with pytest.raises(InterleaveError, match="step 1: The provider refused to draw this. Not this one."):
        chat(1, blocked_first).invoke("x")


async def test_a_run_that_is_stopped_in_good_order_gives_what_exists(chat: Chat) -> None:
    async def draw(request: ImageRequest) -> ImageBytes:
        if "thing 1" in request.prompt:
            assert stop_run("mine")
            await asyncio.sleep(30)
        return noise_card(request.prompt, seed=request.seed or 0)

    message = await chat(3, draw, lookahead=False, context=InterleaveContext(run_id="mine")).ainvoke("x")
    assert message.response_metadata["outcome"] == "cancelled"
    assert [kind for kind, _ in answers(message.content)] == ["text", "image", *("text", "text") * 2]


def test_an_empty_request_is_refused(chat: Chat) -> None:
    with pytest.raises(ConfigError, match="empty"):
        chat(1).invoke("  ")


async def test_who_stops_reading_stops_the_run(chat: Chat) -> None:
    stopped = asyncio.Event()

    async def draw(request: ImageRequest) -> ImageBytes:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            loop.call_soon_threadsafe(stopped.set)
            raise
        return noise_card(request.prompt)

    loop = asyncio.get_running_loop()
    model = chat(2, draw)
    stream = model.astream("x")
    async for chunk in stream:
        if any(isinstance(block, dict) and block["type"] == "text" for block in chunk.content):
            break
    await stream.aclose()  # type: ignore[attr-defined]
    await asyncio.wait_for(stopped.wait(), 5)


def test_a_sync_reader_that_stops_does_not_wait_for_the_drawing(chat: Chat) -> None:
    stopped = threading.Event()

    async def draw(request: ImageRequest) -> ImageBytes:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped.set()
            raise
        return noise_card(request.prompt)

    for chunk in chat(2, draw).stream("x"):
        if any(isinstance(block, dict) and block["type"] == "text" for block in chunk.content):
            break
    assert stopped.wait(5)


async def test_cancelling_the_task_stops_the_run(chat: Chat) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def draw(request: ImageRequest) -> ImageBytes:
        loop.call_soon_threadsafe(begun.set)
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            loop.call_soon_threadsafe(stopped.set)
            raise
        return noise_card(request.prompt)

    loop = asyncio.get_running_loop()
    task = asyncio.create_task(chat(1, draw).ainvoke("x"))
    await asyncio.wait_for(begun.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(stopped.wait(), 5)


@pytest.mark.parametrize(
    ("kind", "captions", "drawn"),
    [
        # What was told already of a step that stays is not told again; what parts from it begins anew.
        ("keep", ["Caption of step 0.", "Caption of step 1.", "Caption of step 1.", "Caption of step 2."], 3),
        (
            "insert",
            [*(f"Caption of step {i}." for i in (0, 1)), "New.", *(f"Caption of step {i}." for i in (0, 1, 2))],
            5,
        ),
    ],
)
async def test_a_step_that_is_planned_otherwise_is_in_the_answer(
    chat: Chat, kind: str, captions: list[str], drawn: int
) -> None:
    new = Change(change="insert", op="generate", instruction="new", prompt="new", caption="New.")
    first = [Change(change="keep", step=0)] if kind == "keep" else [new, Change(change="keep", step=0)]
    rest = [Change(change="redo", step=1, prompt="easier"), Change(change="keep", step=2)]
    model = chat(
        [simple_plan(3, sources=[[], [], []]), Changes(steps=(*first, *rest))],
        None,
        lambda asked: "revise" if asked.prompt == "thing 1" else "accept",
        on_exhausted="replan",
        limits=Limits(max_attempts=1),
    )
    answer: Any = await model.ainvoke("x")
    told = [block["text"].strip() for block in answer.content if block["type"] == "text"]
    assert told == captions
    assert len([block for block in answer.content if block["type"] == "image"]) == drawn
