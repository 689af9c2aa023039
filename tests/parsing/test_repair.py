"""Mending: stray quotes and missing commas; more only where json-repair loses and invents nothing."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.parsing.literal import Reader
from langgraph_interleave.parsing.punctuation import corrected
from langgraph_interleave.parsing.repair import CannotRepair, mend


@pytest.mark.parametrize(
    ("text", "value", "done"),
    [
        ('{"a": "say "hi" now"}', {"a": 'say "hi" now'}, ["unescaped quotes"]),
        ('{"a": ""hi" now", "b": 1}', {"a": '"hi" now', "b": 1}, ["unescaped quotes"]),
        ('{"a": "now "hi""}', {"a": 'now "hi"'}, ["unescaped quotes"]),
        ('{"a": "x "y", z", "b": 1}', {"a": 'x "y", z', "b": 1}, ["unescaped quotes"]),
        ('{"a": "x "y": z", "b": 1}', {"a": 'x "y": z', "b": 1}, ["unescaped quotes"]),
        ("{'a': 'it's the girls' pot', 'b': None}", {"a": "it's the girls' pot", "b": None}, ["unescaped quotes"]),
        ('{"a "b" c": 1}', {'a "b" c': 1}, ["unescaped quotes"]),
        ('{"a": ["say "hi"", "x"]}', {"a": ['say "hi"', "x"]}, ["unescaped quotes"]),
        ("{“a”: “the “big” pot”, “b”: “x”}", {"a": "the “big” pot", "b": "x"}, ["unescaped quotes"]),
        ('{"a": "x" "b": 1}', {"a": "x", "b": 1}, ["a missing comma"]),
        ('{"a": 1 "b": true "c": null}', {"a": 1, "b": True, "c": None}, ["a missing comma"]),
        ('{"a": [1] "b": {"c": 1} "d": 2}', {"a": [1], "b": {"c": 1}, "d": 2}, ["a missing comma"]),
        ('[{"a": 1} {"b": 2}\n{"c": 3}]', [{"a": 1}, {"b": 2}, {"c": 3}], ["a missing comma"]),
        ('{"a": "x "y" z" "b": 1}', {"a": 'x "y" z', "b": 1}, ["unescaped quotes", "a missing comma"]),
        ('{"a": "x\\" y", "b": "\\\\"}', {"a": 'x" y', "b": "\\"}, []),
    ],
)
def test_the_usual_slips(text: str, value: Any, done: list[str]) -> None:
    fixed, notes = corrected(text)
    reader = Reader()
    reader.feed(fixed)
    assert reader.value == value
    assert list(notes) == done
    assert mend(f"{text} and a remark")[0] == value


@pytest.mark.parametrize(
    "text",
    ["", "{", "{,}", "{1}", "{a}", "[}", "{]", '{"a"', '{"a', '{"a": "x\\',
     '{"a": 1 b}', "[1 2]", '{"a" 1}', "{)", "[,]", "{: 1}", '{"a": )}', "x }", "]"],
)  # fmt: skip
def test_what_is_no_slip_is_left_alone(text: str) -> None:
    assert corrected(text) == (text, ())


def test_correction_stops_where_something_else_is_wrong() -> None:
    assert corrected('{"a": "x "y" z", "c": 1, b 1 "c": "x "y" z"}') == (
        '{"a": "x \\"y\\" z", "c": 1, b 1 "c": "x "y" z"}',
        ("unescaped quotes",),
    )


@pytest.mark.nightly
@given(
    st.dictionaries(
        st.sampled_from("abc"), st.none() | st.integers() | st.text("xy \n\\{}[]:,\"'“”", max_size=8), max_size=3
    )
)
def test_what_is_right_stays(value: dict[str, Any]) -> None:
    for text in (json.dumps(value), repr(value), json.dumps([value, value])):
        reader = Reader()
        reader.feed(corrected(text)[0])
        original = Reader()
        original.feed(text)
        assert reader.value == original.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a" "x"}', {"a": "x"}),
        ('{"a": "x, "b": "y"}', {"a": "x", "b": "y"}),
        ('{"a": "x", "b" "y", "c": 1}', {"a": "x", "b": "y", "c": 1}),
        ('{"a": x, "b": "y"}', {"a": "x", "b": "y"}),
        ("[x]", ["x"]),
        ('{"a": x, "b": ["y", 1, {"c": ""}]}', {"a": "x", "b": ["y", 1, {"c": ""}]}),
        ('{"a": x, "b": "\\u00e9"}', {"a": "x", "b": "é"}),
    ],
)
def test_json_repair_where_nothing_is_lost(text: str, value: Any) -> None:
    assert mend(text) == (value, ("wrong punctuation",))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "x "z, "b": "y"}',
        '{"a": "x", "b" [1] "c": "y", "d": ""}',
        '{"a": "say "b": "c" now"}',
        '{"a": "say "b", "c" now"}',
        '{"a": "x "y" } z", "b": 1}',
        '[{"a": "x "}]" y"}]',
    ],
)
def test_where_a_text_ends_must_be_clear(text: str) -> None:
    with pytest.raises(CannotRepair):
        mend(text)


@pytest.mark.parametrize(
    ("text", "words", "cut"),
    [
        ("{", "it has no end", True),
        ('[{"a": 1}', "it has no end", True),
        ('{"a": {"b" 1}', "something in it is not closed", True),
        ('{"a": "draw }', "something in it is not closed", True),
        ('{"a": 1.50 "b" 2}', "words or brackets would be lost or added", False),
        ('{"a": , "b": 1}', "a missing value would be made up", False),
        ('{"a" ' * 100 + "}" * 100, "too long or nested too deeply", False),
        ('{"a" ' * 100 + "}", "too long or nested too deeply", True),
        ('{"a" "' + "x" * 4000 + '"}', "too long or nested too deeply", False),
    ],
)
def test_what_cannot_be_mended(text: str, words: str, cut: bool) -> None:
    with pytest.raises(CannotRepair, match=words) as raised:
        mend(text)
    assert raised.value.cut is cut


def test_json_repair_giving_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(*_: Any, **__: Any) -> None:
        raise RecursionError

    monkeypatch.setattr("json_repair.repair_json", gives_up)
    with pytest.raises(CannotRepair, match=r"json-repair gave up \(RecursionError\)"):
        mend('{"a" "x"}')


@pytest.mark.parametrize(
    "part",
    ['"x "y" z",', '"p":"x "y" z",', '"a":1 ', '{"a":1}', '"', "'", "“", " ",
     "\\", '"a":"', '",', "// \n", "{", "[{", '{"a" ', '["', "1 ", "null{"],
)  # fmt: skip
@pytest.mark.parametrize("start", ['{"a":"', '{"a":[', "["])
def test_mending_takes_linear_time(start: str, part: str) -> None:
    text = start + part * (60_000 // len(part)) + '"}]}'
    begin = time.process_time()
    with contextlib.suppress(CannotRepair):
        mend(text)
    # Measured: at most 0.2 s.
    assert time.process_time() - begin < 10
