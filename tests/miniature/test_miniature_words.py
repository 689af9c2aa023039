"""The grammar of the miniature's world: what its captions say is read back, and so is what people say."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("langgraph_interleave_miniature", reason="not installed: pip install -e ./miniature")

from langgraph_interleave_miniature.captions import caption, command, describe, instruction
from langgraph_interleave_miniature.changes import Impossible, applied, described, edit_between
from langgraph_interleave_miniature.parsing import said, scene_of
from langgraph_interleave_miniature.scenes import CELLS, KINDS, Scene, Thing, random_edit, random_scene
from langgraph_interleave_miniature.wanting import whole

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(0, CELLS))
def test_a_caption_is_read_back_as_its_scene(seed: int, count: int) -> None:
    rng = random.Random(seed)
    scene = random_scene(rng, count)
    plain = describe(scene)
    for words in (plain, caption(rng, scene), plain.upper(), f"{plain}."):
        read = scene_of(words)
        assert read is not None and read.shown == scene.shown, words
    read = scene_of(plain)
    assert read is not None and describe(read) == plain
    assert whole(scene).scene is not None and describe(whole(scene).scene or scene) == plain


@given(SEEDS)
def test_an_instruction_leads_to_the_scene_after(seed: int) -> None:
    rng = random.Random(seed)
    before = random_scene(rng)
    edit = random_edit(rng, before)
    for words in (command(edit), instruction(rng, edit)):
        understood = said(words)
        after = applied(understood, before, rng).scene
        if edit.op == "add" and not understood.things[-1].placed:
            continue  # its place was left open
        assert after.shown == edit.after.shown, words
    found = edit_between(before, edit.after)
    assert found is not None and command(found) == command(edit)
    assert edit_between(before, before) is None


@given(SEEDS, st.sampled_from(("some", "anywhere")))
def test_what_a_caption_leaves_out_is_left_open_and_chosen(seed: int, detail: str) -> None:
    rng = random.Random(seed)
    scene = random_scene(rng)
    words = said(caption(rng, scene, "some" if detail == "some" else "anywhere"))
    assert not words.unknown and not words.unshown
    assert {thing.kind for thing in words.things} == {thing.kind for thing in scene.things}
    for mention in words.things:
        thing = scene.named(mention.kind)
        assert thing is not None and mention.fits(thing.cell) and mention.color in (None, thing.color)
    chosen = described(words, rng)
    for mention in words.things:
        thing = chosen.scene.named(mention.kind)
        assert thing is not None and mention.fits(thing.cell)
    assert (scene_of(describe(chosen.scene)) or Scene("paper")).shown == chosen.scene.shown


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    words = said(text)
    assert all(thing.kind in (*KINDS, "it") for thing in words.things)


BALL_AND_BOX = Scene("paper", (Thing("ball", "red", 0), Thing("box", "blue", 4)))
BOTH = {0: ("ball", "red"), 4: ("box", "blue")}


@pytest.mark.parametrize(
    ("words", "after"),
    [
        ("the ball turns green", {0: ("ball", "green"), 4: ("box", "blue")}),
        ("change the ball's colour to green", {0: ("ball", "green"), 4: ("box", "blue")}),
        ("the ball is green now", {0: ("ball", "green"), 4: ("box", "blue")}),
        ("make it green", {0: ("ball", "red"), 4: ("box", "green")}),
        ("remove it", {0: ("ball", "red")}),
        ("the ball disappears", {4: ("box", "blue")}),
        ("move the ball to the bottom right", {5: ("ball", "red"), 4: ("box", "blue")}),
        ("a star appears, yellow, in the upper right corner", {**BOTH, 2: ("star", "yellow")}),
        ("a red ball top left and a purple fish top right on white paper", {0: ("ball", "red"), 2: ("fish", "purple")}),
    ],
)  # fmt: skip
def test_people_may_say_it_in_their_own_way(words: str, after: dict[int, tuple[str, str]]) -> None:
    assert applied(said(words), BALL_AND_BOX, random.Random(0)).scene.shown == ("paper", after)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("remove the car", "There is no car"),
        ("make the car red", "There is no car"),
        ("add a red ball", "one ball in a picture at most"),
        ("add a red car in the bottom middle", "no room for the red car"),
        ("make the car", "not said what becomes of the car"),
    ],
)
def test_what_cannot_be_is_said(words: str, why: str) -> None:
    with pytest.raises(Impossible, match=why):
        applied(said(words), BALL_AND_BOX, random.Random(0))


def test_words_of_no_meaning_here_are_told_apart() -> None:
    words = said("a big red ball next to a dog, and a shiny blue car on the left")
    assert words.unknown == ("dog",) and words.unshown == ("big", "shiny")
    assert [(thing.kind, thing.color, thing.column) for thing in words.things] == [
        ("ball", "red", None),
        ("car", "blue", 0),
    ]
    assert said("at the bottom right a red ball, on the left a blue car").things[0].cell == 5
    assert said("three red balls").unknown == ("balls", "red")
