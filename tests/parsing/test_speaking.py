"""Reasoning as it is spoken: whatever the chunks, a prefix of what the whole is read as."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.parsing.speaking import Speaking


def said(text: str, *cuts: int) -> str:
    speaking = Speaking("reasoning")
    places = [0, *sorted(cuts), len(text)]
    return "".join(speaking.feed(text[a:b]) for a, b in itertools.pairwise(places))


@pytest.mark.nightly
@given(st.text(max_size=40), st.lists(st.integers(0, 120), max_size=6), st.booleans())
def test_any_text_in_any_pieces(text: str, cuts: list[int], ascii_only: bool) -> None:
    answer = json.dumps({"reasoning": text, "verdict": "accept"}, ensure_ascii=ascii_only)
    told = said(answer, *(cut for cut in cuts if cut <= len(answer)))
    # A lone half of a pair has no meaning, and is shown as such.
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert told == expected or "�" in told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"reasoning": "a\\n\\t\\"b\\" \\u00e9 \\ud83d\\ude00", "x": 1}', 'a\n\t"b" é 😀'),
        ("{'reasoning': 'it\\'s', 'x': 1}", "it's"),
        ('{"verdict": "accept", "reasoning" : "late"}', "late"),
        ('{"reasoning": "first", "reasoning": "second"}', "first"),
        ('{"reasoning": "bad \\uZZZZ escape"}', "bad "),
        ('{"reasoning": "half \\ud83d alone"}', "half � alone"),
        ('{"reasoning": ["a list"]}', ""),
        ("<think>tagged</think><answer>{}</answer>", "tagged"),
        ("no object at all", ""),
        (' {"reasoning": "it says <ANSWER>0</ANSWER> <think>", "x": 1}', "it says <ANSWER>0</ANSWER> <think>"),
    ],
)
def test_what_is_spoken(text: str, expected: str) -> None:
    assert said(text) == expected
    assert said(text, *range(len(text))) == expected, "character by character"
