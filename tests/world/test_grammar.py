"""The grammar of scenes: text to scene and back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.world.grammar import (
    change_in_words,
    describe,
    difference,
    instruction,
    prompt,
    read,
    revise,
    target,
)
from langgraph_interleave.world.grammar.languages import BACKDROPS as FOREIGN_BACKDROPS
from langgraph_interleave.world.grammar.languages import COLORS as FOREIGN_COLORS
from langgraph_interleave.world.grammar.languages import NOUNS, color_forms, language_of, names
from langgraph_interleave.world.grammar.phrases import BACKDROPS as SAID_BACKDROPS
from langgraph_interleave.world.grammar.phrases import CELLS, RELATIONS, STATES
from langgraph_interleave.world.grammar.phrases import NOUNS as SAID
from langgraph_interleave.world.grammar.prose import canonical_id
from langgraph_interleave.world.palette import COLORS
from langgraph_interleave.world.scene import Beside, Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

LABELS = st.text(min_size=1, max_size=12).filter(lambda text: text.strip() != "")


@st.composite
def scenes(draw: st.DrawFn, most: int = 5) -> Scene:
    number = draw(st.integers(0, most))
    names: list[str] = []
    drafts: list[Thing] = []
    for _ in range(number):
        kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
        thing = Thing(
            id="?",
            kind=kind.name,
            color=draw(st.none() | st.sampled_from(sorted(COLORS))),
            size=draw(st.sampled_from(("small", "medium", "large"))),
            count=draw(st.integers(1, 9)),
            state=draw(st.sampled_from((None, *kind.states))),
            label=draw(LABELS) if kind.name == "card" else draw(st.none() | LABELS) if kind.name == "sign" else None,
        )
        own = draw(st.booleans()) and draw(st.booleans())
        name = draw(LABELS.filter(lambda text: text not in names)) if own else canonical_id(thing, names)
        names.append(name)
        drafts.append(thing.model_copy(update={"id": name}))
    photo = draw(st.booleans()) and "photo" not in names
    things: list[Thing] = []
    for thing in drafts:
        anchors = [name for name in names if name != thing.id] + (["photo"] if photo else [])
        choice = st.none() | st.sampled_from(sorted(CELLS))
        if anchors:
            choice = choice | st.builds(
                Beside, relation=st.sampled_from(sorted(RELATIONS)), of=st.sampled_from(anchors)
            )
        things.append(thing.model_copy(update={"at": draw(choice)}))
    return Scene(
        backdrop=draw(st.sampled_from(sorted(BACKDROPS))),
        things=tuple(things),
        caption=draw(st.none() | LABELS),
        photo=photo,
    )


@given(scenes())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_described_is_read_back(scene: Scene) -> None:
    assert read(describe(scene)).scene == scene


@pytest.mark.parametrize("order", [1, -1])
def test_in_the_sun_is_the_sun_that_is_named(order: int) -> None:
    sun = Thing(id="sun", kind="sun", size="small")
    plane = Thing(id="airplane", kind="airplane", at=Beside(relation="in", of="sun"))
    scene = Scene(backdrop="bathroom", things=(sun, plane)[::order])
    assert read(describe(scene)).scene == scene
    assert [thing.kind for thing in read("a plant in the sun").scene.things] == ["plant", "sun"]


@pytest.mark.parametrize("photo", [False, True])
def test_in_a_list_the_mountains_are_the_things_that_are_named(photo: bool) -> None:
    mountains = Thing(id="mountain", kind="mountain", count=2)
    plane = Thing(id="airplane", kind="airplane", at=Beside(relation="in", of="mountain"))
    scene = Scene(backdrop="bathroom", things=(plane, mountains), photo=photo)
    assert read(describe(scene)).scene == scene


@pytest.mark.parametrize("words", [",", ":", "is", "reads", "says", ".", "a red ball", "in the sun", "the words"])
def test_words_in_the_picture_may_be_any(words: str) -> None:
    scene = Scene(backdrop="bathroom", caption=words)
    assert read(describe(scene)).scene == scene


@pytest.mark.slow
@given(scenes(6))
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_described_is_read_back_in_thousands(scene: Scene) -> None:
    assert read(describe(scene)).scene == scene


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_text_reads_as_a_scene_that_can_be_described(text: str) -> None:
    scene = read(text).scene
    assert read(describe(scene)).scene == scene
    assert len({thing.id for thing in scene.things}) == len(scene.things)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_in_every_state_is_read_back(kind: str) -> None:
    for backdrop in ("paper", "table"):
        for state in (None, *KINDS[kind].states):
            for color in (None, "red", "green"):
                for count in (1, 4):
                    label = "x" if kind == "card" else None
                    thing = Thing(id="?", kind=kind, state=state, color=color, count=count, label=label)
                    scene = Scene(backdrop=backdrop, things=(thing.model_copy(update={"id": canonical_id(thing, [])}),))
                    assert read(describe(scene)).scene == scene, describe(scene)


@given(scenes(4), scenes(4))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_what_is_said_to_have_changed_is_what_revising_changes(before: Scene, after: Scene) -> None:
    # Two of a kind are told apart by their order, which a change may turn round.
    assume(all(len({thing.kind for thing in scene.things}) == len(scene.things) for scene in (before, after)))
    changed = revise(". ".join(difference(before, after)), before, language="en").scene
    assert sorted(changed.things, key=by_id) == sorted(after.things, key=by_id)
    assert (changed.backdrop, changed.caption, changed.photo) == (after.backdrop, after.caption, after.photo)


@given(scenes(4))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_changed_is_nothing_said(scene: Scene) -> None:
    assert difference(scene, scene) == []
    assert change_in_words(scene, scene) == ""


@given(scenes(4), st.text(max_size=30))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_instruction_leads_to_its_scene_whatever_stands_around_it(scene: Scene, words: str) -> None:
    assert target(instruction("Add a ball.", scene)) == scene
    assert target(prompt("Add a ball", scene)) == scene
    assert target(prompt("", scene)) == scene
    assert target(f"{instruction('Do it', scene)} Exactly two red balls, please!") == scene
    before = words.replace(":", "").replace('"', "").replace("“", "").replace("„", "").replace("«", "").replace("»", "")
    for opening in "「『《":
        before = before.replace(opening, "")
    assert target(instruction(before, scene)) == scene


@given(st.text(max_size=40), scenes(3))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_may_be_said_of_a_scene(text: str, scene: Scene) -> None:
    changed = revise(text, scene).scene
    assert read(describe(changed)).scene == changed


def by_id(thing: Thing) -> str:
    return thing.id


def things(text: str) -> list[str]:
    """Everything a text shows, each in canonical words."""
    scene = read(text).scene
    body = describe(scene).partition(": ")[2].rstrip(".")
    return body.split("; ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two red apples and a frobnicator", ["two red apples", 'a card labelled "frobnicator"']),
        ("3 small balls", ["three small balls"]),
        ("apples", ["three apples"]),
        ("a pair of scissors", ["a pair of scissors"]),
        ("two pairs of trousers", ["two pairs of trousers"]),
        ("a dozen eggs", ["nine eggs", "three eggs"]),
        ("a hundred balloons", ["nine balloons", "nine balloons", "nine balloons", 'a card labelled "× 100"']),
        ("a puppy, a kitten and a bunny", ["a dog", "a cat", "a rabbit"]),
        ("the pots and pans", ["three flower pots", "three pans"]),
        ("a red and a blue ball", ["a red ball", "a blue ball"]),
        ("a silver car and a golden crown", ["a grey car", "a yellow crown"]),
        ("a big light blue box", ["a large blue box"]),
        ("a rose", ["a flower"]),
        ("an open box and a lit candle", ["an open box", "a lit candle"]),
        ("a burning candle", ["a lit candle"]),
        ("a flower pot filled with soil", ["a flower pot with soil"]),
        ("a raining cloud over a house", ["a house", "a raining cloud above the house"]),
        ("a traffic light showing red", ["a traffic light showing red"]),
        ("a red traffic light", ["a traffic light showing red"]),
        ("a yellow traffic light", ["a traffic light showing amber"]),
        ("the ball is red and the box is open", ["a red ball", "an open box"]),
        ("a cat on a chair", ["a chair", "a cat on the chair"]),
        ("a cat to the left of a tree", ["a tree", "a cat to the left of the tree"]),
        ("an apple next to a pear", ["a pear", "an apple to the right of the pear"]),
        ("a bird on top of the house", ["a house", "a bird on the house"]),
        ("a ball inside a box", ["a box", "a ball in the box"]),
        ("a mouse under the table and a cat on it", ["a table", "a mouse below the table", "a cat on the table"]),
        ("a table with a lamp on it", ["a table", "a lamp on the table"]),
        ("a cat in front of the paper planes", ["three paper planes", "a cat in front of the paper planes"]),
        ("a snowman with a hat", ["a snowman", "a hat on the snowman"]),
        ("the cat wears a red hat", ["a cat", "a red hat on the cat"]),
        ("a tree in the upper left corner", ["a tree in the upper left corner"]),
        ("on the left is a tree, on the right a house", ["a tree on the left", "a house on the right"]),
        ("a star at the top of the picture", ["a star at the top"]),
        ("a cat and a dog in the middle", ["a cat in the middle", "a dog in the middle"]),
        ("a cat but no dog", ["a cat"]),
        ("a house without clouds", ["a house"]),
        ("hand-drawn picture of a dog, muted colours, storyboard style, high quality", ["a dog"]),
        ("a photo of a cat", ["a cat"]),
        ("a beautiful old wooden chair", ["a chair"]),
        ("a purple widget on a shelf", ["a shelf", 'a purple card labelled "widget" on the shelf']),
        ("two flux capacitors", ['two cards labelled "flux capacitor"']),
        ("a coffee machine", ['a card labelled "coffee machine"']),
        ("an apple tree", ["a tree"]),
        ('a sign that says "STOP"', ['a sign labelled "STOP"']),
        ("a card with the number 7", ['a card labelled "7"']),
        ("the cat sleeps on the bed", ["a bed", "a cat on the bed"]),
        ("a cat is chasing a mouse", ["a cat", "a mouse"]),
        ("plant a seed in a pot", ["a flower pot", "a seed in the flower pot"]),
        ("calibrate the frobnicator", ['a card labelled "frobnicator"']),
        ("a bow tie", ['a card labelled "bow tie"']),
        ("a cup of tea", ["a full cup"]),
        ("wait two weeks", ["nothing else"]),
        ("", ["nothing else"]),
    ],
)  # fmt: skip
def test_free_english_is_read(text: str, expected: list[str]) -> None:
    assert things(text) == expected


@pytest.mark.parametrize(
    ("text", "backdrop"),
    [
        ("a crab on the beach", "beach"), ("a cat in the woods", "forest"), ("a fish under water", "underwater"),
        ("a cat at night", "night"), ("a rocket in outer space", "space"), ("a cup on a table", "table"),
        ("a car on the street", "street"), ("children playing in the snow", "snow"), ("a boat on the lake", "sea"),
        ("a cat in the garden", "garden"), ("a red ball on white paper", "paper"), ("at night: a cat.", "night"),
        ("a whale", "underwater"), ("a frobnicator", "paper"), ("", "paper"),
    ],
)  # fmt: skip
def test_where_a_scene_plays_is_read(text: str, backdrop: str) -> None:
    assert read(text).scene.backdrop == backdrop


def test_a_place_at_night_keeps_the_place_and_gets_a_moon() -> None:
    scene = read("a cat on the beach at night").scene
    assert scene.backdrop == "beach"
    assert [thing.kind for thing in scene.things] == ["cat", "moon"]


def test_unknown_words_are_told_and_drawn() -> None:
    reading = read("a frobnicator and a red ball next to a gizmo")
    assert reading.unknown == ("frobnicator", "gizmo")
    assert sorted(thing.label for thing in reading.scene.things if thing.label) == ["frobnicator", "gizmo"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("在桌子上有两个红色的苹果", ["a table", "two red apples on the table"]),
        ("一只猫在盒子里", ["a box", "a cat in the box"]),
        ("三个蓝球和一棵大树", ["three blue balls", "a large tree"]),
        ("一个量子计算机", ['a card labelled "量子计算机"']),
        ("ein roter Ball neben einer Kiste", ["a box", "a red ball to the right of the box"]),
        ("zwei kleine Katzen auf dem Tisch", ["two small cats on the table", "a table"]),
        ("una pelota roja sobre la mesa", ["a red ball on the table", "a table"]),
        ("une balle rouge et deux pommes vertes", ["a red ball", "two green apples"]),
        ("кошка", ['a card labelled "кошка"']),
        ("قطة", ['a card labelled "قطة"']),
        ("แมว", ['a card labelled "แมว"']),
        ("ロボット", ['a card labelled "ロボット"']),
    ],
)
def test_other_languages_and_scripts_are_read(text: str, expected: list[str]) -> None:
    assert sorted(things(text)) == sorted(expected)


@pytest.mark.parametrize("language", ["zh", "de", "es", "fr"])
def test_every_foreign_noun_and_colour_means_its_kind(language: str) -> None:
    for kind, row in NOUNS.items():
        for word in names(row, language):  # pyright: ignore[reportArgumentType]
            found = [thing.kind for thing in read(word, language=language).scene.things]  # pyright: ignore[reportArgumentType]
            assert found == [kind], (word, kind)
    for row in FOREIGN_COLORS.values():
        for word in names(row, language):  # pyright: ignore[reportArgumentType]
            assert word in color_forms(word, language)  # pyright: ignore[reportArgumentType]
    assert set(NOUNS) <= set(KINDS)
    assert set(FOREIGN_COLORS) == set(COLORS)
    assert set(FOREIGN_BACKDROPS) <= set(BACKDROPS)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How to plant a bean", "en"), ("Wie pflanzt man eine Bohne", "de"), ("¿Cómo plantar una semilla?", "es"),
        ("Comment planter une graine ?", "fr"), ("如何种豆子", "zh"), ("", "en"), ("12345", "en"),
    ],
)  # fmt: skip
def test_the_language_of_a_text_is_found(text: str, language: str) -> None:
    assert language_of(text) == language


def test_the_tables_of_phrases_speak_of_what_there_is() -> None:
    assert set(SAID_BACKDROPS) == set(BACKDROPS)
    assert set(SAID) <= set(KINDS)
    for kind, states in STATES.items():
        assert set(states) <= set(KINDS[kind].states), kind


STREET = "On a street: a traffic light showing red in the middle; a red car on the left."
MEADOW = "On a meadow: a red ball; a cat; two apples; a box."
TABLE = "On a wooden table: an empty flower pot in the middle; a seed; a candle."
SNOW = "In the snow: a snowman in the middle; a tree on the right."


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (STREET, "turn the light green",
         "On a street: a traffic light showing green in the middle; a red car on the left."),
        (STREET, "The light turns amber.",
         "On a street: a traffic light showing amber in the middle; a red car on the left."),
        (STREET, "make it night", "At night: a traffic light showing red in the middle; a red car on the left."),
        (STREET, "make the car blue",
         "On a street: a traffic light showing red in the middle; a blue car on the left."),
        (SNOW, "add a hat to the snowman",
         "In the snow: a snowman in the middle; a tree on the right; a hat on the snowman."),
        (SNOW, "give the snowman a red scarf",
         "In the snow: a snowman in the middle; a tree on the right; a red scarf on the snowman."),
        (SNOW, "the snowman melts", "In the snow: a melting snowman in the middle; a tree on the right."),
        (SNOW, "remove everything", "In the snow: nothing else."),
        (MEADOW, "remove the ball", "On a meadow: a cat; two apples; a box."),
        (MEADOW, "no cat", "On a meadow: a red ball; two apples; a box."),
        (MEADOW, "take away one apple", "On a meadow: a red ball; a cat; an apple; a box."),
        (MEADOW, "two more apples", "On a meadow: a red ball; a cat; four apples; a box."),
        (MEADOW, "there should be three apples", "On a meadow: a red ball; a cat; three apples; a box."),
        (MEADOW, "show three balls instead of one", "On a meadow: three red balls; a cat; two apples; a box."),
        (MEADOW, "make the ball bigger", "On a meadow: a large red ball; a cat; two apples; a box."),
        (MEADOW, "make the ball blue and the cat black",
         "On a meadow: a blue ball; a black cat; two apples; a box."),
        (MEADOW, "The ball must be blue, not red.", "On a meadow: a blue ball; a cat; two apples; a box."),
        (MEADOW, "make all apples green", "On a meadow: a red ball; a cat; two green apples; a box."),
        (MEADOW, "turn the ball into a cube", "On a meadow: a cube; a cat; two apples; a box."),
        (MEADOW, "replace the cat with a brown dog", "On a meadow: a red ball; a brown dog; two apples; a box."),
        (MEADOW, "put the ball in the box", "On a meadow: a red ball in the box; a cat; two apples; a box."),
        (MEADOW, "put a ball and a book on the box",
         "On a meadow: a red ball; a cat; two apples; a box; a ball on the box; a book on the box."),
        (MEADOW, "move the cat to the upper left corner",
         "On a meadow: a red ball; a cat in the upper left corner; two apples; a box."),
        (MEADOW, "open the box", "On a meadow: a red ball; a cat; two apples; an open box."),
        (MEADOW, "the cat falls asleep", "On a meadow: a red ball; a sleeping cat; two apples; a box."),
        (MEADOW, "set the scene in a forest", "In a forest: a red ball; a cat; two apples; a box."),
        (MEADOW, "make it rain", "On a meadow: a red ball; a cat; two apples; a box; a raining cloud."),
        (MEADOW, "keep everything as it is", MEADOW),
        (MEADOW, "don't change the ball", MEADOW),
        (MEADOW, "paint the ball green, then remove the cat", "On a meadow: a green ball; two apples; a box."),
        (MEADOW, "add a gizmo on the left",
         'On a meadow: a red ball; a cat; two apples; a box; a card labelled "gizmo" on the left.'),
        (MEADOW, 'write "Hello" into the picture', MEADOW + ' The words "Hello" are written in the picture.'),
        (TABLE, "fill the pot with soil", "On a wooden table: a flower pot with soil in the middle; a seed; a candle."),
        (TABLE, "put the seed into the pot",
         "On a wooden table: an empty flower pot in the middle; a seed in the flower pot; a candle."),
        (TABLE, "put the seed into the pot. water it. wait until it sprouts",
         ("On a wooden table: a flower pot with a sprout in the middle; a candle; "
          "a pouring watering can above the flower pot.")),
        (MEADOW, "remove everything but the cat", "On a meadow: a cat."),
        (MEADOW, "make it blue", "On a meadow: a red ball; a cat; two apples; a blue box."),
        (MEADOW, "make everything green", "On a meadow: a green ball; a green cat; two green apples; a green box."),
        (MEADOW, "make the cat and the ball black", "On a meadow: a black ball; a black cat; two apples; a box."),
        (MEADOW, "shrink the ball and the cat", "On a meadow: a small red ball; a small cat; two apples; a box."),
        (MEADOW, "enlarge the ball", "On a meadow: a large red ball; a cat; two apples; a box."),
        (MEADOW, "change the colour of the ball to yellow", "On a meadow: a yellow ball; a cat; two apples; a box."),
        (MEADOW, "change the number of apples to four", "On a meadow: a red ball; a cat; four apples; a box."),
        (MEADOW, "increase the number of apples by two", "On a meadow: a red ball; a cat; four apples; a box."),
        (MEADOW, "reduce the number of apples by one", "On a meadow: a red ball; a cat; an apple; a box."),
        (MEADOW, "make it three apples", "On a meadow: a red ball; a cat; three apples; a box."),
        (MEADOW, "there is no ball", "On a meadow: a cat; two apples; a box."),
        (MEADOW, "there are three cats", "On a meadow: a red ball; three cats; two apples; a box."),
        (MEADOW, "show the cat sleeping", "On a meadow: a red ball; a sleeping cat; two apples; a box."),
        (MEADOW, "show the ball in blue", "On a meadow: a blue ball; a cat; two apples; a box."),
        (MEADOW, "hide the cat behind the box", "On a meadow: a red ball; a cat behind the box; two apples; a box."),
        (MEADOW, "the ball falls into the box", "On a meadow: a red ball in the box; a cat; two apples; a box."),
        (MEADOW, "cut the apples in half", "On a meadow: a red ball; a cat; two cut apples; a box."),
        (MEADOW, "swap the ball for a football", "On a meadow: a football; a cat; two apples; a box."),
        (MEADOW, "change the scene to a street", "On a street: a red ball; a cat; two apples; a box."),
        (MEADOW, "in the rain", "On a meadow: a red ball; a cat; two apples; a box; a raining cloud."),
        (MEADOW, 'label the box "toys"', 'On a meadow: a red ball; a cat; two apples; a box labelled "toys".'),
        (MEADOW, "Meditate", MEADOW),
        ("On a meadow: a cat.", "turn it into a dog", "On a meadow: a dog."),
        ("On a meadow: a cat.", "the cat becomes a dog", "On a meadow: a dog."),
        ("On a meadow: a cat.", "add another cat", "On a meadow: two cats."),
        ("On a meadow: a cat.", "dress the cat in a red hat", "On a meadow: a cat; a red hat on the cat."),
        ("On a meadow: a cat.", "give it a hat. make it black", "On a meadow: a black cat; a hat on the cat."),
        ("On a meadow: a cat.", "pin up the given photo", "On a meadow, with the given photo pinned up: a cat."),
        ("On a meadow, with the given photo pinned up: a cat.", "take down the photo", "On a meadow: a cat."),
        ("On a meadow: a box; a ball in the box.", "take the ball out of the box", "On a meadow: a box; a ball."),
        ('On a meadow: a sign labelled "A".', "remove the label of the sign", "On a meadow: a sign."),
        ("On a meadow: a large blue ball.", "bring the ball back to its own colour", "On a meadow: a large ball."),
        ("On a meadow: a large ball.", "make the ball smaller", "On a meadow: a ball."),
        (STREET, "turn the light off",
         "On a street: a traffic light switched off in the middle; a red car on the left."),
        (TABLE, "light the candle and blow it out",
         "On a wooden table: an empty flower pot in the middle; a seed; an unlit candle."),
        (TABLE, "light the candle", "On a wooden table: an empty flower pot in the middle; a seed; a lit candle."),
        ("On a wooden table: an open box; a ball in the box.", "close the box", "On a wooden table: a closed box."),
        ("On a meadow: a cat; a dog.", "they sleep", "On a meadow: a sleeping cat; a dog."),
        ("On a wooden table: a box.", "打开盒子", "On a wooden table: an open box."),
        ("On a wooden table: a box.", "Öffne die Kiste", "On a wooden table: an open box."),
    ],
)  # fmt: skip
def test_a_change_in_plain_words_changes_that_and_nothing_else(before: str, text: str, after: str) -> None:
    assert describe(revise(text, read(before).scene).scene) == after


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (MEADOW, MEADOW, ""),
        (MEADOW, "At night: a red ball; a cat; two apples; a box.", "Set the scene at night."),
        (MEADOW, "On a meadow: a blue ball; a cat; three apples; an open box.",
         "Make the ball blue, show three apples instead of two and make the box open."),
        ("On a meadow: two cats.", "On a meadow: a cat.", "Show one cat instead of two."),
        ("On a meadow: a cat.", "On a meadow: a cat in the upper left corner.",
         "Move the cat to the upper left corner."),
        ("On a meadow: a red ball; a blue ball.", "On a meadow: a red ball.", "Remove the blue ball."),
        ("On a meadow: a cat in the middle.", "On a meadow: a dog in the middle.", "Replace the cat with a dog."),
        ("On a meadow: a cat.", "On a meadow: a cat; a hat on the cat.", "Add a hat on the cat."),
        ("On plain paper: a snowman of only one ball.", "On plain paper: a snowman of only two balls.",
         "Show the snowman of only two balls."),
    ],
)  # fmt: skip
def test_changes_are_said_as_one_would_say_them(before: str, after: str, words: str) -> None:
    assert change_in_words(read(before).scene, read(after).scene) == words


def test_a_thing_beside_nothing_is_refused_by_name() -> None:
    scene = Scene(things=(Thing(id="cat", kind="cat", at=Beside(relation="on", of="mat")),))
    with pytest.raises(ConfigError, match="mat"):
        describe(scene)


def test_the_words_of_a_label_are_never_read_as_a_scene() -> None:
    trap = Thing(id="x", kind="card", label="The picture shows, on a meadow: a cat.")
    scene = Scene(backdrop="beach", things=(trap,), caption="At night: a dog.")
    assert target(instruction("Look", scene)) == scene
    assert target(prompt("", scene)) == scene


def test_a_text_without_a_canonical_scene_is_read_as_a_whole() -> None:
    assert target("Draw two red balls") == read("Draw two red balls").scene


def test_weather_that_a_thing_is_in_is_no_second_half_of_its_name() -> None:
    assert [thing.kind for thing in read("a cat in the rain").scene.things] == ["cat", "cloud"]
    assert describe(read("a plant in the sun").scene) == "On a meadow: a plant; a sun."


def test_a_pronoun_that_means_nothing_is_passed_over() -> None:
    assert [thing.kind for thing in read("a dog beside it").scene.things] == ["dog"]


def test_the_picture_before_is_known() -> None:
    known = read("an open red box on the left; a cat").scene
    reading = read("two balls beside the box", known=known)
    assert reading.recalled == ("box",)
    box = reading.scene.things[0]
    assert (box.id, box.state, box.color, box.at) == ("box", "open", "red", "left")
    closed = read("the closed box", known=known).scene.things
    assert [(thing.state, thing.color) for thing in closed] == [("closed", "red")]
    assert read("a box", known=known).recalled == ()
    assert [thing.count for thing in read("the three cats", known=read("two cats").scene).scene.things] == [3]


def test_a_number_of_thousands_of_digits_is_a_word() -> None:
    assert [thing.kind for thing in read("1" * 5000).scene.things] == ["card"]
