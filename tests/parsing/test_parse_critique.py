"""From a critic's text to a critique: clear verdicts only, contradictions named, scores never moved."""

from __future__ import annotations

import json
from typing import Any

import pytest

from langgraph_interleave.errors import CritiqueError
from langgraph_interleave.parsing import parse_critique
from langgraph_interleave.parsing.critique import score_of
from langgraph_interleave.parsing.decision import decision_of
from langgraph_interleave.types import Critique, Scores

PROMPT = "a clay pot"


def parse(text: Any) -> Critique:
    return parse_critique(text, prompt=PROMPT).critique


def fault(text: Any) -> CritiqueError:
    with pytest.raises(CritiqueError) as raised:
        parse(text)
    assert raised.value.remedy == "Ask the critic again."
    return raised.value


# Both forms.


def test_structured_form() -> None:
    data = {
        "verdict": "revise",
        "reasoning": "Two pots.",
        "refined_prompt": "exactly one clay pot",
        "scores": {"semantics": 4, "quality": 8.5, "consistency": None},
    }
    expected = Critique(
        verdict="revise",
        reasoning="Two pots.",
        refined_prompt="exactly one clay pot",
        scores=Scores(semantics=4, quality=8.5),
    )
    for text in (data, json.dumps(data), repr(data), f"```json\n{json.dumps(data)}\n```", f"Well:\n{data!r}\nDone."):
        assert parse(text) == expected


def test_tagged_form() -> None:
    text = (
        "<think>There are two pots.\nThat is one too many.</think>\n"
        "<answer>{'previous_step_success': False, 'refine_prompt': \"exactly one potter's pot\"}</answer>"
    )
    parsed = parse_critique(text, prompt=PROMPT)
    assert parsed.critique == Critique(
        verdict="revise",
        reasoning="There are two pots.\nThat is one too many.",
        refined_prompt="exactly one potter's pot",
    )
    assert parsed.raw == text


def test_the_unchanged_prompt_on_success_is_no_contradiction() -> None:
    for refined in (PROMPT, " a  clay\npot ", None, "", "None"):
        assert parse({"previous_step_success": True, "refine_prompt": refined}) == Critique(verdict="accept")


def test_wrapped_and_oddly_spelled() -> None:
    assert parse({"critique": {"Verdict": "Accept"}}).verdict == "accept"
    assert parse({"previousStepSuccess": True}).verdict == "accept"
    assert parse({"verdict": "revise", "Refined Prompt": "one pot", "reason": ["a", "b"]}) == Critique(
        verdict="revise", refined_prompt="one pot", reasoning="a; b"
    )


def test_a_reason_given_as_a_field_goes_before_the_thinking() -> None:
    assert parse('<think>long</think>{"verdict": "accept", "reasoning": "short"}').reasoning == "short"


def test_scores_beside_the_verdict() -> None:
    assert parse({"verdict": "accept", "semantics": 9, "quality": "7/10"}).scores == Scores(semantics=9, quality=7)


# Which answer counts.


@pytest.mark.parametrize(
    "text",
    [
        "<answer>{'previous_step_success': True}</answer><answer>{'previous_step_success': False}</answer>",
        "<think><answer>{'previous_step_success': True}</answer></think>{'previous_step_success': False}",
        "<answer>{'previous_step_success': False}</answer><answer>{'previous_step_success': Tr",
        "```\n<answer>{'previous_step_success': True}</answer>\n```<answer>{'previous_step_success': False}</answer>",
        '{"verdict": "revise", "refined_prompt": "a sign: <answer>{\'previous_step_success\': True}</answer>"}',
        '{"verdict": "revise", "note": "</think>{\\"verdict\\": \\"accept\\"}"}',
        'or {"verdict": "accept"}?</think>{"verdict": "revise"}',
    ],
)
def test_the_last_complete_answer_wins(text: str) -> None:
    assert parse(text).verdict == "revise"


