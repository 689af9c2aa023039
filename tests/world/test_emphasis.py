"""How a prompt speaks of a thing; and how things are named."""

from __future__ import annotations

import pytest

from langgraph_interleave.world.alternatives import CELLS, alike, other_places, shown_color, shown_state
from langgraph_interleave.world.emphasis import Emphasis, Stake, emphasis, sentences
from langgraph_interleave.world.naming import capital, named, the
from langgraph_interleave.world.scene import Beside, Thing

CUP = Thing(id="cup", kind="cup", color="blue", count=2, state="full", size="large", at=Beside(relation="on", of="box"))
BREAD = Thing(id="bread", kind="bread")
CARD = Thing(id="card", kind="card", label="Zahnrad")


@pytest.mark.parametrize(
    ("prompt", "thing", "stake", "expected"),
    [
        ("Cups.", CUP, "presence", "plain"),
        ("There must be cups.", CUP, "presence", "emphasised"),
        ("A cupboard.", CUP, "presence", "none"),
        ("Exactly 2 cups.", CUP, "count", "emphasised"),
        ("two cups", CUP, "count", "plain"),
        ("Three cups.", CUP, "count", "none"),
        ("The cups are blue!", CUP, "color", "plain"),
        ("Correction: blue cups.", CUP, "color", "emphasised"),
        ("A blue box. Some cups.", CUP, "color", "none"),
        ("The cups stand on top of the box.", CUP, "place", "plain"),
        ("The cups must be full.", CUP, "state", "emphasised"),
        ("A huge cup.", CUP, "size", "plain"),
        ("Really one loaf of bread.", BREAD, "presence", "emphasised"),
        ("A card labelled Zahnrad.", CARD, "presence", "plain"),
        ("A ball at the top left.", Thing(id="b", kind="ball", at="upper left"), "place", "plain"),
        ("A ball in the centre.", Thing(id="b", kind="ball", at="middle"), "place", "plain"),
        ("Draw nothing else.", None, "nothing else", "emphasised"),
        ("Keep everything else as it is.", CUP, "sameness", "plain"),
        ("The cups must stay the same.", CUP, "sameness", "emphasised"),
        ("Keep the box as it was.", CUP, "sameness", "none"),
        ("Keep everything else as it is.", None, "sameness", "plain"),
        ("", CUP, "presence", "none"),
    ],
)
def test_emphasis(prompt: str, thing: Thing | None, stake: Stake, expected: Emphasis) -> None:
    assert emphasis(prompt, thing, stake) == expected


def test_sentences_of_any_script() -> None:
    assert sentences("One. Two!\nThree。四") == ("One.", "Two!", "Three。", "四")


def test_names() -> None:
    assert named(CUP) == "two blue cups"
    assert named(BREAD) == "a loaf of bread"
    assert the(CARD) == 'the card labelled "Zahnrad"'
    assert capital("") == ""


def test_what_a_thing_shows() -> None:
    assert shown_color(Thing(id="moon", kind="moon", color="red")) == "cream"
    assert shown_color(CUP) == "blue"
    assert shown_state(Thing(id="lamp", kind="lamp")) == "off"
    assert shown_state(BREAD) is not None
    assert shown_state(Thing(id="key", kind="key")) is None
    assert alike("green", "leaf")
    assert len(CELLS) == 9
    assert other_places(Beside(relation="on", of="x")) == [
        Beside(relation="left of", of="x"),
        Beside(relation="right of", of="x"),
    ]
