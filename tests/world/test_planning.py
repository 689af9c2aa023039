"""What comes before the plan: wishes, items, series, stories and the number of steps."""

from __future__ import annotations

import pytest

from langgraph_interleave.world.grammar import describe, read
from langgraph_interleave.world.planning.choice import outline_for
from langgraph_interleave.world.planning.fitting import fit, merge, subdivide
from langgraph_interleave.world.planning.itemised import changes
from langgraph_interleave.world.planning.items import items_of, without_lead
from langgraph_interleave.world.planning.outline import Outline, Part, joined_titles
from langgraph_interleave.world.planning.series import series_outline, shared_backdrop
from langgraph_interleave.world.planning.story import plot_of, story_outline
from langgraph_interleave.world.planning.wishes import number_of, take_count, tidy, wishes_of


def outlined(text: str) -> Outline:
    return outline_for(text, steps=None, most=30, language=None, images=0)


def scenes(outline: Outline) -> list[str]:
    return [describe(part.scene) for part in outline.parts if part.scene is not None]


@pytest.mark.parametrize(
    ("text", "subject", "count"),
    [
        ("How to plant a bean, in 5 steps", "How to plant a bean", 5),
        ("How to plant a bean in five easy steps", "How to plant a bean", 5),
        ("a story about a cat, in 6 pictures", "a story about a cat", 6),
        ("A 4-panel comic about a robot", "A comic about a robot", 4),
        ("five steps to bake a cake", "to bake a cake", 5),
        ("Show twenty-five pictures of numbers", "Show pictures of numbers", 25),
        ("four stages of a butterfly", "stages of a butterfly", 4),
        ("如何种一颗豆子，分5步", "如何种一颗豆子", 5),
        ("用四张图展示怎样泡茶", "展示怎样泡茶", 4),
        ("怎样泡茶，十二步", "怎样泡茶", 12),
        ("Wie kocht man Tee in vier Schritten?", "Wie kocht man Tee?", 4),
        ("Cómo hacer té en 3 pasos", "Cómo hacer té", 3),
        ("Comment faire du thé en 3 étapes", "Comment faire du thé", 3),
        ("two red balls and a cat", "two red balls and a cat", None),
        ("a red car and a blue car, one picture each", "a red car and a blue car, one picture each", None),
        ("Draw three apples", "Draw three apples", None),
    ],
)
def test_the_number_of_steps_is_taken_out(text: str, subject: str, count: int | None) -> None:
    wishes = wishes_of(text)
    assert (wishes.subject, wishes.count) == (subject, count)


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("How to make tea, and first list what I need", "needs"),
        ("How to make tea with a list of ingredients", "needs"),
        ("怎样泡茶，先列出材料", "needs"),
        ("What do I need to bake a cake? Then show how to bake it.", "needs"),
        ("How to make tea. End with a tip.", "tip"),
        ("How to make tea, with an introduction", "intro"),
        ("Just explain how to make tea", "words_only"),
        ("How to make tea in words only", "words_only"),
        ("怎样泡茶，只用文字", "words_only"),
    ],
)
def test_other_wishes_are_found_and_leave_the_subject(text: str, wish: str) -> None:
    wishes = wishes_of(text)
    assert getattr(wishes, wish) is True
    others = {"needs", "tip", "intro", "words_only"} - {wish}
    assert not any(getattr(wishes, other) for other in others)
    assert "tea" in wishes.subject or "泡茶" in wishes.subject or "cake" in wishes.subject


def test_a_language_may_be_wished_for() -> None:
    wishes = wishes_of("How to make tea, in 3 steps, in German")
    assert (wishes.subject, wishes.count, wishes.language, wishes.spoken) == ("How to make tea", 3, "en", "de")


@pytest.mark.parametrize(
    ("word", "number"),
    [("7", 7), ("seven", 7), ("twenty-one", 21), ("十", 10), ("二十三", 23), ("两", 2), ("zwölf", 12), ("0", None),
     ("x", None)],
)  # fmt: skip
def test_numbers_are_read(word: str, number: int | None) -> None:
    assert number_of(word) == number


def test_what_is_taken_out_leaves_no_hole() -> None:
    assert take_count("Show it in 3 steps, please") == ("Show it , please", 3)
    assert tidy("Show it , please ( ), ") == "Show it, please"


