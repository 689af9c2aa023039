"""Pictures as people have them, through every backend that edits: the right picture, or an error naming the file."""

from __future__ import annotations

import asyncio
import importlib
import io
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from comfy_server import ComfyServer, reference_workflow, serving_comfy, text_workflow
from PIL import Image
from stand_ins import DrawingChat, PaintingChat, inference_endpoint

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.callable import CallableBackend
from langgraph_interleave.backends.chat_model import ChatModelImageBackend
from langgraph_interleave.backends.comfyui import ComfyUIBackend
from langgraph_interleave.backends.hf_inference import HfInferenceBackend
from langgraph_interleave.backends.openai_images import OpenAIImagesBackend
from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.backends.svg import SvgBackend
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging import load_image
from langgraph_interleave.testing.conformance.pictures import mean_apart
from langgraph_interleave.types import ImageBytes, ImageRequest

RED, BLUE, WHITE = (214, 40, 40), (30, 60, 214), (255, 255, 255)
WIDTH, HEIGHT = 160, 120
#: What a picture may differ by on average that was once compressed with loss, in grey levels.
LOSS = 4.0


def saved(picture: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def halves(left: Any = RED, right: Any = BLUE, *, mode: str = "RGB", size: tuple[int, int] = (WIDTH, HEIGHT)) -> Any:
    picture = Image.new(mode, size, left)
    picture.paste(right, (size[0] // 2, 0, *size))
    return picture


def turned() -> bytes:
    """Lying on its side, as telephones store it: shown upright, red is on the left."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return saved(halves().transpose(Image.Transpose.ROTATE_90), "JPEG", quality=95, exif=exif)


def palette() -> bytes:
    picture = Image.new("P", (WIDTH, HEIGHT), 0)
    picture.putpalette([*RED, 9, 9, 9])
    picture.paste(1, (WIDTH // 2, 0, WIDTH, HEIGHT))
    return saved(picture, "PNG", transparency=1)


def deep() -> bytes:
    picture = Image.new("I;16", (WIDTH, HEIGHT), 0)
    picture.paste(65535, (WIDTH // 2, 0, WIDTH, HEIGHT))
    return saved(picture, "PNG")


def moving(kind: str) -> bytes:
    return saved(halves(), kind, save_all=True, append_images=[halves(BLUE, RED)], duration=100,
                 **({"lossless": True} if kind == "WEBP" else {}))  # fmt: skip


#: The bytes, and the picture a person sees in them.
READABLE: dict[str, tuple[Callable[[], bytes], Any]] = {
    "turned.jpg": (turned, halves()),
    "rgba.png": (lambda: saved(halves((*RED, 255), (0, 0, 0, 0), mode="RGBA"), "PNG"), halves(RED, WHITE)),
    "palette.png": (palette, halves(RED, WHITE)),
    "la.png": (lambda: saved(halves((0, 255), (0, 0), mode="LA"), "PNG"), halves((0, 0, 0), WHITE)),
    "cmyk.jpg": (lambda: saved(halves().convert("CMYK"), "JPEG", quality=95), halves()),
    "deep.png": (deep, halves((0, 0, 0), WHITE)),
    "moving.gif": (lambda: moving("GIF"), halves()),
    "moving.webp": (lambda: moving("WEBP"), halves()),
}

UNREADABLE: dict[str, tuple[Callable[[], bytes], str]] = {
    "truncated.png": (lambda: saved(Image.effect_noise((WIDTH, HEIGHT), 90), "PNG")[:-900], "broken PNG"),
    "truncated.jpg": (lambda: saved(Image.effect_noise((WIDTH, HEIGHT), 90), "JPEG")[:-900], "broken JPEG"),
    "bomb.png": (lambda: saved(Image.new("1", (12000, 12000)), "PNG"), "megapixels"),
    "drawing.svg": (lambda: b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', "SVG"),
    "page.png": (lambda: b"<!DOCTYPE html><html><body>404</body></html>", "HTML page"),
    "empty.png": (lambda: b"", "empty"),
}


class Clock:
    """Times a loop: once, and again where it took a second: whoever else uses the machine makes it slow once."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.started: float | None = None

    @property
    def quickest(self) -> float:
        return min(self.seconds)

    def again(self) -> bool:
        now = time.perf_counter()
        if self.started is not None:
            self.seconds.append(now - self.started)
        self.started = now
        return not self.seconds or (self.quickest >= 1.0 and len(self.seconds) < 3)


def passed_on(prompt: str, references: list[Any], width: int | None = None, height: int | None = None) -> Any:
    return references[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("zoo")
    for name, (data, _) in (READABLE | UNREADABLE).items():
        (made / name).write_bytes(data())
    return made


@pytest.fixture(scope="module", params=["sketch", "simulator", "callable"])
def backend(request: pytest.FixtureRequest) -> ImageBackend:
    return CallableBackend(passed_on) if request.param == "callable" else init_image_backend(request.param)


def drawn(backend: ImageBackend, reference: ImageBytes) -> ImageBytes:
    request = ImageRequest("a photo on a wall", references=(reference,), width=160, height=120, seed=1)
    return asyncio.run(backend.agenerate(request)).images[0]


def plain(picture: Any) -> ImageBytes:
    return ImageBytes(saved(picture, "PNG"), "image/png", WIDTH, HEIGHT)


@pytest.mark.parametrize("name", READABLE)
def test_the_right_picture_reaches_the_backend(name: str, folder: Path, backend: ImageBackend) -> None:
    expected = drawn(backend, plain(READABLE[name][1]))
    other = drawn(backend, plain(halves(BLUE, RED)))
    clock, reference, result = Clock(), expected, expected
    while clock.again():
        reference = load_image(folder / name)
        result = drawn(backend, reference)
    assert clock.quickest < 1.0
    assert (reference.width, reference.height) == (WIDTH, HEIGHT)
    whole = (0, 0, result.width, result.height)
    assert mean_apart(result, expected, whole) <= LOSS
    assert mean_apart(result, other, whole) > mean_apart(result, expected, whole), "it can be told from another"


def is_it(name: str, arrived: bytes) -> None:
    """Whether a picture that came to a model or a server is the one a person sees in the file."""
    assert b"Exif" not in arrived
    picture = ImageBytes(arrived, "image/png", WIDTH, HEIGHT)
    assert mean_apart(plain(READABLE[name][1]), picture, (0, 0, WIDTH, HEIGHT)) <= LOSS


async def once(backend: Any, path: Path, **size: Any) -> None:
    """Draw from a file, within a second, and close."""
    # Clients are made and libraries loaded before anybody looks at the clock.
    await backend.agenerate(ImageRequest("warm", references=(plain(halves(BLUE, RED)),), seed=1, **size))
    clock = Clock()
    while clock.again():
        reference = load_image(path)
        await backend.agenerate(ImageRequest("a photo on a wall", references=(reference,), seed=1, **size))
    assert clock.quickest < 1.0
    if hasattr(backend, "aclose"):
        await backend.aclose()


@pytest.mark.parametrize("name", READABLE)
async def test_the_right_picture_reaches_the_server(name: str, folder: Path, loopback: Any) -> None:
    backend = OpenAIImagesBackend(api_key="sk-loop", base_url=loopback.base_url, billed=False)
    await once(backend, folder / name, width=160, height=128)
    [sent] = loopback.on("edits")[-1].files
    assert sent.mime in ("image/png", "image/jpeg") and sent.name.endswith(("png", "jpg"))
    is_it(name, sent.data)


@pytest.mark.parametrize("name", READABLE)
async def test_the_right_picture_reaches_a_chat_model_that_draws(name: str, folder: Path) -> None:
    model = PaintingChat()
    await once(ChatModelImageBackend(model, billed=False), folder / name)
    is_it(name, *model.seen)


@pytest.mark.parametrize("name", READABLE)
async def test_the_right_picture_reaches_a_model_that_writes_svg(name: str, folder: Path) -> None:
    model = DrawingChat(profile={"image_inputs": True})
    await once(SvgBackend(model, billed=False), folder / name)
    is_it(name, *model.seen)


@pytest.mark.parametrize("name", READABLE)
async def test_the_right_picture_reaches_an_endpoint(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub")
    constants = importlib.import_module("huggingface_hub.constants")
    # It speaks to nobody where the hub is off, as it is in these tests.
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with inference_endpoint() as address:
        backend = HfInferenceBackend(base_url=address, api_key="hf_loopback", billed=False)
        request = ImageRequest("a photo", references=(load_image(folder / name),), width=160, height=120, seed=1)
        [result] = (await backend.agenerate(request)).images
        [expected] = (await backend.agenerate(replace(request, references=(plain(READABLE[name][1]),)))).images
        await backend.aclose()
    assert mean_apart(result, expected, (0, 0, 160, 120)) <= LOSS


@pytest.fixture(scope="module")
def comfy() -> Iterator[ComfyServer]:
    with serving_comfy() as server:
        yield server


@pytest.mark.parametrize("name", READABLE)
async def test_the_right_picture_reaches_a_workflow(name: str, folder: Path, comfy: ComfyServer) -> None:
    comfy.reset()
    backend = ComfyUIBackend(text_workflow(), comfy.base_url, edit_workflow=reference_workflow(1))
    await once(backend, folder / name, width=160, height=120)
    is_it(name, list(comfy.uploads.values())[-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", READABLE)
def test_the_right_picture_reaches_a_pipeline(name: str, folder: Path, klein: ImageBackend) -> None:
    result = plain(halves())

    def drawn_from(picture: ImageBytes) -> ImageBytes:
        return asyncio.run(
            klein.agenerate(ImageRequest("a photo", references=(picture,), width=64, height=64, seed=1))
        ).images[0]

    clock = Clock()
    while clock.again():
        result = drawn_from(load_image(folder / name))
    assert clock.quickest < 1.0
    expected, other = drawn_from(plain(READABLE[name][1])), drawn_from(plain(halves(BLUE, RED)))
    whole = (0, 0, 64, 64)
    assert mean_apart(result, expected, whole) <= LOSS
    assert mean_apart(result, other, whole) > mean_apart(result, expected, whole)


@pytest.fixture(scope="module")
def klein() -> ImageBackend:
    pytest.importorskip("diffusers")
    from tiny_pipelines import load

    from langgraph_interleave.backends.diffusers import DiffusersBackend

    backend = DiffusersBackend(load("klein"))
    # Before anybody looks at the clock.
    asyncio.run(backend.agenerate(ImageRequest("warm", width=64, height=64)))
    return backend


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_picture_is_refused_by_name(name: str, folder: Path) -> None:
    started = time.perf_counter()
    with pytest.raises(ConfigError, match=name) as refused:
        load_image(folder / name)
    assert time.perf_counter() - started < 1.0
    assert UNREADABLE[name][1] in refused.value.message and refused.value.remedy
