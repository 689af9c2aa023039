"""The backend `callable`: any function that draws, sync or async."""

from __future__ import annotations

import asyncio
import functools
import io
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image

from langgraph_interleave import background, create_interleave_graph
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.callable import CallableBackend
from langgraph_interleave.errors import BadResponse, CallTimeout, ConfigError, InvalidRequest, NoImage, RateLimited
from langgraph_interleave.testing import ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, Usage


def png(color: str = "red", side: int = 8) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (side, side), color).save(buffer, "PNG")
    return buffer.getvalue()


def drawn(function: Any, request: ImageRequest | None = None, **options: Any) -> ImageResult:
    backend = CallableBackend(function, **options)
    assert isinstance(backend, ImageBackend)
    return asyncio.run(backend.agenerate(request or ImageRequest("a pot")))


def card(prompt: str, references: Any = ()) -> Image.Image:
    del references
    return Image.new("RGB", (8, 8), (len(prompt), 0, 0))


class Method:
    def draw(self, prompt: str) -> bytes:
        return png("blue" if "blue" in prompt else "red")


async def later(prompt: str, references: Any) -> bytes:
    del prompt, references
    await asyncio.sleep(0)
    return png()


@pytest.mark.parametrize(
    "function",
    [
        card,
        later,
        lambda prompt, references: png(),
        lambda words, pictures: card(words, pictures),
        lambda words: card(words),
        Method().draw,
        functools.partial(card, references=()),
        lambda prompt, **rest: noise_card(prompt),
        lambda request: ImageResult((noise_card(request.prompt),), usage=Usage(images=1, cost_usd=0.25)),
        lambda prompt, references: [png("red"), png("blue")],
        lambda: png(),
    ],
)
def test_what_a_function_may_look_like(function: Any) -> None:
    result = drawn(function)
    assert result.images
    assert result.images[0].mime == "image/png"
    assert result.usage.images in (1, 2)


def positional_only(prompt: str, references: Any, /) -> bytes:
    return named(prompt, references)


def keyword_only(prompt: str, *, references: Any) -> bytes:
    return named(prompt, references)


def named(prompt: Any, references: Any) -> bytes:
    assert prompt == "a pot" and [picture.size for picture in references] == [(16, 16)]
    return png()


@pytest.mark.parametrize(
    "function",
    [
        lambda prompt, refs: named(prompt, refs),
        lambda p, references: named(p, references),
        lambda p, refs: named(p, refs),
        lambda refs, prompt: named(prompt, refs),
        lambda p, refs, width=8, **rest: named(p, refs),
        lambda p, r, *more: named(p, r),
        lambda *both: named(*both),
        lambda **all_of_it: named(all_of_it["prompt"], all_of_it["references"]),
        positional_only,
        keyword_only,
    ],
)
def test_the_two_it_needs_may_have_any_names(function: Any) -> None:
    backend = CallableBackend(function)
    assert (backend.capabilities.edit, backend.capabilities.max_references) == ("instruct", 16)
    drawn(function, ImageRequest("a pot", references=[noise_card("a", side=16)]))


def test_beside_a_seed_the_first_is_the_prompt() -> None:
    assert drawn(lambda words, seed: card(f"{words}{seed}"), ImageRequest("x", seed=3)).images[0].seed == 3


@pytest.mark.parametrize(
    ("function", "remedy"),
    [
        (lambda prompt, refs, seed: png(), "Rename refs to references. What it may take: prompt,"),
        (lambda prompt, images, style: png(), "Rename images to references and give style a default."),
        (lambda canvas, brush, ink: png(), "Give canvas, brush, ink a default."),
        (lambda seed, strength: png(), "Give strength a default."),
        (lambda request, ref: png(), "Rename ref to references."),
        (lambda text, refs, negative: png(), "Rename text to prompt, refs to references, negative to negative_prompt."),
    ],
)
def test_what_it_cannot_be_given_is_to_be_renamed(function: Any, remedy: str) -> None:
    with pytest.raises(ConfigError) as raised:
        CallableBackend(function)
    assert raised.value.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("size", "said"),
    [((64, 64), ("The first reference is 96x32; callable drew 64x64.",)), ((48, 16), ()), ((96, 33), ())],
)
def test_another_shape_than_the_references_is_said(size: tuple[int, int], said: tuple[str, ...]) -> None:
    reference = drawn(lambda prompt: Image.new("RGB", (96, 32), "red")).images[0]
    result = drawn(lambda p, refs: Image.new("RGB", size, "blue"), ImageRequest("x", references=[reference]))
    assert result.warnings == said


