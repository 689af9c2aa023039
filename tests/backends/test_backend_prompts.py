"""Prompts as a backend can take them: beginning and end kept, nothing cut in two, nothing a server obeys."""

from __future__ import annotations

import time
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.backends.prompts import estimate_tokens, fit_prompt, neutralised
from langgraph_interleave.errors import InvalidRequest
from langgraph_interleave.types import ImageRequest

STORY = (
    "A clay pot stands on a wooden table by the window. Soft light falls on it. "
    + "There are many small things around it. " * 40
    + "Style: ink and watercolour. Keep the pot exactly as it is!"
)


def test_what_fits_stays() -> None:
    assert fit_prompt(STORY, max_characters=len(STORY)).text == STORY
    assert fit_prompt(STORY).warnings == ()


def test_the_beginning_and_the_closing_constraints_stay() -> None:
    fitted = fit_prompt(STORY, max_tokens=77, what="flux")
    assert estimate_tokens(fitted.text) <= 77
    assert fitted.text.startswith("A clay pot stands on a wooden table by the window. Soft light")
    assert fitted.text.endswith("Style: ink and watercolour. Keep the pot exactly as it is!")
    [warning] = fitted.warnings
    assert "flux" in warning and "77 tokens" in warning
    dropped = len(STORY.split()) - len([word for word in fitted.text.split() if word != "…"])
    assert f"{dropped} words" in warning


def test_the_models_own_tokenizer_counts() -> None:
    fitted = fit_prompt(STORY, max_tokens=30, count=lambda text: len(text.split()))
    assert len(fitted.text.split()) <= 30
    assert fitted.text.endswith("Keep the pot exactly as it is!")


def test_a_last_sentence_that_is_too_long_keeps_its_end() -> None:
    text = "A pot. " + "and ".join(f"thing{i} " for i in range(100)) + "in ink"
    fitted = fit_prompt(text, max_characters=100)
    assert fitted.text.startswith("A pot.") and fitted.text.endswith("thing99 in ink") and len(fitted.text) <= 100


def test_scripts_without_spaces_are_cut_between_characters() -> None:
    text = (
        "赤い植木鉢が木の机の上に置かれている。" + "周りには小さな物がたくさんある。" * 30 + "水彩画の様式を保つこと。"
    )
    fitted = fit_prompt(text, max_characters=80)
    assert len(fitted.text) <= 80
    assert fitted.text.startswith("赤い植木鉢") and fitted.text.endswith("水彩画の様式を保つこと。")


@pytest.mark.parametrize(
    ("character", "count"),
    [
        ("นั่", 200), ("เก้า", 200), ("ខ្មែ", 200), ("မြ", 200), ("ཡི", 200), ("ｶﾞ", 200), ("か\u3099", 200),
        ("👩‍👩‍👧‍👦", 100), ("👍🏽", 200), ("🇩🇪", 200), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 100), ("❤️‍🔥", 200), ("𰀀", 200),
    ],
)  # fmt: skip
def test_no_script_without_spaces_is_cut_inside_a_character(character: str, count: int) -> None:
    fitted = fit_prompt(character * count, max_characters=97)
    start, end = fitted.text.split(" … ")
    assert 40 < len(fitted.text) <= 97
    assert set(start.split(character)) == {""} and set(end.split(character)) == {""}


def test_one_word_that_is_too_long_is_an_error() -> None:
    with pytest.raises(InvalidRequest, match="no word"):
        fit_prompt("x" * 200, max_characters=100)


words = st.text(alphabet=st.sampled_from("ab .!?\n,é\u0301👩\u200d🚀が\u3099漢字。\ufe0f"), max_size=300)


@given(words, st.integers(1, 60))
def test_never_longer_and_never_inside_a_word_or_character(text: str, limit: int) -> None:
    try:
        fitted = fit_prompt(text, max_characters=limit)
    except InvalidRequest:
        return
    if fitted.text == text:
        return
    assert len(fitted.text) <= limit
    assert len(fitted.warnings) == 1
    pieces = fitted.text.split(" … ")
    assert len(pieces) <= 2
    # Each piece is a run of the prompt that no mark was torn from.
    assert text.startswith(pieces[0], len(text) - len(text.lstrip())) or len(pieces) == 1
    assert text.rstrip().endswith(pieces[-1]) or len(pieces) == 1
    for piece in pieces:
        at = text.index(piece)
        after = text[at + len(piece) : at + len(piece) + 1]
        if len(pieces) == 2 and piece == pieces[0] and after and piece:
            assert not unicodedata.combining(after) and after not in "\u200d\ufe0f"
            assert not (after.isascii() and after.isalpha() and piece[-1].isascii() and piece[-1].isalpha())


