"""The backend `diffusers` on a real tiny FLUX.2 klein."""

from __future__ import annotations

import asyncio
import io
import threading
import time
import weakref
from typing import Any

import pytest
from PIL import Image

pytest.importorskip("diffusers")

from langgraph_interleave import create_interleave_graph
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.diffusers import DiffusersBackend
from langgraph_interleave.backends.given import as_backend
from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.backends.several import SeveralBackends
from langgraph_interleave.errors import BadResponse, CallTimeout, InvalidRequest, Unavailable
from langgraph_interleave.testing import Options, ScriptedCritic, ScriptedPlanner, check_backend, simple_plan
from langgraph_interleave.types import ImageBytes, ImageRequest, ImageResult, Progress

torch: Any = pytest.importorskip("torch")


def ask(prompt: str = "a red cat", seed: int = 1, **options: Any) -> ImageRequest:
    fields: dict[str, Any] = {"width": 64, "height": 64, **options}
    return ImageRequest(prompt, seed=seed, **fields)


def drawn(backend: DiffusersBackend, request: ImageRequest) -> ImageBytes:
    return result_of(backend, request).images[0]


def result_of(backend: DiffusersBackend, request: ImageRequest) -> ImageResult:
    return asyncio.run(backend.agenerate(request))


def in_turn(backend: DiffusersBackend, *requests: ImageRequest) -> list[ImageBytes]:
    return [drawn(backend, request) for request in requests]


def at_once(backend: DiffusersBackend, *requests: ImageRequest) -> list[ImageBytes]:
    async def all_of_them() -> list[ImageResult]:
        return await asyncio.gather(*(backend.agenerate(request) for request in requests))

    return [result.images[0] for result in asyncio.run(all_of_them())]


# --- drawing ------------------------------------------------------------------------------------


def test_a_folder_is_a_backend_and_nothing_is_loaded_before_it_draws(capfd: Any) -> None:
    from tiny_pipelines import folder

    path = folder("klein")
    capfd.readouterr()
    backend = init_image_backend(f"diffusers:{path}?size=64")
    assert isinstance(backend, ImageBackend) and isinstance(backend, DiffusersBackend)
    assert backend.capabilities.max_references == 4 and backend.family.steps == 4
    assert backend._shared is None
    picture = drawn(backend, ImageRequest("a red cat", seed=3))
    assert (picture.width, picture.height, picture.mime, picture.seed) == (64, 64, "image/png", 3)
    assert b"trainedAlgorithmicMedia" in picture.data
    assert capfd.readouterr() == ("", "")


async def test_a_pipeline_object_is_a_backend_wherever_one_is_taken(klein_pipe: Any) -> None:
    assert isinstance(as_backend(klein_pipe), DiffusersBackend)
    assert isinstance(as_backend({"local": (klein_pipe, "all")}), SeveralBackends)
    plan = ScriptedPlanner(simple_plan(1))
    graph = create_interleave_graph(plan, klein_pipe, ScriptedCritic(), size="64x64", checks=())
    assert (await graph.ainvoke({"request": "a pot"}))["outcome"] == "complete"
    report = await asyncio.to_thread(check_backend, klein_pipe, options=Options(size=(64, 64), max_calls=1))
    assert (report.backend, report["draws"].status) == ("diffusers", "passed")


def test_same_seed_same_picture_and_another_seed_another(klein: DiffusersBackend, look: Any) -> None:
    one, again, other = in_turn(klein, ask(), ask(), ask(seed=2))
    assert one.data == again.data
    assert look.difference(one, other) > 50


def test_pixels_are_those_of_the_pipeline_itself(klein_pipe: Any, klein: DiffusersBackend, look: Any) -> None:

    picture = drawn(klein, ask())
    direct = klein_pipe(
        prompt="a red cat", height=64, width=64, num_inference_steps=4, guidance_scale=1.0,
        generator=torch.Generator("cpu").manual_seed(1),
    ).images[0]  # fmt: skip
    assert look.pixels(picture).tobytes() == direct.tobytes()


def test_several_pictures_have_seeds_of_their_own(klein: DiffusersBackend, look: Any) -> None:
    many = result_of(klein, ask(seed=2**32 - 1, n=3)).images
    assert [image.seed for image in many] == [2**32 - 1, 0, 1]
    for image in many:
        assert image.seed is not None
        assert look.difference(image, drawn(klein, ask(seed=image.seed))) <= 1


