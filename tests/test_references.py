"""The reference policy: which pictures a step is drawn from, in which order, and what is said with them."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.backends.prompts import fit_prompt
from langgraph_interleave.prompts.drawing import Wording, styled_prompt, unstyled_prompt
from langgraph_interleave.references import (
    Basis,
    Policy,
    References,
    basis,
    choose,
    sheet_step,
    shows_a_character,
)
from langgraph_interleave.testing import simple_plan
from langgraph_interleave.types import ArtifactRef, Step, StyleGuide, parse_source

CHAIN = simple_plan(7).steps


def ref(number: int) -> ArtifactRef:
    return ArtifactRef(sha256=f"{number:064x}", mime="image/png", size=1, width=8, height=8)


def made(index: int, op: str, *sources: str) -> Step:
    return Step(index=index, op=op, instruction=f"I {index}.", prompt=f"p {index}", sources=sources)  # type: ignore[arg-type]


#: A photo is edited, edited again, then a new scene with the first thing in it, and an edit of that.
MIXED = (
    made(0, "edit", "input:0"),
    made(1, "edit", "step:0"),
    Step(index=2, op="text", caption="Meanwhile."),
    made(3, "generate", "step:0"),
    made(4, "edit", "step:3", "input:1"),
    made(5, "generate"),
)


@pytest.mark.parametrize("step", MIXED)
def test_explicit_is_what_the_plan_says(step: Step) -> None:
    found = basis(step, MIXED, inputs=2)
    assert (found.shown, found.added, found.before, found.again) == (step.sources, (), None, ())


@pytest.mark.parametrize(
    ("index", "sources"),
    [
        (0, ("input:0",)),
        (1, ("step:0",)),
        (2, ()),
        (3, ("step:1",)),  # the text step has no picture
        (4, ("step:3", "input:1")),  # a picture of the request that the plan names stays
        (5, ("step:4",)),
    ],
)
def test_previous_is_the_picture_before(index: int, sources: tuple[str, ...]) -> None:
    assert basis(MIXED[index], MIXED, Policy("previous"), inputs=2).shown == sources


def test_first_starts_each_edit_again_and_the_critic_still_compares_with_the_picture_before() -> None:
    found = basis(CHAIN[4], CHAIN, Policy("first"))
    assert found == Basis(("step:0",), (), "step:3", again=(1, 2, 3), depth=1, root="step:0")
    # Everything needed is waited for, also the prompts that are said again.
    assert set(found.steps) == {0, 1, 2, 3}


def test_first_knows_chains_and_gives_the_first_picture_to_what_starts_from_nothing() -> None:
    policy = Policy("first")
    assert basis(MIXED[1], MIXED, policy, inputs=2).drawn_from == ("input:0",)
    assert basis(MIXED[1], MIXED, policy, inputs=2).again == (0,)
    assert basis(MIXED[4], MIXED, policy, inputs=2) == Basis(("step:3", "input:1"), depth=1, root="step:3")
    assert basis(MIXED[5], MIXED, policy).shown == ("step:0",)
    assert basis(CHAIN[0], CHAIN, policy) == Basis()


def test_all_is_the_plan_then_the_inputs_then_what_is_nearest() -> None:
    assert basis(MIXED[4], MIXED, Policy("all"), inputs=2).shown == (
        "step:3", "input:1", "input:0", "step:1", "step:0",
    )  # fmt: skip
    assert basis(MIXED[5], MIXED, Policy("all")).shown == ("step:4", "step:3", "step:1", "step:0")


def test_inputs_can_be_anchored_to_every_step() -> None:
    policy = Policy(anchor_inputs=True)
    assert basis(CHAIN[2], CHAIN, policy, inputs=2).shown == ("step:1", "input:0", "input:1")
    assert basis(CHAIN[0], CHAIN, policy, inputs=1).shown == ("input:0",)
    assert basis(MIXED[0], MIXED, policy, inputs=1).shown == ("input:0",)  # given once
    assert basis(MIXED[2], MIXED, policy, inputs=1) == Basis()  # a text step takes nothing


@pytest.mark.parametrize(
    ("every", "roots", "depths"),
    [
        (None, [False] * 7, [0, 1, 2, 3, 4, 5, 6]),
        (1, [False, False, True, True, True, True, True], [0, 1, 1, 1, 1, 1, 1]),
        (2, [False, False, True, False, True, False, True], [0, 1, 1, 2, 1, 2, 1]),
        (3, [False, False, False, True, False, False, True], [0, 1, 2, 1, 2, 3, 1]),
    ],
)
def test_every_kth_edit_is_drawn_from_where_the_chain_began(
    every: int | None, roots: list[bool], depths: list[int]
) -> None:
    found = [basis(step, CHAIN, Policy(reanchor_every=every)) for step in CHAIN]
    assert [bool(one.again) for one in found] == roots
    assert [one.depth for one in found] == depths
    assert all(one.drawn_from == ("step:0",) for one in found if one.again)


@given(
    st.integers(2, 8).flatmap(
        lambda n: st.tuples(*(st.lists(st.integers(0, max(0, i - 1)), max_size=2) for i in range(n)))
    ),
    st.sampled_from(get_args(References)),
    st.booleans(),
    st.sampled_from([None, 1, 2, 3]),
)
def test_whatever_the_policy_steps_build_backwards_and_on_each_picture_once(
    sources: tuple[list[int], ...], references: References, anchored: bool, every: int | None
) -> None:
    named = [[j for j in dict.fromkeys(one) if j < i] for i, one in enumerate(sources)]
    steps = simple_plan(len(named), sources=named).steps
    policy = Policy(references, anchored, every)
    sheet = len(steps) if references == "sheet" else None
    for step in steps:
        found = basis(step, steps, policy, inputs=2, sheet=sheet)
        assert len(set(found.shown)) == len(found.shown)
        assert all(number < step.index for number in found.steps if number != len(steps))
        assert all(kind == "step" or number < 2 for kind, number in map(parse_source, found.shown))
        assert found == basis(
            step, steps[: step.index + 1], policy, inputs=2, sheet=len(steps) if references == "sheet" else None
        )
        assert (found.depth == 0) == (found.root is None)
        if every and references != "first":
            assert found.depth <= every


# --- pictures ---------------------------------------------------------------------------------


def test_what_a_backend_does_not_take_is_left_out_from_the_end_and_said() -> None:
    found = basis(CHAIN[3], CHAIN, Policy("all", anchor_inputs=True), inputs=1)
    pictures = {"input:0": ref(10), **{f"step:{n}": ref(n) for n in range(7)}}
    chosen = choose(found, pictures.get, at_most=2)
    assert chosen is not None and chosen.references == (ref(2), ref(10))
    assert chosen.left_out == (
        "The backend takes 2 references; of 4, it was not given: the picture of step 2, the picture of step 1."
    )
    assert (all_of_them := choose(found, pictures.get)) is not None
    assert (len(all_of_them.references), all_of_them.left_out) == (4, None)


def test_what_the_plan_builds_on_is_never_left_out() -> None:
    """A backend that takes no picture says so itself; nothing is drawn from nothing in silence."""
    chosen = choose(basis(CHAIN[1], CHAIN), {"step:0": ref(0)}.get, at_most=0)
    assert chosen is not None and chosen.references == (ref(0),)
    added = choose(basis(CHAIN[0], CHAIN, Policy(anchor_inputs=True), inputs=1), {"input:0": ref(9)}.get, at_most=0)
    assert added is not None and added.references == () and added.left_out is not None


def test_a_needed_picture_is_waited_for_and_an_added_one_left_out() -> None:
    found = basis(CHAIN[3], CHAIN, Policy("all"))
    pictures = {f"step:{n}": ref(n) for n in (0, 2)}
    chosen = choose(found, pictures.get)
    assert chosen is not None and chosen.references == (ref(2), ref(0))
    assert choose(found, {"step:0": ref(0)}.get) is None
    again = basis(CHAIN[3], CHAIN, Policy("first"))
    assert choose(again, {"step:0": ref(0)}.get) is None  # the critic has nothing to compare with
    compared = choose(again, pictures.get)
    assert compared is not None and (compared.references, compared.before) == ((ref(0),), ref(2))


# --- the sheet --------------------------------------------------------------------------------


def test_a_sheet_shows_the_characters_in_the_look_of_the_sequence() -> None:
    step = sheet_step(4, StyleGuide(characters="Mira: a girl in red boots; a grey cat.", look="ink and wash"))
    assert step is not None and (step.index, step.op, step.sources) == (4, "generate", ())
    assert "Mira: a girl in red boots; a grey cat" in (step.prompt or "")
    assert "ink and wash" in (step.prompt or "")
    assert sheet_step(4, StyleGuide(look="ink")) is None


@pytest.mark.parametrize(
    ("characters", "prompt", "shown"),
    [
        ("Mira: a girl in red boots; Tom - her cat", "Mira opens the door", True),
        ("Mira: a girl in red boots; Tom - her cat", "tom sleeps", True),
        ("Mira: a girl in red boots; Tom - her cat", "an empty street in the rain", False),
        ("a red ball, a blue cup and the old kettle", "The KETTLE whistles.", True),
        ("a red ball, a blue cup and the old kettle", "a red door", False),
        ("Mira (a girl of 8); Tom is her cat", "Mira waits", True),
        ("Mira (a girl of 8); Tom is her cat", "Tom's bowl", True),
        ("a red ball", "three balls roll away", True),
        ("a fox with wings", "two foxes meet", True),
        ("猫；米拉：穿红靴的女孩", "一只猫在睡觉。", True),
        ("猫；米拉：穿红靴的女孩", "米拉打开门。", True),
        ("猫；米拉：穿红靴的女孩", "雨中空荡荡的街道。", False),
        ("ミラ（赤い長靴の女の子）、小さな犬", "ミラが待っている。", True),
        ("แมวสีเทา", "วันนี้แมวสีเทานอน", True),
        ("", "anything", True),
        ("; ,", "anything", True),
    ],
)
def test_which_steps_show_a_character(characters: str, prompt: str, shown: bool) -> None:
    step = Step(index=0, op="generate", instruction="It happens.", prompt=prompt)
    assert shows_a_character(step, StyleGuide(characters=characters)) is shown


def test_an_edit_shows_whom_its_picture_shows() -> None:
    style = StyleGuide(characters="Mira: red boots")
    steps = (
        Step(index=0, op="generate", instruction="Mira waits.", prompt="Mira at a stop"),
        Step(index=1, op="edit", instruction="It rains.", prompt="add rain", sources=("step:0",)),
        Step(index=2, op="edit", instruction="She leaves.", prompt="she leaves", sources=("step:1",)),
        Step(index=3, op="generate", instruction="A bus.", prompt="a bus", sources=("step:0",)),
        Step(index=4, op="edit", instruction="A frame.", prompt="a frame", sources=("input:0",)),
    )
    assert [shows_a_character(step, style, steps) for step in steps] == [True, True, True, False, False]


def test_a_sheet_goes_to_steps_after_the_plan_and_not_to_itself() -> None:
    sheet = sheet_step(7, StyleGuide(characters="a cat"))
    assert sheet is not None
    steps = (*CHAIN, sheet)
    assert basis(CHAIN[2], steps, Policy("sheet"), sheet=7).shown == ("step:1", "step:7")
    assert basis(CHAIN[2], steps, Policy("sheet", anchor_inputs=True), inputs=1, sheet=7).shown == (
        "step:1", "input:0", "step:7",
    )  # fmt: skip
    assert basis(sheet, steps, Policy("sheet"), sheet=7) == Basis()


# --- words ------------------------------------------------------------------------------------

STYLE = StyleGuide(look="ink drawing", palette="two greys", characters="Mira: red boots", keep="the table.")


def test_the_style_is_at_the_end_once() -> None:
    said = styled_prompt("a pot", STYLE)
    assert said == (
        "a pot\n\nStyle of the whole sequence: ink drawing; characters: Mira: red boots; palette: two greys; "
        "keep the same: the table."
    )
    assert styled_prompt(said, STYLE) == said
    assert styled_prompt("a pot", StyleGuide()) == "a pot"
    assert unstyled_prompt(said) == "a pot"


@given(st.text(max_size=60), st.integers(1, 200))
def test_a_style_never_grows_without_end_and_never_takes_from_the_prompt(prompt: str, most: int) -> None:
    said = styled_prompt(prompt, STYLE, most)
    assert said.startswith(unstyled_prompt(prompt))
    assert styled_prompt(said, STYLE, most) == said
    assert len(said) <= max(len(prompt) + most + 3, most * 3)


def test_a_style_that_does_not_fit_is_told_in_part() -> None:
    assert styled_prompt("a pot", STYLE, 20).endswith("Style of the whole sequence: ink drawing.")
    assert styled_prompt("a pot", STYLE, 5) == "a pot"


def test_what_starts_again_is_told_all_changes_in_order() -> None:
    said = Wording(STYLE, ("fill\nthe pot", "add soil")).text("plant a bean")
    assert said.splitlines()[1:4] == ["1. fill the pot", "2. add soil", "3. plant a bean"]
    assert said.endswith("keep the same: the table.")


def test_changes_that_cannot_be_merged_start_again_from_the_first_picture() -> None:
    assert Wording(from_first=True).text("a bean in a pot") == "Start again from the first picture. a bean in a pot"
    long = Wording(None, ("x" * 300,), from_first=True, max_tokens=77)
    assert long.text("a bean in a pot") == "Start again from the first picture. a bean in a pot"


def test_a_prompt_that_is_shortened_keeps_the_style_at_its_end() -> None:
    long = "A cat. " + "It sits on the wall near the garden and looks at a bird. " * 12
    style = StyleGuide(look="ink drawing", characters="Mira: red boots")
    sent = fit_prompt(styled_prompt(long, style, 77), max_tokens=77)
    assert sent.warnings and sent.text.startswith("A cat.")
    assert sent.text.endswith("Style of the whole sequence: ink drawing; characters: Mira: red boots.")
