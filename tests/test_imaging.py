"""The zoo of input pictures: each comes out upright, opaque, 8-bit sRGB and without secrets, or is refused."""

from __future__ import annotations

import io
import os
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms, ImageDraw, PngImagePlugin

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.errors import BadResponse, ConfigError
from langgraph_interleave.imaging import (
    aimage_part,
    downscale,
    image_part,
    load_image,
    sniff,
    verify_image,
)
from langgraph_interleave.types import ImageBytes

RED, BLUE, WHITE = (220, 30, 30), (30, 60, 200), (255, 255, 255)
Color = tuple[int, int, int]


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def pixels(image: ImageBytes) -> Image.Image:
    decoded = Image.open(io.BytesIO(image.data))
    decoded.load()
    assert decoded.size == (image.width, image.height)
    return decoded


def at(image: ImageBytes, x: int, y: int) -> Color:
    color = pixels(image).convert("RGB").getpixel((x, y))
    assert isinstance(color, tuple)
    return int(color[0]), int(color[1]), int(color[2])


def close(one: Color, other: Color, by: int = 8) -> bool:
    return all(abs(a - b) <= by for a, b in zip(one, other, strict=True))


def halves(mode: str = "RGB", left: Any = RED, right: Any = BLUE, size: tuple[int, int] = (40, 20)) -> Image.Image:
    image = Image.new(mode, size, left)
    image.paste(right, (size[0] // 2, 0, *size))
    return image


def gray_ramp(values: list[int | float], mode: str) -> Image.Image:
    """A block of 16 × 16 pixels for each value."""
    if mode == "I;16":  # Pillow's `paste` does not keep 16-bit values
        row = b"".join(struct.pack("<H", int(value)) * 16 for value in values)
        return Image.frombytes(mode, (16 * len(values), 16), row * 16)
    image = Image.new(mode, (16 * len(values), 16))
    for index, value in enumerate(values):
        image.paste(value, (16 * index, 0, 16 * index + 16, 16))
    return image


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "GIF", "WEBP", "JPEG", "AVIF"])
def test_each_allowed_format_is_read(kind: str) -> None:
    image = load_image(saved(halves(), kind, quality=95) if kind != "GIF" else saved(halves().quantize(8), kind))
    assert (image.width, image.height) == (40, 20)
    assert image.mime == ("image/jpeg" if kind in ("WEBP", "JPEG", "AVIF") else "image/png")
    assert close(at(image, 8, 10), RED, 20)
    assert close(at(image, 32, 10), BLUE, 20)
    assert pixels(image).mode == "RGB"


def test_lossless_webp_becomes_png_and_lossy_with_alpha_too() -> None:
    assert load_image(saved(halves(), "WEBP", lossless=True)).mime == "image/png"
    assert load_image(saved(halves("RGBA", (*RED, 255), (0, 0, 0, 0)), "WEBP")).mime == "image/png"


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_rotation_is_applied_once(orientation: int, kind: str) -> None:
    upright = Image.new("RGB", (48, 32), WHITE)
    upright.paste(RED, (0, 0, 24, 16))  # upper left
    upright.paste(BLUE, (24, 16, 48, 32))  # lower right
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = upright.transpose(undo[orientation]) if orientation > 1 else upright
    image = load_image(saved(stored, kind, exif=exif, quality=95))
    assert (image.width, image.height) == (48, 32)
    assert close(at(image, 6, 6), RED, 25)
    assert close(at(image, 42, 26), BLUE, 25)
    assert close(at(image, 42, 6), WHITE, 25)


