"""Whatever a model writes: a plan, a critique, or an error of ours; and the same however it arrives."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from langgraph_interleave.errors import CritiqueError, PlanError
from langgraph_interleave.parsing import IncrementalPlan, ParsedPlan, parse_critique, parse_plan
from langgraph_interleave.parsing.label import without_label
from langgraph_interleave.parsing.repair import CannotRepair, mend
from langgraph_interleave.parsing.wording import text_of
from langgraph_interleave.types import Plan, ReasoningDelta, Step, StepDelta, StyleDelta, StyleGuide

# Plans of every shape, and the ways models write them.

FRAGMENTS = [
    "<think>", "</think>", "<answer>", "</answer>", "```", "```json\n", "`", "<", "</", "{", "}", "[", "]", ",", ":",
    '"', "'", "“", "”", "‘", "’", "„", "\\", "\\u00e9", "\\ud800", "\\x4", "\n", " ", "None", "null", "true", "NaN",
    "1e999", "-0.5", "b'", "//", "# ", "(", ")", "{'", '{"', "[{", '"steps"', "'execution_plan'", '"prompt"', ":[{",
    '"step_number": 2', '"sources": ["step:0"]', "'previous_step_success': True", "'refine_prompt'", '"scores"',
    "Step 3:", "第3步：", "\x00", "\ud83d", "\ufeff", "٣", '{"steps":[{"prompt":"a pot"}]}',
    '<answer>{"verdict":"revise"}</answer>',
]  # fmt: skip

anything = st.text(max_size=60) | st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)


def _readable(text: str) -> bool:
    return text_of(text) == text and all(without_label(text, n, n) == text for n in (None, *range(7)))


letters = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], include_characters="\n\t")
words = st.text(letters | st.sampled_from("{}[]'\"\\:,`<>/“”’"), min_size=1, max_size=30).filter(_readable)
sentences = (
    st.sampled_from(["A clay pot.", "It's red", 'A sign "OPEN", lit', "{braces}", "浇水", "3 eggs", "a\nb"]) | words
)


@st.composite
def steps(draw: st.DrawFn, index: int, pictures: list[int], inputs: int) -> Step:
    """One valid step; `pictures` are the earlier steps that have one."""
    title = draw(st.none() | sentences)
    caption = draw(st.none() | sentences)
    if draw(st.integers(0, 4)) == 0:
        return Step(index=index, op="text", title=title, caption=caption or "Words.")
    choices = [f"input:{i}" for i in range(inputs)] + [f"step:{j}" for j in pictures]
    sources = draw(st.lists(st.sampled_from(choices), unique=True, max_size=3)) if choices else []
    return Step(
        index=index,
        op=draw(st.sampled_from(["generate", "edit"] if sources else ["generate"])),
        title=title,
        instruction=draw(sentences),
        prompt=draw(sentences),
        caption=caption,
        sources=tuple(sources),
    )


@st.composite
def plans(draw: st.DrawFn, inputs: int = 2) -> Plan:
    """A plan that may be written in the structured form."""
    made: list[Step] = []
    for index in range(draw(st.integers(1, 5))):
        made.append(draw(steps(index, [step.index for step in made if step.op != "text"], inputs)))
    style = draw(
        st.builds(
            StyleGuide, look=st.just("") | sentences, palette=st.just("") | sentences, keep=st.just("") | sentences
        )
    )
    return Plan(steps=tuple(made), style_guide=style, title=draw(st.none() | sentences))


@st.composite
def chains(draw: st.DrawFn, inputs: int = 2) -> Plan:
    """A plan that may be written in the tagged form: each picture builds on the one before."""
    made: list[Step] = []
    before: tuple[str, ...] = tuple(f"input:{i}" for i in range(inputs))
    for index in range(draw(st.integers(1, 5))):
        title, caption = draw(st.none() | sentences), draw(st.none() | sentences)
        if draw(st.integers(0, 4)) == 0:
            made.append(Step(index=index, op="text", title=title, caption=caption or "Words."))
            continue
        made.append(
            Step(
                index=index,
                op="edit" if before else "generate",
                title=title,
                instruction=draw(sentences),
                prompt=draw(sentences),
                caption=caption,
                sources=before,
            )
        )
        before = (f"step:{index}",)
    return Plan(steps=tuple(made))


def structured(plan: Plan) -> dict[str, Any]:
    """The plan as the structured form has it."""
    return {
        "title": plan.title,
        "style_guide": plan.style_guide.model_dump(),
        "steps": [
            {
                "op": step.op,
                "title": step.title,
                "instruction": step.instruction,
                "prompt": step.prompt,
                "caption": step.caption,
                "sources": list(step.sources),
            }
            for step in plan.steps
        ],
    }


def tagged(plan: Plan, first: int = 1) -> dict[str, Any]:
    """The plan as the tagged form has it: numbered by the model, without op and sources."""
    return {
        "execution_plan": [
            {
                "step_number": step.index + first,
                "step_name": step.title,
                "instruction": step.instruction,
                "prompt": step.prompt,
                "auxiliary_text": step.caption,
            }
            for step in plan.steps
        ]
    }


#: How a model may write an object down.
WRITERS: dict[str, Callable[[dict[str, Any]], str]] = {
    "json": json.dumps,
    "json, unicode, indented": lambda data: json.dumps(data, ensure_ascii=False, indent=2),
    "python literal": repr,
    "python names in json": lambda data: json.dumps(data, ensure_ascii=False).replace(": null", ": None"),
    "fenced": lambda data: f"Here is the plan:\n```json\n{json.dumps(data, indent=1)}\n```\nLet me know!",
    "fenced, python": lambda data: f"```python\n{data!r}\n```",
    "remarks": lambda data: f"Sure, [1] that's {{easy}}.\n\n{json.dumps(data)}\n\nDon't forget water.",
    "answer": lambda data: f"<answer>{json.dumps(data)}</answer>",
    "think and answer": lambda data: f"<think>First a pot.\nThen {{…}}.</think>\n<answer>\n{data!r}\n</answer>\n",
    "think and fenced answer": lambda data: (
        f"<think>\n\nHm, <answer>{{'steps': []}}</answer>?\n</think>\n\n"
        f"<answer>```json\n{json.dumps(data)}\n```</answer>"
    ),
    "answer not closed": lambda data: f"<think>ok</think><answer>{json.dumps(data)}",
    "all in a fence": lambda data: f"```\n<answer>{data!r}</answer>\n```",
}


# The properties.

odd = st.binary(max_size=3) | st.just({1}) | st.just(object())
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything | odd,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
names = st.sampled_from(
    ["steps", "execution_plan", "plan", "style_guide", "title", "op", "prompt", "instruction", "caption", "sources",
     "step_number", "Step Number", "verdict", "success", "previous_step_success", "refined_prompt", "scores", "quality",
     "reasoning", "semantics"]
)  # fmt: skip
mappings = st.dictionaries(names | st.text(max_size=3), values, max_size=5)
plan_like = st.fixed_dictionaries(
    {"steps": st.lists(mappings | values, max_size=4)}, optional={"style_guide": values, "title": values}
)


def _tries(
    text: Any, steps: int | None = 3, max_steps: int | None = 2, continue_from: int | None = 4
) -> ParsedPlan | PlanError:
    try:
        return parse_plan(text, inputs=1, steps=steps, max_steps=max_steps, continue_from=continue_from)
    except PlanError as error:
        return error


def _check(result: ParsedPlan | PlanError) -> None:
    """Everything a caller stores can be stored."""
    result.raw.encode()
    if isinstance(result, PlanError):
        assert result.remedy
        str(result).encode()
    else:
        Plan.model_validate_json(result.plan.model_dump_json())


@pytest.mark.nightly
@given(anything)
@example('{"steps":[{"prompt":"\ud83d"}]}')
@example('{"steps":[{"prompt":"x","title":"\x00"}]}')
def test_no_text_raises_anything_but_our_errors(text: str) -> None:
    _check(_tries(text))
    try:
        critique = parse_critique(text, prompt="a pot")
        critique.critique.model_dump_json()
        critique.raw.encode()
    except CritiqueError as error:
        error.raw.encode()


@pytest.mark.nightly
@given(mappings | plan_like | values)
def test_no_structured_output_raises_anything_but_our_errors(data: Any) -> None:
    _check(_tries(data))
    try:
        parse_critique(data, prompt="a pot").critique.model_dump_json()
    except CritiqueError as error:
        error.raw.encode()


@pytest.mark.nightly
@given(anything, st.randoms(use_true_random=False))
def test_feeding_never_raises(text: str, random: Any) -> None:
    reader = IncrementalPlan(inputs=1)
    for piece in _cut(text, random):
        reader.feed(piece)
    try:
        whole: ParsedPlan | PlanError = reader.finish()
    except PlanError as error:
        whole = error
    expected = _tries(text, steps=None, max_steps=None, continue_from=None)
    if isinstance(whole, PlanError) or isinstance(expected, PlanError):
        assert (str(whole), whole.raw) == (str(expected), expected.raw)
    else:
        assert whole == expected


@pytest.mark.nightly
@given(plans(), st.sampled_from(sorted(WRITERS)))
def test_structured_plans_come_back_from_every_form(plan: Plan, form: str) -> None:
    parsed = parse_plan(WRITERS[form](structured(plan)), inputs=2)
    assert parsed.plan == plan
    assert {warning.code for warning in parsed.warnings} <= {"unused_input"}


@pytest.mark.nightly
@given(plans())
def test_structured_output_comes_back(plan: Plan) -> None:
    assert parse_plan(structured(plan), inputs=2).plan == plan


@pytest.mark.nightly
@given(st.data(), st.integers(0, 3), st.sampled_from(sorted(WRITERS)))
def test_tagged_plans_come_back_from_every_form(data: st.DataObject, inputs: int, form: str) -> None:
    plan = data.draw(chains(inputs))
    parsed = parse_plan(WRITERS[form](tagged(plan)), inputs=inputs)
    assert parsed.plan == plan
    assert {warning.code for warning in parsed.warnings} <= {"unused_input"}


@pytest.mark.nightly
@given(plans(), st.sampled_from(sorted(WRITERS)), st.randoms(use_true_random=False))
def test_deltas_add_up_to_the_plan(plan: Plan, form: str, random: Any) -> None:
    text = WRITERS[form](structured(plan))
    reader = IncrementalPlan(inputs=2)
    deltas = [delta for piece in _cut(text, random) for delta in reader.feed(piece)]
    parsed = reader.finish()
    assert parsed == parse_plan(text, inputs=2)
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == parsed.reasoning
    if form != "all in a fence":  # which of the two it is shows only at its end
        assert [delta.step for delta in deltas if isinstance(delta, StepDelta)] == list(plan.steps)
        assert [delta.style_guide for delta in deltas if isinstance(delta, StyleDelta)] == [plan.style_guide]


@pytest.mark.nightly
@given(chains(1), st.sampled_from(sorted(WRITERS)))
def test_deltas_of_the_tagged_form_one_character_at_a_time(plan: Plan, form: str) -> None:
    text = WRITERS[form](tagged(plan))
    reader = IncrementalPlan(inputs=1)
    steps = [delta.step for char in text for delta in reader.feed(char) if isinstance(delta, StepDelta)]
    assert steps == (list(plan.steps) if form != "all in a fence" else [])
    assert reader.finish().plan == plan


def _broken_comma(text: str) -> str:
    return text.replace('", "', '" "')


def _broken_quote(text: str) -> str:
    return text.replace('"prompt": "', '"prompt": "the "big" one, ')


@pytest.mark.nightly
@given(plans(), st.sampled_from(sorted(WRITERS)), st.sampled_from([str, _broken_comma, _broken_quote]), st.data())
def test_a_cut_plan_is_never_run_half(plan: Plan, form: str, breaks: Any, data: st.DataObject) -> None:
    text = breaks(WRITERS[form](structured(plan)))
    end = max(text.rfind("}"), text.rfind("]"))
    cut = text[: data.draw(st.integers(0, end))]
    with pytest.raises(PlanError):
        parse_plan(cut, inputs=2)


simple = st.sampled_from(["A clay pot.", "It's red", 'A sign "OPEN", lit', "{braces}", "浇水", "a\nb", "x, y: z"])


@pytest.mark.nightly
@given(st.lists(st.tuples(simple, simple), min_size=1, max_size=4), st.sampled_from([_broken_comma, _broken_quote]))
def test_a_mended_plan_has_every_word(texts: list[tuple[str, str]], breaks: Any) -> None:
    steps = [{"instruction": "Draw it", "prompt": prompt, "caption": caption} for prompt, caption in texts]
    try:
        plan = parse_plan(breaks(json.dumps({"steps": steps}))).plan
    except PlanError:
        return
    added = 'the "big" one, ' if breaks is _broken_quote else ""
    assert [(step.prompt, step.caption) for step in plan.steps] == [(added + p, c) for p, c in texts]


@pytest.mark.nightly
@given(anything)
def test_mending_fails_in_one_way(text: str) -> None:
    with contextlib.suppress(CannotRepair):
        mend("{" + text)


@pytest.mark.nightly
@given(plans(), st.data())
def test_a_cut_plan_is_known_as_cut(plan: Plan, data: st.DataObject) -> None:
    text = WRITERS["think and answer"](structured(plan))
    cut = text[: data.draw(st.integers(len("<think>"), text.rfind("}")))]
    with pytest.raises(PlanError) as raised:
        parse_plan(cut, inputs=2)
    assert raised.value.truncated or cut.endswith(
        ("</think>", "\n", "<", "<a", "<an", "<ans", "<answ", "<answe", "<answer")
    )


@pytest.mark.nightly
@given(plans())
def test_a_plan_the_provider_cut_off_is_never_run(plan: Plan) -> None:
    for given_plan in (structured(plan), WRITERS["json"](structured(plan))):
        with pytest.raises(PlanError) as raised:
            parse_plan(given_plan, inputs=2, truncated=True)
        assert raised.value.truncated
        assert raised.value.raw


@pytest.mark.nightly
@given(st.booleans(), sentences, st.sampled_from(sorted(WRITERS)))
def test_critiques_come_back_from_every_form(success: bool, refined: str, form: str) -> None:
    text = WRITERS[form]({"previous_step_success": success, "refine_prompt": refined})
    critique = parse_critique(text, prompt=refined if success else "another").critique
    assert critique.verdict == ("accept" if success else "revise")
    assert critique.refined_prompt == (None if success or refined == "another" else refined)
    assert critique.warnings == ()


@pytest.mark.nightly
@given(st.sampled_from(sorted(WRITERS)), st.data())
def test_a_cut_critique_is_never_counted(form: str, data: st.DataObject) -> None:
    text = WRITERS[form]({"previous_step_success": True, "refine_prompt": "a clay pot"})
    with pytest.raises(CritiqueError):
        parse_critique(text[: data.draw(st.integers(0, text.rfind("}")))], prompt="a pot")


def _cut(text: str, random: Any) -> list[str]:
    pieces: list[str] = []
    pos = 0
    while pos < len(text):
        size = random.choice([1, 1, 2, 7, 40])
        pieces.append(text[pos : pos + size])
        pos += size
    return pieces