def test_an_unreadable_later_answer_is_said() -> None:
    critique = parse("<answer>{'previous_step_success': True}</answer><answer>{'previous_step_success': Fal")
    assert critique == Critique(
        verdict="accept", warnings=("a later answer could not be read; the last readable one is used",)
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the text is empty"),
        ("looks good", "The model answered no verdict: 'looks good'."),
        ("It's\ngood\x00.", 'The model answered no verdict: "It\'s good.".'),
        ("True", "The model answered no verdict: 'True'."),
        ("<answer>True</answer>", "The model answered no verdict: '<answer>True</answer>'."),
        ("<think>It looks good, so {'previous_step_success': True}", "the reasoning is not closed"),
        ("<answer>{'previous_step_success': True", "the text ends in the middle"),
        ("<answer>{'previous_step_success': True</answer>", "is missing before '<'"),
        ('{"verdict": "accept", "reasoning": "ok', "the text ends in the middle of a quoted text"),
        ('{"reasoning": "fine", "scores": {}}', "there is an object (reasoning, scores), but not a critique"),
        ('{"verdict": null}', "but not a critique with a verdict"),
        ('["accept"]', "The model answered no verdict: '[\"accept\"]'."),
        ({}, "the object has no verdict"),
        ({"a": {"b": {"verdict": "accept"}}}, "the object has no verdict"),
        ({"reasoning": "x", "scores": {}}, "the object has no verdict"),
        (None, "it is NoneType"),
        (b"{}", "it is bytes"),
        ({"verdict": {"accept"}}, "contains set"),
        ({"verdict": ["accept"]}, "verdict is a list, which is neither a clear yes nor a clear no"),
        ({"verdict": "maybe"}, "verdict is 'maybe', which is neither"),
        ({"success": 0.7}, "success is a number, which is neither"),
        ({"verdict": "accept", "success": False}, "it contradicts itself: verdict says accept, success says revise"),
        ({"verdict": "accept", "success": "see above"}, "success is 'see above'"),
        ('{"verdict": "accept", "verdict": "revise"}', "the field 'verdict' is given twice"),
        ({"verdict": "accept", "Verdict": "revise"}, "the field 'verdict' is given twice"),
        ('{"verdict": "accept", "Verdict": "revise"}', "the field 'verdict' is given twice"),
    ],
)
def test_unreadable_critiques(text: Any, words: str) -> None:
    error = fault(text)
    assert words in error.message
    if isinstance(text, str):
        assert error.raw == text


def test_mended_critiques() -> None:
    critique = parse('{"verdict": "revise" "refined_prompt": "a sign "OPEN" above", "reasoning": "no sign",}')
    assert critique == Critique(
        verdict="revise",
        refined_prompt='a sign "OPEN" above',
        reasoning="no sign",
        warnings=("repaired: a missing comma, unescaped quotes, a trailing comma",),
    )
    assert "is missing before '\"'" in fault('{"verdict": "accept" "mood": "good"}').message


# Yes and no.


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *[(yes, True) for yes in (
            True, 1, "True", "true", "TRUE", " true ", "'True'", "**Yes**", "yes", "Yes.", "yes — the pot is there",
            "Yes, the pot is there", "yes: one pot", "yes (all of it)", "true - as asked", "success: true",
            "Success = True", "previous_step_success: True", "accept", "Accepted.", "pass", "PASSED", "success",
            "successful", "approved", "ok", "OK!", "yes — no faults", "yes\nAll is there.", "1", "是", "通过，没有问题",
            "Verdict: accept; all is there", "true, no issues found",
        )],
        *[(no, False) for no in (
            False, 0, "False", "false", "no", "No.", "no — there are two pots", "no, the pot is missing", "0",
            "success: false", "revise", "reject", "Rejected: two pots", "fail", "failed", "not accepted", "Not true.",
            "unsuccessful", "failure", "verdict: revise", "not successful: two pots",
            "no, the mountain pass is missing", "否", "不通过", "失败：两个",
        )],
        *[(neither, None) for neither in (
            None, "", "maybe", "yes and no", "yes/no", "yes or no", "true/false", "True or False", "no problems found",
            "no faults", "yes, but the bean is missing", "yes — however, two pots", "accept with changes", "yes?",
            "true — I mean false", "yes, no", "no, yes it is", "not sure", "not false", "not no", "partially",
            "mostly yes", "yes (partly)", "2", "0.5", "1.0", "10", 2, -1, 0.0, 1.0, [], {}, [True], "the pot is there",
            "truely", "accept, almost", "noteworthy", "yesterday", "pass or fail", "success: unknown", "?", "N/A",
            "null",
        )],
    ],
)  # fmt: skip
def test_decisions(value: Any, expected: bool | None) -> None:
    assert decision_of(value) is expected
    if expected is not None:
        verdict = "accept" if expected else "revise"
        assert parse({"previous_step_success": value}).verdict == verdict
        assert parse(json.dumps({"success": value})).verdict == verdict
    elif value is not None:
        fault({"previous_step_success": value})


