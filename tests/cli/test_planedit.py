"""A plan changed by hand: by commands, as text, and what the answer then is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.changes import apply_changes
from langgraph_interleave.cli.planedit import WORDS, PlanEdit
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.reviewing import plan_question, read_answer
from langgraph_interleave.testing import simple_plan
from langgraph_interleave.types import Plan, PlanReview

#: 0 → 1 → 2, and words at the end.
CHAIN = simple_plan(4, sources=[[], [0], [1], []], text=[3])


def editing(plan: Plan = CHAIN) -> PlanEdit:
    return PlanEdit(plan_question(plan, estimate="No cost."))


def result(edit: PlanEdit, plan: Plan = CHAIN) -> Plan:
    """The plan that is drawn after the answer."""
    review = read_answer(PlanReview, edit.review())
    return plan if review.changes is None else apply_changes(plan, review.changes).plan


def captions(plan: Plan) -> list[str | None]:
    return [step.caption for step in plan.steps]


def test_a_plan_that_nobody_changed_is_accepted_as_it_is() -> None:
    assert editing().review() == {"decision": "accept"}


def test_commands_change_the_plan() -> None:
    edit = editing()
    edit.delete(2)
    edit.move(3, 1)
    edit.reword(1, caption="First.")
    edit.insert(0, "Before all.")
    edit.reword(3, instruction="Another picture.")
    plan = result(edit)
    assert captions(plan) == ["Before all.", "First.", "Caption of step 0.", "Caption of step 2."]
    assert [step.op for step in plan.steps] == ["text", "text", "generate", "edit"]
    assert (plan.steps[2].instruction, plan.steps[2].prompt) == ("Another picture.", "Another picture.")
    assert plan.steps[3].sources == ("step:2",), "what is left of its chain"


def test_every_change_is_taken_back() -> None:
    edit = editing()
    edit.delete(1)
    edit.move(1, 2)
    edit.undo()
    assert [entry.step for entry in edit.entries] == [1, 2, 3]
    edit.undo()
    assert edit.review() == {"decision": "accept"}
    with pytest.raises(ConfigError, match="Nothing was changed"):
        edit.undo()


@pytest.mark.parametrize("number", [0, 5, -1])
def test_a_step_that_is_not_there_is_said(number: int) -> None:
    with pytest.raises(ConfigError, match="There are 1 to 4"):
        editing().delete(number)


def test_the_last_step_is_not_deleted() -> None:
    edit = editing(simple_plan(1))
    with pytest.raises(ConfigError, match="last step"):
        edit.delete(1)


def test_numbers_are_the_plans_own() -> None:
    plan = CHAIN.model_copy(update={"first_number": 5})
    edit = editing(plan)
    assert "[5]" in edit.text() and "from: step 5" in edit.text()
    edit.delete(8)
    assert [entry.step for entry in edit.entries] == [0, 1, 2]


def test_the_text_read_back_changes_nothing() -> None:
    edit = editing()
    edit.read(edit.text())
    assert edit.review() == {"decision": "accept"}
    edit.read("")
    edit.read("# only\n# remarks\n")
    assert not edit.changed


def test_text_changes_the_plan() -> None:
    edit = editing()
    text = edit.text().replace("plan: A plan", "plan: Mine").replace("Caption of step 0.", "My words,\n  two lines.")
    kept, _, gone = text.partition("[3]")
    edit.read(f"{kept}[new]\ntitle: New\ninstruction: A cat.\nfrom: step 2\n[4]{gone.partition('[4]')[2]}")
    plan = result(edit)
    assert plan.title == "Mine"
    assert plan.steps[0].caption == "My words,\ntwo lines."
    new = plan.steps[2]
    assert (new.title, new.op, new.prompt, new.sources) == ("New", "edit", "A cat.", ("step:1",))
    assert captions(plan)[3] == "Words of step 3."
    edit.undo()
    assert not edit.changed


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[9]\ncaption: x", r"no step \[9\]"),
        ("[1]\n[1]", r"two steps \[1\]"),
        ("[1]\nwhat is this", "Line 2 cannot be understood"),
        ("words before any step", "Line 1"),
        ("[1]\nfrom: the moon", "names nothing"),
    ],
)
def test_text_that_cannot_be_understood_changes_nothing(text: str, says: str) -> None:
    edit = editing()
    with pytest.raises(ConfigError, match=says):
        edit.read(text)
    assert not edit.changed


_WORD = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=30)


@given(st.lists(st.tuples(st.sampled_from(WORDS), _WORD.map(str.strip).filter(bool)), min_size=1, max_size=6))
def test_any_words_survive_the_editor(words: list[tuple[str, str]]) -> None:
    edit = editing()
    for name, text in words:
        edit.reword(1, **{name: text})
    before = edit.review()
    again = editing()
    again.read(edit.text())
    assert again.review() == before


@given(st.lists(st.sampled_from(["d", "m", "w", "n", "u"]), max_size=8), st.randoms(use_true_random=False))
def test_any_commands_leave_a_plan_that_can_be_drawn(commands: list[str], random: Any) -> None:
    edit = editing()
    for command in commands:
        count = len(edit.entries)
        number = random.randint(1, count)
        if command == "d" and count > 1:
            edit.delete(number)
        elif command == "m":
            edit.move(number, random.randint(1, count))
        elif command == "w":
            edit.reword(number, caption="Other words.")
        elif command == "n":
            edit.insert(random.randint(0, count), "Words.")
    review = read_answer(PlanReview, edit.review())
    # Only an edit that has lost all it started from may be refused, and the reviewer is told.
    first = [entry.step for entry in edit.entries if entry.step in (0, 1, 2)]
    if review.changes is not None and first[:1] in ([0], []):
        assert len(apply_changes(CHAIN, review.changes).plan.steps) == len(edit.entries)