@pytest.mark.parametrize(
    ("text", "form", "texts"),
    [
        ("Show a red ball, then two red balls", "sequence", ["a red ball", "two red balls"]),
        ("First a cat appears. Then a dog comes. Finally they sleep.", "sequence",
         ["a cat appears", "a dog comes", "they sleep"]),
        ("First, boil water. Second, add tea. Third, wait.", "sequence", ["boil water", "add tea", "wait"]),
        ("1. Take a box 2. Open it 3. Close it", "numbered", ["Take a box", "Open it", "Close it"]),
        ("Do this:\n1) Take a box\n2) Open it\n\nThanks!", "numbered", ["Take a box", "Open it"]),
        ("Step 1: a box. Step 2: a ball.", "numbered", ["a box.", "a ball."]),
        ("- a cat\n- a dog", "numbered", ["a cat", "a dog"]),
        ("第一步：放盒子 第二步：放球", "numbered", ["放盒子", "放球"]),
        ("首先放一个盒子，然后放一个球", "sequence", ["放一个盒子", "放一个球"]),
        ("a seed → a sprout → a plant", "sequence", ["a seed", "a sprout", "a plant"]),
        ("one apple, two apples, three apples", "sequence", ["one apple", "two apples", "three apples"]),
        ("Show these: a cat, a dog and a fish", "listed", ["a cat", "a dog", "a fish"]),
        ("a red car, a blue car and a green car, one picture each", "listed",
         ["a red car", "a blue car", "a green car"]),
    ],
)  # fmt: skip
def test_listed_steps_are_found(text: str, form: str, texts: list[str]) -> None:
    items = items_of(text)
    assert items is not None
    assert (items.form, list(items.texts)) == (form, texts)


@pytest.mark.parametrize(
    "text",
    ["How to plant a bean", "a cat and a dog", "a ball next to a box", "the first 25 numbers",
     "What happens after rain", "", "3.5 apples"],
)  # fmt: skip
def test_a_request_without_a_list_has_no_items(text: str) -> None:
    assert items_of(text) is None


def test_the_words_before_the_subject_fall_away() -> None:
    assert without_lead("Please show me a cat") == "a cat"
    assert without_lead("Draw three pictures of a cat") == "a cat"
    assert without_lead("tutorial: paint a sunset") == "a sunset"
    assert without_lead("make a sandwich") == "make a sandwich"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("open the box", True), ("an open box", False), ("two red balls", False), ("the cat falls asleep", True),
     ("wait two days", True), ("put it on the table", True), ("a cat on a chair", False), ("", False)],
)  # fmt: skip
def test_commands_and_statements_change_what_is_there(text: str, expected: bool) -> None:
    assert changes(text, "en") is expected


@pytest.mark.parametrize(
    ("subject", "count", "length", "first"),
    [
        ("the first 25 numbers", None, 25, '"1"'), ("numbers from 3 to 6", None, 4, '"3"'),
        ("count to five", None, 5, '"1"'), ("the days of the week", None, 7, '"Monday"'),
        ("the months of the year", None, 12, '"January"'), ("the planets", None, 8, '"Mercury"'),
        ("the alphabet", None, 26, '"A"'), ("colours of the rainbow", None, 6, "a large red circle"),
        ("four fruits", None, 4, "a large apple"), ("animals", 2, 2, "a large cat"), ("从1数到5", None, 5, '"1"'),
    ],
)  # fmt: skip
def test_series_are_known(subject: str, count: int | None, length: int, first: str) -> None:
    outline = series_outline(subject, "en", count)
    assert outline is not None
    assert len(outline.parts) == length
    scene = outline.parts[0].scene
    assert scene is not None
    assert first in describe(scene)


@pytest.mark.parametrize("subject", ["how animals live", "a story about animals", "a cat", "numbers", "", "z" * 3000])
def test_what_is_no_series_is_none(subject: str) -> None:
    assert series_outline(subject, "en", None) is None


def test_more_of_a_sort_than_can_be_drawn_is_told() -> None:
    outline = series_outline("nine insects", "en", None)
    assert outline is not None
    assert [warning.code for warning in outline.warnings] == ["step_count"]


