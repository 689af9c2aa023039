"""Evaluation: how often the exported pipeline draws what it is asked, on prompts it has never seen.

Everything goes through the real `Flux2KleinPipeline`, one reference at a time, and is judged strictly: every thing,
color, cell, the number of things and the background. The judge is the independent reader.
"""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from langgraph_interleave_miniature.captions import Detail, caption, instruction
from langgraph_interleave_miniature.drawing import SIDE, draw
from langgraph_interleave_miniature.reader import TrainedReader
from langgraph_interleave_miniature.scenes import OPS, Edit, Scene, random_edit, random_scene
from training.export import PIPELINE

if TYPE_CHECKING:
    from PIL import Image

_log = logging.getLogger(__name__)
STEPS, LENGTH = 4, 48

#: Tells for every picture what it shows, as `Scene.shown` does.
Judge = Callable[[Sequence["Image.Image"]], "list[tuple[str, dict[int, tuple[str, str]]]]"]


@dataclass(frozen=True, slots=True)
class World:
    """What is put to a pipeline: its own world's scenes, words and drawings, and a judge of its pictures."""

    scene: Callable[[random.Random, int], Scene]
    caption: Callable[[random.Random, Scene, Detail], str]
    edit: Callable[[random.Random, Scene, str | None], Edit]
    instruction: Callable[[random.Random, Edit], str]
    draw: Callable[[Scene], Image.Image]
    judge: Judge


def own_world(reader: TrainedReader) -> World:
    """The miniature's world, judged by a reader."""

    def judge(pictures: Sequence[Image.Image]) -> list[tuple[str, dict[int, tuple[str, str]]]]:
        return [reading.scene.shown for reading in reader.read(pictures)]

    return World(random_scene, caption, random_edit, instruction, draw, judge)


class Painter:
    """Asks a pipeline for pictures, many at a time where it can.

    Args:
        folder: The pipeline's folder.
        steps: Denoising steps.
        length: Tokens of text; `None` for the pipeline's default of 512.
        extra: More arguments of every call.
    """

    def __init__(self, folder: Path, *, steps: int = STEPS, length: int | None = LENGTH, **extra: Any) -> None:
        from diffusers.pipelines.flux2.pipeline_flux2_klein import Flux2KleinPipeline

        self.pipeline: Any = Flux2KleinPipeline.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
        self.pipeline.set_progress_bar_config(disable=True)
        self.steps = steps
        self._extra = {"guidance_scale": 1.0, **extra, **({} if length is None else {"max_sequence_length": length})}

    def __call__(
        self,
        prompts: Sequence[str],
        seeds: Sequence[int],
        references: Sequence[Image.Image] | None = None,
        *,
        steps: int | None = None,
    ) -> list[Image.Image]:
        """Pictures of prompts; with references, one prompt at a time, as the pipeline takes them."""
        found: list[Image.Image] = []
        size = 40 if references is None else 1
        for start in range(0, len(prompts), size):
            seeded = [torch.Generator().manual_seed(seed) for seed in seeds[start : start + size]]
            given = {} if references is None else {"image": references[start]}
            asked = list(prompts[start : start + size])
            answer = self.pipeline(
                prompt=asked,
                height=SIDE,
                width=SIDE,
                num_inference_steps=steps or self.steps,
                generator=seeded,
                **given,
                **self._extra,
            )
            found += answer.images
        return found


def strict(judge: Judge, pictures: Sequence[Image.Image], scenes: Sequence[Scene]) -> list[bool]:
    """Whether each picture shows its scene, all of it and nothing else."""
    return [seen == scene.shown for seen, scene in zip(judge(pictures), scenes, strict=True)]