def test_a_seed_below_nothing_is_refused_rather_than_changed() -> None:
    with pytest.raises(InvalidRequest, match="seed -1"):
        drawn(lambda prompt, seed: png(), ImageRequest("x", seed=-1))


def test_it_is_given_what_it_takes() -> None:
    seen: dict[str, Any] = {}

    def draw(
        prompt: str, references: Any, width: int = 1, height: int = 1, seed: int | None = None, mask: Any = None
    ) -> bytes:
        seen.update(locals())
        return png()

    references = [noise_card("a", side=16), noise_card("b", side=24)]
    request = ImageRequest("a pot", references=references, width=32, height=24, seed=7, mask=noise_card("m"))
    drawn(draw, request)
    assert (seen["prompt"], seen["width"], seen["height"], seen["seed"]) == ("a pot", 32, 24, 7)
    assert [picture.size for picture in seen["references"]] == [(16, 16), (24, 24)]
    assert seen["mask"].size == (16, 16)


def test_several_pictures_have_seeds_of_their_own() -> None:
    seeds: list[int] = []

    def draw(prompt: str, seed: int) -> bytes:
        seeds.append(seed)
        return png()

    result = drawn(draw, ImageRequest("x", n=3, seed=2**32 - 2))
    assert len(result.images) == 3
    assert seeds == [2**32 - 2, 2**32 - 1, 0]


def test_what_it_can_do_is_told_from_what_it_takes() -> None:
    plain = CallableBackend(lambda prompt: png()).capabilities
    assert (plain.edit, plain.max_references, plain.seed, plain.billed) == ("none", 0, "ignored", False)
    more = CallableBackend(lambda prompt, references, seed, negative_prompt: png(), billed=True).capabilities
    assert (more.edit, more.max_references, more.seed, more.negative_prompt, more.billed) == (
        "instruct", 16, "exact", True, True,
    )  # fmt: skip
    own = CallableBackend(card, capabilities=Capabilities(edit="img2img", max_references=1)).capabilities
    assert own.edit == "img2img"
    with pytest.raises(InvalidRequest, match="takes no references"):
        drawn(lambda prompt: png(), ImageRequest("x", references=[noise_card("a")]))