def test_pictures_that_go_together_share_a_place() -> None:
    assert shared_backdrop(["cat", "dog", "fish", "rabbit"]) == "meadow"
    assert shared_backdrop(["cube", "circle"]) == "paper"


def test_a_plot_is_read_out_of_a_sentence() -> None:
    plot = plot_of("a little girl and her dog who find a treasure map and build a boat")
    assert [hero.kind for hero in plot.heroes] == ["child", "dog"]
    assert plot.find is not None
    assert plot.deed == "found a treasure map and built a boat"
    assert story_outline("a house", "en", None) is None


@pytest.mark.parametrize("number", range(1, 9))
def test_a_story_has_the_length_asked_for(number: int) -> None:
    outline = story_outline("a story about a cat and a dog who find a boat", "en", number)
    assert outline is not None
    assert len(outline.parts) == number
    captions = [part.caption for part in outline.parts]
    assert captions[0].startswith("Once upon a time")
    assert len(set(captions)) == number


def parts(*texts: str) -> tuple[Part, ...]:
    return tuple(Part(caption=f"{text}.", scene=read(text).scene, title=text.capitalize()) for text in texts)


def test_neighbours_that_differ_least_are_merged_first() -> None:
    told = parts("a cat", "a cat and a dog", "a cat, a dog and a bird", "a red house at night")
    outline = Outline("x", told)
    merged = merge(told, 2, outline)
    assert [part.caption for part in merged] == [
        "a cat. a cat and a dog.",
        "a cat, a dog and a bird. a red house at night.",
    ]
    assert merged[0].scene == told[1].scene
    assert merged[1].scene == told[3].scene


def test_words_are_not_merged_with_pictures() -> None:
    told = (Part(caption="Words."), *parts("a cat", "a dog"))
    merged = merge(told, 1, Outline("x", told))
    assert [part.scene is None for part in merged] == [True, False]
    fitted = fit(Outline("x", told), 1, most=30)
    assert [warning.code for warning in fitted.warnings] == ["step_count"]


def test_a_step_that_adds_several_things_is_divided() -> None:
    told = parts("a house", "a house, a tree and a sun")
    divided = subdivide(told, 3, Outline("x", told))
    assert [part.caption for part in divided] == ["a house.", "Add a tree.", "a house, a tree and a sun."]
    assert subdivide(told, 9, Outline("x", told)) == divided
    assert subdivide(told, 3, Outline("x", told, language="zh")) == told


def test_titles_are_joined_as_one_says_it() -> None:
    assert joined_titles(["Boil the water", "Pour"], "en") == "Boil the water and pour"
    assert joined_titles(["A sheet of paper", "Fold it"], "en") == "A sheet of paper; fold it"
    assert joined_titles(["Gießen", "Warten"], "de") == "Gießen und Warten"
    assert joined_titles(["装土", "播种"], "zh") == "装土、播种"
    assert joined_titles(["One", "Two", "Three"], "en") == "One … Three"
    assert joined_titles([None, "Two"], "en") == "Two"
    assert joined_titles([None], "en") is None


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("Explain photosynthesis in words only, then show a plant in the sun, then a plant at night", [1, 2]),
        ("Show a cat, then in words only say why it purrs, then a dog", [0, 2]),
        ("Show a cat, then a dog, then explain why dogs bark, in words only", [0, 1]),
        ("Show these: a cat, a dog (text only) and a fish", [0, 2]),
        ("先用文字解释光合作用，然后画一棵植物", [1]),
        ("First boil water, then pour it into a cup, in words only", []),
        ("In words only: first boil water, then pour it into a cup", []),
        ("1. a cat 2. a dog. All in words only", []),
    ],
)
def test_words_only_belongs_to_the_item_it_is_said_of(text: str, drawn: list[int]) -> None:
    outline = outlined(text)
    assert [index for index, part in enumerate(outline.parts) if part.scene is not None] == drawn


def test_what_is_explained_in_words_comes_from_the_book() -> None:
    outline = outlined("Explain photosynthesis in words only, then show a plant in the sun, then a plant at night")
    assert outline.parts[0].title == "Photosynthesis"
    assert "carbon dioxide" in outline.parts[0].caption
    assert [part.caption for part in outline.parts[1:]] == ["A plant in the sun.", "A plant at night."]
    assert scenes(outline) == ["On a meadow: a plant; a sun.", "At night: a plant."]


