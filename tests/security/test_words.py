"""Whatever models and users write is words: in a page, in Markdown, in a terminal, in a chat."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hostile import sampled
from hostile_document import said_everywhere
from hostile_words import HARMLESS, MARKUP
from markdown_it import MarkdownIt

from langgraph_interleave.agents.mcp_server.plain import plain
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli import wording
from langgraph_interleave.document import Document
from langgraph_interleave.document.text import clean

#: What a terminal obeys, and what turns the direction of a line around.
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
every = pytest.mark.parametrize("words", sampled(MARKUP))


class Skeleton(HTMLParser):
    """Elements with their attributes, and where they point to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.kinds: set[tuple[str, str]] = set()
        self.places: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.kinds |= {(tag, name) for name, _ in attrs} | {(tag, "")}
        self.places += [(name, value or "") for name, value in attrs if name in ("href", "src", "style", "content")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.kinds.add(("comment", ""))


@pytest.fixture(scope="module")
def kinds() -> set[tuple[str, str]]:
    """What there is in a document of harmless words."""
    document = said_everywhere(ArtifactStore.memory(), ["a b", "c d"])
    # Between two prompts there may be words that are gone.
    return Skeleton(document.to_html()).kinds | Skeleton(document.fragment()).kinds | {("del", "")}


@every
def test_a_page_holds_nothing_but_what_pages_hold(words: str, kinds: set[tuple[str, str]]) -> None:
    document = said_everywhere(ArtifactStore.memory(), [words, words])
    for page in (document.to_html(), document.fragment()):
        found = Skeleton(page)
        assert found.kinds <= kinds
        for name, value in found.places:
            assert name != "style"
            assert (
                name == "content" or value.startswith("#") or re.match(r"data:(image/(png|jpeg|webp);base64)?,", value)
            )
        assert not OBEYED.search(page)
        shown = " ".join("".join(found.words).split())
        assert " ".join(clean(words).split()) in shown, "nothing that can be seen is lost"


@every
def test_markdown_holds_no_markup_of_theirs(words: str) -> None:
    text = said_everywhere(ArtifactStore.memory(), [words]).to_markdown()
    rendered = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    found = Skeleton(rendered)
    assert {tag for tag, _ in found.kinds} <= {
        "h1", "h2", "h3", "p", "ol", "ul", "li", "em", "strong", "img", "br", "blockquote",
    }  # fmt: skip
    for name, value in found.places:
        assert name == "src" and re.fullmatch(r"images/(step|input)-\d+\.(png|jpg|webp)", value)
    assert not OBEYED.search(text)
    # What GitHub and chats make links of by themselves.
    bare = re.sub(r"!\[(?:\\.|[^\]\\])*\]\(images/[^)]*\)", "", text)
    assert not re.search(r"(https?|ftp)://|www\.\w|\w@\w", bare)


@every
def test_a_terminal_obeys_nothing(words: str) -> None:
    for line in (wording.one_line(words), wording.one_line(words, 20), wording.slug(words), wording.clean(words)):
        assert not OBEYED.search(line)
    written = wording.json_line({"words": words})
    assert not OBEYED.search(written)
    assert json.loads(written) == {"words": words}
    assert re.fullmatch(r"[\w-]{1,60}", wording.slug(words))


@every
def test_a_chat_that_reads_markdown_is_told_no_link(words: str) -> None:
    said = plain(words)
    assert not OBEYED.search(said)
    rendered = MarkdownIt("commonmark", {"html": True}).render(said)
    assert not {tag for tag, _ in Skeleton(rendered).kinds} & {"a", "img", "script", "iframe", "svg", "style", "link"}


@pytest.mark.parametrize("words", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_is_harmless_is_shown_as_it_is(words: str) -> None:
    assert clean(words) == wording.clean(words) == words
    document = said_everywhere(ArtifactStore.memory(), [words, words])
    assert words in "".join(Skeleton(document.to_html()).words)
    assert unicodedata.is_normalized("NFC", words) or words in document.to_html()


@pytest.fixture
def guarded(browser: Any) -> Iterator[Any]:
    """A page that notes what it is made to do."""
    context = browser.new_context(viewport={"width": 900, "height": 700})
    page = context.new_page()
    page.did = []
    page.on("dialog", lambda dialog: (page.did.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("popup", lambda popup: page.did.append(f"popup {popup.url}"))
    page.on("download", lambda download: page.did.append(f"download {download.url}"))
    page.on("framenavigated", lambda frame: page.did.append(f"frame {frame.url}") if frame.parent_frame else None)
    page.on("console", lambda message: page.did.append(f"console {message.text}"))
    page.on("pageerror", lambda error: page.did.append(f"error {error}"))
    page.on(
        "request",
        lambda request: None if request.url.startswith(("data:", "file:")) else page.did.append(f"asks {request.url}"),
    )
    yield page
    context.close()


_FOUND = """() => {
    document.querySelectorAll('details').forEach(fold => { fold.open = true });
    for (const kind of ['mouseover', 'focus', 'click', 'mouseenter', 'animationstart'])
        document.querySelectorAll('article *').forEach(node => node.dispatchEvent(new Event(kind, {bubbles: true})));
    const all = [...document.querySelectorAll('*')];
    return {
        owned: window.owned === undefined ? null : window.owned,
        tags: [...new Set(all.map(node => node.tagName.toLowerCase()))],
        events: all.flatMap(node => node.getAttributeNames()).filter(name => name.startsWith('on')),
        links: [...document.links].map(link => link.getAttribute('href')).filter(href => !href.startsWith('#')),
        text: document.body.innerText.length,
        covered: document.elementFromPoint(10, 10).closest('.lgi, body') !== null,
    };
}"""


@pytest.mark.browser
@pytest.mark.parametrize("where", ["page", "fragment"])
def test_in_a_browser_nothing_runs_loads_or_leaves(guarded: Any, tmp_path: Path, where: str) -> None:
    words = list(MARKUP.values())
    document: Document = said_everywhere(ArtifactStore.memory(), words)
    path = tmp_path / "page.html"
    if where == "page":
        html = document.to_html()
        assert "default-src 'none'" in html
    else:
        # A page of somebody else's, that forbids nothing.
        html = f"<!DOCTYPE html><meta charset=utf-8><link rel=icon href='data:,'>{document.fragment()}"
    path.write_bytes(html.encode())
    guarded.goto(path.as_uri())
    found = guarded.evaluate(_FOUND)
    guarded.wait_for_timeout(200)
    assert guarded.did == []
    assert found["owned"] is None and guarded.evaluate("window.owned === undefined")
    assert found["events"] == [] and found["links"] == []
    assert not set(found["tags"]) & {
        "script", "iframe", "object", "embed", "form", "input", "video", "audio", "base", "math", "foreignobject",
    }  # fmt: skip
    assert found["text"] > 50_000 and found["covered"]
    assert guarded.locator("article section.lgi-step").count() == len(words)
