"""Marks and signatures: stated without touching a pixel, kept byte for byte, read without trust."""

from __future__ import annotations

import io
import random
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.imaging.chunks import find, joined, jpeg_part, parts_of, png_part, webp_part
from langgraph_interleave.imaging.provenance import SOURCE_TYPES, Provenance, mark, read, without_private, xmp
from langgraph_interleave.types import ImageBytes

MANIFEST = (
    b"\0\0\0\x20jumb\0\0\0\x18jumdc2pa\0\x11\0\x10\x80\0\0\xaa\0\x38\x9b\x71\x03c2pa\0"
    + (SOURCE_TYPES + "trainedAlgorithmicMedia").encode()
)


def encoded(kind: str, mode: str = "RGB", **options: Any) -> ImageBytes:
    image = Image.frombytes("RGB", (31, 17), random.Random(1).randbytes(31 * 17 * 3)).convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)  # pyright: ignore[reportArgumentType]
    return ImageBytes(buffer.getvalue(), f"image/{kind.lower()}", 31, 17, seed=4)


def pixels(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        return image.convert("RGBA").tobytes()


KINDS = [("PNG", {}), ("PNG", {"mode": "P"}), ("PNG", {"mode": "RGBA"}), ("JPEG", {}), ("JPEG", {"progressive": True}),
         ("WEBP", {}), ("WEBP", {"lossless": True}), ("WEBP", {"mode": "RGBA"}),
         ("WEBP", {"mode": "RGBA", "lossless": True})]  # fmt: skip


def signed(kind: str) -> bytes:
    data = encoded(kind).data
    parts = parts_of(data)
    if kind == "PNG":
        return joined([*parts[:2], png_part("caBX", MANIFEST), *parts[2:]])
    if kind == "JPEG":
        return joined([*parts[:2], jpeg_part(0xEB, b"JP\0\x01\0\0\0\x01" + MANIFEST), *parts[2:]])
    return joined([*parts, webp_part("C2PA", MANIFEST)])


@pytest.mark.parametrize(("kind", "options"), KINDS)
@pytest.mark.parametrize("source", ["algorithmicMedia", "compositeSynthetic"])
def test_a_mark_is_read_again_and_no_pixel_changes(kind: str, options: dict, source: str) -> None:
    image = encoded(kind, **options)
    assert read(image.data) == Provenance()
    marked = mark(image, source)  # pyright: ignore[reportArgumentType]
    assert read(marked.data) == Provenance(source, signed=False)
    assert pixels(marked.data) == pixels(image.data)
    assert (marked.width, marked.height, marked.mime, marked.seed) == (31, 17, image.mime, 4)
    verify_image(marked.data, what="the marked picture")
    # Other programs find it, too.
    with Image.open(io.BytesIO(marked.data)) as opened:
        packet = opened.info.get("xmp") or opened.info.get("XML:com.adobe.xmp")
    assert packet is not None
    assert SOURCE_TYPES + source in (packet.decode() if isinstance(packet, bytes) else packet)


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_marking_twice_is_marking_once_and_another_mark_replaces(kind: str, options: dict) -> None:
    once = mark(encoded(kind, **options), "algorithmicMedia")
    assert mark(once, "algorithmicMedia") is once
    other = mark(once, "trainedAlgorithmicMedia")
    assert read(other.data).source_type == "trainedAlgorithmicMedia"
    assert other.data.count(b"digitalsourcetype") == 1


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_what_is_signed_is_reported_and_kept(kind: str) -> None:
    data = signed(kind)
    assert read(data) == Provenance("trainedAlgorithmicMedia", signed=True)
    image = verify_image(data, what="the signed picture")
    assert image.data == data
    assert mark(image, "algorithmicMedia") is image
    assert without_private(data) == data


def test_boxes_that_are_no_manifest_are_no_signature() -> None:
    parts = parts_of(encoded("PNG").data)
    other = joined([*parts[:2], png_part("caBX", b"something"), *parts[2:]])
    assert not read(other).signed
    # The word alone, in the pixels' own bytes or in a text, signs nothing.
    told = io.BytesIO()
    info = PngInfo()
    info.add_text("comment", "c2pa jumb")
    Image.new("RGB", (4, 4)).save(told, "PNG", pnginfo=info)
    assert not read(told.getvalue()).signed


def test_the_compressed_form_is_read() -> None:
    image, packet = encoded("PNG"), xmp("compositeSynthetic").encode()
    text = png_part("iTXt", b"XML:com.adobe.xmp\0\x01\0\0\0" + zlib.compress(packet))
    parts = parts_of(image.data)
    assert read(joined([*parts[:2], text, *parts[2:]])).source_type == "compositeSynthetic"
    broken = png_part("iTXt", b"XML:com.adobe.xmp\0\x01\0\0\0nonsense")
    assert read(joined([*parts[:2], broken, *parts[2:]])) == Provenance()


def test_prompts_and_settings_of_servers_are_taken_out() -> None:
    info = PngInfo()
    info.add_text("parameters", "a secret prompt\nSteps: 4, Seed: 42")
    info.add_itxt("prompt", '{"1": "a secret workflow"}')
    info.add_text("workflow", "a secret workflow", zip=True)
    exif = Image.Exif()
    exif[0x010E] = "a secret description"
    written: tuple[tuple[str, dict[str, Any]], ...] = (
        ("PNG", {"pnginfo": info, "exif": exif, "icc_profile": b"x" * 200}),
        ("JPEG", {"comment": b"a secret comment", "exif": exif}),
        ("WEBP", {"exif": exif}),
    )
    for kind, options in written:
        image = encoded(kind, **options)
        plain = without_private(image.data)
        assert b"secret" not in plain
        assert pixels(plain) == pixels(image.data)
        assert without_private(plain) is plain
        verify_image(plain, what="the plain picture")
        with Image.open(io.BytesIO(plain)) as opened:
            assert not opened.getexif()
            if kind == "PNG":
                assert opened.info.get("icc_profile") == b"x" * 200
    marked = mark(encoded("PNG", pnginfo=info), "algorithmicMedia")
    assert read(without_private(marked.data)).source_type == "algorithmicMedia"


def test_a_label_that_rules_ask_for_stays() -> None:
    info = PngInfo()
    info.add_text("AIGC", '{"Label": "1", "ContentProducer": "x"}')
    info.add_text("parameters", "a secret prompt")
    plain = without_private(encoded("PNG", pnginfo=info).data)
    assert b"ContentProducer" in plain and b"secret" not in plain
    exif = Image.Exif()
    exif[0x010E] = '{"AIGC": {"Label": "1"}}'
    for kind in ("JPEG", "WEBP", "PNG"):
        data = encoded(kind, exif=exif).data
        assert without_private(data) is data


def test_only_pictures_can_be_marked() -> None:
    with pytest.raises(ConfigError, match="cannot be marked"):
        mark(ImageBytes(b"GIF89a", "image/gif", 1, 1), "algorithmicMedia")
    assert read(b"") == Provenance()


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_the_parts_are_the_file(kind: str, options: dict) -> None:
    data = encoded(kind, **options).data
    assert b"".join(part.raw for part in parts_of(data)) == data
    assert joined(parts_of(data)) == data
    after = data + b"trailing bytes"
    assert b"".join(part.raw for part in parts_of(after)) == after


@given(st.sampled_from(["PNG", "JPEG", "WEBP"]), st.data())
def test_anything_can_be_taken_apart_and_read(kind: str, data: st.DataObject) -> None:
    whole = bytearray(encoded(kind).data)
    for _ in range(data.draw(st.integers(0, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    assert b"".join(part.raw for part in parts_of(cut)) == cut
    assert not read(cut).signed
    without_private(cut)


def test_lengths_that_lie_are_survived() -> None:
    lying = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 2**31) + b"IHDR" + b"x" * 20
    assert joined(parts_of(lying)) == lying
    assert find(parts_of(lying), "IHDR") is None
