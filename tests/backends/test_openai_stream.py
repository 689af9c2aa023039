"""Pictures in pieces: previews are told, the picture comes, and no way a stream ends is silent."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from loopback import LoopbackServer, serving
from loopback_answers import Recorded
from loopback_replies import (
    Hang,
    ImageStream,
    Pictures,
    Raw,
    Reply,
    bad_request,
    error_in_200,
    html,
    moderation_blocked,
    no_data,
    picture_of,
    rate_limited,
)

from langgraph_interleave.backends.openai_images import OpenAIImagesBackend
from langgraph_interleave.errors import (
    BadResponse,
    CallTimeout,
    ContentBlocked,
    InvalidRequest,
    NoImage,
    RateLimited,
    Unavailable,
)
from langgraph_interleave.types import ImageBytes, ImageRequest, Progress

BALL = ImageRequest(prompt="a red ball", width=64, height=64)
Making = Callable[..., OpenAIImagesBackend]

pytestmark = [pytest.mark.server, pytest.mark.asyncio(loop_scope="module")]


def reference() -> ImageBytes:
    return ImageBytes(picture_of("r", 32, 32), "image/png", 32, 32)


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackServer]:
    with serving() as server:
        yield server


@pytest.fixture
def server(running: LoopbackServer) -> LoopbackServer:
    running.reset()
    return running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(running: LoopbackServer) -> AsyncIterator[Any]:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key="sk-x", base_url=running.base_url) as made:
        yield made


@pytest.fixture
def making(client: Any, server: LoopbackServer) -> Making:
    def make(**options: Any) -> OpenAIImagesBackend:
        settings: dict[str, Any] = {"partial_images": 2, **options}
        return OpenAIImagesBackend("gpt-image-2.6-flare", client=client, **settings)

    return make


@pytest.mark.parametrize("route", ["generations", "edits"])
async def test_previews_then_the_picture(making: Making, server: LoopbackServer, route: str) -> None:
    server.script(route, [ImageStream()])
    told: list[Progress] = []
    references = [reference()] if route == "edits" else []
    result = await making().agenerate(replace(BALL, references=references), on_progress=told.append)
    assert [(one.step, one.total) for one in told] == [(1, 3), (2, 3), (3, 3)]
    previews = [one.preview.data for one in told if one.preview is not None]
    assert previews == [picture_of("a red ball", 64, 64, index=100 + i) for i in range(2)]
    assert result.images[0].data == picture_of("a red ball", 64, 64)
    assert (result.usage.output_tokens, result.usage.images) == (server.total.output_tokens, 1)
    assert result.usage.cost_usd is not None and result.usage.cost_usd > 0
    [sent] = server.requests
    assert (sent.body["stream"], sent.body["partial_images"]) == (True, 2)
    assert server.violations == []


async def test_without_anybody_to_look_nothing_is_streamed(making: Making, server: LoopbackServer) -> None:
    def look(progress: Progress) -> None:
        raise AssertionError(progress)

    await making().agenerate(BALL)
    await making(partial_images=0).agenerate(BALL, on_progress=look)
    await making().agenerate(replace(BALL, n=2), on_progress=look)
    await making(profile="sdcpp").agenerate(BALL, on_progress=look)
    assert all("stream" not in request.body for request in server.requests)


@pytest.mark.parametrize("partials", [0, 1, 5])
async def test_other_numbers_of_previews(making: Making, server: LoopbackServer, partials: int) -> None:
    server.script("generations", [ImageStream(partials=partials)])
    told: list[Progress] = []
    assert (await making().agenerate(BALL, on_progress=told.append)).images
    assert all(one.total is not None and 1 <= one.step <= one.total for one in told)
    assert len(told) == partials + 1


async def test_a_broken_preview_costs_no_picture(making: Making, server: LoopbackServer) -> None:
    server.script("generations", [ImageStream(broken_previews=True)])
    told: list[Progress] = []
    assert (await making().agenerate(BALL, on_progress=told.append)).images
    assert [one.preview for one in told] == [None, None, None]


async def test_json_where_a_stream_was_asked_for_is_the_picture(making: Making, server: LoopbackServer) -> None:
    server.script("generations", [Pictures(revised_prompt="one ball")])
    told: list[Progress] = []
    backend = making()
    result = await backend.agenerate(BALL, on_progress=told.append)
    assert [(one.step, one.total) for one in told] == [(3, 3)]
    assert result.images[0].data == picture_of("a red ball", 64, 64)
    assert result.usage.output_tokens == server.total.output_tokens > 0
    assert result.warnings == ("gpt-image-2.6-flare drew another prompt: one ball",)
    assert len(server.requests) == 1
    # From then on nothing is said that this server does not keep.
    assert backend.capabilities.progress == "none"
    await backend.agenerate(BALL, on_progress=told.append)
    assert ["stream" in request.body for request in server.requests] == [True, False]


ENDINGS: list[tuple[Reply, type[Exception]]] = [
    (ImageStream(end="closed"), BadResponse),
    (ImageStream(partials=0, end="closed"), BadResponse),
    (ImageStream(end="cut"), Unavailable),
    (ImageStream(end={"message": "The server had an error.", "type": "server_error"}), Unavailable),
    (ImageStream(end={"message": "Rejected.", "code": "moderation_blocked"}), ContentBlocked),
    (ImageStream(image=b"broken"), BadResponse),
    (ImageStream(content_type="application/json"), BadResponse),
    (Raw("", "text/event-stream"), BadResponse),
    (Raw("data: [DONE]\n\n", "text/event-stream"), BadResponse),
    (Raw("{}"), NoImage),
    (Raw("[]"), BadResponse),
    (no_data(), NoImage),
    (error_in_200("Upstream failed."), BadResponse),
    (error_in_200("Slow down.", code=429), RateLimited),
    (html(), BadResponse),
    (moderation_blocked(), ContentBlocked),
    (rate_limited("2"), RateLimited),
    (bad_request("Invalid size.", param="size"), InvalidRequest),
    (Hang(), CallTimeout),
]


@pytest.mark.parametrize(
    ("reply", "kind"), ENDINGS, ids=[f"{index}-{row[1].__name__}" for index, row in enumerate(ENDINGS)]
)
async def test_no_ending_is_silent(making: Making, server: LoopbackServer, reply: Reply, kind: type[Exception]) -> None:
    server.script("generations", lambda _: reply)
    request = replace(BALL, timeout_s=0.4 if isinstance(reply, Hang) else 5)
    with pytest.raises(kind) as caught:
        await making().agenerate(request, on_progress=lambda _: None)
    assert type(caught.value) is kind
    assert len(server.requests) == 1


async def test_a_server_that_refuses_streams_is_asked_without_from_then_on(
    making: Making, server: LoopbackServer
) -> None:
    def strict(request: Recorded) -> Reply:
        return bad_request("Unknown parameter: 'partial_images'.", param="partial_images") if (
            "partial_images" in request.body
        ) else Pictures()  # fmt: skip

    server.script("generations", strict)
    backend = making()
    assert backend.capabilities.progress == "previews"
    for _ in range(2):
        assert (await backend.agenerate(BALL, on_progress=lambda _: None)).images
    assert len(server.requests) == 3
    assert backend.capabilities.progress == "none"


async def test_the_next_call_goes_on_after_a_stream_that_broke(making: Making, server: LoopbackServer) -> None:
    server.script("generations", [ImageStream(end="cut"), ImageStream()])
    backend = making()
    with pytest.raises(Unavailable) as caught:
        await backend.agenerate(BALL, on_progress=lambda _: None)
    assert caught.value.ambiguous
    assert (await backend.agenerate(BALL, on_progress=lambda _: None)).images


@pytest.mark.parametrize(
    "event",
    [
        {"b64_json": "PICTURE"},
        {"type": "image_generation.completed", "url": "/made.png"},
        {"data": [{"b64_json": "PICTURE"}], "created": 1},
        {"data": [{"url": "/made.png"}]},
    ],
    ids=["no kind", "address", "whole answer", "whole answer with an address"],
)
async def test_streams_of_other_makes(making: Making, server: LoopbackServer, event: dict[str, Any]) -> None:
    picture = picture_of("a red ball", 64, 64)
    server.files["/made.png"] = Raw(picture, "image/png")
    told = json.dumps(event).replace("PICTURE", b64encode(picture).decode())
    server.script("generations", [Raw(f": hello\n\ndata: {told}\n\ndata: [DONE]\n\n", "text/event-stream")])
    heard: list[Progress] = []
    result = await making().agenerate(BALL, on_progress=heard.append)
    assert (result.images[0].data, len(heard), len(server.on("generations"))) == (picture, 1, 1)
