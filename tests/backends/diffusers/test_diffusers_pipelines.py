"""The backend `diffusers` on other tiny pipelines, and on the way to loading them."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("diffusers")

from langgraph_interleave.backends.diffusers import DiffusersBackend
from langgraph_interleave.errors import ConfigError, ContentBlocked, InvalidRequest, Unavailable
from langgraph_interleave.types import ImageBytes, ImageRequest, ImageResult

diffusers: Any = pytest.importorskip("diffusers")
torch: Any = pytest.importorskip("torch")


def ask(prompt: str = "a red cat", seed: int = 1, **options: Any) -> ImageRequest:
    fields: dict[str, Any] = {"width": 64, "height": 64, "extra": {"steps": 2}, **options}
    return ImageRequest(prompt, seed=seed, **fields)


def result_of(backend: DiffusersBackend, request: ImageRequest) -> ImageResult:
    return asyncio.run(backend.agenerate(request))


def drawn(backend: DiffusersBackend, request: ImageRequest) -> ImageBytes:
    return result_of(backend, request).images[0]


def of(kind: str, **options: Any) -> DiffusersBackend:
    from tiny_pipelines import load

    return DiffusersBackend(load(kind), **options)


def at_once(backend: DiffusersBackend, requests: list[ImageRequest]) -> list[ImageBytes]:
    async def all_of_them() -> list[ImageResult]:
        return await asyncio.gather(*(backend.agenerate(request) for request in requests))

    return [result.images[0] for result in asyncio.run(all_of_them())]


SLOW = pytest.mark.slow


@pytest.mark.parametrize("kind", ["flux", pytest.param("sd", marks=SLOW), pytest.param("klein-base", marks=SLOW)])
def test_requests_at_once_equal_their_serial_results(kind: str, look: Any) -> None:
    backend = of(kind)
    requests = [ask(f"thing {index}", seed=index) for index in range(3)]
    serial = [drawn(backend, request) for request in requests]
    assert backend._shared is not None
    before = backend._shared.calls
    together = at_once(backend, requests)
    assert backend._shared.calls - before == 1
    assert all(look.difference(one, other) <= 1 for one, other in zip(serial, together, strict=True))


@pytest.mark.parametrize("kind", ["sd", pytest.param("flux", marks=SLOW), pytest.param("kontext", marks=SLOW)])
def test_previews_have_the_size_of_the_picture_and_change_nothing(kind: str, look: Any) -> None:
    told: list[Any] = []
    backend, references = of(kind, preview_every=1), [look.card("red")] if kind == "kontext" else []
    request = ask(width=96, references=references)
    result = asyncio.run(backend.agenerate(request, on_progress=told.append))
    previews = [one.preview for one in told]
    assert previews[0] is not None and (previews[0].width, previews[0].height) == (96, 64)
    assert previews[-1] is None
    assert result.images[0].data == drawn(of(kind), request).data


def test_kontext_draws_the_size_asked_for_and_looks_at_its_reference(look: Any) -> None:
    backend = of("kontext")
    red, blue = look.card("red", (128, 64)), look.card("blue", (128, 64))
    one, other, plain = (drawn(backend, ask(width=96, references=refs)) for refs in ([red], [blue], []))
    assert (one.width, one.height) == (96, 64)
    assert look.difference(one, other) > 3 and look.difference(one, plain) > 3
    with pytest.raises(InvalidRequest, match="2 references are too many"):
        result_of(backend, ask(references=[red, blue]))
    requests = [ask(f"thing {index}", seed=index, references=[red]) for index in range(3)]
    serial = [drawn(backend, request) for request in requests]
    assert all(look.difference(a, b) <= 1 for a, b in zip(serial, at_once(backend, requests), strict=True))


def test_a_stable_diffusion_takes_negative_words_and_multiples_of_eight(look: Any) -> None:
    backend = of("sd")
    can = backend.capabilities
    assert can.negative_prompt and can.size_multiple == 8 and can.edit == "none" and can.max_prompt_tokens == 77
    plain, without = drawn(backend, ask()), drawn(backend, ask(negative_prompt="rain"))
    assert look.difference(plain, without) > 0
    assert drawn(backend, ask(width=72)).width == 72
    (warning,) = result_of(backend, ask("cat " * 100)).warnings
    assert "75 tokens" in warning and "left out" in warning


def test_a_pipeline_made_from_another_restyles_a_picture(look: Any) -> None:
    from tiny_pipelines import load

    pipe = diffusers.StableDiffusionImg2ImgPipeline(**load("sd").components, requires_safety_checker=False)
    backend = DiffusersBackend(pipe)
    assert backend.capabilities.edit == "img2img" and not backend.capabilities.generate
    with pytest.raises(InvalidRequest, match="none was given"):
        result_of(backend, ask())
    request = ask(references=[look.card("red", (128, 64))], extra={"steps": 4, "strength": 0.5})
    result = result_of(backend, request)
    assert (result.images[0].width, result.images[0].height) == (64, 64)
    assert result.warnings == ("Reference 1 was cropped to the shape of the picture, 64x64.",)


def test_within_a_mask_only_what_it_marks_changes(look: Any) -> None:
    import io

    from PIL import Image, ImageChops, ImageStat
    from tiny_pipelines import load

    pipe = diffusers.StableDiffusionInpaintPipeline(**load("sd").components, requires_safety_checker=False)
    backend = DiffusersBackend(pipe)
    assert backend.capabilities.mask
    marks = Image.new("RGBA", (64, 64), (0, 0, 0, 255))
    marks.paste((0, 0, 0, 0), (32, 0, 64, 64))
    buffer = io.BytesIO()
    marks.save(buffer, "PNG")
    mask = ImageBytes(buffer.getvalue(), "image/png", 64, 64)
    request = ask(references=[look.card("red")], mask=mask, extra={"steps": 4, "strength": 1.0})
    other = ask("a dog", seed=9, references=[look.card("red")], mask=mask, extra={"steps": 4, "strength": 1.0})
    one, two = look.pixels(drawn(backend, request)), look.pixels(drawn(backend, other))

    def change(box: tuple[int, int, int, int]) -> float:
        moved = ImageStat.Stat(ImageChops.difference(one.crop(box), two.crop(box)))
        return sum(moved.mean)

    # The decoder mixes a little of everything into everything.
    print(change((0, 0, 16, 64)), change((48, 0, 64, 64)))
    assert 5 * change((0, 0, 16, 64)) < change((48, 0, 64, 64))
    with pytest.raises(InvalidRequest, match="opaque everywhere"):
        result_of(backend, ask(references=[look.card("red")], mask=look.card("white")))


def test_what_a_safety_filter_blanks_is_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiny_pipelines import load

    pipe = load("sd")
    monkeypatch.setattr(pipe, "run_safety_checker", lambda image, device, dtype: (image, [True] * len(image)))
    with pytest.raises(ContentBlocked, match="safety filter"):
        result_of(DiffusersBackend(pipe), ask())


@pytest.mark.parametrize("offload", ["model", pytest.param("group", marks=SLOW)])
def test_offloading_changes_no_pixel(offload: Any) -> None:
    from tiny_pipelines import folder

    plain = drawn(DiffusersBackend(folder("klein")), ask())
    moved = DiffusersBackend(folder("klein"), offload=offload, device="cpu")
    assert drawn(moved, ask()).data == plain.data
    assert drawn(moved, ask()).data == plain.data


@SLOW
def test_eight_bit_weights_draw_nearly_the_same(look: Any) -> None:
    from tiny_pipelines import folder

    plain = drawn(DiffusersBackend(folder("klein")), ask())
    small = drawn(DiffusersBackend(folder("klein"), quantization="fp8"), ask())
    assert 0 < look.difference(plain, small) <= 40


@SLOW
def test_half_precision(look: Any) -> None:
    from tiny_pipelines import folder

    backend = DiffusersBackend(folder("klein"), dtype="bf16")
    assert drawn(backend, ask()).data == drawn(backend, ask()).data
    assert look.difference(drawn(backend, ask()), drawn(DiffusersBackend(folder("klein")), ask())) > 0


@SLOW
def test_a_pipeline_object_is_placed_once() -> None:
    from tiny_pipelines import load

    pipe = load("klein")
    backend = DiffusersBackend(pipe, offload="model", device="cpu")
    assert drawn(backend, ask()).width == 64
    assert drawn(DiffusersBackend(pipe, offload="model", device="cpu"), ask()).width == 64
    with pytest.raises(ConfigError, match="placed with offload='model'"):
        drawn(DiffusersBackend(pipe, offload="sequential", device="cpu"), ask())
    with pytest.raises(ConfigError, match="its number format, weights and LoRAs are what they are"):
        DiffusersBackend(pipe, dtype="bf16")


# --- what cannot be loaded ----------------------------------------------------------------------


def test_a_model_that_is_not_here_and_no_hub(capfd: Any) -> None:
    with pytest.raises(ConfigError, match=r"the hub cannot be reached.*hf download somebody/nothing"):
        result_of(DiffusersBackend("somebody/nothing"), ask())
    assert capfd.readouterr() == ("", "")


def test_a_folder_that_is_not_whole(tmp_path: Path) -> None:
    from tiny_pipelines import folder

    broken = tmp_path / "broken"
    shutil.copytree(folder("klein"), broken)
    shutil.rmtree(broken / "vae")
    with pytest.raises(ConfigError, match="broken cannot be loaded"):
        result_of(DiffusersBackend(broken), ask())
    (broken / "model_index.json").write_text(json.dumps({"_class_name": "NoSuchPipeline", "_diffusers_version": "9"}))
    with pytest.raises(ConfigError, match="cannot be loaded"):
        result_of(DiffusersBackend(broken), ask())


class GatedRepoError(OSError):
    """As the hub's client calls it."""


