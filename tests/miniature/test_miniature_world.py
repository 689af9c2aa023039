"""The miniature's world: scenes, edits, drawings and captions."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("langgraph_interleave_miniature", reason="not installed: pip install -e ./miniature")

from langgraph_interleave_miniature.captions import caption, command, describe, instruction
from langgraph_interleave_miniature.drawing import GROUNDS, PAINTS, SIDE, draw
from langgraph_interleave_miniature.scenes import (
    BACKGROUNDS,
    COLORS,
    KINDS,
    MOST,
    OPS,
    Scene,
    Thing,
    random_edit,
    random_scene,
)
from langgraph_interleave_miniature.words import BACKGROUND_WORDS, COLOR_WORDS, KIND_WORDS

seeds = st.integers(0, 2**32)


@given(seeds, st.integers(0, 6))
def test_a_random_scene_has_so_many_things_each_of_its_own_kind_and_cell(seed: int, count: int) -> None:
    scene = random_scene(random.Random(seed), count)
    assert len(scene.things) == count
    assert len({thing.kind for thing in scene.things}) == len({thing.cell for thing in scene.things}) == count
    assert set(scene.free) == set(range(6)) - {thing.cell for thing in scene.things}


@given(seeds)
def test_an_edit_changes_one_thing_or_the_background_and_can_be_taken_back(seed: int) -> None:
    rng = random.Random(seed)
    before = random_scene(rng)
    edit = random_edit(rng, before)
    assert edit.before is before
    assert edit.after != before
    assert len(edit.after.things) <= MOST
    changed = set(before.shown[1].items()) ^ set(edit.after.shown[1].items())
    assert len(changed) == {"background": 0, "add": 1, "remove": 1, "recolor": 2}[edit.op]
    assert (edit.after.background != before.background) == (edit.op == "background")
    assert edit.reversed.reversed == edit
    if edit.op != "background":
        assert edit.thing is not None


def test_every_op_can_be_asked_for() -> None:
    scene = Scene("paper", (Thing("ball", "red", 0),))
    assert [random_edit(random.Random(3), scene, op).op for op in OPS] == list(OPS)


def test_the_same_scene_gives_the_same_bytes() -> None:
    scene = random_scene(random.Random(5), 3)
    assert draw(scene).tobytes() == draw(scene).tobytes()
    assert draw(scene).size == (SIDE, SIDE)


@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_thing_is_seen_on_every_background(background: str, kind: str) -> None:
    """At least 40 pixels are exactly its color: what is drawn can be read back."""
    for color in COLORS:
        picture = draw(Scene(background, (Thing(kind, color, 4),)))
        assert sum(count for count, paint in picture.getcolors(4096) or [] if paint == PAINTS[color]) >= 40


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_an_empty_scene_is_sky_and_ground(background: str) -> None:
    picture = draw(Scene(background))
    assert (picture.getpixel((32, 3)), picture.getpixel((32, 60))) == GROUNDS[background]


@given(seeds)
def test_a_full_caption_says_every_kind_and_color_and_the_background(seed: int) -> None:
    rng = random.Random(seed)
    scene = random_scene(rng)
    for text in (caption(rng, scene, "full"), describe(scene)):
        for thing in scene.things:
            nouns = [f"{color} {kind}" for color in COLOR_WORDS[thing.color] for kind in KIND_WORDS[thing.kind]]
            assert any(noun in text for noun in nouns)
        assert any(words in text for words in BACKGROUND_WORDS[scene.background])


@given(seeds)
def test_anywhere_says_no_place(seed: int) -> None:
    rng = random.Random(seed)
    text = caption(rng, random_scene(rng), "anywhere")
    assert not any(word in text.split() for word in ("left", "right", "top", "bottom", "upper", "lower"))


@given(seeds)
def test_an_explicit_edit_says_the_new_color_and_where_to_add(seed: int) -> None:
    rng = random.Random(seed)
    edit = random_edit(rng, random_scene(rng))
    for text in (instruction(rng, edit, "full"), command(edit)):
        if edit.op == "background":
            assert any(words in text for words in BACKGROUND_WORDS[edit.after.background])
        else:
            assert edit.thing is not None
            assert any(kind in text for kind in KIND_WORDS[edit.thing.kind])
            assert any(color in text for color in COLOR_WORDS[edit.thing.color])
