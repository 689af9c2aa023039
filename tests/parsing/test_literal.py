"""The reader of objects: JSON, Python literals and mixtures, cut anywhere."""

from __future__ import annotations

import ast
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.parsing.data import as_json, joined, plain
from langgraph_interleave.parsing.literal import Reader

texts = st.text(st.characters(exclude_categories=["Cs"]))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=15,
).filter(lambda value: isinstance(value, list | dict))


def read(text: str, size: int | None = None) -> Reader:
    reader = Reader()
    for i in range(0, len(text), size or len(text) or 1):
        reader.feed(text[i : i + (size or len(text))])
    reader.finish()
    return reader


@pytest.mark.nightly
@given(json_values, st.sampled_from([None, 1, 3]))
def test_reads_what_json_and_python_write(value: Any, size: int | None) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1), repr(value)):
        reader = read(text, size)
        assert reader.fault is None
        assert reader.value == value
        assert reader.notes == []


@pytest.mark.nightly
@given(st.text("{}[]\",:'\\ truefalsn01.-eE/#“”\n", max_size=30))
def test_reads_no_json_differently_than_json(text: str) -> None:
    for opening in "{[":
        try:
            expected = json.loads(opening + text)
        except ValueError:
            continue
        reader = read(opening + text)
        # A field given twice is the one thing JSON takes and this does not.
        if reader.fault is None or reader.fault.kind != "refused":
            assert json.dumps(reader.value) == json.dumps(expected)


@pytest.mark.nightly
@given(st.text("{}[]',: TrueFalsNon01.-\\x", max_size=20))
def test_reads_no_python_literal_differently_than_python(text: str) -> None:
    try:
        expected = ast.literal_eval("[" + text)
    except (ValueError, SyntaxError, TypeError, MemoryError):
        return
    reader = read("[" + text)
    if reader.fault is None and isinstance(expected, list):
        assert plain(reader.value) == plain(expected)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ("[ ]", []),
        ('{"a": [1, -2.5, 1e3, .5, 1., +3]}', {"a": [1, -2.5, 1000.0, 0.5, 1.0, 3]}),
        ("[true, True, TRUE, false, False, null, None, NULL, undefined]", [True] * 3 + [False] * 2 + [None] * 4),
        ("[\"a\\\"b\", 'a\\'b', \"a'b\", 'a\"b']", ['a"b', "a'b", "a'b", 'a"b']),
        (r'["\n\t\/\\", "\u00e9\x41\U0001F600", "\ud83d\ude00"]', ["\n\t/\\", "éA😀", "😀"]),
        (r'["\alpha", "\u12", "\u12 x", "C:\Users", "\xg"]', ["\\alpha", "\\u12", "\\u12 x", "C:\\Users", "\\xg"]),
        (r'["\U00110000", "\ud83d"]', ["\ufffd", "\ufffd"]),
        ('["a\\\nb", "a\nb"]', ["ab", "a\nb"]),
        ('[“a”, „b“, ‘c’, ”d”, “it\'s "x"”, “\\””]', ["a", "b", "c", "d", 'it\'s "x"', "”"]),
        ("{a: 1, b_2: 2, $c: 3, d-e: 4}", {"a": 1, "b_2": 2, "$c": 3, "d-e": 4}),
        ("[1, // one\n2 # two\n, 3]", [1, 2, 3]),
        ("{“a”： 1， “b”：2}", {"a": 1, "b": 2}),
        ("[1, 2,]", [1, 2]),
        ('{"a": 1, "a": 1}', {"a": 1}),
        ("[123456789012345678901234567890123]", [1.2345678901234568e32]),
        ("[" * 64 + "]" * 64, None),
    ],
)
def test_values(text: str, value: Any) -> None:
    for size in (None, 1, 2):
        reader = read(text, size)
        assert reader.fault is None
        assert value is None or reader.value == value


