"""A plan read while it is being written: what comes out, and when."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from langgraph_interleave.errors import PlanError
from langgraph_interleave.parsing import IncrementalPlan, parse_plan
from langgraph_interleave.types import PlanDelta, ReasoningDelta, Step, StepDelta, StyleDelta, StyleGuide

POT = '{"op": "generate", "title": "Pot", "instruction": "i", "prompt": "p"}'
BEAN = "{'step_name': 'Bean', 'instruction': 'i', 'prompt': 'say {\"it\\'s\"} [\\\\', 'auxiliary_text': None}"
FIRST = StepDelta(Step(index=0, op="generate", title="Pot", instruction="i", prompt="p"))
SECOND = StepDelta(
    Step(index=1, op="edit", title="Bean", instruction="i", prompt='say {"it\'s"} [\\', sources=("step:0",))
)


def feed(*pieces: str, **options: Any) -> list[list[PlanDelta]]:
    reader = IncrementalPlan(**options)
    return [reader.feed(piece) for piece in pieces]


def flat(*pieces: str, **options: Any) -> list[PlanDelta]:
    return [delta for deltas in feed(*pieces, **options) for delta in deltas]


def test_everything_comes_out_the_moment_it_is_complete() -> None:
    pieces = [
        "<thi", "nk>\nA pot", ", ", "then\n", "a bean.\n\n</th", "ink>\n<ans", "wer>```json\n{",
        '"style_guide": {"look": "ink"}',
        ', "steps": [', " ", POT[:-1], "}", ",", BEAN[:-1], "}", "]", "}\n```</answer>",
    ]  # fmt: skip
    assert feed(*pieces) == [
        [],
        [ReasoningDelta("A pot")],
        [ReasoningDelta(",")],
        [ReasoningDelta(" then")],
        [ReasoningDelta("\na bean.")],
        [],
        [],
        [StyleDelta(StyleGuide(look="ink"))],
        [],
        [],
        [],
        [FIRST],
        [],
        [],
        [SECOND],
        [],
        [],
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 11, 1000])
def test_pieces_of_any_size(size: int) -> None:
    text = (
        f"<think>Hm {{…}} <answer>\n\n no.</think>\n<answer>{{'style_guide': 'ink', 'steps': [{POT}, {BEAN}]}}</answer>"
    )
    reader = IncrementalPlan()
    deltas = [delta for i in range(0, len(text), size) for delta in reader.feed(text[i : i + size])]
    reasoning = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    assert reasoning == "Hm {…} <answer>\n\n no."
    assert [delta for delta in deltas if not isinstance(delta, ReasoningDelta)] == [
        StyleDelta(StyleGuide(look="ink")),
        FIRST,
        SECOND,
    ]
    assert reader.finish() == parse_plan(text)


def test_options_are_those_of_the_whole() -> None:
    text = '{"execution_plan": [{"step_number": 4, "step_name": "4. Cut", "instruction": "i", "prompt": "p"}]}'
    reader = IncrementalPlan(inputs=2, steps=3, max_steps=1, continue_from=4)
    [delta] = reader.feed(text)
    parsed = reader.finish()
    assert delta == StepDelta(parsed.plan.steps[0])
    assert parsed.plan.steps[0].sources == ("input:1", "input:0")
    assert [warning.code for warning in parsed.warnings] == ["step_count"]


def test_a_top_level_list() -> None:
    assert flat(f"[{POT}", ", ", BEAN, "]") == [FIRST, SECOND]


def test_stretches_of_reasoning() -> None:
    answer = f'<answer>{{"reasoning": " b ", "steps": [{POT}]}}</answer>'
    text = f"<think> a </think> <think>\n</think>{answer}<think>c\n\n</think>"
    deltas = flat(*text)
    assert [delta.text for delta in deltas if isinstance(delta, ReasoningDelta)] == ["a", "\n\nb", "\n\nc"]
    assert parse_plan(text).reasoning == "a\n\nb\n\nc"


def test_reasoning_whose_opening_the_template_wrote() -> None:
    assert flat("A pot", " first.</thi", f'nk>{{"steps": [{POT}') == [ReasoningDelta("A pot first."), FIRST]


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{POT} <answer>{{'steps': [{POT}]}}</answer>",
        f"```\n<answer>{{'steps': [{POT}]}}</answer>\n```",
        f"{{'note': [{POT}]}}",
        f"{{'style_guide' 'x': 1, 'steps': [{POT}]}}",
        f'{{"steps": ["say {POT}"]}}',
        f'{{"steps": [{{"prompt": ["x"]}}, {POT}]}}',
        f'{{"steps": [{{"prompt": "x", "sources": ["step:3"]}}, {POT}]}}',
    ],
)
def test_what_brings_no_step(text: str) -> None:
    assert [delta for delta in flat(*text) if isinstance(delta, StepDelta)] == []


def test_nothing_more_after_a_fault() -> None:
    assert flat(f'{{"steps": [{POT}, {{"prompt": true}}, {POT}], "style_guide": "ink"}}') == [FIRST]
    assert flat(f'{{"steps": [{POT}, {{"prompt": "a "big" pot"}}, {POT}]}}') == [FIRST]


def test_only_the_first_of_several_answers_is_shown() -> None:
    text = f"<answer>{{'steps': [{POT}]}}</answer><answer>{{'steps': [{BEAN}, {BEAN}]}}</answer>"
    reader = IncrementalPlan()
    assert reader.feed(text) == [FIRST]
    assert [step.title for step in reader.finish().plan.steps] == ["Bean", "Bean"]


def test_a_style_guide_that_contradicts_itself() -> None:
    text = f'{{"style_guide": {{"look": "a", "Look": "b"}}, "steps": [{POT}]}}'
    reader = IncrementalPlan()
    assert reader.feed(text) == []
    with pytest.raises(PlanError, match="'look' is given twice"):
        reader.finish()


def test_a_cut_plan() -> None:
    reader = IncrementalPlan()
    assert reader.feed(f'{{"steps": [{POT}, {{"prompt"') == [FIRST]
    with pytest.raises(PlanError) as raised:
        reader.finish()
    assert raised.value.truncated
    reader.feed(': "p"}]}')
    assert len(reader.finish().plan.steps) == 2
    with pytest.raises(PlanError, match="token limit"):
        reader.finish(truncated=True)


def test_no_text_at_all() -> None:
    with pytest.raises(PlanError, match="the text is empty"):
        IncrementalPlan().finish()


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"steps": [{"instruction": "i", "prompt": "x" * 100_000}]}),
        "<think>" + " " * 100_000 + "x</think>",
        "<think>" + "< " * 50_000,
        "[" * 100_000,
        "{ " * 50_000,
        "`" * 100_000,
        '{"a": ' + " " * 100_000,
        "// " * 30_000,
    ],
)
def test_one_character_at_a_time_takes_linear_time(text: str) -> None:
    reader = IncrementalPlan()
    start = time.process_time()
    for char in text:
        reader.feed(char)
    # Measured: 0.3 s; quadratic would be minutes.
    assert time.process_time() - start < 10
