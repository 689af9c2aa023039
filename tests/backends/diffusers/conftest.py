"""One tiny klein for all tests of a file that do not change it, and what compares pictures."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image, ImageChops

from langgraph_interleave.backends.diffusers import DiffusersBackend
from langgraph_interleave.types import ImageBytes


@pytest.fixture(scope="session")
def klein_pipe() -> Any:
    pytest.importorskip("diffusers")
    from tiny_pipelines import load

    return load("klein")


@pytest.fixture
def klein(klein_pipe: Any) -> DiffusersBackend:
    return DiffusersBackend(klein_pipe)


def pixels(image: ImageBytes) -> Image.Image:
    return Image.open(io.BytesIO(image.data)).convert("RGB")


def difference(one: ImageBytes, other: ImageBytes) -> int:
    """The largest difference of two pictures, in grey levels."""
    a, b = pixels(one), pixels(other)
    assert a.size == b.size
    bands: Any = ImageChops.difference(a, b).getextrema()
    return max(high for _, high in bands)


def card(color: Any, size: tuple[int, int] = (64, 64)) -> ImageBytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, color).save(buffer, "PNG")
    return ImageBytes(buffer.getvalue(), "image/png", *size)


@pytest.fixture
def look() -> Any:
    """The tools above, for tests: modules of tests are not importable."""

    class Tools:
        pixels = staticmethod(pixels)
        difference = staticmethod(difference)
        card = staticmethod(card)

    return Tools
