"""Remarks about a picture: what is understood, what is not, and that nothing is taken for what it is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.world.grammar import describe
from langgraph_interleave.world.grammar.idioms import command_of
from langgraph_interleave.world.grammar.remark import by_day, carry_out
from langgraph_interleave.world.scene import Scene, Thing

BALL = Thing(id="ball", kind="ball", color="red", at="middle")
POT = Thing(id="flower_pot", kind="flower pot", state="with soil", at="left")
BIRD = Thing(id="bird", kind="bird")
SCENE = Scene(backdrop="meadow", things=(BALL, POT, BIRD))
THE_BALL = "a red ball in the middle"
BLUE_POT = "a blue flower pot with soil on the left"
THE_POT = "a flower pot with soil on the left"


@pytest.mark.parametrize(
    ("said", "shows"),
    [
        ("make it night-time", f"At night: {THE_BALL}; {THE_POT}; a bird."),
        ("darker, please", f"At night: {THE_BALL}; {THE_POT}; a bird."),
        ("It is too bright.", f"At night: {THE_BALL}; {THE_POT}; a bird."),
        ("Could you please make the pot blue?", f"On a meadow: {THE_BALL}; {BLUE_POT}; a bird."),
        ("the pot must be blue, not red", f"On a meadow: {THE_BALL}; {BLUE_POT}; a bird."),
        ("two birds, not one", f"On a meadow: {THE_BALL}; {THE_POT}; two birds."),
        ("There should be two birds", f"On a meadow: {THE_BALL}; {THE_POT}; two birds."),
        ("a blue ball", f"On a meadow: a blue ball in the middle; {THE_POT}; a bird."),
        ("the ball is far too small", f"On a meadow: a large red ball in the middle; {THE_POT}; a bird."),
        ("a smaller ball", f"On a meadow: a small red ball in the middle; {THE_POT}; a bird."),
        ("make the ball darker", f"On a meadow: a brown ball in the middle; {THE_POT}; a bird."),
        ("a cat instead of the ball", f"On a meadow: a cat in the middle; {THE_POT}; a bird."),
        ("the ball should be a cat", f"On a meadow: a cat in the middle; {THE_POT}; a bird."),
        ("the pot should not be there", f"On a meadow: {THE_BALL}; a bird."),
        ("I don't want a bird", f"On a meadow: {THE_BALL}; {THE_POT}."),
        ("show only the pot", f"On a meadow: {THE_POT}."),
        ("the background should be a beach", f"On a beach: {THE_BALL}; {THE_POT}; a bird."),
        ("it should be raining", f"On a meadow: {THE_BALL}; {THE_POT}; a bird; a raining cloud."),
        ("the bird should fly", f"On a meadow: {THE_BALL}; {THE_POT}; a flying bird."),
        ("the cat is missing", f"On a meadow: {THE_BALL}; {THE_POT}; a bird; a cat."),
        ("the ball and the pot are black",
         "On a meadow: a black ball in the middle; a black flower pot with soil on the left; a bird."),
        ("the ball is too small and the bird too big",
         f"On a meadow: a large red ball in the middle; {THE_POT}; a small bird."),
        ("I want the ball on the right and two birds", f"On a meadow: a red ball on the right; {THE_POT}; two birds."),
        ("two apples and a pear on the right",
         f"On a meadow: {THE_BALL}; {THE_POT}; a bird; two apples; a pear on the right."),
        ("Can the bird wear a hat?", f"On a meadow: {THE_BALL}; {THE_POT}; a bird; a hat on the bird."),
        ("mach den Topf blau", f"On a meadow: {THE_BALL}; {BLUE_POT}; a bird."),
        ("把球变成蓝色", f"On a meadow: a blue ball in the middle; {THE_POT}; a bird."),
    ],
)  # fmt: skip
def test_what_a_remark_asks_for_is_carried_out(said: str, shows: str) -> None:
    remark = carry_out(said, SCENE)
    assert (describe(remark.scene), remark.missed, remark.unknown) == (shows, (), ())
    assert remark.done


@pytest.mark.parametrize(
    "said",
    [
        "the light is wrong",
        "I do not like it",
        "a bit more contrast",
        "the ball should not be red",
        "make the dog brown",
        "the ball is too loud",
        "remove the frobnicator",
        "the colours are ugly",
        "add a hat on the dog",
        "brighter",
        "nice",
    ],
)
def test_what_is_not_understood_changes_nothing_and_is_named(said: str) -> None:
    remark = carry_out(said, SCENE)
    assert remark.scene == SCENE
    assert not remark.done
    assert remark.missed == (said,)


@pytest.mark.parametrize(
    "said", ["the ball must be red", "the ball is missing", "one bird", "there are too many birds"]
)
def test_what_is_so_already_is_understood(said: str) -> None:
    remark = carry_out(said, SCENE)
    assert (remark.scene, remark.missed, remark.kept) == (SCENE, (), False)
    assert remark.done == (said,)


def test_that_something_stays_is_no_change() -> None:
    remark = carry_out("keep the ball", SCENE)
    assert (remark.scene, remark.kept) == (SCENE, True)


def test_words_nobody_knows_are_told() -> None:
    glittering = carry_out("make the pot glittering blue", SCENE)
    assert glittering.scene.things[1].color == "blue"
    assert glittering.unknown == ("glittering",)
    card = carry_out("add a frobnicator", SCENE)
    assert card.scene.things[-1].label == "frobnicator"
    assert card.unknown == ("frobnicator",)


def test_several_remarks_are_carried_out_in_order_and_it_is_what_was_just_meant() -> None:
    remark = carry_out("Add a cat. Make it black. More soul! And the ball is blue.", SCENE)
    assert describe(remark.scene) == f"On a meadow: a blue ball in the middle; {THE_POT}; a bird; a black cat."
    assert remark.missed == ("More soul",)


def test_by_day_is_where_the_things_usually_are() -> None:
    moon = Thing(id="moon", kind="moon", at="upper right")
    assert by_day(Scene(backdrop="night", things=(BALL, moon))) == Scene(backdrop="meadow", things=(BALL,))


@given(st.text(max_size=120))
def test_no_text_raises(text: str) -> None:
    remark = carry_out(text, SCENE)
    assert describe(remark.scene)
    if not remark.done:
        assert remark.scene == SCENE
    command_of(text)


SAID = (
    "the a make add remove replace with not too two one ball pot bird cat should be is blue night darker "
    "it there missing instead of on only , . and : more bigger please don't but by day"
)
WORDS = st.sampled_from(SAID.split(" "))


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_no_sentence_raises_and_every_piece_is_accounted_for(text: str) -> None:
    remark = carry_out(text, SCENE)
    assert describe(remark.scene)
    assert remark.scene == SCENE or remark.done