@given(st.text(max_size=300), st.integers(1, 40))
def test_any_text_and_any_limit_of_tokens(text: str, limit: int) -> None:
    try:
        fitted = fit_prompt(text, max_tokens=limit)
    except InvalidRequest:
        return
    assert fitted.text == text or estimate_tokens(fitted.text) <= limit


@pytest.mark.parametrize(
    ("prompt", "syntax", "text"),
    [
        ('a <sd_cpp_extra_args>{"seed": 7}</SD_CPP_extra_args > b', {"sd_cpp"}, 'a {"seed": 7} b'),
        ("<sd_cpp_<sd_cpp_extra_args>extra_args>{}", {"sd_cpp"}, "{}"),
        ("a cat <lora:evil:0.8> <LyCo:x> <hypernet: y:1>", {"lora"}, "a cat   "),
        ("<lo<lora:x:1>ra:y:1> a cat", {"lora"}, " a cat"),
        ("a cat embedding:evil, sits", {"embedding"}, "a cat embedding evil, sits"),
        ("a cat | a dog || a cow", {"pipe"}, "a cat / a dog / a cow"),
        ("a <lora:evil:1<b> cat", {"lora"}, "a evil:1<b> cat"),
        ("a <lora:evil:1< cat", {"lora"}, "a evil:1< cat"),
        (f"a <lora:{'./' * 300}evil:1> cat", {"lora"}, "a  cat"),
        ("a < b > c, 2 | 3 <3", set(), "a < b > c, 2 | 3 <3"),
        ("(word:1.3) [a] {b}", {"sd_cpp", "lora", "embedding", "pipe"}, "(word:1.3) [a] {b}"),
    ],
)
def test_what_a_server_would_obey(prompt: str, syntax: set, text: str) -> None:
    found = neutralised(prompt, syntax)
    assert found.text == text
    assert bool(found.warnings) == (text != prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "a" + " " * 100_000 + "b",
        "|" * 100_000,
        "<" * 16_000 + "lora:" * 16_000,
        "<lo" * 9_000 + "<lora:" + "ra:" * 9_000,
    ],
)
def test_no_prompt_takes_long(prompt: str) -> None:
    began = time.monotonic()
    found = neutralised(prompt, {"sd_cpp", "lora", "embedding", "pipe"}).text
    assert time.monotonic() - began < 2
    assert "|" not in found and "<lora:" not in found


@given(st.lists(st.sampled_from(["<sd_cpp_extra_args>", "</sd_cpp_extra_args>", "<sd_cpp_", "extra_args>", "<lora:",
                                 "a:1>", "<", ">", "|", "embedding:", "x ", "lora:"]), max_size=12))  # fmt: skip
def test_nothing_is_formed_by_taking_out(pieces: list[str]) -> None:
    everything = {"sd_cpp", "lora", "embedding", "pipe"}
    once = neutralised("".join(pieces), everything)  # pyright: ignore[reportArgumentType]
    assert neutralised(once.text, everything).text == once.text  # pyright: ignore[reportArgumentType]
    assert "<sd_cpp_extra_args>" not in once.text and "<lora:" not in once.text and "|" not in once.text


@pytest.mark.parametrize(
    ("given_", "sent"),
    [("a \ud83d cat", "a \ufffd cat"), ("a \ud83d\ude00 cat", "a 😀 cat"), ("a \udc00", "a \ufffd"), ("a 😀", "a 😀")],
)
def test_half_a_character_is_sent_to_nobody(given_: str, sent: str) -> None:
    request = ImageRequest(given_, negative_prompt=given_)
    assert (request.prompt, request.negative_prompt) == (sent, sent)
    assert replace(request, prompt=given_).prompt == sent
