"""The book of procedures: every page is right, drawable, and found by what people call it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from langgraph_interleave.errors import InternalError
from langgraph_interleave.world.grammar import describe, difference, read
from langgraph_interleave.world.procedures import Procedure, book, find, fingerprint
from langgraph_interleave.world.procedures.book import _pages, _procedure
from langgraph_interleave.world.procedures.procedure import Words
from langgraph_interleave.world.scene import Beside

BOOK = book()


@pytest.fixture(params=BOOK, ids=[procedure.key for procedure in BOOK])
def procedure(request: pytest.FixtureRequest) -> Procedure:
    return request.param


def test_the_book_has_what_was_promised() -> None:
    assert len(BOOK) >= 18
    keys = {procedure.key for procedure in BOOK}
    assert {
        "plant_a_bean", "draw_a_cat", "traffic_light", "make_tea", "phases_of_the_moon", "build_a_snowman",
        "simple_circuit", "boil_an_egg", "wrap_a_gift", "assemble_a_chair", "brush_teeth", "four_seasons", "butterfly",
        "paper_plane", "water_cycle", "pack_a_picnic", "light_a_campfire", "bake_a_cake", "treat_a_cut",
        "change_a_light_bulb", "send_a_letter",
    } <= keys  # fmt: skip


def test_scenes_are_written_in_canonical_form_without_unknown_words() -> None:
    for key, text in _pages().items():
        for scene in re.findall(r'^scene = "(.*)"$', text, re.MULTILINE):
            words = scene.replace('\\"', '"')
            reading = read(words, language="en")
            assert describe(reading.scene) == words, key
            assert reading.unknown == (), key


def test_a_procedure_has_four_to_nine_steps(procedure: Procedure) -> None:
    assert 3 <= len(procedure.usual) <= 8
    assert 4 <= len(procedure.steps) <= 9


def test_captions_are_sentences_in_three_languages(procedure: Procedure) -> None:
    for step in procedure.steps:
        for words in (step.title, step.caption):
            for language in ("en", "de", "zh"):
                assert words.has(language), (procedure.key, words.en)
                said = words.in_language(language)
                assert said == said.strip()
                assert said
        assert step.caption.en[-1] in ".!?"
        assert step.caption.in_language("de")[-1] in ".!?"
        assert step.caption.in_language("zh")[-1] in "。！？"
        assert re.search("[\u4e00-\u9fff]", step.caption.in_language("zh"))
        assert not step.title.en.endswith(".")
        assert len(step.caption.en) <= 130
    captions = [step.caption.en for step in procedure.steps]
    assert len(set(captions)) == len(captions)


def test_pictures_of_a_procedure_differ(procedure: Procedure) -> None:
    for before, after in zip(procedure.steps, procedure.steps[1:], strict=False):
        assert difference(before.scene, after.scene), (procedure.key, after.title.en)


def test_what_stays_keeps_its_id(procedure: Procedure) -> None:
    # A thing of which there is one is called the same in every scene.
    kinds: dict[str, set[str]] = {}
    several = {
        kind
        for step in procedure.steps
        for kind, count in Counter(thing.kind for thing in step.scene.things).items()
        if count > 1
    }
    for step in procedure.steps:
        for thing in step.scene.things:
            kinds.setdefault(thing.kind, set()).add(thing.id)
            if isinstance(thing.at, Beside):
                assert thing.at.of in {other.id for other in step.scene.things}
    for kind, ids in kinds.items():
        assert len(ids) == 1 or kind in several, (procedure.key, kind, ids)


def test_a_procedure_is_found_by_its_titles_and_names(procedure: Procedure) -> None:
    for language, names in procedure.names.items():
        for name in names:
            assert name == name.lower() or language == "zh"
            hit = find(name, language)
            assert hit is not None, name
            assert hit.procedure.key == procedure.key, (name, hit.procedure.key)
    for language in ("en", "de", "zh"):
        hit = find(procedure.title.in_language(language), language)
        assert hit is not None
        assert hit.procedure.key == procedure.key


@pytest.mark.parametrize(
    ("request_", "key"),
    [
        ("How to plant a bean", "plant_a_bean"), ("show me how to plant beans in a pot", "plant_a_bean"),
        ("Growing a bean from a seed", "plant_a_bean"), ("brew some green tea", "make_tea"),
        ("the cycle of a traffic light on a street", "traffic_light"),
        ("How do I build a snowmann?", "build_a_snowman"),
        ("assemble an IKEA chair", "assemble_a_chair"), ("How does a caterpillar become a butterfly?", "butterfly"),
        ("Explain the water cycle to kids", "water_cycle"), ("change a lightbulb", "change_a_light_bulb"),
        ("how to cook an egg", "boil_an_egg"), ("a recipe for pancakes", "make_pancakes"),
        ("Wie pflanzt man eine Bohne?", "plant_a_bean"), ("Wie kocht man Tee?", "make_tea"),
        ("¿Cómo hacer un avión de papel?", "paper_plane"), ("Comment planter un haricot ?", "plant_a_bean"),
    ],
)  # fmt: skip
def test_requests_find_their_page(request_: str, key: str) -> None:
    hit = find(request_)
    assert hit is not None
    assert hit.procedure.key == key


@pytest.mark.parametrize(
    ("request_", "key"),
    [
        ("如何种一颗豆子", "plant_a_bean"),
        ("怎样泡茶", "make_tea"),
        ("画一只可爱的猫", "draw_a_cat"),
        ("月相", "phases_of_the_moon"),
    ],
)
def test_chinese_requests_find_their_page(request_: str, key: str) -> None:
    hit = find(request_, "zh")
    assert hit is not None
    assert hit.procedure.key == key


@pytest.mark.parametrize(
    "request_",
    ["calibrate a frobnicator", "wash a car", "how to fry an egg", "draw a dog", "chromatography", "", "how to",
     "bake bread", "light a candle", "wash the dishes"],
)  # fmt: skip
def test_what_is_not_in_the_book_is_not_found(request_: str) -> None:
    assert find(request_) is None
    assert find(request_, "zh") is None


def test_words_fall_back_to_english() -> None:
    words = Words("tea", de="Tee")
    assert (words.in_language("de"), words.in_language("zh"), words.in_language("fr")) == ("Tee", "tea", "tea")
    assert (words.has("en"), words.has("de"), words.has("zh")) == (True, True, False)


def test_a_damaged_page_is_named() -> None:
    with pytest.raises(InternalError, match="torn"):
        _procedure("torn", "[title]\nen = 'x'\n")


def test_the_fingerprint_is_short_and_stable() -> None:
    assert re.fullmatch("[0-9a-f]{12}", fingerprint())
    assert fingerprint() == fingerprint()


def test_what_is_poured_is_poured_from_above() -> None:
    """Beside the cup the water would land on the table."""
    pouring = [
        (procedure.key, thing.at)
        for procedure in book()
        for step in procedure.steps
        for thing in step.scene.things
        if thing.kind == "kettle" and thing.state == "pouring"
    ]
    assert pouring == [("make_tea", Beside(relation="above", of="cup"))]
