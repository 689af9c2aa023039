"""From a planner's text to changes of a plan: every form, what is tolerated, what may mean two things."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.changes import apply_changes
from langgraph_interleave.errors import PlanError
from langgraph_interleave.parsing import ParsedChanges, ParsedPlan, parse_changes
from langgraph_interleave.types import Change, Changes, Plan, Step, StyleGuide

POT = Step(
    index=0, op="generate", title="Pot", instruction="A pot.", prompt="A clay pot", caption="Take a pot.", sources=()
)
BEAN = Step(
    index=1, op="edit", title="Bean", instruction="A bean.", prompt="Add", caption="Put it in.", sources=("step:0",)
)
WAIT = Step(index=2, op="text", title="Wait", caption="Wait a week.")
PLAN = Plan(steps=(POT, BEAN, WAIT), style_guide=StyleGuide(look="ink", palette="two greys"), title="A bean")
KEPT: list[dict[str, Any]] = [{"change": "keep", "step": at} for at in range(3)]
NULLS = {
    "title": None, "op": None, "instruction": None, "prompt": None, "caption": None, "sources": None, "backend": None,
}  # fmt: skip


def read(value: Any, **options: Any) -> ParsedChanges:
    text = value if isinstance(value, str) else json.dumps(value)
    parsed = parse_changes(text, plan=PLAN, inputs=3, **options)
    assert isinstance(parsed, ParsedChanges)
    return parsed


def at(place: int, **change: Any) -> list[dict[str, Any]]:
    """All kept, but one."""
    return [*KEPT[:place], {"step": place, **change}, *KEPT[place + 1 :]]


def one(place: int, **change: Any) -> Change:
    return read({"changes": at(place, **change)}).changes.steps[place]


REDO = {"change": "redo", "instruction": "A red bean.", "prompt": "Make it red", "sources": ["input:2"]}
EXPECTED = Changes(
    steps=(
        Change(change="keep", step=0),
        Change(change="redo", step=1, instruction="A red bean.", prompt="Make it red", sources=("input:2",)),
        Change(change="keep", step=2),
    ),
    title="A red bean",
)
ANSWER = {"title": "A red bean", "changes": at(1, **REDO)}
STRICT = {
    "reasoning": "Only the bean.",
    "title": "A red bean",
    "style_guide": {"look": "", "palette": "", "characters": "", "keep": ""},
    "changes": [{**NULLS, **change} for change in at(1, **REDO)],
}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ANSWER),
        json.dumps(STRICT),
        f"<think>Only the bean.</think>\n<answer>{json.dumps(ANSWER)}</answer>",
        f"<think>Only the bean.</think><answer>{ANSWER!r}</answer>",
        f"Here you are:\n```json\n{json.dumps(ANSWER, indent=1)}\n```\nDone.",
        f"<answer>{json.dumps({'changes': KEPT})}</answer>No.\n<answer>{json.dumps(ANSWER)}</answer>",
        json.dumps({"answer": ANSWER}),
        json.dumps({"title": "A red bean", "steps": ANSWER["changes"]}),
        # What models get wrong: a comma too many, single quotes, a name without quotes.
        json.dumps(ANSWER).replace("}]", "},]"),
        json.dumps(ANSWER).replace('"prompt": "Make it red"', "'prompt': 'Make it red'"),
        json.dumps(ANSWER).replace('"step": 2', "step: 2"),
        json.dumps(ANSWER).replace('"step": 1', '"step": "step:1"').replace('"redo"', '"Redo"'),
        json.dumps(ANSWER).replace('["input:2"]', '"input 2"').replace('"step": 2', '"step": "2"'),
    ],
)
def test_every_way_of_writing_it_is_read_alike(text: str) -> None:
    parsed = read(text)
    assert parsed.changes == EXPECTED
    assert parsed.raw == text
    if "Only the bean." in text:
        assert parsed.reasoning == "Only the bean."


def test_structured_output_is_read_as_it_is() -> None:
    parsed = parse_changes(STRICT, plan=PLAN, inputs=3)
    assert isinstance(parsed, ParsedChanges)
    assert (parsed.changes, parsed.reasoning, json.loads(parsed.raw)) == (EXPECTED, "Only the bean.", STRICT)


def test_only_what_changes_of_the_style_is_another() -> None:
    style: Any = {"look": "gouache", "palette": "", "keep": None}
    changes = read({"changes": KEPT, "style_guide": style}).changes
    assert changes.style_guide == StyleGuide(look="gouache", palette="two greys")
    for same in ({"look": " ink", "palette": ""}, {"palette": "two  greys"}, {}, None, "ink"):
        assert read({"changes": KEPT, "style_guide": same}).changes.style_guide is None


def test_what_is_repeated_of_a_kept_step_says_nothing() -> None:
    again = BEAN.model_dump(mode="json", exclude={"index"})
    assert one(1, change="keep", **again) == Change(change="keep", step=1)
    assert one(1, change="recaption", **again) == Change(change="keep", step=1)
    assert one(1, change="keep", **{**NULLS, "sources": [], "title": "Step 2: Bean"}) == Change(change="keep", step=1)
    assert one(1, change="delete", **again) == Change(change="delete", step=1)


def test_a_kept_step_with_other_words_is_recaptioned_and_that_is_said() -> None:
    parsed = read({"changes": at(1, change="keep", caption="Lay it in.")})
    assert parsed.changes.steps[1] == Change(change="recaption", step=1, caption="Lay it in.")
    assert [warning.message for warning in parsed.warnings] == [
        "step:1 is said to be as it was and has other words; they are taken."
    ]


def test_a_step_that_is_drawn_again_has_an_instruction_and_a_prompt_of_one_picture() -> None:
    parsed = read({"changes": at(1, change="redo", instruction="A red bean.")})
    assert parsed.changes.steps[1].prompt == "A red bean."
    assert len(parsed.warnings) == 1
    assert one(1, change="redo") == Change(change="redo", step=1)
    assert one(1, change="redo", sources=[]).sources is None, "an edit is never of nothing"
    assert one(0, change="redo", sources=[]).sources == ()


def test_words_become_a_picture_and_a_picture_words() -> None:
    drawn = one(2, change="redo", instruction="A sprout.", prompt="Add a sprout", sources=["step:1"])
    assert (drawn.op, drawn.sources) == ("edit", ("step:1",))
    assert one(2, change="redo", instruction="A sprout.", prompt="A sprout").op == "generate"
    assert one(2, change="redo", caption="Wait two weeks.").op is None
    words = one(1, change="redo", op="text", prompt="Add")
    assert (words.op, words.prompt) == ("text", None)


def test_a_new_step_is_at_its_place_in_the_list() -> None:
    new = {"change": "insert", "step": 1, "title": "3. Soil", "prompt": "Add soil", "sources": ["new:0", "step:0"]}
    parsed = read({"changes": [*KEPT[:1], {"change": "add", "caption": "Rest."}, new, *KEPT[1:]]})
    words, soil = parsed.changes.steps[1:3]
    assert words == Change(change="insert", op="text", caption="Rest.")
    assert (soil.step, soil.title, soil.instruction, soil.sources) == (None, "Soil", "Add soil", ("new:0", "step:0"))
    assert len(parsed.warnings) == 2, "it named an old step, and had no instruction"


FAULTS: list[tuple[Any, str]] = [
    ({"changes": []}, "the list of changes is empty"),
    ({"changes": KEPT[:2]}, "step:2 is not named: say of each step"),
    ({"changes": KEPT[1:2]}, "step:0, step:2 are not named"),
    ({"changes": [*KEPT, KEPT[0]]}, "step 0 is named more than once"),
    ({"changes": [{"change": "delete", "step": at} for at in range(3)]}, "no step is left"),
    ({"changes": [{"step": 0}, *KEPT[1:]]}, r"Change 0 \(the first is 0\): its change is 'nothing'"),
    ({"changes": ["keep", *KEPT[1:]]}, "Change 0 .* a text, not an object"),
    ({"changes": at(1, change="improve")}, "Change 1 .*'improve'; say keep, redo"),
    ({"changes": [{"change": "keep", "step_number": 1}, *KEPT[1:]]}, "'step_number' may count from 0 or from 1"),
    ({"changes": [{"change": "keep"}, *KEPT[1:]]}, "names none"),
    ({"changes": [*KEPT[1:], {"change": "keep", "step": 3}]}, "no step '3': give an index in 'step', one of 0 to 2"),
    ({"changes": [*KEPT[1:], {"change": "keep", "step": True}]}, "no step 'True'"),
    ({"changes": at(1, change="keep", title="Pot")}, "about step:1 and has the title of step:0: .* counted from 0"),
    ({"changes": at(0, change="delete", title="Bean")}, "about step:0 and has the title of step:1"),
    ({"changes": at(1, change="recaption")}, "'recaption' of step 1 needs a caption or a title"),
    ({"changes": at(1, change="redo", op="paint")}, "its op is 'paint'"),
    ({"changes": at(1, change="redo", sources=["the photo"])}, "its source 'the photo' is neither"),
    ({"changes": at(1, change="redo", sources=["input:3"])}, "'input:3' does not exist; there is input:0 to input:2"),
    ({"changes": at(1, change="redo", sources={"input": 1})}, "its sources are an object, not a list"),
    ({"changes": at(1, change="redo", prompt=["a", "b"])}, "its prompt is a list, not text"),
    ({"changes": [{"change": "insert"}, *KEPT]}, "it is empty"),
    ({"changes": [{"change": "insert", "op": "edit", "caption": "x"}, *KEPT]}, "neither instruction nor prompt"),
    ({"changes": KEPT, "steps": [{"prompt": "x"}]}, "a list of changes and a list of steps"),
    ("I would keep all of it.", "The model answered no list of changes: 'I would keep"),
    ('{"verdict": "accept"}', r"an object \(verdict\), but not an object with a list of changes"),
    ("", "the text is empty"),
]


@pytest.mark.parametrize(("answer", "says"), FAULTS)
def test_what_may_mean_two_things_is_not_guessed(answer: Any, says: str) -> None:
    with pytest.raises(PlanError, match=says) as raised:
        read(answer)
    assert raised.value.raw == (answer if isinstance(answer, str) else json.dumps(answer))
    assert raised.value.remedy


def test_what_was_cut_off_is_not_completed() -> None:
    for text, options in ((json.dumps(ANSWER)[:-9], {}), (json.dumps(ANSWER), {"truncated": True})):
        with pytest.raises(PlanError) as raised:
            read(text, **options)
        assert raised.value.truncated
        assert "max_tokens" in raised.value.remedy


def test_a_whole_plan_is_a_plan() -> None:
    steps = [
        {"step_number": n, "step_name": name, "instruction": said, "prompt": prompt, "auxiliary_text": None}
        for n, name, said, prompt in ((1, "Pot", "A pot.", "A clay pot"), (2, "Bean", "A bean.", "Add"))
    ]
    text = f"<think>Whole.</think><answer>{ {'execution_plan': steps}!r}</answer>"
    parsed = parse_changes(text, plan=PLAN, inputs=3, starts=[])
    assert isinstance(parsed, ParsedPlan)
    assert [step.sources for step in parsed.plan.steps] == [(), ("step:0",)], "drawn pictures are not where it starts"
    photo = parse_changes(text, plan=PLAN, inputs=3, starts=[1])
    assert isinstance(photo, ParsedPlan)
    assert photo.plan.steps[0].sources == ("input:1",)
    rest = text.replace("'step_number': 2", "'step_number': 3").replace("'step_number': 1", "'step_number': 2")
    for starts in ([], [0]):
        with pytest.raises(PlanError, match="not numbered from 1 on"):
            parse_changes(rest, plan=PLAN, inputs=3, starts=starts)
    later = PLAN.model_copy(update={"first_number": 2})
    assert isinstance(parse_changes(rest, plan=later, inputs=3, starts=[0]), ParsedPlan)


FRAGMENTS = [
    "<think>", "</think>", "<answer>", "</answer>", "```json\n", "{", "}", "[", "]", ",", ":", '"', "'", "None", "null",
    '{"changes": [', '{"change": "keep", "step": 0}', "{'change': 'redo', 'step': 1}", '{"change": "insert"}', '"step"',
    '{"change": "recaption", "step": 2, "caption": "x"}', '"sources": ["new:0"]', '{"steps": [{"prompt": "x"}]}', "9e9",
]  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers(-2, 5) | st.floats() | st.sampled_from(
    ["keep", "redo", "insert", "step:1", "input:0", "new:1", "text", "edit", "Words.", "None", "Pot"]
)  # fmt: skip
KEYS = st.sampled_from(["change", "step", *NULLS, "changes", "step_number", "Step"])
ITEMS = st.dictionaries(KEYS, SCALARS | st.lists(SCALARS, max_size=3), max_size=6)


@pytest.mark.nightly
@given(
    st.text(max_size=40)
    | st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)
    | st.fixed_dictionaries({"changes": st.lists(ITEMS, max_size=5)}).map(repr)
    | st.lists(ITEMS, max_size=3).map(lambda more: json.dumps({"changes": [*KEPT, *more]}))
)
def test_whatever_a_model_writes_there_are_changes_or_an_error_of_ours(text: str) -> None:
    with contextlib.suppress(PlanError):
        parsed = parse_changes(text, plan=PLAN, inputs=2, starts=[0])
        if isinstance(parsed, ParsedChanges):
            assert {change.step for change in parsed.changes.steps} >= {0, 1, 2}
            apply_changes(PLAN, parsed.changes)


@pytest.mark.nightly
@given(st.permutations(range(3)), st.data())
def test_what_is_written_is_what_is_read(order: list[int], data: st.DataObject) -> None:
    words = st.sampled_from(["It's red", 'A sign "OPEN"', "{braces}", "浇水", "a\nb"])
    listed = []
    for step in order:
        kind = data.draw(st.sampled_from(["keep", "redo", "delete", "reorder", "recaption"]))
        fields: dict[str, Any] = {"caption": data.draw(words)} if kind in ("recaption", "redo") else {}
        if kind == "redo" and step != 2:
            fields |= {"instruction": data.draw(words), "prompt": data.draw(words), "sources": ("input:0",)}
        listed.append(Change(change=kind, step=step, **fields))  # pyright: ignore[reportArgumentType]
    if all(change.change == "delete" for change in listed):
        listed.append(Change(change="insert", op="text", caption="x"))
    wanted = Changes(steps=tuple(listed))
    for written in (json.dumps, repr):
        value = {"changes": [change.model_dump(mode="json") for change in wanted.steps]}
        assert read(f"<answer>{written(value)}</answer>").changes == wanted
