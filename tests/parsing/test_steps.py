"""Steps as models write them: numbers, sources, ops, missing fields, labels."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_interleave.errors import PlanError
from langgraph_interleave.parsing import IncrementalPlan, ParsedPlan, parse_plan
from langgraph_interleave.parsing.label import without_label
from langgraph_interleave.parsing.wording import integer_of, kind_of, text_of
from langgraph_interleave.types import StepDelta


def step(**fields: Any) -> dict[str, Any]:
    return {"instruction": "i", "prompt": "p", **fields}


def parse(*steps: Any, **options: Any) -> ParsedPlan:
    return parse_plan({"steps": list(steps)}, **options)


def sources(parsed: ParsedPlan) -> list[tuple[str, ...]]:
    return [one.sources for one in parsed.plan.steps]


def ops(parsed: ParsedPlan) -> list[str]:
    return [one.op for one in parsed.plan.steps]


def messages(parsed: ParsedPlan) -> list[str]:
    return [warning.message for warning in parsed.warnings]


def fault(*steps: Any, **options: Any) -> str:
    with pytest.raises(PlanError) as raised:
        parse(*steps, **options)
    assert raised.value.raw
    assert raised.value.remedy == "Ask the planner again."
    return raised.value.message


TEXT = {"op": "text", "caption": "Beans need air."}


# Numbers.


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([1, 2, 3], None),
        ([0, 1, 2], None),
        ([None, None, None], None),
        (["1", "2.", "Step 3"], None),
        ([1.0, 2.0, 3.0], None),
        ([2, 3, 4], "2, 3, 4"),
        ([1, 1, 2], "1, 1, 2"),
        ([3, 2, 1], "3, 2, 1"),
        ([1, None, 3], "1, none, 3"),
        ([1, "two", 3], "1, none, 3"),
        ([1, True, 3], "1, none, 3"),
        ([1, 2.5, 3], "1, none, 3"),
        ([10, 20, 30], "10, 20, 30"),
        ([-1, 0, 1], "-1, 0, 1"),
    ],
)
def test_steps_are_numbered_by_their_order(numbers: list[Any], said: str | None) -> None:
    parsed = parse(*(step(step_number=number, title=f"t{i}") for i, number in enumerate(numbers)))
    assert [(one.index, one.title) for one in parsed.plan.steps] == [(0, "t0"), (1, "t1"), (2, "t2")]
    expected = [] if said is None else [f"The model numbered its steps {said}; they are numbered by their order."]
    assert messages(parsed) == expected
    assert [warning.code for warning in parsed.warnings] == ["renumbered"][: len(expected)]


def test_a_long_list_of_numbers_is_shortened() -> None:
    parsed = parse(*(step(step_number=2 * i) for i in range(20)))
    assert messages(parsed) == [
        "The model numbered its steps 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, …; they are numbered by their order."
    ]


@pytest.mark.parametrize(
    ("numbers", "refs", "expected"),
    [
        # Without numbers, and where both are possible, ours: from 0.
        ([None, None, None], ["step:0", "step:1"], ["step:0", "step:1"]),
        ([0, 1, 2], ["step:0", "step:1"], ["step:0", "step:1"]),
        ([1, 2, 3], ["step:0", "step:0"], ["step:0", "step:0"]),
        ([1, 2, 3], ["step:0", "step:1"], ["step:0", "step:1"]),
        ([1, 2, 3], [None, "step:1"], ["step:0", "step:1"]),
        # The model's own, where only that can be right.
        ([1, 2, 3], ["step:1", "step:2"], ["step:0", "step:1"]),
        ([1, 2, 3], ["step:1", "step:1"], ["step:0", "step:0"]),
        ([1, 2, 3], [None, "step:2"], ["step:0", "step:1"]),
        ([2, 3, 4], ["step:2", "step:3"], ["step:0", "step:1"]),
        ([4, 5, 6], ["step:4", "step:4"], ["step:0", "step:0"]),
        ([10, 20, 30], ["step:10", "step:20"], ["step:0", "step:1"]),
        (["1.", "2.", None], ["step:1", "step:2"], ["step:0", "step:1"]),
        # The third settles what the second meant.
        ([1, 2, 3], ["step:1", "step:0"], None),
        ([1, 1, 2], ["step:0", "step:1"], ["step:0", "step:1"]),
        ([2, 2, 3], ["step:0", "step:2"], None),
    ],
)
def test_which_step_a_reference_means(numbers: list[Any], refs: list[str | None], expected: list[str] | None) -> None:
    steps = [
        step(step_number=number, sources=None if ref is None else [ref])
        for number, ref in zip(numbers, [None, *refs], strict=True)
    ]
    if expected is None:
        assert "its source 'step:" in fault(*steps)
    else:
        assert sources(parse(*steps)) == [(), *((one,) for one in expected)]


def test_a_later_step_settles_what_an_earlier_one_meant() -> None:
    steps = [
        step(step_number=1),
        step(step_number=2),
        step(step_number=3, sources=["step:1"]),  # ours: the second step; the model's: the first
        step(step_number=4, sources=["step:3"]),  # ours would be the step itself
    ]
    assert sources(parse(*steps)) == [(), ("step:0",), ("step:0",), ("step:2",)]
    steps[3]["sources"] = ["step:0"]  # the model has no step 0
    assert sources(parse(*steps)) == [(), ("step:0",), ("step:1",), ("step:0",)]
    del steps[3]  # nothing settles it
    assert sources(parse(*steps)) == [(), ("step:0",), ("step:1",)]


@pytest.mark.parametrize(
    ("settling", "released", "meant"),
    [(["step:3"], [1, 1, 0, 2], "step:0"), (["step:0"], [1, 1, 0, 2], "step:1"), (["step:2"], [1, 1, 0, 0], "step:1")],
)
def test_steps_wait_while_a_reference_may_mean_two(settling: list[str], released: list[int], meant: str) -> None:
    reader = IncrementalPlan()
    reader.feed('{"steps": [')
    counts: list[int] = []
    seen: list[tuple[str, ...]] = []
    for number, refs in enumerate(("null", "null", '["step:1"]', str(settling).replace("'", '"')), start=1):
        text = f'{{"step_number": {number}, "instruction": "i", "prompt": "p", "sources": {refs}}},'
        deltas = reader.feed(text)
        counts.append(len(deltas))
        seen += [delta.step.sources for delta in deltas if isinstance(delta, StepDelta)]
    seen += [delta.step.sources for delta in reader.feed("]}") if isinstance(delta, StepDelta)]
    assert counts == released
    assert seen == [one.sources for one in reader.finish().plan.steps]
    assert seen[2] == (meant,)


# Sources.


@pytest.mark.parametrize(
    ("refs", "expected"),
    [
        (["step:0"], ("step:0",)),
        (["Step:0", "INPUT:1"], ("step:0", "input:1")),
        ([" step: 0 ", "input_0", "input #1"], ("step:0", "input:0", "input:1")),
        (["step:0", "step:0", "step 0"], ("step:0",)),
        (["input:1", "step:0", "input:0"], ("input:1", "step:0", "input:0")),
        ("step:0", ("step:0",)),
        ("step:0, input:0", ("step:0", "input:0")),
        ("step:00", ("step:0",)),
    ],
)
def test_sources_as_written(refs: Any, expected: tuple[str, ...]) -> None:
    assert sources(parse(step(), step(sources=refs), inputs=2))[1] == expected


@pytest.mark.parametrize(
    ("refs", "words"),
    [
        (["input:2"], "Step 2: its source 'input:2' does not exist: the request has 1 picture."),
        (["step:9"], "Step 2: its source 'step:9' does not exist: the plan has 3 steps, step:0 to step:2."),
        (["step:2"], "Step 2: its source 'step:2' does not come before it."),
        (["step:1"], "Step 2: its source 'step:1' is the step itself."),
        (["step:-1"], "Step 2: its source 'step:-1' is neither 'input:<i>' nor 'step:<j>'."),
        (["image 1"], "Step 2: its source 'image 1' is neither"),
        ([0], "Step 2: its source 0 is neither"),
        ([{"step": 0}], "Step 2: its source an object is neither"),
        (["step:" + "9" * 5000], "is neither"),
        ({"step": 0}, "Step 2: its sources are an object, not a list."),
        (7, "Step 2: its sources are a number, not a list."),
    ],
)
def test_sources_that_cannot_be(refs: Any, words: str) -> None:
    assert words in fault(step(), step(sources=refs), step(), inputs=1)


def test_sources_of_no_pictures() -> None:
    assert "'input:0' does not exist: the request has no pictures." in fault(step(sources=["input:0"]))


def test_the_step_itself_in_the_models_numbering() -> None:
    assert "'step:2' is the step itself" in fault(step(step_number=1), step(step_number=2, sources=["step:2"]))


def test_sources_in_two_numberings() -> None:
    steps = [step(step_number=n) for n in (1, 2, 3)]
    steps[1]["sources"] = ["step:1"]
    steps[2]["sources"] = ["step:0"]
    assert "Step 3: its source 'step:0' is right only in one numbering" in fault(*steps)


def test_forward_references_while_the_plan_is_written() -> None:
    reader = IncrementalPlan()
    assert len(reader.feed('{"steps": [{"prompt": "p", "instruction": "i"},')) == 1
    assert reader.feed('{"prompt": "p", "instruction": "i", "sources": ["step:7"]}, {"prompt": "p"}]}') == []
    with pytest.raises(PlanError, match="'step:7' does not exist: the plan has 3 steps"):
        reader.finish()


def test_a_source_that_is_text_only() -> None:
    parsed = parse(step(), TEXT, TEXT, step(sources=["step:2"]), step(sources=["step:1", "step:0"]))
    assert sources(parsed) == [(), (), (), ("step:0",), ("step:0",)]
    assert messages(parsed) == [
        "Step 4 builds on step 3, which is text only; step 1 is used instead.",
        "Step 5 builds on step 2, which is text only; step 1 is used instead.",
    ]


def test_a_source_that_is_text_only_with_nothing_before_it() -> None:
    parsed = parse(TEXT, step(op="edit", sources=["step:0"]))
    assert (ops(parsed), sources(parsed)) == (["text", "generate"], [(), ()])
    assert messages(parsed) == [
        "Step 2 builds on step 1, which is text only; nothing comes before it.",
        "Step 2 edits without naming a picture; there is none, so it is generated.",
    ]
    parsed = parse(TEXT, step(sources=["step:0"]), inputs=2)
    assert (ops(parsed), sources(parsed)) == (["text", "edit"], [(), ("input:0",)])


@pytest.mark.parametrize(
    ("before", "inputs", "expected", "built"),
    [
        ([step(op="generate")], 0, ("edit", ("step:0",)), "it builds on step 1"),
        ([step(op="generate"), TEXT], 1, ("edit", ("step:0",)), "it builds on step 1"),
        ([TEXT], 2, ("edit", ("input:0",)), "it builds on picture 1 of the request"),
        ([], 0, ("generate", ()), "there is none, so it is generated"),
    ],
)
def test_an_edit_without_sources(
    before: list[Any], inputs: int, expected: tuple[str, tuple[str, ...]], built: str
) -> None:
    for refs in (None, [], "none"):
        parsed = parse(*before, step(op="edit", sources=refs), inputs=inputs)
        last = parsed.plan.steps[-1]
        assert (last.op, last.sources) == expected
        assert messages(parsed)[0] == f"Step {len(before) + 1} edits without naming a picture; {built}."


def test_input_pictures_never_used() -> None:
    parsed = parse(step(op="generate"), step(sources=["input:1"]), inputs=3)
    assert [(w.code, w.message, w.step) for w in parsed.warnings] == [
        ("unused_input", "No step builds on picture 1 of the request.", None),
        ("unused_input", "No step builds on picture 3 of the request.", None),
    ]
    assert parse(TEXT, inputs=1).warnings == (), "words about a picture build on none"


# Ops.


@pytest.mark.parametrize(
    ("fields", "op", "refs"),
    [
        ({"op": "generate", "sources": ["step:0"]}, "generate", ("step:0",)),
        ({"op": "generate"}, "generate", ()),
        ({"op": " Edit ", "sources": ["step:0"]}, "edit", ("step:0",)),
        ({"sources": ["step:0"]}, "edit", ("step:0",)),
        ({"sources": []}, "generate", ()),
        ({"sources": None}, "edit", ("step:0",)),
        ({"op": "null", "sources": "N/A"}, "edit", ("step:0",)),
    ],
)
def test_ops(fields: dict[str, Any], op: str, refs: tuple[str, ...]) -> None:
    parsed = parse(step(), step(**fields))
    assert (parsed.plan.steps[1].op, parsed.plan.steps[1].sources) == (op, refs)
    assert parsed.warnings == ()


@pytest.mark.parametrize(("op", "shown"), [("inpaint", "'inpaint'"), (3, "'a number'"), (["edit"], "'a list'")])
def test_unknown_ops_are_derived(op: Any, shown: str) -> None:
    parsed = parse(step(), step(op=op))
    assert ops(parsed) == ["generate", "edit"]
    assert messages(parsed) == [f"Step 2 has the unknown op {shown}; it is derived."]


@pytest.mark.parametrize(
    ("fields", "caption", "said"),
    [
        ({"op": "text", "caption": "c"}, "c", None),
        ({"caption": "c", "instruction": None, "prompt": "null"}, "c", None),
        ({"auxiliary_text": "c", "sources": ["step:9"]}, "c", None),
        ({"op": "text", "caption": "c", "prompt": "p"}, "c", "Step 1 is text only; its prompt is left out."),
        ({"op": "edit", "caption": "c"}, "c", "Step 1 says 'edit' without instruction and prompt; it is text only."),
        ({"op": "text", "prompt": "p"}, "p", "Step 1 is text only and has no caption; its other words are used."),
        ({"title": "t"}, "t", "Step 1 is text only and has no caption; its other words are used."),
    ],
)
def test_text_only_steps(fields: dict[str, Any], caption: str, said: str | None) -> None:
    parsed = parse(fields)
    only = parsed.plan.steps[0]
    assert (only.op, only.caption, only.prompt, only.instruction, only.sources) == ("text", caption, None, None, ())
    assert messages(parsed) == ([] if said is None else [said])


@pytest.mark.parametrize("fields", [{}, {"step_number": 1}, {"op": "text"}, {"op": "edit", "caption": "None"}])
def test_empty_steps(fields: dict[str, Any]) -> None:
    assert fault(step(), fields) == "Step 2: it is empty: no instruction, prompt or caption."


def test_instruction_or_prompt_missing() -> None:
    parsed = parse({"prompt": "a pot"}, {"instruction": "add a bean", "prompt": "N/A"})
    assert [(one.instruction, one.prompt) for one in parsed.plan.steps] == [
        ("a pot", "a pot"),
        ("add a bean", "add a bean"),
    ]
    assert [(w.code, w.message, w.step) for w in parsed.warnings] == [
        ("other", "Step 1 has no instruction; its prompt is used for both.", 0),
        ("other", "Step 2 has no prompt; its instruction is used for both.", 1),
    ]


# Texts.


@pytest.mark.parametrize(
    "nothing",
    [None, "", "  ", "null", "None", "NULL", "N/A", "n/a", "None.", '"null"', "<none>", "undefined", "[null]"],
)
def test_null_written_as_text(nothing: Any) -> None:
    only = parse(step(caption=nothing, title=nothing)).plan.steps[0]
    assert (only.caption, only.title) == (None, None)


@pytest.mark.parametrize("caption", ["None of the beans grew.", "Null Island", "n/a is not a number", "No", "-", "0"])
def test_texts_that_only_contain_such_words(caption: str) -> None:
    assert parse(step(caption=caption)).plan.steps[0].caption == caption


def test_numbers_are_texts_too() -> None:
    only = parse(step(caption=3, title=2.5)).plan.steps[0]
    assert (only.caption, only.title) == ("3", "2.5")


@pytest.mark.parametrize(
    ("value", "kind"), [(["a"], "a list"), ({"a": "b"}, "an object"), (True, "true or false"), ([], "a list")]
)
def test_what_is_no_text(value: Any, kind: str) -> None:
    assert fault(step(caption=value)) == f"Step 1: its caption is {kind}, not text."
    assert fault(step(prompt=value)) == f"Step 1: its prompt is {kind}, not text."


def test_a_field_given_twice() -> None:
    assert "Step 1: the field 'step_name' is given twice" in fault(step(**{"step name": "a", "step_name": "b"}))
    assert parse(step(**{"Step-Name": "a", "stepName": "a"})).plan.steps[0].title == "a"


# Labels.

LABELLED = [
    "Step 3: Water it", "STEP 3 - Water it", "Step 3 – Water it", "Step 3. Water it", "Step 3) Water it",
    "(Step 3) Water it", "[Step 3] Water it", "Step #3: Water it", "Step 3/5: Water it", "Step 3 of 5: Water it",
    "Step three: Water it", "Step III: Water it", "**Step 3:** Water it", "**Step 3: Water it**",
    "### Step 3: Water it",
    "Step 3\nWater it", "3. Water it", "3) Water it", "(3) Water it", "3.Water it", "#3. Water it", "3: Water it",
    "3 - Water it", "3 – Water it", "Step 3: 3. Water it", "第3步：Water it", "第三步：Water it", "第3步 Water it",
    "步骤3：Water it", "步驟 3: Water it", "ステップ3：Water it", "手順3 Water it", "3단계: Water it",
    "단계 3: Water it",
    "Schritt 3 – Water it", "Étape 3 : Water it", "etape 3. Water it", "Paso 3: Water it", "Passo 3: Water it",
    "Шаг 3. Water it", "Krok 3: Water it", "Adım 3: Water it", "Bước 3: Water it", "Langkah 3: Water it",
    "الخطوة 3: Water it", "चरण 3: Water it",
]  # fmt: skip
UNLABELLED = [
    "Step ladder", "3 eggs are beaten", "7-Up cake", "Step aerobics", "3.5 cups of flour", "3... 2... 1... go",
    "10:30 is tea time", "3D printing", "Step 1 exam", "第3步很重要", "Step 3-in-1 cleaner", "Step by step",
    "Steps 1: both", "2001: A Space Odyssey", "1-2 eggs", "1/2 cup", "Step-3 rocket", "iPhone 3: a test",
    "Pasta 3: al dente", "Step in: the water", "5 - 7 eggs", "24: the series", "8 – 10 beans", "A: Step 3: x", "3.",
    "Pas 3 mètres", "Passo a passo", "Step mix: two bowls", "3°C water", "3 - 4 eggs", "3: 1 is the ratio",
]  # fmt: skip


@pytest.mark.parametrize("text", LABELLED)
def test_labels_are_removed(text: str) -> None:
    only = parse(step(), step(), step(title=text, caption=text)).plan.steps[2]
    assert (only.title, only.caption) == ("Water it", "Water it")
    only = parse(step(), step(), step(title=text, caption=text, step_number=3)).plan.steps[2]
    assert (only.title, only.caption) == ("Water it", "Water it")


@pytest.mark.parametrize("text", UNLABELLED)
def test_what_only_contains_a_number_or_the_word_stays(text: str) -> None:
    only = parse(step(), step(), step(title=text, caption=text)).plan.steps[2]
    assert (only.title, only.caption) == (text, text)


@pytest.mark.parametrize(
    ("text", "number", "place", "expected"),
    [
        ("1. FC Köln", None, None, "FC Köln"),
        ("1. FC Köln", 4, 4, "1. FC Köln"),
        ("1. FC Köln", 1, 1, "FC Köln"),
        ("5. Cut", 5, 2, "Cut"),
        ("2. Cut", 5, 2, "Cut"),
        ("24: the series", None, 3, "24: the series"),
        ("24: the series", 24, 3, "the series"),
        ("Step 9: Cut", 5, 2, "Cut"),
        ("**Step 2** Cut", None, None, "**Step 2** Cut"),
        ("__Step 2:__ Cut", None, None, "Cut"),
        ("**Bold** words", None, None, "**Bold** words"),
        ("# Heading", None, None, "# Heading"),
        ("", None, None, ""),
    ],
)
def test_bare_numbers_must_agree(text: str, number: int | None, place: int | None, expected: str) -> None:
    assert without_label(text, number, place) == expected


def test_nothing_but_a_label() -> None:
    only = parse(step(title="Step 1", caption="第1步：")).plan.steps[0]
    assert (only.title, only.caption) == (None, None)


# Small readers.


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, 3), ("3", 3), ("3.", 3), ("Step 3", 3), ("#3)", 3), ("3.0", 3), (3.0, 3), ("3.5", None), ("-3", None),
     ("1-2", None), ("", None), ("three", None), (True, None), (None, None), ([3], None), (float("nan"), None),
     (float("inf"), None), (1e300, None), ("9" * 20, None), ("x" * 1000 + "3", None)],
)  # fmt: skip
def test_step_numbers(value: Any, expected: int | None) -> None:
    assert integer_of(value) == expected


@pytest.mark.parametrize(
    ("value", "kind"),
    [(None, "nothing"), (True, "true or false"), ("x", "a text"), (1.5, "a number"), ([], "a list"), ({}, "an object")],
)
def test_kinds(value: Any, kind: str) -> None:
    assert kind_of(value) == kind


def test_text_keeps_line_breaks_and_drops_control_characters() -> None:
    assert text_of(" a\r\n\tb\x00\x1b[0m\x7f ") == "a\n\tb[0m"