def test_a_thing_named_again_is_as_it_was() -> None:
    assert scenes(outlined(
        "1. A closed box on a table. 2. The box is open. 3. A blue ball comes out of the box. "
        "4. Two blue balls beside the box."
    )) == [
        "On a wooden table: a closed box.",
        "On a wooden table: an open box.",
        "On a wooden table: an open box; a blue ball above the box.",
        "On a wooden table: an open box; two blue balls to the right of the box.",
    ]  # fmt: skip
    outline = outlined("1. A small red box on the left. 2. A cat beside the box. 3. The box and a dog.")
    assert scenes(outline) == [
        "On a wooden table: a small red box on the left.",
        "On a wooden table: a small red box on the left; a cat to the right of the box.",
        "On a wooden table: a small red box on the left; a dog.",
    ]
    assert {part.scene.things[0].id for part in outline.parts if part.scene is not None} == {"box"}


def test_what_stands_on_a_thing_brings_it_along_and_a_pronoun_means_it() -> None:
    assert scenes(outlined("First a red ball on a box, then the ball and a cat, then the ball in a bowl")) == [
        "On a wooden table: a box; a red ball on the box.",
        "On a wooden table: a box; a red ball on the box; a cat.",
        "On a wooden table: a bowl; a red ball in the bowl.",
    ]
    assert scenes(outlined("First an open umbrella, then a closed umbrella, then a frog under it"))[1:] == [
        "On a street: a closed umbrella.",
        "On a street: a closed umbrella; a frog below the umbrella.",
    ]


def test_things_are_counted_and_shown() -> None:
    outline = outlined("Count from 1 to 25 with apples, one picture each, in 25 steps")
    assert len(outline.parts) == 25
    assert [part.caption for part in outline.parts][6:11:4] == ["Seven apples.", "Eleven apples."]
    assert outline.parts[20].caption == "Twenty-one apples."
    counts = [part.scene.things[0].count for part in outline.parts[:9] if part.scene is not None]
    assert counts == list(range(1, 10))
    assert scenes(outline)[9] == (
        'On a wooden table: a large card labelled "10" in the middle; an apple in the lower right corner.'
    )
    assert scenes(outlined("Count from one to five with stars"))[-1] == "At night: five stars in the middle."
    assert [part.caption for part in outlined("Count apples from 3 to 1").parts] == [
        "Three apples.", "Two apples.", "One apple.",
    ]  # fmt: skip


def test_a_product_guide_tells_each_deed() -> None:
    outline = outlined("unbox, assemble and use a lamp, in 4 steps")
    assert [part.title for part in outline.parts] == ["The box", "Unbox the lamp", "Assemble the lamp", "Use the lamp"]
    assert scenes(outline)[1::2] == [
        "On a wooden table: an open box on the left; a lamp switched off on the right.",
        "On a wooden table: a lit lamp in the middle; a pointing hand on the left.",
    ]
    assert outline.warnings == ()
    other = outlined("Show how to unpack, set up, clean and store the coffee machine")
    assert [part.title for part in other.parts] == [
        f"{deed} the coffee machine" for deed in ("Unpack", "Set up", "Clean", "Store")
    ]  # fmt: skip
    assert other.unknown == ("coffee machine",)


def test_the_ingredients_first_and_then_the_pictures() -> None:
    outline = outlined("A recipe for pancakes: list the ingredients in words first, then 4 pictures")
    assert [part.scene is None for part in outline.parts] == [True, False, False, False, False]
    assert outline.title == "How to make pancakes"
    assert "flour" in outline.parts[0].caption


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Show three animals side by side, then each alone", ["cat", "dog", "rabbit"]),
        ("a cow and a pig together, then each of them by itself", ["cow", "pig"]),
    ],
)
def test_several_together_then_each_alone(text: str, kinds: list[str]) -> None:
    shown = [[thing.kind for thing in part.scene.things] for part in outlined(text).parts if part.scene is not None]
    assert shown == [kinds, *([kind] for kind in kinds)]