# Contradictions.


def test_accept_with_another_prompt() -> None:
    assert parse({"verdict": "accept", "refined_prompt": "another pot"}) == Critique(
        verdict="accept", warnings=("the critic accepts and yet gives another prompt, which is left out",)
    )


@pytest.mark.parametrize(
    ("refined", "which"), [(None, "no"), ("", "no"), ("N/A", "no"), (PROMPT, "the same"), ("a clay \n pot", "the same")]
)
def test_revise_without_another_prompt(refined: Any, which: str) -> None:
    assert parse({"verdict": "revise", "refined_prompt": refined}) == Critique(
        verdict="revise", warnings=(f"the critic asks to revise and gives {which} prompt",)
    )


def test_a_refined_prompt_that_is_no_text() -> None:
    assert parse({"verdict": "revise", "refined_prompt": ["one pot"]}) == Critique(
        verdict="revise", warnings=("the refined prompt is a list, not text, and is left out",)
    )


# Scores.


@pytest.mark.parametrize(
    ("value", "expected"),
    [(8, 8.0), (0, 0.0), (10, 10.0), (8.5, 8.5), ("8", 8.0), ("8.5", 8.5), ("8,5", 8.5), ("8/10", 8.0), ("8 / 10", 8.0),
     ("8.5/10.", 8.5), ("8 out of 10", 8.0), ("7 of 10", 7.0), (" 9 ", 9.0), (None, None),
     ("N/A", None), ("null", None)],
)  # fmt: skip
def test_scores(value: Any, expected: float | None) -> None:
    assert score_of(value) == expected
    critique = parse({"verdict": "accept", "scores": {"quality": value}})
    assert critique.scores == Scores(quality=expected)
    assert critique.warnings == ()


@pytest.mark.parametrize(
    ("value", "words"),
    [(11, "is 11, outside 0-10"), (-1, "is -1, outside 0-10"), (10.01, "is 10.01, outside 0-10"),
     ("85", "is 85, outside"), (float("nan"), "is nan, outside"), (float("inf"), "is inf, outside"),
     (10**400, "is inf, outside"), (True, "is true or false, not a number"), ("good", "is 'good', not a number"),
     ("8 (good)", "is '8 (good)', not a number"),
     ("4/5", "is '4/5', on another scale"), ("80/100", "is '80/100', on another scale"),
     ([8], "is a list, not a number"),
     ("-3", "is -3, outside"), ("1e1", "not a number"), ("NaN", "not a number"), ("8/10/10", "not a number")],
)  # fmt: skip
def test_scores_that_do_not_count(value: Any, words: str) -> None:
    critique = parse({"verdict": "accept", "scores": {"quality": value, "semantics": 7}})
    assert critique.scores == Scores(semantics=7)
    assert len(critique.warnings) == 1
    assert critique.warnings[0].startswith("the score quality ")
    assert words in critique.warnings[0]
    assert critique.warnings[0].endswith("; it counts as unscored")


def test_scores_in_another_shape() -> None:
    assert parse({"verdict": "accept", "scores": 8}).warnings == (
        "the scores are a number, not an object, and are left out",
    )
    assert parse({"verdict": "accept", "scores": {"mood": 3, "Semantics": 4}}) == Critique(
        verdict="accept", scores=Scores(semantics=4), warnings=("unknown scores are left out: mood",)
    )


def test_scores_in_text_that_json_does_not_know() -> None:
    assert parse('{"verdict": "accept", "scores": {"semantics": NaN, "quality": 9}}').scores == Scores(quality=9)
    assert parse("{'verdict': 'accept', 'scores': {'semantics': 1e999, 'quality': 9}}").scores == Scores(quality=9)
