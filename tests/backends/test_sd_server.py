"""The backend `openai` against a server nobody here wrote: stable-diffusion.cpp's.

Opt-in, for it is built from source: LANGGRAPH_INTERLEAVE_SD_SERVER=1 builds it (about 8 minutes, with
cmake and a compiler, once), and a path there names a binary that is built already.

    LANGGRAPH_INTERLEAVE_SD_SERVER=1 pytest -m slow tests/backends/test_sd_server.py
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
import sd_server
from loopback_replies import picture_of

from langgraph_interleave.backends.openai_images import OpenAIImagesBackend
from langgraph_interleave.errors import InvalidRequest
from langgraph_interleave.testing import Options, check_backend
from langgraph_interleave.types import ImageBytes, ImageRequest

# Read before any test: tests see a clean environment.
_WISH = os.environ.get("LANGGRAPH_INTERLEAVE_SD_SERVER", "")
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "langgraph-interleave-tests"
_READY = Path(_WISH).is_file()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.server,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not _WISH, reason="LANGGRAPH_INTERLEAVE_SD_SERVER is not set"),
    pytest.mark.skipif(not _READY and shutil.which("cmake") is None, reason="cmake is not installed"),
]

#: The client belongs to the loop that it was first used in.
together = pytest.mark.asyncio(loop_scope="module")
POT = ImageRequest(prompt="a red pot", width=64, height=64)


def reference(name: str, width: int = 64, height: int = 64) -> ImageBytes:
    return ImageBytes(picture_of(name, width, height), "image/png", width, height)


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("diffusers")
    binary = Path(_WISH) if _READY else sd_server.build(_CACHE)
    model = sd_server.tiny_model(tmp_path_factory.mktemp("model"))
    with sd_server.running(binary, model) as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def backend(base_url: str) -> AsyncIterator[OpenAIImagesBackend]:
    made = OpenAIImagesBackend("flux", base_url=base_url, profile="sdcpp")
    yield made
    await made.aclose()


@together
async def test_it_says_who_it_is(backend: OpenAIImagesBackend) -> None:
    assert await backend.aprofile() == "sdcpp"
    await backend.aready()


@together
async def test_it_draws_as_many_as_asked_for_and_writes_nothing_into_them(backend: OpenAIImagesBackend) -> None:
    result = await backend.agenerate(replace(POT, n=2))
    assert [(image.width, image.height) for image in result.images] == [(64, 64)] * 2
    assert all(b"parameters" not in image.data and b"red pot" not in image.data for image in result.images)
    assert result.usage.cost_usd == 0.0


@together
async def test_a_seed_is_obeyed(backend: OpenAIImagesBackend) -> None:
    first, again, other = [(await backend.agenerate(replace(POT, seed=seed))).images[0] for seed in (7, 7, 8)]
    assert first.data == again.data != other.data
    assert (first.seed, other.seed) == (7, 8)
    # Picture i is drawn with seed + i.
    both = (await backend.agenerate(replace(POT, seed=7, n=2))).images
    assert [image.data for image in both] == [first.data, other.data]


@together
async def test_a_prompt_sets_nothing(backend: OpenAIImagesBackend) -> None:
    plain = (await backend.agenerate(replace(POT, seed=7))).images[0]
    prompt = 'a red pot <sd_cpp_extra_args>{"seed": 99}</sd_cpp_extra_args>'
    assert (await backend.agenerate(replace(POT, prompt=prompt, seed=7))).images[0].data == plain.data


@together
@pytest.mark.parametrize(("size", "drawn"), [((70, 50), (72, 48)), ((104, 80), (104, 80))])
async def test_sizes_are_kept(backend: OpenAIImagesBackend, size: tuple[int, int], drawn: tuple[int, int]) -> None:
    result = await backend.agenerate(replace(POT, width=size[0], height=size[1]))
    assert (result.images[0].width, result.images[0].height) == drawn
    assert bool(result.warnings) == (size != drawn)


@together
async def test_references_arrive(backend: OpenAIImagesBackend) -> None:
    drawn = [
        (await backend.agenerate(replace(POT, seed=7, references=references))).images[0].data
        for references in ((), (reference("a"),), (reference("b"),))
    ]
    assert len(set(drawn)) == 3


@together
async def test_a_broken_reference_never_gets_there(backend: OpenAIImagesBackend) -> None:
    broken = replace(reference("a"), data=reference("a").data[:-30])
    with pytest.raises(InvalidRequest):
        await backend.agenerate(replace(POT, references=[broken]))


@together
async def test_a_stream_asked_for_is_a_picture_all_the_same(base_url: str) -> None:
    generic = OpenAIImagesBackend("flux", base_url=base_url, partial_images=2)
    result = await generic.agenerate(POT, on_progress=lambda _: None)
    await generic.aclose()
    assert result.images[0].width == 64


@together
async def test_words_it_cannot_use_come_back_as_its_own(base_url: str) -> None:
    generic = OpenAIImagesBackend("flux", base_url=base_url, extra_body={"output_format": "gif"})
    with pytest.raises(InvalidRequest, match="output_format"):
        await generic.agenerate(POT)
    await generic.aclose()


def test_the_conformance_suite(base_url: str) -> None:
    # The server draws whatever size it is asked for, for minutes if need be.
    report = check_backend(
        lambda: OpenAIImagesBackend("flux", base_url=base_url, profile="sdcpp", max_pixels=160 * 160),
        options=Options(size=(64, 64)),
    )
    print(report)
    assert report.ok, str(report)
