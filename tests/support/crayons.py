"""The miniature's world drawn by code: the same planner, critic and arms, without any weights."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

from langgraph_interleave_miniature.changes import applied
from langgraph_interleave_miniature.critic import MiniatureCritic
from langgraph_interleave_miniature.drawing import draw
from langgraph_interleave_miniature.parsing import said
from langgraph_interleave_miniature.scenes import COLORS, Scene
from PIL import Image
from scene_reader import SceneReader

from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, OnProgress

Load = Callable[[str], ModuleType]


class Crayons:
    """Draws what a prompt says; by its seed a share of the pictures has a thing in a wrong color.

    Args:
        spoilt: 0-1; that share.
    """

    name = "crayons"
    fingerprint = "crayons/1"
    capabilities = Capabilities(edit="instruct", max_references=1, seed="exact", billed=False)

    def __init__(self, spoilt: float = 0.0) -> None:
        self.spoilt = spoilt
        self.asked: list[ImageRequest] = []

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        self.asked.append(request)
        words, rng = said(request.prompt), random.Random(f"{request.seed}/{request.prompt}")
        scene = words.scene or Scene("paper")
        if request.references and words.scene is None:
            with Image.open(io.BytesIO(request.references[0].data)) as picture:
                scene = applied(words, SceneReader()(picture.convert("RGB")).scene, rng).scene
        if scene.things and rng.random() < self.spoilt:
            thing = scene.things[0]
            wrong = replace(thing, color=rng.choice([color for color in COLORS if color != thing.color]))
            scene = replace(scene, things=(wrong, *scene.things[1:]))
        return ImageResult((picture_of(scene),))


def picture_of(scene: Scene) -> ImageBytes:
    """The drawing of a scene, things in the middle of their cells."""
    still = replace(scene, things=tuple(replace(thing, dx=0.0, dy=0.0, radius=9.0) for thing in scene.things))
    buffer = io.BytesIO()
    draw(still).save(buffer, "PNG")
    return ImageBytes(buffer.getvalue(), "image/png", 64, 64)


def studio_of(load: Load, spoilt: float = 0.0) -> Any:
    """A studio where crayons draw and comparing readers read."""
    reader = SceneReader()
    return load("worth.miniature.artist").Studio(Crayons(spoilt), MiniatureCritic(reader), reader)


def world_of(load: Load, spoilt: float = 0.0) -> Any:
    """The miniature's world with such a studio."""
    world, artist = load("worth.miniature.world"), load("worth.miniature.artist")
    studio = studio_of(load, spoilt)

    class Drawn(world.MiniatureWorld):
        def artist(self, setting: bool, *, seed: int, own: bool) -> Any:
            return artist.Artist(studio, helps=setting)

    return Drawn()