def test_without_a_seed_the_one_that_was_taken_is_told(klein: DiffusersBackend) -> None:
    picture = result_of(klein, ImageRequest("a red cat", width=64, height=64)).images[0]
    assert picture.seed is not None
    assert drawn(klein, ask(seed=picture.seed)).data == picture.data


def test_words_references_and_their_order_reach_the_model(klein: DiffusersBackend, look: Any) -> None:
    red, blue = look.card("red"), look.card("blue")
    plain, words, one, two, turned = in_turn(
        klein, ask(), ask("a dog"), ask(references=[red]), ask(references=[red, blue]), ask(references=[blue, red])
    )
    assert look.difference(plain, words) > 3
    assert look.difference(plain, one) > 10
    assert look.difference(one, two) > 3
    assert look.difference(two, turned) > 1


def test_a_size_nobody_gave_is_that_of_the_first_reference(klein: DiffusersBackend, look: Any) -> None:
    request = ImageRequest("a cat", seed=1, references=[look.card("red", (96, 80)), look.card("blue")])
    picture = drawn(klein, request)
    assert (picture.width, picture.height) == (96, 80)


@pytest.mark.parametrize(
    ("asked", "actual"),
    [((70, 50), (96, 64)), ((8, 8), (64, 64)), ((100, 75), (96, 80)), ((63, 64), (64, 64)), ((720, 80), (640, 80))],
)
def test_sizes_are_snapped_and_that_is_said(
    klein: DiffusersBackend, asked: tuple[int, int], actual: tuple[int, int]
) -> None:
    result = result_of(klein, ask(width=asked[0], height=asked[1], extra={"steps": 1}))
    assert (result.images[0].width, result.images[0].height) == actual
    assert result.warnings == (
        f"{asked[0]}x{asked[1]} was asked for; diffusers:Flux2KleinPipeline draws {actual[0]}x{actual[1]}.",
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"width": 0}, "side of 0"),
        ({"n": 9}, "9 pictures"),
        ({"seed": -1}, "seed -1"),
        ({"prompt": " \n"}, "no words"),
        ({"transparent": True}, "transparent"),
        ({"extra": {"steps": 0}}, "0 steps"),
        ({"extra": {"latents": 1}}, "'latents' cannot be set"),
        ({"extra": {"colour": "red"}}, "no option 'colour'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(klein: DiffusersBackend, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        result_of(klein, ask(**options))


def test_references_it_does_not_take_are_refused(klein: DiffusersBackend, look: Any) -> None:
    with pytest.raises(InvalidRequest, match=r"5 references are too many .* at most 4"):
        result_of(klein, ask(references=[look.card("red")] * 5))
    with pytest.raises(InvalidRequest, match=r"Reference 1 is 900x100 pixels"):
        result_of(klein, ask(references=[look.card("red", (900, 100))]))
    with pytest.raises(InvalidRequest, match=r"Reference 2 is an HTML page"):
        result_of(klein, ask(references=[look.card("red"), ImageBytes(b"<html>", "image/png", 64, 64)]))
    with pytest.raises(InvalidRequest, match="no mask"):
        result_of(klein, ask(references=[look.card("red")], mask=look.card("red")))


def test_a_small_reference_is_enlarged_and_that_is_said(klein: DiffusersBackend, look: Any) -> None:
    result = result_of(klein, ask(references=[look.card("red", (32, 16))]))
    assert result.warnings == ("Reference 1 is 32x16; it was enlarged to 128x64.",)


def test_references_are_made_plain_before_the_model_sees_them(klein: DiffusersBackend, look: Any) -> None:
    def saved(image: Image.Image, fmt: str, **options: Any) -> ImageBytes:
        buffer = io.BytesIO()
        image.save(buffer, fmt, **options)
        return ImageBytes(buffer.getvalue(), f"image/{fmt.lower()}", *image.size)

    half = Image.new("RGB", (64, 96), "red")
    half.paste("blue", (0, 0, 64, 40))
    turned = Image.Exif()
    turned[0x0112] = 3
    upright = drawn(klein, ask(references=[saved(half, "PNG")]))
    rotated = drawn(klein, ask(references=[saved(half.rotate(180), "PNG", exif=turned)]))
    assert look.difference(upright, rotated) == 0
    clear = Image.new("RGBA", (64, 64), (255, 0, 0, 0))
    assert (
        drawn(klein, ask(references=[saved(clear, "PNG")])).data
        == drawn(klein, ask(references=[look.card("white")])).data
    )


def test_a_prompt_that_is_too_long_keeps_its_end_and_that_is_said(klein: DiffusersBackend) -> None:
    assert result_of(klein, ask("cat " * 100)).warnings == ()
    one, other = (result_of(klein, ask(f"A cat. {'cat ' * 400}Keep the {end}.")) for end in ("face", "ears"))
    assert "longer than diffusers:Flux2KleinPipeline reads" in one.warnings[0] and "left out" in one.warnings[0]
    assert one.images[0].data != other.images[0].data


def test_a_quality_means_steps_where_that_helps_and_is_told_where_not(klein: DiffusersBackend) -> None:
    assert "quality high changes nothing" in result_of(klein, ask(quality="high")).warnings[0]


# --- many at once -------------------------------------------------------------------------------


def test_eight_requests_at_once_equal_their_serial_results(klein_pipe: Any, look: Any) -> None:
    requests = [ask(f"thing {index}", seed=index) for index in range(8)]
    serial = in_turn(DiffusersBackend(klein_pipe, batch=False), *requests)
    backend = DiffusersBackend(klein_pipe)
    result_of(backend, requests[0])
    assert backend._shared is not None
    before = backend._shared.calls
    together = at_once(backend, *requests)
    assert backend._shared.calls - before == 1
    assert all(look.difference(one, other) <= 1 for one, other in zip(serial, together, strict=True))
    assert [image.seed for image in together] == list(range(8))


def test_requests_with_the_same_references_are_drawn_together(klein_pipe: Any, look: Any) -> None:
    references = [look.card("red"), look.card("blue")]
    requests = [ask(f"thing {index}", seed=index, references=references) for index in range(3)]
    serial = in_turn(DiffusersBackend(klein_pipe, batch=False), *requests)
    backend = DiffusersBackend(klein_pipe)
    together = at_once(backend, *requests)
    assert backend._shared is not None
    assert all(look.difference(one, other) <= 1 for one, other in zip(serial, together, strict=True))


def test_what_differs_in_more_than_words_is_drawn_apart(klein_pipe: Any, look: Any) -> None:
    requests = [
        ask("a", references=[look.card("red")], extra={"steps": 1}),
        ask("b", references=[look.card("blue")], extra={"steps": 1}),
        ask("c", width=80, extra={"steps": 1}),
        ask("d", extra={"steps": 2}),
        ask("e", extra={"steps": 1}),
    ]
    serial = in_turn(DiffusersBackend(klein_pipe, batch=False), *requests)
    backend = DiffusersBackend(klein_pipe)
    result_of(backend, ask())
    assert backend._shared is not None
    before = backend._shared.calls
    together = at_once(backend, *requests)
    assert backend._shared.calls - before == 5
    assert [one.data for one in serial] == [other.data for other in together]


def test_threads_and_backends_over_one_pipeline_share_its_lock(klein_pipe: Any, look: Any) -> None:
    serial = in_turn(DiffusersBackend(klein_pipe), *(ask(f"thing {index}") for index in range(4)))
    found: dict[int, ImageBytes] = {}

    def work(index: int) -> None:
        found[index] = drawn(DiffusersBackend(klein_pipe), ask(f"thing {index}"))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(look.difference(serial[index], found[index]) <= 1 for index in range(4))


def test_no_more_than_the_batch_allows_are_drawn_together(klein_pipe: Any) -> None:
    backend = DiffusersBackend(klein_pipe, batch=2)
    result_of(backend, ask())
    assert backend._shared is not None
    before = backend._shared.calls
    at_once(backend, *(ask(seed=seed) for seed in range(5)))
    assert backend._shared.calls - before == 3


# --- progress, previews, cancellation -----------------------------------------------------------


def test_every_step_is_told(klein: DiffusersBackend) -> None:
    told: list[Progress] = []
    asyncio.run(klein.agenerate(ask(), on_progress=told.append))
    assert [(one.step, one.total, one.preview) for one in told] == [(step, 4, None) for step in (1, 2, 3, 4)]


def test_previews_change_nothing(klein_pipe: Any, klein: DiffusersBackend) -> None:
    told: list[Progress] = []
    backend = DiffusersBackend(klein_pipe, preview_every=2)
    assert backend.capabilities.progress == "previews"
    result = asyncio.run(backend.agenerate(ask(width=96), on_progress=told.append))
    assert [one.preview is not None for one in told] == [False, True, False, False]
    assert told[1].preview is not None and (told[1].preview.width, told[1].preview.height) == (96, 64)
    assert result.images[0].data == drawn(klein, ask(width=96)).data


def test_a_listener_that_fails_is_told_of_it_and_disturbs_no_one(klein: DiffusersBackend) -> None:
    def broken(_: Progress) -> None:
        raise KeyError("listener")

    async def both() -> list[Any]:
        asked = klein.agenerate(ask("a"), on_progress=broken), klein.agenerate(ask("b"))
        return list(await asyncio.gather(*asked, return_exceptions=True))

    failed, fine = asyncio.run(both())
    assert isinstance(failed, KeyError)
    assert isinstance(fine, ImageResult)


def test_a_cancelled_drawing_stops_and_the_next_is_as_ever(klein_pipe: Any, klein: DiffusersBackend) -> None:
    before = drawn(klein, ask())
    steps: list[int] = []
    first = threading.Event()

    def follow(progress: Progress) -> None:
        steps.append(progress.step)
        first.set()
        time.sleep(0.02)

    async def cancelled() -> None:
        task = asyncio.create_task(klein.agenerate(ask(extra={"steps": 50}), on_progress=follow))
        await asyncio.to_thread(first.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert drawn(klein, ask()).data == before.data
    assert len(steps) < 5


def test_what_others_still_wait_for_goes_on(klein: DiffusersBackend, look: Any) -> None:
    alone = drawn(klein, ask("b", extra={"steps": 6}))
    begun = threading.Event()

    async def one_leaves() -> ImageResult:
        leaving = asyncio.create_task(klein.agenerate(ask("a", extra={"steps": 6}), on_progress=lambda _: begun.set()))
        staying = asyncio.create_task(klein.agenerate(ask("b", extra={"steps": 6})))
        await asyncio.to_thread(begun.wait)
        leaving.cancel()
        return await staying

    assert look.difference(asyncio.run(one_leaves()).images[0], alone) <= 1


def test_a_deadline_ends_it_and_what_waits_behind_is_drawn(klein: DiffusersBackend) -> None:
    async def late() -> ImageResult:
        slow = klein.agenerate(ask(timeout_s=0.3, extra={"steps": 1000}))
        behind = klein.agenerate(ask(extra={"steps": 1}))
        ended, fine = await asyncio.gather(slow, behind, return_exceptions=True)
        assert isinstance(ended, CallTimeout) and not ended.ambiguous and "0.3 s" in str(ended)
        assert isinstance(fine, ImageResult)
        return fine

    begun = time.monotonic()
    asyncio.run(late())
    assert time.monotonic() - begun < 5


# --- what is encoded, what fails ----------------------------------------------------------------


def test_words_are_encoded_once(klein_pipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = DiffusersBackend(klein_pipe)
    said: list[str] = []
    real = klein_pipe.encode_prompt

    def encode(**options: Any) -> Any:
        if options.get("prompt") is not None:
            said.append(options["prompt"])
        return real(**options)

    monkeypatch.setattr(klein_pipe, "encode_prompt", encode)
    first = drawn(backend, ask("words never said before"))
    again = drawn(backend, ask("words never said before"))
    assert said == ["words never said before"]
    assert first.data == again.data


def test_kept_words_are_bounded() -> None:
    from tiny_pipelines import load

    from langgraph_interleave.backends.diffusers.probe import family_of
    from langgraph_interleave.backends.diffusers.prompts import Encoded

    pipe = load("klein")
    size = 512 * 48 * 4
    kept = Encoded(most=2 * size)
    family = family_of(pipe, "klein")
    for word in "abac":
        kept.of(pipe, family, [word], {})
    assert (len(kept), kept.reused) == (2, 1)
    kept.of(pipe, family, ["a"], {})
    assert kept.reused == 2


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A pipeline of one's own whose transformer fails in given calls."""
    from tiny_pipelines import load

    pipe = load("klein")
    real, calls = pipe.transformer.forward, [0]

    def failing(at: set[int], error: Exception) -> Any:
        calls[0] = 0

        def forward(*args: Any, **options: Any) -> Any:
            calls[0] += 1
            if calls[0] in at:
                raise error
            return real(*args, **options)

        monkeypatch.setattr(pipe.transformer, "forward", forward)
        return pipe

    return failing


def test_out_of_memory_is_tried_once_more_one_by_one(own: Any, look: Any) -> None:

    pipe = own(set(), RuntimeError())
    backend = DiffusersBackend(pipe)
    requests = [ask(f"thing {index}", seed=index) for index in range(3)]
    serial = in_turn(backend, *requests)
    own({2}, torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."))
    together = at_once(backend, *requests)
    assert [one.data for one in serial] == [other.data for other in together]
    assert backend._shared is not None and backend._shared.most == 1


def test_out_of_memory_twice_is_unavailable_and_the_next_call_is_as_ever(own: Any) -> None:

    backend = DiffusersBackend(own(set(), RuntimeError()))
    before = drawn(backend, ask())
    own({2, 4}, torch.OutOfMemoryError("CUDA out of memory"))
    with pytest.raises(Unavailable, match=r"64x64.* offload=model") as caught:
        result_of(backend, ask())
    assert caught.value.code == "out_of_memory" and not caught.value.ambiguous
    assert drawn(backend, ask()).data == before.data


def test_a_fault_of_the_pipeline_is_one_of_ours(own: Any) -> None:
    backend = DiffusersBackend(own({1}, RuntimeError("mat1 and mat2 shapes cannot be multiplied")))
    with pytest.raises(BadResponse, match="broke off: RuntimeError: mat1"):
        result_of(backend, ask())
    assert drawn(backend, ask()).width == 64


def test_values_that_are_no_numbers_are_no_picture(own: Any) -> None:

    pipe = own(set(), RuntimeError())
    with torch.no_grad():
        pipe.vae.decoder.conv_out.bias.fill_(float("nan"))
    with pytest.raises(BadResponse, match="not numbers") as caught:
        result_of(DiffusersBackend(pipe), ask())
    assert caught.value.code == "not_finite"


def test_a_black_picture_is_none(own: Any) -> None:

    pipe = own(set(), RuntimeError())
    with torch.no_grad():
        pipe.vae.decoder.conv_out.weight.zero_()
        pipe.vae.decoder.conv_out.bias.fill_(-5.0)
    with pytest.raises(BadResponse, match="black all over"):
        result_of(DiffusersBackend(pipe), ask())


async def test_a_pipeline_nobody_uses_is_freed() -> None:
    from tiny_pipelines import folder

    backend = DiffusersBackend(folder("klein"))
    await backend.agenerate(ask(extra={"steps": 1}))
    assert backend._shared is not None
    pipe = weakref.ref(backend._shared.pipe)
    second = DiffusersBackend(folder("klein"))
    await second.agenerate(ask(extra={"steps": 1}))
    assert second._shared is backend._shared
    await backend.aclose()
    await second.aclose()
    for _ in range(100):
        import gc

        gc.collect()
        if pipe() is None:
            break
        await asyncio.sleep(0.02)
    assert pipe() is None


def test_one_that_cannot_be_drawn_takes_no_other_with_it(look: Any) -> None:
    from tiny_pipelines import load

    pipe = load("klein")
    backend = DiffusersBackend(pipe)
    alone = drawn(backend, ask(seed=2))
    real = pipe.encode_prompt

    def picky(prompt: Any, **options: Any) -> Any:
        if "forbidden" in str(prompt):
            raise ValueError("not a word of mine")
        return real(prompt=prompt, **options)

    pipe.encode_prompt = picky

    async def both() -> list[Any]:
        calls = (backend.agenerate(ask("forbidden")), backend.agenerate(ask(seed=2)))
        return list(await asyncio.gather(*calls, return_exceptions=True))

    refused, other = asyncio.run(both())
    assert isinstance(refused, InvalidRequest) and "not a word of mine" in refused.message
    assert isinstance(other, ImageResult) and look.difference(other.images[0], alone) <= 1


def test_even_a_panic_ends_one_call_only(look: Any) -> None:
    # Libraries written in Rust raise what is no Exception; it once ended the thread that draws, for good.
    class Panic(BaseException):
        pass

    def panics(*args: Any, **options: Any) -> Any:
        raise Panic("index out of bounds")

    from tiny_pipelines import load

    pipe = load("klein")
    backend = DiffusersBackend(pipe)
    before = drawn(backend, ask(timeout_s=30))
    real, pipe.encode_prompt = pipe.encode_prompt, panics
    with pytest.raises(BadResponse, match="Panic: index out of bounds"):
        drawn(backend, ask("another cat", timeout_s=30))
    pipe.encode_prompt = real
    assert look.difference(drawn(backend, ask(timeout_s=30)), before) == 0