def rows_from_text(painter: Painter, world: World, count: int, seed: int) -> dict[str, float]:
    """Strict success from text: explicit prompts by number of things, and prompts without places."""
    rows: dict[str, float] = {}
    for things in (1, 2, 3):
        rng = random.Random(seed + things)
        scenes = [world.scene(rng, things) for _ in range(count)]
        prompts = [world.caption(rng, scene, "full") for scene in scenes]
        for steps in (4, 8):
            pictures = painter(prompts, range(count), steps=steps)
            seen = world.judge(pictures)
            rows[f"{things} things, {steps} steps"] = _share([a == s.shown for a, s in zip(seen, scenes, strict=True)])
            if steps == STEPS:
                rows |= {f"{things} things, {key}": value for key, value in _parts(seen, scenes).items()}
                for ground in sorted({scene.background for scene in scenes}):
                    right = [a == s.shown for a, s in zip(seen, scenes, strict=True) if s.background == ground]
                    rows[f"{things} things, {ground}"] = _share(right)
        again = painter([prompt for prompt in prompts[:60] for _ in range(4)], range(5000, 5240))
        right = strict(world.judge, again, [scene for scene in scenes[:60] for _ in range(4)])
        rows[f"{things} things, one of 4 seeds (60 prompts)"] = _share(
            [any(right[i : i + 4]) for i in range(0, len(right), 4)]
        )
        if things < 3:
            pictures = painter([world.caption(rng, scene, "anywhere") for scene in scenes], range(count))
            rows[f"{things} things, no places said: right things anywhere"] = _share(
                [
                    sorted(there.values()) == sorted(scene.shown[1].values())
                    for (_, there), scene in zip(world.judge(pictures), scenes, strict=True)
                ]
            )
    rng = random.Random(seed + 4)
    crowded = [world.scene(rng, 4) for _ in range(count)]
    prompts = [world.caption(rng, scene, "full") for scene in crowded]
    rows["4 things (never trained), 4 steps"] = _share(strict(world.judge, painter(prompts, range(count)), crowded))
    return rows


def rows_of_edits(painter: Painter, world: World, count: int, seed: int) -> dict[str, float]:
    """Strict success of single edits of clean drawings, what was asked and what was kept."""
    rows: dict[str, float] = {}
    everything: list[bool] = []
    for op in OPS:
        rng = random.Random(seed + 31)
        edits = [world.edit(rng, world.scene(rng, rng.choice((1, 2))), op) for _ in range(count)]
        prompts = [world.instruction(rng, edit) for edit in edits]
        pictures = painter(prompts, range(count), [world.draw(edit.before) for edit in edits])
        seen = world.judge(pictures)
        right = [a == edit.after.shown for a, edit in zip(seen, edits, strict=True)]
        everything += right
        rows[f"edit {op}"] = _share(right)
        rows[f"edit {op}, done"] = _share([_done(a, edit) for a, edit in zip(seen, edits, strict=True)])
        rows[f"edit {op}, rest kept"] = _share([_kept(a, edit) for a, edit in zip(seen, edits, strict=True)])
    rows["edits, all"] = _share(everything)
    rng = random.Random(seed + 32)
    edits = [world.edit(rng, world.scene(rng, rng.choice((1, 2))), None) for _ in range(count)]
    prompts = [world.caption(rng, edit.after, "full") for edit in edits]
    pictures = painter(prompts, range(count), [world.draw(edit.before) for edit in edits])
    right = strict(world.judge, pictures, [edit.after for edit in edits])
    rows["edits, told by a description of the result"] = _share(right)
    return rows


def rows_of_chains(painter: Painter, world: World, count: int, seed: int, *, depth: int = 4) -> dict[str, float]:
    """Strict success after one, two, … edits, each of the picture the one before it left."""
    rows: dict[str, float] = {}
    for start in ("own picture", "drawing"):
        rng = random.Random(seed + 41)
        scenes = [world.scene(rng, 2) for _ in range(count)]
        if start == "drawing":
            pictures = [world.draw(scene) for scene in scenes]
        else:
            pictures = painter([world.caption(rng, scene, "full") for scene in scenes], range(count))
        for number in range(1, depth + 1):
            edits = [world.edit(rng, scene, None) for scene in scenes]
            prompts = [world.instruction(rng, edit) for edit in edits]
            pictures = painter(prompts, range(number * 1000, number * 1000 + count), pictures)
            scenes = [edit.after for edit in edits]
            rows[f"chain from {start}, edit {number}"] = _share(strict(world.judge, pictures, scenes))
    return rows


