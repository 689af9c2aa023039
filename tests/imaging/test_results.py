"""A picture out of an answer, in whatever form: decoded, verified, measured, never black."""

from __future__ import annotations

import asyncio
import base64
import io
import random
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from loopback import LoopbackServer, serving
from loopback_replies import Raw, picture_of
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from langgraph_interleave.errors import BadResponse, CallTimeout
from langgraph_interleave.imaging.results import decode_result, is_black, read_result
from langgraph_interleave.types import ImageBytes

PICTURE = picture_of("a cat", 24, 16)
TEXT = base64.b64encode(PICTURE).decode()


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


def jpeg() -> bytes:
    return encoded(Image.open(io.BytesIO(PICTURE)), "JPEG")


@pytest.mark.parametrize(
    "told",
    [
        PICTURE,
        TEXT,
        f"data:image/png;base64,{TEXT}",
        f"DATA:image/png;charset=x;base64,{TEXT}",
        "\n".join(TEXT[i : i + 60] for i in range(0, len(TEXT), 60)),
        TEXT.rstrip("="),
        base64.urlsafe_b64encode(PICTURE).decode(),
        f"\n Data:image/png;base64,{quote(TEXT, safe='')}",
    ],
    ids=["bytes", "base64", "data url", "odd data url", "lines", "no padding", "other alphabet", "escaped"],
)
async def test_forms(told: str | bytes) -> None:
    assert await decode_result(told, what="x", seed=3) == ImageBytes(PICTURE, "image/png", 24, 16, 3)


async def test_base64_of_a_jpeg_is_no_address() -> None:
    data = jpeg()
    text = base64.b64encode(data).decode()
    assert text.startswith("/9j/")
    assert (await decode_result(text, what="x")).mime == "image/jpeg"


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ("!!", "base64"),
        ("", None),
        (b"", None),
        (b"<html>", None),
        (PICTURE[:-40], None),
        ("data:image/png,%%", "base64"),
    ],
)
async def test_what_is_no_picture(told: str | bytes, code: str | None) -> None:
    with pytest.raises(BadResponse) as caught:
        await decode_result(told, what="openai:m")
    assert caught.value.code == code and "openai:m" in caught.value.message and caught.value.remedy
    assert caught.value.ambiguous


async def test_a_cap() -> None:
    for told in (PICTURE, TEXT):
        with pytest.raises(BadResponse, match="more than"):
            await decode_result(told, what="x", max_bytes=len(PICTURE) // 2)


@pytest.mark.parametrize(
    ("mode", "color", "black"),
    [
        ("RGB", (0, 0, 0), True), ("L", 0, True), ("1", 0, True), ("RGBA", (0, 0, 0, 255), True),
        ("RGBA", (0, 0, 0, 0), True), ("RGBA", (200, 0, 0, 0), True), ("P", 0, True), ("LA", (0, 255), True),
        ("I;16", 0, True), ("RGB", (255, 255, 255), False), ("RGB", (1, 0, 0), False), ("L", 1, False),
        ("RGBA", (255, 255, 255, 255), False), ("RGB", (0, 0, 255), False), ("1", 1, False), ("I;16", 9, False),
    ],
)  # fmt: skip
def test_black_all_over_and_other_colours(mode: str, color: object, black: bool) -> None:
    image = Image.new(mode, (9, 7), color)  # pyright: ignore[reportArgumentType]
    data = encoded(image)
    assert is_black(ImageBytes(data, "image/png", 9, 7)) is black
    if black:
        with pytest.raises(BadResponse) as caught:
            read_result(data, what="openai:m")
        assert caught.value.code == "black" and "precision" in caught.value.remedy
    else:
        assert read_result(data, what="openai:m").width == 9


def test_black_in_other_formats_and_one_pixel_that_is_not() -> None:
    black = Image.new("RGB", (64, 64))
    for kind in ("JPEG", "WEBP"):
        assert is_black(ImageBytes(encoded(black, kind), f"image/{kind.lower()}", 64, 64))
    black.putpixel((3, 3), (0, 0, 1))
    assert not is_black(ImageBytes(encoded(black), "image/png", 64, 64))


def test_black_without_compression_and_a_picture_that_is_large() -> None:
    for mode in ("RGB", "P", "RGBA"):
        black = Image.new("RGB", (512, 512)).convert(mode)
        data = encoded(black, compress_level=0)
        assert len(data) > 250_000
        assert is_black(ImageBytes(data, "image/png", 512, 512))
    large = Image.frombytes("RGB", (512, 512), random.Random(1).randbytes(512 * 512 * 3))
    assert not is_black(ImageBytes(encoded(large, compress_level=1), "image/png", 512, 512))


def test_a_black_drawing_on_a_transparent_ground_is_a_picture() -> None:
    drawing = Image.new("RGBA", (9, 9))
    drawing.putpixel((4, 4), (0, 0, 0, 255))
    assert not is_black(ImageBytes(encoded(drawing), "image/png", 9, 9))


def test_what_a_server_wrote_into_it_is_taken_out() -> None:
    info = PngInfo()
    info.add_text("parameters", "a secret prompt, Seed: 42")
    image = read_result(encoded(Image.open(io.BytesIO(PICTURE)), pnginfo=info), what="x")
    assert b"secret" not in image.data


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with serving() as running:
        running.files["/v1/images/7/content"] = Raw(PICTURE, "image/png")
        running.files["/page"] = Raw("<html>", "text/html")
        running.files["/expired"] = Raw("no", "text/plain", 403)
        yield running


@pytest.mark.server
class TestAddresses:
    @pytest.mark.parametrize("address", ["/v1/images/7/content", "images/7/content"])
    async def test_an_address_is_fetched_at_once(self, server: LoopbackServer, address: str) -> None:
        image = await decode_result(address, what="x", base_url=server.base_url, is_address=True)
        assert image.data == PICTURE

    async def test_what_is_not_there_not_a_picture_or_not_allowed(self, server: LoopbackServer) -> None:
        origin = server.base_url.removesuffix("/v1")
        for address, base_url in (
            ("/expired", server.base_url), ("/page", server.base_url), (f"{origin}/v1/images/7/content", None),
            (f"{origin}/v1/images/7/content", "http://backend.example/v1"), ("/v1/images/7/content", None),
        ):  # fmt: skip
            with pytest.raises(BadResponse) as caught:
                await decode_result(address, what="openai:m", base_url=base_url)
            assert "openai:m" in caught.value.message and caught.value.ambiguous

    async def test_a_deadline(self, server: LoopbackServer) -> None:
        async def slow(host: str, port: int) -> list[str]:
            await asyncio.sleep(5)
            return []

        with pytest.raises(CallTimeout):
            await decode_result(
                "http://slow.example/a", what="x", base_url=server.base_url, resolve=slow, timeout_s=0.02
            )
