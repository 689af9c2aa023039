"""The vocabulary and the palette: complete, free of contradictions, and colours that can be told apart."""

from __future__ import annotations

from itertools import combinations

import pytest

from langgraph_interleave.world.drawing import drawings
from langgraph_interleave.world.palette import (
    COLOR_SYNONYMS,
    COLORS,
    MIN_DISTANCE,
    PAPER,
    TONES,
    distance,
    lab,
    lighter,
    rgb,
    tone,
)
from langgraph_interleave.world.vocabulary import BACKDROPS, CARD, KINDS


def test_there_is_enough_to_tell_a_story() -> None:
    assert len(KINDS) >= 200
    assert sum(max(1, len(kind.states)) for kind in KINDS.values()) >= 350
    assert len(BACKDROPS) >= 15
    assert len(COLORS) == 12


def test_every_kind_is_drawn_and_every_drawing_has_a_kind() -> None:
    assert set(drawings()) == set(KINDS) - {CARD.name}


def test_kinds_do_not_contradict_themselves() -> None:
    for name, kind in KINDS.items():
        assert kind.name == name
        assert kind.color in TONES
        assert kind.backdrop in BACKDROPS
        assert len(set(kind.states)) == len(kind.states)
        assert set(kind.state_words) <= set(kind.states)
        assert set(kind.extents) <= set(kind.states)
        assert set(kind.aim) <= set(kind.states)
        for width, height in (kind.extent(None), *kind.extents.values()):
            assert 0.04 <= width <= 0.7
            assert 0.04 <= height <= 0.7
        assert kind.opening is None or 0 < kind.opening < 1
        assert 0 <= kind.surface < 1
        assert all(0 <= share <= 1 for share in kind.aim.values())


def test_no_word_names_two_kinds() -> None:
    owner: dict[str, str] = {}
    for kind in KINDS.values():
        for word in {kind.name, kind.plural, *kind.synonyms}:
            assert owner.setdefault(word, kind.name) == kind.name


def test_no_word_names_two_states_of_a_kind() -> None:
    for kind in KINDS.values():
        words = [word for state in kind.states for word in (state, *kind.state_words.get(state, ()))]
        assert len(words) == len(set(words)), kind.name


@pytest.mark.parametrize(
    ("kind", "states"),
    [
        ("flower pot", {"empty", "with soil", "seeded", "sprouted", "leafy", "flowering"}),
        ("moon", {"new", "first quarter", "full", "waning crescent"}),
        ("cat", {"head circle", "ears", "face", "body", "finished"}),
        ("traffic light", {"red", "red and amber", "green", "amber"}),
        ("snowman", {"one ball", "two balls", "three balls", "finished"}),
        ("circuit", {"battery only", "open", "closed"}),
        ("shirt", {"flat", "one sleeve folded", "folded"}),
    ],
)
def test_what_the_procedures_need_is_there(kind: str, states: set[str]) -> None:
    assert states <= set(KINDS[kind].states)


def test_an_extent_is_the_states_or_the_kinds() -> None:
    pot = KINDS["flower pot"]
    assert pot.extent(None) == pot.extent("empty") == (0.34, 0.28)
    assert pot.extent("flowering")[1] > pot.extent("sprouted")[1] > 0.28


def test_colour_words_can_be_told_apart() -> None:
    for one, other in combinations(COLORS.values(), 2):
        assert distance(one.fill, other.fill) >= MIN_DISTANCE


def test_fill_stroke_and_shade_belong_together() -> None:
    for name, colors in TONES.items():
        light, dark = lab(colors.fill)[0], lab(colors.stroke)[0]
        assert dark < light - 10, name
        assert dark - 3 <= lab(colors.shade)[0] < light, name


def test_outlines_show_on_paper() -> None:
    for name in COLORS:
        assert distance(COLORS[name].stroke, PAPER) > 40, name


def test_colours_by_any_name() -> None:
    assert set(COLOR_SYNONYMS.values()) <= set(COLORS)
    assert not set(COLOR_SYNONYMS) & set(COLORS)
    assert tone("grey") == tone("gray") == tone("silver")
    with pytest.raises(KeyError):
        tone("octarine")


def test_lab_of_known_colours() -> None:
    # Published values of sRGB red and mid grey under D65.
    assert lab("#ff0000") == pytest.approx((53.24, 80.09, 67.20), abs=0.05)
    assert lab((128, 128, 128)) == pytest.approx((53.59, 0.0, 0.0), abs=0.05)
    assert rgb("#0a1b2c") == (10, 27, 44)
    assert lighter("#204060", 0.0) == "#204060"
    assert lighter("#204060", 1.0) == "#ffffff"
