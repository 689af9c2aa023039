"""The check `unchanged`."""

from __future__ import annotations

import io
from random import Random

import pytest
from PIL import Image

from langgraph_interleave.checks.unchanged import Unchanged
from langgraph_interleave.registry import init_check
from langgraph_interleave.types import ImageBytes, Step
from langgraph_interleave.world.render import render
from langgraph_interleave.world.scene import Scene, Thing

EDIT = Step(index=1, op="edit", instruction="Add a bean.", prompt="add a bean", sources=("step:0",))
NEW = Step(index=1, op="generate", instruction="A bean.", prompt="a bean")
BALL = Thing(id="ball", kind="ball", color="red", at="left")
BEFORE = render(Scene(backdrop="table", things=(BALL,)), width=256, height=256, seed=1)


def again(
    image: ImageBytes, kind: str = "PNG", size: int | None = None, noise: int = 0, **options: object
) -> ImageBytes:
    opened = Image.open(io.BytesIO(image.data)).convert("RGB")
    if size is not None:
        opened = opened.resize((size, size))
    if noise:
        rng = Random(1)
        data = bytes(min(255, max(0, value + rng.randint(-noise, noise))) for value in opened.tobytes())
        opened = Image.frombytes("RGB", opened.size, data)
    out = io.BytesIO()
    opened.save(out, kind, **options)
    return ImageBytes(out.getvalue(), f"image/{kind.lower()}", opened.width, opened.height)


def test_it_comes_by_its_name() -> None:
    assert isinstance(init_check("unchanged"), Unchanged)


@pytest.mark.parametrize("after", [BEFORE, again(BEFORE)], ids=["same bytes", "same pixels"])
def test_an_edit_that_changed_nothing_fails(after: ImageBytes) -> None:
    found = Unchanged().check(EDIT, BEFORE, after, (BEFORE,))
    assert found.passed is False and "changed nothing" in found.reason


def test_grain_is_no_change() -> None:
    assert Unchanged().check(EDIT, BEFORE, again(BEFORE, noise=4), (BEFORE,)).passed is False
    assert Unchanged().check(EDIT, BEFORE, again(BEFORE, "JPEG", quality=85), (BEFORE,)).passed is False


@pytest.mark.parametrize(
    "thing",
    [
        BALL.model_copy(update={"color": "orange"}),
        BALL.model_copy(update={"size": "small"}),
        BALL.model_copy(update={"at": "middle"}),
        BALL.model_copy(update={"count": 2}),
    ],
)
def test_a_small_change_is_one(thing: Thing) -> None:
    after = render(Scene(backdrop="table", things=(thing,)), width=256, height=256, seed=1)
    assert Unchanged().check(EDIT, BEFORE, after, (BEFORE,)).passed is True


def test_only_edits_are_compared() -> None:
    assert Unchanged().check(NEW, BEFORE, BEFORE, (BEFORE,)).passed is None
    assert Unchanged().check(EDIT, None, BEFORE, ()).passed is None
    broken = ImageBytes(b"<html>", "image/png", 256, 256)
    assert Unchanged().check(EDIT, BEFORE, broken, (BEFORE,)).passed is None
    wide = render(Scene(backdrop="table", things=(BALL,)), width=256, height=128, seed=1)
    assert Unchanged().check(EDIT, BEFORE, wide, (BEFORE,)).passed is True


def test_the_picture_it_was_drawn_from_counts_as_well() -> None:
    """An edit drawn anew from the first picture of its chain must differ from that one too."""
    other = render(Scene(backdrop="table", things=(BALL.model_copy(update={"at": "right"}),)), width=256, height=256)
    assert Unchanged().check(EDIT, other, BEFORE, (BEFORE,)).passed is False
