"""What a client may name or send, and what it may not."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_bench import Bench, id_of, text_of
from mcp_parts import noted
from PIL import Image

from langgraph_interleave.agents.mcp_server import Shelf
from langgraph_interleave.agents.mcp_server.names import Name, is_name, new_document, read_digest, read_name
from langgraph_interleave.agents.mcp_server.pictures import MOST_BYTES, MOST_PICTURES, picture_blocks
from langgraph_interleave.errors import ConfigError, InterleaveError


def png(size: tuple[int, int] = (32, 24), color: str = "teal") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, "PNG")
    return file.getvalue()


def data_url(data: bytes, mime: str = "image/png") -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def test_a_picture_that_is_sent_is_kept_plain() -> None:
    shelf = Shelf.memory()
    (block,) = picture_blocks([data_url(png())], shelf)
    assert block["url"].startswith("artifact://")
    assert "base64" not in str(block)
    # As percent-encoded bytes, too.
    (other,) = picture_blocks([f"DATA:image/png,{quote(png())}"], shelf)
    assert other["url"] == block["url"]


def test_private_metadata_of_what_is_sent_is_dropped() -> None:
    shelf = Shelf.memory()
    exif = Image.Exif()
    exif[0x010E] = "where I live"
    file = io.BytesIO()
    Image.new("RGB", (20, 20), "red").save(file, "JPEG", exif=exif)
    assert b"where I live" in file.getvalue()
    (block,) = picture_blocks([data_url(file.getvalue(), "image/jpeg")], shelf)
    assert b"where I live" not in shelf.artifacts.get(block["url"])


@pytest.mark.parametrize(
    "given",
    [
        "/etc/passwd",
        "../../secret.png",
        "file:///etc/passwd",
        "http://169.254.169.254/latest/meta-data",
        "https://example.org/cat.png",
        "C:\\Users\\me\\cat.png",
        "interleave://artifact/" + "0" * 64,
        "interleave://artifact/../../jobs/x.json",
        "artifact://" + "f" * 64,
        "interleave://document/doc_0000000000000000",
        "doc_0000000000000000.step_1",
        "doc_../../x.step_1",
        "data:text/html;base64,PGI+",
        "data:image/png;base64,!!!!",
        "data:image/png;base64,aGVsbG8=",
        "data:image/svg+xml;base64,PHN2Zy8+",
        "data:image/png",
        "",
    ],
)
def test_anything_else_is_refused_with_what_to_do(given: str) -> None:
    with pytest.raises(ConfigError) as caught:
        picture_blocks([given], Shelf.memory())
    assert caught.value.remedy
    assert len(str(caught.value)) < 500


def test_pictures_that_are_too_many_or_too_large_are_refused() -> None:
    shelf = Shelf.memory()
    with pytest.raises(ConfigError, match="at most 8"):
        picture_blocks([data_url(png())] * (MOST_PICTURES + 1), shelf)
    with pytest.raises(ConfigError, match="too large"):
        picture_blocks([data_url(b"\x89PNG\r\n\x1a\n" + bytes(MOST_BYTES + 1000))], shelf)
    bomb = png((9000, 9000))
    assert len(bomb) < MOST_BYTES
    with pytest.raises(ConfigError):
        picture_blocks([data_url(bomb)], shelf)


@given(st.text(max_size=200) | st.text(alphabet="doc_0123456789abcdef.v/step:artinle", max_size=120))
def test_no_words_open_anything(text: str) -> None:
    with pytest.raises(InterleaveError):
        picture_blocks([text], Shelf.memory())


@given(
    st.integers(1, 9999) | st.none(),
    st.integers(0, 9999) | st.none(),
)
def test_names_are_read_as_they_are_written(version: int | None, step: int | None) -> None:
    name = Name(new_document(), version, step)
    assert read_name(str(name)) == name


@given(st.text(max_size=80))
def test_what_is_no_name_is_refused(text: str) -> None:
    if not is_name(text.strip()):
        with pytest.raises(ConfigError, match="document_id"):
            read_name(text)
    assert read_digest(text) is None


async def test_hostile_arguments_are_refused_and_nothing_is_made(bench: Bench, calls: Path) -> None:
    for name, arguments in (
        ("create_document", {"request": "  "}),
        ("create_document", {"request": ""}),
        ("create_document", {"request": "x" * 20_001}),
        ("create_document", {"request": "2 things", "steps": 10_000}),
        ("create_document", {"request": "2 things", "steps": 999}),
        ("create_document", {"request": "2 things", "steps": 0}),
        ("create_document", {"request": "2 things", "size": "99999x99999"}),
        ("create_document", {"request": "2 things", "size": "huge"}),
        ("create_document", {"request": "2 things", "seed": -1}),
        ("create_document", {"request": "2 things", "images": ["/etc/passwd"]}),
        ("create_document", {"request": "2 things", "images": "https://example.org/x.png"}),
        ("create_document", {"request": "2 things", "images": [data_url(png())] * 9}),
        ("create_document", {"request": "2 things", "wait_seconds": -1}),
        ("create_document", {"request": "2 things", "wait_seconds": "nan"}),
        ("create_document", {"request": ["2 things"]}),
        ("revise_document", {"document_id": "doc_0000000000000000", "request": "darker"}),
        ("revise_document", {"document_id": "../../x", "request": "darker"}),
        ("get_document", {"document_id": "../jobs/doc_0000000000000000.v1.json"}),
        ("get_document", {"document_id": "doc_0000000000000000"}),
        ("get_document", {"document_id": "doc_0000000000000000", "version": 0}),
        ("get_document", {"document_id": "doc_0000000000000000.v2", "version": 1}),
        ("get_document", {"document_id": "doc_0000000000000000\0"}),
        ("edit_image", {"image": "/etc/passwd", "prompt": "darker"}),
        ("generate_image", {"prompt": "x" * 8001}),
        ("cancel_document", {"document_id": "*"}),
    ):
        result = await bench.call(name, **arguments)
        assert result.is_error, (name, arguments)
        assert len(text_of(result)) < 2000
    assert not list(bench.shelf.jobs())
    assert not noted(calls)


async def test_the_clients_picture_is_what_the_document_starts_from(bench: Bench) -> None:
    result = await bench.call("create_document", request="2 things", images=[data_url(png())])
    data = bench.shelf.document(bench.shelf.find(read_name(id_of(result))))
    assert data is not None
    (ref,) = data.request.images
    assert (ref.width, ref.height) == (32, 24)
    # It belongs to a document now, so it can be named.
    edited = await bench.call("edit_image", image=f"interleave://artifact/{ref.sha256}", prompt="darker")
    assert not edited.is_error
