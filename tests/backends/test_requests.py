"""Requests held against capabilities: what cannot be drawn is refused with what can."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.backends.requests import check_request
from langgraph_interleave.errors import InvalidRequest
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest

CAN = Capabilities(edit="instruct", max_references=1, max_images=2, min_side=32, max_pixels=256 * 256, max_aspect=3.0)
BROKEN = ImageBytes(b"\x89PNG\r\n\x1a\n", "image/png", 8, 8)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"n": 0}, "mine cannot draw 0 pictures at once. Ask for 1 to 2."),
        ({"n": 3}, "mine cannot draw 3 pictures at once."),
        ({"seed": -1}, "The seed -1 is out of range. Give 0 to 2**32 - 1."),
        ({"seed": 2**32}, "The seed 4294967296 is out of range."),
        ({"width": 0, "height": 64}, "mine cannot draw 0x64 pixels. Sides must be at least 32 pixels."),
        ({"height": 31}, "mine cannot draw anyx31 pixels."),
        ({"width": 512, "height": 256}, "mine cannot draw 512x256 pixels. At most 65,536 pixels in all are possible."),
        ({"width": 128, "height": 40}, "mine cannot draw 128x40 pixels. One side may be 3 times the other at most."),
        ({"references": [noise_card("a"), noise_card("b")]}, "2 references are too many for mine, which takes 1."),
        ({"references": [BROKEN]}, "Reference 1 of mine is"),
    ],
)
async def test_what_cannot_be_drawn_says_what_can(asked: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        await check_request(ImageRequest("a pot", **asked), CAN, what="mine")
    assert str(refused.value).startswith(says)
    assert refused.value.remedy


@given(
    n=st.integers(1, 2),
    seed=st.none() | st.integers(0, 2**32 - 1),
    width=st.none() | st.integers(86, 256),
    height=st.none() | st.integers(86, 256),
)
async def test_what_can_be_drawn_is_not_refused(
    n: int, seed: int | None, width: int | None, height: int | None
) -> None:
    request = ImageRequest("a pot", n=n, seed=seed, width=width, height=height, negative_prompt="pans")
    await check_request(request, CAN, what="mine")