@pytest.mark.parametrize(
    ("text", "kind", "message", "at"),
    [
        ("{", "cut", "the text ends in the middle of the structure", 1),
        ('{"a', "cut", "the text ends in the middle of a quoted text", 3),
        ('{"a\\', "cut", "the text ends in the middle of a quoted text", 4),
        ("[12", "cut", "the text ends in the middle of the structure", 3),
        ("[1 // x", "cut", "the text ends in the middle of the structure", 7),
        ("[1 2]", "broken", "',' or ']' is missing before '2'", 3),
        ('{"a" 1}', "broken", "':' is missing before '1'", 5),
        ('{"a": 1 "b": 2}', "broken", "',' or '}' is missing before '\"'", 8),
        ("{,}", "broken", "a field name is missing before ','", 1),
        ("{-: 1}", "broken", "'-' stands where a field name belongs", 2),
        ("{1: 2}", "broken", "'1' stands where a field name belongs", 2),
        ("[}", "broken", "a value is missing before '}'", 1),
        ("[1,,2]", "broken", "a value is missing before ','", 3),
        ("[foo]", "broken", "'foo' has no quotes around it", 4),
        ("[1 /2]", "broken", "'/' stands between two values", 4),
        ("[1-2]", "broken", "'1-2' has no quotes around it", 4),
        (f"[{'9' * 6000}]", "broken", "a word or number without quotes is too long", 1),
        ("{'a'}", "refused", "a set stands where an object belongs", 4),
        ("{'a', 'b'}", "refused", "a set stands where an object belongs", 4),
        ("[(1, 2)]", "refused", "a tuple stands where a list or a text belongs", 1),
        ("[b'x']", "refused", "bytes or a prefixed text (b'…) stand where plain text belongs", 2),
        ("[3j]", "refused", "the complex number 3j is not plain data", 3),
        ("{'a': 1, 'a': 2}", "refused", "the field 'a' is given twice, with different values", 15),
        ("[" * 65, "refused", "it is nested deeper than 64 levels", 64),
    ],
)
def test_faults(text: str, kind: str, message: str, at: int) -> None:
    for size in (None, 1):
        fault = read(text, size).fault
        assert fault is not None
        assert (fault.kind, fault.message) == (kind, message)
        if size is None:
            assert fault.at == at


def test_notes_say_what_was_tolerated() -> None:
    assert read("{a: “x”, // c\n“b”：1，}").notes == [
        "unquoted field names",
        "curly quotes",
        "a comment",
        "full-width punctuation",
        "a trailing comma",
    ]
    assert read('["a",]').notes == ["a trailing comma"]
    assert read("['a',]").notes == []
    assert read("[None,]").notes == []


def test_stops_behind_the_value() -> None:
    reader = Reader()
    assert reader.feed("x [1] y", 2) == 5
    assert reader.done
    assert reader.feed("more") == 0
    reader.finish()
    assert reader.fault is None


def test_tells_objects_from_braces_in_prose() -> None:
    assert not read("{name}").committed
    assert not read("{see [1]}").committed
    assert read("{'a', 'b'}").committed
    assert read("{a: }").committed


def test_watching() -> None:
    seen: list[tuple[tuple[str | int, ...], Any]] = []
    Reader(lambda path, value: seen.append((path, value))).feed('{"a": [{"b": [1]}, 2], "c": null}')
    assert seen == [
        (("a", 0), {"b": [1]}),
        (("a", 1), 2),
        (("a",), [{"b": [1]}, 2]),
        (("c",), None),
        ((), {"a": [{"b": [1]}, 2], "c": None}),
    ]


def test_plain_copies_deeply() -> None:
    inner = [1, ("a", None)]
    copy = plain({"x": inner, "y": {"z": True}})
    assert copy == {"x": [1, ["a", None]], "y": {"z": True}}
    inner.append(2)
    assert copy["x"] == [1, ["a", None]]
    assert plain(10**31) == math.inf
    assert plain(-(10**31)) == -math.inf


def test_as_json() -> None:
    assert as_json({"ü": [1, None]}) == '{"ü": [1, null]}'
    assert as_json({1, 2}) == ""


def test_joined() -> None:
    assert joined("\ud83d\ude00 \ud83d x") == "😀 \ufffd x"
