from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk

from langgraph_interleave.parsing.tagged import Scanner
from langgraph_interleave.splitter import Piece, Splitter


def split(*chunks: str, thinking_first: bool = False) -> tuple[Splitter, list[Piece]]:
    splitter = Splitter(thinking_first=thinking_first)
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    return splitter, pieces + splitter.finish()


def segments(pieces: list[Piece]) -> list[str]:
    """Each segment as `r:text` or `a:text`."""
    joined: dict[int, str] = {}
    for piece in pieces:
        start = joined.setdefault(piece.segment, f"{piece.track[0]}:")
        assert start[0] == piece.track[0]
        joined[piece.segment] += piece.text
    assert list(joined) == list(range(len(joined)))
    return list(joined.values())


def rebuilt(splitter: Splitter, pieces: list[Piece]) -> str:
    parts = sorted([*pieces, *splitter.tags], key=lambda part: part.start)
    at = 0
    for part in parts:
        assert part.start == at and part.text
        at = part.end
        assert part.end - part.start == len(part.text)
    return "".join(part.text for part in parts)


EXAMPLES = [
    ("Just words.", ["a:Just words."]),
    ("<think>One.</think>Two.", ["r:One.", "a:Two."]),
    ("<think>\nOne.\n</think>\n\n<answer>\nTwo.\n</answer>\n", ["r:One.", "a:Two."]),
    ("<THINK>One.</Think><aNSWER>Two.</ANSWER>", ["r:One.", "a:Two."]),
    ("<thinking>One.</thinking>Two.", ["r:One.", "a:Two."]),
    ("<thinking>One.</think>Two.", ["r:One.", "a:Two."]),
    ("<think>a</think><answer>b</answer><think>c</think><answer>d</answer>", ["r:a", "a:b", "r:c", "a:d"]),
    ("<think>a</think>b<think>c</think>d", ["r:a", "a:b", "r:c", "a:d"]),
    ("Before <think>a</think> after", ["a:Before", "r:a", "a:after"]),
    ("<think>\n\n</think>\n\nNothing was thought.", ["a:Nothing was thought."]),
    ("<answer>a</answer> b", ["a:a", "a:b"]),
    # Not closed.
    ("<think>cut off", ["r:cut off"]),
    ("<think>cut off</thi", ["r:cut off</thi"]),
    ("<think>a</think><answer>cut", ["r:a", "a:cut"]),
    ("<answer>a<think>b</think>c", ["a:a", "r:b", "a:c"]),
    ("a <thin", ["a:a <thin"]),
    ("words  \n", ["a:words  \n"]),
    # Nested: the first end is the end.
    ("<think>a<think>b</think>c</think>d", ["r:a<think>b", "a:c", "a:d"]),
    ("<think>a<answer>b</answer></think>d", ["r:a<answer>b</answer>", "a:d"]),
    ("<answer>a<answer>b</answer></answer>c", ["a:a", "a:b", "a:c"]),
    # No tags.
    ("<thinker>a</thinker>", ["a:<thinker>a</thinker>"]),
    ("< think>a", ["a:< think>a"]),
    ("<think hard>a", ["a:<think hard>a"]),
    ("1 < 2 << 3 <", ["a:1 < 2 << 3 <"]),
    ("<thin\u212a>a", ["a:<thin\u212a>a"]),  # the Kelvin sign is no K
    ("<<think>a</think>b", ["a:<", "r:a", "a:b"]),
    # Quoted, in inline code, in a fence.
    ('Write "<think>" and \u201c<answer>\u201d.', ['a:Write "<think>" and \u201c<answer>\u201d.']),
    ('He said "<think>a</think>b', ['a:He said "', "r:a", "a:b"]),
    ("Use `<think>` here", ["a:Use `<think>` here"]),
    ("Use `x <think> y` here\n<think>a", ["a:Use `x <think> y` here", "r:a"]),
    ("A lone ` tick\n<think>a", ["a:A lone ` tick", "r:a"]),
    ("```\n<think>a</think>\n```\n<think>b", ["a:```\n<think>a</think>\n```", "r:b"]),
    ("~~~xml\n<answer>\n~~~\n<think>b", ["a:~~~xml\n<answer>\n~~~", "r:b"]),
    ("````\n```\n<think>\n````\n<think>b", ["a:````\n```\n<think>\n````", "r:b"]),
    ("<answer>```json\n{}\n```</answer><think>b", ["a:```json\n{}\n```", "r:b"]),
    ("<answer>```json {}```</answer><think>b", ["a:```json {}```", "r:b"]),
    ("```\nnever closed <think>", ["a:```\nnever closed <think>"]),
    ("not ``` a fence <think>b", ["a:not ``` a fence", "r:b"]),
    ("Here: ```json\n<answer>\n```\n<think>b", ["a:Here: ```json\n<answer>\n```", "r:b"]),
    ("```\n<answer> ```\n<think>b", ["a:```\n<answer> ```", "r:b"]),
    ("<think>```\ncode</think>a", ["r:```\ncode", "a:a"]),
    # Characters of every kind.
    ("<think>\u600d\U0001f9d1\u200d\U0001f373</think>\ud83d\udc00 \u00e9",
     ["r:\u600d\U0001f9d1\u200d\U0001f373", "a:\ud83d\udc00 \u00e9"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_examples(text: str, expected: list[str]) -> None:
    for chunks in ([text], list(text), [text[i : i + 3] for i in range(0, len(text), 3)]):
        splitter, pieces = split(*chunks)
        assert segments(pieces) == expected
        assert rebuilt(splitter, pieces) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So.\n</think>\n\nIt is.", ["r:So.", "a:It is."]),
        ("\n<think>\nSo.</think>It is.", ["r:So.", "a:It is."]),
        ("So <think> it</think>is.", ["r:So <think> it", "a:is."]),
        ("cut off", ["r:cut off"]),
        ("So.</think>a<think>b</think>c", ["r:So.", "a:a", "r:b", "a:c"]),
    ],
)
def test_thinking_that_the_template_opened(text: str, expected: list[str]) -> None:
    for chunks in ([text], list(text)):
        splitter, pieces = split(*chunks, thinking_first=True)
        assert segments(pieces) == expected
        assert rebuilt(splitter, pieces) == text
        assert splitter.reasoning_until is None


def test_an_end_without_beginning_is_told() -> None:
    splitter, pieces = split("It was reasoning.", "</think>The answer.")
    assert segments(pieces) == ["a:It was reasoning.", "a:The answer."]
    assert splitter.reasoning_until == len("It was reasoning.")


def test_pieces_come_as_soon_as_they_are_certain() -> None:
    splitter = Splitter()
    given = ["Hel", "lo <", "b> you", " ", "too<thi", "nk>a", "b", "</", "think>", "\n", "c"]
    assert [[piece.text for piece in splitter.feed(chunk)] for chunk in given] == [
        ["Hel"], ["lo"], [" <b> you"], [], [" too"], ["a"], ["b"], [], [], [], ["c"],
    ]  # fmt: skip
    assert splitter.tags[1].text == "</think>\n"


def test_state() -> None:
    splitter = Splitter()
    seen: list[tuple[bool, bool]] = []
    for chunk in ("<think>a", "</think>", "<answer>b", "<think>c", "</think></answer>"):
        splitter.feed(chunk)
        seen.append((splitter.thinking, splitter.answering))
    assert seen == [(True, False), (False, False), (False, True), (True, True), (False, False)]
    assert splitter.finish() == []
    assert splitter.finish() == []
    with pytest.raises(ValueError, match="finished"):
        splitter.feed("more")


_BITS = st.sampled_from(
    ["<think>", "</think>", "<thinking>", "</THINKING>", "<answer>", "</answer>", "<", "</", "<thi", "nk>", ">", "`",
     "``",
     "```", "~~~", "~", '"', "'",
     "\u201c", "\u201d", "\n", " ", "\t", "a", "word ", "json",
     "\U0001f373", "\ud83d", "\udc00", "\u0130"]
)  # fmt: skip
_TEXTS = st.lists(st.one_of(_BITS, _BITS, st.text(max_size=3)), max_size=25).map("".join)


@pytest.mark.nightly
@given(_TEXTS, st.lists(st.integers(0, 80)), st.booleans())
@example("~~~\n<think>\n~~~ \n<think>a", [1, 2, 13, 15], False)
def test_any_chunking_gives_the_same(text: str, cuts: list[int], thinking_first: bool) -> None:
    whole, at_once = split(text, thinking_first=thinking_first)
    assert rebuilt(whole, at_once) == text
    assert all(piece.text == text[piece.start : piece.end] for piece in at_once)
    places = sorted({0, *(cut for cut in cuts if cut < len(text)), len(text)})
    for chunks in ([text[a:b] for a, b in itertools.pairwise(places)], list(text)):
        splitter, pieces = split(*chunks, thinking_first=thinking_first)
        assert segments(pieces) == segments(at_once)
        assert splitter.tags == whole.tags
        assert rebuilt(splitter, pieces) == text
        assert splitter.reasoning_until == whole.reasoning_until


@pytest.mark.nightly
@given(st.lists(st.tuples(st.sampled_from("ra"), st.text("abc \n", min_size=1, max_size=8)), max_size=6))
def test_the_alternating_form(parts: list[tuple[str, str]]) -> None:
    text = "".join(f"<think>{words}</think>" if kind == "r" else f"<answer>{words}</answer>" for kind, words in parts)
    expected = [f"{kind}:{words.strip()}" for kind, words in parts if words.strip()]
    assert segments(split(*text)[1]) == expected


@pytest.mark.nightly
@given(st.lists(st.sampled_from(["<think>", "</think>", "<answer>", "</answer>", "a ", "b", "\n"]), max_size=20))
def test_reasoning_is_what_parsing_calls_reasoning(bits: list[str]) -> None:
    text = "".join(bits)
    scanner = Scanner()
    scanner.feed(text, final=True)
    theirs = ["".join(thought.parts).strip() for thought in scanner.thoughts]
    splitter, pieces = split(text)
    if splitter.reasoning_until is None:
        ours = [one[2:].strip() for one in segments(pieces) if one[0] == "r"]
        assert ours == [thought for thought in theirs if thought]


def test_long_text_takes_linear_time() -> None:
    for unit in ("word <b> `x` \n", "< ", "```\na\n```\n", "<think>a</think>b", "'<think>'"):
        text = unit * (200_000 // len(unit))
        start = time.process_time()
        splitter, pieces = split(text)
        assert rebuilt(splitter, pieces) == text
        assert time.process_time() - start < 5


# Blocks of providers.


def blocks(*contents: Any, extra: Any = None, thinking_first: bool = False) -> list[str]:
    splitter = Splitter(thinking_first=thinking_first)
    pieces = [piece for content in contents for piece in splitter.feed_blocks(content, extra)]
    pieces += splitter.finish()
    rebuilt(splitter, pieces)
    return segments(pieces)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "reasoning", "reasoning": "So."},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "So.", "index": 0}]},
        {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "So."}], "summary": []},
        {"type": "thinking", "thinking": "So.", "signature": "x"},
        {"type": "thinking", "thinking": [{"type": "text", "text": "So."}]},
        {"type": "reasoning_content", "reasoning_content": {"text": "So."}},
        {"type": "text", "text": "So.", "thought": True},
        {"type": "non_standard", "value": {"type": "thinking", "thinking": "So."}},
    ],
)  # fmt: skip
def test_reasoning_blocks(block: dict[str, Any]) -> None:
    assert blocks([block, {"type": "text", "text": "It is."}]) == ["r:So.", "a:It is."]
    assert blocks([block], [], [{"type": "text", "text": "It"}], " is.") == ["r:So.", "a:It is."]
    # A server that splits has read the template itself.
    assert blocks([block], [{"type": "text", "text": "It is."}], thinking_first=True) == ["r:So.", "a:It is."]