def test_private_metadata_is_gone() -> None:
    exif = Image.Exif()
    exif[0x010E] = "holiday at SECRET place"
    exif.get_ifd(0x8825)[1] = "N"
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", "SECRET comment")
    text.add_itxt("XML:com.adobe.xmp", "<x:xmpmeta>SECRET</x:xmpmeta>")
    png = saved(halves(), "PNG", exif=exif, pnginfo=text, dpi=(300, 300))
    jpeg = saved(halves(), "JPEG", exif=exif, comment=b"SECRET", xmp=b"<x:xmpmeta>SECRET</x:xmpmeta>")
    webp = saved(halves(), "WEBP", lossless=True, exif=exif, xmp=b"<x:xmpmeta>SECRET</x:xmpmeta>")
    gif = saved(halves().quantize(8), "GIF", comment=b"SECRET")
    tiff = saved(halves(), "TIFF", description="SECRET", exif=exif)
    for data in (png, jpeg, webp, gif, tiff):
        assert b"SECRET" in data
        image = load_image(data)
        assert b"SECRET" not in image.data
        found = pixels(image)
        assert not found.getexif()
        assert set(found.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


@pytest.mark.parametrize(
    "data",
    [
        saved(halves("RGBA", (*RED, 255), (0, 0, 0, 0)), "PNG"),
        saved(halves("LA", (60, 255), (0, 0)), "PNG"),
        saved(halves("P", 1, 0), "PNG", transparency=0),
        saved(halves("P", 1, 0), "PNG", transparency=b"\x00\xff"),
        saved(halves("L", 60, 7), "PNG", transparency=7),
        saved(halves("RGB", RED, (1, 2, 3)), "PNG", transparency=(1, 2, 3)),
        saved(gray_ramp([15420, 700, 700], "I;16"), "PNG", transparency=700),
        saved(halves("P", 1, 0), "GIF", transparency=0),
        saved(halves("RGBA", (*RED, 255), (0, 0, 0, 0)), "WEBP", lossless=True),
        saved(halves("RGBA", (*RED, 255), (0, 0, 0, 0)), "TIFF"),
    ],
    ids=["rgba", "la", "palette", "palette-alpha", "gray-key", "rgb-key", "16-bit-key", "gif", "webp", "tiff"],
)
def test_transparency_is_laid_on_white(data: bytes) -> None:
    image = load_image(data)
    assert at(image, 32, 10) == WHITE
    assert at(image, 8, 10) != WHITE


def test_half_transparency_is_blended() -> None:
    image = load_image(saved(Image.new("RGBA", (4, 4), (0, 0, 0, 128)), "PNG"))
    assert close(at(image, 1, 1), (127, 127, 127), 1)


def test_sixteen_bits_are_scaled_not_clipped() -> None:
    image = load_image(saved(gray_ramp([0, 16384, 32768, 65535], "I;16"), "PNG"))
    assert [at(image, 16 * i + 8, 8)[0] for i in range(4)] == [0, 64, 128, 255]


@pytest.mark.parametrize(
    ("mode", "values", "expected"),
    [
        ("F", [0.0, 0.25, 0.5, 1.0], [0, 64, 128, 255]),
        ("F", [0.0, 64.0, 128.0, 255.0], [0, 64, 128, 255]),
        ("F", [0.0, 32768.0, 65535.0], [0, 128, 255]),
        ("F", [-1.0, 0.0, 1.0], [0, 128, 255]),
        ("F", [0.0, float("nan"), 1.0], [0, 0, 255]),
        ("F", [float("inf"), 0.5, 1.0], [0, 128, 255]),
        ("F", [3e9, 3e9], [128, 128]),
        ("I", [0, 100, 255], [0, 100, 255]),
        ("I", [0, 32768, 65535], [0, 128, 255]),
        ("I", [-1000, 0, 1000], [0, 128, 255]),
        ("I;16", [0, 2048, 4095], [0, 128, 255]),
        ("I;16", [0, 65535], [0, 255]),
        ("1", [0, 1], [0, 255]),
    ],
    ids=str,
)
def test_wide_values_in_tiff_are_scaled_by_the_range_they_use(
    mode: str, values: list[int | float], expected: list[int]
) -> None:
    image = load_image(saved(gray_ramp(values, mode), "TIFF"))
    found = [at(image, 16 * i + 8, 8)[0] for i in range(len(values))]
    assert found == pytest.approx(expected, abs=1)


def test_cmyk_and_lab_become_rgb() -> None:
    cmyk = load_image(saved(halves().convert("CMYK"), "JPEG", quality=95))
    assert cmyk.mime == "image/jpeg"
    assert close(at(cmyk, 8, 10), RED, 20)
    assert close(at(cmyk, 32, 10), BLUE, 20)
    lab = ImageCms.profileToProfile(
        halves(), ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), outputMode="LAB"
    )
    assert lab is not None
    assert close(at(load_image(saved(lab, "TIFF")), 8, 10), RED, 4)


