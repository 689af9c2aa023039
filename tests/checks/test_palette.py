"""The check `palette`."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from langgraph_interleave.checks.palette import PaletteDrift, new_colors
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.registry import init_check
from langgraph_interleave.types import ImageBytes, Step
from langgraph_interleave.world.render import render
from langgraph_interleave.world.scene import Scene, Thing

EDIT = Step(index=1, op="edit", instruction="Add a cup.", prompt="add a cup", sources=("step:0",))
BALL = Thing(id="ball", kind="ball", color="red", at="left")
BEFORE = render(Scene(backdrop="table", things=(BALL,)), width=256, height=256, seed=1)
AFTER = render(
    Scene(backdrop="table", things=(BALL, Thing(id="cup", kind="cup", color="blue", at="right"))),
    width=256, height=256, seed=1,
)  # fmt: skip


def changed(image: ImageBytes, how: str) -> ImageBytes:
    opened = Image.open(io.BytesIO(image.data)).convert("RGB")
    red, green, blue = opened.split()
    if how == "warm cast":
        opened = Image.merge("RGB", (red, green.point(lambda v: v * 0.85), blue.point(lambda v: v * 0.6)))
    elif how == "darker":
        opened = opened.point(lambda v: v * 0.75)
    elif how == "jpeg":
        out = io.BytesIO()
        opened.save(out, "JPEG", quality=70)
        return ImageBytes(out.getvalue(), "image/jpeg", image.width, image.height)
    out = io.BytesIO()
    opened.save(out, "PNG")
    return ImageBytes(out.getvalue(), "image/png", image.width, image.height)


def test_it_comes_by_its_name() -> None:
    assert isinstance(init_check("palette"), PaletteDrift)


@pytest.mark.parametrize("after", [BEFORE, AFTER, changed(AFTER, "jpeg")], ids=["same", "a blue cup more", "jpeg"])
def test_a_thing_may_bring_colours_of_its_own(after: ImageBytes) -> None:
    assert PaletteDrift().check(EDIT, BEFORE, after, (BEFORE,)).passed is True


@pytest.mark.parametrize("how", ["warm cast", "darker"])
def test_a_cast_over_the_whole_picture_fails(how: str) -> None:
    found = PaletteDrift().check(EDIT, BEFORE, changed(AFTER, how), (BEFORE,))
    assert found.passed is False
    assert "the palette drifted" in found.reason and "#" in found.reason


def test_without_references_there_is_no_palette() -> None:
    assert PaletteDrift().check(EDIT, None, BEFORE, ()).passed is None
    broken = ImageBytes(b"<html>", "image/png", 8, 8)
    assert PaletteDrift().check(EDIT, BEFORE, broken, (BEFORE,)).passed is None


def test_colours_of_any_reference_are_known() -> None:
    cast = changed(AFTER, "warm cast")
    assert new_colors(cast, [BEFORE])[0] > 0.5
    assert new_colors(cast, [BEFORE, cast])[0] < 0.05
    assert PaletteDrift().check(EDIT, BEFORE, cast, (BEFORE, cast)).passed is True


def test_another_scene_has_colours_of_its_own() -> None:
    night = render(Scene(backdrop="night", things=(BALL,)), width=256, height=256, seed=1)
    meadow = render(Scene(backdrop="meadow", things=(BALL,)), width=256, height=256, seed=1)
    assert new_colors(night, [meadow])[0] > 0.5
    assert PaletteDrift().check(EDIT, meadow, night, (meadow,)).passed is None


def test_the_share_can_be_set() -> None:
    assert PaletteDrift(allowed=0).check(EDIT, BEFORE, AFTER, (BEFORE,)).passed is False
    with pytest.raises(ConfigError, match="no share"):
        PaletteDrift(allowed=2)