class RepositoryNotFoundError(OSError):
    """As the hub's client calls it."""


class ConnectError(Exception):
    """As the hub's client calls it."""


def unreached() -> OSError:
    error = OSError("We cannot do this.")
    error.__cause__ = ConnectError("refused")
    return error


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (GatedRepoError("401"), ConfigError, "accepted its licence"),
        (RepositoryNotFoundError("404"), ConfigError, "The hub has no model a/b"),
        (unreached(), ConfigError, "hub cannot be reached"),
        (ImportError("sentencepiece"), ConfigError, "library that is not installed: sentencepiece"),
        (KeyError("weights"), ConfigError, "a/b cannot be loaded: KeyError"),
        (torch.OutOfMemoryError("CUDA out of memory"), Unavailable, "not enough memory to load a/b"),
    ],
)
def test_what_goes_wrong_on_the_way_is_put_in_words(
    error: Exception, kind: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(diffusers.DiffusionPipeline, "from_pretrained", failing)
    with pytest.raises(kind, match=said) as caught:
        result_of(DiffusersBackend("a/b"), ask())
    assert getattr(caught.value, "remedy", "")


def test_a_device_that_is_not_there_is_found_out_before_loading() -> None:
    from tiny_pipelines import folder

    if torch.backends.mps.is_available():
        pytest.skip("this machine has one")
    with pytest.raises(ConfigError, match=r"device='mps' was asked for"):
        asyncio.run(DiffusersBackend(folder("klein"), device="mps").aready())


async def test_a_machine_that_can_is_ready() -> None:
    from tiny_pipelines import folder

    backend = DiffusersBackend(folder("klein"))
    await backend.aready()
    assert backend._shared is None
