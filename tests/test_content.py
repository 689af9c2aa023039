"""A request keeps the user's order, refers to stored pictures, and never holds bytes or addresses."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langchain_core.messages.content import create_image_block, create_text_block

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.content import image_block, read_request
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.types import ArtifactRef, ImageBytes, ImagePart, TextPart

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415478da6338212605000302010191bd4e5c"
    "0000000049454e44ae426082"
)
PICTURE = ImageBytes(PNG, "image/png", 1, 1)
REF = ArtifactRef(sha256=PICTURE.sha256, mime="image/png", size=len(PNG), width=1, height=1)
SECRET = "c2VjcmV0" * 50


def shelf() -> ArtifactStore:
    """A store with one picture and one other thing."""
    store = ArtifactStore.memory()
    assert store.put_image(PICTURE) == REF
    store.put(b"{}", mime="application/json")
    return store


def test_text_alone() -> None:
    request = read_request("How to plant a bean, in 3 steps", shelf())
    assert request.parts == (TextPart(text="How to plant a bean, in 3 steps"),)
    assert request.images == ()


def test_text_and_pictures_keep_their_order() -> None:
    block = image_block(REF, name="pot.png")
    request = read_request(["This pot", block, {"type": "text", "text": "and this"}, block, "with a bean"], shelf())
    assert [part.type for part in request.parts] == ["text", "image", "text", "image", "text"]
    assert request.text == "This pot\nand this\nwith a bean"
    assert request.images == (REF, REF)
    assert isinstance(request.parts[1], ImagePart)
    assert request.parts[1].name == "pot.png"


def test_size_and_type_come_from_the_store_not_from_the_block() -> None:
    lie = {"type": "image", "url": REF.uri, "mime_type": "text/html", "extras": {"width": 9, "size": 1, "name": 3}}
    (part,) = read_request([lie], shelf()).parts
    assert part == ImagePart(image=REF, name=None)


def test_blocks_made_by_langchain_are_read() -> None:
    message = HumanMessage(content_blocks=[create_text_block("Plant"), create_image_block(url=REF.uri)])
    request = read_request(message.content_blocks, shelf())  # pyright: ignore[reportArgumentType] - TypedDicts are mappings
    assert [part.type for part in request.parts] == ["text", "image"]
    older = {"type": "image_url", "image_url": {"url": REF.uri}}
    assert read_request([older], shelf()).images == (REF,)


def test_image_block_is_a_reference_of_plain_json() -> None:
    block = image_block(REF, name="pot.png", alt="A pot")
    assert block == {
        "type": "image",
        "url": REF.uri,
        "mime_type": "image/png",
        "extras": {"width": 1, "height": 1, "size": len(PNG), "name": "pot.png", "alt": "A pot"},
    }
    assert json.loads(json.dumps(block)) == block
    assert image_block(ArtifactRef(sha256="0" * 64, mime="image/png", size=3))["extras"] == {"size": 3}


REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": ("", "The request is empty."),
    "blank": (" \n\t", "The request is empty."),
    "empty list": ([], "The request is empty."),
    "blank parts": (["", {"type": "text", "text": "  "}], "The request is empty."),
    "base64": ([{"type": "image", "base64": SECRET, "mime_type": "image/png"}], "bytes, which would be copied"),
    "older base64": ([{"type": "image", "source_type": "base64", "data": SECRET}], "bytes, which would be copied"),
    "anthropic": ([{"type": "image", "source": {"type": "base64", "data": SECRET}}], "bytes, which would be copied"),
    "data url": ([{"type": "image", "url": f"data:image/png;base64,{SECRET}"}], "data: URL, which would be copied"),
    "openai data url": (
        [{"type": "image_url", "image_url": {"url": f"DATA:image/png;base64,{SECRET}"}}],
        "data: URL, which would be copied",
    ),
    "url": (["x", {"type": "image", "url": "https://example.org/a.png"}], "not fetched from elsewhere; download"),
    "url as text": ([{"type": "image_url", "image_url": "http://example.org/a.png"}], "not fetched from elsewhere"),
    "path": ([{"type": "image", "url": "photos/a.png"}], "the local path 'photos/a.png'"),
    "file url": ([{"type": "image", "url": "file:///a.png"}], "the local path 'file:///a.png'"),
    "windows path": ([{"type": "image", "url": "C:\\a.png"}], "the local path"),
    "other scheme": ([{"type": "image", "url": "s3://bucket/a.png"}], "an address of an unknown kind"),
    "file id": ([{"type": "image", "file_id": "file-1"}], "a provider's file storage"),
    "no picture": ([{"type": "image"}], "an image block without a picture"),
    "bad digest": ([{"type": "image", "url": "artifact://abc"}], "no SHA-256 digest"),
    "traversal": ([{"type": "image", "url": "artifact://../../etc/passwd"}], "no SHA-256 digest"),
    "not a picture": (
        [{"type": "image", "url": f"artifact://{hashlib.sha256(b'{}').hexdigest()}"}],
        "stored bytes that are not a picture",
    ),
    "no text": ([{"type": "text"}], "a text block without text"),
    "unknown": ([{"type": "audio", "base64": SECRET}], "the unknown type 'audio'"),
    "no type": ([{"url": REF.uri}], "the unknown type None"),
    "bytes": (PNG, "not bytes. Put its bytes into the store first"),
    "bytes part": ([PNG], "is bytes, not text or a content block. Put its bytes into the store first"),
    "path part": ([Path("a.png")], "Put its bytes into the store first"),
    "number": (7, "not a int. Pass a string"),
    "number part": (["x", 7], "Part 1 of the request is a int"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_everything_else_is_refused_with_a_remedy(case: str) -> None:
    value, reason = REFUSED[case]
    with pytest.raises(ConfigError) as caught:
        read_request(value, shelf())
    assert reason in str(caught.value)
    assert caught.value.remedy
    assert SECRET[:100] not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_picture_of_another_store_is_named_with_the_remedy() -> None:
    block = image_block(ArtifactRef(sha256="b" * 64, mime="image/png", size=3), name="leaf.png")
    with pytest.raises(ArtifactMissing, match=r"Part 0 of the request, the picture leaf\.png, is not in") as caught:
        read_request([block], shelf())
    assert "same store" in caught.value.remedy


@pytest.mark.parametrize(
    ("given_text", "read"),
    [("a\0b", "ab"), ("\ud83d\ude00", "😀"), ("lone \ud83d.", "lone \ufffd."), ("种豆子", "种豆子")],
)
def test_what_cannot_be_stored_is_mended(given_text: str, read: str) -> None:
    request = read_request(given_text, shelf())
    assert request.text == read
    request.model_dump_json().encode()


@pytest.mark.nightly
@given(st.text(st.characters(), min_size=1))
def test_any_text_can_be_written_as_json(text: str) -> None:
    try:
        request = read_request(text, shelf())
    except ConfigError:
        assert not text.replace("\0", "").strip()
        return
    assert json.loads(request.model_dump_json())["parts"][0]["text"] == request.parts[0].model_dump()["text"]
