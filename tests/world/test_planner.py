"""The scene planner: requests of many kinds, each a plan that a person would want to follow."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_interleave.errors import ConfigError, PlanError
from langgraph_interleave.limits import Limits
from langgraph_interleave.planner import Planner, PlanRequest
from langgraph_interleave.types import (
    ArtifactRef,
    Capabilities,
    ImagePart,
    PlanFinished,
    ReasoningDelta,
    Request,
    Step,
    StepDelta,
    StyleDelta,
    TextPart,
)
from langgraph_interleave.world.grammar import describe, target
from langgraph_interleave.world.planner import ScenePlanner, plan_deltas
from langgraph_interleave.world.scene import Scene

EDITS = Capabilities(edit="instruct", max_references=4)


def asked(
    text: str,
    *,
    images: int = 0,
    steps: int | None = None,
    language: str | None = None,
    style: str | None = None,
    most: int = 30,
    capabilities: Capabilities = EDITS,
) -> PlanRequest:
    pictures = [
        ImagePart(image=ArtifactRef(sha256=f"{number:064x}", mime="image/png", size=1, width=8, height=8))
        for number in range(images)
    ]
    words = [TextPart(text=text)] if text or not images else []
    return PlanRequest(
        request=Request(parts=(*pictures, *words)),
        capabilities=capabilities,
        limits=Limits(max_steps=most),
        steps=steps,
        language=language,
        style=style,
    )


def planned(request: PlanRequest) -> PlanFinished:
    last = plan_deltas(request)[-1]
    assert isinstance(last, PlanFinished)
    return last


def plan(text: str, **options: int | str | None) -> PlanFinished:
    return planned(asked(text, **options))  # pyright: ignore[reportArgumentType]


def scene_of(step: Step) -> Scene:
    """The scene of a drawn step, after the checks that hold for every one."""
    assert step.instruction is not None
    assert step.prompt is not None
    scene = target(step.instruction)
    assert target(step.prompt) == scene
    assert describe(scene)[1:] in step.instruction
    assert describe(scene)[1:] in step.prompt
    return scene


def shown(finished: PlanFinished) -> list[str]:
    return [describe(scene_of(step)) for step in finished.plan.steps if step.op != "text"]


def ops(finished: PlanFinished) -> list[str]:
    return [step.op for step in finished.plan.steps]


def codes(finished: PlanFinished) -> list[str]:
    return [warning.code for warning in finished.warnings]


def test_the_example_of_the_readme() -> None:
    finished = plan("How to plant a bean, in 5 steps")
    assert finished.plan.title == "How to plant a bean"
    assert ops(finished) == ["generate", "edit", "edit", "edit", "edit"]
    assert [step.sources for step in finished.plan.steps] == [(), ("step:0",), ("step:1",), ("step:2",), ("step:3",)]
    assert [step.title for step in finished.plan.steps] == [
        "Fill the pot", "Sow the bean", "Water it", "Wait for the sprout", "Watch it grow",
    ]  # fmt: skip
    assert shown(finished)[1] == (
        "On a wooden table: a flower pot with soil in the middle; a seed above the flower pot."
    )
    assert finished.plan.steps[1].instruction == (
        "Add a seed above the flower pot. The picture shows, on a wooden table: a flower pot with soil in the middle; "
        "a seed above the flower pot."
    )
    assert finished.plan.steps[1].prompt == (
        "Add a seed above the flower pot. Keep everything else as it is. "
        "The picture shows, on a wooden table: a flower pot with soil in the middle; a seed above the flower pot."
    )
    assert finished.plan.steps[0].prompt == "On a wooden table: a flower pot with soil in the middle."
    assert finished.warnings == ()
    assert "flower pot" in finished.plan.style_guide.characters


def test_a_sequence_with_exact_counts() -> None:
    finished = plan("Show a red ball, then two red balls, then three red balls")
    assert shown(finished) == [
        "On a meadow: a red ball.", "On a meadow: two red balls.", "On a meadow: three red balls.",
    ]  # fmt: skip
    assert ops(finished) == ["generate", "edit", "edit"]
    assert [step.caption for step in finished.plan.steps] == ["A red ball.", "Two red balls.", "Three red balls."]


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 6])
def test_steps_are_merged_or_told_in_more_detail(steps: int) -> None:
    finished = plan("How to make tea", steps=steps)
    assert len(finished.plan.steps) == steps
    assert finished.warnings == ()
    # However it is cut, it ends with the tea.
    assert "a steaming cup" in shown(finished)[-1]


def test_merging_keeps_what_both_captions_say() -> None:
    finished = plan("How to make tea", steps=4)
    assert finished.plan.steps[0].title == "Boil the water and put the tea bag in"
    assert finished.plan.steps[0].caption == "Bring the water to the boil. Hang a tea bag into the cup."


def test_more_steps_than_there_is_to_tell_are_not_padded() -> None:
    finished = plan("How to plant a bean in 20 steps")
    assert len(finished.plan.steps) == 7
    assert codes(finished) == ["step_count"]
    assert len({step.caption for step in finished.plan.steps}) == 7


def test_a_setting_goes_before_the_words() -> None:
    finished = plan("How to plant a bean, in 5 steps", steps=3)
    assert len(finished.plan.steps) == 3
    assert "the setting counts" in finished.reasoning


def test_a_cycle_goes_on() -> None:
    finished = plan("traffic light in 9 pictures")
    states = [scene_of(step).things[0].state for step in finished.plan.steps]
    assert states == ["red", "red and amber", "green", "amber"] * 2 + ["red"]


def test_a_photo_is_built_upon() -> None:
    finished = plan("show how this grows in 3 steps", images=1)
    assert [step.sources for step in finished.plan.steps] == [
        ("input:0",), ("step:0", "input:0"), ("step:1", "input:0"),
    ]  # fmt: skip
    scenes = [scene_of(step) for step in finished.plan.steps]
    assert all(scene.photo for scene in scenes)
    assert [scene.things[0].kind for scene in scenes] == ["sprout", "plant", "plant"]
    assert scenes[-1].things[0].state == "flowering"


def test_words_change_a_photo() -> None:
    finished = plan("Put a hat on this", images=1)
    [step] = finished.plan.steps
    assert (step.op, step.sources) == ("edit", ("input:0",))
    assert describe(scene_of(step)) == "On plain paper, with the given photo pinned up: a hat on the photo."


@pytest.mark.parametrize("images", [1, 2, 3, 7])
@pytest.mark.parametrize("text", ["How to plant a bean", "Compare these", "", "1. a cat 2. a dog", "Three animals"])
def test_every_picture_of_the_request_is_used(text: str, images: int) -> None:
    finished = planned(asked(text, images=images, capabilities=Capabilities(edit="instruct", max_references=16)))
    used = {source for step in finished.plan.steps for source in step.sources if source.startswith("input:")}
    assert used == {f"input:{number}" for number in range(images)}
    first = next(step for step in finished.plan.steps if step.op != "text")
    assert first.sources[0] == "input:0"
    assert scene_of(first).photo


def test_a_photo_that_words_alone_do_not_need_is_told() -> None:
    finished = plan("Just explain how to make tea, no pictures", images=1)
    assert set(ops(finished)) == {"text"}
    assert codes(finished) == ["unused_input"]


def test_chinese_is_answered_in_chinese() -> None:
    finished = plan("如何种一颗豆子，分5步")
    assert finished.plan.title == "如何种一颗豆子"
    assert [step.title for step in finished.plan.steps] == ["装土", "播种", "浇水", "等待发芽", "慢慢长大"]
    assert shown(finished) == shown(plan("How to plant a bean, in 5 steps"))


def test_german_is_answered_in_german() -> None:
    finished = plan("Wie pflanzt man eine Bohne? In fünf Schritten")
    assert finished.plan.steps[2].title == "Gießen"
    assert len(finished.plan.steps) == 5


def test_captions_are_in_the_language_asked_for() -> None:
    assert plan("How to make tea", language="zh-CN").plan.title == "如何泡茶"
    assert plan("如何泡茶", language="German").plan.title == "Tee kochen"
    french = plan("How to make tea", language="fr")
    assert french.plan.title == "How to make tea"
    assert codes(french) == ["other"]
    assert codes(plan("How to make tea", language="tlh")) == ["other"]


def test_what_nobody_knows_is_a_card_and_is_told() -> None:
    finished = plan("How to calibrate a frobnicator")
    assert codes(finished) == ["unknown_words"]
    assert "frobnicator" in finished.warnings[0].message
    assert all('a card labelled "frobnicator"' in scene for scene in shown(finished))
    assert finished.plan.steps[2].caption == "Now calibrate a frobnicator, calmly and one thing after the other."


def test_known_things_of_an_unknown_deed_are_drawn() -> None:
    finished = plan("How to repair a bicycle", steps=3)
    assert finished.warnings == ()
    assert len(finished.plan.steps) == 3
    assert all("a bicycle in the middle" in scene for scene in shown(finished))


def test_words_and_pictures_together() -> None:
    finished = plan("How to make tea. First list what I need (text only), and end with a tip.")
    assert ops(finished) == ["text", "generate", "edit", "edit", "edit", "edit", "text"]
    assert finished.plan.steps[0].caption is not None
    assert finished.plan.steps[0].caption.startswith("You need fresh water")
    assert finished.plan.steps[2].sources == ("step:1",)
    exact = plan("How to make tea. First list what I need (text only), and end with a tip.", steps=5)
    assert len(exact.plan.steps) == 5
    assert ops(exact)[0] == ops(exact)[-1] == "text"


def test_one_item_of_a_list_in_words() -> None:
    finished = plan("1. A red ball on a meadow 2. (text only) Balls roll because they are round 3. The ball turns blue")
    assert ops(finished) == ["generate", "text", "edit"]
    assert finished.plan.steps[1].caption == "Balls roll because they are round."
    assert finished.plan.steps[2].sources == ("step:0",)
    assert shown(finished) == ["On a meadow: a red ball.", "On a meadow: a blue ball."]


def test_numbers_one_card_each() -> None:
    finished = plan("The first 25 numbers, one card each, in 25 steps")
    assert len(finished.plan.steps) == 25
    assert set(ops(finished)) == {"generate"}
    assert not any(step.sources for step in finished.plan.steps)
    assert [scene_of(step).things[0].label for step in finished.plan.steps] == [str(n) for n in range(1, 26)]
    assert [step.caption for step in finished.plan.steps][20:22] == ["Twenty-one.", "Twenty-two."]
    assert finished.warnings == ()


def test_counting_with_things() -> None:
    finished = plan("count to five with green apples")
    assert [scene_of(step).things[0].count for step in finished.plan.steps] == [1, 2, 3, 4, 5]
    assert finished.plan.steps[1].caption == "Two green apples."


def test_a_story_has_its_characters_in_it() -> None:
    finished = plan("a story about a cat and a dog who find a boat, in 6 pictures")
    assert finished.plan.title == "The cat, the dog and the boat"
    assert len(finished.plan.steps) == 6
    captions = [step.caption for step in finished.plan.steps]
    assert captions[0] == "Once upon a time there was a cat."
    assert captions[3] == "Then the cat and the dog found a boat."
    scenes = [scene_of(step) for step in finished.plan.steps]
    assert all("cat" in {thing.kind for thing in scene.things} for scene in scenes)
    assert "boat" in {thing.kind for thing in scenes[3].things}
    assert scenes[-1].backdrop == "night"


def test_heroes_are_called_what_the_request_calls_them() -> None:
    finished = plan("a story about a brave little mouse named Pip who wants to see the sea")
    captions = [step.caption or "" for step in finished.plan.steps]
    assert captions[0] == "Once upon a time there was a brave little mouse named Pip."
    assert captions[1] == "Pip wanted to see the sea."
    unknown = plan("a tale about a dragon and a princess, 4 pictures")
    assert unknown.plan.steps[0].caption == "Once upon a time there was a dragon."
    assert codes(unknown) == ["unknown_words"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("For each of a cat, a dog and a bird draw a picture", ["cat", "dog", "bird"]),
        ("Show these animals: a cow, a pig and a hen", ["cow", "pig", "hen"]),
        ("Three animals", ["cat", "dog", "rabbit"]),
        ("- an apple\n- a pear\n- a lemon", ["apple", "pear", "lemon"]),
    ],
)
def test_what_stands_by_itself_is_drawn_side_by_side(text: str, kinds: list[str]) -> None:
    finished = plan(text)
    assert [scene_of(step).things[0].kind for step in finished.plan.steps] == kinds
    assert set(ops(finished)) == {"generate"}


@pytest.mark.parametrize("text", ["four seasons of a tree", "Show the phases of the moon"])
def test_independent_pictures_of_the_book_wait_for_nothing(text: str) -> None:
    assert all(step.sources == () for step in plan(text).plan.steps)


def test_fewer_independent_pictures_are_spread() -> None:
    assert [step.title for step in plan("Show the phases of the moon", steps=4).plan.steps] == [
        "New moon", "First quarter", "Full moon", "Last quarter",
    ]  # fmt: skip


def test_a_numbered_list_of_commands() -> None:
    finished = plan("1. Fill a pot with soil 2. Put a seed in it 3. Water it 4. Wait until it sprouts")
    assert shown(finished) == [
        "On a wooden table: a flower pot with soil.",
        "On a wooden table: a flower pot with soil; a seed in the flower pot.",
        (
            "On a wooden table: a flower pot with soil; a seed in the flower pot; "
            "a pouring watering can above the flower pot."
        ),
        "On a wooden table: a flower pot with a sprout; a pouring watering can above the flower pot.",
    ]
    assert finished.plan.steps[2].instruction == (
        "Water it. The picture shows, on a wooden table: a flower pot with soil; a seed in the flower pot; "
        "a pouring watering can above the flower pot."
    )


def test_steps_of_the_request_nothing_can_be_drawn_of() -> None:
    finished = plan("Step 1: Show a box. Step 2: Meditate. Step 3: Open the box.")
    scenes = shown(finished)
    assert scenes[1] == 'On a wooden table: a box; a card labelled "Meditate" at the top.'
    assert scenes[2] == "On a wooden table: an open box."
    assert codes(finished) == ["unknown_words"]
    waiting = plan("1. a cup of tea 2. Wait three minutes")
    assert "a clock" in shown(waiting)[1]
    assert codes(waiting) == []


def test_connectives_in_chinese() -> None:
    finished = plan("首先放一个盒子，然后放一个红球，最后打开盒子")
    assert shown(finished) == [
        "On a wooden table: a box.",
        "On a wooden table: a box; a red ball.",
        "On a wooden table: an open box; a red ball.",
    ]  # fmt: skip
    assert finished.plan.steps[2].caption == "打开盒子。"


def test_arrows_separate_steps() -> None:
    assert [describe(scene_of(step)) for step in plan("a seed -> a sprout -> a plant").plan.steps] == [
        "On a wooden table: a seed.", "On a wooden table: a sprout.", "On a wooden table: a plant.",
    ]  # fmt: skip


def test_a_description_is_one_picture() -> None:
    finished = plan("Two red balls next to a green box")
    assert shown(finished) == ["On a wooden table: a green box; two red balls to the right of the box."]


def test_a_thing_that_has_a_page_may_still_be_just_a_thing() -> None:
    assert shown(plan("a snowman on the beach")) == ["On a beach: a snowman."]
    assert len(plan("snowman").plan.steps) == 5
    assert len(plan("a snowman", steps=5).plan.steps) == 5
    assert len(plan("a recipe for pancakes").plan.steps) == 5


def test_a_description_in_several_pictures_is_built_up_or_told() -> None:
    built = plan("Two red balls next to a green box", steps=2)
    assert shown(built)[0] == "On a wooden table: a green box."
    counted = plan("draw three apples", steps=3)
    assert [scene_of(step).things[0].count for step in counted.plan.steps] == [1, 2, 3]
    told = plan("A robot and a cat on the beach, in 4 pictures")
    assert len(told.plan.steps) == 4
    assert scene_of(told.plan.steps[0]).backdrop == "beach"
    alone = plan("an umbrella", steps=5)
    assert len(alone.plan.steps) == 1
    assert codes(alone) == ["step_count"]


def test_drawing_something_that_has_no_page() -> None:
    finished = plan("How to draw a dog")
    assert [scene_of(step).things[0].kind for step in finished.plan.steps] == ["circle", "dog", "dog"]


def test_a_plan_never_has_more_steps_than_allowed() -> None:
    finished = plan("The first 25 numbers, one card each, in 25 steps", most=10)
    assert len(finished.plan.steps) == 10
    assert codes(finished) == ["step_count"]
    assert "max_steps" in finished.warnings[0].message


def test_a_backend_without_references_gets_steps_that_stand_alone() -> None:
    finished = planned(asked("How to plant a bean", capabilities=Capabilities()))
    assert set(ops(finished)) == {"generate"}
    assert not any(step.sources for step in finished.plan.steps)
    assert codes(finished) == ["other"]
    one = planned(asked("show how this grows", images=1, capabilities=Capabilities(edit="img2img", max_references=1)))
    assert all(len(step.sources) == 1 for step in one.plan.steps)


def test_pictures_a_backend_cannot_take_are_told() -> None:
    few = Capabilities(edit="instruct", max_references=2)
    finished = planned(asked("Compare these", images=4, capabilities=few))
    assert finished.plan.steps[0].sources == ("input:0", "input:1")
    assert codes(finished) == ["unused_input"]
    assert "input:2, input:3" in finished.warnings[0].message


def test_the_style_asked_for_is_the_look() -> None:
    assert plan("How to make tea", style="woodcut").plan.style_guide.look == "woodcut"
    assert "hand-drawn" in plan("How to make tea").plan.style_guide.look


def test_a_request_of_nothing_is_refused() -> None:
    with pytest.raises(PlanError, match="empty"):
        plan_deltas(asked("   "))


@given(
    text=st.text(max_size=60) | st.sampled_from(["How to plant a bean", "1. a cat 2. a hat", "a story about a fox"]),
    images=st.integers(0, 2),
    steps=st.none() | st.integers(1, 12),
)
@settings(max_examples=80, deadline=None)
def test_any_request_becomes_a_sound_plan(text: str, images: int, steps: int | None) -> None:
    if not text.strip() and not images:
        return
    finished = planned(asked(text, images=images, steps=steps, most=8))
    assert 1 <= len(finished.plan.steps) <= 8
    if steps is not None and len(finished.plan.steps) != steps:
        assert "step_count" in codes(finished)
    for step in finished.plan.steps:
        assert step.caption
        if step.op != "text":
            scene_of(step)


async def test_the_plan_comes_piece_by_piece_and_the_last_counts() -> None:
    planner = ScenePlanner()
    assert isinstance(planner, Planner)
    assert planner.name == "scene"
    assert not planner.billed
    deltas = [delta async for delta in planner.aplan(asked("How to plant a bean, in 5 steps"))]
    kinds = [type(delta) for delta in deltas]
    style, last = kinds.index(StyleDelta), len(kinds) - 1
    assert set(kinds[:style]) == {ReasoningDelta}
    assert kinds[style + 1 : last] == [StepDelta] * 5
    finished = deltas[-1]
    assert isinstance(finished, PlanFinished)
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == finished.reasoning
    assert tuple(delta.step for delta in deltas if isinstance(delta, StepDelta)) == finished.plan.steps
    again = [delta async for delta in ScenePlanner().aplan(asked("How to plant a bean, in 5 steps"))]
    assert again == deltas


async def test_a_pace_spreads_the_plan() -> None:
    start = time.monotonic()
    arrivals = [
        time.monotonic() - start async for _ in ScenePlanner(pace_s=0.2).aplan(asked("How to plant a bean, in 5 steps"))
    ]
    assert arrivals[-1] >= 0.18
    assert arrivals[0] < arrivals[-1] / 2


def test_a_planner_from_a_string() -> None:
    assert ScenePlanner.from_string("").pace_s == 0
    assert ScenePlanner.from_string("2.5").pace_s == 2.5
    assert ScenePlanner.from_string("pace_s=3").pace_s == 3
    assert ScenePlanner.from_string("", pace_s=1).pace_s == 1
    assert ScenePlanner.from_string("2").fingerprint == ScenePlanner().fingerprint
    with pytest.raises(ConfigError, match="fast"):
        ScenePlanner.from_string("fast")
    with pytest.raises(ConfigError, match="pace_s"):
        ScenePlanner(pace_s=-1)
