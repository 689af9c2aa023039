"""Words in a document: cleaned, cut, compared, and numbers said as people say them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.document import words
from langgraph_interleave.document.text import clean, language_of, one_line, shorten
from langgraph_interleave.document.wordchanges import word_changes
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    Critique,
    DocumentData,
    DocumentStep,
    Problem,
    Request,
    Spend,
    TextPart,
)

ANY = st.text(st.characters(), max_size=60)
REQUEST = Request(parts=(TextPart(text="A bean"),))
IMAGE = ArtifactRef(sha256="a" * 64, mime="image/png", size=9, width=2, height=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain äöü 种 👩\u200d🌾 می\u200cخواهم", "plain äöü 种 👩\u200d🌾 می\u200cخواهم"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("user\u202egpj.exe\u202c", "usergpj.exe"),
        ("\u2066isolated\u2069", "isolated"),
        ("nul\0 bell\a esc\x1b[31m", "nul bell esc[31m"),
        ("zero\u200bwidth\ufeff \U000e0041", "zerowidth "),
        ("\ud83d\ude00 and \ud83d", "😀 and \ufffd"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(ANY)
def test_cleaned_text_holds_nothing_unseen_and_stays_as_it_is(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    cleaned.encode()
    for char in cleaned:
        assert char in "\n\t" or unicodedata.category(char) != "Cc"
        assert unicodedata.bidirectional(char) not in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(ANY, st.integers(2, 50))
def test_shortened_text_is_a_beginning(text: str, most: int) -> None:
    short = shorten(text, most)
    assert len(short) <= most
    assert "\n" not in short
    assert one_line(text).startswith(short.removesuffix("…"))


@pytest.mark.parametrize(
    ("wanted", "text", "expected"),
    [
        ("de", "", "de"), ("zh-Hans", "", "zh-Hans"), ("Brazilian Portuguese", "x", None), ("french", "种", "fr"),
        ('"><script>', "", None), (None, "Plant a bean", None), (None, "", None), (None, "123", None),
        (None, "豆をまく", "ja"), (None, "种豆子 bean", "zh"), (None, "콩 심기", "ko"), (None, "زرع الفول", "ar"),
        (None, "Посадить боб", "ru"), (None, "a bean called 豆", None),
    ],
)  # fmt: skip
def test_language(wanted: str | None, text: str, expected: str | None) -> None:
    assert language_of(wanted, text) == expected


@given(ANY, ANY)
def test_word_changes_add_up_to_the_new_prompt(before: str, after: str) -> None:
    pieces = word_changes(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == after


def test_word_changes_of_chinese_go_by_character() -> None:
    assert [tuple(piece) for piece in word_changes("一个红色的花盆", "一个蓝色的花盆")] == [
        ("same", "一个"), ("gone", "红"), ("new", "蓝"), ("same", "色的花盆"),
    ]  # fmt: skip


def test_prompts_that_share_nothing_are_not_compared() -> None:
    assert [piece.kind for piece in word_changes("one two three", "quite other words")] == ["same"]
    assert [piece.kind for piece in word_changes("a " * 5000, "a " * 5000 + "b")] == ["same"]


def attempt(critique: Critique | None, *, image: ArtifactRef | None = IMAGE) -> Attempt:
    return Attempt(number=0, prompt="p", image=image, critique=critique)


@pytest.mark.parametrize(
    ("given_attempt", "kept", "expected"),
    [
        (attempt(Critique(verdict="accept")), True, ("good", "Accepted")),
        (attempt(Critique(verdict="accept", judge="human")), True, ("good", "Accepted by a reviewer")),
        (attempt(Critique(verdict="revise")), False, ("bad", "Rejected")),
        (attempt(Critique(verdict="revise")), True, ("bad", "Rejected, kept all the same")),
        (attempt(Critique(verdict="revise", judge="check")), False, ("bad", "Rejected by a check")),
        (attempt(None), True, ("open", "Not judged, kept")),
        (attempt(None, image=None), False, ("bad", "Not drawn")),
    ],
)
def test_verdicts(given_attempt: Attempt, kept: bool, expected: tuple[str, str]) -> None:
    assert words.verdict_of(given_attempt, kept=kept) == expected


@pytest.mark.parametrize("outcome", ["exhausted", "critic_failed", "backend_failed", "blocked", "skipped", "cancelled"])
def test_every_outcome_but_the_good_ones_has_a_mark(outcome: str) -> None:
    step = DocumentStep.model_validate({"index": 0, "op": "generate", "outcome": outcome})
    assert words.mark_of(step)
    assert words.label_of(step)
    assert words.mark_of(step.model_copy(update={"mark": "Said otherwise."})) == "Said otherwise."


def test_the_status_names_the_steps() -> None:
    outcomes = ("accepted", "exhausted", "exhausted", "backend_failed", "cancelled")
    steps = tuple(
        DocumentStep.model_validate({"index": i, "op": "generate", "outcome": outcome})
        for i, outcome in enumerate(outcomes)
    )
    data = DocumentData(
        run_id="r", request=REQUEST, outcome="cancelled", reasons=("limit",), steps=steps,
        problem=Problem(error="LimitReached", message="Limit max_images reached.", remedy="Raise it."),
    )  # fmt: skip
    status = words.status_of(data)
    assert status is not None
    assert status[0] == "Stopped early: this is what there was"
    assert [tuple(line) for line in status[1]] == [
        ("A limit was reached before every step was drawn.", ()),
        ("Limit max_images reached. Raise it.", ()),
        ("No attempt was accepted of steps", (2, 3)),
        ("No picture could be drawn for step", (4,)),
        ("Not drawn any more: step", (5,)),
    ]
    assert words.status_of(data.model_copy(update={"outcome": "complete"})) is None


def test_numbers_leave_out_what_is_not_known() -> None:
    data = DocumentData(run_id="r", request=REQUEST, outcome="complete", spend=Spend(calls={"planner": 1, "critic": 0}))
    assert words.numbers_of(data) == [
        ("Steps", "0"), ("Pictures drawn", "0"), ("Attempts", "0"), ("Calls", "1 (1 planner)"),
    ]  # fmt: skip
    spent = data.model_copy(update={"spend": Spend(cost_usd=0.0, seconds=3.25, ambiguous=1)})
    assert words.numbers_of(spent)[3:] == [
        ("Calls", "0 (1 with unknown end, cost unknown)"), ("Time", "3.2 s"), ("Cost", "$0.00"),
    ]  # fmt: skip
    maybe = data.model_copy(update={"spend": Spend(calls={"critic": 2}, ambiguous=1, ambiguous_cost_usd=0.25)})
    assert words.numbers_of(maybe)[3] == ("Calls", "2 (2 critic; 1 with unknown end, up to $0.25 more)")
