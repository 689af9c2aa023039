"""The backend of the miniature over a random pipeline of the same make: one size, one reference, nothing unsaid."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph_interleave_miniature", reason="not installed: pip install -e ./miniature")

from langgraph_interleave_miniature.backend import NOTE, MiniatureBackend
from langgraph_interleave_miniature.critic import MiniatureCritic
from langgraph_interleave_miniature.planner import MiniaturePlanner
from PIL import Image
from scene_reader import SceneReader

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.registry import survey_backends
from langgraph_interleave.choose import choose_roles
from langgraph_interleave.errors import ConfigError, InvalidRequest
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.limits import Limits
from langgraph_interleave.testing import check_backend
from langgraph_interleave.types import ImageBytes, ImageRequest

BALL = ImageRequest("a red ball at the top left in a meadow", seed=3)


@pytest.fixture
def backend(random_weights: Path) -> MiniatureBackend:
    return MiniatureBackend(random_weights)


def card(side: tuple[int, int], color: str = "teal") -> ImageBytes:
    buffer = io.BytesIO()
    Image.new("RGB", side, color).save(buffer, "PNG")
    return ImageBytes(buffer.getvalue(), "image/png", *side)


def test_it_is_installed_like_any_other_and_made_by_name(random_weights: Path) -> None:
    [info] = [info for info in survey_backends() if info.entry.name == "miniature"]
    assert info.entry.distribution == "langgraph-interleave-miniature" and not info.entry.shadowed
    named = MiniatureBackend.from_string(f" {random_weights} ")
    assert isinstance(named, ImageBackend) and named.fingerprint == MiniatureBackend(random_weights).fingerprint


def test_it_brings_its_planner_and_its_critic(backend: MiniatureBackend) -> None:
    brought = backend.companions
    assert (brought.planner, brought.critic, brought.note) == ("miniature", "miniature", NOTE)
    roles = choose_roles(MiniaturePlanner(SceneReader()), backend, MiniatureCritic(SceneReader()))
    assert roles.notes == (NOTE,) and not roles.settings.style_in_prompts  # the model knows no words of style


def test_the_loop_runs_on_its_parts(random_weights: Path) -> None:
    """A random pipeline draws nothing that can be recognised: every attempt is refused, with words for the next."""
    planner, critic, limits = MiniaturePlanner(SceneReader()), MiniatureCritic(SceneReader()), Limits(max_attempts=2)
    graph = create_interleave_graph(planner, MiniatureBackend(random_weights), critic, limits=limits)
    result: Any = graph.invoke({"request": "a red ball at the top left at night"})
    [step] = result["document"]["steps"]
    assert (step["outcome"], step["attempts"]) == ("exhausted", 2)
    assert result["outcome"] == "partial" and result["document"]["notes"] == [NOTE]


async def test_the_same_request_and_seed_are_the_same_bytes(backend: MiniatureBackend, random_weights: Path) -> None:
    one = await backend.agenerate(BALL)
    other = await MiniatureBackend(random_weights).agenerate(replace(BALL, n=2))
    assert other.images[0].data == one.images[0].data != other.images[1].data
    assert (one.images[0].width, one.images[0].height, one.warnings) == (64, 64, ())


async def test_other_sizes_and_shapes_are_said(backend: MiniatureBackend) -> None:
    large = await backend.agenerate(replace(BALL, width=512, references=[card((120, 90))]))
    assert (large.images[0].width, large.images[0].height) == (64, 64)
    assert large.warnings == (
        "512x64 was asked for; the miniature draws 64x64.",
        "The reference is 120x90; it was cropped and scaled to 64x64.",
    )
    with pytest.raises(InvalidRequest, match="0x64"):
        await backend.agenerate(replace(BALL, width=0, height=64))


async def test_two_references_are_one_too_many(backend: MiniatureBackend) -> None:
    with pytest.raises(InvalidRequest, match="2 references are too many for the miniature"):
        await backend.agenerate(replace(BALL, references=[card((64, 64)), card((64, 64), "pink")]))


async def test_words_it_was_not_trained_on_are_named(backend: MiniatureBackend) -> None:
    result = await backend.agenerate(ImageRequest("a big red ball and a dog in a meadow", seed=1))
    assert result.warnings == ("Words the miniature was not trained on: dog, big.",)


@pytest.mark.slow
def test_it_keeps_the_contract(random_weights: Path) -> None:
    report = check_backend(lambda: MiniatureBackend(random_weights))
    assert report.ok, str(report)
    can = report.capabilities
    assert (can["max_references"], can["sizes"], can["edit"], can["seed"]) == (1, ["64x64"], "instruct", "exact")


def test_without_weights_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no pipeline in .*nowhere"):
        MiniatureBackend(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="not there: there is no pipeline in"):
        MiniatureBackend(tmp_path)