def test_blocks_that_say_nothing() -> None:
    silent: list[Any] = [
        {"type": "reasoning", "summary": [], "encrypted_content": "x"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "thinking", "thinking": "", "signature": "x"},
        {"type": "tool_call", "name": "x", "args": {}},
        {"type": "image", "url": "artifact://x"},
        {"type": "non_standard", "value": {"type": "odd", "text": "x"}},
        {"type": "text"},
    ]
    assert blocks(silent) == []


def test_tags_in_reasoning_blocks_mean_nothing_and_half_a_tag_ends_at_one() -> None:
    native = {"type": "reasoning", "reasoning": "not </think> a <think> tag"}
    assert blocks("a <thi", [native], "nk>b") == ["a:a <thi", "r:not </think> a <think> tag", "a:nk>b"]
    assert blocks([native, "<think>tagged</think>b"]) == ["r:not </think> a <think> tag", "r:tagged", "a:b"]


def test_another_summary_is_another_segment() -> None:
    def summary(index: int, text: str) -> list[dict[str, Any]]:
        return [{"type": "reasoning", "index": 0, "summary": [{"type": "summary_text", "index": index, "text": text}]}]

    assert blocks(summary(0, "One"), summary(0, "."), summary(1, "Two.")) == ["r:One.", "r:Two."]


@pytest.mark.parametrize(
    "extra",
    [
        {"reasoning_content": "So."},
        {"reasoning": "So."},
        {"reasoning": {"id": "rs_1", "summary": [{"type": "summary_text", "text": "So."}]}},
        {"reasoning": "So.", "reasoning_details": [{"type": "reasoning.text", "text": "So."}]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "So."}]},
    ],
)
def test_reasoning_beside_the_content(extra: dict[str, Any]) -> None:
    assert blocks("It is.", extra=extra) == ["r:So.", "a:It is."]
    assert blocks([{"type": "reasoning", "reasoning": "So."}, "It is."], extra=extra) == ["r:So.", "a:It is."]


def test_real_messages() -> None:
    deepseek = AIMessage("It is.", additional_kwargs={"reasoning_content": "So."})
    claude = AIMessageChunk(content=[{"type": "thinking", "thinking": "So."}, {"type": "text", "text": "It is."}])
    for message in (deepseek, claude):
        assert blocks(message.content, extra=message.additional_kwargs) == ["r:So.", "a:It is."]
        assert blocks(message.content_blocks, extra=message.additional_kwargs) == ["r:So.", "a:It is."]
