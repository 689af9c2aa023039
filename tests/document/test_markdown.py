"""The Markdown: readable as it is, and no word of a model that could become markup or a link."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from langgraph_interleave.document import Document
from langgraph_interleave.document.markdown import escape_line, escape_text
from langgraph_interleave.document.text import clean, one_line

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
WORDS = st.text(st.sampled_from(list("ab 1.)#-+*_=`~<>[]()!|\\&;:/@$\n\t\"'{}^%é种\u00a0")), max_size=30) | st.text(
    st.characters(), max_size=30
)


def shown(tokens: list[Token]) -> str:
    """The words a reader sees."""
    parts: list[str] = []
    for token in tokens:
        if token.children:
            parts.append(shown(token.children))
        elif token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        else:
            assert token.type.endswith(("_open", "_close")) or token.type in ("text", "text_special", "inline"), token
            parts.append(token.content)
    return "".join(parts)


def visible(text: str) -> str:
    return one_line(text).replace("@", "@\u2060")


def test_golden(bean: Document, golden: Callable[[str, str], None]) -> None:
    golden("document/bean.md", bean.to_markdown())


def test_the_folder_of_the_pictures_is_the_callers(bean: Document) -> None:
    assert "](images/step-01.png)" in bean.to_markdown()
    assert "](../my%20pictures/step-01.png)" in bean.to_markdown("../my pictures/")
    assert "](https://example.org/b/step-01.png)" in bean.to_markdown("https://example.org/b")
    assert "](step-01.png)" in bean.to_markdown("")
    assert "](%29%5Bx%5D%28/step-01.png)" in bean.to_markdown(")[x](")


def test_it_is_plain_where_words_are_plain() -> None:
    plain = "Push one bean in, about 2.5 cm deep (as deep as it is long). Don't dig: wait! 5 to 8 days; 50% do."
    assert escape_text(plain) == plain


@given(WORDS)
def test_text_stays_text(text: str) -> None:
    tokens = MARKDOWN.parse(escape_text(text))
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    children = [child.type for token in tokens for child in token.children or []]
    assert set(children) <= {"text", "hardbreak"}
    lines = [line for line in map(visible, clean(text).split("\n")) if line]
    found = [line for token in tokens if token.children for line in shown(token.children).split("\n")]
    assert found == lines


@given(WORDS.filter(lambda text: bool(one_line(text))))
def test_a_line_stays_a_line_in_every_place_it_is_put(text: str) -> None:
    line = escape_line(text)
    for before, after, kinds in (
        ("# ", "", {"heading_open", "inline", "heading_close"}),
        ("## 1. ", "", {"heading_open", "inline", "heading_close"}),
        ("- ", "", {"bullet_list_open", "list_item_open", "paragraph_open", "inline", "paragraph_close",
                    "list_item_close", "bullet_list_close"}),
        ("> ", "", {"blockquote_open", "paragraph_open", "inline", "paragraph_close", "blockquote_close"}),
    ):  # fmt: skip
        tokens = MARKDOWN.parse(f"{before}{line}{after}")
        assert {token.type for token in tokens} == kinds
        assert shown(tokens) == before.removeprefix("## ").strip("#-> ").replace("1.", "1. ") + visible(text)
    (image,) = MARKDOWN.parse(f"![{line}](images/step-01.png)")[1].children or []
    assert image.type == "image"
    assert image.attrs["src"] == "images/step-01.png"
    assert image.content.replace("\\", "") or not one_line(text).replace("\\", "")


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/x",
        "see www.example.org now",
        "mail me@example.org",
        "http://a.b",
        "x.example.com",
        "ftp://a.bc",
    ],
)
def test_no_address_becomes_a_link_of_github(text: str) -> None:
    line = escape_line(text)
    # What the autolink extension looks for: a scheme or `www.` left as it is, or a name, @ and a domain.
    assert not re.search(r"(https?|ftp)://", line)
    assert not re.search(r"www\.\w", line)
    assert not re.search(r"\w@\w", line)
    assert not re.search(r"[a-z]\.[a-z]", line)


def test_marks_placeholders_and_history_are_told(bean: Document) -> None:
    text = bean.to_markdown()
    for words in (
        "**Not everything worked out.**", "- No attempt was accepted of step 4.",
        "**Not accepted.** The critic accepted none of 2 attempts; the best is shown.",
        "*No picture: Pods.*", "**Skipped.** This step was skipped.", "1. Rejected: The pot is gone.",
        "Refined prompt: Add a watering can; keep the pot.", "- Cost: \\$0.031",
    ):  # fmt: skip
        assert words in text, words
    assert not [line for line in text.split("\n") if line != line.rstrip()]