def swapped_profile() -> bytes:
    """A working RGB profile in which red and green have changed places."""
    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    count = struct.unpack(">I", data[128:132])[0]
    for entry in range(132, 132 + 12 * count, 12):
        tag = bytes(data[entry : entry + 4])
        data[entry : entry + 4] = {b"rXYZ": b"gXYZ", b"gXYZ": b"rXYZ"}.get(tag, tag)
        offset, size = struct.unpack(">II", data[entry + 4 : entry + 12])
        if tag in (b"desc", b"cprt"):
            text = data[offset : offset + size]
            data[offset : offset + size] = text.replace(b"\0s\0R\0G\0B", b"\0s\0w\0a\0p")
    return bytes(data)


def test_an_embedded_profile_is_converted() -> None:
    image = load_image(saved(halves(), "PNG", icc_profile=swapped_profile()))
    assert close(at(image, 8, 10), (30, 220, 30), 6)
    assert "icc_profile" not in pixels(image).info
    keyed = halves("RGBA", (*RED, 255), (0, 0, 0, 0))
    assert close(at(load_image(saved(keyed, "PNG", icc_profile=swapped_profile())), 8, 10), (30, 220, 30), 6)


# A profile holds the second it was made in: an id made of it would differ from worker to worker.
@pytest.mark.parametrize("profile", [b"nonsense" * 40, swapped_profile()[:200]], ids=["nonsense", "cut off"])
def test_a_broken_profile_is_ignored(profile: bytes) -> None:
    assert at(load_image(saved(halves(), "PNG", icc_profile=profile)), 8, 10) == RED


def test_a_profile_of_another_color_space_is_ignored() -> None:
    gray = load_image(saved(Image.new("L", (8, 8), 77), "PNG", icc_profile=swapped_profile()))
    assert close(at(gray, 1, 1), (77, 77, 77), 1)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame_is_taken(kind: str) -> None:
    first, second = Image.new("RGB", (16, 16), RED), Image.new("RGB", (16, 16), BLUE)
    data = saved(first, kind, save_all=True, append_images=[second], duration=50)
    image = load_image(data)
    assert close(at(image, 8, 8), RED, 6)
    assert getattr(pixels(image), "n_frames", 1) == 1


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_header(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)