@pytest.mark.parametrize(
    ("returned", "error", "says"),
    [
        (None, NoImage, "nothing"),
        ([], NoImage, "empty list"),
        (3, BadResponse, "a int"),
        (b"<html>", BadResponse, "The answer of mine is an HTML page"),
        ("picture.png", BadResponse, "a str"),
        (png("black"), BadResponse, "mine drew nothing that can be seen"),
        (Image.new("RGB", (8, 8)), BadResponse, "mine drew nothing that can be seen"),
        (Image.new("CMYK", (8, 8)), BadResponse, "cannot be written as PNG"),
        (png()[:45], BadResponse, "broken PNG"),
        (ImageBytes(b"GIF", "image/png", 8, 8), BadResponse, "text, not a picture"),
        (ImageResult(()), NoImage, "empty list"),
    ],
)
def test_what_is_no_picture_is_an_error(returned: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        drawn(lambda prompt: returned, name="mine")


def test_pictures_are_measured_and_lose_what_is_private() -> None:
    from PIL.PngImagePlugin import PngInfo

    words = PngInfo()
    words.add_text("parameters", "a secret prompt")
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(buffer, "PNG", pnginfo=words)
    told = ImageBytes(buffer.getvalue(), "image/jpeg", 640, 480)
    image = drawn(lambda prompt, seed: told, ImageRequest("x", seed=5)).images[0]
    assert (image.mime, image.width, image.height, image.seed) == ("image/png", 8, 8, 5)
    assert b"secret" not in image.data
    again = drawn(lambda prompt, seed: ImageResult((replace(told, seed=9),)), ImageRequest("x", seed=5))
    assert again.images[0].seed == 9


def test_a_reference_that_is_no_picture_is_named() -> None:
    broken = replace(noise_card("b"), data=noise_card("b").data[:200])
    with pytest.raises(InvalidRequest, match="Reference 2 is a broken PNG"):
        drawn(card, ImageRequest("x", references=[noise_card("a"), broken]))


@pytest.mark.parametrize("function", [3, "draw", lambda canvas, brush, ink: png()])
def test_what_cannot_be_called_so_is_refused_at_once(function: Any) -> None:
    with pytest.raises(ConfigError):
        CallableBackend(function)


def test_errors_of_ours_come_as_they_are() -> None:
    def busy(prompt: str) -> bytes:
        raise RateLimited("later", retry_after=1)

    with pytest.raises(RateLimited):
        drawn(busy)


async def test_a_deadline_and_a_turn_for_each() -> None:
    running = most = 0

    def draw(prompt: str) -> bytes:
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.02)
        running -= 1
        return png()

    backend = CallableBackend(draw)
    await asyncio.gather(*(backend.agenerate(ImageRequest("x")) for _ in range(4)))
    assert most == 1
    two = CallableBackend(draw, concurrency=2)
    await asyncio.gather(*(two.agenerate(ImageRequest("x")) for _ in range(4)))
    assert most == 2
    with pytest.raises(CallTimeout):
        await CallableBackend(lambda prompt: time.sleep(0.2)).agenerate(ImageRequest("x", timeout_s=0.01))


def test_one_backend_serves_loop_after_loop() -> None:
    backend = CallableBackend(lambda prompt: png())

    async def three() -> int:
        return len(await asyncio.gather(*(backend.agenerate(ImageRequest("x")) for _ in range(3))))

    # Somebody waits for a turn in both loops.
    assert [asyncio.run(three()), asyncio.run(three())] == [3, 3]


def test_what_a_function_lets_out_ends_the_call() -> None:
    def empty(prompt: str) -> bytes:
        return next(iter(list[bytes]()))

    def late(prompt: str) -> bytes:
        raise TimeoutError("the painter's own")

    async def broken(prompt: str) -> bytes:
        raise asyncio.CancelledError

    async def called(function: Any) -> ImageResult:
        return await asyncio.wait_for(CallableBackend(function).agenerate(ImageRequest("x")), 5)

    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(called(empty))
    with pytest.raises(TimeoutError, match="the painter's own"):
        drawn(late)
    with pytest.raises(TimeoutError, match="the painter's own"):
        drawn(late, ImageRequest("x", timeout_s=60))
    with pytest.raises(BadResponse, match="gave itself up"):
        drawn(broken)


def test_no_more_pictures_than_were_asked_for() -> None:
    result = drawn(lambda prompt: [png("red"), png("blue"), png("green")], ImageRequest("x", n=2), name="mine")
    assert len(result.images) == 2
    assert result.warnings == ("mine drew 6 pictures; the first 2 were kept.",)


def test_another_function_is_another_fingerprint() -> None:
    assert CallableBackend(card).fingerprint == CallableBackend(card).fingerprint
    assert len({CallableBackend(f).fingerprint for f in (card, later, Method().draw)}) == 3
    assert CallableBackend(card, fingerprint="v2").fingerprint == "v2"


async def test_in_the_loop_a_plain_function_runs_in_a_thread_and_an_async_one_on_the_packages_loop() -> None:
    threads: set[str] = set()
    loops: set[Any] = set()

    def plain(prompt: str, references: Any) -> bytes:
        threads.add(threading.current_thread().name)
        return png()

    async def asynchronous(prompt: str, references: Any) -> bytes:
        loops.add(asyncio.get_running_loop())
        return png()

    for function in (plain, asynchronous):
        graph = create_interleave_graph(ScriptedPlanner(simple_plan(2)), function, ScriptedCritic(), checks=())
        assert (await graph.ainvoke({"request": "x"}))["outcome"] == "complete"
    assert threading.current_thread().name not in threads
    assert loops == {background.loop_at(0)}
