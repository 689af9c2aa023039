"""The weights that come with the package: they load in the real pipeline, and what they draw is what was asked."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("diffusers")
pytest.importorskip("langgraph_interleave_miniature", reason="not installed: pip install -e ./miniature")

import torch
from langgraph_interleave_miniature.captions import caption, command
from langgraph_interleave_miniature.drawing import draw
from langgraph_interleave_miniature.reader import READERS, TrainedReader
from langgraph_interleave_miniature.scenes import Edit, random_edit, random_scene

WEIGHTS = Path(str(files("langgraph_interleave_miniature") / "weights"))


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Any]:
    from diffusers.pipelines.flux2.pipeline_flux2_klein import Flux2KleinPipeline

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    loaded = Flux2KleinPipeline.from_pretrained(WEIGHTS / "pipeline", local_files_only=True, dtype=torch.float32)
    loaded.set_progress_bar_config(disable=True)
    yield loaded
    torch.set_num_threads(threads)


def _drawn(pipeline: Any, prompts: list[str], **given: Any) -> list[Any]:
    seeds = [torch.Generator().manual_seed(number) for number in range(len(prompts))]
    asked = {"height": 64, "width": 64, "num_inference_steps": 4, "generator": seeds, **given}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries, about each other
        return pipeline(prompt=prompts, **asked).images


def test_the_pipeline_stays_below_eight_megabytes() -> None:
    assert sum(file.stat().st_size for file in (WEIGHTS / "pipeline").rglob("*") if file.is_file()) < 8_000_000


def test_explicit_prompts_come_out_right(pipeline: Any) -> None:
    rng = random.Random(20_261_201)
    scenes = [random_scene(rng, 1 + number % 3) for number in range(6)]
    pictures = _drawn(pipeline, [caption(rng, scene) for scene in scenes], max_sequence_length=48, guidance_scale=1.0)
    read = TrainedReader(name="independent").read(pictures)
    assert sum(seen.scene.shown == scene.shown for seen, scene in zip(read, scenes, strict=True)) >= 5


def test_the_defaults_of_a_call_are_safe(pipeline: Any) -> None:
    """512 tokens of padding and a guidance of 4, which the first version could not bear."""
    rng = random.Random(3)
    scene = random_scene(rng, 2)
    (picture,) = _drawn(pipeline, [caption(rng, scene)])
    assert TrainedReader(name="independent")(picture).scene.shown == scene.shown


def test_an_edit_does_what_is_asked_and_keeps_the_rest(pipeline: Any) -> None:
    rng = random.Random(4)
    edits: list[Edit] = [random_edit(rng, random_scene(rng, 1), op) for op in ("add", "remove", "background")]
    reader = TrainedReader(name="independent")
    right = 0
    for edit in edits:
        given = {"image": draw(edit.before), "max_sequence_length": 48, "guidance_scale": 1.0}
        (picture,) = _drawn(pipeline, [command(edit)], **given)
        right += reader(picture).scene.shown == edit.after.shown
    assert right >= 2


def test_the_same_seed_is_the_same_picture(pipeline: Any) -> None:
    given = {"max_sequence_length": 32, "guidance_scale": 1.0}
    first, second = (_drawn(pipeline, ["a red ball at the top left at night"], **given)[0] for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("name", READERS)
def test_readers_read_drawings_and_say_how_sure_they_are(name: str) -> None:
    rng = random.Random(5)
    scenes = [random_scene(rng, number % 4) for number in range(24)]
    read = TrainedReader(name=name).read([draw(scene) for scene in scenes])
    assert sum(seen.scene.shown == scene.shown for seen, scene in zip(read, scenes, strict=True)) >= 23
    for seen in read:
        for chances in (*seen.kinds, *seen.colors, seen.backgrounds):
            assert abs(sum(chances) - 1) < 1e-4


def test_a_thing_half_there_is_not_a_thing_for_sure() -> None:
    """What the model's ghosts look like: the readers' confidence follows how much of it there is."""
    from PIL import Image

    rng = random.Random(6)
    edit = random_edit(rng, random_scene(rng, 1), "add")
    assert edit.thing is not None
    cell = edit.thing.cell
    for name in READERS:
        reader = TrainedReader(name=name)
        mixed = [Image.blend(draw(edit.before), draw(edit.after), share) for share in (0.05, 0.5, 0.95)]
        there = [1 - reading.empty(cell) for reading in reader.read(mixed)]
        assert there[0] < 0.2
        assert 0.02 < there[1] < 0.98
        assert there[2] > 0.8
