"""The nearest size a backend can draw: within its bounds, the shape first, never 0."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.imaging.sizes import Snapped, snap_size, wanted_size
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest

KLEIN = Capabilities(size_multiple=16, min_side=64, max_pixels=1024 * 1024, max_aspect=8)
RATIOS = Capabilities(sizes=("1:1", "3:2", "2:3", "16:9", "9:16", "21:9"), max_pixels=1024 * 1024)
LISTED = Capabilities(sizes=("1024x1024", "1536x1024", "1024x1536", "512x512"))


def size(width: int, height: int, capabilities: Capabilities) -> tuple[int, int]:
    found = snap_size(width, height, capabilities)
    return found.width, found.height


@pytest.mark.parametrize(
    ("wanted", "drawn"),
    [
        ((70, 50), (96, 64)),  # 64 is the least: the shape is kept
        ((512, 512), (512, 512)),
        ((1000, 700), (992, 704)),
        ((4000, 4000), (1024, 1024)),
        ((1920, 1080), (1360, 768)),
        ((8, 8), (64, 64)),
        ((63, 63), (64, 64)),
        ((900, 100), (848, 112)),  # 9:1 becomes at most 8:1
        ((1, 20000), (64, 512)),
        ((0, -3), (64, 64)),
    ],
)
def test_free_sizes(wanted: tuple[int, int], drawn: tuple[int, int]) -> None:
    assert size(*wanted, KLEIN) == drawn


@pytest.mark.parametrize(
    ("wanted", "entry"),
    [
        ((1000, 1000), "1:1"),
        ((1920, 1080), "16:9"),
        ((1080, 1920), "9:16"),
        ((1500, 1000), "3:2"),
        ((5000, 100), "21:9"),
    ],
)
def test_ratios(wanted: tuple[int, int], entry: str) -> None:
    found = snap_size(*wanted, RATIOS)
    assert found.entry == entry
    w, h = map(int, entry.split(":"))
    assert found.width / found.height == pytest.approx(w / h, rel=0.01)
    assert found.width * found.height <= RATIOS.max_pixels


def test_listed_sizes_shape_first_then_area() -> None:
    assert size(600, 600, LISTED) == (512, 512)
    assert size(900, 900, LISTED) == (1024, 1024)
    assert size(300, 200, LISTED) == (1536, 1024)
    assert size(100, 900, LISTED) == (1024, 1536)


def test_entries_that_are_none_are_passed_over() -> None:
    assert size(100, 100, Capabilities(sizes=("auto", "0x5", "256 × 256"))) == (256, 256)
    assert size(100, 100, Capabilities(sizes=("auto",))) == (100, 100)


def test_another_size_is_told() -> None:
    assert snap_size(512, 512, KLEIN) == Snapped(512, 512)
    assert snap_size(70, 50, KLEIN, name="klein").warning == "70x50 was asked for; klein draws 96x64."


capabilities = st.builds(
    Capabilities,
    size_multiple=st.integers(1, 64),
    min_side=st.integers(0, 300),
    max_pixels=st.integers(200_000, 9_000_000),
    max_aspect=st.none() | st.floats(2, 20),
)


@given(st.integers(-5, 30_000), st.integers(-5, 30_000), capabilities)
def test_every_bound_holds(width: int, height: int, can: Capabilities) -> None:
    w, h = size(width, height, can)
    assert w >= max(1, can.min_side) and h >= max(1, can.min_side)
    assert w % can.size_multiple == h % can.size_multiple == 0
    assert w * h <= can.max_pixels
    if can.max_aspect is not None:
        assert max(w, h) <= can.max_aspect * min(w, h) + 1e-6
    assert w == h or (w > h) == (max(1, width) > max(1, height))


def test_a_square_stays_one_where_rounding_goes_over_the_area() -> None:
    assert size(445, 445, Capabilities(size_multiple=7, max_pixels=200_000)) == (441, 441)


@given(st.integers(1, 60), st.integers(1, 60))
def test_what_can_be_drawn_stays(columns: int, rows: int) -> None:
    w, h = columns * 16, rows * 16
    if min(w, h) >= 64 and w * h <= KLEIN.max_pixels and max(w, h) <= 8 * min(w, h):
        assert snap_size(w, h, KLEIN) == Snapped(w, h)


@given(st.integers(200, 8000), st.integers(200, 8000))
def test_the_shape_is_kept(width: int, height: int) -> None:
    w, h = size(width, height, KLEIN)
    if max(width, height) <= 7 * min(width, height):
        # Half a step of either side at most.
        assert abs(math.log(w / h / (width / height))) < 12 / min(w, h) + 12 / max(w, h)


@given(st.integers(1, 500), st.integers(1, 500))
def test_even_bounds_that_contradict_each_other_give_a_size(width: int, height: int) -> None:
    w, h = size(width, height, Capabilities(size_multiple=64, min_side=100, max_pixels=1000, max_aspect=1.0))
    assert w >= 100 and h >= 100


def test_without_a_size_the_first_reference_gives_the_shape() -> None:
    wide, large = ImageBytes(b"", "image/png", 300, 100), ImageBytes(b"", "image/png", 3000, 4000)
    assert wanted_size(ImageRequest("x", references=[wide, large])) == (300, 100)
    assert wanted_size(ImageRequest("x", references=[large])) == (1152, 1536)
    assert wanted_size(ImageRequest("x", width=0, height=0), side=512) == (512, 512)
    assert wanted_size(ImageRequest("x", references=[wide], height=200)) == (600, 200)
