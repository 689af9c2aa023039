"""The backend `svg`: a chat model draws by writing SVG."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import re
import time
from typing import Any, cast

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from loopback_replies import Chat, bad_request, moderation_blocked
from PIL import Image
from pydantic import PrivateAttr

from langgraph_interleave import create_interleave_graph
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.backends.svg import SvgBackend
from langgraph_interleave.backends.svg.asking import size_of
from langgraph_interleave.backends.svg.fonts import fonts_for
from langgraph_interleave.errors import (
    BadResponse,
    CallTimeout,
    ConfigError,
    ContentBlocked,
    InvalidRequest,
    NoImage,
)
from langgraph_interleave.testing import ScriptedCritic, ScriptedPlanner, check_backend, noise_card, simple_plan
from langgraph_interleave.types import ImageBytes, ImageRequest, ImageResult

RED = '<svg viewBox="0 0 100 50"><rect id="bar" width="100" height="50" fill="#ff0000"/></svg>'
BLUE = RED.replace("#ff0000", "#0000ff")
COUNTS = {"input_tokens": 100, "output_tokens": 50, "total_tokens": 150}


class Writer(BaseChatModel):
    """A chat model that writes what it is told to, and remembers what it was asked."""

    said: list[str]
    pause_s: float = 0.0
    finish_reason: str = "stop"
    _asked: list[list[BaseMessage]] = PrivateAttr(default_factory=list[list[BaseMessage]])

    @property
    def _llm_type(self) -> str:
        return "writer"

    @property
    def _told(self) -> dict[str, str]:
        return {"model_name": "writer-1", "finish_reason": self.finish_reason}

    @property
    def asked(self) -> list[list[BaseMessage]]:
        return self._asked

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self._asked.append(messages)
        text = self.said[min(len(self._asked), len(self.said)) - 1]
        message = AIMessage(text, usage_metadata=COUNTS, response_metadata=self._told)  # type: ignore[arg-type]
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        await asyncio.sleep(self.pause_s)
        return self._generate(messages)


def writer(*said: str, pause_s: float = 0.0, **profile: Any) -> Writer:
    return Writer(said=list(said), pause_s=pause_s, profile=cast("Any", profile or None))


def backend_of(model: Any, **options: Any) -> SvgBackend:
    given: dict[str, Any] = {"billed": False, **options}
    return SvgBackend(model, **given)


def drawn(model: Any, request: ImageRequest | None = None, **options: Any) -> ImageResult:
    backend = backend_of(model, **options)
    assert isinstance(backend, ImageBackend)
    return asyncio.run(backend.agenerate(request or ImageRequest("a bar")))


def pixels(image: ImageBytes) -> Image.Image:
    return Image.open(io.BytesIO(image.data)).convert("RGB")


def text_of(messages: list[BaseMessage]) -> str:
    return "\n".join(
        part if isinstance(part, str) else str(part.get("text", ""))
        for message in messages
        for part in (message.content if isinstance(message.content, list) else [message.content])
    )


def images_in(messages: list[BaseMessage]) -> int:
    parts = [part for message in messages if isinstance(message.content, list) for part in message.content]
    return sum(isinstance(part, dict) and part.get("type") == "image" for part in parts)


@pytest.mark.parametrize("said", ["First the sky, then", RED[:-8]])
def test_one_that_is_cut_off_again_is_not_asked_a_third_time(said: str) -> None:
    backend = backend_of(Writer(said=[said], finish_reason="length"), tries=5)
    with pytest.raises(NoImage, match="was cut off before its drawing was whole") as caught:
        asyncio.run(backend.agenerate(ImageRequest("a bar")))
    assert "max_new_tokens or max_tokens" in caught.value.remedy
    assert len(asked_of(backend)) == 2


def asked_of(backend: SvgBackend) -> list[list[BaseMessage]]:
    """What the copy of the model inside was asked."""
    return backend._answering.model.asked


@pytest.mark.parametrize(
    "answer",
    [
        RED,
        f"Here is your drawing:\n```svg\n{RED}\n```\nEnjoy!",
        f"<think>An <svg> of a bar … </svg>?</think>\n{RED}",
        f"```xml\n<?xml version='1.0'?>\n{RED}\n```",
    ],
)
def test_a_drawing_is_found_in_what_is_said(answer: str) -> None:
    result = drawn(writer(answer), ImageRequest("a bar", width=200, height=100))
    [image] = result.images
    assert (image.width, image.height, image.mime) == (200, 100, "image/png")
    assert pixels(image).getpixel((100, 50)) == (255, 0, 0)
    assert result.usage.calls == 1
    assert (result.usage.input_tokens, result.usage.images, result.usage.cost_usd) == (100, 1, 0.0)
    assert result.warnings == ()


def test_an_edit_changes_the_drawing_it_came_from() -> None:
    first = drawn(writer(RED), ImageRequest("a bar", width=200)).images[0]
    assert SvgBackend.drawing_of(first) == (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50">'
        '<rect id="bar" width="100" height="50" fill="#ff0000"/></svg>'
    )
    backend = backend_of(writer(BLUE))
    result = asyncio.run(backend.agenerate(ImageRequest("make it blue", references=[first])))
    [asked] = asked_of(backend)
    assert 'id="bar"' in text_of(asked)
    assert "make it blue" in text_of(asked)
    assert images_in(asked) == 0, "the drawing itself is shown, in words"
    assert pixels(result.images[0]).getpixel((100, 50)) == (0, 0, 255)
    assert (result.images[0].width, result.images[0].height) == (200, 100)
    assert result.warnings == ()


def test_a_photo_is_placed_and_stays_through_edits() -> None:
    photo = noise_card("photo", side=64)
    placed = '<svg viewBox="0 0 64 64"><image href="picture:1" width="64" height="64"/></svg>'
    result = drawn(writer(placed), ImageRequest("frame it", references=[photo]))
    assert any("holds no drawing" in warning for warning in result.warnings)
    [first] = result.images
    assert pixels(first).getpixel((20, 20)) == pixels(photo).getpixel((20, 20))
    assert b"compositeWithTrainedAlgorithmicMedia" in first.data
    again = '<svg viewBox="0 0 64 64"><image href="kept:1" width="64" height="64"/><rect width="9" height="9"/></svg>'
    backend = backend_of(writer(again))
    second = asyncio.run(backend.agenerate(ImageRequest("a dark corner", references=[first]))).images[0]
    words = text_of(asked_of(backend)[0])
    assert "base64" not in words
    assert "kept:1" in words
    assert pixels(second).getpixel((20, 20)) == pixels(photo).getpixel((20, 20))
    assert pixels(second).getpixel((2, 2)) == (0, 0, 0)


def test_references_are_shown_where_the_model_looks() -> None:
    photo, other = noise_card("a", side=32), drawn(writer(RED)).images[0]
    request = ImageRequest("a scene", references=[photo, other])
    for profile, seen in (({"image_inputs": True}, 2), ({"image_inputs": False}, 0), ({}, 2)):
        backend = backend_of(writer(RED, **profile))
        result = asyncio.run(backend.agenerate(request))
        asked = asked_of(backend)[0]
        assert images_in(asked) == seen
        assert "picture:2 is this drawing" in text_of(asked)
        assert any("did not see" in warning for warning in result.warnings) == (seen == 0)


def test_a_broken_drawing_is_asked_for_again_with_the_reason() -> None:
    backend = backend_of(
        writer('<svg viewBox="0 0 9 9"><rect></svg>', '<svg viewBox="0 0 9 9"><use href="x#y"/></svg>', RED)
    )
    result = asyncio.run(backend.agenerate(ImageRequest("a bar")))
    first, second, third = asked_of(backend)
    assert len(first) == 2
    assert "not well-formed" in text_of(second[2:])
    assert "Only #id" in text_of(third[2:])
    assert len(third) == 4, "only the last attempt is shown again"
    assert result.usage.calls == 3
    assert result.usage.input_tokens == 300


def test_what_is_never_drawn_is_an_error_with_all_its_usage() -> None:
    with pytest.raises(NoImage, match="wrote no drawing") as none:
        drawn(writer("I would rather not."), tries=2)
    assert none.value.detail["text"] == "I would rather not."
    assert none.value.usage is not None
    assert none.value.usage.calls == 2
    with pytest.raises(BadResponse, match="2 drawings .* well-formed") as broken:
        drawn(writer('<svg viewBox="0 0 9 9"><rect></svg>'), tries=2)
    assert broken.value.usage is not None
    assert (broken.value.usage.calls, broken.value.usage.input_tokens) == (2, 200)
    assert not broken.value.ambiguous


def test_what_was_left_out_and_cannot_be_set_is_said() -> None:
    text = '<svg viewBox="0 0 100 50"><script>x</script><text y="20">A\U000e0041\ue123</text></svg>'
    warnings = drawn(writer(text), ImageRequest("x", width=100, height=100)).warnings
    assert any("<script>" in warning for warning in warnings)
    assert any("No font of this machine has" in warning and "\ue123" in warning for warning in warnings)
    assert any("fitted into 100x100" in warning for warning in warnings)


def test_words_are_drawn_in_the_families_asked_for() -> None:
    def width(family: str, more: str = "") -> int:
        words = f'<text x="5" y="40" font-size="30" font-family="{family}" {more}>illWW</text>'
        text = f'<svg viewBox="0 0 400 60">{words}</svg>'
        box = Image.eval(pixels(drawn(writer(text)).images[0]).convert("L"), lambda value: 255 - value).getbbox()
        assert box is not None, family
        return box[2]

    fonts = fonts_for(["illWW"], {"monospace", "serif", "sans-serif"}, styled=True)
    assert fonts.sans
    widths = {family: width(family) for family in ("Arial", "Courier New, monospace", "Georgia, serif")}
    if len({fonts.sans, fonts.mono, fonts.serif}) == 3:
        assert len(set(widths.values())) == 3
    if any("old" in path for path in fonts.files):
        assert width("Arial", 'font-weight="bold"') > widths["Arial"]


@pytest.mark.parametrize(
    "request_",
    [
        ImageRequest("x", n=2),
        ImageRequest("  "),
        ImageRequest("x", width=9000),
        ImageRequest("x", mask=noise_card("m")),
        ImageRequest("x", references=[noise_card("m")] * 9),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_asked(request_: ImageRequest) -> None:
    backend = backend_of(writer(RED))
    with pytest.raises(InvalidRequest):
        asyncio.run(backend.agenerate(request_))
    assert asked_of(backend) == []


@pytest.mark.parametrize(
    ("request_", "ratio", "size"),
    [
        (ImageRequest("x", width=4096), 1 / 40, (4096, 4096)),
        (ImageRequest("x", height=2000), 40.0, (4096, 2000)),
        (ImageRequest("x", width=400, references=(ImageBytes(b"", "image/png", 1, 20_000),)), None, (400, 4096)),
        (ImageRequest("x", references=(ImageBytes(b"", "image/png", 20_000, 1),)), None, (2048, 16)),
        (ImageRequest("x"), 1000.0, (1024, 16)),
    ],
)
def test_no_shape_makes_a_picture_that_no_memory_holds(
    request_: ImageRequest, ratio: float | None, size: tuple[int, int]
) -> None:
    assert size_of(request_, ratio) == size


def test_the_fonts_of_a_book_are_found_at_once() -> None:
    # A second for a few thousand words once, and a minute for as many again.
    began = time.monotonic()
    found = fonts_for(["wörd " * 60_000, "漢字かな " * 20_000, "漢字 한 " * 20_000], {"sans-serif"}, styled=False)
    assert time.monotonic() - began < 5
    once = fonts_for(["wörd ", "漢字かな ", "漢字 한 "], {"sans-serif"}, styled=False)
    assert (found.files, found.missing) == (once.files, once.missing)


def test_a_deadline() -> None:
    with pytest.raises(CallTimeout):
        drawn(writer(RED, pause_s=2), ImageRequest("x", timeout_s=0.05))


def test_options_are_checked_and_count_in_the_fingerprint() -> None:
    for wrong in ({"tries": 0}, {"deadline_s": 0}, {"concurrency": 0}, {"show_side": 1}):
        with pytest.raises(ConfigError):
            backend_of(writer(RED), **wrong)
    with pytest.raises(ConfigError, match="writes no text"):
        backend_of(writer(RED, text_outputs=False))
    same = [backend_of(writer(RED)).fingerprint for _ in range(2)]
    assert same[0] == same[1]
    assert backend_of(writer(RED), tries=2).fingerprint != same[0]


def test_over_http_by_name(loopback: Any) -> None:
    loopback.script("chat", [Chat("No."), Chat(RED)])
    name = f"svg:openai:painter?base_url={loopback.base_url}&tries=2&billed=false"
    backend = init_image_backend(name)
    result = asyncio.run(backend.agenerate(ImageRequest("a bar", negative_prompt="words")))
    assert result.images[0].width == 1024
    assert result.usage.calls == 2
    assert result.usage.input_tokens > 0
    sent = json.dumps(loopback.requests[1].body)
    assert "There is no <svg>" in sent
    assert "must not show: words" in sent


def test_a_model_that_turns_out_to_be_blind_is_asked_without_pictures(loopback: Any) -> None:
    loopback.script("chat", [bad_request("image_url is not supported by this model"), Chat(RED), Chat(RED)])
    backend = SvgBackend.from_string(f"openai:painter?base_url={loopback.base_url}&billed=false")
    request = ImageRequest("a bar", references=[noise_card("a", side=32)])
    for _ in range(2):
        assert any("did not see" in warning for warning in asyncio.run(backend.agenerate(request)).warnings)
    assert ["image_url" in json.dumps(one.body["messages"]) for one in loopback.requests] == [True, False, False]


def test_a_refusal_is_one(loopback: Any) -> None:
    backend = SvgBackend.from_string(f"openai:painter?base_url={loopback.base_url}&billed=false")
    for reply in (moderation_blocked(), Chat("", refusal="I cannot draw that.")):
        loopback.script("chat", [reply])
        with pytest.raises(ContentBlocked):
            asyncio.run(backend.agenerate(ImageRequest("a bar")))


async def test_in_a_graph_a_chain_of_edits() -> None:
    backend = backend_of(writer(RED, BLUE, RED))
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(3)), backend, ScriptedCritic(), checks=())
    result = await graph.ainvoke({"request": "a bar in three colours"})
    assert result["outcome"] == "complete"
    first, *edits = [text_of(asked) for asked in asked_of(backend)]
    assert "the drawing to change" not in first
    assert len(edits) == 2
    assert all("the drawing to change" in edit and 'id="bar"' in edit for edit in edits), "it came through the store"


class Draughtsman(Writer):
    """Draws by a rule: the size it is told, in colours that all of what it is shown decides."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        parts: list[Any] = messages[1].content  # type: ignore[assignment]
        text = parts[-1]["text"]
        seen = "".join(part.get("text", "") + part.get("base64", "") for part in parts)
        digest = hashlib.sha256(seen.encode()).hexdigest()
        told = re.search(r'viewBox="0 0 (\d+) (\d+)"', text)
        assert told is not None
        bars = "".join(f'<rect x="{n}" width="1" height="4" fill="#{digest[6 * n : 6 * n + 6]}"/>' for n in range(4))
        ground = "" if "transparent ground" in text else '<rect width="4" height="4" fill="#eee"/>'
        inner = f'<svg width="60%" height="60%" viewBox="0 0 4 4" preserveAspectRatio="none">{ground}{bars}</svg>'
        svg = f'<svg viewBox="0 0 {told[1]} {told[2]}">{inner}</svg>'
        return ChatResult(generations=[ChatGeneration(message=AIMessage(svg))])


def test_it_conforms() -> None:
    report = check_backend(lambda: backend_of(Draughtsman(said=[])))
    assert report.ok, str(report)
    for item in ("edits", "references_arrive", "references_order", "negative_prompt", "transparent", "provenance"):
        assert report[item].status == "passed", str(report)
