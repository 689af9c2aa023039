"""Sheet: pictures to look at. The first seed of every prompt, nothing picked; and how training went, as a curve."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from langgraph_interleave_miniature.captions import caption, instruction
from langgraph_interleave_miniature.drawing import draw
from langgraph_interleave_miniature.reader import TrainedReader
from langgraph_interleave_miniature.scenes import OPS, random_edit, random_scene
from training.evaluation import Painter, own_world, strict
from training.export import PIPELINE

_TILE, _WIDE, _HIGH, _COLUMNS = 128, 276, 192, 6
_RIGHT, _WRONG, _PLAIN = (0, 110, 0), (190, 0, 0), (70, 70, 70)


class _Canvas:
    def __init__(self, rows: int) -> None:
        self.image = Image.new("RGB", (_COLUMNS * _WIDE, rows * _HIGH), "white")
        self._draw = ImageDraw.Draw(self.image)
        self._font = ImageFont.load_default(size=11)

    def tile(self, number: int, pictures: Sequence[Image.Image], text: str, *, right: bool | None) -> None:
        """One or two pictures with their prompt below, green if judged right, red if not."""
        x, y = number % _COLUMNS * _WIDE + 6, number // _COLUMNS * _HIGH + 4
        for place, picture in enumerate(pictures):
            large = picture.resize((_TILE, _TILE), Image.Resampling.NEAREST)
            self.image.paste(large, (x + place * (_TILE + 6), y))
        color = _PLAIN if right is None else _RIGHT if right else _WRONG
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if self._draw.textlength(longer, font=self._font) > _WIDE - 14:
                lines.append(word)
            else:
                lines[-1] = longer
        for place, line in enumerate(lines[:4]):
            self._draw.text((x, y + _TILE + 3 + 13 * place), line, fill=color, font=self._font)


def make_sheet(out: Path, file: Path, *, seed: int = 424_200) -> None:
    """Twelve pictures from text, twelve edits (before, after) and a chain of six edits.

    Args:
        out: Folder of the weights.
        file: Where the sheet goes, PNG.
        seed: Of the prompts.
    """
    painter, world = Painter(out / PIPELINE), own_world(TrainedReader(out / "independent_reader.safetensors"))
    rng = random.Random(seed)
    canvas = _Canvas(5)
    scenes = [random_scene(rng, count) for count in (1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3)]
    prompts = [caption(rng, scene) for scene in scenes]
    pictures = painter(prompts, range(12))
    for number, right in enumerate(strict(world.judge, pictures, scenes)):
        canvas.tile(number, [pictures[number]], prompts[number], right=right)
    for number in range(12):
        edit = random_edit(rng, random_scene(rng, 1 + number % 2), OPS[number // 3])
        before, text = draw(edit.before), instruction(rng, edit)
        after = painter([text], [number], [before])
        canvas.tile(12 + number, [before, after[0]], text, right=strict(world.judge, after, [edit.after])[0])
    scene = random_scene(rng, 2)
    picture = painter([caption(rng, scene)], [0])
    for number in range(6):
        edit = random_edit(rng, scene)
        text, scene = instruction(rng, edit), edit.after
        after = painter([text], [number], picture)
        canvas.tile(24 + number, [*picture, *after], text, right=strict(world.judge, after, [scene])[0])
        picture = after
    canvas.image.save(file, optimize=True)


def make_curve(work: Path, file: Path) -> None:
    """Draws loss and success over training: both stages' histories as one small picture."""
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
    for stage, keys in (("autoencoder", ("l1", "probe")), ("transformer", ("text_mse", "edit_mse", "meaning"))):
        history = json.loads((work / f"{stage}.json").read_text())
        for key in keys:
            points = [(row["seconds"] / 60, row[key]) for row in history if key in row]
            left.plot(*zip(*points, strict=True), label=f"{stage} {key}", linewidth=1)
        for key in ("right_1", "right_2", "right_edit") if stage == "transformer" else ():
            points = [(row["seconds"] / 60, row[key]) for row in history if key in row]
            right.plot(*zip(*points, strict=True), label=key, marker="o", markersize=3, linewidth=1)
    left.set(yscale="log", xlabel="minutes of the stage", ylabel="loss")
    right.set(ylim=(0, 1), xlabel="minutes of the transformer's stage", ylabel="right, by the probe (n=48)")
    for axes in (left, right):
        axes.legend(fontsize=6)
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file, dpi=90)
    plt.close(figure)