def png_bomb(width: int, height: int, length: int | None = None) -> bytes:
    rows = zlib.compress(bytes((width // 8 + 1) * height if length is None else length), 9)
    return png_header(width, height) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def webp_bomb() -> bytes:
    canvas = (16382).to_bytes(3, "little") * 2
    body = b"WEBPVP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + canvas
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    "data",
    [png_bomb(12_000, 12_000), png_bomb(20_000, 20_000, 9), webp_bomb(), png_bomb(2**31 - 1, 2**31 - 1, 9)],
    ids=["warned-by-pillow", "refused-by-pillow", "webp", "largest"],
)
def test_bombs_are_refused_by_their_header(data: bytes) -> None:
    started = time.perf_counter()
    with pytest.raises(ConfigError, match=r"bomb\.png is \d+ × \d+ pixels large, more than 64 megapixels"):
        load_image(data, name="bomb.png")
    assert time.perf_counter() - started < 0.5


def test_the_pixel_cap_is_the_callers() -> None:
    data = saved(Image.new("L", (100, 100)), "PNG")
    with pytest.raises(ConfigError, match="more than 0.009 megapixels"):
        load_image(data, max_pixels=9_000)
    assert load_image(data, max_pixels=10_000).width == 100


HTML = b"<!DOCTYPE html><html><title>Not found</title></html>"
REFUSED: dict[str, tuple[bytes, str]] = {
    "page.png": (HTML, "an HTML page, not a picture. Download the picture itself"),
    "logo.svg": (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG drawing"),
    "paper.pdf": (b"%PDF-1.7\n1 0 obj", "a PDF document"),
    "phone.heic": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "a HEIC photo"),
    "notes.jpg": (b"dear diary", "text, not a picture"),
    "error.png": (b'{"error": {"message": "no"}}', "text, not a picture"),
    "empty.png": (b"", "empty"),
    "noise.bin": (bytes(range(128, 256)), "not a picture of a known format"),
    "icon.ico": (saved(Image.new("RGBA", (16, 16), RED), "ICO"), "not a picture of a known format"),
    "cut.png": (saved(halves(), "PNG")[:60], "a broken PNG file"),
    "cut.jpg": (saved(halves(size=(200, 200)), "JPEG")[:700], "a broken JPEG file"),
    "cut.gif": (saved(halves().quantize(8), "GIF")[:12], "a GIF file with a broken header"),
    "cut.webp": (saved(halves(), "WEBP")[:40], "a WEBP file with a broken header"),
    "cut.tif": (saved(halves(), "TIFF")[:20], "a TIFF file with a broken header"),
    "cut.bmp": (saved(halves(), "BMP")[:60], "a broken BMP file"),
    "cut.avif": (saved(halves(), "AVIF")[:80], "a AVIF file with a broken header"),
    "head.png": (b"\x89PNG\r\n\x1a\n", "a PNG file with a broken header"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_everything_else_is_refused_with_name_reason_and_remedy(name: str, tmp_path: Path) -> None:
    data, reason = REFUSED[name]
    with pytest.raises(ConfigError) as caught:
        load_image(data, name=name)
    assert str(caught.value).startswith(f"{name} is {reason}")
    assert caught.value.remedy
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ConfigError) as from_file:
        load_image(tmp_path / name)
    assert str(from_file.value) == str(caught.value)


def test_files_that_are_not_files(tmp_path: Path) -> None:
    missing, folder, pipe, big = tmp_path / "no.png", tmp_path / "dir", tmp_path / "pipe", tmp_path / "big.png"
    folder.mkdir()
    os.mkfifo(pipe)
    big.write_bytes(bytes(2_000_001))
    for source, reason in (
        (missing, "no.png is not there"),
        (str(missing), "no.png is not there"),
        (folder, "dir is a folder. Name a file in it."),
        (pipe, "pipe is not a regular file"),
        ("a\0b", "is not"),
        ("https://example.org/leaf.png", "leaf.png is a URL, not a file. Download it"),
        ("data:image/png;base64," + "A" * 500, "is a URL, not a file"),
    ):
        with pytest.raises(ConfigError) as caught:
            load_image(source)
        assert reason in str(caught.value)
        assert len(str(caught.value)) < 300
    with pytest.raises(ConfigError, match="is 2 MB large, more than 1 MB"):
        load_image(big, max_bytes=1_000_000)
    with pytest.raises(ConfigError, match="is 2 MB large, more than 1 MB"):
        load_image(big.read_bytes(), max_bytes=1_000_000)


@given(st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"]), st.data())
def test_damaged_files_never_raise_anything_of_pillows(kind: str, data: st.DataObject) -> None:
    whole = bytearray(saved(halves().quantize(8) if kind == "GIF" else halves(), kind))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        image = load_image(bytes(whole[: data.draw(st.integers(0, len(whole)))]), max_pixels=1_000_000)
    except ConfigError:
        return
    assert image.width * image.height <= 1_000_000


@given(st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with pytest.raises(ConfigError):
        load_image(data)
    with pytest.raises(BadResponse):
        verify_image(data, what="the answer")


def test_loading_again_changes_nothing_in_a_png() -> None:
    once = load_image(saved(halves(), "PNG"))
    assert load_image(once.data).data == once.data


def test_verified_bytes_are_kept_verbatim() -> None:
    info = PngImagePlugin.PngInfo()
    info.add(b"caBX", b"signed by the provider")
    data = saved(halves("RGBA", (*RED, 255), (0, 0, 0, 0)), "PNG", pnginfo=info)
    image = verify_image(data, what="the answer", seed=7)
    assert image.data == data
    assert b"caBX" in image.data
    assert (image.mime, image.width, image.height, image.seed) == ("image/png", 40, 20, 7)
    assert verify_image(saved(halves(), "WEBP"), what="it").mime == "image/webp"
    assert verify_image(saved(halves(), "JPEG"), what="it").mime == "image/jpeg"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (HTML, "an HTML page"),
        (b"", "empty"),
        (saved(halves(size=(300, 300)), "JPEG")[:900], "a broken JPEG file"),
        (saved(halves(), "BMP"), "a BMP file, not PNG, JPEG or WebP"),
        (png_bomb(12_000, 12_000), "more than 64 megapixels"),
    ],
    ids=["html", "empty", "cut", "bmp", "bomb"],
)
def test_a_bad_answer_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(BadResponse) as caught:
        verify_image(data, what="The answer of openai:gpt-image-1")
    assert str(caught.value).startswith("The answer of openai:gpt-image-1 is ")
    assert reason in str(caught.value)
    assert caught.value.remedy
    assert caught.value.detail["bytes"] == len(data)
    assert caught.value.detail["head"] == (HTML.decode() if data == HTML else "")


@pytest.mark.parametrize(
    ("size", "side", "expected"),
    [((400, 200), 100, (100, 50)), ((200, 400), 100, (50, 100)), ((3000, 1), 100, (100, 1)), ((99, 7), 100, (99, 7))],
)
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_downscale(size: tuple[int, int], side: int, expected: tuple[int, int], kind: str) -> None:
    image = verify_image(saved(halves(size=size), kind), what="it", seed=3)
    small = downscale(image, side)
    assert (small.width, small.height) == expected
    assert pixels(small).size == expected
    assert small.seed == 3
    if size == expected:
        assert small is image
    else:
        assert small.mime == ("image/jpeg" if kind == "JPEG" else "image/png")


def test_downscale_keeps_transparency_and_the_colors() -> None:
    image = verify_image(saved(halves("RGBA", (*RED, 255), (0, 0, 0, 0), (200, 100)), "PNG"), what="it")
    small = pixels(downscale(image, 40))
    assert small.mode == "RGBA"
    assert small.getpixel((5, 5)) == (*RED, 255)
    assert small.getpixel((35, 5)) == (0, 0, 0, 0)
    cmyk = verify_image(saved(halves(size=(200, 100)).convert("CMYK"), "JPEG", quality=95), what="it")
    assert close(at(downscale(cmyk, 40), 5, 5), RED, 20)
    palette = verify_image(saved(halves("P", 1, 0, (200, 100)), "PNG", transparency=0), what="it")
    assert pixels(downscale(palette, 40)).mode == "RGBA"


async def test_image_part_stores_bytes_and_returns_a_reference(tmp_path: Path) -> None:
    shelf = ArtifactStore.memory()
    path = tmp_path / "my photo.jpg"
    path.write_bytes(saved(halves(), "JPEG"))
    block = image_part(path, shelf)
    digest = block["url"].removeprefix("artifact://")
    assert block == {
        "type": "image",
        "url": f"artifact://{digest}",
        "mime_type": "image/jpeg",
        "extras": {"width": 40, "height": 20, "size": len(shelf.get(digest)), "name": "my photo.jpg"},
    }
    assert await aimage_part(str(path), shelf) == block
    assert image_part(path.read_bytes(), shelf)["extras"].keys() == {"width", "height", "size"}
    named = await aimage_part(path.read_bytes(), shelf, name="photo")
    assert named["extras"]["name"] == "photo"
    with pytest.raises(ConfigError, match="photo is text"):
        await aimage_part(b"words", shelf, name="photo")


def test_sniff_goes_by_content() -> None:
    assert sniff(saved(halves(), "AVIF")) == "AVIF"
    assert sniff(saved(halves(), "WEBP")) == "WEBP"
    assert sniff(b"RIFF\0\0\0\0WAVE") is None
    assert sniff(b"") is None


def photo(width: int, height: int) -> Image.Image:
    ramp = Image.linear_gradient("L").resize((width, height))
    image = Image.merge("RGB", (ramp, ramp.transpose(Image.Transpose.FLIP_LEFT_RIGHT), ramp))
    ImageDraw.Draw(image).ellipse((width // 4, height // 4, width // 2, height // 2), fill=RED)
    return image


@pytest.mark.parametrize(
    "make",
    [lambda: saved(photo(1600, 1200), "JPEG", quality=90), lambda: saved(photo(1600, 1200), "PNG")],
    ids=["jpeg", "png"],
)
def test_an_ordinary_photo_takes_little_time(make: Callable[[], bytes]) -> None:
    data = make()
    started = time.perf_counter()
    load_image(data)
    assert time.perf_counter() - started < 2


def test_downscale_can_change_the_type() -> None:
    image = verify_image(saved(halves("RGBA", (*RED, 255), (0, 0, 0, 0), (200, 100)), "PNG"), what="it")
    webp = downscale(image, 300, mime="image/webp")
    assert (webp.mime, webp.width, webp.height) == ("image/webp", 200, 100)
    assert pixels(webp).convert("RGBA").getpixel((150, 50))[3] == 0  # pyright: ignore[reportIndexIssue, reportOptionalSubscript]
    assert downscale(image, 300, mime="image/png") is image
    assert at(downscale(image, 40, mime="image/jpeg"), 35, 5) == WHITE