def evaluate(out: Path, file: Path, *, count: int = 240, chains: int = 240, seed: int = 770_000) -> dict[str, float]:
    """All rows of a pipeline's table, written to a file as they come.

    Args:
        out: Folder of the weights.
        file: Where the table goes, JSON.
        count: Prompts a row.
        chains: Chains of edits.
        seed: Of the prompts; none of them was drawn for training.
    """
    world = own_world(TrainedReader(out / "independent_reader.safetensors"))
    painter = Painter(out / PIPELINE)
    rng, rows = random.Random(seed), {}
    scenes = [random_scene(rng, rng.choice((1, 2, 3))) for _ in range(count)]
    through = [_round_trip(painter.pipeline, draw(scene)) for scene in scenes]
    rows["ceiling: drawings through the autoencoder"] = _share(strict(world.judge, through, scenes))
    for more in (rows_from_text, rows_of_edits):
        rows |= more(painter, world, count, seed)
        file.write_text(json.dumps(rows, indent=1))
    rows |= rows_of_chains(painter, world, chains, seed)
    plain = Painter(out / PIPELINE, length=None, guidance_scale=4.0)
    some = [random_scene(rng, 1 + i % 2) for i in range(40)]
    prompts = [caption(rng, scene) for scene in some]
    rows["1-2 things, pipeline's defaults but 4 steps (40)"] = _share(
        strict(world.judge, plain(prompts, range(40)), some)
    )
    rows["1-2 things, pipeline's defaults, 50 steps (40)"] = _share(
        strict(world.judge, plain(prompts, range(40), steps=50), some)
    )
    rows |= _seconds(painter, draw(some[0]), prompts[0])
    file.write_text(json.dumps(rows, indent=1))
    for name, value in rows.items():
        _log.info("%-60s %.3f", name, value)
    return rows


def _share(right: Sequence[bool]) -> float:
    return round(sum(right) / len(right), 4)


def _parts(seen: list[tuple[str, dict[int, tuple[str, str]]]], scenes: Sequence[Scene]) -> dict[str, float]:
    pairs = [(there, scene) for (_, there), scene in zip(seen, scenes, strict=True)]
    things = [(there.get(thing.cell, ("", "")), thing) for there, scene in pairs for thing in scene.things]
    return {
        "kinds": _share([kind == thing.kind for (kind, _), thing in things]),
        "colors": _share([color == thing.color for (_, color), thing in things]),
        "count": _share([len(there) == len(scene.things) for there, scene in pairs]),
        "background": _share([a == scene.background for (a, _), scene in zip(seen, scenes, strict=True)]),
    }


def _done(seen: tuple[str, dict[int, tuple[str, str]]], edit: Edit) -> bool:
    if edit.thing is None:
        return seen[0] == edit.after.background
    return seen[1].get(edit.thing.cell) == edit.after.shown[1].get(edit.thing.cell)


def _kept(seen: tuple[str, dict[int, tuple[str, str]]], edit: Edit) -> bool:
    same = {thing.cell: (thing.kind, thing.color) for thing in edit.before.things if thing in edit.after.things}
    ground = edit.op == "background" or seen[0] == edit.before.background
    return ground and all(seen[1].get(cell) == what for cell, what in same.items())


def _round_trip(pipeline: Any, picture: Image.Image) -> Image.Image:
    with torch.no_grad():
        given = pipeline.image_processor.preprocess(picture)
        latents = pipeline.vae.encode(given).latent_dist.mode()
        return pipeline.image_processor.postprocess(pipeline.vae.decode(latents).sample)[0]


def _seconds(painter: Painter, reference: Image.Image, prompt: str) -> dict[str, float]:
    rows: dict[str, float] = {}
    for name, references in (("from text", None), ("edit", [reference])):
        painter([prompt], [0], references)
        start = time.perf_counter()
        for seed in range(10):
            painter([prompt], [seed], references)
        rows[f"seconds a picture, {name}, {STEPS} steps"] = round((time.perf_counter() - start) / 10, 4)
    return rows
