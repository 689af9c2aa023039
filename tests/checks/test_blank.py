"""The blank check: silent about drawings, clear about what shows nothing."""

from __future__ import annotations

import io
import random
import time

import pytest
from PIL import Image, ImageDraw

from langgraph_interleave.checks import Check, NotBlank
from langgraph_interleave.types import CheckResult, ImageBytes, Step

STEP = Step(index=0, op="generate", instruction="A pot.", prompt="A pot.")
PAPER = (253, 251, 246)


def encoded(image: Image.Image, kind: str = "PNG", **options: int) -> ImageBytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return ImageBytes(buffer.getvalue(), f"image/{kind.lower()}", *image.size)


def judged(image: Image.Image | ImageBytes) -> CheckResult:
    after = image if isinstance(image, ImageBytes) else encoded(image)
    return NotBlank().check(STEP, None, after, ())


def sheet(mode: str = "RGB", color: object = PAPER, size: int = 512) -> Image.Image:
    return Image.new(mode, (size, size), color)  # pyright: ignore[reportArgumentType]


def with_line(image: Image.Image, length: int, fill: object = (40, 40, 40)) -> Image.Image:
    ImageDraw.Draw(image).line((50, 60, 50 + length, 60), fill=fill)  # pyright: ignore[reportArgumentType]
    return image


def drawing(size: int) -> Image.Image:
    image = sheet(size=size)
    pen = ImageDraw.Draw(image)
    pen.rectangle((8, 8, size - 8, size - 8), outline=(50, 50, 50), width=2)
    pen.polygon(((200, 300), (400, 300), (370, 450), (230, 450)), fill=(217, 130, 91), outline=(156, 74, 47))
    pen.line((300, 300, 305, 150), fill=(60, 122, 52), width=4)
    return image


def noisy(spread: int) -> Image.Image:
    rng = random.Random(1)
    data = bytes(128 + rng.randint(-spread, spread) for _ in range(64 * 64 * 3))
    return Image.frombytes("RGB", (64, 64), data)


def test_it_is_a_check() -> None:
    assert isinstance(NotBlank(), Check)
    assert NotBlank().name == "not_blank"


@pytest.mark.parametrize(
    "image",
    [
        drawing(512),
        with_line(sheet(), 300),
        with_line(sheet(color=(0, 0, 0)), 300, (90, 90, 90)),
        with_line(sheet("L", 255), 300, 0),
        with_line(sheet("1", 1), 300, 0),
        with_line(sheet("RGBA", (0, 0, 0, 0)), 300, (0, 0, 0, 255)),
        with_line(sheet("RGBA", (0, 0, 0, 0)), 300, (255, 255, 255, 255)),
        with_line(sheet(color=(90, 90, 90)), 300, (90, 90, 130)),
        Image.linear_gradient("L"),
        noisy(40),
    ],
    ids=[
        "drawing",
        "line",
        "dim-on-black",
        "gray",
        "bits",
        "ink-on-clear",
        "white-on-clear",
        "blue-only",
        "ramp",
        "noise",
    ],
)
def test_a_picture_passes(image: Image.Image) -> None:
    assert judged(image) == CheckResult(name="not_blank", passed=True)


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (sheet(color=(0, 0, 0)), "black: the model's output was probably not finite"),
        (sheet(color=(2, 1, 3)), "black"),
        (sheet("L", 0), "black"),
        (sheet("RGBA", (0, 0, 0, 255)), "black"),
        (sheet(), "one flat colour (#fdfbf6): nothing was drawn"),
        (sheet("L", 255), "one flat colour (#ffffff)"),
        (with_line(sheet(), 20), "nearly one flat colour (#fdfbf6): 0.008% of its pixels differ"),
        (sheet("RGBA", (10, 200, 30, 0)), "entirely transparent"),
        (sheet("RGBA", (10, 200, 30, 128)), "one flat colour"),
        (sheet("P", 0).convert("RGB").quantize(4), "black"),
        (noisy(4), "one flat colour"),
    ],
    ids=[
        "black",
        "near-black",
        "gray-black",
        "opaque-black",
        "paper",
        "white",
        "specks",
        "clear",
        "tint",
        "palette",
        "grain",
    ],
)
def test_a_blank_picture_fails_in_words(image: Image.Image, reason: str) -> None:
    result = judged(image)
    assert result.passed is False
    assert reason in result.reason


@pytest.mark.parametrize("color", [PAPER, (0, 0, 0), (17, 99, 200)])
def test_compression_does_not_hide_a_flat_color(color: tuple[int, int, int]) -> None:
    assert judged(encoded(sheet(color=color), "JPEG", quality=40)).passed is False
    assert judged(encoded(sheet(color=color), "WEBP", quality=40)).passed is False
    assert judged(encoded(drawing(512), "JPEG", quality=40)).passed is True


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b"<html>", "it is an HTML page"),
        (encoded(drawing(512)).data[:900], "it is a broken PNG file"),
    ],
)
def test_a_broken_picture_fails(data: bytes, reason: str) -> None:
    result = judged(ImageBytes(data, "image/png", 512, 512))
    assert result.passed is False
    assert reason in result.reason


def test_it_is_deterministic_and_quick() -> None:
    picture = encoded(drawing(1024))
    times: list[float] = []
    for _ in range(5):
        started = time.perf_counter()
        result = judged(picture)
        times.append(time.perf_counter() - started)
        assert result.passed is True
    # 15 ms is the promise; the rest is room for a busy machine.
    assert min(times) < 0.045, times
