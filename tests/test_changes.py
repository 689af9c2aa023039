"""Changing a plan, finding a plan's steps in another, and telling two documents apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.changes import apply_changes, compare, match_steps
from langgraph_interleave.errors import PlanError
from langgraph_interleave.types import (
    ArtifactRef,
    Change,
    Changes,
    DocumentData,
    DocumentStep,
    Plan,
    Request,
    Step,
    StyleGuide,
    TextPart,
    parse_source,
)


def drawn(index: int, *sources: str, op: Any = None, **fields: Any) -> Step:
    words = {"instruction": f"Is {index}.", "prompt": f"Draw {index}", "title": f"T{index}", "caption": f"C{index}"}
    return Step(index=index, op=op or ("edit" if sources else "generate"), sources=sources, **{**words, **fields})


def said(index: int) -> Step:
    return Step(index=index, op="text", title=f"T{index}", caption=f"C{index}")


def chain(length: int) -> Plan:
    steps = [drawn(index, *([f"step:{index - 1}"] if index else [])) for index in range(length)]
    return Plan(steps=tuple(steps), style_guide=StyleGuide(look="ink"), title="A chain", first_number=3)


def changes(*steps: Any, **fields: Any) -> Changes:
    listed = [one if isinstance(one, Change) else Change(change="keep", step=one) for one in steps]
    return Changes(steps=tuple(listed), **fields)


def redo(step: int, **fields: Any) -> Change:
    return Change(change="redo", step=step, **fields)


def insert(*sources: str, **fields: Any) -> Change:
    words: dict[str, Any] = {"instruction": "Is new.", "prompt": "Draw new", "title": "New"}
    return Change(change="insert", sources=sources, **{**words, **fields})


def sources_of(plan: Plan) -> list[tuple[str, ...]]:
    return [step.sources for step in plan.steps]


def test_one_step_is_drawn_again_and_the_rest_stays() -> None:
    plan = chain(3)
    changed = apply_changes(plan, changes(0, redo(1, instruction="Is dark.", prompt="Darker"), 2))
    assert changed.origins == (0, None, 2)
    assert changed.plan.steps[1] == plan.steps[1].model_copy(update={"instruction": "Is dark.", "prompt": "Darker"})
    assert (changed.plan.steps[0], changed.plan.steps[2]) == (plan.steps[0], plan.steps[2])
    assert (changed.plan.title, changed.plan.first_number) == ("A chain", 3)


def test_a_step_is_put_between_and_what_follows_builds_on_it_where_it_says_so() -> None:
    changed = apply_changes(chain(3), changes(0, insert("step:0"), redo(1, sources=("new:1",)), 2))
    assert changed.origins == (0, None, None, 2)
    assert sources_of(changed.plan) == [(), ("step:0",), ("step:1",), ("step:2",)]
    assert [step.op for step in changed.plan.steps] == ["generate", "edit", "edit", "edit"], "an insert's op is derived"


def test_what_was_drawn_from_a_deleted_step_keeps_its_picture_and_builds_on_what_that_one_was_built_on() -> None:
    gone = (Change(change="delete", step=1), Change(change="delete", step=2))
    for listed in ((0, *gone, 3), (0, 3)):
        changed = apply_changes(chain(4), changes(*listed))
        assert changed.origins == (0, 3)
        assert sources_of(changed.plan) == [(), ("step:0",)]


def test_an_edit_whose_only_source_is_gone_starts_from_the_picture_it_was_drawn_from() -> None:
    changed = apply_changes(chain(2), changes(1), pictures={0: 4, 1: 5})
    assert (changed.origins, sources_of(changed.plan)) == ((1,), [("input:4",)])
    with pytest.raises(PlanError, match=r"step:1 is an edit, and nothing .* must be 'redo'"):
        apply_changes(chain(2), changes(1))


def test_a_step_that_comes_before_its_source_now_builds_on_that_ones_earlier_sources() -> None:
    moved = Change(change="reorder", step=2)
    changed = apply_changes(chain(3), changes(0, moved, Change(change="reorder", step=1)))
    assert changed.origins == (0, 2, 1)
    assert sources_of(changed.plan) == [(), ("step:0",), ("step:0",)]


def test_a_present_picture_can_be_edited() -> None:
    changed = apply_changes(chain(2), changes(0, redo(1, op="edit", sources=("input:3",))), pictures={0: 2, 1: 3})
    assert sources_of(changed.plan) == [(), ("input:3",)]
    with pytest.raises(PlanError, match="is the step itself.*input:3"):
        apply_changes(chain(2), changes(0, redo(1, sources=("step:1",))), pictures={0: 2, 1: 3})


def test_other_words_are_no_drawing() -> None:
    plan = Plan(steps=(drawn(0), said(1)))
    french = [Change(change="recaption", step=at, title=f"F{at}", caption=f"G{at}") for at in (0, 1)]
    changed = apply_changes(plan, changes(*french, title="En français"))
    assert changed.origins == (0, 1)
    assert [(step.title, step.caption) for step in changed.plan.steps] == [("F0", "G0"), ("F1", "G1")]
    assert changed.plan.steps[0].prompt == "Draw 0"
    assert changed.plan.title == "En français"
    silent = apply_changes(plan, changes(Change(change="recaption", step=0, caption="")))
    assert silent.plan.steps[0].caption is None


def test_another_style_draws_every_picture_again_and_no_words() -> None:
    plan = Plan(steps=(drawn(0), said(1), drawn(2, "step:0")), style_guide=StyleGuide(look="ink"))
    assert apply_changes(plan, changes(0, 1, 2, style_guide=StyleGuide(look="gouache"))).origins == (None, 1, None)
    assert apply_changes(plan, changes(0, 1, 2, style_guide=StyleGuide(look="ink"))).origins == (0, 1, 2)


def test_a_picture_becomes_words_and_what_built_on_it_builds_on_what_was_before() -> None:
    changed = apply_changes(chain(3), changes(0, redo(1, op="text", caption="Wait."), 2))
    assert changed.origins == (0, None, 2)
    assert changed.plan.steps[1].model_dump(exclude_none=True) == {
        "index": 1, "op": "text", "title": "T1", "caption": "Wait.", "sources": (),
    }  # fmt: skip
    assert sources_of(changed.plan) == [(), (), ("step:0",)]


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        ([0, 1, 7], r"no step:7: .* step:0 to step:2"),
        ([0, 1, redo(2, sources=("step:9",))], "'step:9', which does not exist"),
        ([redo(0, sources=("step:1",)), 1, 2], "step:0 has the source 'step:1', which does not come before it"),
        ([0, redo(2, sources=("step:1",))], "'step:1', which is gone"),
        ([0, 1, redo(2, sources=("new:1",))], "place 1 of the list is no 'insert'"),
        ([0, 1, redo(2, sources=("new:9",))], "place 9 of the list is no 'insert'"),
        ([0, insert("new:1"), 1, 2], "'new:1', which does not come before it"),
        ([0, 1, redo(2, sources=("picture 1",))], "'picture 1', which is neither"),
        ([0, 1, redo(2, sources=())], "step:2 is an edit and names no source"),
        ([redo(0, op="edit"), 1, 2], "step:0 is to be an edit now"),
        ([0, insert(op="edit"), 1, 2], "'New' is an edit and names no source"),
        ([0, insert(prompt=None), 1, 2], "'New' is to be drawn .* needs an instruction and a prompt"),
        ([0, insert(op="text"), 1, 2], "'New'"),
        ([Change(change="insert", caption="Words."), insert("new:0"), 0], "has words only"),
        ([redo(1), 0, 2], "step:1 is an edit, and nothing .* its sources must be named"),
        (
            [Change(change="keep", step=0, caption="Else."), 1, 2],
            "step:0 is 'keep' .* another caption: say 'recaption'",
        ),
        ([Change(change="recaption", step=0, caption="X", prompt="Y"), 1], "another prompt: say 'redo'"),
    ],
)
def test_changes_that_cannot_be_made_say_which_and_why(listed: list[Any], says: str) -> None:
    with pytest.raises(PlanError, match=says):
        apply_changes(chain(3), changes(*listed))


def test_words_of_a_kept_step_may_be_repeated() -> None:
    repeated = Change(change="keep", step=0, title="T0", caption="C0", op="generate", sources=())
    assert apply_changes(chain(2), changes(repeated, 1)).plan == chain(2)


# --- whatever the plan and the changes ------------------------------------------------------------


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    made: list[Step] = []
    for index in range(draw(st.integers(1, 7))):
        if draw(st.integers(0, 4)) == 0:
            made.append(said(index))
            continue
        choices = ["input:0", *(f"step:{one.index}" for one in made if one.op != "text")]
        sources = draw(st.lists(st.sampled_from(choices), unique=True, max_size=3))
        made.append(drawn(index, *sources))
    return Plan(steps=tuple(made), style_guide=StyleGuide(look=draw(st.sampled_from(["", "ink"]))))


@st.composite
def changed_plans(draw: st.DrawFn) -> tuple[Plan, Changes]:
    """A plan and changes that are well formed, though they may be impossible."""
    plan = draw(plans())
    order = draw(st.permutations(range(len(plan.steps))))
    source = st.builds("{}:{}".format, st.sampled_from(["step", "new", "input"]), st.integers(0, 8))
    named = st.none() | st.lists(source, max_size=2).map(tuple)
    words = st.none() | st.sampled_from(["", "Words."])
    listed: list[Change] = []
    for step in order:
        kind = draw(st.sampled_from(["keep", "redo", "delete", "reorder", "recaption", "insert", "left out"]))
        if kind == "redo":
            fields: Any = {"op": draw(st.sampled_from([None, "generate", "edit", "text"])), "sources": draw(named)}
            listed.append(redo(step, caption=draw(words), prompt=draw(words), **fields))
        elif kind == "recaption":
            listed.append(Change(change="recaption", step=step, caption="Else.", title=draw(words)))
        elif kind == "insert":
            listed.append(insert(*(draw(named) or ()), caption=draw(words), prompt=draw(words)))
        elif kind != "left out":
            listed.append(Change(change=kind, step=step))  # pyright: ignore[reportArgumentType]
    if all(one.change == "delete" for one in listed):
        listed.append(Change(change="insert", caption="Words."))
    return plan, Changes(steps=tuple(listed))


@given(changed_plans(), st.booleans())
def test_any_changes_give_a_whole_plan_or_say_why_not(given_: tuple[Plan, Changes], seen: bool) -> None:
    plan, wanted = given_
    pictures = {step.index: 1 + step.index for step in plan.steps if step.op != "text"} if seen else {}
    refused = changed = None
    try:
        changed = apply_changes(plan, wanted, pictures=pictures)
    except PlanError as error:
        refused = error
    if refused is not None:
        assert len(refused.message) > 20 and refused.remedy
        return
    assert changed is not None
    again = Plan.model_validate(changed.plan.model_dump())  # every promise of a plan holds
    assert again == changed.plan
    for step in again.steps:
        on = [number for kind, number in map(parse_source, step.sources) if kind == "step"]
        assert all(again.steps[number].op != "text" for number in on)
        assert len(set(step.sources)) == len(step.sources)
    staying = [one for one in wanted.steps if one.change != "delete"]
    assert [one.step if one.change in ("keep", "reorder", "recaption") else None for one in staying] == [
        *changed.origins
    ]
    for step, origin in zip(again.steps, changed.origins, strict=True):
        if origin is not None:
            old = plan.steps[origin]
            assert (step.op, step.instruction, step.prompt) == (old.op, old.instruction, old.prompt)


@given(plans())
def test_keeping_everything_changes_nothing(plan: Plan) -> None:
    same = apply_changes(plan, changes(*range(len(plan.steps))))
    assert same.plan == plan
    assert same.origins == tuple(range(len(plan.steps))) == match_steps(plan, plan)


@given(plans(), st.data())
def test_deleting_and_reordering_drops_no_picture_that_is_kept(plan: Plan, data: st.DataObject) -> None:
    order: list[int] = data.draw(st.permutations(range(len(plan.steps))))
    kept = order[: data.draw(st.integers(1, len(order)))]
    pictures = {step.index: 1 + step.index for step in plan.steps if step.op != "text"}
    changed = apply_changes(plan, changes(*(Change(change="reorder", step=at) for at in kept)), pictures=pictures)
    assert changed.origins == tuple(kept)
    assert all(step.sources for step in changed.plan.steps if step.op == "edit")


# --- a whole new plan -----------------------------------------------------------------------------


def test_steps_are_the_same_when_all_that_makes_the_picture_is() -> None:
    old = chain(3)
    recaptioned = old.model_copy(update={"steps": (old.steps[0].model_copy(update={"caption": "!"}), *old.steps[1:])})
    assert match_steps(old, recaptioned) == (0, 1, 2)
    for field, value in (("prompt", "x"), ("instruction", "x"), ("backend", "x"), ("sources", ("input:0",))):
        other = old.steps[1].model_copy(update={field: value})
        new = old.model_copy(update={"steps": (old.steps[0], other, old.steps[2])})
        assert match_steps(old, new) == (0, None, None), f"{field}: what is built on it is another picture, too"


def test_steps_are_found_at_another_place_and_once() -> None:
    old = Plan(steps=(drawn(0), drawn(1), drawn(2, "step:1")))
    new = Plan(
        steps=tuple(
            old.steps[at].model_copy(update={"index": index, "sources": sources})
            for index, (at, sources) in enumerate([(1, ()), (2, ("step:0",)), (0, ())])
        )
    )
    assert match_steps(old, new) == (1, 2, 0)
    twice = Plan(steps=(drawn(0), drawn(1, prompt="Draw 0", instruction="Is 0.")))
    assert match_steps(Plan(steps=(drawn(0),)), twice) == (0, None)
    assert match_steps(twice, twice) == (0, 1)


def test_another_style_keeps_words_only() -> None:
    old = Plan(steps=(drawn(0), said(1)))
    assert match_steps(old, old.model_copy(update={"style_guide": StyleGuide(look="ink")})) == (None, 1)


# --- two documents --------------------------------------------------------------------------------


def shown(plan: Sequence[tuple[str, str]]) -> DocumentData:
    """A document of (picture, caption) pairs; `-` is a step of words."""
    steps = [
        DocumentStep(
            index=index,
            op="text" if picture == "-" else "generate",
            outcome="text_only" if picture == "-" else "accepted",
            caption=caption,
            image=None if picture in "-?" else ArtifactRef(sha256=picture * 64, mime="image/png", size=1),
        )
        for index, (picture, caption) in enumerate(plan)
    ]
    request = Request(parts=(TextPart(text="…"),))
    return DocumentData(run_id="r", request=request, outcome="complete", steps=tuple(steps))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([("a", "A"), ("b", "B")], [("a", "A"), ("b", "B")], ["keep 0", "keep 1"]),
        ([("a", "A"), ("b", "B")], [("a", "A"), ("c", "B")], ["keep 0", "redo 1"]),
        ([("a", "A"), ("b", "B")], [("a", "À"), ("b", "B")], ["recaption 0", "keep 1"]),
        ([("a", "A"), ("b", "B")], [("b", "B")], ["keep 1", "delete 0"]),
        ([("a", "A"), ("b", "B"), ("c", "C")], [("b", "B"), ("d", "C")], ["keep 1", "redo 2", "delete 0"]),
        ([("a", "A"), ("b", "B")], [("a", "A"), ("c", "C"), ("b", "B")], ["keep 0", "insert None", "keep 1"]),
        (
            [("a", "A"), ("b", "B"), ("c", "C")],
            [("c", "C"), ("a", "A"), ("b", "B")],
            ["reorder 2", "keep 0", "keep 1"],
        ),
        ([("-", "A"), ("a", "B")], [("-", "À"), ("a", "B")], ["recaption 0", "keep 1"]),
        ([("?", "A"), ("a", "B")], [("c", "A"), ("a", "B")], ["redo 0", "keep 1"]),
        ([("?", "A"), ("a", "B")], [("?", "A"), ("a", "B")], ["keep 0", "keep 1"]),
        ([("a", "A"), ("a", "A")], [("a", "A"), ("a", "A")], ["keep 0", "keep 1"]),
    ],
)
def test_what_lies_between_two_versions(old: Any, new: Any, expected: list[str]) -> None:
    assert [f"{one.change} {one.step}" for one in compare(shown(old), shown(new))] == expected


def test_a_version_says_its_new_words() -> None:
    found = compare(shown([("a", "A"), ("b", "B")]), shown([("a", "À"), ("c", "Ç"), ("d", "D")]))
    assert [one.caption for one in found] == ["À", "Ç", "D"]
    bare = shown([("a", "A")]).model_copy(
        update={"steps": (shown([("a", "A")]).steps[0].model_copy(update={"caption": None}),)}
    )
    assert compare(shown([("a", "A")]), bare) == (Change(change="recaption", step=0, caption=""),)


pages = st.lists(st.tuples(st.sampled_from("abc-?"), st.sampled_from("AB")), max_size=6)


@given(pages, pages)
def test_every_step_of_both_versions_is_accounted_for_once(old: Any, new: Any) -> None:
    assert all(one.change == "keep" for one in compare(shown(old), shown(old)))
    found = compare(shown(old), shown(new))
    staying = [one for one in found if one.change != "delete"]
    assert len(staying) == len(new) and found[: len(new)] == tuple(staying)
    named = [one.step for one in found if one.step is not None]
    assert sorted(named) == list(range(len(old)))
    for one, (picture, caption) in zip(staying, new, strict=True):
        if one.change in ("keep", "reorder"):
            assert one.step is not None and old[one.step] == (picture, caption)
