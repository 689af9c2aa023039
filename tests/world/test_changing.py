"""Changes of a plan by words: what is redrawn, what is kept, and what is said about the rest."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_interleave.limits import Limits
from langgraph_interleave.planner import Existing, PlanRequest
from langgraph_interleave.types import Capabilities, Plan, PlanFinished, Request, Step, StyleGuide, TextPart
from langgraph_interleave.world.changing.named import MARK, named_in
from langgraph_interleave.world.changing.orders import orders_of
from langgraph_interleave.world.grammar import describe, target
from langgraph_interleave.world.planner import plan_deltas

EDITS = Capabilities(edit="instruct", max_references=4)
BLIND = Capabilities(edit="none", max_references=0)


def request_of(text: str) -> Request:
    return Request(parts=(TextPart(text=text),))


def plan_of(text: str, capabilities: Capabilities = EDITS) -> Plan:
    last = plan_deltas(PlanRequest(request=request_of(text), capabilities=capabilities))[-1]
    assert isinstance(last, PlanFinished)
    return last.plan


CAT = plan_of("1. a red ball\n2. add a cat\n3. the cat sleeps\n4. add two apples")
BEAN = plan_of("How to plant a bean, in 4 steps")
TOLD = plan_of("1. a red ball\n2. Text: a ball is round\n3. the ball is blue")


def changed(
    plan: Plan, words: str, *, drawn: bool = True, most: int = 30, capabilities: Capabilities = EDITS
) -> PlanFinished:
    pictured = [step.index for step in plan.steps if step.op != "text"]
    pictures = {index: number for number, index in enumerate(pictured)} if drawn else {}
    existing = Existing(plan=plan, change=request_of(words), pictures=pictures)
    request = PlanRequest(
        request=request_of(words), capabilities=capabilities, limits=Limits(max_steps=most), existing=existing
    )
    last = plan_deltas(request)[-1]
    assert isinstance(last, PlanFinished)
    assert last.origins is not None
    assert len(last.origins) == len(last.plan.steps)
    return last


def shown(step: Step) -> str:
    """What a drawn step shows; its instruction and its prompt agree on it."""
    assert step.instruction is not None
    assert step.prompt is not None
    scene = target(step.instruction)
    assert target(step.prompt) == scene
    return describe(scene)


def test_night_in_one_step_redraws_it_and_leaves_the_scenes_of_the_others() -> None:
    after = changed(CAT, "make step 2 night-time")
    assert after.origins == (0, None, None, 3)
    assert [shown(step) for step in after.plan.steps] == [
        "On a meadow: a red ball.",
        "At night: a red ball; a cat.",
        "On a meadow: a red ball; a sleeping cat.",
        "On a meadow: a red ball; a sleeping cat; two apples.",
    ]
    # What step 3 does to the picture before it is another thing now, and its words say so.
    assert "Set the scene on a meadow" in (after.plan.steps[2].prompt or "")
    assert after.plan.steps[2].sources == ("step:1",)
    assert not after.warnings


@pytest.mark.parametrize("words", ["from step 2 on, night", "make steps 2 to 4 night", "steps 2, 3 and 4 at night"])
def test_night_from_a_step_on(words: str) -> None:
    after = changed(CAT, words)
    assert after.origins == (0, None, None, None)
    assert [shown(step).split(":")[0] for step in after.plan.steps] == ["On a meadow", *["At night"] * 3]


@pytest.mark.parametrize("words", ["every step at night", "make it night-time", "make all the pictures darker"])
def test_night_everywhere(words: str) -> None:
    after = changed(CAT, words)
    assert {shown(step).split(":")[0] for step in after.plan.steps} == {"At night"}


@pytest.mark.parametrize(
    "words",
    ["in step 1 the ball is blue", "the ball in the first picture should be blue", "Step 1: make the ball blue."],
)
def test_what_a_thing_is_like_stays_so_in_what_follows(words: str) -> None:
    after = changed(CAT, words)
    assert [shown(step) for step in after.plan.steps] == [
        "On a meadow: a blue ball.",
        "On a meadow: a blue ball; a cat.",
        "On a meadow: a blue ball; a sleeping cat.",
        "On a meadow: a blue ball; a sleeping cat; two apples.",
    ]
    assert after.plan.steps[0].caption == "A blue ball."
    assert "stays so in step 2, step 3 and step 4" in after.reasoning


def test_only_in_one_step() -> None:
    after = changed(CAT, "only in step 1 the ball is blue")
    assert after.origins == (None, None, 2, 3)
    assert shown(after.plan.steps[1]) == "On a meadow: a red ball; a cat."


def test_a_change_of_number_changes_the_caption_too() -> None:
    after = changed(CAT, "two balls in step 1")
    assert shown(after.plan.steps[0]) == "On a meadow: two red balls."
    assert after.plan.steps[0].caption == "Two red balls."


@pytest.mark.parametrize(
    ("words", "place", "shows"),
    [
        ("add a step after 2: the cat jumps on the ball", 2, "On a meadow: a red ball; a cat on the ball."),
        ("insert a new step before step 3 where the cat eats an apple", 2, "On a meadow: a red ball; a cat; an apple."),
        ("add a step at the beginning: a yellow ball", 0, "On a meadow: a yellow ball."),
        ("Please add one more step: make the ball green", 4,
         "On a meadow: a green ball; a sleeping cat; two apples."),
        ("between steps 2 and 3 add a step: make the cat black", 2, "On a meadow: a red ball; a black cat."),
    ],
)  # fmt: skip
def test_a_new_step_is_the_only_one_that_is_drawn(words: str, place: int, shows: str) -> None:
    after = changed(CAT, words)
    old = [0, 1, 2, 3]
    assert after.origins == (*old[:place], None, *old[place:])
    assert shown(after.plan.steps[place]) == shows
    kept = [step for index, step in enumerate(after.plan.steps) if index != place]
    assert [step.instruction for step in kept] == [step.instruction for step in CAT.steps]


def test_a_new_step_without_words_shows_half_the_way() -> None:
    after = changed(BEAN, "add a step after step 1")
    assert after.origins == (0, None, 1, 2, 3)
    assert shown(after.plan.steps[1]) not in (shown(BEAN.steps[0]), shown(BEAN.steps[1]))
    none = changed(CAT, "add a step after step 1")
    assert none.origins == (0, 1, 2, 3)
    assert "does not say what" in none.warnings[0].message


def test_no_more_steps_than_allowed() -> None:
    after = changed(CAT, "add a step: a cat", most=4)
    assert len(after.plan.steps) == 4
    assert after.warnings[0].code == "step_count"


@pytest.mark.parametrize(
    "words", ["delete step 2", "Please remove the second step", "drop step 2, please", "删除第二步"]
)
def test_a_step_goes_and_nothing_is_redrawn(words: str) -> None:
    after = changed(CAT, words)
    assert after.origins == (0, 2, 3)
    assert not after.warnings


def test_where_nothing_is_drawn_yet_a_step_is_built_on_what_is_left() -> None:
    after = changed(CAT, "delete step 1", drawn=False)
    first, second, _ = after.plan.steps
    assert (first.op, first.sources, shown(first)) == ("generate", (), "On a meadow: a red ball; a cat.")
    assert second.sources == ("step:0",)


@pytest.mark.parametrize(
    ("words", "origins"),
    [
        ("move step 4 before step 2", (0, 3, 1, 2)),
        ("move step 3 to the front", (2, 0, 1, 3)),
        ("step 1 should come after step 2", (1, 0, 2, 3)),
        ("move step 1 to position 3", (1, 2, 0, 3)),
        ("move the first step to the end", (1, 2, 3, 0)),
        ("swap steps 2 and 3", (0, 2, 1, 3)),
        ("swap step 1 with the last step", (3, 1, 2, 0)),
        ("reverse the order", (3, 2, 1, 0)),
    ],
)
def test_steps_change_places_with_their_pictures(words: str, origins: tuple[int, ...]) -> None:
    assert changed(CAT, words).origins == origins
    undrawn = changed(CAT, words, drawn=False)
    assert [shown(step) for step in undrawn.plan.steps] == [shown(CAT.steps[index]) for index in origins]
    assert not undrawn.warnings


@pytest.mark.parametrize("words", ["redo step 3", "draw the third picture again", "another version of step 3"])
def test_a_step_is_drawn_again(words: str) -> None:
    after = changed(CAT, words)
    assert after.origins == (0, 1, None, 3)
    assert after.plan == CAT


@pytest.mark.parametrize(
    ("words", "style"),
    [
        ("same story as watercolour", {"look": "watercolour", "palette": ""}),
        ("make it look like a comic", {"look": "comic", "palette": ""}),
        ("in the style of Hokusai", {"look": "Hokusai", "palette": ""}),
        ("all in blue", {"palette": "blue"}),
        ("everything in black and white", {"palette": "black and white"}),
    ],
)
def test_another_look_is_that_of_the_whole(words: str, style: dict[str, str]) -> None:
    after = changed(CAT, words)
    assert after.plan.style_guide == CAT.style_guide.model_copy(update=style)
    assert after.origins == (None,) * 4
    one = changed(CAT, "make step 2 look like a comic")
    assert one.plan == CAT
    assert "whole document" in one.warnings[0].message


def test_words_change_and_no_picture() -> None:
    after = changed(
        CAT, 'change the caption of step 2 to "Now a cat comes". Rename step 3 to Sleep, and call it "My day"'
    )
    assert after.origins == (0, 1, 2, 3)
    assert after.plan.steps[1].caption == "Now a cat comes"
    assert after.plan.steps[2].title == "Sleep"
    assert after.plan.title == "My day"
    assert not after.warnings


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("in French", "unknown_words", "nothing can be translated here"),
        ("translate it into German", "unknown_words", "nothing can be translated here"),
        ("make step 3 more melancholic", "unknown_words", "“make it more melancholic”"),
        ("make step 9 blue", "other", "There is no step 9: the steps are 1 to 4."),
        ("delete all steps", "other", "No step would be left"),
        ("in 3 steps", "unknown_words", "“in 3 steps”"),
        ("make the dog blue", "unknown_words", "“make the dog blue”"),
        ("split step 4", "other", "single change"),
    ],
)
def test_what_is_not_understood_keeps_the_plan_and_is_said(words: str, code: str, told: str) -> None:
    after = changed(CAT, words)
    assert (after.plan, after.origins) == (CAT, (0, 1, 2, 3))
    assert [warning.code for warning in after.warnings] == [code]
    assert told in after.warnings[0].message


def test_words_nobody_knows_are_not_dropped_in_silence() -> None:
    after = changed(CAT, "make step 2 glittering blue and add a step: a frobnicator")
    messages = [warning.message for warning in after.warnings]
    assert "“glittering”; left out" in messages[0]
    assert "“frobnicator”; drawn as labelled cards" in messages[1]


def test_a_step_of_words_has_no_picture_to_change() -> None:
    assert [step.op for step in TOLD.steps] == ["generate", "text", "edit"]
    after = changed(TOLD, "make step 2 night-time")
    assert after.plan == TOLD
    assert "words only" in after.warnings[0].message
    # The second picture is that of step 3.
    assert shown(changed(TOLD, "make the second picture night-time").plan.steps[2]).startswith("At night")


FAILED = "could not be drawn as instructed in 3 attempts. What was said of the last: make step 1 blue; it is not.\n"
OTHERWISE = "Plan it otherwise, so that it can be drawn; keep what was accepted."


def test_what_could_not_be_drawn_is_split() -> None:
    after = changed(BEAN, f"Step 2 {FAILED}{OTHERWISE}")
    assert after.origins == (0, None, None, 2, 3)
    assert shown(after.plan.steps[2]) == shown(BEAN.steps[1])
    assert after.plan.steps[2].sources == ("step:1",)
    assert "too much at once" in after.reasoning


def test_what_could_not_be_drawn_and_cannot_be_split_shows_less() -> None:
    after = changed(CAT, f"Step 4 {FAILED}{OTHERWISE}")
    assert after.origins == (0, 1, 2, None)
    assert shown(after.plan.steps[3]) == "On a meadow: a red ball; two apples."
    assert "without the cat" in after.reasoning


def test_what_shows_but_little_is_drawn_from_nothing() -> None:
    after = changed(CAT, f"Step 2 {FAILED}{OTHERWISE}")
    assert (after.plan.steps[1].op, after.plan.steps[1].sources) == ("generate", ())
    assert shown(after.plan.steps[1]) == shown(CAT.steps[1])


def test_several_orders_at_once() -> None:
    words = "Make step 2 darker and delete step 4. Add a moon.\n- rename step 1 to Start\n- leave the rest as it is"
    after = changed(CAT, words)
    # What follows an order of a step without naming one is about ... nothing but the whole.
    assert after.plan.steps[0].title == "Start"
    assert len(after.plan.steps) == 3
    assert not after.warnings
    assert shown(after.plan.steps[1]) == "At night: a red ball; a cat; a moon."


def test_a_plan_of_somebody_else_keeps_its_own_words() -> None:
    steps = (
        Step(
            index=0, op="generate", instruction="A cosy ball on grass", prompt="A cosy ball, film grain", caption="One"
        ),
        Step(index=1, op="edit", instruction="Let it roll", prompt="Roll it", sources=("step:0",)),
    )
    after = changed(Plan(steps=steps, style_guide=StyleGuide(look="oil")), "make the ball in step 1 blue")
    assert after.plan.steps[0].prompt == "A cosy ball, film grain Make the ball blue."
    assert after.plan.steps[0].instruction == "A cosy ball on grass Make the ball blue."
    assert after.origins == (None, 1)


def test_steps_are_called_what_the_document_calls_them() -> None:
    continued = CAT.model_copy(update={"first_number": 5})
    assert changed(continued, "delete step 6").origins == (0, 2, 3)
    assert "the steps are 5 to 8" in changed(continued, "delete step 1").warnings[0].message


def test_a_backend_that_takes_no_pictures_gets_none() -> None:
    plan = plan_of("1. a red ball\n2. add a cat", BLIND)
    after = changed(plan, "add a step: make the cat black", capabilities=BLIND)
    assert [step.op for step in after.plan.steps] == ["generate"] * 3
    assert shown(after.plan.steps[2]) == "On a meadow: a red ball; a black cat."


@pytest.mark.parametrize(
    ("text", "marked", "steps"),
    [
        ("swap step 1 and step 4", "swap *", [(0, 3)]),
        ("step 2 and 3 birds", "* and 3 birds", [(1,)]),
        ("the last two pictures", "*", [(2, 3)]),
        ("the second to last step", "*", [(2,)]),
        ("from step 2 on it rains", "* it rains", [(1, 2, 3)]),
        ("remove it from step 2, please", "remove it from *, please", [(1,)]),
        ("Schritt 2", "*", [(1,)]),
        ("step 999999999 is gone", "step 999999999 is gone", []),
    ],
)
def test_which_steps_are_named(text: str, marked: str, steps: list[tuple[int, ...]]) -> None:
    found, named = named_in(text, [0, 1, 2, 3], 4)
    assert (found.replace(MARK, "*"), [one.steps for one in named]) == (marked, steps)


def test_quotations_are_not_cut_up_nor_read() -> None:
    (order,) = orders_of('caption step 2 as "Delete step 1. Then; and make step 3 blue"', [0, 1, 2, 3], 4)
    assert (order.kind, order.steps) == ("caption", (1,))
    assert order.words == "Delete step 1. Then; and make step 3 blue"


SAID = (
    "make delete add insert move swap redo split step steps 1 2 3 4 9 the first last picture every from on "
    "after before between to end front : . , ; and night darker blue ball cat a two caption title of in "
    "French as watercolour simpler only is should be rename call it keep order reverse again with without "
    'could not drawn " “ ”'
)
WORDS = st.sampled_from([*SAID.split(" "), "\n"])


@settings(max_examples=60)
@given(st.lists(WORDS, max_size=16).map(" ".join), st.booleans(), st.sampled_from([CAT, BEAN, TOLD]))
def test_no_words_raise_or_lead_to_a_plan_that_cannot_be(words: str, drawn: bool, plan: Plan) -> None:
    if not words.strip():
        return
    after = changed(plan, words, drawn=drawn)
    assert "could not be made" not in " ".join(warning.message for warning in after.warnings)
    kept = [origin for origin in after.origins or () if origin is not None]
    assert len(set(kept)) == len(kept)
    assert after.reasoning


@settings(max_examples=40)
@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    after = changed(CAT, text)
    assert after.plan.steps
