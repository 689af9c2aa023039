"""The backend `diffusers` on a klein that was trained: what is seen is what was asked for, not only something else."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator, Sequence

import pytest

pytest.importorskip("diffusers")
pytest.importorskip("langgraph_interleave_miniature", reason="not installed: pip install -e ./miniature")

from langgraph_interleave_miniature.captions import describe
from langgraph_interleave_miniature.drawing import draw
from langgraph_interleave_miniature.scenes import BACKGROUNDS, COLORS, KINDS, Scene, Thing
from langgraph_interleave_miniature.sight import Sight
from langgraph_interleave_miniature.storage import PIPELINE, weights

from langgraph_interleave.backends.diffusers import DiffusersBackend
from langgraph_interleave.types import ImageBytes, ImageRequest, ImageResult

SIGHT = Sight()


@pytest.fixture(scope="module")
def trained() -> Iterator[DiffusersBackend]:
    import torch

    # On tensors as small as these, threads wait for each other more than they work.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    backend = DiffusersBackend(
        weights(PIPELINE), device="cpu", dtype="float32", defaults={"size": 64, "max_sequence_length": 64}
    )
    asyncio.run(backend.agenerate(ImageRequest("nothing", seed=1, extra={"steps": 1})))  # loaded
    yield backend
    torch.set_num_threads(threads)


def at_once(backend: DiffusersBackend, requests: Sequence[ImageRequest]) -> list[ImageBytes]:
    async def all_of_them() -> list[ImageResult]:
        return await asyncio.gather(*map(backend.agenerate, requests))

    return [result.images[0] for result in asyncio.run(all_of_them())]


def seen(images: Sequence[ImageBytes]) -> list[object]:
    """Of each picture the background, and kind and color by cell, as a trained reader sees them."""
    found = [SIGHT.see(image) for image in images]
    return [one.reading.scene.shown if one is not None else None for one in found]


def drawing(scene: Scene) -> ImageBytes:
    buffer = io.BytesIO()
    draw(scene).save(buffer, "PNG")
    return ImageBytes(buffer.getvalue(), "image/png", 64, 64)


def test_eight_requests_at_once_show_each_its_own_words(trained: DiffusersBackend) -> None:
    scenes = [
        Scene(BACKGROUNDS[index % 4], (Thing(kind, COLORS[index % 6], index % 6),)) for index, kind in enumerate(KINDS)
    ]
    assert trained._shared is not None
    before = trained._shared.calls
    pictures = at_once(trained, [ImageRequest(describe(scene), seed=1) for scene in scenes])
    assert trained._shared.calls - before == 1
    assert seen(pictures) == [scene.shown for scene in scenes]


def test_other_seeds_are_other_pictures_of_the_same(trained: DiffusersBackend) -> None:
    scene = Scene("beach", (Thing("fish", "orange", 4),))
    pictures = at_once(trained, [ImageRequest(describe(scene), seed=seed) for seed in (1, 2, 3)])
    assert len({picture.data for picture in pictures}) == 3
    assert seen(pictures) == [scene.shown] * 3


def test_an_edit_changes_what_it_says_and_keeps_the_rest(trained: DiffusersBackend) -> None:
    """The same words on two references at once: the rest is in neither the words nor the other's picture."""
    car = Thing("car", "blue", 5)
    befores = [
        Scene("meadow", (Thing("ball", "red", 0), Thing("tree", "green", 3))),
        Scene("night", (Thing("star", "yellow", 2),)),
    ]
    words = "add a blue car at the bottom right"
    pictures = at_once(trained, [ImageRequest(words, [drawing(before)], seed=1) for before in befores])
    assert seen(pictures) == [Scene(before.background, (*before.things, car)).shown for before in befores]
