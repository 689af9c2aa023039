"""From a planner's text to a plan: both forms, which answer counts, what is cut off, what is mended."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import pytest

from langgraph_interleave.errors import PlanError
from langgraph_interleave.parsing import ParsedPlan, parse_plan
from langgraph_interleave.types import PlanWarning, Step, StyleGuide

POT = {
    "op": "generate",
    "title": "Pot",
    "instruction": "Draw a pot",
    "prompt": "A clay pot",
    "caption": "Take a pot.",
    "sources": [],
}
BEAN = {
    "op": "edit",
    "title": "Bean",
    "instruction": "Add a bean",
    "prompt": "A bean in it",
    "caption": None,
    "sources": ["step:0"],
}
PLAN = json.dumps({"steps": [POT, BEAN]})
OTHER = json.dumps({"steps": [{**POT, "title": "Draft"}]})
TAGGED = """<think>
A pot, then a bean.
</think>
<answer>
{'execution_plan': [
  {'step_number': 1, 'step_name': 'Step 1: Pot', 'instruction': 'Draw a pot', 'prompt': "A gardener's pot",
   'auxiliary_text': 'Take a pot.'},
  {'step_number': 2, 'step_name': 'Why', 'instruction': None, 'prompt': null, 'auxiliary_text': 'Beans need air.'},
  {'step_number': 3, 'step_name': 'Bean', 'instruction': 'Add a bean', 'prompt': 'A bean', "auxiliary_text": None}
]}
</answer>"""


def titles(parsed: ParsedPlan) -> list[str | None]:
    return [step.title for step in parsed.plan.steps]


def codes(parsed: ParsedPlan) -> list[str]:
    return [warning.code for warning in parsed.warnings]


def fault(text: Any, **options: Any) -> PlanError:
    with pytest.raises(PlanError) as raised:
        parse_plan(text, **options)
    return raised.value


# Both forms.


def test_structured_form() -> None:
    style = {"look": "ink on paper", "palette": "ochre", "characters": "a girl", "keep": "the pot"}
    text = json.dumps({"title": "Beans", "style_guide": style, "steps": [POT, BEAN]})
    parsed = parse_plan(text)
    assert parsed.plan.title == "Beans"
    assert parsed.plan.style_guide == StyleGuide(**style)
    assert parsed.plan.steps == (
        Step(index=0, op="generate", title="Pot", instruction="Draw a pot", prompt="A clay pot", caption="Take a pot."),
        Step(index=1, op="edit", title="Bean", instruction="Add a bean", prompt="A bean in it", sources=("step:0",)),
    )
    assert parsed.warnings == ()
    assert parsed.reasoning == ""
    assert parsed.raw == text


@pytest.mark.parametrize("inputs", [0, 1, 2])
def test_tagged_form_becomes_a_chain(inputs: int) -> None:
    parsed = parse_plan(TAGGED, inputs=inputs)
    pot, why, bean = parsed.plan.steps
    assert pot == Step(
        index=0,
        op="edit" if inputs else "generate",
        title="Pot",
        instruction="Draw a pot",
        prompt="A gardener's pot",
        caption="Take a pot.",
        sources=tuple(f"input:{i}" for i in range(inputs)),
    )
    assert why == Step(index=1, op="text", title="Why", caption="Beans need air.")
    # The text step is skipped over: the bean builds on the pot.
    assert bean == Step(
        index=2, op="edit", title="Bean", instruction="Add a bean", prompt="A bean", sources=("step:0",)
    )
    assert parsed.reasoning == "A pot, then a bean."
    assert parsed.warnings == ()
    assert parsed.raw == TAGGED


def test_a_continued_sequence_builds_on_the_newest_picture() -> None:
    steps = [
        {"step_number": n, "step_name": f"Step {n}: x", "instruction": "i", "prompt": "p", "auxiliary_text": None}
        for n in (4, 5)
    ]
    parsed = parse_plan({"execution_plan": steps}, inputs=3, continue_from=4)
    assert [step.sources for step in parsed.plan.steps] == [("input:2", "input:0", "input:1"), ("step:0",)]
    assert titles(parsed) == ["x", "x"]
    assert parsed.warnings == ()
    assert parsed.plan.first_number == 4


def test_a_sequence_about_given_pictures_says_itself_that_it_goes_on() -> None:
    steps = [
        {"step_number": n, "step_name": f"Step {n}: x", "instruction": "i", "prompt": "p", "auxiliary_text": None}
        for n in (4, 5)
    ]
    parsed = parse_plan({"execution_plan": steps}, inputs=3)
    assert (parsed.plan.first_number, codes(parsed)) == (4, [])
    assert [step.sources for step in parsed.plan.steps] == [("input:2", "input:0", "input:1"), ("step:0",)]
    alone = parse_plan({"execution_plan": steps})
    assert (alone.plan.first_number, codes(alone)) == (1, ["renumbered"])


def test_the_structured_form_names_the_first_number() -> None:
    assert parse_plan({"first_number": 3, "steps": [POT]}).plan.first_number == 3
    assert parse_plan({"first_number": "4.", "steps": [POT]}, continue_from=6).plan.first_number == 6
    for nothing in (None, 0, 1, -3, "soon", 10**9):
        parsed = parse_plan({"first_number": nothing, "steps": [POT]})
        assert (parsed.plan.first_number, codes(parsed)) == (1, [])


def test_structured_output_as_mapping() -> None:
    class Op(StrEnum):
        GENERATE = "generate"

    parsed = parse_plan({"steps": ({**POT, "op": Op.GENERATE}, BEAN)})
    assert titles(parsed) == ["Pot", "Bean"]
    assert json.loads(parsed.raw) == json.loads(PLAN)


@pytest.mark.parametrize(
    "text",
    [
        PLAN,
        f"\ufeff{PLAN}\n",
        f"```json\n{PLAN}\n```",
        f"```\n{PLAN}\n```",
        f"Sure! Here is the plan you've [1] asked {{for}}:\n\n```json\n{PLAN}\n```\n\nLet me know.",
        f"Here you go: {PLAN} That's it, isn't it?",
        f"<answer>{PLAN}</answer>",
        f"<ANSWER>\n{PLAN}\n</ANSWER>",
        f"<answer>```json\n{PLAN}\n```</answer>",
        f"<answer>The plan:\n{PLAN}\nDone.</answer>",
        f"<answer>{PLAN}",
        f"<answer>{PLAN}<answer>",
        json.dumps({"plan": {"steps": [POT, BEAN]}}),
        json.dumps({"answer": {"execution_plan": [POT, BEAN]}}),
        json.dumps({"plan": [POT, BEAN]}),
        json.dumps([POT, BEAN]),
        json.dumps({"answer": {"plan": {"steps": [POT, BEAN]}}}),
        json.dumps({"Steps": [{k.title(): v for k, v in POT.items()}, BEAN]}),
        json.dumps({"executionPlan": [{"stepName": "Pot", **{k: POT[k] for k in ("instruction", "prompt")}}, BEAN]}),
        PLAN.replace('"', "'").replace("null", "None"),
        PLAN.replace("null", "None"),
        repr(json.loads(PLAN)),
        PLAN.replace(": ", " :\n\t"),
    ],
)
def test_wrappings(text: str) -> None:
    parsed = parse_plan(text)
    assert titles(parsed) == ["Pot", "Bean"]
    assert [step.sources for step in parsed.plan.steps] == [(), ("step:0",)]
    assert parsed.warnings == ()


# Which answer counts.


@pytest.mark.parametrize(
    ("text", "reasoning"),
    [
        (f"<answer>{OTHER}</answer><answer>{PLAN}</answer>", ""),
        (f"<think>a</think><answer>{OTHER}</answer><think>b</think><answer>{PLAN}</answer>", "a\n\nb"),
        (f"{OTHER}\n\nBetter:\n\n{PLAN}", ""),
        (f"```json\n{OTHER}\n```\nBetter:\n```json\n{PLAN}\n```", ""),
        # Only what stands inside answer tags counts once there are any.
        (f"<answer>{PLAN}</answer> not {OTHER}", ""),
        # An answer that is no plan is not the last readable one.
        (f"<answer>{PLAN}</answer><answer>{{'note': 'done'}}</answer>", ""),
        (f"<answer>{PLAN}</answer><answer></answer>", ""),
        # Inside the thinking.
        (f"<think>{OTHER}</think>{PLAN}", OTHER),
        (f"<think>or <answer>{OTHER}</answer>?</think><answer>{PLAN}</answer>", f"or <answer>{OTHER}</answer>?"),
        (f"<thinking>{OTHER}</thinking>\n<answer>{PLAN}</answer>", OTHER),
        (f"<answer>{PLAN}</answer><think>or <answer>{OTHER}</answer>?</think>", f"or <answer>{OTHER}</answer>?"),
        # The template opened the thinking, so only its end is in the text.
        (f"or <answer>{OTHER}</answer>?</think>\n<answer>{PLAN}</answer>", f"or <answer>{OTHER}</answer>?"),
        (f"or {OTHER}\n</think>\n{PLAN}", f"or {OTHER}"),
        # Inside code.
        (f"```\n<answer>{OTHER}</answer>\n```\n<answer>{PLAN}</answer>", ""),
        (f"<answer>{PLAN}</answer>\n```\n<answer>{OTHER}</answer>\n```", ""),
        (f"`<answer>` opens it. <answer>{PLAN}</answer>", ""),
        (f"I close with `</think>`. {PLAN}", ""),
        # A fence around everything is a wrapping, not a quotation.
        (f"```xml\n<answer>{PLAN}</answer>\n```", ""),
        (f"<think>a</think>\n```\n<answer>\n{PLAN}\n</answer>\n```\n", "a"),
    ],
)
def test_the_last_complete_readable_answer_wins(text: str, reasoning: str) -> None:
    parsed = parse_plan(text)
    assert titles(parsed) == ["Pot", "Bean"]
    assert parsed.reasoning == reasoning
    assert parsed.warnings == ()


@pytest.mark.parametrize(
    "text",
    [
        f"<answer>{PLAN}</answer> wait: <answer>{OTHER[:40]}",
        f"<answer>{PLAN}</answer> wait: <answer>{{'steps': [oops]}}</answer>",
        f"{PLAN}\n\nwait:\n{OTHER[:60]}",
        f'{{"steps": [...]}} is the form.\n\n{PLAN}\n{{"steps": [',
    ],
)
def test_a_later_answer_that_cannot_be_read_is_passed_over_and_said(text: str) -> None:
    parsed = parse_plan(text)
    assert titles(parsed) == ["Pot", "Bean"]
    assert parsed.warnings == (
        PlanWarning("other", "A later answer could not be read; the last readable one is used."),
    )


@pytest.mark.parametrize(
    "text",
    [
        f'I answer as {{"steps": [...]}}.\n\n{PLAN}',
        f"<answer>{OTHER[:30]}</answer><answer>{PLAN}</answer>",
        f"<answer>{{'execution_plan': [{{'prompt': 'A po</answer>\n<think>again</think><answer>{PLAN}</answer>",
        f'say {{"steps": [{{"title": "x</think><answer>{PLAN}</answer>',
        f"<answer>{{'steps': [}}</answer>{OTHER}<answer>{PLAN}</answer>",
    ],
)
def test_an_earlier_broken_answer_does_not_hide_a_later_one(text: str) -> None:
    assert titles(parse_plan(text)) == ["Pot", "Bean"]


@pytest.mark.parametrize(
    ("prompt", "plan"),
    [
        ("a sign that says <answer>{'steps': []}</answer>", None),
        ("the tags <think> and </think> and </answer>", None),
        ("```json\n{}\n``` on a blackboard", None),
        (json.dumps({"steps": [{"prompt": "inner"}]}), None),
    ],
)
def test_tags_and_answers_inside_texts_mean_nothing(prompt: str, plan: None) -> None:
    data = {"steps": [{"op": "generate", "instruction": "i", "prompt": prompt}]}
    for text in (
        json.dumps(data),
        repr(data),
        f"<think>ok</think><answer>{json.dumps(data)}</answer>",
        f"```json\n{json.dumps(data)}\n```",
    ):
        parsed = parse_plan(text)
        assert [step.prompt for step in parsed.plan.steps] == [prompt]
        assert parsed.reasoning in ("", "ok")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the text is empty"),
        (" \n ", "the text is empty"),
        ("I cannot draw that.", "The model answered no plan: 'I cannot draw that.'."),
        ("{# a note\n1}", "The model answered no plan: '{# a note 1}'."),
        ("<answer>{// nothing\n1}</answer>", "The model answered no plan: '<answer>{// nothing 1}</answer>'."),
        ("<answer>A pot, then a bean.</answer>", "no plan: '<answer>A pot, then a bean.</answer>'."),
        ("Sorry. " * 30, f"The model answered no plan: '{('Sorry. ' * 30)[:79]}…'."),
        (f"{OTHER}<answer>none</answer>", "The model answered no plan: "),
        (f"The form is ```\n<answer>{PLAN}</answer>\n``` and so on.", "The model answered no plan: 'The form is ``` "),
        ('{"title": "x", "pages": 3}', "there is an object (title, pages), but not a plan with a list of steps"),
        (json.dumps({"a": {"b": {"c": {"steps": [POT]}}}}), "there is an object (a), but not a plan"),
        ('{"steps": "two of them"}', "there is an object (steps), but not a plan with a list of steps"),
        ('[{"type": "text"}]', "there is an object (a list), but not a plan"),
        ("{'a', 'b'}", "a set stands where an object belongs"),
    ],
)
def test_texts_without_a_plan(text: str, words: str) -> None:
    error = fault(text)
    assert words in error.message
    assert error.raw == text
    assert not error.truncated
    assert error.remedy == "Ask the planner again."


@pytest.mark.parametrize("text", [json.dumps({"steps": []}), json.dumps({"execution_plan": []})])
def test_an_empty_plan(text: str) -> None:
    assert "the list of steps is empty" in fault(text).message


def test_two_lists_of_steps() -> None:
    assert "two lists of steps: steps and plan" in fault(json.dumps({"steps": [POT], "plan": [BEAN]})).message
    assert "'steps' is given twice" in fault(json.dumps({"steps": [POT], "Steps": [BEAN]})).message


# Cut off.


@pytest.mark.parametrize(
    "text",
    [
        "<think>First a pot, then",
        f"<think>First a pot. <answer>{PLAN}</answer>",
        f"<answer>{PLAN}</answer><think>But perhaps",
        "<think>ok</think><answer>",
        "<think>ok</think><answer>{",
        PLAN[:-1],
        PLAN[:-2],
        PLAN[: PLAN.index("}") + 1],
        PLAN[: PLAN.index("}") + 2],
        PLAN[:100],
        f"```json\n{PLAN[:100]}",
        f"<answer>{PLAN[:-2]}</answer>",
        TAGGED[:-40],
        # Broken and cut: the repair would only have to close it.
        PLAN.replace('", "', '" "')[:-2],
        PLAN.replace('", "', '" "')[: PLAN.index("}")],
        '{"steps": [{"a": "x" "title": "draw }]}',
        '{"steps": [{"title": "a "big" pot", "prompt": "b"}',
    ],
)
def test_a_cut_plan_is_an_error(text: str) -> None:
    error = fault(text)
    assert error.truncated
    assert error.raw == text
    assert "output tokens (max_new_tokens or max_tokens), or ask for fewer steps." in error.remedy


@pytest.mark.parametrize("plan", [PLAN, json.loads(PLAN), "", f"<answer>{PLAN}</answer>"])
def test_what_the_provider_cut_off_is_never_read(plan: str | Mapping[str, object]) -> None:
    error = fault(plan, truncated=True)
    assert error.truncated
    assert "cut off by the token limit" in error.message
    assert error.raw == plan if isinstance(plan, str) else json.loads(error.raw) == plan


# Mended.


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('{"steps": [{"title": "Pot" "instruction": "i", "prompt": "p"}]}', "Pot"),
        ('{"steps": [{"title": "Pot", "instruction": "i", "prompt": "p"}{"caption": "c"}]}', "Pot"),
        ('{"steps": [{"title": "Pot", "instruction": "i", "prompt": "p",}]}', "Pot"),
        ('{"steps": [{"title": "Pot", "instruction": "i", "prompt": "p"},]}', "Pot"),
        ('{"steps": [{"title": "A "big" pot", "instruction": "i", "prompt": "p"}]}', 'A "big" pot'),
        ('{"steps": [{"title": "Say "hi", twice", "instruction": "i", "prompt": "p"}]}', 'Say "hi", twice'),
        ("{'steps': [{'title': 'It's a pot', 'instruction': 'i', 'prompt': 'p'}]}", "It's a pot"),
        ('{steps: [{title: "Pot", instruction: "i", prompt: "p"}]}', "Pot"),
        ('{ // the plan\n"steps": [{"title": "Pot", "instruction": "i", "prompt": "p"}]}', "Pot"),
        ('{"steps": [{"title": "Pot", // the first\n"instruction": "i", "prompt": "p"} # last\n]}', "Pot"),
        ("{“steps”: [{“title”: “Pot”, “instruction”: “i”, “prompt”: “p”}]}", "Pot"),
        ("{“steps”：[{“title”：“陶罐”，“instruction”：“i”，“prompt”：“p”}]}", "陶罐"),
        ("{‘steps’: [{‘title’: ‘Pot’, ‘instruction’: ‘i’, ‘prompt’: ‘p’}]}", "Pot"),
        ("{“steps”: [{“title”: “The “big” pot”, “instruction”: “i”, “prompt”: “p”}]}", "The “big” pot"),
        ('<answer>{"steps": [{"title": "Pot" "instruction": "i", "prompt": "p"}]}</answer>', "Pot"),
        ('```json\n{"steps": [{"title": "Pot" "instruction": "i", "prompt": "p"}]}\n```\nIt\'s done.', "Pot"),
        ('Here: {"steps": [{"title": "Pot" "instruction": "i", "prompt": "p"}]} Done.', "Pot"),
        ('[{"title": "Pot" "instruction": "i", "prompt": "p"}]', "Pot"),
        # Too odd for the two usual slips; json-repair reads it, and nothing is lost.
        ('{"steps": [{"title": "Pot", "instruction": i, "prompt": "p"}]}', "Pot"),
        ('{"steps": [{"title": "Pot", "instruction" "i", "prompt": "p"}]}', "Pot"),
        ('{"steps": [{"title": "Pot, "instruction": "i", "prompt": "p"}]}', "Pot"),
    ],
)
def test_punctuation_is_mended_and_said(text: str, title: str) -> None:
    parsed = parse_plan(text)
    assert parsed.plan.steps[0].title == title
    assert parsed.plan.steps[0].prompt == "p"
    assert codes(parsed)[0] == "repaired"


@pytest.mark.parametrize(
    "text",
    [
        "{'steps': [{'title': 'Pot', 'instruction': 'i', 'prompt': 'p',},]}",  # Python's own
        '{"steps": [{"title": "“Pot”", "instruction": "“i”", "prompt": "p"}]}',  # inside texts
        "{'steps': [{'title': '„Pot“', 'instruction': 'it’s', 'prompt': 'p'}]}",
        '{"steps": [{"title": "Pot", "instruction": "i\nj", "prompt": "p\tq"}]}',  # line breaks inside texts
    ],
)
def test_what_needs_no_mending(text: str) -> None:
    assert parse_plan(text).warnings == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # json-repair would make up a value, close a list, round a number or drop a word here.
        ('{"steps": [{"title": "Pot", "prompt": }, {"title": "x"}]}', "a value is missing before '}'"),
        ('{"steps": [{"title": "Pot" "size": 3.50, "prompt": "p"}]}', "is missing before '\"'"),
        ('{"steps": [{"title": Pot, "instruction": "i", "extra": "p"}]}', "'Pot' has no quotes"),
        ('{"a" ' * 5000 + "}", "':' is missing before '{'"),
        # It is not clear where a text ends.
        ('{"steps": [{"title": "Say "x": "y" z", "instruction": "i", "prompt": "p"}]}', "is missing before 'x'"),
        ('{"steps": [{"prompt": "p"}], "x": [}', "a value is missing before '}'"),
        ('{"steps": [{"prompt": "p" "title": "t"}], "mood": "good"}', "is missing before '\"'"),
        ('{"steps": [{"prompt": "p" "title": "t", "mood": "good"}]}', "is missing before '\"'"),
        ('{"pages": [{"prompt": "p" "mood": "t"}], "mood": "good"}', "is missing before '\"'"),
    ],
)
def test_what_cannot_be_mended(text: str, words: str) -> None:
    error = fault(text)
    assert words in error.message
    assert "line 1, column" in error.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{'steps': [{'prompt': {'a', 'b'}}]}", "a set stands where an object belongs (line 1, column 27)"),
        ("{'steps': [{'prompt': b'x'}]}", "bytes or a prefixed text (b'…)"),
        ("{'steps': [{'prompt': f\"x\"}]}", "bytes or a prefixed text"),
        ("{'steps': ({'prompt': 'x'},)}", "a tuple stands"),
        ("{'steps': [{'prompt': 3j}]}", "the complex number 3j"),
        ('{"steps": [{"prompt": "a", "prompt": "b"}]}', "the field 'prompt' is given twice"),
        ('{"steps": ' + "[" * 70 + "]" * 70 + "}", "nested deeper than 64 levels"),
    ],
)
def test_other_literals_are_refused(text: str, words: str) -> None:
    assert words in fault(text).message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"steps": [{"prompt": {"a"}}]}, "contains set"),
        ({"steps": [{"prompt": b"x"}]}, "contains bytes"),
        ({"steps": [{1: "x"}]}, "a field name is int"),
        ({"steps": [{"prompt": ["x"]}]}, "its prompt is a list, not text"),
        ({"steps": ["dig"]}, "Step 1: it is a text, not an object."),
        ({"title": "x"}, "the object has no list of steps"),
        (None, "it is NoneType, neither text nor an object"),
        (b"{}", "it is bytes"),
        ([POT], "it is list"),
    ],
)
def test_structured_output_that_is_none(data: Any, words: str) -> None:
    assert words in fault(data).message


def test_structured_output_that_contains_itself() -> None:
    loop: dict[str, Any] = {}
    loop["steps"] = [loop]
    assert "nested deeper than 64 levels" in fault(loop).message


def test_structured_output_that_explodes() -> None:
    bomb: list[Any] = ["x"]
    for _ in range(30):
        bomb = [bomb, bomb]
    assert "more than 250,000 values" in fault({"steps": bomb}).message


# Style guide, title, reasoning, counts.


@pytest.mark.parametrize(
    ("style", "expected", "warnings"),
    [
        (None, StyleGuide(), 0),
        ("watercolour", StyleGuide(look="watercolour"), 0),
        ({"look": "ink", "palette": ["red", "ochre"]}, StyleGuide(look="ink", palette="red; ochre"), 0),
        ({"characters": {"Mia": "red coat", "dog": None}}, StyleGuide(characters="Mia: red coat"), 0),
        ({"keep": [{"who": "Mia", "age": 7, "hat": True}]}, StyleGuide(keep="who: Mia; age: 7; hat: yes"), 0),
        ({"Look": "ink", "lighting": "warm"}, StyleGuide(look="ink; lighting: warm"), 1),
        ({"keep": "None", "look": "null"}, StyleGuide(), 0),
    ],
)  # fmt: skip
def test_style_guides(style: Any, expected: StyleGuide, warnings: int) -> None:
    parsed = parse_plan({"style_guide": style, "steps": [POT]})
    assert parsed.plan.style_guide == expected
    assert len(parsed.warnings) == warnings


@pytest.mark.parametrize(("title", "expected"), [("Beans", "Beans"), ("null", None), (None, None), (["x"], None)])
def test_titles_of_plans(title: Any, expected: str | None) -> None:
    assert parse_plan({"title": title, "steps": [POT]}).plan.title == expected


def test_reasoning_as_a_field() -> None:
    text = json.dumps({"reasoning": " Two steps. ", "steps": [POT]})
    assert parse_plan(text).reasoning == "Two steps."
    assert parse_plan(f"<think>a</think>{text}").reasoning == "a\n\nTwo steps."
    assert parse_plan(f"<answer>{text}</answer><think>b</think>").reasoning == "Two steps.\n\nb"


def test_another_number_of_steps_than_asked() -> None:
    assert parse_plan(PLAN, steps=2, max_steps=2).warnings == ()
    parsed = parse_plan(PLAN, steps=5)
    assert parsed.warnings == (PlanWarning("step_count", "The plan has 2 steps; 5 were asked for."),)
    assert len(parsed.plan.steps) == 2


def test_more_steps_than_are_drawn() -> None:
    parsed = parse_plan(PLAN, max_steps=1)
    assert codes(parsed) == ["other"]
    assert "more than max_steps=1" in parsed.warnings[0].message
    assert len(parsed.plan.steps) == 2


# Odd characters and sizes.


def test_characters_that_cannot_be_stored() -> None:
    text = '{"steps": [{"instruction": "i\\u0000", "prompt": "\\ud83d\\ude00 \\ud83d \x00\x07", "title": "\ud83d"}]}'
    parsed = parse_plan(text)
    assert parsed.plan.steps[0] == Step(index=0, op="generate", title="\ufffd", instruction="i", prompt="😀 \ufffd")
    assert parsed.raw == text.replace("\ud83d", "\ufffd")
    error = fault("\ud83d")
    assert error.raw == "\ufffd"
    assert fault({"x": "\ud83d"}).raw == '{"x": "\ufffd"}'


@pytest.mark.parametrize("number", ["9" * 4000, "1e999", "-1e999", "NaN", "Infinity"])
def test_huge_numbers(number: str) -> None:
    parsed = parse_plan(f'{{"steps": [{{"step_number": {number}, "prompt": "p", "instruction": "i"}}]}}')
    assert [step.index for step in parsed.plan.steps] == [0]


def test_huge_integers_in_structured_output() -> None:
    parsed = parse_plan({"steps": [{**POT, "step_number": 10**5000}]})
    assert codes(parsed) == []
    assert "Infinity" in parsed.raw


_MILLION = 1_000_000
_STEP = '{"op":"generate","title":"Pot","instruction":"Draw","prompt":"A pot","sources":[]},'


@pytest.mark.parametrize(
    ("name", "text", "readable"),
    [
        ("one long text", '{"steps":[{"instruction":"i","prompt":"' + "x" * _MILLION + '"}]}', True),
        ("many steps", '{"steps":[' + _STEP * (_MILLION // 4 // len(_STEP)) + _STEP[:-1] + "]}", True),
        ("space", '{"steps":' + " " * _MILLION + "[" + _STEP[:-1] + "]}", True),
        ("labels", '{"steps":[{"prompt":"p","title":"' + "1. " * (_MILLION // 3) + '"}]}', True),
        ("text steps", '{"steps":[' + '{"caption":"x"},' * 15_000 + '{"prompt":"p","sources":["step:14999"]}]}', True),
        ("brackets", "[" * _MILLION, False),
        ("braces", "{" * _MILLION, False),
        ("nested", '{"a":' * 15_000, False),
        ("lists of objects", "[{" * 500_000, False),
        ("placeholders", "{a" * 500_000, False),
        ("broken objects", '{"a":1 b ' * 10_000, False),
        ("tags", "<answer>" * 60_000, False),
        ("open tags", "<" * _MILLION, False),
        ("ends of thinking", "</think>" * 60_000, False),
        ("fences", "``` " * 100_000, False),
        ("backslashes", '{"a":"' + "\\" * 400_000, False),
        ("digits", '{"a":' + "9" * _MILLION + "}", False),
        ("quotes", '"' * _MILLION, False),
        ("cut answers", '{"a" </answer><answer>' * 15_000, False),
        ("broken and too long to mend", '{"steps":[' + '{"a":"x" "b":"y"},' * 5_000 + "]}", False),
        ("broken and just short enough", '{"steps":[' + '{"title":"x "y" z"},' * 4_900 + "]}", True),
    ],
)
def test_large_texts_take_linear_time(name: str, text: str, readable: bool) -> None:
    start = time.process_time()
    if readable:
        parse_plan(text)
    else:
        fault(text)
    # Measured: at most 1.5 s; one quadratic step would take minutes.
    assert time.process_time() - start < 10, name
