"""The check `text`."""

from __future__ import annotations

import pytest

from langgraph_interleave.checks.text import TextPresent, asked_for, can_be_read
from langgraph_interleave.registry import init_check
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import Step

CARD = noise_card("a card")


def step(instruction: str) -> Step:
    return Step(index=0, op="generate", instruction=instruction, prompt="p")


@pytest.mark.parametrize(
    ("instruction", "words"),
    [
        ('A sign reads "Open".', ("Open",)),
        ("A poster with the title “Bean soup” and the text „Guten Appetit“.", ("Bean soup", "Guten Appetit")),
        ("A jar labelled «Sel de mer».", ("Sel de mer",)),
        ('A street in the manner of "The Starry Night".', ()),
        ('He said, "come in", and the door opened.', ()),
        ('A button marked "OK" and a sign that says "OK".', ("OK",)),
        ('A caption "  two   lines  ".', ("two lines",)),
        ('A label "...".', ()),
        ('A cat named "Tom" and a ball called "ball_2".', ()),
        ("No words at all.", ()),
        ("It's the cook's pot.", ()),
    ],
)
def test_what_is_to_be_read(instruction: str, words: tuple[str, ...]) -> None:
    assert asked_for(instruction) == words


@pytest.mark.parametrize(
    ("words", "read", "found"),
    [
        ("Open", "we are OPEN today", True),
        ("Open", "0PEN", True),
        ("Open", "Oven", False),
        ("Open", "", False),
        ("Bean soup", "BEAN\nSOUP", True),
        ("Bean soup", "soup of the day", False),
        ("Day 1: sow the bean", "Dav 1 sow the beam", True),
        ("coffee", "cof fee", True),
        ("日本語", "日本語", True),
    ],
)
def test_words_are_found_up_to_letters_misread(words: str, read: str, found: bool) -> None:
    assert can_be_read(words, read) is found


def test_without_a_reader_nothing_is_claimed() -> None:
    check = init_check("text")
    assert isinstance(check, TextPresent)
    assert check.check(step('A sign reads "Open".'), None, CARD, ()).passed is None
    read = TextPresent(reader=lambda picture: "anything")
    assert read.check(step("A pot."), None, CARD, ()).passed is None


def test_words_that_are_missing_are_named() -> None:
    check = TextPresent(reader=lambda picture: "OPEN  daily")
    assert check.check(step('A sign reads "Open".'), None, CARD, ()).passed is True
    found = check.check(step('A sign reads "Closed", the mat says "Welcome".'), None, CARD, ())
    assert found.passed is False
    assert (
        found.reason == "the words “Closed”, “Welcome” cannot be read in the picture; what can be read is “OPEN daily”"
    )
    blind = TextPresent(reader=lambda picture: " ").check(step('A sign reads "Open".'), None, CARD, ())
    assert blind.reason.endswith("nothing can be read in it")
