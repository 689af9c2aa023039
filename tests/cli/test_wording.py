"""What models and users write is shown, never obeyed."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.cli.wording import clean, count, json_line, news, one_line, slug

ANY_TEXT = st.text(st.characters(codec=None))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[Hgone", "gone"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;unterminated", ""),
        ("\x1bcreset", "reset"),
        ("bell\x07 back\x08space\x7f", "bell backspace"),
        ("tab\there", "tab here"),
        ("two\r\nlines", "two\nlines"),
        ("over\rwritten", "overwritten"),
        ("\u202egnirts\u202c", "gnirts"),
        ("[bold]markup[/bold]", "[bold]markup[/bold]"),
        ("种豆子", "种豆子"),
        ("family 👨‍👩‍👧", "family 👨‍👩‍👧"),
        ("half \ud83d", "half "),
    ],
)
def test_terminal_sequences_are_dropped_and_words_are_kept(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(ANY_TEXT)
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    assert not [char for char in clean(text) if unicodedata.category(char) in ("Cc", "Cs") and char != "\n"]
    line = one_line(text)
    assert "\n" not in line
    assert "\u2028" not in line
    line.encode()


@given(ANY_TEXT, st.integers(1, 20))
def test_a_line_is_never_longer_than_asked(text: str, width: int) -> None:
    assert len(one_line(text, width)) <= width


@given(
    st.recursive(ANY_TEXT | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner))
)
def test_a_json_line_is_one_safe_line_and_loses_nothing(value: object) -> None:
    line = json_line(value)
    assert json.loads(line) == value
    assert len(line.splitlines()) <= 1
    line.encode()
    assert clean(line) == line


@pytest.mark.parametrize(
    ("request_text", "name"),
    [
        ("How to plant a bean, in 5 steps", "how-to-plant-a-bean-in-5-steps"),
        ("  ÜBER Größe  ", "über-größe"),
        ("用五步种一颗豆子", "用五步种一颗豆子"),
        ("../../etc/passwd", "etc-passwd"),
        ("/", "document"),
        ("", "document"),
        ("CON", "document-con"),
        ("con", "document-con"),
        ("...hidden", "hidden"),
        ("a_b", "a-b"),
        ("word " * 40, "word-word-word-word-word-word-word-word-word"),
        ("x" * 300, "x" * 48),
    ],
)
def test_a_folder_is_named_after_the_request(request_text: str, name: str) -> None:
    assert slug(request_text) == name


@given(ANY_TEXT)
def test_every_request_gives_a_name_that_stays_in_its_folder(text: str) -> None:
    name = slug(text)
    assert name
    assert len(name) <= 60
    assert not set(name) & set('/\\:*?"<>|. \n\x00')


def test_numbers_with_nouns() -> None:
    assert count(0, "step") == "0 steps"
    assert count(1, "step") == "1 step"


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("a red ball on grass", "a red ball on grass. One ball only.", "… grass. One ball only."),
        ("a red ball on grass.", "a red ball on grass. One ball only.", "… One ball only."),
        ("a red ball", "a red ball, exactly one", "a red ball, exactly one"),
        ("a red ball on grass.", "a red ball on grass.", "a red ball on grass."),
        ("", "quite other words", "quite other words"),
    ],
)
def test_of_a_rewritten_prompt_the_news_is_shown(before: str, after: str, shown: str) -> None:
    assert news(before, after) == shown
